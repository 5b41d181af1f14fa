// Patron action sessions that nobody touches any more, and locks of check-outs.
// Source: spec/circulation.md 12.3.
#include "modules/mod-circulation-storage/hooks.h"

// ---------------------------------------------------------------------------------------------
// Sessions

// Side columns hold folded text.
static Str action_type_of(Str folded)
{
    return str_eq(folded, S("check-in")) ? S("Check-in") : S("Check-out");
}

static Err *take_session(const Row *row, void *context)
{
    Json *session = json_object();

    json_set_str(session, "patronId", row_text(row, 0));
    json_set_str(session, "actionType", action_type_of(row_text(row, 1)));
    json_add(context, session);
    return NULL;
}

// Patrons whose newest record of an action type is older than the limit, the oldest first.
Err *sessions_expired(Req *req)
{
    Str limit_text = req_query_text(req, "session_inactivity_time_limit");
    Str action_type = req_query_text(req, "action_type");
    Json *answer = json_object(), *sessions = json_array();
    Time before = 0;
    int64_t limit = 0;

    TRY(req_query_int(req, "limit", 10, &limit));
    if (!time_parse(limit_text, &before)) {
        return storage_error("session_inactivity_time_limit", limit_text,
                             S("Date cannot be parsed"));
    }
    if (action_type.len && !str_eq(action_type, S("Check-out")) &&
        !str_eq(action_type, S("Check-in"))) {
        return storage_error("action_type", action_type, S("Invalid action type value"));
    }
    TRY(tx_rows(req->tx,
                "select patron_id, action_type from patron_action_session "
                "where $1 = '' or action_type = $1 group by patron_id, action_type "
                "having max(created_at) < $2 order by max(created_at), patron_id limit $3",
                ARGS(A_TEXT(str_lower(action_type)), A_INT(before), A_INT(limit)), take_session,
                sessions));
    json_set_int(answer, "totalRecords", (int64_t)json_len(sessions));
    json_set(answer, "expiredSessions", sessions);
    return reply_json(req, 200, answer);
}

// ---------------------------------------------------------------------------------------------
// Locks: old clients take one per patron around a check-out

Err *check_out_locks_list(Req *req)
{
    Str user_id = str_lower(req_query_text(req, "userId"));
    int64_t offset = 0, limit = 0;
    Docs locks = {0};

    TRY(req_query_int(req, "offset", 0, &offset));
    TRY(req_query_int(req, "limit", 10, &limit));
    if (!uuid_is_uuid_shaped(user_id)) {
        return err_text(422, "Invalid Parameters");
    }
    TRY(tx_where(req->tx, &check_out_locks, "user_id = $1 order by id limit $2 offset $3",
                 ARGS(A_TEXT(user_id), A_INT(limit), A_INT(offset)), &locks));
    return reply_docs(req, "checkoutLocks", &locks);
}

static Err *no_lock(void)
{
    return err_text(503, "Unable to acquire lock");
}

Err *check_out_lock_create(Req *req)
{
    Json *body = NULL, *held = NULL, *lock = json_object();
    Time made_at = 0;

    TRY(req_body_object(req, &body));
    Str user_id = json_str(body, "userId");
    if (!uuid_is_uuid_shaped(user_id)) {
        return no_lock();
    }
    TRY(tx_find(req->tx, &check_out_locks, "user_id", user_id, &held));
    if (held) {
        (void)json_time(held, "creationDate", &made_at);
        if (made_at + json_int(body, "ttlMs", 0) >= req->now) {
            return no_lock();
        }
        TRY(tx_delete(req->tx, &check_out_locks, json_str(held, "id")));
    }
    json_set_str(lock, "userId", user_id);
    json_set_time(lock, "creationDate", req->now);
    TRY(tx_insert(req->tx, &check_out_locks, lock));
    return reply_created(req, &check_out_locks, lock);
}
