// Turning title-level requests on or off: queues of items become queues of instances, or back.
// Source: spec/circulation.md 11, 15.
#include "modules/mod-circulation-storage/hooks.h"

#include "modules/mod-circulation/circulation.h"

enum {
    QUEUES_AT_ONCE = 20,
};

typedef struct {
    Json *job;    // NULL: nothing to do
    StrList keys; // items or instances that have open requests
    size_t done;  // of them
    int64_t renumbered;
    bool is_of_instance;
} Toggle;

// ---------------------------------------------------------------------------------------------
// Steps, each a transaction

static Err *take_key(const Row *row, void *context)
{
    str_list_add(context, str_copy(arena_current(), row_text(row, 0)));
    return NULL;
}

static Err *keys_read(Tx *tx, Toggle *toggle)
{
    const Settings *settings = NULL;

    TRY(settings_read(tx, &settings));
    toggle->is_of_instance = settings->tlr_enabled;
    return tx_rows(tx,
                   settings->tlr_enabled
                       ? "select distinct instance_id from request where instance_id is not null "
                         "and status in ('open - not yet filled', 'open - awaiting pickup', "
                         "'open - in transit', 'open - awaiting delivery') order by 1"
                       : "select distinct item_id from request where item_id is not null "
                         "and status in ('open - not yet filled', 'open - awaiting pickup', "
                         "'open - in transit', 'open - awaiting delivery') order by 1",
                   NO_ARGS, take_key, &toggle->keys);
}

static Err *set_status(Tx *tx, Toggle *toggle, const char *status)
{
    Json *old = json_copy(toggle->job);

    json_set_str(toggle->job, "status", str_of(status));
    return tx_change(tx, &tlr_jobs, old, toggle->job);
}

// One job at a time: a second one waits until the first is done.
static Err *begin(Tx *tx, void *context)
{
    Toggle *toggle = context;
    Docs running = {0}, open = {0};

    TRY(tx_where(tx, &tlr_jobs, "status = 'in-progress' limit 1", NO_ARGS, &running));
    TRY(tx_where(tx, &tlr_jobs, "status = 'open' order by pk desc limit 1", NO_ARGS, &open));
    if (running.len || !open.len) {
        return NULL;
    }
    toggle->job = open.at[0];
    TRY(keys_read(tx, toggle));
    return set_status(tx, toggle, "in-progress");
}

static Err *renumber_one(Tx *tx, Toggle *toggle, Str key)
{
    Docs queue = {0};

    if (toggle->is_of_instance) {
        TRY(requests_open_of_instance(tx, key, &queue));
    } else {
        TRY(requests_open_of_item(tx, key, &queue));
    }
    RequestChange *changes = NEW_ARRAY(RequestChange, queue.len + 1);
    for (size_t i = 0; i < queue.len; i++) {
        changes[i] = (RequestChange){json_copy(queue.at[i]), queue.at[i]};
        json_set_int(queue.at[i], "position", (int64_t)i + 1);
    }
    toggle->renumbered += (int64_t)queue.len;
    return requests_write(tx, changes, queue.len);
}

static Err *renumber_some(Tx *tx, void *context)
{
    Toggle *toggle = context;

    for (int i = 0; i < QUEUES_AT_ONCE && toggle->done < toggle->keys.len; i++) {
        TRY(renumber_one(tx, toggle, toggle->keys.at[toggle->done]));
        toggle->done++;
    }
    return NULL;
}

static Err *finish(Tx *tx, void *context)
{
    Toggle *toggle = context;

    json_set_int(toggle->job, "numberOfUpdatedRequests", toggle->renumbered);
    return set_status(tx, toggle, "done");
}

static Err *give_up(Tx *tx, void *context)
{
    return set_status(tx, context, "failed");
}

Err *tlr_jobs_run(Db *db, Time now)
{
    TxOptions options = {.kind = WRITE, .is_batch = true, .now = now};
    Toggle toggle = {0};
    Err *err = NULL;

    TRY(tx_run(db, &options, begin, &toggle));
    if (!toggle.job) {
        return NULL;
    }
    while (toggle.done < toggle.keys.len && !err) {
        err = tx_run(db, &options, renumber_some, &toggle);
    }
    if (!err) {
        return tx_run(db, &options, finish, &toggle);
    }
    json_add(json_get(toggle.job, "errors"), json_string(err->message));
    return tx_run(db, &options, give_up, &toggle);
}
