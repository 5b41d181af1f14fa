// Logging in with the composite user as answer. Source: spec/platform.md 2.2, 2.4.
#include "modules/mod-users-bl/internal.h"

#include "modules/mod-authtoken/sessions.h"
#include "modules/mod-login/login.h"

typedef struct {
    Req *req;
    const Json *user;
    TokenSubject subject;
    Session session;
    Buf out;
} Login;

static Err *check_password(Req *req, Json **user)
{
    LoginAttempt attempt = {0};
    Json *body = NULL;

    TRY(req_body_object(req, &body));
    attempt.username = json_str(body, "username");
    attempt.password = json_str(body, "password");
    if (!attempt.username.len || !attempt.password.len) {
        return err_text(400, "Improperly formatted request");
    }
    return login_check(req, &attempt, user);
}

static TokenSubject subject_of(const Req *req, const Json *user)
{
    return (TokenSubject){.tenant = req->tenant_id,
                          .user_id = json_str(user, "id"),
                          .user_name = json_str(user, "username")};
}

static Err *compose(Tx *tx, void *context)
{
    Login *login = context;
    Include include = include_read(login->req);

    TRY(composite_write(login->req, tx, login->user, &include, &login->out));
    buf_add_z(&login->out, ",\"tenant\":");
    json_write_string(&login->out, login->req->tenant_id);
    return NULL;
}

static Err *start_session(Tx *tx, void *context)
{
    Login *login = context;

    return session_start(tx, login->req->app, &login->subject, &login->session);
}

Err *bl_login(Req *req)
{
    Login login = {.req = req, .out = buf_new(arena_current(), COMPOSITE_MAX)};
    Json *user = NULL;
    Str token;

    TRY(login_legacy_is_allowed(req));
    TRY(check_password(req, &user));
    login.user = user;
    login.subject = subject_of(req, user);
    TRY(bl_read(req, compose, &login));
    buf_char(&login.out, '}');
    TRY(token_sign(req->app, &login.subject, req->now, 0, &token));
    reply_header(req, "x-okapi-token", token);
    return reply_json_text(req, 201, buf_str(&login.out));
}

Err *bl_login_with_expiry(Req *req)
{
    Login login = {.req = req, .out = buf_new(arena_current(), COMPOSITE_MAX)};
    const TxOptions options = {.kind = WRITE, .now = req->now};
    Json *user = NULL;

    if (!tenant_has_module(req->tenant, "mod-authtoken")) {
        return err_text(404, "No suitable module found for path /token/sign for tenant " STR_FMT,
                        STR_ARG(req->tenant_id));
    }
    TRY(check_password(req, &user));
    login.user = user;
    login.subject = subject_of(req, user);
    TRY(bl_read(req, compose, &login));
    TRY(tx_run(tenant_db(req->tenant), &options, start_session, &login));
    buf_add_z(&login.out, ",\"tokenExpiration\":");
    json_write(&login.out, session_expirations(&login.session));
    buf_char(&login.out, '}');
    session_set_cookies(req, &login.session);
    return reply_json_text(req, 201, buf_str(&login.out));
}
