"""What one node does for all goes on when it is killed; what a killed node had stored is answered by
the other one; news that got lost delay a change, and nothing else."""

import threading
import uuid

import pytest
import requests

from site_of_nodes import RECOVERY_S, Desk, Proxy, octavo

NEWS_LOST_S = 12  # docs/operating.md


def leads(node):
    return any("this node runs relay" in line for line in node.log)


def test_an_answer_of_a_node_that_was_killed_is_given_by_the_other(cluster, database, nodes, inputs):
    proxy = Proxy(cluster.port)
    [first] = nodes(cluster.url(database, port=proxy.port), 1)
    [second] = nodes(cluster.url(database), 1)
    desk = Desk(first.url, inputs).log_in()
    there = desk.beside(second.url)
    item, user = desk.list("available.csv")[0], desk.list("user_barcodes.csv")[0]
    key = {"x-octavo-idempotency-key": str(uuid.uuid4())}
    proxy.mark, proxy.cut_at_commit, proxy.is_last = item.encode(), "after", True
    heard = []

    def ask():
        try:
            heard.append(desk.check_out(item, user, **key))
        except requests.exceptions.RequestException:
            pass

    asking = threading.Thread(target=ask)
    asking.start()
    octavo.wait_until(lambda: proxy.cuts)
    first.kill()
    asking.join()
    assert heard == [], "the first node answered before it was killed"
    again = there.check_out(item, user, **key)
    assert again.status_code == 201 and again.headers["x-octavo-replayed"] == "true", again.text
    _, loans = there.loans_of(item)
    assert [loan["id"] for loan in loans] == [again.json()["id"]]
    proxy.close()


def test_when_the_leader_is_killed_no_event_is_lost(cluster, database, nodes, inputs):
    """Events: service points stop to be places of pick-up. A subscriber takes them out of policies."""
    both = nodes(cluster.url(database))
    octavo.wait_until(lambda: any(map(leads, both)))
    leader, other = sorted(both, key=leads, reverse=True)
    api = octavo.Library(other, "diku").login()
    points = [new_point(api) for _ in range(30)]
    policies = [new_policy(api, point) for point in points]

    def withdraw():
        for point in points:
            withdraw_point(api, point)

    working = threading.Thread(target=withdraw)
    working.start()
    octavo.wait_until(lambda: any(is_served(api, one) for one in policies))
    leader.kill()
    octavo.wait_until(lambda: leads(other), RECOVERY_S)
    working.join()
    octavo.wait_until(lambda: all(is_served(api, one) for one in policies))
    octavo.wait_until(lambda: cluster.sql("select count(*) from octavo_diku.outbox",
                                          database) == "0")
    assert "octavo_outbox_dead_letters_total 0" in other.metrics()


COUNTING = """
    create table octavo_diku.taken (policy text, transaction text);
    create function octavo_diku.count_taken() returns trigger language plpgsql security definer as
    $$ begin insert into octavo_diku.taken values (old.id, pg_current_xact_id()); return old; end $$;
    create trigger counting before update on octavo_diku.request_policy
    for each row execute function octavo_diku.count_taken()"""


@pytest.mark.parametrize("when", ["before", "after"])
def test_no_event_is_delivered_twice_when_the_leader_is_killed_in_a_commit(cluster, database, nodes,
                                                                           when):
    """Every delivery is counted and its change undone, so that a second one would count again."""
    proxy = Proxy(cluster.port)
    [leader] = nodes(cluster.url(database, port=proxy.port), 1)
    octavo.wait_until(lambda: leads(leader), 3 * RECOVERY_S)
    [other] = nodes(cluster.url(database), 1)
    api = octavo.Library(other, "diku").login()
    points = [new_point(api) for _ in range(12)]
    policies = [new_policy(api, point)["id"] for point in points]
    cluster.sql(COUNTING, database)

    def taken():
        return cluster.sql("select policy from octavo_diku.taken", database).split()

    for point in points[:2]:
        withdraw_point(api, point)
    octavo.wait_until(lambda: sorted(taken()) == sorted(policies[:2]), 3 * RECOVERY_S)
    proxy.mark, proxy.cut_at_commit, proxy.victim = policies[6].encode(), when, leader
    for point in points[2:]:
        withdraw_point(api, point)
    octavo.wait_until(lambda: proxy.cuts, 3 * RECOVERY_S)
    octavo.wait_until(lambda: cluster.sql("select count(*) from octavo_diku.outbox",
                                          database) == "0", 3 * RECOVERY_S)
    assert sorted(taken()) == sorted(policies)
    assert int(cluster.sql("select count(distinct transaction) from octavo_diku.taken", database)) >= 2
    proxy.close()


def withdraw_point(api, point):
    api.put(f"/service-points/{point['id']}", {
        **{k: v for k, v in point.items() if k != "holdShelfExpiryPeriod"},
        "pickupLocation": False}).expect(204)


def new_point(api):
    name = uuid.uuid4().hex
    return api.post("/service-points", {
        "name": name, "code": name, "discoveryDisplayName": name, "pickupLocation": True,
        "holdShelfExpiryPeriod": {"duration": 3, "intervalId": "Days"}}).expect(201)


def new_policy(api, point):
    return api.post("/request-policy-storage/request-policies", {
        "name": uuid.uuid4().hex, "requestTypes": ["Hold"],
        "allowedServicePoints": {"Hold": [point["id"]]}}).expect(201) | {"point": point["id"]}


def is_served(api, policy):
    """The subscriber has taken the service point out of the policy."""
    return policy["point"] not in api.get(
        f"/request-policy-storage/request-policies/{policy['id']}").text


@pytest.mark.parametrize("how", ["lose_news", "silence_listeners"])
def test_a_permission_that_was_taken_is_gone_although_the_news_were_lost(cluster, database, nodes,
                                                                         how):
    proxy = Proxy(cluster.port)
    [first] = nodes(cluster.url(database), 1)
    [second] = nodes(cluster.url(database, port=proxy.port), 1)
    here = octavo.Library(first, "diku").login()
    user = here.user(["usergroups.collection.get"])
    there = octavo.Client(second, "diku", user.token)
    octavo.wait_until(lambda: there.get("/groups").status == 200, RECOVERY_S)
    getattr(proxy, how)()
    here.delete(f"/perms/users/{user.record['id']}/permissions/usergroups.collection.get",
                indexField="userId").expect(204)
    octavo.wait_until(lambda: there.get("/groups").status == 403, NEWS_LOST_S)
    assert proxy.lost, "nothing was lost on the way"
    proxy.close()
