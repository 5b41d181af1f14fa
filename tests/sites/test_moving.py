"""A library moves into PostgreSQL by bulk: shot at any stage it goes on where it stood, and what comes
back is what was sent."""

import re
import signal
import sqlite3
import subprocess

import pytest

from site_of_nodes import Proxy, copy_out, must_be_whole, octavo, run


class Shot(Proxy):
    """Kills a process when it sends these words for the n-th time."""

    def __init__(self, port, words, times):
        super().__init__(port)
        self.word, self.times, self.victim = words, times, None

    def _take_cut(self):
        self.times -= 1
        if self.times:
            return None
        self.victim.send_signal(signal.SIGKILL)
        self.victim.wait()
        self.cuts += 1
        return "before"


def copied(output):
    return int(re.search(r"diku: (\d+) records copied.*the same on both sides", output).group(1))


def shoot(source, cluster, name, words, times):
    proxy = Shot(cluster.port, words, times)
    proxy.victim = subprocess.Popen(
        [octavo.program(), "migrate", "--from", f"sqlite:{source}", "--to",
         cluster.url(name, port=proxy.port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    proxy.victim.wait(300)
    assert proxy.victim.returncode == -signal.SIGKILL and proxy.cuts, "it ended before it was shot"
    proxy.close()


def test_a_move_that_was_shot_goes_on_where_it_stood(cluster, inputs):
    source, name = inputs.parent, cluster.database()
    whole = run("migrate", "--from", f"sqlite:{source}", "--to", cluster.url(cluster.database()))
    shoot(source, cluster, name, b'create table "item"', 1)
    shoot(source, cluster, name, b'copy "instance"', 1)
    shoot(source, cluster, name, b'copy "item"', 3)
    shoot(source, cluster, name, b'create index "loan_', 2)
    done = run("migrate", "--from", f"sqlite:{source}", "--to", cluster.url(name))
    assert done.returncode == 0, done.stdout + done.stderr
    assert copied(done.stdout) == 0 < copied(whole.stdout)
    must_be_whole(cluster.url(name))
    lacks = cluster.sql("select name from octavo_diku.octavo_table where is_ready = 0 union all "
                        "select conname::text from pg_constraint where not convalidated", name)
    assert lacks == ""


def documents(folder):
    with sqlite3.connect(f"file:{folder}/diku.db?mode=ro", uri=True) as database:
        tables = [row[0] for row in database.execute("select name from octavo_table")]
        return {table: sorted(database.execute(f'select id, doc from "{table}"'))
                for table in tables if table != "octavo_relay"}


def test_what_comes_back_is_what_was_sent(cluster, prepared, inputs, tmp_path):
    copy_out(cluster.url(prepared), tmp_path / "back")
    assert documents(tmp_path / "back") == documents(inputs.parent)


@pytest.mark.parametrize("change, says", [
    ("update octavo_diku.groups set doc = doc || ' '", "diku: groups: the contents differ"),
    ("delete from octavo_diku.tags where pk = (select min(pk) from octavo_diku.tags)",
     "diku: tags: ")])
def test_a_copy_that_was_changed_on_the_way_is_none(cluster, inputs, change, says):
    name = cluster.database()
    shoot(inputs.parent, cluster, name, b'analyze "loan"', 1)
    cluster.sql(change, name)
    done = run("migrate", "--from", f"sqlite:{inputs.parent}", "--to", cluster.url(name))
    assert done.returncode == 1 and says in done.stderr, done.stdout + done.stderr
