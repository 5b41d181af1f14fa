"""Behind nginx, as docs/examples/nginx.conf has it, nodes restart one by one unnoticed."""

import time

import pytest

from site_of_nodes import Desk, Load, Nginx, Node


@pytest.fixture
def front(desk):
    one = Nginx(desk.nodes)
    yield one
    one.close()


def test_nodes_restart_one_by_one_without_a_failed_request(desk, front, inputs):
    # Each person has a token of their own, so that nginx spreads them over the nodes.
    desks = [Desk(front.url, inputs).log_in() for _ in range(8)]
    load = Load(desks, pause_s=0.1).wait(20)
    for node in [*desk.nodes, *desk.nodes]:
        load.wait(20)
        assert node.stop() == 0
        load.wait(20)
        node.start()
        time.sleep(1.5 * Nginx.FAIL_TIMEOUT_S)  # until nginx asks it again
    load.wait(20).stop()
    assert load.refused == {} and load.silent == []
    load.must_be_kept(desk)


def test_a_token_stays_on_one_node(desk, front, inputs):
    for _ in range(6):
        person = Desk(front.url, inputs).log_in()
        before = [requests_of(node) for node in desk.nodes]
        for _ in range(10):
            person.get("/groups")
        served = [requests_of(node) - b for node, b in zip(desk.nodes, before)]
        assert sorted(served)[0] == 0, served


def requests_of(node: Node):
    """How many requests of mod-users the node has answered."""
    text = node.metrics()
    return int(next(line.split()[-1] for line in text.splitlines() if line.startswith(
        'octavo_module_requests_total{module="mod-users"}')))
