"""FOLIO's check-in/check-out plan on a whole site: two nodes behind nginx, a replica, and people who only
look things up. No error, and the library is whole afterwards.

Short in ./check. As issued: 20 users without pauses for 120 s on the small recipe,

    OCTAVO=build/release/octavo SITE_USERS=20 SITE_SECONDS=120 SITE_RECIPE=small \\
        python3 -m pytest -s tests/sites/test_play.py
"""

import json
import os
import threading

import pytest
import requests

from site_of_nodes import Nginx, octavo, postgres, run

USERS = int(os.environ.get("SITE_USERS", "6"))
# Short enough for the 3,700 free items of the tiny library.
SECONDS = int(os.environ.get("SITE_SECONDS", "8"))
RECIPE = os.environ.get("SITE_RECIPE", "tiny")


@pytest.fixture
def library(cluster, prepared, inputs, tmp_path):
    """A cluster with the recipe's library and a standby; its lists."""
    one = postgres.Cluster()
    one.inputs = inputs
    if RECIPE == "tiny":
        one.make_like(cluster)
    else:
        one.make()
        folder = tmp_path / "data"
        one.inputs = folder / "inputs"
        for words in (["bench", "data", "make", "--recipe", RECIPE, "--data", folder],
                      ["migrate", "--from", f"sqlite:{folder}", "--to",
                       one.url(one.database("library"))]):
            done = run(*words)
            assert done.returncode == 0, done.stdout + done.stderr
        one.sql("vacuum analyze", database="library")
    one.replica = one.standby()
    yield one
    one.close()


class Lookers(threading.Thread):
    """People who look at lists, a few times a second."""

    PATHS = ["/item-storage/items?limit=50&query=status.name==Available", "/groups?limit=100",
             "/circulation/loans?limit=20&query=status.name==Open"]

    def __init__(self, people):
        super().__init__()
        self.people = people
        self.failed, self.asked, self.ends = [], 0, threading.Event()
        self.start()

    def run(self):
        turn = 0
        while not self.ends.wait(0.1):
            turn += 1
            for place, one in enumerate(self.people, turn):
                path = self.PATHS[place % len(self.PATHS)]
                try:
                    answer = one.session.get(one.url + path, headers=one.headers, timeout=30)
                    if answer.status_code != 200:
                        self.failed.append((answer.status_code, answer.text[:200]))
                except requests.exceptions.RequestException as error:
                    self.failed.append(repr(error))
                self.asked += 1

    def stop(self):
        self.ends.set()
        self.join()
        assert self.failed == []


def total(nodes, name):
    lines = [line for node in nodes for line in node.metrics().splitlines()]
    return sum(float(line.split()[-1]) for line in lines if line.startswith(name))


def test_the_plan_runs_on_a_site_without_an_error(library, nodes, tmp_path):
    both = nodes(library.url("library"), 2,
                 [f"--database.replica={library.replica.url('library')}", "--log.level=warn"])
    front = Nginx(both)
    octavo.wait_until(lambda: total(both, "octavo_replica_up") == 2)
    lookers = Lookers(front.people(4, library.inputs))
    result = tmp_path / "result.json"
    done = run("bench", "play", "cico", "--url", front.url, "--inputs", library.inputs,
               "--users", USERS, "--ramp-up", USERS / 2, "--duration", SECONDS, "--think", "none",
               "--json", result)
    # Who has not written for ten seconds reads there: the lookers, if not yet, then soon.
    octavo.wait_until(lambda: total(both, "octavo_replica_reads_total") > 0)
    lookers.stop()
    print(done.stdout[-3000:], f"\nreads of the replica {total(both, 'octavo_replica_reads_total')},"
          f" of the primary {total(both, 'octavo_store_primary_reads_total')}, fallbacks"
          f" {total(both, 'octavo_replica_fallbacks_total')}, looked up {lookers.asked}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(result.read_text())
    assert all(node.requests("mod-circulation") > 0 for node in both)
    front.close()
    for url in (library.url("library"), library.replica.url("library")):
        octavo.wait_until(lambda: library.sql(
            "select bool_and(replay_lsn >= pg_current_wal_flush_lsn()) from pg_stat_replication")
            == "t", 30)
        done = run("bench", "data", "check", "--database", url)
        assert done.returncode == 0, done.stdout + done.stderr
