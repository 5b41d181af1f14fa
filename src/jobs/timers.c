// The timer thread: periodic work of modules and durable jobs of all tenants, one after the other,
// so that nothing overlaps with itself. A tenant's database is opened only when something is due.
#include "jobs/internal.h"

#include "base/log.h"
#include "base/meter.h"

#include <string.h>

enum {
    LOOK_AGAIN_MS = 5 * SECOND_MS,   // at jobs, after an error
    GO_ALONG_MS = 45 * MINUTE_MS,    // who would open the tenant so soon runs with who opens it
    CLOCK_CHECK_MS = 60 * SECOND_MS, // the wall clock may be set
};

// ---------------------------------------------------------------------------------------------
// The list of timers

static void plan(TimerEntry *entry)
{
    const Timer *timer = &entry->timer;

    entry->due_at = NEVER;
    entry->cron_at = 0;
    if (entry->is_paused) {
        return;
    }
    if (timer->cron) {
        entry->cron_at = cron_next(timer->cron, timer->zone, time_now());
    } else if (timer->every_s > 0) {
        entry->due_at = clock_ms() + (Time)timer->every_s * SECOND_MS;
    }
}

static TimerEntry *entry_of(Work *work, const char *name)
{
    for (size_t i = 0; i < work->timer_count; i++) {
        if (strcmp(work->timers[i].timer.name, name) == 0) {
            return &work->timers[i];
        }
    }
    return NULL;
}

static TimerEntry *entry_add(Scheduler *scheduler, Work *work)
{
    work->timers = array_room(scheduler->arena, work->timers, work->timer_count, &work->timer_room,
                              sizeof *work->timers);
    return &work->timers[work->timer_count++];
}

void jobs_timer(Scheduler *scheduler, Str tenant, const Timer *timer)
{
    pthread_mutex_lock(&scheduler->lock);
    Work *work = work_of(scheduler, tenant);
    TimerEntry *entry = entry_of(work, timer->name);
    if (!entry) {
        entry = entry_add(scheduler, work);
        *entry = (TimerEntry){.due_at = NEVER};
    }
    entry->timer = *timer;
    entry->rest = (Rest){0};
    plan(entry);
    pthread_cond_signal(&scheduler->timer_wake);
    pthread_mutex_unlock(&scheduler->lock);
}

void jobs_timers_clear(Scheduler *scheduler, Str tenant)
{
    pthread_mutex_lock(&scheduler->lock);
    work_of(scheduler, tenant)->timer_count = 0;
    pthread_mutex_unlock(&scheduler->lock);
}

void jobs_forget(Scheduler *scheduler, Str tenant)
{
    pthread_mutex_lock(&scheduler->lock);
    work_remove(scheduler, work_of(scheduler, tenant));
    pthread_mutex_unlock(&scheduler->lock);
}

// ---------------------------------------------------------------------------------------------
// For operators

static Str schedule_of(const Timer *timer)
{
    if (timer->cron) {
        return str_fmt("%s %s", timer->cron, timer->zone ? timer->zone : "UTC");
    }
    return timer->every_s > 0 ? str_fmt("every %d s", timer->every_s) : S("");
}

static TimerState state_of(const Work *work, const TimerEntry *entry)
{
    bool is_due = entry->due_at != NEVER;
    Time next = is_due ? entry->due_at - clock_ms() + time_now() : 0;

    return (TimerState){.tenant = str_copy(arena_current(), str_of(work->tenant)),
                        .name = str_of(entry->timer.name),
                        .schedule = schedule_of(&entry->timer),
                        .last_run = entry->last_run,
                        .next_run = entry->cron_at ? entry->cron_at : next,
                        .last_ms = entry->last_ms,
                        .has_failed = entry->has_failed,
                        .is_paused = entry->is_paused};
}

static bool is_asked(const Work *work, Str tenant)
{
    return !tenant.len || str_eq_z(tenant, work->tenant);
}

size_t jobs_timers(Scheduler *scheduler, Str tenant, TimerState **out)
{
    size_t n = 0, all = 0;

    pthread_mutex_lock(&scheduler->lock);
    for (const Work *work = scheduler->works; work; work = work->next) {
        all += work->timer_count;
    }
    *out = NEW_ARRAY(TimerState, all + 1);
    for (const Work *work = scheduler->works; work; work = work->next) {
        for (size_t i = 0; is_asked(work, tenant) && i < work->timer_count; i++) {
            (*out)[n++] = state_of(work, &work->timers[i]);
        }
    }
    pthread_mutex_unlock(&scheduler->lock);
    return n;
}

static void entry_run(TimerEntry *entry)
{
    entry->due_at = clock_ms();
    entry->cron_at = 0;
    entry->rest = (Rest){0}; // whatever it knows
}

static void entry_pause(TimerEntry *entry)
{
    entry->is_paused = true;
    plan(entry);
}

static void entry_resume(TimerEntry *entry)
{
    entry->is_paused = false;
    plan(entry);
}

static bool entries_change(Scheduler *scheduler, Str tenant, Str name,
                           void (*change)(TimerEntry *entry))
{
    bool is_found = false;

    pthread_mutex_lock(&scheduler->lock);
    for (Work *work = scheduler->works; work; work = work->next) {
        TimerEntry *entry = is_asked(work, tenant) ? entry_of(work, str_z(name)) : NULL;
        if (entry) {
            change(entry);
            is_found = true;
        }
    }
    pthread_cond_signal(&scheduler->timer_wake);
    pthread_mutex_unlock(&scheduler->lock);
    return is_found;
}

bool jobs_timer_run(Scheduler *scheduler, Str tenant, Str name)
{
    return entries_change(scheduler, tenant, name, entry_run);
}

bool jobs_timer_pause(Scheduler *scheduler, Str tenant, Str name, bool pauses)
{
    return entries_change(scheduler, tenant, name, pauses ? entry_pause : entry_resume);
}

// ---------------------------------------------------------------------------------------------
// What is due

typedef struct {
    Work *work;
    TimerEntry *entry; // NULL: the jobs
    Time due_at;       // by the monotonic clock
} Due;

static void consider(Due *due, Work *work, TimerEntry *entry, Time at)
{
    if (at < due->due_at) {
        *due = (Due){work, entry, at};
    }
}

// What is due first, of all tenants: who waited longest is served first.
static Due due_first(Scheduler *scheduler)
{
    Time ahead = clock_ms() - time_now(); // from wall clock to monotonic
    Due due = {.due_at = NEVER};

    for (Work *work = scheduler->works; work; work = work->next) {
        if (work->jobs_at != NEVER) {
            consider(&due, work, NULL, work->jobs_at + ahead);
        }
        for (size_t i = 0; i < work->timer_count; i++) {
            TimerEntry *entry = &work->timers[i];
            consider(&due, work, entry, entry->cron_at ? entry->cron_at + ahead : entry->due_at);
        }
    }
    return due;
}

Err *timer_due_in_an_hour(Db *db, Time now, Time *at)
{
    (void)db;
    *at = now + HOUR_MS;
    return NULL;
}

// The tenant's data are as they were. Asks no file of it.
static bool is_unchanged(Scheduler *scheduler, const char *tenant, const Rest *rest)
{
    uint64_t change = 0;
    Db *db = NULL;

    return rest->is_known && db_open(scheduler->store, str_of(tenant), false, &db) == NULL &&
           db_change(db, &change) && change == rest->change;
}

static Err *run_and_rest(Db *db, const Timer *timer, Rest *rest)
{
    Time now = time_now(), until = 0;
    uint64_t change = 0;
    bool is_told = db_change(db, &change);

    *rest = (Rest){0};
    TRY(timer->run(db, now));
    if (timer->due && is_told) {
        TRY(timer->due(db, now, &until));
        *rest = (Rest){true, change, until};
    }
    return NULL;
}

static bool run_timer(Scheduler *scheduler, const char *tenant, const Timer *timer, Rest *rest)
{
    Db *db = NULL;
    bool is_gone = false;
    Err *err = work_open(scheduler, tenant, &db, &is_gone);

    if (is_gone) {
        jobs_forget(scheduler, str_of(tenant));
        return false;
    }
    if (!err) {
        err = run_and_rest(db, timer, rest);
    }
    if (err) {
        log_line(LOG_WARN, "jobs", "timer %s of %s failed: " STR_FMT, timer->name, tenant,
                 STR_ARG(err->message));
    }
    return !err;
}

// An idle tenant is open now: timers that would open it again soon run too.
static void others_go_along(Work *work, const TimerEntry *by)
{
    for (size_t i = 0; i < work->timer_count; i++) {
        TimerEntry *other = &work->timers[i];
        if (other != by && other->timer.due && other->due_at != NEVER &&
            (!other->rest.is_known || other->rest.until < time_now() + GO_ALONG_MS)) {
            other->due_at = clock_ms();
            other->goes_along = true;
        }
    }
}

// With the lock held, which is given back while it runs.
static void run_entry(Scheduler *scheduler, Work *work, TimerEntry *entry)
{
    Timer timer = entry->timer;
    Rest rest = entry->rest;
    bool goes_along = entry->goes_along;

    entry->goes_along = false;
    plan(entry);
    pthread_mutex_unlock(&scheduler->lock);
    bool is_idle = !rest.is_known || is_unchanged(scheduler, work->tenant, &rest);
    bool has_run = !is_idle || !rest.is_known || time_now() >= rest.until;
    Time began = time_now();
    bool was_good = true;
    if (has_run) {
        meter_route(timer.name);
        was_good = run_timer(scheduler, work->tenant, &timer, &rest);
    }
    pthread_mutex_lock(&scheduler->lock);
    entry = has_run ? entry_of(work, timer.name) : NULL; // the list may be another one
    if (entry) {
        entry->rest = rest;
        entry->last_run = began;
        entry->last_ms = time_now() - began;
        entry->has_failed = !was_good;
        if (is_idle && rest.is_known && !goes_along) {
            others_go_along(work, entry);
        }
    }
}

// When to look at the tenant's jobs again.
static Time run_jobs(Scheduler *scheduler, const char *tenant)
{
    Db *db = NULL;
    bool is_gone = false;
    Time next = NEVER;
    Err *err = work_open(scheduler, tenant, &db, &is_gone);

    if (is_gone) {
        jobs_forget(scheduler, str_of(tenant));
        return NEVER;
    }
    if (!err) {
        err = jobs_run_due(db, time_now(), &next);
    }
    if (err) {
        log_line(LOG_WARN, "jobs", "jobs of %s wait: " STR_FMT, tenant, STR_ARG(err->message));
        return time_now() + LOOK_AGAIN_MS;
    }
    return next;
}

// With the lock held, which is given back while it runs.
static void run_due(Scheduler *scheduler, const Due *due)
{
    Work *work = due->work;

    work_use(work);
    meter_begin_alone(meter_of("jobs"));
    if (due->entry) {
        run_entry(scheduler, work, due->entry);
    } else {
        work->jobs_at = NEVER; // who enqueues meanwhile sets it again
        pthread_mutex_unlock(&scheduler->lock);
        Time next = run_jobs(scheduler, work->tenant);
        pthread_mutex_lock(&scheduler->lock);
        work->jobs_at = next < work->jobs_at ? next : work->jobs_at;
    }
    meter_end(clock_ns());
    work_release(scheduler, work);
}

void *timers_run(void *context)
{
    Scheduler *scheduler = context;
    Arena *arena = arena_new(STEP_ARENA_MAX);

    arena_use(arena);
    pthread_mutex_lock(&scheduler->lock);
    while (!scheduler->timers_stop) {
        if (!scheduler_leads(scheduler, &scheduler->timer_wake)) {
            continue;
        }
        Due due = due_first(scheduler);
        Time now = clock_ms();
        if (due.due_at > now) {
            Time check = now + CLOCK_CHECK_MS;
            wait_until(scheduler, &scheduler->timer_wake,
                       due.due_at < check || due.due_at == NEVER ? due.due_at : check);
            continue;
        }
        run_due(scheduler, &due);
        arena_reset(arena);
    }
    pthread_mutex_unlock(&scheduler->lock);
    arena_free(arena);
    return NULL;
}
