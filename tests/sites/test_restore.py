"""The restore drill of docs/operating.md: back to a moment, on another machine's disk."""

import datetime
import re
import signal
import time

import pytest

from site_of_nodes import ROOT, Desk, must_be_whole, octavo, postgres


def documented(first_words):
    """The indented block of the documentation that begins so, without its indent."""
    text = (ROOT / "docs" / "operating.md").read_text()
    blocks = re.findall(r"(?:^    .*\n)+", text, re.M)
    [block] = [b for b in blocks if b.strip().startswith(first_words)]
    return re.sub(r"^    ", "", block, flags=re.M)


@pytest.fixture
def archived(cluster, prepared, inputs):
    """A cluster that keeps its log as documented, with the prepared library."""
    one = postgres.Cluster().make_like(cluster)
    backup = one.folder / "backup"
    one.run("mkdir", "-p", backup / "wal")
    one.backup = backup
    for statement in documented("alter system set archive_mode").strip().split("\n"):
        one.sql(statement.replace("/backup", str(backup)))
    one.stop()
    one.start()
    yield one
    one.close()


def lend(desk, count, start):
    items, users = desk.list("available.csv"), desk.list("user_barcodes.csv")
    lent = items[start:start + count]
    for n, item in enumerate(lent):
        assert desk.check_out(item, users[(start + n) % 400]).status_code == 201
    return lent


def test_a_site_goes_back_to_a_moment(archived, nodes, inputs):
    [node] = nodes(archived.url("library"), 1)
    desk = Desk(node.url, inputs).log_in()
    lend(desk, 3, 0)
    base = documented("pg_basebackup").split()
    folder = archived.backup / "base-2026-01-31"
    archived.run(base[0], "-h", archived.folder, "-p", archived.port, "-U", "postgres",
                 *[word.replace("/backup", str(archived.backup)) for word in base[1:]])
    kept = lend(desk, 10, 3)
    time.sleep(1.1)
    moment = datetime.datetime.now(datetime.timezone.utc)
    time.sleep(1.1)
    lost = lend(desk, 10, 13)
    assert node.stop() == 0
    archived.sql("select pg_switch_wal()")
    octavo.wait_until(lambda: archived.sql(
        "select last_archived_wal >= pg_walfile_name(pg_current_wal_lsn() - 1) "
        "from pg_stat_archiver") == "t", 30)
    archived.stop(signal.SIGQUIT)

    script = documented("cp -r /backup").replace("/backup", str(archived.backup))
    restored = archived.folder / "restored"
    script = script.replace("/var/lib/postgresql/15/restored", str(restored))
    script = script.replace("2026-01-31 14:30:00+00", moment.strftime("%Y-%m-%d %H:%M:%S+00"))
    assert str(folder) in script
    archived.run("sh", "-e", "-c", script)
    archived.data = restored
    archived.start()
    octavo.wait_until(lambda: archived.sql("select pg_is_in_recovery()") == "f", 30)

    node.start()
    for item in kept:
        assert len(desk.loans_of(item)[1]) == 1
    for item in lost:
        record, loans = desk.loans_of(item)
        assert loans == [] and record["status"]["name"] == "Available"
    lend(desk, 5, 23)
    assert node.stop() == 0
    must_be_whole(archived.url("library"))
