// Routes of users that the engine's do not cover. Source: spec/platform.md 4.1.
#include "modules/mod-users/internal.h"

enum {
    EXPIRE_STEP = 100, // users of one transaction
};

Err *users_put(Req *req)
{
    Json *doc = NULL;

    TRY(req_body_object(req, &doc));
    if (!str_eq_nocase(json_str(doc, "id"), req_param(req, 0))) {
        TRY(properties_check(&user_record, doc)); // a wrong shape is told first
        return err_text(400, "You cannot change the value of the id field");
    }
    TRY(tx_update(req->tx, &users, doc));
    return reply_empty(req, 204);
}

Err *users_delete_many(Req *req)
{
    Str query = str_trim(req_query_text(req, "query"));

    if (!query.len) {
        return err_text(400, "Expected CQL but query parameter is empty");
    }
    return reply_deleted(req, &users, query);
}

// ---------------------------------------------------------------------------------------------
// Expiry

typedef struct {
    size_t found;
} Expiry;

static Err *expire_step(Tx *tx, void *context)
{
    Expiry *expiry = context;
    Docs docs = {0};

    TRY(tx_where(tx, &users, "is_active = 1 and expires_at < $1 order by expires_at limit 100",
                 ARGS(A_INT(tx_now(tx))), &docs));
    expiry->found = docs.len;
    for (size_t i = 0; i < docs.len; i++) {
        Json *doc = json_copy(docs.at[i]);
        json_set_bool(doc, "active", false);
        TRY(tx_change(tx, &users, docs.at[i], doc));
    }
    return NULL;
}

static Err *find_expired(Tx *tx, void *context)
{
    Expiry *expiry = context;
    int64_t n = 0;

    TRY(tx_count_where(tx, &users, "is_active = 1 and expires_at < $1", ARGS(A_INT(tx_now(tx))),
                       &n));
    expiry->found = n > 0;
    return NULL;
}

Err *users_expire(Db *db, Time now)
{
    const TxOptions look = {.kind = READ, .now = now};
    const TxOptions change = {.kind = WRITE, .is_batch = true, .now = now};
    Expiry expiry = {0};

    TRY(tx_run(db, &look, find_expired, &expiry)); // mostly there are none
    while (expiry.found) {
        TRY(tx_run(db, &change, expire_step, &expiry));
        if (expiry.found < EXPIRE_STEP) {
            break;
        }
    }
    return NULL;
}

static Err *take_time(const Row *row, void *at)
{
    *(Time *)at = row_int(row, 0);
    return NULL;
}

static Err *find_next(Tx *tx, void *at)
{
    return tx_rows(tx,
                   "select expires_at from users where is_active = 1 and expires_at >= $1 "
                   "order by expires_at limit 1",
                   ARGS(A_INT(tx_now(tx))), take_time, at);
}

Err *users_expire_due(Db *db, Time now, Time *at)
{
    *at = INT64_MAX;
    return tx_run(db, &(TxOptions){.kind = READ, .now = now}, find_next, at);
}

Err *users_expire_post(Req *req)
{
    TRY(users_expire(tenant_db(req->tenant), req->now));
    return reply_empty(req, 204);
}

// Events leave with the transaction that made them: there is no table to work off.
Err *nothing_to_do(Req *req)
{
    return reply_empty(req, 200);
}
