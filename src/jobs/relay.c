// The relay: takes events from the outbox in order, hands them to subscribers, removes them - in
// one transaction, so that a subscriber's writes and the removal stand or fall together.
#include "jobs/internal.h"

typedef struct {
    Event *events;
    size_t count;
} Batch;

static Err *read_batch(Tx *tx, void *context)
{
    Batch *batch = context;

    return outbox_read(tx, 0, EVENTS_PER_STEP, &batch->events, &batch->count);
}

static Err *deliver_batch(Tx *tx, void *context)
{
    const Batch *batch = context;

    TRY(bus_deliver(tx, batch->events, batch->count));
    return outbox_delete(tx, batch->events[batch->count - 1].seq);
}

Err *relay_drain(Db *db)
{
    for (;;) {
        Batch batch = {0};
        ArenaMark mark = arena_mark(arena_current());
        TRY(tx_run(db, &(TxOptions){.kind = READ}, read_batch, &batch));
        if (batch.count) {
            TRY(tx_run(db, &(TxOptions){.kind = WRITE, .is_batch = true}, deliver_batch, &batch));
        }
        bool is_empty = batch.count == 0;
        arena_release(arena_current(), mark);
        if (is_empty) {
            return NULL;
        }
    }
}
