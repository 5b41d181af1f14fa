// Two queues for one right: interactive writers first, batches after them but not for ever.
#include "store/baton.h"

#include "base/meter.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>

static const int64_t BATCH_PATIENCE_NS = 100 * 1000000; // then a batch counts as interactive

void baton_init(Baton *baton)
{
    pthread_mutex_init(&baton->lock, NULL);
}

static void queue_leave(Baton *baton, int queue, const Waiter *who)
{
    Waiter *before = NULL, **place = &baton->first[queue];

    while (*place != who) {
        before = *place;
        place = &before->next;
    }
    *place = who->next;
    if (baton->last[queue] == who) {
        baton->last[queue] = before;
    }
}

// Waits until the baton is handed over, or the moment has come; NULL: it never comes.
static bool baton_wait(Baton *baton, int queue, Waiter *me, const struct timespec *until)
{
    int code = 0;

    *(baton->last[queue] ? &baton->last[queue]->next : &baton->first[queue]) = me;
    baton->last[queue] = me;
    while (!me->has_baton && code != ETIMEDOUT) {
        code = until ? pthread_cond_clockwait(&me->granted, &baton->lock, CLOCK_MONOTONIC, until)
                     : pthread_cond_wait(&me->granted, &baton->lock);
    }
    if (!me->has_baton) {
        queue_leave(baton, queue, me);
    }
    return me->has_baton;
}

static bool take(Baton *baton, int queue, const struct timespec *until)
{
    pthread_mutex_lock(&baton->lock);
    if (!baton->is_held) {
        baton->is_held = true;
        pthread_mutex_unlock(&baton->lock);
        return true;
    }
    MeterMark begun = meter_mark();
    Waiter me = {.since_ns = begun.ns ? begun.ns : clock_ns()};
    pthread_cond_init(&me.granted, NULL);
    bool has_baton = baton_wait(baton, queue, &me, until);
    pthread_mutex_unlock(&baton->lock);
    pthread_cond_destroy(&me.granted);
    meter_wait(PHASE_QUEUE, begun);
    return has_baton;
}

void baton_take(Baton *baton, int queue)
{
    take(baton, queue, NULL);
}

bool baton_take_within(Baton *baton, int queue, int ms)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += ms % 1000 * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return take(baton, queue, &until);
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
