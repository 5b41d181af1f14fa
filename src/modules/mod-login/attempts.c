// Failed logins: counted per user; too many in a short time take the right to log in.
// Source: spec/platform.md 2.3 "Lockout".
#include "modules/mod-login/internal.h"

Err *attempt_find(Tx *tx, Str user_id, Json **out)
{
    return tx_find(tx, &auth_attempts, "user_id", user_id, out);
}

typedef struct {
    LoginLimits *limits;
} LimitsReader;

static Err *read_limit(const Row *row, void *context)
{
    LimitsReader *reader = context;
    int64_t value = 0;
    Json *doc = json_parse_stored(row_text(row, 0));
    Str code = json_str(doc, "code");
    if (!str_int64(str_trim(json_str(doc, "value")), &value) || value < 0) {
        return NULL;
    }
    if (str_eq(code, S("login.fail.attempts"))) {
        reader->limits->fail_max = value;
    } else if (str_eq(code, S("login.fail.to.warn.attempts"))) {
        reader->limits->warn_at = value;
    } else if (str_eq(code, S("login.fail.timeout"))) {
        reader->limits->timeout_min = value;
    }
    return NULL;
}

Err *login_limits(Tx *tx, bool has_configuration, LoginLimits *out)
{
    *out = (LoginLimits){.fail_max = 5, .warn_at = 3, .timeout_min = 10};
    LimitsReader reader = {out};
    if (!has_configuration) {
        return NULL;
    }
    return tx_rows(tx,
                   "select doc from config_data where code in ('login.fail.attempts',"
                   " 'login.fail.to.warn.attempts', 'login.fail.timeout')"
                   " and (is_enabled is null or is_enabled = 1)",
                   NO_ARGS, read_limit, &reader);
}

static Err *write_attempts(Tx *tx, const Json *old, Str user_id, int64_t count)
{
    Json *doc = old ? json_copy(old) : json_object();
    json_set_str(doc, "userId", user_id);
    json_set_int(doc, "attemptCount", count);
    json_set_time(doc, "lastAttempt", tx_now(tx));
    return old ? tx_change(tx, &auth_attempts, old, doc) : tx_insert(tx, &auth_attempts, doc);
}

Err *attempt_failed(Tx *tx, Str user_id, const LoginLimits *limits, AttemptOutcome *outcome)
{
    Json *old = NULL;
    Time last = 0;
    *outcome = ATTEMPT_COUNTED;
    TRY(attempt_find(tx, user_id, &old));
    bool is_recent = json_time(old, "lastAttempt", &last) &&
                     tx_now(tx) - last <= limits->timeout_min * MINUTE_MS;
    int64_t count = (is_recent ? json_int(old, "attemptCount", 0) : 0) + 1;
    if (limits->fail_max && count >= limits->fail_max) {
        *outcome = ATTEMPT_BLOCKED;
        TRY(user_deactivate(tx, user_id));
        return write_attempts(tx, old, user_id, 0);
    }
    if (limits->warn_at && count >= limits->warn_at) {
        *outcome = ATTEMPT_WARNED;
    }
    return write_attempts(tx, old, user_id, count);
}

Err *attempt_succeeded(Tx *tx, Str user_id)
{
    Json *old = NULL;
    TRY(attempt_find(tx, user_id, &old));
    return old && json_int(old, "attemptCount", 0) ? write_attempts(tx, old, user_id, 0) : NULL;
}

Err *attempts_get(Req *req)
{
    Json *doc = NULL;
    Str id = str_lower(req_param(req, 0));
    TRY(attempt_find(req->tx, id, &doc));
    if (!doc) {
        return err_text(404, "No user login attempts found for id " STR_FMT, STR_ARG(id));
    }
    return reply_json(req, 200, doc);
}
