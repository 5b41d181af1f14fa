"""Users with everything that belongs to them. Source: spec/platform.md 2.4, 8."""

import uuid

import pytest


def new_id():
    return str(uuid.uuid4())


@pytest.fixture
def patron(library):
    return library.user(["usergroups.collection.get"], barcode="b" + uuid.uuid4().hex[:8])


def log_in(library, route="/bl-users/login", query="", **body):
    return library.anybody.post(route + query, body)


def test_logging_in_answers_the_user_with_group_and_permissions(library, patron):
    group = library.post("/groups", {"group": uuid.uuid4().hex}).expect(201)
    library.put("/users/" + patron.user_id,
                {**patron.record, "patronGroup": group["id"]}).expect(204)
    answer = log_in(library, username=patron.username, password="secret")
    body = answer.expect(201)
    assert body["user"]["id"] == patron.user_id and body["tenant"] == library.tenant
    assert body["patronGroup"]["id"] == group["id"]
    assert body["permissions"]["permissions"] == ["usergroups.collection.get"]
    assert library.with_token(answer.headers["x-okapi-token"]).get("/bl-users/_self").status == 200


def test_logging_in_with_expiry_sets_cookies(library, patron):
    answer = log_in(library, "/bl-users/login-with-expiry", username=patron.username,
                    password="secret")
    assert set(answer.expect(201)["tokenExpiration"]) == {"accessTokenExpiration",
                                                          "refreshTokenExpiration"}
    token, attributes = answer.cookie("folioAccessToken")
    assert "httponly" in attributes
    library.with_token(token).get("/bl-users/_self").expect(200)


def test_a_wrong_password_lets_nobody_in(library, patron):
    log_in(library, username=patron.username, password="wrong").expect(422)
    log_in(library, username=patron.username).expect(400)


def test_expanded_permissions_are_records(library, patron):
    inner = library.post("/perms/permissions", {"permissionName": "set." + uuid.uuid4().hex,
                                                "subPermissions": ["users.item.get"]}).expect(201)
    path = f"/perms/users/{patron.user_id}/permissions?indexField=userId"
    library.post(path, {"permissionName": inner["permissionName"]}).expect(200)

    def held():
        body = patron.get("/bl-users/_self", expandPermissions="true").expect(200)
        return {p["permissionName"] for p in body["permissions"]["permissions"]}

    assert held() == {"usergroups.collection.get", inner["permissionName"], "users.item.get"}
    changed = {**inner, "subPermissions": ["users.item.get", "users.item.put"]}
    library.put("/perms/permissions/" + inner["id"], changed).expect(200)
    assert "users.item.put" in held()


def test_somebody_without_permission_record_has_an_empty_list(library):
    user = library.post("/users", {"username": uuid.uuid4().hex, "active": True}).expect(201)
    body = library.get("/bl-users/by-id/" + user["id"]).expect(200)
    assert body["permissions"] == {"permissions": []}
    assert "patronGroup" not in body and "servicePointsUser" not in body


def test_service_points_come_in_full(library, patron):
    point = library.post("/service-points", {
        "name": uuid.uuid4().hex, "code": uuid.uuid4().hex,
        "discoveryDisplayName": "Desk"}).expect(201)
    library.post("/service-points-users", {
        "userId": patron.user_id, "servicePointsIds": [point["id"]],
        "defaultServicePointId": point["id"]}).expect(201)
    body = patron.get("/bl-users/_self").expect(200)
    assert [p["id"] for p in body["servicePointsUser"]["servicePoints"]] == [point["id"]]


def test_only_what_is_asked_for_is_included(library, patron):
    body = library.get("/bl-users/by-username/" + patron.username, include="groups").expect(200)
    assert set(body) == {"user"}
    sponsor = {"userId": patron.user_id, "proxyUserId": new_id()}
    library.post("/proxiesfor", sponsor).expect(201)
    body = library.get("/bl-users/by-id/" + patron.user_id, include="groups,proxiesfor").json
    assert body["proxiesFor"][0]["proxyUserId"] == sponsor["proxyUserId"]


def test_unknown_users_are_not_found(library):
    library.get("/bl-users/by-id/" + new_id()).expect(404)
    library.get("/bl-users/by-username/nobody").expect(404)
    library.get(f"/bl-users/by-id/{new_id()}/open-transactions").expect(404)
    library.delete("/bl-users/by-id/" + new_id()).expect(404)


def test_users_are_listed_with_their_parts(library, patron):
    body = library.get("/bl-users", query=f"username=={patron.username}").expect(200)
    assert body["recordCount"] == body["totalResults"] == 1
    assert body["compositeUsers"][0]["user"]["id"] == patron.user_id


# Deleting -----------------------------------------------------------------------------------------


def test_a_user_with_something_open_stays(library, patron):
    path = "/bl-users/by-id/" + patron.user_id
    proxy = library.post("/proxiesfor", {"userId": patron.user_id,
                                         "proxyUserId": new_id()}).expect(201)
    body = library.delete(path).expect(409)
    assert body == {"userId": patron.user_id, "userBarcode": patron.record["barcode"],
                    "hasOpenTransactions": True, "loans": 0, "requests": 0, "feesFines": 0,
                    "proxies": 1, "blocks": 0}
    assert library.get(path + "/open-transactions").expect(200) == body
    by_name = f"/bl-users/by-username/{patron.username}/open-transactions"
    assert library.get(by_name).expect(200) == body
    library.delete("/proxiesfor/" + proxy["id"]).expect(204)
    library.delete(path).expect(204)


def test_what_belongs_to_a_user_goes_too(library, patron):
    library.delete("/bl-users/by-id/" + patron.user_id).expect(204)
    library.get("/users/" + patron.user_id).expect(404)
    found = library.get("/perms/users", query=f"userId=={patron.user_id}").expect(200)
    assert found["totalRecords"] == 0
    exist = library.get("/authn/credentials-existence", userId=patron.user_id).expect(200)
    assert exist["credentialsExist"] is False
    patron.get("/bl-users/_self").expect(401)


# Passwords ----------------------------------------------------------------------------------------


def test_a_password_is_changed_by_who_knows_the_old_one(library, patron):
    body = {"userId": patron.user_id, "username": patron.username, "password": "secret",
            "newPassword": "better"}
    path = "/bl-users/settings/myprofile/password"
    patron.post(path, {**body, "password": "guess"}).expect(401)
    library.anybody.post(path, body).expect(401)
    patron.post(path, body).expect(204)
    log_in(library, username=patron.username, password="secret").expect(422)
    log_in(library, username=patron.username, password="better").expect(201)


def test_a_link_sets_a_password_once(library, patron):
    link = library.post("/bl-users/password-reset/link",
                        {"userId": patron.user_id}).expect(200)["link"]
    token = link.split("/reset-password/")[1].split("?")[0]
    holder = library.with_token(token)
    holder.get("/users").expect(403)
    holder.post("/bl-users/password-reset/validate").expect(204)
    holder.post("/bl-users/password-reset/reset", {"newPassword": "fresh"}).expect(204)
    log_in(library, username=patron.username, password="fresh").expect(201)
    error = holder.post("/bl-users/password-reset/validate").expect(422)["errors"][0]
    assert error["code"] == "link.used"
    library.post("/bl-users/password-reset/link", {"userId": new_id()}).expect(422)


def test_a_link_leads_to_the_librarys_own_page(fresh_library):
    library = fresh_library
    user = library.post("/users", {"username": "somebody"}).expect(201)["id"]

    def link():
        body = library.post("/bl-users/password-reset/link", {"userId": user}).expect(200)
        assert body["link"].endswith("?tenant=" + library.tenant)
        return body["link"]

    assert link().startswith("http://localhost:3000/reset-password/ey")
    library.post("/configurations/entries", {"module": "USERSBL", "configName": "resetPassword",
                                             "code": "FOLIO_HOST",
                                             "value": "https://old.example.org"}).expect(201)
    assert link().startswith("https://old.example.org/reset-password/ey")
    library.put("/base-url", {"baseUrl": "https://new.example.org"}).expect(204)
    assert link().startswith("https://new.example.org/reset-password/ey")


def test_an_ordinary_token_is_no_link(library):
    error = library.post("/bl-users/password-reset/validate").expect(422)["errors"][0]
    assert error["code"] == "link.invalid"


def test_forgetting_tells_who_is_unknown_or_inactive(library, patron):
    path = "/bl-users/forgotten/password"
    assert library.anybody.post(path, {"id": "no*"}).expect(400) == "User is not found: no*"
    library.put("/users/" + patron.user_id, {**patron.record, "active": False}).expect(204)
    error = library.anybody.post(path, {"id": patron.username}).expect(422)["errors"][0]
    assert error["code"] == "forgotten.password.found.inactive"
