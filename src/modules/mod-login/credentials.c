// Credentials: who has a password, changing it, the last ten.
// Source: spec/platform.md 2.3.
#include "modules/mod-login/internal.h"

enum {
    HISTORY_MAX = 10, // passwords that may not be used again, beside the present one
};

Err *credentials_find(Tx *tx, Str user_id, Json **out)
{
    return tx_find(tx, &auth_credentials, "user_id", user_id, out);
}

static void set_hash(Json *doc, const PasswordHash *hash)
{
    json_set_str(doc, "hash", hash->hash);
    json_set_str(doc, "salt", hash->salt);
    json_set_str(doc, "scheme", hash->scheme);
}

// Keeps the former password, forgets the oldest beyond ten.
static Err *remember(Tx *tx, const Json *old)
{
    Docs docs = {0};
    Str user_id = json_str(old, "userId");
    Json *doc = json_object();
    json_set_str(doc, "userId", user_id);
    json_take(doc, "hash", old, "hash");
    json_take(doc, "salt", old, "salt");
    json_take(doc, "scheme", old, "scheme");
    json_set_time(doc, "date", tx_now(tx));
    TRY(tx_insert(tx, &auth_credentials_history, doc));
    TRY(tx_where(tx, &auth_credentials_history, "user_id = $1 order by changed_at desc, id",
                 ARGS(A_TEXT(user_id)), &docs));
    for (size_t i = HISTORY_MAX; i < docs.len; i++) {
        TRY(tx_delete(tx, &auth_credentials_history, json_str(docs.at[i], "id")));
    }
    return NULL;
}

Err *credentials_set(Tx *tx, Str user_id, const PasswordHash *hash)
{
    METER("mod-login");
    Json *old = NULL;
    TRY(credentials_find(tx, user_id, &old));
    if (!old) {
        Json *doc = json_object();
        json_set_str(doc, "userId", user_id);
        set_hash(doc, hash);
        return tx_insert(tx, &auth_credentials, doc);
    }
    TRY(remember(tx, old));
    Json *doc = json_copy(old);
    set_hash(doc, hash);
    return tx_change(tx, &auth_credentials, old, doc);
}

Err *credentials_exist(Tx *tx, Str user_id, bool *out)
{
    METER("mod-login");
    Json *doc = NULL;
    TRY(credentials_find(tx, user_id, &doc));
    *out = doc != NULL;
    return NULL;
}

Err *credentials_delete(Tx *tx, Str user_id, bool *found)
{
    METER("mod-login");
    Json *doc = NULL;
    Docs docs = {0};
    TRY(credentials_find(tx, user_id, &doc));
    *found = doc != NULL;
    if (!doc) {
        return NULL;
    }
    TRY(tx_where(tx, &auth_credentials_history, "user_id = $1", ARGS(A_TEXT(user_id)), &docs));
    for (size_t i = 0; i < docs.len; i++) {
        TRY(tx_delete(tx, &auth_credentials_history, json_str(docs.at[i], "id")));
    }
    return tx_delete(tx, &auth_credentials, json_str(doc, "id"));
}

// ---------------------------------------------------------------------------------------------
// POST /authn/credentials

typedef struct {
    Req *req;
    const LoginAttempt *attempt;
    const PasswordHash *hash;
    Str user_id;
    Json *user, *credentials;
    Docs history;
    bool only_new; // existing credentials are an error
} Work;

static Err *create_work(Tx *tx, void *context)
{
    Work *work = context;
    bool exists = false;
    TRY(credentials_exist(tx, work->user_id, &exists));
    if (exists && work->only_new) {
        return err_422(NO_CODE,
                       str_fmt("There already exists credentials for user id '" STR_FMT "'",
                               STR_ARG(work->user_id)),
                       P("userId", work->user_id));
    }
    return credentials_set(tx, work->user_id, work->hash);
}

static Err *find_user_work(Tx *tx, void *context)
{
    Work *work = context;
    TRY(login_user(tx, work->attempt, &work->user));
    work->user_id = json_str(work->user, "id");
    return work->user ? credentials_find(tx, work->user_id, &work->credentials) : NULL;
}

static Err *unknown_user(const LoginAttempt *attempt)
{
    if (attempt->username.len) {
        return err_text(400, "No user found by username " STR_FMT, STR_ARG(attempt->username));
    }
    return err_text(400, "No user found by user id " STR_FMT, STR_ARG(attempt->user_id));
}

Err *credentials_post(Req *req)
{
    LoginAttempt attempt = {0};
    Json *body = NULL;
    PasswordHash hash;
    TRY(req_body_object(req, &body));
    attempt.username = json_str(body, "username");
    attempt.user_id = json_str(body, "userId");
    attempt.password = json_str(body, "password");
    if (!attempt.username.len && !attempt.user_id.len) {
        return err_text(400, "You must provide a username or userId");
    }
    if (!attempt.password.len) {
        return err_422(NO_CODE, S("Password is missing or empty"), P("password", S("")));
    }
    Work work = {.req = req, .attempt = &attempt, .hash = &hash, .only_new = true};
    TRY(login_run(req, READ, find_user_work, &work));
    // An id is taken as it is: the user may come later.
    if (!work.user && attempt.username.len) {
        return unknown_user(&attempt);
    }
    work.user_id = work.user ? work.user_id : str_lower(attempt.user_id);
    password_hash(req->app, attempt.password, &hash);
    TRY(login_run(req, WRITE, create_work, &work));
    return reply_empty(req, 201);
}

Err *credentials_remove(Req *req)
{
    Str user_id = req_query_text(req, "userId");
    bool found = false;
    if (!user_id.len) {
        return err_text(400, "userId query parameter is missing");
    }
    TRY(credentials_delete(req->tx, str_lower(user_id), &found));
    if (!found) {
        return err_text(404, "No credentials for userId " STR_FMT " found", STR_ARG(user_id));
    }
    return reply_empty(req, 204);
}

Err *credentials_existence(Req *req)
{
    Json *body = json_object();
    bool exist = false;
    TRY(credentials_exist(req->tx, str_lower(req_query_text(req, "userId")), &exist));
    json_set_bool(body, "credentialsExist", exist);
    return reply_json(req, 200, body);
}

// ---------------------------------------------------------------------------------------------
// Changing a password

Err *password_change(Req *req, Str user_id, Str old_password, Str new_password)
{
    METER("mod-login");
    LoginAttempt attempt = {.user_id = user_id};
    PasswordHash hash;
    Work work = {.req = req, .attempt = &attempt, .hash = &hash};
    TRY(login_run(req, READ, find_user_work, &work));
    if (!work.credentials || !password_fits(work.credentials, old_password)) {
        return err_text(401, "Invalid credentials");
    }
    password_hash(req->app, new_password, &hash);
    return login_run(req, WRITE, create_work, &work);
}

Err *credentials_update(Req *req)
{
    LoginAttempt attempt = {0};
    Json *body = NULL;
    TRY(login_body(req, &attempt, &body));
    Str new_password = json_str(body, "newPassword");
    if (!new_password.len) {
        return err_text(400, "You must provide a new password that isn't empty");
    }
    Work work = {.req = req, .attempt = &attempt};
    TRY(login_run(req, READ, find_user_work, &work));
    if (!work.user) {
        return unknown_user(&attempt);
    }
    TRY(password_change(req, work.user_id, attempt.password, new_password));
    return reply_empty(req, 204);
}

// ---------------------------------------------------------------------------------------------
// POST /authn/password/repeatable

static Err *history_work(Tx *tx, void *context)
{
    Work *work = context;
    TRY(credentials_find(tx, work->user_id, &work->credentials));
    return tx_where(tx, &auth_credentials_history,
                    "user_id = $1 order by changed_at desc, id limit 10",
                    ARGS(A_TEXT(work->user_id)), &work->history);
}

static bool was_used(const Work *work, Str password)
{
    if (work->credentials && password_fits(work->credentials, password)) {
        return true;
    }
    for (size_t i = 0; i < work->history.len; i++) {
        if (password_fits(work->history.at[i], password)) {
            return true;
        }
    }
    return false;
}

Err *password_repeatable(Req *req)
{
    Json *body = NULL, *answer = json_object();
    TRY(req_body_object(req, &body));
    Work work = {.req = req, .user_id = str_lower(json_str(body, "userId"))};
    TRY(login_run(req, READ, history_work, &work));
    bool is_used = was_used(&work, json_str(body, "password"));
    json_set_str(answer, "result", is_used ? S("invalid") : S("valid"));
    return reply_json(req, 200, answer);
}
