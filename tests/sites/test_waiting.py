"""What waits for somebody who does not come is answered all the same: locks of other programs, a
database that hangs."""

import signal
import threading
import time

import pytest

from site_of_nodes import RECOVERY_S, Desk, Load, Locked, octavo, postgres, who_waits_for_a_lock

LOCK_S, STATEMENT_S, GRACE_S = 2, 3, 5
SLACK_S = 10  # of a busy machine; the other limit of the two is far longer, or none


@pytest.fixture
def own_cluster(cluster, prepared):
    one = postgres.Cluster().make_like(cluster)
    yield one
    one.wake()
    one.close()


def answered(call):
    """The answer, and the seconds it took."""
    begun = time.monotonic()
    answer = call()
    return answer, time.monotonic() - begun


def serves_while_another_waits(cluster, desk, item, user):
    waiting = threading.Thread(target=desk.beside().check_out, args=(item, user))
    waiting.start()
    octavo.wait_until(lambda: who_waits_for_a_lock(cluster))
    desk.get("/groups")
    is_waiting = waiting.is_alive()
    waiting.join()
    return is_waiting


@pytest.mark.parametrize("lock_s, statement_s", [(LOCK_S, 30), (0, STATEMENT_S)])
def test_a_table_that_somebody_locks_is_refused_in_time_and_the_others_serve(
        own_cluster, nodes, inputs, lock_s, statement_s):
    [node] = nodes(own_cluster.url("library"), 1,
                   [f"--database.lock_timeout_s={lock_s}",
                    f"--database.statement_timeout_s={statement_s}"])
    desk = Desk(node.url, inputs).log_in()
    items, users = desk.list("available.csv"), desk.list("user_barcodes.csv")
    limit_s = lock_s or statement_s
    with Locked(own_cluster, "library", "lock table octavo_diku.item"):
        answer, took_s = answered(lambda: desk.check_out(items[0], users[0]))
        assert answer.status_code == 503 and "busy" in answer.text, answer.text
        assert limit_s <= took_s < limit_s + SLACK_S
        answer, took_s = answered(lambda: desk.session.get(
            desk.url + "/item-storage/items", headers=desk.headers, timeout=30))
        assert answer.status_code == 503 and took_s < limit_s + SLACK_S, answer.text
        octavo.wait_until(lambda: serves_while_another_waits(own_cluster, desk, items[0], users[0]))
    assert desk.check_out(items[0], users[0]).status_code == 201
    assert len(desk.loans_of(items[0])[1]) == 1


def test_writers_behind_one_that_waits_for_a_lock_wait_no_longer(own_cluster, nodes, inputs):
    [node] = nodes(own_cluster.url("library"), 1, ["--database.lock_timeout_s=4"])
    desk = Desk(node.url, inputs).log_in()
    took = []

    def write(number):
        one = desk.beside()
        answer, seconds = answered(lambda: one.post("/tags", {"label": f"tag {number}"}))
        took.append((answer.status_code, seconds))

    with Locked(own_cluster, "library", "lock table octavo_diku.tags"):
        threads = [threading.Thread(target=write, args=(n,)) for n in range(8)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    assert {status for status, _ in took} == {503}
    assert max(seconds for _, seconds in took) < 20, took
    assert desk.post("/tags", {"label": "later"}).status_code == 201


def test_a_database_that_hangs_is_given_up_and_found_again(own_cluster, nodes, inputs):
    [node] = nodes(own_cluster.url("library"), 1, [f"--database.statement_timeout_s={STATEMENT_S}"])
    desk = Desk(node.url, inputs).log_in()
    load = Load([desk.beside() for _ in range(4)], pause_s=0.1).wait(10)
    own_cluster.sleep()
    octavo.wait_until(lambda: len(load.refused) >= 8, 60)
    own_cluster.wake()
    moment = time.monotonic()
    octavo.wait_until(lambda: load.pause_after(moment) < RECOVERY_S, RECOVERY_S + 5)
    load.wait(10).stop()
    assert load.silent == [] and {status for status, _ in load.refused.values()} == {503}
    # The longest is a commit that got lost: the answer's limit, and asking what became of it.
    assert load.longest_s < STATEMENT_S + GRACE_S + 15 + 2, load.longest_s
    load.must_be_kept(desk)


IDLE_S = 20  # docs/operating.md


def test_a_node_that_hangs_in_a_transaction_loses_it_whole(own_cluster, nodes, inputs):
    hung, other = nodes(own_cluster.url("library"), 2)
    desk = Desk(hung.url, inputs).log_in()
    there = desk.beside(other.url)
    item, user = desk.list("available.csv")[0], desk.list("user_barcodes.csv")[0]
    heard = []
    asking = threading.Thread(target=lambda: heard.append(desk.check_out(item, user)))
    with Locked(own_cluster, "library", "lock table octavo_diku.loan"):
        asking.start()
        octavo.wait_until(lambda: who_waits_for_a_lock(own_cluster))
        hung.process.send_signal(signal.SIGSTOP)
    moment, answers = time.monotonic(), []

    def lend():
        answers.append(there.check_out(item, user))
        return answers[-1].status_code == 201

    # The hung one has the item until the server ends its transaction.
    octavo.wait_until(lend, IDLE_S + 40)
    assert time.monotonic() - moment > IDLE_S / 2
    assert {one.status_code for one in answers[:-1]} <= {503}
    hung.process.send_signal(signal.SIGCONT)
    asking.join()
    assert heard[0].status_code in (422, 503), heard[0].text
    assert [loan["userId"] for loan in desk.loans_of(item)[1]] == [
        there.get("/users", query=f"barcode=={user}")["users"][0]["id"]]
    assert desk.check_out(desk.list("available.csv")[1], user).status_code == 201
