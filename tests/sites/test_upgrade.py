"""Two versions of the program on one database: the next one has a side column more (an option of
the debug build makes the program its own successor). Decision 53."""

import threading

import pytest
import requests

from site_of_nodes import Load, Locked, Nginx, octavo, postgres, who_waits_for_a_lock

# A column that items lack, and where its values come from.
NEXT = "--test.next_version=item:next_status:status.name"
MIDDLE = 7  # a lock
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


def number_of_items(cluster, database):
    return int(cluster.sql("select count(*) from octavo_diku.item", database))


def said(node, words):
    return any(words in line for line in node.log)


def test_nodes_are_upgraded_one_by_one_without_a_failed_request(cluster, database, desk, front,
                                                                inputs):
    first, second = desk.nodes
    people = front.people(8, inputs)
    load = Load(people, pause_s=0.2).wait(20)
    assert first.stop() == 0
    load.wait(10)
    first.options.append(NEXT)
    first.start()
    octavo.wait_until(lambda: said(first, "filling the side columns of item"))
    front.wait_for(first, people)
    load.wait(20)
    # The node that is older now reads as before, and gives back what it would have to write.
    old = desk.beside(second.url)
    item = old.list("available.csv")[-1]
    assert old.loans_of(item)[1] == []
    answer = old.check_out(item, old.list("user_barcodes.csv")[-1])
    assert answer.status_code == 503 and NEWER in answer.text, answer.text
    assert old.loans_of(item)[1] == []
    # nginx asks it all the same, for those who are at home there.
    given_back = requests_with_503(second)
    octavo.wait_until(lambda: requests_with_503(second) > given_back)
    load.wait(20)
    assert second.stop() == 0
    load.wait(10)
    second.options.append(NEXT)
    second.start()
    front.wait_for(second, people)
    load.wait(20).stop()
    assert load.refused == {} and load.silent == []
    load.must_be_kept(desk.beside(first.url))
    assert unfilled(cluster, database) == 0


def requests_with_503(node):
    return sum("check-out-by-barcode 503" in line for line in node.log)


def stop_in_the_middle(cluster, database):
    """Who fills the second half of the items waits for a lock."""
    cluster.sql(f"""
        create function wait_in_the_middle() returns trigger language plpgsql as $$
        begin
            perform pg_advisory_xact_lock_shared({MIDDLE});
            return new;
        end $$;
        select format('create trigger middle before update on octavo_diku.item for each row '
                      'when (new.pk > %s) execute function wait_in_the_middle()',
                      percentile_disc(0.5) within group (order by pk)) from octavo_diku.item
        \\gexec
        """, database, postgres.ROLE)


def test_an_upgrade_that_broke_off_goes_on_and_an_older_node_leaves_it_alone(cluster, database,
                                                                             desk):
    new, old = desk.nodes
    items, user = desk.list("available.csv"), desk.list("user_barcodes.csv")[0]
    assert new.stop() == 0
    new.options.append(NEXT)
    new.start()
    asking = threading.Thread(target=ask_and_forget, args=(desk.beside(new.url),))
    stop_in_the_middle(cluster, database)
    with Locked(cluster, database, f"select pg_advisory_lock({MIDDLE})"):
        asking.start()
        octavo.wait_until(lambda: who_waits_for_a_lock(cluster))
        new.kill()
        [pid] = who_waits_for_a_lock(cluster)
        cluster.sql(f"select pg_terminate_backend({pid}, 60000)")
    asking.join()
    assert said(new, "filling the side columns of item")
    total, left = number_of_items(cluster, database), unfilled(cluster, database)
    assert 0 < left < total, "it was not killed half-way"

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
