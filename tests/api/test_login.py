"""Passwords, logging in and out. Source: spec/platform.md 2, 8."""

import uuid

import pytest

from octavo import Client

WRONG = {"errors": [{"message": "Wrong username or wrong password or account blocked",
                     "type": "error", "code": "wrong.username.or.wrong.password.or.account.blocked",
                     "parameters": []}]}


@pytest.fixture
def user(library):
    return library.user(["users.collection.get"])


def login(library, username, password="secret", **more):
    return library.anybody.post("/authn/login",
                                {"username": username, "password": password, **more})


def sessions(library, username, password="secret", **more):
    return library.anybody.post("/authn/login-with-expiry",
                                {"username": username, "password": password}, **more)


def refresh(library, token, client=None):
    return (client or library.anybody).call(
        "POST", "/authn/refresh", headers={"cookie": "folioRefreshToken=" + token})


# Logging in ---------------------------------------------------------------------------------------


def test_a_login_gives_a_token_in_header_and_body(library, user):
    answer = login(library, user.username)
    assert answer.expect(201)["okapiToken"] == answer.headers["x-okapi-token"]
    library.with_token(answer.headers["x-okapi-token"]).get("/users").expect(200)


def test_a_login_with_expiry_sets_two_cookies(library, user):
    answer = sessions(library, user.username)
    body = answer.expect(201)
    assert set(body) == {"accessTokenExpiration", "refreshTokenExpiration"}
    assert body["accessTokenExpiration"].endswith("Z")
    token, attributes = answer.cookie("folioAccessToken")
    assert attributes["max-age"] == "600" and attributes["path"] == "/"
    assert {"secure", "httponly"} <= set(attributes) and attributes["samesite"] == "Lax"
    _, attributes = answer.cookie("folioRefreshToken")
    assert attributes["max-age"] == "604800" and attributes["path"] == "/authn"
    library.with_token(token).get("/users").expect(200)


def test_case_of_the_name_does_not_matter(library, user):
    login(library, user.username.upper()).expect(201)


def test_a_user_id_does_as_well(library, user):
    library.anybody.post("/authn/login",
                         {"userId": user.user_id, "password": "secret"}).expect(201)


@pytest.mark.parametrize("name", ["nobody", "dik*", '*', 'a" or username="b', "u?"])
def test_names_that_are_none_get_the_one_answer(library, name):
    assert login(library, name).expect(422) == WRONG


def test_a_wrong_password_gets_the_one_answer(library, user):
    assert login(library, user.username, "wrong").expect(422) == WRONG


def test_what_is_missing_is_told(library):
    text = library.anybody.post("/authn/login", {"password": "x"}).expect(400)
    assert text == "You must provide a username or userId"
    text = library.anybody.post("/authn/login", {"username": "x"}).expect(400)
    assert text == "You must provide a password"
    library.anybody.call("POST", "/authn/login", data=b"{").expect(400)


def test_a_stale_token_or_cookie_does_not_keep_from_logging_in(library, user):
    caller = Client(library.server, library.tenant, token="rubbish",
                    headers={"cookie": "folioAccessToken=rubbish"})
    caller.post("/authn/login", {"username": user.username, "password": "secret"}).expect(201)


def test_a_user_without_permission_record_may_log_in(library):
    record = library.post("/users", {"username": "bare", "active": True}).expect(201)
    library.post("/authn/credentials", {"userId": record["id"], "password": "x"}).expect(201)
    token = login(library, "bare", "x").expect(201)["okapiToken"]
    library.with_token(token).get("/users").expect(403)


def test_details_are_told_only_on_request(own_server):
    from octavo import Library
    library = Library(own_server("--login.error_detail=on"), "diku").login()
    errors = login(library, "nobody").expect(422)["errors"]
    assert errors[0]["code"] == "username.incorrect"
    assert errors[0]["parameters"] == [{"key": "username", "value": "nobody"}]
    assert login(library, "diku_admin", "x").json["errors"][0]["code"] == "password.incorrect"


def test_logins_without_expiry_can_be_switched_off(own_server):
    server = own_server("--login.legacy=other")
    caller = Client(server, "diku")
    body = {"username": "diku_admin", "password": "admin"}
    caller.post("/authn/login", body).expect(404)
    caller.post("/authn/login-with-expiry", body).expect(201)


# Too many failures --------------------------------------------------------------------------------


def attempts(library, user):
    return library.get("/authn/loginAttempts/" + user.user_id)


def test_five_failures_take_the_right_to_log_in(library, user):
    for _ in range(5):
        login(library, user.username, "wrong").expect(422)
    assert login(library, user.username).expect(422) == WRONG
    assert library.get("/users/" + user.user_id).json["active"] is False
    assert "is not active" in user.get("/users").expect(401)


def test_a_good_login_sets_the_counter_back(library, user):
    for _ in range(4):
        login(library, user.username, "wrong").expect(422)
    assert attempts(library, user).expect(200)["attemptCount"] == 4
    login(library, user.username).expect(201)
    assert attempts(library, user).expect(200)["attemptCount"] == 0
    for _ in range(4):
        login(library, user.username, "wrong").expect(422)
    login(library, user.username).expect(201)


def test_failures_long_ago_do_not_count(library, user):
    early = Client(library.server, library.tenant,
                   headers={"x-octavo-now": "2026-01-01T10:00:00Z"})
    late = Client(library.server, library.tenant,
                  headers={"x-octavo-now": "2026-01-01T10:11:00Z"})
    body = {"username": user.username, "password": "wrong"}
    for _ in range(4):
        early.post("/authn/login", body).expect(422)
    late.post("/authn/login", body).expect(422)
    assert attempts(library, user).json["attemptCount"] == 1


def test_attempts_of_a_user_who_never_failed_are_not_found(library, user):
    text = attempts(library, user).expect(404)
    assert text == "No user login attempts found for id " + user.user_id


# Sessions -----------------------------------------------------------------------------------------


def test_a_refresh_token_gives_a_new_pair(library, user):
    first = sessions(library, user.username).cookie("folioRefreshToken")[0]
    answer = refresh(library, first)
    assert set(answer.expect(201)) == {"accessTokenExpiration", "refreshTokenExpiration"}
    token = answer.cookie("folioAccessToken")[0]
    assert answer.cookie("folioRefreshToken")[0] != first
    library.with_token(token).get("/users").expect(200)


def test_two_tabs_may_refresh_at_the_same_moment(library, user):
    token = sessions(library, user.username).cookie("folioRefreshToken")[0]
    refresh(library, token).expect(201)
    refresh(library, token).expect(201)


def test_a_stolen_refresh_token_ends_all_sessions(library, user):
    def at(moment):
        return Client(library.server, library.tenant, headers={"x-octavo-now": moment})

    answer = at("2026-01-01T10:00:00Z").post(
        "/authn/login-with-expiry", {"username": user.username, "password": "secret"})
    token = answer.cookie("folioRefreshToken")[0]
    second = refresh(library, token, at("2026-01-01T10:00:01Z"))
    second.expect(201)
    later = at("2026-01-01T10:01:00Z")
    error = refresh(library, token, later).expect(422)["errors"][0]
    assert error["code"] == "token.refresh.unprocessable"
    refresh(library, second.cookie("folioRefreshToken")[0], later).expect(422)


def test_bad_refresh_tokens_are_refused(library, user):
    error = library.anybody.post("/authn/refresh").expect(400)["errors"][0]
    assert error["code"] == "token.parse.failure"
    refresh(library, "rubbish").expect(422)
    access = sessions(library, user.username).cookie("folioAccessToken")[0]
    refresh(library, access).expect(422)


def test_a_refresh_token_opens_no_other_route(library, user):
    token = sessions(library, user.username).cookie("folioRefreshToken")[0]
    assert library.with_token(token).get("/users").expect(401) == "Invalid token"


def test_logging_out_ends_the_session(library, user):
    token = sessions(library, user.username).cookie("folioRefreshToken")[0]
    answer = library.anybody.call("POST", "/authn/logout",
                                  headers={"cookie": "folioRefreshToken=" + token})
    answer.expect(204)
    value, attributes = answer.cookie("folioAccessToken")
    assert value == "" and attributes["expires"] == "Thu, 01 Jan 1970 00:00:00 GMT"
    refresh(library, token).expect(422)


def test_logging_out_everywhere_ends_all_sessions(library, user):
    tokens = [sessions(library, user.username).cookie("folioRefreshToken")[0] for _ in range(2)]
    user.post("/authn/logout-all").expect(204)
    for token in tokens:
        refresh(library, token).expect(422)


# Credentials --------------------------------------------------------------------------------------


def test_a_password_is_set_once(library):
    record = library.post("/users", {"username": "once", "active": True}).expect(201)
    body = {"username": "once", "password": "a"}
    assert library.post("/authn/credentials", body).expect(201) == ""
    message = library.post("/authn/credentials", body).expect(422)["errors"][0]["message"]
    assert message == f"There already exists credentials for user id '{record['id']}'"
    assert library.get("/authn/credentials-existence", userId=record["id"]).json == {
        "credentialsExist": True}
    library.delete("/authn/credentials", userId=record["id"]).expect(204)
    text = library.delete("/authn/credentials", userId=record["id"]).expect(404)
    assert text == f"No credentials for userId {record['id']} found"


def test_passwords_of_nobody_and_no_passwords_are_refused(library, user):
    library.post("/authn/credentials", {"username": "nobody", "password": "x"}).expect(400)
    error = library.post("/authn/credentials",
                         {"userId": user.user_id, "password": ""}).expect(422)["errors"][0]
    assert error["message"] == "Password is missing or empty"


def test_a_password_is_changed_with_the_old_one_as_proof(library, user):
    body = {"userId": user.user_id, "password": "secret", "newPassword": "better"}
    assert library.anybody.post("/authn/update",
                                {**body, "password": "no"}).expect(401) == "Invalid credentials"
    assert library.anybody.post("/authn/update", {**body, "newPassword": ""}).expect(400) == (
        "You must provide a new password that isn't empty")
    library.anybody.post("/authn/update", body).expect(204)
    login(library, user.username).expect(422)
    login(library, user.username, "better").expect(201)


def test_former_passwords_are_remembered(library, user):
    library.anybody.post("/authn/update", {"userId": user.user_id, "password": "secret",
                                           "newPassword": "better"}).expect(204)
    for password, result in (("secret", "invalid"), ("better", "invalid"), ("new", "valid")):
        answer = library.post("/authn/password/repeatable",
                              {"userId": user.user_id, "password": password})
        assert answer.expect(200) == {"result": result}


def test_a_password_is_reset_by_an_action(library, user):
    action = {"id": str(uuid.uuid4()), "userId": user.user_id,
              "expirationTime": "2036-01-01T00:00:00.000+00:00"}
    body = library.post("/authn/password-reset-action", action).expect(201)
    assert body == {"passwordExists": True}
    path = "/authn/password-reset-action/" + action["id"]
    assert library.get(path).expect(200)["userId"] == user.user_id
    body = library.post("/authn/reset-password", {"passwordResetActionId": action["id"],
                                                  "newPassword": "reset"}).expect(201)
    assert body == {"isNewPassword": False}
    assert library.get(path).expect(404) == (
        f"Password action with ID: `{action['id']}` was not found in the db")
    login(library, user.username, "reset").expect(201)
    library.post("/authn/reset-password", {"passwordResetActionId": action["id"],
                                           "newPassword": "again"}).expect(400)


# Tokens for other services ------------------------------------------------------------------------


def test_tokens_are_signed_for_services(library, user):
    body = library.post("/token/sign", {"payload": {"sub": user.username,
                                                    "user_id": user.user_id}}).expect(201)
    library.with_token(body["accessToken"]).get("/users").expect(200)
    renewed = library.post("/token/refresh", {"refreshToken": body["refreshToken"]}).expect(201)
    library.post("/token/invalidate", {"refreshToken": renewed["refreshToken"]}).expect(204)
    library.post("/token/refresh", {"refreshToken": renewed["refreshToken"]}).expect(422)


def test_a_dummy_token_carries_its_own_rights(library):
    body = library.post("/token", {"payload": {
        "sub": "UNDEFINED_USER__RESET_PASSWORD_1", "dummy": True,
        "extra_permissions": ["users.collection.get"]}}).expect(201)
    dummy = library.with_token(body["token"])
    dummy.get("/users").expect(200)
    dummy.post("/users", {"username": "x"}).expect(403)
