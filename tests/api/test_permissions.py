"""Permissions and who holds them. Source: spec/platform.md 3, 8."""

import uuid

import pytest


def define(library, subs=(), name=None, **members):
    body = {"permissionName": name or "set." + uuid.uuid4().hex[:12], "displayName": "Set",
            "subPermissions": list(subs), **members}
    return library.post("/perms/permissions", body).expect(201)


def named(library, name, **query):
    found = library.get("/perms/permissions", query=f'permissionName=="{name}"', **query)
    return found.expect(200)["permissions"][0]


@pytest.fixture
def user(library):
    return library.user([])


def grants(user):
    return f"/perms/users/{user.user_id}/permissions"


def grant(library, user, name):
    return library.post(grants(user) + "?indexField=userId", {"permissionName": name})


# Rights take effect at once -----------------------------------------------------------------------


def test_a_new_right_counts_at_once(library, user):
    user.get("/groups").expect(403)
    grant(library, user, "usergroups.collection.get").expect(200)
    user.get("/groups").expect(200)
    library.delete(grants(user) + "/usergroups.collection.get", indexField="userId").expect(204)
    user.get("/groups").expect(403)


def test_a_right_taken_from_a_set_is_lost_at_once(library, user):
    one = define(library, ["usergroups.collection.get"])
    grant(library, user, one["permissionName"]).expect(200)
    user.get("/groups").expect(200)
    library.put("/perms/permissions/" + one["id"], {**one, "subPermissions": []}).expect(200)
    user.get("/groups").expect(403)


def test_sets_contain_sets(library, user):
    inner = define(library, ["usergroups.collection.get"])
    outer = define(library, [inner["permissionName"]])
    grant(library, user, outer["permissionName"]).expect(200)
    user.get("/groups").expect(200)


def test_sets_that_contain_each_other_end(library, user):
    one = define(library, ["usergroups.collection.get"])
    two = define(library, [one["permissionName"]])
    library.put("/perms/permissions/" + one["id"],
                {**one, "subPermissions": [two["permissionName"],
                                           "usergroups.collection.get"]}).expect(200)
    grant(library, user, one["permissionName"]).expect(200)
    names = library.get(grants(user), indexField="userId",
                        expanded="true").expect(200)["permissionNames"]
    assert sorted(names) == sorted([one["permissionName"], two["permissionName"],
                                    "usergroups.collection.get"])


def test_checking_rights_costs_no_statement_once_they_are_known(library):
    user = library.user(["usergroups.collection.get"])
    user.get("/groups").expect(200)
    user.get("/groups").expect(200)
    assert user.last.statements == 1


# Permission users ---------------------------------------------------------------------------------


def test_a_permission_user_is_made_and_found(library):
    user_id, record_id = str(uuid.uuid4()), str(uuid.uuid4())
    body = library.post("/perms/users", {"id": record_id, "userId": user_id,
                                         "permissions": ["okapi.all"]}).expect(201)
    assert body["id"] == record_id and body["permissions"] == ["okapi.all"]
    body = library.get("/perms/users", query=f'userId=="{user_id}"').expect(200)
    assert set(body) == {"permissionUsers", "totalRecords", "resultInfo"}
    assert body["permissionUsers"][0]["id"] == record_id
    assert record_id in named(library, "okapi.all")["grantedTo"]
    assert set(library.get("/perms/users/" + record_id).expect(200)) == {
        "id", "userId", "permissions", "metadata"}
    assert library.get(f"/perms/users/{user_id}", indexField="userId").json["id"] == record_id
    assert library.get(f"/perms/users/{user_id}").expect(404) == f"No user with id {user_id}"


def test_a_user_has_one_record(library, user):
    errors = library.post("/perms/users", {"userId": user.user_id}).expect(422)["errors"]
    assert "already exists in table permissions_users" in errors[0]["message"]


def test_a_record_is_replaced(library, user):
    record = library.get(f"/perms/users/{user.user_id}", indexField="userId").expect(200)
    path = "/perms/users/" + record["id"]
    body = library.put(path, {"userId": user.user_id,
                              "permissions": ["users.all", "login.all"]}).expect(200)
    assert body["permissions"] == ["users.all", "login.all"]
    assert record["id"] in named(library, "users.all")["grantedTo"]
    library.put(path, {"userId": user.user_id, "permissions": []}).expect(200)
    assert record["id"] not in named(library, "users.all")["grantedTo"]
    library.delete(path).expect(204)
    library.delete(path).expect(404)
    library.put(path, {"userId": user.user_id, "permissions": []}).expect(404)


def test_the_names_of_a_user_are_listed(library):
    user = library.user(["perms.users"])
    body = library.get(grants(user), indexField="userId").expect(200)
    assert body == {"permissionNames": ["perms.users"], "totalRecords": 1}
    body = library.get(grants(user), indexField="userId", expanded="true").expect(200)
    assert {"perms.users", "perms.users.get", "perms.users.item.post"} <= set(
        body["permissionNames"])
    body = library.get(grants(user), indexField="userId", full="true").expect(200)
    assert body["permissionNames"][0]["permissionName"] == "perms.users"
    text = library.get(grants(user)).expect(404)
    assert text == "No user found by id " + user.user_id


def test_what_cannot_be_granted_is_told(library, user):
    name = "users.collection.get"
    grant(library, user, name).expect(200)
    error = grant(library, user, name).expect(422)["errors"][0]
    assert error["message"] == f"User with id {user.user_id} already has permission {name}"
    assert error["parameters"][0]["key"] == "userId"
    assert grant(library, user, "no.such").expect(400) == (
        "Permission by name 'no.such' does not exist")
    errors = library.post("/perms/users", {"userId": str(uuid.uuid4()),
                                           "permissions": ["no.such"]}).expect(422)["errors"]
    assert "Attempting to add non-existent permissions no.such" in errors[0]["message"]
    text = library.delete(grants(user) + "/no.such", indexField="userId").expect(400)
    assert text == f"User with id {user.user_id} does not contain no.such"


def test_only_own_rights_are_granted_without_the_right_to_assign(library):
    clerk = library.user(["perms.users.item.post", "users.collection.get"])
    other = library.user([])
    grant(clerk, other, "users.collection.get").expect(200)
    text = grant(clerk, other, "users.item.post").expect(403)
    assert text == ("Cannot add immutable permission users.item.post not owned by operating user "
                    + clerk.user_id)
    assert "Cannot add okapi permission okapi.all" in grant(clerk, other, "okapi.all").expect(403)
    one = define(library, ["users.item.delete"])
    assert "Cannot add mutable permission" in grant(clerk, other,
                                                    one["permissionName"]).expect(403)


def test_a_right_to_assign_is_enough_for_its_kind(library):
    clerk = library.user(["perms.users.item.post", "perms.users.assign.mutable"])
    other = library.user([])
    one = define(library, ["users.item.delete"])
    grant(clerk, other, one["permissionName"]).expect(200)
    grant(clerk, other, "users.item.post").expect(403)
    clerk = library.user(["perms.users.item.post", "perms.users.assign.immutable"])
    grant(clerk, other, "users.item.post").expect(200)
    grant(clerk, other, "okapi.all").expect(403)


def test_a_set_is_no_way_around_the_right_to_assign_okapi(library):
    """Rights of okapi.* reach other libraries: singly, in a set, in a set of a set they need the
    same right."""
    rights = ["perms.permissions.item.post", "perms.permissions.item.put", "perms.users.item.post",
              "perms.users.item.put", "perms.users.assign.mutable", "perms.users.assign.immutable"]
    clerk, other = library.user(rights), library.user([])
    plain, powerful = define(library, ["users.item.get"]), define(library, ["okapi.all"])
    around = define(library, [powerful["permissionName"]])
    for inside in ("okapi.all", "okapi.proxy.tenants.delete", powerful["permissionName"],
                   around["permissionName"]):
        text = f"Cannot add okapi permission {inside} not owned by operating user {clerk.user_id}"
        body = {"permissionName": "set." + uuid.uuid4().hex, "subPermissions": [inside]}
        assert clerk.post("/perms/permissions", body).expect(403) == text
        assert clerk.put(f"/perms/permissions/{plain['id']}",
                         {**plain, "subPermissions": ["users.item.get", inside]}).expect(403) == text
        assert grant(clerk, other, inside).expect(403) == text
        assert clerk.put(f"/perms/users/{other.user_id}?indexField=userId",
                         {"userId": other.user_id, "permissions": [inside]}).expect(403) == text
    assert other.get("/_/proxy/tenants").status == 403
    # What stands in a set already may stay, other rights go in, and who may assign okapi.* may.
    clerk.put(f"/perms/permissions/{powerful['id']}",
              {**powerful, "subPermissions": ["okapi.all", "users.item.get"]}).expect(200)
    clerk.post("/perms/permissions", {"subPermissions": ["users.item.get"]}).expect(201)
    operator = library.user([*rights, "perms.users.assign.okapi"])
    operator.post("/perms/permissions", {"subPermissions": ["okapi.all"]}).expect(201)
    grant(operator, other, around["permissionName"]).expect(200)


# Permissions --------------------------------------------------------------------------------------


def test_a_set_is_made_changed_and_deleted(library, user):
    subs = ["perms.all", "users.all", "login.all"]
    one = define(library, subs, description="d")
    assert one["subPermissions"] == subs and one["mutable"] is True
    assert one["permissionName"] in named(library, "users.all")["childOf"]
    path = "/perms/permissions/" + one["id"]
    body = library.put(path, {**one, "displayName": "New",
                              "subPermissions": subs + [one["permissionName"]]}).expect(200)
    assert body["displayName"] == "New" and one["permissionName"] in body["subPermissions"]
    grant(library, user, one["permissionName"]).expect(200)
    library.delete(path).expect(204)
    library.get(path).expect(404)
    assert one["permissionName"] not in named(library, "users.all")["childOf"]
    assert library.get(grants(user), indexField="userId").json["permissionNames"] == []


def test_a_set_without_name_gets_one(library):
    body = library.post("/perms/permissions", {"displayName": "Nameless"}).expect(201)
    assert uuid.UUID(body["permissionName"])


def test_names_are_taken_once(library):
    one = define(library)
    error = library.post("/perms/permissions",
                         {"permissionName": one["permissionName"]}).expect(422)["errors"][0]
    assert error["message"] == f"Permission with name {one['permissionName']} already exists"


def test_what_modules_define_cannot_be_changed(library):
    one = named(library, "users.all")
    path = "/perms/permissions/" + one["id"]
    assert library.put(path, one).expect(400) == "cannot change an immutable permission"
    assert library.delete(path).expect(400) == "cannot delete an immutable permission"
    own = define(library)
    path = "/perms/permissions/" + own["id"]
    assert library.put(path, {**own, "permissionName": "x"}).expect(400) == (
        "permission name property cannot change")
    assert library.put(path, {**own, "id": str(uuid.uuid4())}).expect(400) == "Invalid id value"


def test_permissions_are_listed(library):
    body = library.get("/perms/permissions", length=12).expect(200)
    assert set(body) == {"permissions", "totalRecords"} and len(body["permissions"]) == 12
    assert all(isinstance(p["subPermissions"], list) for p in body["permissions"])
    second = library.get("/perms/permissions", length=1, start=2).json["permissions"]
    assert second == library.get("/perms/permissions", limit=1, offset=1).json["permissions"]
    top = library.get("/perms/permissions", query="childOf == []", length=10000).expect(200)
    names = {p["permissionName"] for p in top["permissions"]}
    assert "users.all" in names and "users.item.get" not in names


def test_contained_permissions_are_shown_whole(library):
    one = named(library, "perms.all", expandSubs="true")
    assert {p["permissionName"] for p in one["subPermissions"]} == {
        "perms.users", "perms.permissions", "perms.users.assign.immutable",
        "perms.users.assign.mutable"}
    one = named(library, "perms.all", expanded="true")
    assert "perms.users.item.post" in one["subPermissions"]


def test_names_of_the_front_end_queries_are_found(library):
    library.get("/perms/permissions", query="(mutable==true)", length=10000).expect(200)
    library.get("/perms/permissions", query="(visible==true)").expect(200)
    library.get("/perms/permissions",
                query="cql.allRecords=1 and visible==true").expect(200)
    body = library.get("/perms/permissions",
                       query='(permissionName=="users.all" or permissionName=="login.all")')
    assert body.expect(200)["totalRecords"] == 2


# Modules that come and go -------------------------------------------------------------------------


def test_a_renamed_permission_leaves_nobody_without(operator, fresh_library):
    tenant = fresh_library.tenant
    name = "folio_renames" + uuid.uuid4().hex[:6]
    old = {"id": name + "-1.0.0", "permissionSets": [
        {"permissionName": "ui-r.old", "subPermissions": ["users.collection.get"]}]}
    new = {"id": name + "-2.0.0", "permissionSets": [
        {"permissionName": "ui-r.new", "subPermissions": ["users.collection.get"],
         "replaces": ["ui-r.old"]}]}
    for descriptor in (old, new):
        operator.post("/_/proxy/modules", descriptor).expect(201)
    operator.post(f"/_/proxy/tenants/{tenant}/install",
                  [{"id": old["id"], "action": "enable"}]).expect(200)
    user = fresh_library.user(["ui-r.old"])
    operator.post(f"/_/proxy/tenants/{tenant}/install",
                  [{"id": new["id"], "action": "enable"}]).expect(200)
    user.get("/users").expect(200)
    names = fresh_library.get(grants(user), indexField="userId").json["permissionNames"]
    assert names == ["ui-r.old", "ui-r.new"]
    assert named(fresh_library, "ui-r.old")["deprecated"] is True
    purged = fresh_library.post("/perms/purge-deprecated").expect(200)
    assert purged["permissionNames"] == ["ui-r.old"]
    names = fresh_library.get(grants(user), indexField="userId").json["permissionNames"]
    assert names == ["ui-r.new"]
