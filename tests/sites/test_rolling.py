"""Behind nginx, as docs/examples/nginx.conf has it, nodes restart one by one unnoticed."""

import pytest

from site_of_nodes import Load, Nginx


@pytest.fixture
def front(desk):
    one = Nginx(desk.nodes)
    yield one
    one.close()


def test_nodes_restart_one_by_one_without_a_failed_request(desk, front, inputs):
    people = front.people(8, inputs)
    load = Load(people, pause_s=0.1).wait(20)
    for node in [*desk.nodes, *desk.nodes]:
        load.wait(20)
        assert node.stop() == 0
        load.wait(20)
        node.start()
        front.wait_for(node, people)
    load.wait(20).stop()
    assert load.refused == {} and load.silent == []
    load.must_be_kept(desk)


def test_a_token_stays_on_one_node(desk, front, inputs):
    for person in front.people(6, inputs):
        before = [node.requests("mod-users") for node in desk.nodes]
        for _ in range(10):
            person.get("/groups")
        served = [node.requests("mod-users") - b for node, b in zip(desk.nodes, before)]
        assert served == [10 * (person.home is node) for node in desk.nodes]
