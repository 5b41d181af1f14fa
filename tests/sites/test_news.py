"""What one node is told holds on every node."""

import uuid

import pytest

from circulation import Circulation, new_id
from site_of_nodes import octavo

NEWS_S = 4  # a moment, on the busiest machine; without news nodes look every five seconds


@pytest.fixture(scope="module")
def here(site, library):
    """The library as the first node's client sees it."""
    return at(library, site.nodes[0])


@pytest.fixture(scope="module")
def there(site, library):
    return at(library, site.nodes[1])


def at(client, node):
    other = client.with_headers({})
    one = octavo.Library(node, client.tenant, other.token, other.headers)
    one.user_id = client.user_id
    return one


def test_a_token_is_good_on_every_node(here, there):
    assert there.get("/users", limit=1).status == 200
    user = there.user(["users.collection.get"])
    assert at(user, here.server).get("/users").status == 200


def test_a_permission_taken_on_one_node_is_gone_on_the_other(here, there):
    user = here.user(["usergroups.collection.get"])
    elsewhere = at(user, there.server)
    assert elsewhere.get("/groups").status == 200
    here.delete(f"/perms/users/{user.user_id}/permissions/usergroups.collection.get",
                indexField="userId").expect(204)
    octavo.wait_until(lambda: elsewhere.get("/groups").status == 403, NEWS_S)


def test_a_person_made_inactive_on_one_node_is_refused_by_the_other(here, there):
    user = here.user(["usergroups.collection.get"])
    elsewhere = at(user, there.server)
    assert elsewhere.get("/groups").status == 200
    here.put(f"/users/{user.user_id}", {**user.record, "active": False}).expect(204)
    octavo.wait_until(lambda: elsewhere.get("/groups").status == 401, NEWS_S)


def test_small_records_changed_on_one_node_are_new_on_the_other(here, there):
    group = here.post("/groups", {"group": "g" + uuid.uuid4().hex}).expect(201)
    path = f"/groups/{group['id']}"
    octavo.wait_until(lambda: there.get(path).status == 200, NEWS_S)
    for description in ("first", "second"):
        here.put(path, {**group, "desc": description}).expect(204)
        octavo.wait_until(lambda: there.get(path).json.get("desc") == description, NEWS_S)
    here.delete(path).expect(204)
    octavo.wait_until(lambda: there.get(path).status == 404, NEWS_S)


def test_rules_changed_on_one_node_rule_on_the_other(here, there):
    world = Circulation(here)
    weeks = world.new_loan_policy()
    shelf = world.new_loan_policy(renewable=False)
    for policy in (shelf, weeks):
        world.set_rules(loan=policy)
        octavo.wait_until(lambda: policy_at(there, world) == policy, NEWS_S)


def policy_at(node, world):
    return node.get("/circulation/rules/loan-policy", item_type_id=world.book,
                    loan_type_id=world.can_circulate, patron_type_id=world.students,
                    location_id=world.location).expect(200)["loanPolicyId"]


def test_an_answer_is_given_again_by_any_node(here, there):
    world = Circulation(here)
    item, patron = world.item(), world.patron()
    key = {"x-octavo-idempotency-key": new_id()}
    first = world.check_out(item, patron, api=here.with_headers(key)).expect(201)
    again = world.check_out(item, patron, api=there.with_headers(key)).expect(201)
    assert again["id"] == first["id"]


def test_a_library_made_on_one_node_is_served_by_the_other(site):
    first, second = site.nodes
    made = octavo.new_library(first)
    elsewhere = octavo.Library(second, made.tenant)

    def logs_in():
        return elsewhere.post("/authn/login", {"username": octavo.ADMIN[0],
                                               "password": octavo.ADMIN[1]}).status == 201

    octavo.wait_until(logs_in, NEWS_S)
    operator = octavo.Library(first, "diku").login()
    operator.delete(f"/_/proxy/tenants/{made.tenant}").expect(204)
    octavo.wait_until(lambda: elsewhere.post("/authn/login", {}).status == 400, NEWS_S)
