// Requests whose time is over are closed and their queues close up.
// Source: spec/circulation.md 9.12.
#include "modules/mod-circulation-storage/hooks.h"

#include "modules/mod-circulation/circulation.h"

enum {
    AT_ONCE = 50, // requests of one transaction
    RUNS_MAX = 100,
};

// The unary plus keeps the search on the few open requests: most that ever expired are closed.
#define EXPIRED                                                                                    \
    "(status in ('open - not yet filled', 'open - in transit', 'open - awaiting delivery') "       \
    "and +expires_at < $1) or (status = 'open - awaiting pickup' and +hold_shelf_expires_at < "    \
    "$1) "                                                                                         \
    "order by id limit $2"

static void close_request(Json *request)
{
    bool was_waiting = str_eq(json_str(request, "status"), S("Open - Awaiting pickup"));

    json_set_str(request, "status",
                 was_waiting ? S("Closed - Pickup expired") : S("Closed - Unfilled"));
    json_remove(request, "position");
}

static Err *announce(Tx *tx, const Json *old, const Json *request)
{
    Json *payload = json_object();

    json_set(payload, "requests.original", json_copy(old));
    json_set(payload, "requests.updated", json_copy(request));
    return emit_log_record(tx, "REQUEST_EXPIRED_EVENT", payload);
}

Err *requests_expire(Tx *tx, Time now, int max, int *n)
{
    const Settings *settings = NULL;
    Docs expired = {0};

    *n = 0;
    TRY(tx_where(tx, &requests, EXPIRED, ARGS(A_INT(now), A_INT(max)), &expired));
    if (!expired.len) {
        return NULL;
    }
    TRY(settings_read(tx, &settings));
    for (size_t i = 0; i < expired.len; i++) {
        const Json *old = json_copy(expired.at[i]);
        close_request(expired.at[i]);
        TRY(tx_change(tx, &requests, old, expired.at[i]));
        TRY(announce(tx, old, expired.at[i]));
        *n += 1;
    }
    // Several of one queue: the first of them closes all gaps, the others find nothing to move.
    for (size_t i = 0; i < expired.len; i++) {
        TRY(request_queue_close_gap(tx, expired.at[i], settings->tlr_enabled));
    }
    return NULL;
}

typedef struct {
    Time now;
    int closed;
} Run;

static Err *run_once(Tx *tx, void *context)
{
    Run *run = context;

    return requests_expire(tx, run->now, AT_ONCE, &run->closed);
}

Err *requests_expire_run(Db *db, Time now)
{
    Run run = {.now = now, .closed = AT_ONCE};
    TxOptions options = {.kind = WRITE, .is_batch = true, .now = now};

    for (int i = 0; i < RUNS_MAX && run.closed == AT_ONCE; i++) {
        TRY(tx_run(db, &options, run_once, &run));
    }
    return NULL;
}
