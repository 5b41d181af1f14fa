"""Two versions of the program on one database: the next one has a side column more (an option of
the debug build makes the program its own successor). Decision 53."""

import threading
import time

import pytest
import requests

from site_of_nodes import Desk, Load, Nginx, octavo

# A column that items lack, and where its values come from.
NEXT = "--test.next_version=item:next_status:status.name"
NEWER = "changed by another version"


@pytest.fixture
def front(desk):
    one = Nginx(desk.nodes)
    yield one
    one.close()


def unfilled(cluster, database):
    return int(cluster.sql(
        "select count(*) from octavo_diku.item where next_status is distinct from "
        "lower(cast(doc as json) -> 'status' ->> 'name')", database))


def said(node, words):
    return any(words in line for line in node.log)


def test_nodes_are_upgraded_one_by_one_without_a_failed_request(cluster, database, desk, front,
                                                                inputs):
    first, second = desk.nodes
    desks = [Desk(front.url, inputs).log_in() for _ in range(8)]
    load = Load(desks, pause_s=0.2).wait(20)
    assert first.stop() == 0
    load.wait(10)
    first.options.append(NEXT)
    first.start()
    octavo.wait_until(lambda: said(first, "filling the side columns of item"), 30)
    load.wait(20)
    # The node that is older now reads as before, and gives back what it would have to write.
    old = desk.beside(second.url)
    item = desks[0].list("available.csv")[-1]
    assert old.loans_of(item)[1] == []
    answer = old.check_out(item, old.list("user_barcodes.csv")[-1])
    assert answer.status_code == 503 and NEWER in answer.text, answer.text
    assert old.loans_of(item)[1] == []
    given_back = requests_with_503(second)
    load.wait(20)
    assert requests_with_503(second) > given_back, "nginx did not ask the older node"
    assert second.stop() == 0
    load.wait(10)
    second.options.append(NEXT)
    second.start()
    time.sleep(1.5 * Nginx.FAIL_TIMEOUT_S)
    load.wait(20).stop()
    assert load.refused == {} and load.silent == []
    load.must_be_kept(desk.beside(first.url))
    assert unfilled(cluster, database) == 0


def requests_with_503(node):
    return sum("check-out-by-barcode 503" in line for line in node.log)


def test_an_upgrade_that_broke_off_goes_on_and_an_older_node_leaves_it_alone(cluster, database,
                                                                             desk):
    new, old = desk.nodes
    items, user = desk.list("available.csv"), desk.list("user_barcodes.csv")[0]
    assert new.stop() == 0
    new.options.append(NEXT)
    new.start()
    asking = threading.Thread(target=ask_and_forget, args=(desk.beside(new.url),))
    asking.start()
    octavo.wait_until(lambda: said(new, "filling the side columns of item"), 30)
    total = int(cluster.sql("select count(*) from octavo_diku.item", database))
    octavo.wait_until(lambda: unfilled(cluster, database) < total, 30)
    new.kill()
    asking.join()
    left = unfilled(cluster, database)
    assert left > 0, "it was through before it was killed"

    there = desk.beside(old.url)
    for _ in range(2):  # as it runs, and started anew
        assert there.loans_of(items[0])[1] == []
        answer = there.check_out(items[0], user)
        assert answer.status_code == 503 and NEWER in answer.text, answer.text
        assert unfilled(cluster, database) == left
        old.restart()
    assert said(old, "belongs to a newer version")

    new.log.clear()
    new.start()
    here = desk.beside(new.url)
    assert here.check_out(items[0], user).status_code == 201
    assert unfilled(cluster, database) == 0
    assert len(there.loans_of(items[0])[1]) == 1


def ask_and_forget(desk):
    try:
        desk.loans_of(desk.list("available.csv")[0])
    except (requests.exceptions.RequestException, AssertionError):
        pass  # it is killed meanwhile
