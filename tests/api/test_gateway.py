"""What the gateway does before a module sees a request. Source: spec/platform.md 1, 8."""

import requests

from octavo import Client, Library


def test_a_request_without_tenant_and_token_meets_the_supertenant(server):
    answer = Client(server).get("/users")
    assert answer.expect(404) == "No suitable module found for path /users for tenant supertenant"


def test_an_unknown_tenant_is_refused(server):
    assert Client(server, "nobody").get("/users").expect(400) == "No such Tenant nobody"


def test_a_route_with_permission_needs_a_token(library):
    anybody = library.anybody
    text = anybody.get("/users").expect(400)
    assert text == "Token missing, access requires permission: users.collection.get"
    assert anybody.last.headers["content-type"].startswith("text/plain")


def test_an_unknown_path_and_a_wrong_method_are_both_not_found(library):
    library.get("/no/such/path").expect(404)
    library.patch("/users").expect(404)
    library.get("/users/").expect(404)


def test_a_bad_token_is_refused(library):
    assert library.with_token("rubbish").get("/users").expect(401) == "Invalid token"
    head, payload, _ = library.token.split(".")
    forged = library.with_token(f"{head}.{payload}.AAAA")
    assert forged.get("/users").expect(401) == "Invalid token"


def test_a_token_without_signature_is_refused(library):
    import base64
    none = base64.urlsafe_b64encode(b'{"alg":"none","typ":"JWT"}').decode().rstrip("=")
    payload = library.token.split(".")[1]
    assert library.with_token(f"{none}.{payload}.").get("/users").expect(401) == "Invalid token"


def test_an_unreadable_token_without_tenant_is_a_bad_request(server):
    answer = Client(server, token="rubbish").get("/users")
    assert "Invalid Token: Failed to decode:Unrecognized token" in answer.expect(400)


def test_a_token_of_another_tenant_is_refused(library, operator):
    stranger = Client(library.server, library.tenant, operator.token)
    assert stranger.get("/users").expect(403) == "Invalid token"


def test_the_tenant_comes_from_the_token_when_no_header_names_it(library):
    Client(library.server, None, library.token).get("/users").expect(200)


def test_two_different_tokens_are_refused(library):
    both = library.with_headers({"authorization": "Bearer other"})
    assert both.get("/users").expect(400) == ("Different tokens in Authentication and "
                                              "X-Okapi-Token. Use only one of them")


def test_a_bearer_token_and_a_cookie_let_in(library):
    bearer = Client(library.server, library.tenant,
                    headers={"authorization": "Bearer " + library.token})
    bearer.get("/users").expect(200)
    cookie = Client(library.server, library.tenant,
                    headers={"cookie": "folioAccessToken=" + library.token})
    cookie.get("/users").expect(200)


def test_the_header_wins_over_the_cookie(library):
    both = library.with_headers({"cookie": "folioAccessToken=rubbish"})
    both.get("/users").expect(200)


def test_a_foreign_user_id_header_is_refused(library):
    other = library.with_headers({"x-okapi-user-id": "00000000-0000-4000-8000-000000000000"})
    assert other.get("/users").expect(403) == "Invalid token"


def test_a_missing_permission_is_named(library):
    user = library.user(["users.collection.get"])
    user.get("/users").expect(200)
    text = user.post("/users", {"username": "x"}).expect(403)
    assert text == (f"Access for user '{user.username}' ({user.user_id}) "
                    "requires permission: users.item.post")


def test_the_newest_name_of_a_permission_lets_in_too(library):
    library.user(["auth.token.post"]).post("/token", {"payload": {"sub": "x"}}).expect(201)
    library.user(["auth.signtoken"]).post("/token", {"payload": {"sub": "x"}}).expect(201)
    library.user([]).post("/token", {"payload": {"sub": "x"}}).expect(403)


def test_a_token_of_a_deleted_user_is_refused(library):
    user = library.user(["users.collection.get"])
    user.get("/users").expect(200)
    library.delete("/users/" + user.user_id).expect(204)
    text = user.get("/users").expect(401)
    assert text == f"Invalid token: User with id {user.user_id} does not exist"


def test_a_token_of_an_inactive_user_is_refused(library):
    user = library.user(["users.collection.get"])
    record = library.get("/users/" + user.user_id).expect(200)
    library.put("/users/" + user.user_id, {**record, "active": False}).expect(204)
    text = user.get("/users").expect(401)
    assert text == f"Invalid token: user with id {user.user_id} is not active"


def test_an_access_token_ends(library):
    answer = library.anybody.post("/authn/login-with-expiry",
                                  {"username": "diku_admin", "password": "admin"})
    answer.expect(201)
    user = library.with_token(answer.cookie("folioAccessToken")[0])
    user.get("/users").expect(200)
    assert user.at("2036-01-01T00:00:00Z").get("/users").expect(401) == "Invalid token"


def test_a_request_id_is_made_and_a_given_one_is_kept(library):
    library.get("/users")
    assert library.last.headers["x-okapi-request-id"].endswith("/users")
    answer = library.with_headers({"x-okapi-request-id": "mine"}).get("/users")
    assert answer.headers["x-okapi-request-id"].startswith("mine;")


def test_a_tenant_in_the_path_is_invoked(library):
    anybody = Client(library.server)
    text = anybody.get(f"/_/invoke/tenant/{library.tenant}/users", query="a==b").expect(400)
    assert text == "Token missing, access requires permission: users.collection.get"
    Client(library.server, None, library.token).get(
        f"/_/invoke/tenant/{library.tenant}/users").expect(200)


# Browsers -----------------------------------------------------------------------------------------


def test_a_preflight_needs_neither_tenant_nor_token(server):
    answer = Client(server, headers={"origin": "https://ui.example",
                                     "access-control-request-method": "POST"}).call(
                                         "OPTIONS", "/users")
    answer.expect(204)
    assert answer.headers["access-control-allow-origin"] == "https://ui.example"
    assert "POST" in answer.headers["access-control-allow-methods"]
    assert "X-Okapi-Token" in answer.headers["access-control-allow-headers"]
    assert "access-control-allow-credentials" not in answer.headers


def test_errors_carry_cors_headers_too(library):
    answer = library.anybody.call("GET", "/users", headers={"origin": "https://ui.example"})
    answer.expect(400)
    assert answer.headers["access-control-allow-origin"] == "https://ui.example"


def test_options_without_an_origin_is_answered_like_a_preflight(server):
    answer = Client(server).call("OPTIONS", "/circulation/check-out-by-barcode")
    assert answer.expect(204) == ""
    assert "POST" in answer.headers["access-control-allow-methods"]
    assert "X-Okapi-Token" in answer.headers["access-control-allow-headers"]


def test_a_get_with_preflight_headers_is_no_preflight(library):
    answer = library.call("GET", "/users", headers={"origin": "https://ui.example",
                                                    "access-control-request-method": "GET"})
    assert "users" in answer.expect(200)


def test_trusted_origins_may_send_cookies(own_server):
    server = own_server("--gateway.cors_origins=https://ui.example")
    for origin, trusted in (("https://ui.example", True), ("https://evil.example", False)):
        answer = Client(server, headers={"origin": origin}).call("OPTIONS", "/users")
        assert ("access-control-allow-credentials" in answer.headers) == trusted


# Bodies -------------------------------------------------------------------------------------------


def test_a_body_must_be_json(library):
    wrong = library.call("POST", "/groups", data=b"<a/>", headers={"content-type": "text/xml"})
    assert wrong.expect(400) == ('Content-type header must be ["application/json"] '
                                 'but it is "text/xml"')
    library.call("POST", "/groups", data=b'{"group":',
                 headers={"content-type": "application/json"}).expect(400)
    library.post("/groups").expect(400)
    library.post("/groups", ["x"]).expect(400)


def test_a_body_without_content_type_counts_as_json(library):
    url = library.server.url + "/groups"
    headers = {"x-okapi-tenant": library.tenant, "x-okapi-token": library.token}
    answer = requests.post(url, data=b'{"group":"typeless"}', headers=headers, timeout=10)
    assert answer.status_code == 201


# Collections --------------------------------------------------------------------------------------


def test_a_record_is_created_read_changed_deleted(library):
    record = library.post("/groups", {"group": "visitors", "desc": "guests"}).expect(201)
    assert library.last.headers["location"] == "/groups/" + record["id"]
    assert record["metadata"]["createdDate"] == record["metadata"]["updatedDate"]
    path = "/groups/" + record["id"]
    assert library.get(path).expect(200)["group"] == "visitors"
    assert library.get("/groups/" + record["id"].upper()).expect(200)["id"] == record["id"]
    library.put(path, {**record, "desc": "visitors"}).expect(204)
    assert library.get(path).json["desc"] == "visitors"
    library.delete(path).expect(204)
    library.get(path).expect(404)
    library.put(path, record).expect(404)
    library.delete(path).expect(404)


def test_a_list_says_how_many_there_are(library):
    for name in ("list-a", "list-b", "list-c"):
        library.post("/groups", {"group": name}).expect(201)
    body = library.get("/groups", query="group==list-*", limit=2).expect(200)
    assert len(body["usergroups"]) == 2 and body["totalRecords"] == 3
    body = library.get("/groups", query="group==list-*", limit=0).expect(200)
    assert body == {"usergroups": [], "totalRecords": 3}
    body = library.get("/groups", query="group==list-*", totalRecords="none").expect(200)
    assert "totalRecords" not in body
    body = library.get("/groups", query="group==list-* sortby group/sort.descending", offset=1,
                       limit=1).expect(200)
    assert body["usergroups"][0]["group"] == "list-b"


def test_wrong_list_parameters_are_refused(library):
    library.get("/groups", limit="-1").expect(400)
    assert library.get("/groups", limit="abc").expect(400) == 'For input string: "abc"'
    library.get("/groups", totalRecords="many").expect(400)
    library.get("/groups", query="").expect(400)
    library.get("/groups", query="group=(").expect(400)
    library.get("/groups", stray="1", lang="en").expect(200)


def test_an_ordinary_list_costs_one_statement(library):
    library.get("/groups")
    library.get("/groups").expect(200)
    assert library.last.statements <= 2


def test_a_long_list_arrives_whole(library):
    for i in range(30):
        library.post("/departments", {"name": f"long {i:04}", "code": f"L{i:04}"}).expect(201)
    body = library.get("/departments", query='name=="long *" sortby name', limit=2147483647)
    names = [d["name"] for d in body.expect(200)["departments"]]
    assert names == [f"long {i:04}" for i in range(30)]


def test_a_user_with_letters_beyond_ascii_may_use_his_token(library):
    user = library.user(["users.collection.get"], username="jürgen_ñ_李")
    user.get("/users").expect(200)


def test_rights_of_a_restarted_server_are_the_same(own_server):
    server = own_server()
    library = Library(server, "diku").login()
    library.get("/users").expect(200)
    server.restart()
    library.get("/users").expect(200)


def test_facets_count_values_of_what_matches(library):
    group = library.post("/groups", {"group": "facetted"}).expect(201)["id"]
    for i, active in enumerate((True, True, False)):
        library.post("/users", {"username": f"facet{i}", "active": active, "patronGroup": group,
                                "tags": {"tagList": ["a", "b"][:i + 1]}}).expect(201)
    url = (f"/users?query=patronGroup=={group}&limit=1&facets=active&facets=patronGroup:10"
           "&facets=tags.tagList[]:1")
    body = library.get(url).expect(200)
    assert body["totalRecords"] == 3 and len(body["users"]) == 1
    assert body["resultInfo"]["facets"] == [
        {"facetValues": [{"count": 2, "value": "true"}, {"count": 1, "value": "false"}],
         "type": "active"},
        {"facetValues": [{"count": 3, "value": group}], "type": "patronGroup"},
        {"facetValues": [{"count": 3, "value": "a"}], "type": "tags.tagList[]"}]
