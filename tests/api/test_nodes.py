"""Two nodes on one database: what one writes the other knows, and one of them runs what runs once."""

import uuid

import pytest

import octavo  # puts tests/ into the path

import postgres  # noqa: E402

pytestmark = pytest.mark.skipif(not postgres.is_wanted(),
                                reason="one SQLite file belongs to one process: several nodes need PostgreSQL, "
                                "on which ./check runs these tests (api-postgres)")

SOON = 4  # seconds; counters are looked at every five, so only news are as quick


def name():
    return "n" + uuid.uuid4().hex[:10]


@pytest.fixture(scope="module")
def nodes():
    first = octavo.Server()
    first.make_tenant("diku")
    first.start()
    second = octavo.Server(store=first.store).start()
    yield first, second
    assert second.stop() == 0
    first.close()


@pytest.fixture(scope="module")
def library(nodes):
    return octavo.Library(nodes[0], "diku").login()


@pytest.fixture(scope="module")
def other(nodes, library):
    """The same caller at the other node."""
    return octavo.Client(nodes[1], "diku", library.token)


def test_a_token_of_one_node_is_good_at_the_other(other):
    other.get("/users").expect(200)


def test_a_record_that_is_kept_in_memory_is_read_anew_when_the_other_node_changed_it(library, other):
    kind = library.post("/material-types", {"name": name(), "source": "local"}).expect(201)
    path = "/material-types/" + kind["id"]
    assert other.get(path).expect(200)["name"] == kind["name"]
    changed = {**kind, "name": name()}
    library.put(path, changed).expect(204)
    octavo.wait_until(lambda: other.get(path).json["name"] == changed["name"], SOON)
    library.delete(path).expect(204)
    octavo.wait_until(lambda: other.get(path).status == 404, SOON)


def test_a_permission_given_at_one_node_holds_at_the_other(nodes, library):
    user = library.user(["users.item.get"])
    there = octavo.Client(nodes[1], "diku", user.token)
    there.get("/groups").expect(403)
    library.post(f"/perms/users/{user.record['id']}/permissions?indexField=userId",
                 {"permissionName": "usergroups.collection.get"}).expect(200)
    octavo.wait_until(lambda: there.get("/groups").status == 200, SOON)


def test_a_tenant_comes_and_goes_at_both_nodes(nodes, library, other):
    tenant = name()
    library.post("/_/proxy/tenants", {"id": tenant, "name": tenant}).expect(201)
    octavo.wait_until(lambda: other.get(f"/_/proxy/tenants/{tenant}").status == 200, SOON)
    other.post("/_/proxy/tenants", {"id": tenant, "name": tenant}).expect(400)
    other.delete(f"/_/proxy/tenants/{tenant}").expect(204)
    octavo.wait_until(lambda: library.get(f"/_/proxy/tenants/{tenant}").status == 404, SOON)


def leads(server):
    return any("this node runs relay" in line for line in server.log)


def test_when_the_leading_node_goes_the_other_one_leads(nodes):
    first, second = nodes
    leader, follower = (first, second) if leads(first) else (second, first)
    assert leads(leader) and not leads(follower)
    assert leader.stop() == 0
    octavo.wait_until(lambda: leads(follower), 10)
    leader.log.clear()
    leader.start()
