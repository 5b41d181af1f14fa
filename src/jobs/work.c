// Tenants and what is to be done for them: one list for all threads, and whose turn it is.
#include "jobs/internal.h"

#include <string.h>
#include <time.h>

enum {
    PUT_OFF_FIRST_MS = 1000,
    PUT_OFF_MAX_MS = 30 * SECOND_MS,
};

Time clock_ms(void)
{
    return clock_ns() / 1000000;
}

void cond_make(pthread_cond_t *cond)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attributes);
    pthread_condattr_destroy(&attributes);
}

void wait_until(Scheduler *scheduler, pthread_cond_t *cond, Time until)
{
    struct timespec at = {.tv_sec = until / 1000, .tv_nsec = (long)(until % 1000) * 1000000};

    if (until == NEVER) {
        pthread_cond_wait(cond, &scheduler->lock);
    } else {
        pthread_cond_timedwait(cond, &scheduler->lock, &at);
    }
}

// ---------------------------------------------------------------------------------------------
// The list

static Work *work_new(Scheduler *scheduler)
{
    Work *work = scheduler->unused;

    if (!work) {
        return arena_alloc(scheduler->arena, sizeof *work);
    }
    scheduler->unused = work->next;
    // The room for timers stays with it.
    *work = (Work){.timers = work->timers, .timer_room = work->timer_room};
    return work;
}

Work *work_of(Scheduler *scheduler, Str tenant)
{
    for (Work *work = scheduler->works; work; work = work->next) {
        if (str_eq_z(tenant, work->tenant)) {
            return work;
        }
    }
    Work *work = work_new(scheduler);
    size_t len = tenant.len < NAME_MAX_LEN - 1 ? tenant.len : NAME_MAX_LEN - 1;
    memcpy(work->tenant, tenant.at, len);
    work->tenant[len] = 0;
    work->jobs_at = NEVER;
    work->next = scheduler->works;
    scheduler->works = work;
    return work;
}

static void work_give_back(Scheduler *scheduler, Work *work)
{
    work->next = scheduler->unused;
    scheduler->unused = work;
}

void work_remove(Scheduler *scheduler, Work *work)
{
    if (work->is_gone) {
        return;
    }
    for (Work **at = &scheduler->works; *at; at = &(*at)->next) {
        if (*at == work) {
            *at = work->next;
            break;
        }
    }
    work->is_gone = true;
    if (work->users == 0) {
        work_give_back(scheduler, work);
    }
}

void work_use(Work *work)
{
    work->users++;
}

void work_release(Scheduler *scheduler, Work *work)
{
    if (--work->users == 0 && work->is_gone) {
        work_give_back(scheduler, work);
    }
}

// ---------------------------------------------------------------------------------------------
// Turns

void turn_ask(Turn *turn)
{
    if (!turn->is_waiting) {
        turn->is_waiting = true;
        turn->due_at = clock_ms();
    }
}

void turn_put_off(Turn *turn)
{
    int64_t wait = (int64_t)PUT_OFF_FIRST_MS << (turn->attempts > 10 ? 10 : turn->attempts);

    turn->attempts++;
    turn->is_waiting = true;
    turn->due_at = clock_ms() + (wait < PUT_OFF_MAX_MS ? wait : PUT_OFF_MAX_MS);
}

// The turn is taken before the work begins: who asks meanwhile gets another one.
Work *turn_next(Scheduler *scheduler, TurnOf of, Time *until)
{
    Work *first = NULL;

    for (Work *work = scheduler->works; work; work = work->next) {
        if (of(work)->is_waiting && (!first || of(work)->due_at < of(first)->due_at)) {
            first = work;
        }
    }
    *until = first ? of(first)->due_at : NEVER;
    if (!first || *until > clock_ms()) {
        return NULL;
    }
    of(first)->is_waiting = false;
    work_use(first);
    return first;
}

// ---------------------------------------------------------------------------------------------

Err *work_open(Scheduler *scheduler, const char *tenant, Db **db, bool *is_gone)
{
    const TenantAccess *access = &scheduler->access;
    Err *err = access->open ? access->open(access->context, str_of(tenant), db)
                            : db_open(scheduler->store, str_of(tenant), false, db);

    *is_gone = err && (err->status == 404 || err->status == 400);
    return err;
}
