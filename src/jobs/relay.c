// The relay: takes events from the outbox in order and hands them to subscribers, in one
// transaction that also removes them or notes how far it came, so that a subscriber's writes and
// the progress stand or fall together. With a sink the rows stay until that has them too
// (outlet.c).
#include "jobs/internal.h"

#include "base/log.h"

enum {
    ATTEMPTS_MAX = 8, // with growing distance: about two minutes
};

typedef struct {
    RelayState *state;
    RelayPass *pass;
    int64_t after;
    Event *events;
    size_t count;
    Str error;
} Batch;

// ---------------------------------------------------------------------------------------------
// How far subscribers are: one row per database, only written when there is a sink

static const Property position_properties[] = {
    {"id", ID},
    {"seq", INTEGER, REQUIRED},
    {0},
};

static const RecordType position_record = {"RelayPosition", .properties = position_properties};

static const Field position_fields[] = {{0}};

const Collection relay_positions = {
    .table = "octavo_relay",
    .record = &position_record,
    .fields = position_fields,
};

#define POSITION_ID "7e1a9000-0000-4000-8000-000000000001"

static Err *position_read(Tx *tx, int64_t *seq)
{
    Json *row = NULL;

    TRY(tx_get(tx, &relay_positions, S(POSITION_ID), &row));
    *seq = row ? json_int(row, "seq", 0) : 0;
    return NULL;
}

static Err *position_write(Tx *tx, int64_t seq)
{
    Json *row = json_object(), *old = NULL;

    json_set_str(row, "id", S(POSITION_ID));
    json_set_int(row, "seq", seq);
    TRY(tx_get(tx, &relay_positions, S(POSITION_ID), &old));
    return old ? tx_change(tx, &relay_positions, old, row) : tx_insert(tx, &relay_positions, row);
}

// ---------------------------------------------------------------------------------------------

static Err *read_batch(Tx *tx, void *context)
{
    Batch *batch = context;

    TRY(position_read(tx, &batch->after));
    if (batch->state->delivered > batch->after) {
        batch->after = batch->state->delivered;
    }
    batch->state->delivered = batch->after; // at first: what an earlier run came to
    return outbox_read(tx, batch->after, (int)batch->state->limit, &batch->events, &batch->count);
}

// Another thread (jobs_drain) may have delivered them since they were read.
static Err *is_still_next(Tx *tx, const Batch *batch, bool *out)
{
    int64_t position = 0;
    Event *next = NULL;
    size_t count = 0;

    TRY(position_read(tx, &position));
    TRY(outbox_read(tx, batch->after, 1, &next, &count));
    *out = position <= batch->after && count && next[0].seq == batch->events[0].seq;
    return NULL;
}

static Err *advance(Tx *tx, const Batch *batch)
{
    int64_t last = batch->events[batch->count - 1].seq;

    return batch->pass->keeps_rows ? position_write(tx, last) : outbox_delete(tx, last);
}

static Err *deliver_batch(Tx *tx, void *context)
{
    const Batch *batch = context;
    bool is_next = false;

    TRY(is_still_next(tx, batch, &is_next));
    if (!is_next) {
        return NULL;
    }
    TRY(bus_deliver(tx, batch->pass->access, batch->events, batch->count));
    return advance(tx, batch);
}

static Err *bury(Tx *tx, void *context)
{
    const Batch *batch = context;
    bool is_next = false;

    TRY(is_still_next(tx, batch, &is_next));
    if (!is_next) {
        return NULL;
    }
    TRY(dead_letter_add(tx, &batch->events[0], "subscribers", batch->error));
    return advance(tx, batch);
}

static bool has_subscriber(const Batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        if (bus_has(batch->events[i].topic)) {
            return true;
        }
    }
    return false;
}

static void note_jobs(const Batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        int64_t due = 0;
        if (str_eq_z(batch->events[i].topic, JOB_TOPIC) && str_int64(batch->events[i].key, &due) &&
            due < batch->state->jobs_at) {
            batch->state->jobs_at = due;
        }
    }
}

static void note_progress(const Batch *batch)
{
    RelayState *state = batch->state;
    size_t bytes = 0;

    for (size_t i = 0; i < batch->count; i++) {
        bytes += batch->events[i].body.len;
    }
    batch->pass->is_last = batch->count < state->limit && bytes < BYTES_PER_STEP;
    batch->pass->delivered = batch->count;
    note_jobs(batch);
    state->delivered = batch->events[batch->count - 1].seq;
    state->attempts = 0;
    // Small steps after an error grow again quickly.
    state->limit = state->limit * 4 < EVENTS_PER_STEP ? state->limit * 4 : EVENTS_PER_STEP;
}

// Half as many events at once, until the one that fails stands alone.
static Err *batch_failed(Db *db, Batch *batch, Err *err)
{
    RelayState *state = batch->state;

    if (batch->count > 1) {
        state->limit = batch->count / 2;
        return NULL;
    }
    // A database that is away is no fault of the event.
    if (err->other_node_may || ++state->attempts < ATTEMPTS_MAX) {
        return err;
    }
    batch->error = err->message;
    TRY(tx_run(db, &(TxOptions){.kind = WRITE, .is_batch = true}, bury, batch));
    log_line(LOG_ERROR, "jobs",
             "event " STR_FMT " of " STR_FMT " went to the dead letters: " STR_FMT,
             STR_ARG(batch->events[0].event_id), STR_ARG(db_name(db)), STR_ARG(err->message));
    batch->pass->buried = 1;
    note_progress(batch);
    batch->pass->is_last = false;
    return NULL;
}

Err *relay_pass(Db *db, RelayState *state, RelayPass *pass)
{
    Batch batch = {.state = state, .pass = pass};

    if (!state->limit) {
        *state = (RelayState){.limit = EVENTS_PER_STEP, .jobs_at = NEVER};
    }
    pass->is_last = false;
    TRY(tx_run(db, &(TxOptions){.kind = outbox_reader(db), .is_batch = true}, read_batch, &batch));
    if (!batch.count) {
        pass->is_last = true;
        return NULL;
    }
    if (!pass->keeps_rows || has_subscriber(&batch)) {
        Err *err = tx_run(db, &(TxOptions){.kind = WRITE, .is_batch = true}, deliver_batch, &batch);
        if (err) {
            return batch_failed(db, &batch, err);
        }
    }
    note_progress(&batch);
    return NULL;
}
