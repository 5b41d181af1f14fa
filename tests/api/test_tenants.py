"""Tenants and modules, managed as FOLIO's scripts do. Source: spec/platform.md 1.5-1.9."""

import uuid

import pytest

from octavo import Client, Library, new_library

UI = {"id": "folio_demo-1.2.3", "name": "Demo", "requires": [{"id": "users", "version": "16.0"}],
      "permissionSets": [
          {"permissionName": "ui-demo.view", "displayName": "Demo: view", "visible": True,
           "subPermissions": ["users.collection.get", "not.there.yet"]},
          {"permissionName": "module.demo.enabled", "displayName": "Demo: on"}]}


def name():
    return "t" + uuid.uuid4().hex[:10]


@pytest.fixture
def tenant(operator):
    one = name()
    operator.post("/_/proxy/tenants", {"id": one, "name": "One", "description": "Demo"}).expect(201)
    yield one
    operator.delete("/_/proxy/tenants/" + one)


def install(operator, tenant, *modules, action="enable", **query):
    return operator.post(f"/_/proxy/tenants/{tenant}/install",
                         [{"id": m, "action": action} for m in modules], **query)


def enabled(operator, tenant):
    return [m["id"] for m in operator.get(f"/_/proxy/tenants/{tenant}/modules").expect(200)]


# Tenants ------------------------------------------------------------------------------------------


def test_a_tenant_is_made_changed_and_deleted(operator):
    one = name()
    body = operator.post("/_/proxy/tenants", {"id": one, "name": "One"}).expect(201)
    assert body == {"id": one, "name": "One"}
    assert operator.last.headers["location"] == "/_/proxy/tenants/" + one
    path = "/_/proxy/tenants/" + one
    assert body in operator.get("/_/proxy/tenants").expect(200)
    changed = {"id": one, "name": "Two", "description": "d"}
    assert operator.put(path, changed).expect(200) == changed
    assert operator.get(path).expect(200) == changed
    operator.delete(path).expect(204)
    assert operator.get(path).expect(404) == f"Tenant {one} not found"
    assert operator.delete(path).expect(404) == f"Tenant {one} not found"


def test_tenant_ids_are_checked(operator, tenant):
    text = operator.post("/_/proxy/tenants", {"id": "Bad_Id", "name": "x"}).expect(400)
    assert text == ("Invalid tenant id, may only contain a-z and 0-9 and must match "
                    "'[a-z][a-z0-9]{0,30}' but it is Bad_Id")
    operator.post("/_/proxy/tenants", {"id": "t" * 32, "name": "x"}).expect(400)
    operator.post("/_/proxy/tenants", {"id": "octavo", "name": "x"}).expect(400)
    text = operator.post("/_/proxy/tenants", {"id": tenant, "name": "x"}).expect(400)
    assert text == "Duplicate tenant id " + tenant
    text = operator.put("/_/proxy/tenants/" + tenant, {"id": "other", "name": "x"}).expect(400)
    assert text == f"The tenant id must not be changed, old='{tenant}', new='other'"


def test_a_tenant_without_id_gets_one(operator):
    body = operator.post("/_/proxy/tenants", {"name": "Nameless"}).expect(201)
    assert len(body["id"]) == 31 and body["id"][0] == "t"
    operator.delete("/_/proxy/tenants/" + body["id"]).expect(204)


def test_a_tenant_whose_database_cannot_be_made_is_none(operator):
    one, data = name(), operator.server.folder / "data"
    if not data.exists():
        pytest.skip("a file in the way is SQLite's kind of failure; on PostgreSQL a tenant is a "
                    "schema, and ./check runs this test on SQLite as well")
    (data / f"{one}.db").mkdir()  # in the way of the file
    answer = operator.post("/_/proxy/tenants", {"id": one, "name": one})
    assert answer.status >= 500, answer.text
    operator.get("/_/proxy/tenants/" + one).expect(404)
    (data / f"{one}.db").rmdir()
    operator.post("/_/proxy/tenants", {"id": one, "name": one}).expect(201)
    operator.delete("/_/proxy/tenants/" + one).expect(204)


def test_the_supertenant_stays(operator):
    text = operator.delete("/_/proxy/tenants/supertenant").expect(400)
    assert text == "Can not delete the superTenant supertenant"


def test_managing_needs_the_permission(server, library):
    nobody = library.user([])
    nobody.post("/_/proxy/tenants", {"id": name(), "name": "x"}).expect(403)
    Client(server).post("/_/proxy/tenants", {"id": name(), "name": "x"}).expect(400)


def test_tenant_operators_can_be_switched_off(own_server):
    server = own_server("--gateway.tenant_operators=off")
    library = Library(server, "diku").login()
    library.get("/_/proxy/tenants").expect(403)
    library.get("/_/proxy/tenants/diku/modules").expect(200)


def test_an_administrators_token_manages_without_a_user(own_server):
    server = own_server("--gateway.admin_token=s3cret")
    admin = Client(server, token="s3cret")
    one = name()
    admin.post("/_/proxy/tenants", {"id": one, "name": "x"}).expect(201)
    admin.get("/users").expect(404)
    Client(server, "diku", "s3cret").get("/users").expect(401)


# Modules ------------------------------------------------------------------------------------------


def test_the_modules_of_a_tenant_are_told_truthfully(operator, library):
    ids = enabled(library, library.tenant)
    assert "mod-users-19.3.1" in ids and ids == sorted(ids)
    one = library.get(f"/_/proxy/tenants/{library.tenant}/modules", filter="mod-users").expect(200)
    assert one == [{"id": "mod-users-19.3.1"}]
    full = library.get(f"/_/proxy/tenants/{library.tenant}/modules", full="true").expect(200)
    users = next(m for m in full if m["id"] == "mod-users-19.3.1")
    interface = next(i for i in users["provides"] if i["id"] == "users")
    assert interface["version"] == "16.5"
    handler = next(h for h in interface["handlers"]
                   if h["pathPattern"] == "/users" and h["methods"] == ["GET"])
    assert handler["permissionsRequired"] == ["users.collection.get"]
    assert any(p["permissionName"] == "users.all" for p in users["permissionSets"])


def test_own_users_may_look_without_permission(library):
    nobody = library.user([])
    assert nobody.get("/_/version").expect(200) == "5.3.0"
    nobody.get(f"/_/proxy/tenants/{library.tenant}/modules").expect(200)
    nobody.get(f"/_/proxy/tenants/{library.tenant}/interfaces").expect(200)
    nobody.get("/_/proxy/tenants/diku/modules").expect(403)
    assert nobody.get("/_/proxy/health").expect(200) == []


def test_interfaces_are_told(library):
    path = f"/_/proxy/tenants/{library.tenant}/interfaces"
    assert {"id": "login", "version": "7.3"} in library.get(path).expect(200)
    assert library.get(path + "/users").expect(200) == [{"id": "mod-users-19.3.1"}]
    assert library.get(path + "/nothing").expect(200) == []


def test_only_routes_of_enabled_modules_answer(operator, tenant):
    caller = Client(operator.server, tenant)
    caller.get("/groups").expect(404)
    install(operator, tenant, "mod-users").expect(200)
    caller.get("/groups").expect(200)
    install(operator, tenant, "mod-users", action="disable").expect(200)
    caller.get("/groups").expect(404)


def test_required_modules_come_along_in_order(operator, tenant):
    done = install(operator, tenant, "mod-login").expect(200)
    assert [d["id"].rsplit("-", 1)[0] for d in done] == ["mod-users", "mod-login"]
    assert all(d["action"] == "enable" for d in done)
    again = install(operator, tenant, "mod-login").expect(200)
    assert again == [{"id": "mod-login-7.11.0", "action": "uptodate"}]


def test_modules_that_depend_leave_first(operator, tenant):
    install(operator, tenant, "mod-login").expect(200)
    done = install(operator, tenant, "mod-users", action="disable").expect(200)
    assert [d["id"] for d in done] == ["mod-login-7.11.0", "mod-users-19.3.1"]


def test_a_simulated_install_changes_nothing(operator, tenant):
    before = enabled(operator, tenant)
    done = install(operator, tenant, "mod-login", simulate="true").expect(200)
    assert len(done) == 2
    assert enabled(operator, tenant) == before


def test_unknown_modules_are_not_found(operator, tenant):
    assert "mod-dreams" in install(operator, tenant, "mod-dreams").expect(404)
    assert "mod-users-1.0.0" in install(operator, tenant, "mod-users-1.0.0").expect(404)


def test_data_outlive_disabling_but_not_purging(operator, tenant):
    caller = Client(operator.server, tenant)
    install(operator, tenant, "mod-users").expect(200)
    caller.post("/groups", {"group": "kept"}).expect(201)
    install(operator, tenant, "mod-users", action="disable").expect(200)
    install(operator, tenant, "mod-users").expect(200)
    assert caller.get("/groups").json["totalRecords"] == 1
    install(operator, tenant, "mod-users", action="disable", purge="true").expect(200)
    install(operator, tenant, "mod-users").expect(200)
    assert caller.get("/groups").json["totalRecords"] == 0


def test_reference_data_come_if_asked_for_and_may_be_loaded_again(operator, tenant):
    caller = Client(operator.server, tenant)
    install(operator, tenant, "mod-users",
            tenantParameters="loadReference=true,loadSample=false").expect(200)
    names = {g["group"] for g in caller.get("/groups").json["usergroups"]}
    assert {"faculty", "graduate", "staff", "undergrad"} <= names
    install(operator, tenant, "mod-users", reinstall="true",
            tenantParameters="loadReference=true").expect(200)
    assert caller.get("/groups").json["totalRecords"] == len(names)


def test_everything_can_be_purged_and_the_tenant_deleted(operator):
    library = new_library(operator.server)
    modules = operator.get(f"/_/proxy/tenants/{library.tenant}/modules").json
    for one in modules:
        one["action"] = "disable"
    operator.post(f"/_/proxy/tenants/{library.tenant}/install", modules, purge="true").expect(200)
    assert enabled(operator, library.tenant) == []
    operator.delete("/_/proxy/tenants/" + library.tenant).expect(204)
    operator.post("/_/proxy/tenants", {"id": library.tenant, "name": "again"}).expect(201)
    install(operator, library.tenant, "mod-users").expect(200)
    assert Client(operator.server, library.tenant).get("/users").json["totalRecords"] == 0
    operator.delete("/_/proxy/tenants/" + library.tenant).expect(204)


def test_an_asynchronous_install_leaves_a_job(operator, tenant):
    job = install(operator, tenant, "mod-users", **{"async": "true"}).expect(201)
    path = operator.last.headers["location"]
    assert path == f"/_/proxy/tenants/{tenant}/install/{job['id']}"
    found = operator.get(path).expect(200)
    assert found["complete"] is True and found["modules"][0]["stage"] == "done"
    operator.delete(path).expect(204)
    operator.get(path).expect(404)


def test_single_modules_are_enabled_and_disabled(operator, tenant):
    path = f"/_/proxy/tenants/{tenant}/modules"
    assert operator.post(path, {"id": "mod-users-19.3.1"}).expect(201) == {"id": "mod-users-19.3.1"}
    assert operator.get(path + "/mod-users-19.3.1").expect(200) == {"id": "mod-users-19.3.1"}
    operator.delete(path + "/mod-users-19.3.1").expect(204)
    operator.get(path + "/mod-users-19.3.1").expect(404)


def test_what_is_enabled_outlives_a_restart(own_server):
    server = own_server()
    library = Library(server, "diku").login()
    before = enabled(library, "diku")
    server.restart()
    assert enabled(library, "diku") == before
    library.get("/groups").expect(200)


# Front-end modules --------------------------------------------------------------------------------


def test_a_front_end_module_brings_its_permission_sets(operator, fresh_library):
    operator.post("/_/proxy/modules", UI, check="false").expect(201)
    install(operator, fresh_library.tenant, UI["id"], depCheck="true").expect(200)
    user = fresh_library.user(["ui-demo.view"])
    user.get("/users").expect(200)
    found = fresh_library.get("/perms/permissions", query='permissionName=="not.there.yet"')
    assert found.expect(200)["totalRecords"] == 0
    found = fresh_library.get("/perms/permissions", query='permissionName=="not.there.yet"',
                              includeDummy="true")
    assert found.expect(200)["permissions"][0]["dummy"] is True


def test_a_descriptor_is_registered_once(operator):
    descriptor = {**UI, "id": "folio_twice-1.0.0"}
    operator.post("/_/proxy/modules", descriptor).expect(201)
    operator.post("/_/proxy/modules", descriptor).expect(201)
    text = operator.post("/_/proxy/modules", {**descriptor, "name": "Other"}).expect(400)
    assert text == "create: module folio_twice-1.0.0 exists already"
    assert operator.get("/_/proxy/modules/folio_twice-1.0.0").expect(200) == descriptor
    operator.delete("/_/proxy/modules/folio_twice-1.0.0").expect(204)
    operator.get("/_/proxy/modules/folio_twice-1.0.0").expect(404)


def test_a_used_descriptor_stays(operator, tenant):
    descriptor = {"id": "folio_used-1.0.0", "name": "Used"}
    operator.post("/_/proxy/modules", descriptor).expect(201)
    install(operator, tenant, descriptor["id"]).expect(200)
    text = operator.delete("/_/proxy/modules/folio_used-1.0.0").expect(400)
    assert text == f"delete: module folio_used-1.0.0 is used by tenant {tenant}"


def test_a_missing_interface_is_told_when_dependencies_are_checked(operator, tenant):
    descriptor = {"id": "folio_needy-1.0.0", "requires": [{"id": "dreams", "version": "1.0"}]}
    operator.post("/_/proxy/modules", descriptor, check="false").expect(201)
    text = install(operator, tenant, descriptor["id"]).expect(400)
    assert text == "Missing dependency: folio_needy-1.0.0 requires dreams: 1.0"
    install(operator, tenant, descriptor["id"], depCheck="false").expect(200)


def test_a_newer_front_end_module_takes_the_place_of_the_older(operator, tenant):
    for version in ("1.0.0", "1.1.0"):
        operator.post("/_/proxy/modules", {"id": "folio_grows-" + version}).expect(201)
    install(operator, tenant, "folio_grows-1.0.0").expect(200)
    done = operator.post(f"/_/proxy/tenants/{tenant}/upgrade").expect(200)
    assert done == [{"id": "folio_grows-1.1.0", "from": "folio_grows-1.0.0", "action": "enable"}]
    assert "folio_grows-1.0.0" not in enabled(operator, tenant)


# The rest of Okapi --------------------------------------------------------------------------------


def test_the_environment_is_kept(operator):
    entry = {"name": "DB_HOST", "value": "nowhere"}
    assert operator.post("/_/env", entry).expect(201) == entry
    assert entry in operator.get("/_/env").expect(200)
    assert operator.get("/_/env/DB_HOST").expect(200) == entry
    operator.delete("/_/env/DB_HOST").expect(204)
    operator.get("/_/env/DB_HOST").expect(404)


def test_modules_are_discovered_in_this_process(operator):
    all_of_them = operator.get("/_/discovery/modules").expect(200)
    assert any(m["srvcId"] == "mod-users-19.3.1" for m in all_of_them)
    one = operator.get("/_/discovery/modules/mod-users-19.3.1").expect(200)[0]
    operator.get(f"/_/discovery/modules/mod-users-19.3.1/{one['instId']}").expect(200)
    health = operator.get("/_/discovery/health/mod-users-19.3.1").expect(200)
    assert health[0]["healthStatus"] is True
    operator.post("/_/discovery/modules",
                  {"srvcId": "mod-users-19.3.1", "url": "http://mod-users"}).expect(201)
    assert operator.get("/_/discovery/nodes").expect(200)[0]["nodeId"] == "localhost"
    assert operator.post("/_/proxy/pull/modules", {"urls": ["http://x"]}).expect(200) == []
    operator.get("/_/test/reloadtenant").expect(404)


def test_open_tenants_can_be_closed(own_server):
    server = own_server("--gateway.open_tenants=never")
    operator = Library(server, "diku").login()
    one = name()
    operator.post("/_/proxy/tenants", {"id": one, "name": "x"}).expect(201)
    install(operator, one, "mod-users").expect(200)
    Client(server, one).get("/users").expect(400)


def test_a_forwarded_request_never_finds_an_open_tenant(operator, tenant):
    install(operator, tenant, "mod-users").expect(200)
    Client(operator.server, tenant).get("/users").expect(200)
    forwarded = Client(operator.server, tenant, headers={"x-forwarded-for": "192.0.2.1"})
    forwarded.get("/users").expect(400)


# The program's own interface ----------------------------------------------------------------------


def test_health_and_version_need_no_token(library):
    assert library.anybody.get("/octavo/health/live").expect(200) == "OK"
    assert library.anybody.get("/octavo/health/ready").expect(200)["ready"] is True
    assert library.anybody.get("/octavo/version").expect(200)["version"]


def test_figures_of_the_process_are_for_its_operators(library, own_server):
    assert "octavo_store_commits_total" in library.get("/octavo/metrics").expect(200)
    library.user([]).get("/octavo/metrics").expect(403)
    closed = Library(own_server("--gateway.tenant_operators=off"), "diku").login()
    closed.get("/octavo/metrics").expect(403)


def test_lists_of_modules_that_are_not_built_are_empty(library):
    for path, key in (("/orders/titles", "titles"), ("/orders/pieces", "pieces"),
                      ("/orders/holding-summary/1", "holdingSummaries"),
                      ("/orders/order-lines", "poLines"),
                      ("/remote-storage/mappings", "mappings"), ("/copycat/profiles", "profiles")):
        assert library.get(path, query="cql.allRecords=1").expect(200) == {
            key: [], "totalRecords": 0}


def test_own_timers_are_listed_freely_and_changed_with_the_lesser_permission(library, operator):
    user = library.user(permissions=["okapi.proxy.self.timers.patch"])
    path = f"/_/proxy/tenants/{library.tenant}/timers"
    timer = user.get(path).expect(200)[0]
    body = {"id": timer["id"], "routingEntry": {"unit": "hour", "delay": "1"}}
    user.patch(path, body).expect(204)
    user.patch(path, {"id": timer["id"], "routingEntry": {}}).expect(204)
    user.patch("/_/proxy/tenants/diku/timers", body).expect(403)
    library.user().patch(path, body).expect(403)


@pytest.mark.parametrize("entry", [
    {"unit": "minutes", "delay": "5"}, {"unit": "DAY", "delay": "1"}, {"unit": 5, "delay": "1"}, {"unit": ""},
    {"unit": "day", "delay": "x"}, {"unit": "day", "delay": ""}, {"unit": "day", "delay": []},
    {"unit": "day", "delay": "99999999999"}, {"unit": "day", "delay": "9223372036854775807"}, {"delay": "1.5"},
    {"schedule": {"cron": "x"}}, [], "5", None,
], ids=repr)
def test_a_period_that_cannot_be_read_leaves_the_timer_as_it_is(operator, library, entry):
    path = f"/_/proxy/tenants/{library.tenant}/timers"
    before = operator.get(path).expect(200)
    operator.patch(path, {"id": before[0]["id"], "routingEntry": entry}).expect(400)
    assert operator.get(path).json == before


def test_periods_of_any_length_are_kept(operator, library):
    path = f"/_/proxy/tenants/{library.tenant}/timers"
    timer = operator.get(path).expect(200)[0]["id"]
    for entry in ({"unit": "day", "delay": "2147483647"}, {"unit": "millisecond", "delay": "1500000"},
                  {"unit": "second", "delay": "-1"}, {"unit": "hour", "delay": 7}, {"delay": "0"}):
        operator.patch(path, {"id": timer, "routingEntry": entry}).expect(204)
        shown = operator.get(f"{path}/{timer}").expect(200)
        assert shown["modified"] and shown["routingEntry"]["delay"] == str(entry["delay"])
    operator.patch(path, {"id": timer, "routingEntry": {}}).expect(204)
    assert not operator.get(f"{path}/{timer}").json["modified"]


def test_a_module_whose_successor_cannot_come_stays(operator, tenant):
    path = f"/_/proxy/tenants/{tenant}/modules"
    operator.post(path, {"id": "mod-notes"}).expect(201)
    before = operator.get(path).expect(200)
    notes = next(m["id"] for m in before if m["id"].startswith("mod-notes"))
    operator.post(f"{path}/{notes}", {"id": "no-such-1.0.0"}).expect(404)
    assert operator.get(path).json == before
