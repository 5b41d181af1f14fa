// The outlet: events that subscribers have had go to the sink; what it confirmed leaves the outbox.
#include "jobs/internal.h"

#include "base/log.h"

typedef struct {
    OutletPass *pass;
    Event *events;
    size_t count;
    Str *refused;
} Batch;

static Err *read_batch(Tx *tx, void *context)
{
    Batch *batch = context;
    size_t n = 0;

    TRY(outbox_read(tx, 0, EVENTS_PER_STEP, &batch->events, &n));
    while (n > 0 && batch->events[n - 1].seq > batch->pass->up_to) {
        n--;
    }
    batch->count = n;
    return NULL;
}

static Err *remove_batch(Tx *tx, void *context)
{
    const Batch *batch = context;

    for (size_t i = 0; i < batch->count; i++) {
        if (batch->refused[i].len) {
            TRY(dead_letter_add(tx, &batch->events[i], "sink", batch->refused[i]));
        }
    }
    return outbox_delete(tx, batch->events[batch->count - 1].seq);
}

// What is only for the relay itself is not sent.
static Err *send_batch(Db *db, const Batch *batch)
{
    Event *events = NEW_ARRAY(Event, batch->count);
    Str *refused = NEW_ARRAY(Str, batch->count);
    size_t *places = NEW_ARRAY(size_t, batch->count), n = 0;

    for (size_t i = 0; i < batch->count; i++) {
        if (!str_eq_z(batch->events[i].topic, JOB_TOPIC)) {
            places[n] = i;
            events[n++] = batch->events[i];
        }
    }
    const EventSink *sink = batch->pass->sink;
    TRY(n ? sink->send(sink->context, events, n, db_name(db), refused) : NULL);
    for (size_t i = 0; i < n; i++) {
        batch->refused[places[i]] = refused[i];
        batch->pass->buried += refused[i].len > 0;
    }
    batch->pass->sent = n;
    return NULL;
}

Err *outlet_pass(Db *db, OutletPass *pass)
{
    Batch batch = {.pass = pass};

    TRY(tx_run(db, &(TxOptions){.kind = READ}, read_batch, &batch));
    pass->is_last = batch.count == 0;
    if (!batch.count) {
        return NULL;
    }
    batch.refused = NEW_ARRAY(Str, batch.count);
    TRY(send_batch(db, &batch));
    TRY(tx_run(db, &(TxOptions){.kind = WRITE, .is_batch = true}, remove_batch, &batch));
    pass->is_last = batch.events[batch.count - 1].seq >= pass->up_to;
    return NULL;
}
