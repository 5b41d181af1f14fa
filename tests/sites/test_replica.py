"""Two nodes whose READ requests may go to a standby (decision 50): who reads there, what he sees, and
what he does not notice when it lags, dies, falls silent, or is no standby any more."""

import datetime
import os
import re
import signal
import subprocess
import threading
import time
import uuid

import pytest
import requests

from site_of_nodes import Desk, Load, Proxy, octavo, postgres

REST_S = 10    # after a write
LAG_MAX_S = 10
BOUND_S = 6    # no request takes longer, whatever the replica does


@pytest.fixture(scope="module")
def primary(cluster, prepared):
    one = postgres.Cluster().make_like(cluster)
    yield one
    one.close()


@pytest.fixture(scope="module")
def standby(primary):
    return primary.standby()


@pytest.fixture
def node(primary, standby, nodes):
    [one] = nodes(primary.url("library"), 1, [f"--database.replica={standby.url('library')}"])
    yield one
    standby.sql("select pg_wal_replay_resume()")


@pytest.fixture
def admin(node, inputs):
    return Person(node, inputs)


class Person(Desk):
    """Somebody who may say that it is later now."""

    def __init__(self, node, inputs):
        super().__init__(node.url, inputs)
        self.node = node
        self.later_s = 0
        self.log_in()

    def ask(self, path, **query):
        now = datetime.datetime.now(datetime.timezone.utc)
        then = (now + datetime.timedelta(seconds=self.later_s)).isoformat(timespec="milliseconds")
        return self.session.get(self.url + path, params=query, timeout=30, headers={
            **self.headers, "x-octavo-now": then})

    def place(self, path="/groups", **query):
        """Which database answered."""
        answer = self.ask(path, **query)
        assert answer.status_code == 200, answer.text
        return answer.headers["x-octavo-database"]

    def settle(self):
        """Until the replica serves it: the clock goes on, and it leaves the replica time to come to
        what it has seen."""
        self.later_s += REST_S + 1
        for _ in range(40):
            time.sleep(1.3)
            if self.place() == "replica":
                return self
        raise AssertionError("the replica serves nobody: " + figures(self.node))

    def new_group(self):
        name = "g" + uuid.uuid4().hex
        answer = self.post("/groups", {"group": name, "desc": "first"})
        assert answer.status_code == 201, answer.text
        return answer.json()


def figures(node):
    return "\n".join(line for line in node.metrics().splitlines() if line.startswith("octavo_replica"))


def figure(node, name):
    found = re.search(rf"^octavo_replica_{name}\{{.*\}} (\S+)$", node.metrics(), re.M)
    return float(found.group(1)) if found else None


def pause(standby):
    standby.sql("select pg_wal_replay_pause()")
    octavo.wait_until(lambda: standby.sql("select pg_get_wal_replay_pause_state()") == "paused")


def test_who_has_not_written_for_ten_seconds_reads_from_the_replica(admin, node):
    assert admin.place() == "primary"
    admin.later_s = REST_S - 2
    assert admin.place() == "primary"
    admin.later_s = 0
    before = figure(node, "reads_total")
    admin.settle()
    assert figure(node, "reads_total") > before
    # As anything else would: lists, single records, searches.
    groups = admin.ask("/groups").json()["usergroups"]
    assert admin.place(f"/groups/{groups[0]['id']}") == "replica"
    assert admin.place("/item-storage/items", query='status.name=="Available"', limit=5) == "replica"
    admin.later_s = 0
    admin.new_group()
    assert admin.place() == "primary"


def test_who_has_no_token_or_is_new_reads_from_the_primary(admin, node, inputs):
    admin.settle()
    other = Person(node, inputs)
    assert other.place() == "primary"
    assert other.session.get(node.url + "/octavo/version").headers["x-octavo-database"] == "primary"


def test_everybody_sees_their_own_writes_at_once(admin, standby):
    admin.settle()
    for _ in range(5):
        group = admin.new_group()
        # It is later, they say; the replica may not have it all the same.
        admin.later_s += REST_S + 1
        answer = admin.ask(f"/groups/{group['id']}")
        assert answer.status_code == 200, answer.text
    pause(standby)
    group = admin.new_group()
    admin.later_s += REST_S + 1
    time.sleep(2.5)
    answer = admin.ask(f"/groups/{group['id']}")
    assert answer.status_code == 200 and answer.headers["x-octavo-database"] == "primary"
    standby.sql("select pg_wal_replay_resume()")
    admin.settle()
    assert admin.ask(f"/groups/{group['id']}").status_code == 200


def test_a_replica_that_lags_ten_seconds_is_not_asked(admin, node, standby, inputs):
    reader = Person(node, inputs).settle()
    pause(standby)
    group = admin.new_group()
    begun = time.monotonic()
    path, answers = f"/groups?query=group=={group['group']}", []
    while time.monotonic() - begun < LAG_MAX_S + 3:
        answer = reader.ask(path)
        answers.append((time.monotonic() - begun, answer.headers["x-octavo-database"],
                        answer.json()["totalRecords"]))
        time.sleep(0.2)
    # The old state for a while, then the new one, never the old one again.
    seen = [total for _, _, total in answers]
    assert seen == sorted(seen) and seen[-1] == 1, answers
    assert all(place == "replica" for at, place, _ in answers if at < LAG_MAX_S - 3), answers
    assert all(place == "primary" for at, place, _ in answers if at > LAG_MAX_S + 1), answers
    assert figure(node, "lag_seconds") >= LAG_MAX_S
    summary = requests.get(node.admin_url + "/octavo/ops/summary", timeout=5).json()
    assert summary["store"]["replicaLagMs"] >= LAG_MAX_S * 1000
    assert any("behind" in reason for reason in summary["reasons"])
    standby.sql("select pg_wal_replay_resume()")
    reader.settle()
    assert figure(node, "lag_seconds") < 2
    assert reader.ask(path).json()["totalRecords"] == 1


def test_an_idle_primary_is_no_lag(admin, node):
    admin.settle()
    time.sleep(LAG_MAX_S + 3)
    assert admin.place() == "replica"
    assert figure(node, "lag_seconds") < 2 and figure(node, "up") == 1


def test_what_is_kept_in_memory_is_never_made_of_old_data(admin, node, standby, inputs):
    reader = Person(node, inputs).settle()
    group = admin.new_group()
    reader.settle()
    pause(standby)
    admin.session.put(f"{node.url}/groups/{group['id']}", json={**group, "desc": "second"},
                      headers=admin.headers).raise_for_status()
    # It reads from the replica, and is the first who needs the groups in memory again.
    reader.ask(f"/groups/{group['id']}")
    answer = reader.ask("/users", limit=1)
    assert answer.headers["x-octavo-database"] == "replica"
    for person in (admin, Person(node, inputs)):
        assert person.get(f"/groups/{group['id']}")["desc"] == "second"


def test_a_person_made_inactive_is_refused_by_a_replica_that_does_not_know_it(
        admin, node, standby, inputs):
    name = "u" + uuid.uuid4().hex[:12]
    user = {"id": str(uuid.uuid4()), "username": name, "active": True,
            "personal": {"lastName": name}}
    assert admin.post("/users", user).status_code == 201
    admin.post("/authn/credentials", {"userId": user["id"], "password": "secret"})
    admin.post("/perms/users", {"userId": user["id"], "permissions": ["usergroups.collection.get"]})
    reader = Person(node, inputs)
    answer = reader.session.post(node.url + "/authn/login", headers={"x-okapi-tenant": "diku"},
                                 json={"username": name, "password": "secret"})
    reader.headers["x-okapi-token"] = answer.headers["x-okapi-token"]
    reader.settle()
    pause(standby)
    stored = admin.get(f"/users/{user['id']}")
    answer = admin.session.put(f"{node.url}/users/{user['id']}", json={**stored, "active": False},
                               headers=admin.headers)
    assert answer.status_code == 204, answer.text
    # Every time: nobody may have remembered the old state meanwhile.
    for _ in range(3):
        assert reader.ask("/groups").status_code == 401


class Readers:
    """People who look things up without a pause, at a later time so that the replica serves them."""

    PATHS = [("/groups", {}), ("/item-storage/items", {"limit": 300}),
             ("/item-storage/items", {"limit": 20, "query": 'status.name=="Available"'})]

    def __init__(self, people):
        self.ends = threading.Event()
        self.failed, self.times, self.places = [], [], []
        self.threads = [threading.Thread(target=self._work, args=(one,)) for one in people]
        for thread in self.threads:
            thread.start()

    def _work(self, person):
        turn = 0
        while not self.ends.is_set():
            path, query = self.PATHS[turn % len(self.PATHS)]
            turn += 1
            begun = time.monotonic()
            try:
                answer = person.ask(path, **query)
                if answer.status_code != 200:
                    self.failed.append((answer.status_code, answer.text[:200]))
                self.places.append(answer.headers.get("x-octavo-database"))
            except requests.exceptions.RequestException as error:
                self.failed.append(repr(error))
            self.times.append(time.monotonic() - begun)

    def wait(self, count, place=None, seconds=30):
        at = len(self.places)
        octavo.wait_until(lambda: self.failed or sum(
            place in (None, p) for p in self.places[at:]) >= count, seconds)
        assert self.failed == []
        return self

    def stop(self):
        self.ends.set()
        for thread in self.threads:
            thread.join()
        assert self.failed == []
        assert max(self.times) < BOUND_S
        return self


@pytest.fixture
def readers(node, inputs):
    people = [Person(node, inputs) for _ in range(4)]
    for one in people:
        one.later_s = REST_S + 1
    time.sleep(2)
    people[0].settle()
    one = Readers(people).wait(50, "replica")
    yield one
    one.stop()


def test_a_killed_replica_is_noticed_by_nobody(readers, admin, node, standby):
    load = Load([admin.beside() for _ in range(2)], pause_s=0.02).wait(10)
    readers.wait(50, "replica")
    standby.kill()
    readers.wait(100, "primary")
    load.wait(20)
    octavo.wait_until(lambda: figure(node, "up") == 0)
    standby.start()
    readers.wait(50, "replica", 60)
    load.wait(20).stop()
    assert load.refused == {} and load.silent == []
    load.must_be_kept(admin)
    assert figure(node, "fallbacks_total") > 0


def test_a_replica_that_is_stopped_in_order_is_noticed_by_nobody(readers, node, standby):
    standby.stop(signal.SIGINT)
    readers.wait(100, "primary")
    standby.start()
    readers.wait(50, "replica", 60)


def descendants(pid):
    children = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True,
                              check=False).stdout.split()
    return [pid, *map(int, children)]


def test_a_replica_that_falls_silent_holds_nobody_up(readers, node, standby):
    family = descendants(standby.process.pid)
    try:
        for pid in family:
            os.kill(pid, signal.SIGSTOP)
        readers.wait(100, "primary")
        octavo.wait_until(lambda: figure(node, "up") == 0)
    finally:
        for pid in family:
            os.kill(pid, signal.SIGCONT)
    readers.wait(50, "replica", 60)


def conflicts(standby):
    return int(standby.sql("select sum(confl_snapshot + confl_lock + confl_bufferpin) "
                           "from pg_stat_database_conflicts"))


def test_a_conflict_with_what_is_replayed_is_noticed_by_nobody(readers, primary, standby):
    standby.sql("alter system set max_standby_streaming_delay = 0")
    standby.sql("select pg_reload_conf()")
    before, end = conflicts(standby), time.monotonic() + 60
    while conflicts(standby) < before + 3 and time.monotonic() < end:
        primary.sql("update octavo_diku.item set version = version where pk % 10 = 0",
                    database="library")
        primary.sql("vacuum octavo_diku.item", database="library")
    assert conflicts(standby) >= before + 3, "nothing met"
    readers.wait(50)
    standby.sql("alter system reset max_standby_streaming_delay")
    standby.sql("select pg_reload_conf()")


def test_a_long_list_goes_on_when_its_replica_breaks_off(primary, standby, nodes, inputs):
    proxy = Proxy(standby.port)
    [node] = nodes(primary.url("library"), 1,
                   [f"--database.replica={standby.url('library', port=proxy.port)}"])
    reader = Person(node, inputs).settle()
    proxy.word, proxy.cut_at_commit = b"id > $", "before"
    answer = reader.ask("/item-storage/items", limit=100000)
    assert proxy.cuts == 1, "the list was read at once"
    items = answer.json()["items"]
    assert len(items) == len({item["id"] for item in items}) == int(
        primary.sql("select count(*) from octavo_diku.item", database="library"))
    assert answer.json()["totalRecords"] == len(items)
    proxy.close()


def test_a_database_that_is_no_copy_is_never_read(primary, cluster, database, nodes, inputs):
    stranger = cluster.url(database)
    [node] = nodes(primary.url("library"), 1, [f"--database.replica={stranger}"])
    admin = Person(node, inputs)
    admin.later_s = REST_S + 1
    octavo.wait_until(lambda: any("no copy of this database" in line for line in node.log))
    for _ in range(3):
        time.sleep(1.3)
        assert admin.place() == "primary"
    assert figure(node, "up") == 0


def test_a_replica_that_is_not_there_yet_is_found_when_it_comes(primary, nodes, inputs):
    late = primary.standby()
    url = late.url("library")
    late.stop()
    [node] = nodes(primary.url("library"), 1, [f"--database.replica={url}"])
    admin = Person(node, inputs)
    admin.later_s = REST_S + 1
    assert admin.place() == "primary"
    late.start()
    octavo.wait_until(lambda: figure(node, "up") == 1, 30)
    admin.settle()


@pytest.mark.parametrize("is_failover", [False, True])
def test_a_promoted_replica_is_one_no_more(cluster, prepared, nodes, inputs, is_failover):
    one = postgres.Cluster().make_like(cluster)
    standby = one.standby()
    both = (f"postgres://{postgres.ROLE}@127.0.0.1:{one.port},127.0.0.1:{standby.port}"
            "/library?target_session_attrs=read-write")
    [node] = nodes(both if is_failover else one.url("library"), 1,
                   [f"--database.replica={standby.url('library')}"])
    admin, reader = Person(node, inputs), Person(node, inputs).settle()
    if is_failover:
        one.kill()
    standby.promote()
    octavo.wait_until(lambda: figure(node, "up") == 0)
    octavo.wait_until(node.serves, 20)
    group = admin.new_group()
    for _ in range(4):
        answer = reader.ask(f"/groups?query=group=={group['group']}")
        assert answer.json()["totalRecords"] == 1
        assert answer.headers["x-octavo-database"] == "primary"
        time.sleep(1)
    one.close()
