// Two queues for one right: interactive writers first, batches after them but not for ever.
#include "store/baton.h"

#include "base/meter.h"

#include <stddef.h>

static const int64_t BATCH_PATIENCE_NS = 100 * 1000000; // then a batch counts as interactive

void baton_init(Baton *baton)
{
    pthread_mutex_init(&baton->lock, NULL);
}

void baton_take(Baton *baton, int queue)
{
    pthread_mutex_lock(&baton->lock);
    if (!baton->is_held) {
        baton->is_held = true;
        pthread_mutex_unlock(&baton->lock);
        return;
    }
    MeterMark begun = meter_mark();
    Waiter me = {.since_ns = begun.ns ? begun.ns : clock_ns()};
    pthread_cond_init(&me.granted, NULL);
    *(baton->last[queue] ? &baton->last[queue]->next : &baton->first[queue]) = &me;
    baton->last[queue] = &me;
    while (!me.has_baton) {
        pthread_cond_wait(&me.granted, &baton->lock);
    }
    pthread_mutex_unlock(&baton->lock);
    pthread_cond_destroy(&me.granted);
    meter_wait(PHASE_QUEUE, begun);
}

static Waiter *queue_pop(Baton *baton, int queue)
{
    Waiter *waiter = baton->first[queue];

    baton->first[queue] = waiter->next;
    if (!waiter->next) {
        baton->last[queue] = NULL;
    }
    return waiter;
}

void baton_pass(Baton *baton)
{
    pthread_mutex_lock(&baton->lock);
    Waiter *batch = baton->first[QUEUE_BATCH];
    bool is_late = batch && clock_ns() - batch->since_ns > BATCH_PATIENCE_NS;
    Waiter *next = NULL;
    if (baton->first[QUEUE_INTERACTIVE] && !is_late) {
        next = queue_pop(baton, QUEUE_INTERACTIVE);
    } else if (batch) {
        next = queue_pop(baton, QUEUE_BATCH);
    }
    if (next) {
        next->has_baton = true;
        pthread_cond_signal(&next->granted); // under the lock: `next` lives on the waiter's stack
    } else {
        baton->is_held = false;
    }
    pthread_mutex_unlock(&baton->lock);
}

bool baton_is_wanted(Baton *baton, int queue)
{
    pthread_mutex_lock(&baton->lock);
    bool is_wanted = baton->first[queue] != NULL;
    pthread_mutex_unlock(&baton->lock);
    return is_wanted;
}
