"""A site whose parts die under load: what was confirmed is there, once; what failed says so; it
goes on by itself within ten seconds."""

import threading
import time

import pytest
import requests

from site_of_nodes import (RECOVERY_S, Desk, Load, Nginx, Proxy, Titles, must_be_whole, octavo,
                           postgres)


def desks_at(desk, count=4):
    return [desk.beside(node.url) for node in desk.nodes for _ in range(count)]


def recovers(load, moment):
    """New loans are confirmed in time, and go on."""
    octavo.wait_until(lambda: load.pause_after(moment) < RECOVERY_S, RECOVERY_S + 5)
    assert load.pause_after(moment) < RECOVERY_S
    load.wait(20)


def test_a_killed_node_takes_nothing_along(desk):
    load = Load(desks_at(desk)).wait(30)
    desk.nodes[1].kill()
    load.wait(30)
    desk.nodes[1].start()
    moment = time.monotonic()
    recovers(load, moment)
    load.stop().must_be_kept(desk)
    # Whoever was connected to the living one noticed nothing.
    assert load.refused == {}


def test_the_half_batch_of_a_killed_node_is_taken_back_by_another(cluster, database, desk):
    titles = "select count(*) from octavo_diku.instance"
    before = int(cluster.sql(titles, database))
    posting = threading.Thread(target=post_and_forget, args=(desk, batch(desk, 5000)))
    posting.start()
    octavo.wait_until(lambda: int(cluster.sql(titles, database)) > before, 30)
    desk.nodes[0].kill()
    posting.join()
    assert int(cluster.sql("select count(*) from octavo_diku.octavo_turn", database)) > 0
    other = desk.beside(desk.nodes[1].url)
    assert other.post("/instance-storage/batch/synchronous", batch(desk, 60)).status_code == 201
    assert int(cluster.sql(titles, database)) == before + 60


def batch(desk, size):
    kind = desk.beside(desk.nodes[1].url).get("/instance-types", limit=1)["instanceTypes"][0]["id"]
    return {"instances": [{"title": f"Batch {number}", "source": "FOLIO", "instanceTypeId": kind}
                          for number in range(size)]}


def post_and_forget(desk, records):
    with pytest.raises(requests.exceptions.RequestException):
        desk.post("/instance-storage/batch/synchronous", records)


def test_behind_nginx_a_killed_node_leaves_nothing_stored_twice(cluster, database, desk, inputs):
    front = Nginx(desk.nodes)
    people = front.people(8, inputs)
    titles = Titles(people, pause_s=0).wait(50)
    for node in desk.nodes:
        node.kill()
        moment = time.monotonic()
        titles.wait(20)
        assert time.monotonic() - moment < RECOVERY_S
        node.start()
        front.wait_for(node, people)
    titles.wait(20).stop().must_be_kept(cluster, database)
    front.close()


@pytest.fixture
def own_cluster(cluster, prepared, inputs, nodes):
    """A cluster to be hurt, with the prepared library, and two nodes on it."""
    one = postgres.Cluster().make_like(cluster)
    one.desk = Desk(None, inputs)
    one.place = one.url("library")
    yield one
    one.close()


def open_site(one, nodes, url=None):
    both = nodes(url or one.place)
    one.desk.url = both[0].url
    one.desk.log_in()
    one.desk.nodes = both
    return one.desk


def test_a_killed_database_comes_back_with_everything(own_cluster, nodes):
    desk = open_site(own_cluster, nodes)
    load = Load(desks_at(desk)).wait(30)
    titles = Titles(desks_at(desk, 2)).wait(10)
    own_cluster.kill()
    octavo.wait_until(lambda: len(load.refused) >= 4)
    assert {status for status, _ in load.refused.values()} == {503}
    octavo.wait_until(lambda: not desk.nodes[0].serves())
    own_cluster.start()
    recovers(load, time.monotonic())
    octavo.wait_until(lambda: all(node.serves() for node in desk.nodes), RECOVERY_S)
    load.stop().must_be_kept(desk)
    titles.wait(10).stop().must_be_kept(own_cluster, "library")
    must_be_whole(own_cluster.place)


def test_a_restarted_database_is_found_again(own_cluster, nodes):
    desk = open_site(own_cluster, nodes)
    load = Load(desks_at(desk)).wait(30)
    own_cluster.stop()
    own_cluster.start()
    recovers(load, time.monotonic())
    load.stop().must_be_kept(desk)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_connection_that_breaks_in_a_commit_tells_the_truth(cluster, database, nodes, inputs, when):
    proxy = Proxy(cluster.port)
    [node] = nodes(cluster.url(database, port=proxy.port), 1)
    desk = Desk(node.url, inputs).log_in()
    items, users = desk.list("available.csv"), desk.list("user_barcodes.csv")
    for n in range(5):
        proxy.mark, proxy.cut_at_commit = items[n].encode(), when
        answer = desk.check_out(items[n], users[n])
        assert proxy.cuts == n + 1, "no commit came by"
        _, loans = desk.loans_of(items[n])
        if when == "after":
            assert answer.status_code == 201, answer.text
            assert [loan["id"] for loan in loans] == [answer.json()["id"]]
        else:
            assert answer.status_code == 503 and "nothing was stored" in answer.text, answer.text
            assert loans == []
            assert desk.check_out(items[n], users[n]).status_code == 201
    proxy.close()


def test_an_id_that_a_crashed_server_gives_again_deceives_nobody(own_cluster, nodes):
    proxy = Proxy(own_cluster.port)
    desk = open_site(own_cluster, lambda url: nodes(url, 1),
                     own_cluster.url("library", port=proxy.port))
    item, user = desk.list("available.csv")[0], desk.list("user_barcodes.csv")[0]
    proxy.mark, proxy.cut_at_commit, proxy.is_last = item.encode(), "before", True
    answers = []
    asking = threading.Thread(target=lambda: answers.append(desk.check_out(item, user)))
    asking.start()
    octavo.wait_until(lambda: proxy.cuts)
    own_cluster.kill()
    own_cluster.start()
    # Others write: with the ids that the lost transactions had.
    for _ in range(30):
        own_cluster.sql("begin; select pg_current_xact_id(); commit")
    proxy.mend()
    asking.join()
    assert answers[0].status_code == 503 and "not known" in answers[0].text
    _, loans = desk.loans_of(item)
    assert loans == []
    proxy.close()


def test_a_cut_network_heals_without_a_restart(cluster, database, nodes, inputs):
    proxy = Proxy(cluster.port)
    [node] = nodes(cluster.url(database, port=proxy.port), 1)
    desk = Desk(node.url, inputs).log_in()
    load = Load([desk.beside() for _ in range(6)]).wait(30)
    for _ in range(3):
        proxy.cut()
        refused = len(load.refused)
        octavo.wait_until(lambda: len(load.refused) > refused)
        proxy.mend()
        recovers(load, time.monotonic())
    load.stop().must_be_kept(desk)
    assert load.silent == []
    assert {status for status, _ in load.refused.values()} == {503}
    proxy.close()


def test_a_promoted_standby_has_what_was_confirmed(own_cluster, nodes):
    standby = own_cluster.standby()
    both = (f"postgres://{postgres.ROLE}@127.0.0.1:{own_cluster.port},127.0.0.1:{standby.port}"
            "/library?target_session_attrs=read-write")
    own_cluster.sql("alter system set synchronous_standby_names = '*'")
    own_cluster.sql("select pg_reload_conf()")
    desk = open_site(own_cluster, nodes, both)
    load = Load(desks_at(desk)).wait(30)
    own_cluster.kill()
    moment = time.monotonic()
    standby.promote()
    recovers(load, moment)
    load.stop().must_be_kept(desk)
    must_be_whole(standby.url("library"))
