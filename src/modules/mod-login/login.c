// Logging in and out. FOLIO: mod-login. Source: spec/platform.md 2.2, decisions 8, 9.
//
// Hashing a password takes its time: it happens between transactions, never inside one.
#include "modules/mod-login/internal.h"

#include "modules/mod-authtoken/sessions.h"

Err *login_run(Req *req, TxKind kind, Err *(*step)(Tx *, void *), void *context)
{
    return tx_run(tenant_db(req->tenant),
                  &(TxOptions){.kind = kind, .now = req->now, .user_id = req->user_id}, step,
                  context);
}

// ---------------------------------------------------------------------------------------------
// The body

Err *login_body(const Req *req, LoginAttempt *out, Json **body)
{
    TRY(req_body_object(req, body));
    *out = (LoginAttempt){.username = json_str(*body, "username"),
                          .user_id = json_str(*body, "userId"),
                          .password = json_str(*body, "password")};
    if (!out->username.len && !out->user_id.len) {
        return err_text(400, "You must provide a username or userId");
    }
    if (!out->password.len) {
        return err_text(400, "You must provide a password");
    }
    return NULL;
}

Err *login_user(Tx *tx, const LoginAttempt *attempt, Json **user)
{
    return attempt->username.len ? user_by_name(tx, attempt->username, user)
                                 : user_by_id(tx, attempt->user_id, user);
}

Err *login_legacy_is_allowed(const Req *req)
{
    Str list = app_option(req->app, "login.legacy", "*"), one;
    while (str_next(&list, ',', &one)) {
        one = str_trim(one);
        if (str_eq(one, S("*")) || (one.len && str_eq(one, req->tenant_id))) {
            return NULL;
        }
    }
    return err_text(404, "Not found");
}

// ---------------------------------------------------------------------------------------------
// Refusals

typedef enum {
    UNKNOWN_USER,
    WRONG_PASSWORD,
    WRONG_PASSWORD_WARNED,
    WRONG_PASSWORD_BLOCKED,
    USER_INACTIVE,
} Refusal;

// One answer for all reasons, so that outsiders cannot find out user names (decision 8).
static Err *refuse(const Req *req, Refusal reason, Str username)
{
    static const struct {
        const char *code, *message;
    } details[] = {
        {"username.incorrect", "Error verifying user existence: No user found by username"},
        {"password.incorrect", "Password does not match"},
        {"password.incorrect.warn.user", "Password does not match, warning"},
        {"password.incorrect.block.user", "Fifth failed attempt"},
        {"user.blocked", "User must be flagged as active"},
    };
    Err *err = NULL;
    if (app_flag(req->app, "login.error_detail", false)) {
        const ErrParam param = P("username", username);
        err = err_json(422, str_of(details[reason].code), str_of(details[reason].message), &param,
                       username.len ? 1 : 0);
    } else {
        err = err_json(422, S("wrong.username.or.wrong.password.or.account.blocked"),
                       S("Wrong username or wrong password or account blocked"), NULL, 0);
    }
    err->type = S("error");
    return err;
}

// ---------------------------------------------------------------------------------------------
// Checking a password

typedef struct {
    const LoginAttempt *attempt;
    bool has_configuration;
    Json *user, *credentials;
    bool must_reset; // failures are counted
    AttemptOutcome outcome;
    const PasswordHash *rehash;
} Check;

static Err *read_work(Tx *tx, void *context)
{
    Check *check = context;
    Json *attempts = NULL;
    TRY(login_user(tx, check->attempt, &check->user));
    if (!check->user) {
        return NULL;
    }
    Str id = json_str(check->user, "id");
    TRY(credentials_find(tx, id, &check->credentials));
    TRY(attempt_find(tx, id, &attempts));
    check->must_reset = json_int(attempts, "attemptCount", 0) > 0;
    return NULL;
}

static Err *failed_work(Tx *tx, void *context)
{
    Check *check = context;
    LoginLimits limits;
    TRY(login_limits(tx, check->has_configuration, &limits));
    return attempt_failed(tx, json_str(check->user, "id"), &limits, &check->outcome);
}

// The same password under the present scheme: no entry of the history.
static Err *replace_hash(Tx *tx, const Check *check)
{
    Json *old = NULL;
    TRY(credentials_find(tx, json_str(check->user, "id"), &old));
    if (!old || !str_eq(json_str(old, "hash"), json_str(check->credentials, "hash"))) {
        return NULL; // changed meanwhile
    }
    Json *doc = json_copy(old);
    json_set_str(doc, "hash", check->rehash->hash);
    json_set_str(doc, "salt", check->rehash->salt);
    json_set_str(doc, "scheme", check->rehash->scheme);
    return tx_change(tx, &auth_credentials, old, doc);
}

static Err *succeeded_work(Tx *tx, void *context)
{
    const Check *check = context;
    if (check->rehash) {
        TRY(replace_hash(tx, check));
    }
    return attempt_succeeded(tx, json_str(check->user, "id"));
}

static Err *count_failure(Req *req, Check *check)
{
    static const Refusal refusals[] = {WRONG_PASSWORD, WRONG_PASSWORD_WARNED,
                                       WRONG_PASSWORD_BLOCKED};
    TRY(login_run(req, WRITE, failed_work, check));
    return refuse(req, refusals[check->outcome], json_str(check->user, "username"));
}

static Err *accept(Req *req, Check *check)
{
    PasswordHash hash;
    if (password_is_outdated(req->app, check->credentials)) {
        password_hash(req->app, check->attempt->password, &hash);
        check->rehash = &hash;
    }
    return check->rehash || check->must_reset ? login_run(req, WRITE, succeeded_work, check) : NULL;
}

Err *login_check(Req *req, const LoginAttempt *attempt, Json **user)
{
    METER("mod-login");
    Check check = {.attempt = attempt,
                   .has_configuration = tenant_has_module(req->tenant, "mod-configuration")};
    TRY(login_run(req, READ, read_work, &check));
    if (!check.user || !check.credentials) {
        // Takes as long as a wrong password: time must not tell who exists.
        password_pretend(req->app, attempt->password);
        return refuse(req, UNKNOWN_USER, attempt->username);
    }
    bool fits = password_fits(check.credentials, attempt->password);
    if (!user_is_active(check.user)) {
        return refuse(req, USER_INACTIVE, attempt->username);
    }
    if (!fits) {
        return count_failure(req, &check);
    }
    TRY(accept(req, &check));
    *user = check.user;
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Routes

static TokenSubject subject_of(const Req *req, const Json *user)
{
    return (TokenSubject){.tenant = req->tenant_id,
                          .user_id = json_str(user, "id"),
                          .user_name = json_str(user, "username")};
}

Err *login_legacy(Req *req)
{
    LoginAttempt attempt;
    Json *body = NULL, *user = NULL, *answer = json_object();
    Str token;
    TRY(login_legacy_is_allowed(req));
    TRY(login_body(req, &attempt, &body));
    TRY(login_check(req, &attempt, &user));
    TokenSubject subject = subject_of(req, user);
    TRY(token_sign(req->app, &subject, req->now, 0, &token));
    json_set_str(answer, "okapiToken", token);
    reply_header(req, "x-okapi-token", token);
    return reply_json(req, 201, answer);
}

typedef struct {
    Req *req;
    TokenSubject subject;
    Session session;
    Str refresh_token;
    bool refused, found;
} SessionWork;

static Err *start_work(Tx *tx, void *context)
{
    SessionWork *work = context;
    return session_start(tx, work->req->app, &work->subject, &work->session);
}

static Err *refresh_work(Tx *tx, void *context)
{
    SessionWork *work = context;
    return session_refresh(tx, work->req->app, work->req->tenant_id, work->refresh_token,
                           &work->session, &work->refused);
}

static Err *end_work(Tx *tx, void *context)
{
    SessionWork *work = context;
    return session_end(tx, work->req->app, work->req->tenant_id, work->refresh_token, &work->found);
}

static Err *end_all_work(Tx *tx, void *context)
{
    SessionWork *work = context;
    return sessions_end_all(tx, work->subject.user_id);
}

// Sessions are mod-authtoken's: without it there are none.
static Err *sessions_exist(const Req *req)
{
    return tenant_has_module(req->tenant, "mod-authtoken")
               ? NULL
               : err_text(404, "No suitable module found for path /token/sign for tenant " STR_FMT,
                          STR_ARG(req->tenant_id));
}

Err *login_with_expiry(Req *req)
{
    LoginAttempt attempt;
    Json *body = NULL, *user = NULL;
    TRY(login_body(req, &attempt, &body));
    TRY(sessions_exist(req));
    TRY(login_check(req, &attempt, &user));
    SessionWork work = {.req = req, .subject = subject_of(req, user)};
    TRY(login_run(req, WRITE, start_work, &work));
    session_set_cookies(req, &work.session);
    return reply_json(req, 201, session_expirations(&work.session));
}

static Err *cookie_error(const char *code)
{
    Err *err = err_json(400, str_of(code), S("Bad request"), NULL, 0);
    err->type = S("error");
    return err;
}

Err *login_refresh(Req *req)
{
    SessionWork work = {.req = req, .refresh_token = req_cookie(req, "folioRefreshToken")};
    if (!work.refresh_token.len) {
        return cookie_error("token.parse.failure");
    }
    TRY(sessions_exist(req));
    TRY(login_run(req, WRITE, refresh_work, &work));
    if (work.refused) {
        return session_refused();
    }
    session_set_cookies(req, &work.session);
    return reply_json(req, 201, session_expirations(&work.session));
}

static Err *logout_refused(void)
{
    Err *err = err_json(422, S("token.logout.unprocessable"),
                        S("Authorization server unable to process token logout request"), NULL, 0);
    err->type = S("error");
    return err;
}

static Err *logout_everywhere(Req *req)
{
    SessionWork work = {.req = req, .subject = {.user_id = req->user_id}};
    TRY(sessions_exist(req));
    TRY(login_run(req, WRITE, end_all_work, &work));
    session_clear_cookies(req);
    return reply_empty(req, 204);
}

Err *login_logout(Req *req)
{
    SessionWork work = {.req = req, .refresh_token = req_cookie(req, "folioRefreshToken")};
    if (!work.refresh_token.len) {
        return req->user_id.len ? logout_everywhere(req) : cookie_error("token.parse.failure");
    }
    TRY(sessions_exist(req));
    TRY(login_run(req, WRITE, end_work, &work));
    if (!work.found) {
        return logout_refused();
    }
    session_clear_cookies(req);
    return reply_empty(req, 204);
}

Err *login_logout_all(Req *req)
{
    return req->user_id.len ? logout_everywhere(req) : cookie_error("token.parse.failure");
}
