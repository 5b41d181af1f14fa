// The threads of background work: the relay and the outlet are here, timers in timers.c. All begin
// and end with the process.
#include "jobs/internal.h"

#include "base/die.h"
#include "base/log.h"
#include "base/meter.h"

#include <string.h>

enum {
    LIST_ARENA_MAX = 64 << 20,
    LEAD_CHECK_MS = 1000,
    RELAY_GRACE_MS = 10 * SECOND_MS,
    SINK_GRACE_MS = 5 * SECOND_MS,
};

bool scheduler_leads(Scheduler *scheduler, pthread_cond_t *wake)
{
    StrList names = {0};
    bool did_lead = scheduler->leads;

    scheduler->leads = store_leads(scheduler->store);
    if (!scheduler->leads) {
        wait_until(scheduler, wake, clock_ms() + LEAD_CHECK_MS);
        return false;
    }
    if (did_lead) {
        return true;
    }
    pthread_mutex_unlock(&scheduler->lock);
    Err *err = db_names(scheduler->store, &names);
    pthread_mutex_lock(&scheduler->lock);
    for (size_t i = 0; i < names.len; i++) {
        Work *work = work_of(scheduler, names.at[i]);
        turn_ask(&work->relay);
        work->jobs_at = 0;
    }
    scheduler->leads = !err;
    pthread_cond_broadcast(&scheduler->relay_wake);
    pthread_cond_broadcast(&scheduler->timer_wake);
    return !err;
}

static Turn *relay_turn(Work *work)
{
    return &work->relay;
}

static Turn *outlet_turn(Work *work)
{
    return &work->outlet;
}

// Called by who committed: no wake-up is lost, because a turn is taken before the outbox is read.
static void events_written(void *context, Db *db)
{
    Scheduler *scheduler = context;

    pthread_mutex_lock(&scheduler->lock);
    turn_ask(&work_of(scheduler, db_name(db))->relay);
    pthread_cond_signal(&scheduler->relay_wake);
    pthread_mutex_unlock(&scheduler->lock);
}

// ---------------------------------------------------------------------------------------------
// Relay

static void relay_done(Scheduler *scheduler, Work *work, const RelayPass *pass)
{
    RelayState *state = &work->relay_state;

    scheduler->delivered += pass->delivered;
    scheduler->buried += pass->buried;
    work->relay.attempts = 0;
    if (!pass->is_last) {
        turn_ask(&work->relay);
    }
    if (state->jobs_at < work->jobs_at) {
        work->jobs_at = state->jobs_at;
        pthread_cond_signal(&scheduler->timer_wake);
    }
    state->jobs_at = NEVER;
    if (scheduler->has_sink && state->delivered > work->delivered) {
        work->delivered = state->delivered;
        turn_ask(&work->outlet);
        pthread_cond_signal(&scheduler->outlet_wake);
    }
}

// With the lock held, which is given back meanwhile.
static void relay_work(Scheduler *scheduler, Work *work)
{
    RelayPass pass = {.access = &scheduler->access, .keeps_rows = scheduler->has_sink};
    Db *db = NULL;
    bool is_gone = false;

    pthread_mutex_unlock(&scheduler->lock);
    meter_begin_alone(meter_of("events"));
    meter_route("(relay)");
    Err *err = work_open(scheduler, work->tenant, &db, &is_gone);
    if (!err) {
        err = relay_pass(db, &work->relay_state, &pass);
    }
    meter_end(clock_ns());
    if (err && !is_gone) {
        log_line(LOG_WARN, "jobs", "events of %s wait: " STR_FMT, work->tenant,
                 STR_ARG(err->message));
    }
    pthread_mutex_lock(&scheduler->lock);
    if (is_gone) {
        work_remove(scheduler, work);
    } else if (err) {
        scheduler->failures++;
        turn_put_off(&work->relay);
    } else {
        relay_done(scheduler, work, &pass);
    }
    work_release(scheduler, work);
}

void *relay_run(void *context)
{
    Scheduler *scheduler = context;
    Arena *arena = arena_new(STEP_ARENA_MAX);
    Time until = 0;

    arena_use(arena);
    pthread_mutex_lock(&scheduler->lock);
    for (;;) {
        bool is_late = scheduler->relay_stops && clock_ms() > scheduler->relay_until;
        bool leads = scheduler_leads(scheduler, &scheduler->relay_wake);
        if (!leads && !scheduler->relay_stops) {
            continue;
        }
        Work *work = is_late || !leads ? NULL : turn_next(scheduler, relay_turn, &until);
        if (work) {
            relay_work(scheduler, work);
            arena_reset(arena);
        } else if (scheduler->relay_stops) {
            break; // what is left is delivered after the next start
        } else {
            wait_until(scheduler, &scheduler->relay_wake, until);
        }
    }
    pthread_mutex_unlock(&scheduler->lock);
    arena_free(arena);
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Outlet

static void outlet_work(Scheduler *scheduler, Work *work)
{
    OutletPass pass = {.sink = &scheduler->sink, .up_to = work->delivered};
    Db *db = NULL;
    bool is_gone = false;

    pthread_mutex_unlock(&scheduler->lock);
    meter_begin_alone(meter_of("events"));
    meter_route("(outlet)");
    Err *err = work_open(scheduler, work->tenant, &db, &is_gone);
    if (!err) {
        err = outlet_pass(db, &pass);
    }
    meter_end(clock_ns());
    if (err && !is_gone) {
        log_line(LOG_WARN, "jobs", "events of %s wait in the outbox: " STR_FMT, work->tenant,
                 STR_ARG(err->message));
    }
    pthread_mutex_lock(&scheduler->lock);
    scheduler->sent += pass.sent - pass.buried;
    scheduler->buried += pass.buried;
    if (err && !is_gone) {
        scheduler->failures++;
        turn_put_off(&work->outlet);
    } else if (!err) {
        work->outlet.attempts = 0;
        if (!pass.is_last) {
            turn_ask(&work->outlet);
        }
    }
    work_release(scheduler, work);
}

void *outlet_run(void *context)
{
    Scheduler *scheduler = context;
    Arena *arena = arena_new(STEP_ARENA_MAX);
    Time until = 0;

    arena_use(arena);
    pthread_mutex_lock(&scheduler->lock);
    while (!scheduler->outlet_gives_up) {
        if (!scheduler_leads(scheduler, &scheduler->outlet_wake)) {
            if (scheduler->outlet_stops) {
                break;
            }
            continue;
        }
        Work *work = turn_next(scheduler, outlet_turn, &until);
        if (work) {
            outlet_work(scheduler, work);
            arena_reset(arena);
        } else if (scheduler->outlet_stops) {
            break;
        } else {
            wait_until(scheduler, &scheduler->outlet_wake, until);
        }
    }
    scheduler->outlet_ended = true;
    pthread_cond_signal(&scheduler->outlet_end);
    pthread_mutex_unlock(&scheduler->lock);
    arena_free(arena);
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Life

static Scheduler *scheduler_new(Store *store)
{
    Arena *arena = arena_new(LIST_ARENA_MAX);
    Scheduler *scheduler = arena_alloc(arena, sizeof *scheduler);

    scheduler->arena = arena;
    scheduler->store = store;
    pthread_mutex_init(&scheduler->lock, NULL);
    cond_make(&scheduler->relay_wake);
    cond_make(&scheduler->timer_wake);
    cond_make(&scheduler->outlet_wake);
    cond_make(&scheduler->outlet_end);
    return scheduler;
}

Err *jobs_new(Store *store, Scheduler **out)
{
    StrList names = {0};

    TRY(db_names(store, &names));
    Scheduler *scheduler = scheduler_new(store);
    // What an earlier run left: each database is looked at once, later only when something is due.
    for (size_t i = 0; i < names.len; i++) {
        Work *work = work_of(scheduler, names.at[i]);
        turn_ask(&work->relay);
        work->jobs_at = 0;
    }
    scheduler->leads = store_leads(store);
    store_want_topic(store, JOB_TOPIC);
    store_on_events(store, events_written, scheduler);
    *out = scheduler;
    return NULL;
}

void jobs_access(Scheduler *scheduler, const TenantAccess *access)
{
    scheduler->access = *access;
}

void jobs_sink(Scheduler *scheduler, const EventSink *sink)
{
    scheduler->sink = *sink;
    scheduler->has_sink = true;
}

void jobs_begin(Scheduler *scheduler)
{
    if (pthread_create(&scheduler->relay_thread, NULL, relay_run, scheduler) ||
        pthread_create(&scheduler->timer_thread, NULL, timers_run, scheduler) ||
        (scheduler->has_sink &&
         pthread_create(&scheduler->outlet_thread, NULL, outlet_run, scheduler))) {
        die("no thread for background work");
    }
    scheduler->runs = true;
}

static void stop_thread(Scheduler *scheduler, bool *stops, pthread_cond_t *wake, pthread_t thread)
{
    pthread_mutex_lock(&scheduler->lock);
    *stops = true;
    pthread_cond_signal(wake);
    pthread_mutex_unlock(&scheduler->lock);
    pthread_join(thread, NULL);
}

// Time to send what is written; then the sink is interrupted and the rest stays in the outbox.
static void stop_outlet(Scheduler *scheduler)
{
    Time until = clock_ms() + SINK_GRACE_MS;

    pthread_mutex_lock(&scheduler->lock);
    scheduler->outlet_stops = true;
    pthread_cond_signal(&scheduler->outlet_wake);
    while (!scheduler->outlet_ended && clock_ms() < until) {
        wait_until(scheduler, &scheduler->outlet_end, until);
    }
    scheduler->outlet_gives_up = true;
    bool has_ended = scheduler->outlet_ended;
    pthread_mutex_unlock(&scheduler->lock);
    if (!has_ended) {
        log_line(LOG_WARN, "jobs", "events that were not confirmed stay in the outbox");
        scheduler->sink.interrupt(scheduler->sink.context);
    }
    pthread_join(scheduler->outlet_thread, NULL);
}

// Each stage may still give work to the next one.
void jobs_stop(Scheduler *scheduler)
{
    if (scheduler->runs) {
        stop_thread(scheduler, &scheduler->timers_stop, &scheduler->timer_wake,
                    scheduler->timer_thread);
        scheduler->relay_until = clock_ms() + RELAY_GRACE_MS;
        stop_thread(scheduler, &scheduler->relay_stops, &scheduler->relay_wake,
                    scheduler->relay_thread);
        if (scheduler->has_sink) {
            stop_outlet(scheduler);
        }
    }
    store_on_events(scheduler->store, NULL, NULL);
    pthread_cond_destroy(&scheduler->relay_wake);
    pthread_cond_destroy(&scheduler->timer_wake);
    pthread_cond_destroy(&scheduler->outlet_wake);
    pthread_cond_destroy(&scheduler->outlet_end);
    pthread_mutex_destroy(&scheduler->lock);
    arena_free(scheduler->arena);
}

static Err *drain_events(Scheduler *scheduler, Db *db)
{
    RelayState state = {0};
    RelayPass pass = {.access = &scheduler->access, .keeps_rows = scheduler->has_sink};

    while (!pass.is_last) {
        TRY(relay_pass(db, &state, &pass));
    }
    return NULL;
}

Err *jobs_drain(Scheduler *scheduler, Db *db, Time now)
{
    Time next = 0;

    while (next <= now) {
        TRY(drain_events(scheduler, db));
        TRY(jobs_run_due(db, now, &next));
    }
    return drain_events(scheduler, db);
}

// ---------------------------------------------------------------------------------------------
// Figures

typedef struct {
    int64_t pending;
    Time oldest;
} Lag;

static Err *take_lag(const Row *row, void *context)
{
    *(Lag *)context = (Lag){row_int(row, 0), row_int(row, 1)};
    return NULL;
}

static Err *read_lag(Tx *tx, void *context)
{
    return tx_rows(tx, "select count(*), min(at) from outbox", NO_ARGS, take_lag, context);
}

static Err *add_lag(Scheduler *scheduler, Str tenant, JobsFigures *figures)
{
    Lag lag = {0};
    Db *db = NULL;

    TRY(db_open(scheduler->store, tenant, false, &db));
    TRY(tx_run(db, &(TxOptions){.kind = READ}, read_lag, &lag));
    int64_t age = lag.pending ? time_now() - lag.oldest : 0;
    figures->pending += lag.pending;
    figures->oldest_ms = age > figures->oldest_ms ? age : figures->oldest_ms;
    return NULL;
}

Err *jobs_figures(Scheduler *scheduler, JobsFigures *out)
{
    JobsFigures figures = {.delivered = scheduler->delivered,
                           .sent = scheduler->sent,
                           .failures = scheduler->failures,
                           .buried = scheduler->buried};
    StrList busy = {0};

    pthread_mutex_lock(&scheduler->lock);
    for (const Work *work = scheduler->works; work; work = work->next) {
        if (work->relay.is_waiting || work->outlet.is_waiting || work->users) {
            str_list_add(&busy, str_copy(arena_current(), str_of(work->tenant)));
        }
    }
    pthread_mutex_unlock(&scheduler->lock);
    for (size_t i = 0; i < busy.len; i++) {
        Err *err = add_lag(scheduler, busy.at[i], &figures);
        if (err && err->status != 404) {
            return err;
        }
    }
    figures.databases = (int)busy.len;
    *out = figures;
    return NULL;
}
