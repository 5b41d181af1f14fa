// Password actions: the links by which a user sets a first or a new password.
// Source: spec/platform.md 2.3.
#include "modules/mod-login/internal.h"

static Err *forget_actions(Tx *tx, Str user_id)
{
    Docs docs = {0};
    TRY(tx_where(tx, &password_actions, "user_id = $1", ARGS(A_TEXT(user_id)), &docs));
    for (size_t i = 0; i < docs.len; i++) {
        TRY(tx_delete(tx, &password_actions, json_str(docs.at[i], "id")));
    }
    return NULL;
}

// One open action per user: a new one replaces the older.
Err *reset_action_post(Req *req)
{
    Json *doc = NULL, *answer = json_object();
    bool exists = false;
    TRY(req_body_object(req, &doc));
    Str user_id = str_lower(json_str(doc, "userId"));
    if (user_id.len) {
        json_set_str(doc, "userId", user_id);
    }
    TRY(forget_actions(req->tx, user_id));
    TRY(tx_insert(req->tx, &password_actions, doc));
    TRY(credentials_exist(req->tx, user_id, &exists));
    json_set_bool(answer, "passwordExists", exists);
    return reply_json(req, 201, answer);
}

Err *reset_action_get(Req *req)
{
    Json *doc = NULL;
    Str id = str_lower(req_param(req, 0));
    TRY(tx_get(req->tx, &password_actions, id, &doc));
    if (!doc) {
        return err_text(404, "Password action with ID: `" STR_FMT "` was not found in the db",
                        STR_ARG(req_param(req, 0)));
    }
    return reply_json(req, 200, doc);
}

typedef struct {
    Str action_id;
    const PasswordHash *hash;
    bool is_new;
} ResetWork;

static Err *reset_work(Tx *tx, void *context)
{
    ResetWork *work = context;
    Json *action = NULL;
    bool exists = false;
    if (uuid_is_uuid_shaped(work->action_id)) {
        TRY(tx_get(tx, &password_actions, work->action_id, &action));
    }
    if (!action) {
        return err_text(400, "Password action with ID: `" STR_FMT "` was not found in the db",
                        STR_ARG(work->action_id));
    }
    Str user_id = json_str(action, "userId");
    TRY(credentials_exist(tx, user_id, &exists));
    work->is_new = !exists;
    TRY(credentials_set(tx, user_id, work->hash));
    return tx_delete(tx, &password_actions, work->action_id);
}

Err *reset_password(Req *req)
{
    Json *body = NULL, *answer = json_object();
    PasswordHash hash;
    TRY(req_body_object(req, &body));
    Str password = json_str(body, "newPassword");
    if (!password.len) {
        return err_text(400, "You must provide a new password that isn't empty");
    }
    ResetWork work = {.action_id = str_lower(json_str(body, "passwordResetActionId")),
                      .hash = &hash};
    password_hash(req->app, password, &hash);
    TRY(login_run(req, WRITE, reset_work, &work));
    json_set_bool(answer, "isNewPassword", work.is_new);
    return reply_json(req, 201, answer);
}
