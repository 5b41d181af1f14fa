"""The network between a node and its database loses everything, and says nothing: no reset, no
refusal. In namespaces of the kernel, so that time-outs are the real ones."""

import time

import pytest

from networks import Network, NodeAt
from site_of_nodes import RECOVERY_S, Desk, Load, Nginx, Titles, must_be_whole, octavo, postgres

ANSWER_S = 30  # nobody waits longer for an answer, whatever it is


@pytest.fixture
def network(prepared):  # the other fixtures need the usual network
    try:
        one = Network()
    except OSError as error:
        pytest.skip(f"this user may not make network namespaces ({error}); run the tests as root or under "
                    "unshare --user --map-current-user --keep-caps --net. test_faults.py kills and stops "
                    "nodes and databases all the same")
    yield one
    one.close()


class Apart:
    """A database, and nodes that reach it by cables of their own."""

    def __init__(self, network, cluster, inputs):
        self.network, self.inputs = network, inputs
        self.cluster = postgres.Cluster({"listen_addresses": "*"}).make_like(cluster)
        self.cluster.admit("10.0.0.0/8")
        self.nodes = []

    def start(self, count, hosts=None):
        for _ in range(count):
            place = self.network.place()
            where = (hosts or (lambda p: f"{p.way_to_database}:{self.cluster.port}"))(place)
            self.nodes.append(NodeAt(place, f"postgres://{postgres.ROLE}@{where}/library"
                                            "?target_session_attrs=read-write"))
            self.nodes[-1].start()
        return self.nodes

    def desk(self, url=None):
        return Desk(url or self.nodes[0].url, self.inputs).log_in()

    def load(self, each=3, **more):
        one = self.desk()
        load = Load([one.beside(node.url) for node in self.nodes for _ in range(each)], **more)
        load.desk = one
        return load

    def cut(self, place):
        assert not place.is_silent(self.cluster.port, within_s=60)
        place.cut()
        assert place.is_silent(self.cluster.port)

    def close(self):
        for node in self.nodes:
            node.close()
        self.cluster.close()


@pytest.fixture
def apart(network, cluster, inputs):
    one = Apart(network, cluster, inputs)
    yield one
    one.close()


def recovers(load, moment, url):
    octavo.wait_until(lambda: load.pause_after(moment, url) < RECOVERY_S, RECOVERY_S + 5)


def must_have_been_told(load):
    """Everybody got an answer in time, and a clear one."""
    assert load.silent == [] and load.longest_s < ANSWER_S
    assert {status for status, _ in load.refused.values()} <= {503}
    assert all("database" in text for _, text in load.refused.values()), load.refused


@pytest.mark.parametrize("seconds", [3, 15])
def test_a_node_that_was_cut_off_for_a_while_goes_on(apart, seconds):
    cut, other = apart.start(2)
    load = apart.load(pause_s=0.1).wait(30)
    titles = Titles([load.desk.beside(node.url) for node in apart.nodes for _ in range(2)]).wait(10)
    apart.cut(cut.place)
    begun = time.monotonic()
    time.sleep(seconds)
    moment = time.monotonic()
    cut.place.mend()
    recovers(load, moment, cut.url)
    load.wait(20).stop()
    titles.wait(10).stop().must_be_kept(apart.cluster, "library")
    # What the cut-off node had locked stopped the other one for less than recovery may take.
    assert load.longest_pause_s(begun, moment, other.url) < RECOVERY_S
    must_have_been_told(load)
    load.must_be_kept(apart.desk())
    assert all(node.serves() for node in apart.nodes)
    must_be_whole(apart.cluster.url("library"))


def test_answers_that_get_lost_are_waited_for_in_vain_not_for_ever(apart):
    [node] = apart.start(1)
    load = apart.load(pause_s=0.1).wait(20)
    node.place.cut_answers()
    octavo.wait_until(lambda: len(load.refused) >= 3, ANSWER_S)
    moment = time.monotonic()
    node.place.mend()
    recovers(load, moment, node.url)
    load.wait(20).stop()
    must_have_been_told(load)
    load.must_be_kept(apart.desk())


def test_a_node_that_knows_its_database_is_away_says_so_at_once(apart):
    [node] = apart.start(1)
    desk = apart.desk()
    load = apart.load(each=4, pause_s=0.1).wait(10)
    apart.cut(node.place)
    octavo.wait_until(lambda: len(load.refused) >= 20, 2 * ANSWER_S)
    load.stop()
    took = []
    for _ in range(20):
        begun = time.monotonic()
        assert desk.session.get(desk.url + "/groups", headers=desk.headers,
                                timeout=30).status_code == 503
        took.append(time.monotonic() - begun)
    assert sorted(took)[len(took) // 2] < 1, took
    node.place.mend()
    octavo.wait_until(node.serves, RECOVERY_S)
    load.must_be_kept(apart.desk())


def test_nodes_cut_off_for_good_go_on_with_the_standby(apart):
    standby = apart.cluster.standby()
    apart.cluster.sql("alter system set synchronous_standby_names = '*'")
    apart.cluster.sql("select pg_reload_conf()")
    both = apart.start(2, lambda place: (
        f"{place.way_to_database}:{apart.cluster.port},{place.way_to_clients}:{standby.port}"))
    load = apart.load(pause_s=0.1).wait(30)
    for node in both:
        apart.cut(node.place)
    octavo.wait_until(lambda: load.refused, ANSWER_S)
    moment = time.monotonic()
    standby.promote()
    for node in both:
        recovers(load, moment, node.url)
    load.wait(30).stop()
    must_have_been_told(load)
    load.must_be_kept(apart.desk())
    must_be_whole(standby.url("library"))


def test_behind_nginx_everybody_goes_on_by_the_node_that_is_left(apart):
    cut, _ = apart.start(2)
    front = Nginx(apart.nodes)
    load = Load(front.people(8, apart.inputs), pause_s=0.1).wait(30)
    apart.cut(cut.place)
    begun = time.monotonic()
    octavo.wait_until(lambda: not cut.serves(), ANSWER_S)
    load.wait_for_everybody()
    refused, moment = len(load.refused), time.monotonic()
    load.wait(60)
    cut.place.mend()
    octavo.wait_until(cut.serves, RECOVERY_S)
    load.wait(30).stop()
    front.close()
    assert len(load.refused) == refused, "refused although the other node could do it"
    must_have_been_told(load)
    load.must_be_kept(apart.desk())
    assert moment - begun < ANSWER_S
