// Two threads: one delivers events, one runs timers and jobs. Both end with the process's stop.
#include "jobs/internal.h"

#include "base/die.h"
#include "base/log.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    TICK_MS = 250,
    RELAY_RETRY_MS = 1000,
    TIMERS_MAX = 8192,
    STEP_ARENA_MAX = 64 << 20,
};

typedef struct {
    char tenant[NAME_MAX_LEN];
    Timer timer;
    Time due_at; // by the monotonic clock
} Entry;

struct Scheduler {
    pthread_mutex_t lock; // guards everything below
    pthread_cond_t wake;
    Store *store;
    Entry *entries;
    size_t entry_count;
    char (*pending)[NAME_MAX_LEN]; // databases with undelivered events
    size_t pending_count;
    bool runs, stops;
    pthread_t relay_thread, timer_thread;
};

static Time clock_ms(void)
{
    return clock_ns() / 1000000;
}

static void wait_at_most(Scheduler *scheduler, int ms)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)ms * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&scheduler->wake, &scheduler->lock, &until);
}

static void set_name(char *to, Str name)
{
    size_t len = name.len < NAME_MAX_LEN - 1 ? name.len : NAME_MAX_LEN - 1;

    memcpy(to, name.at, len);
    to[len] = 0;
}

// With the lock held. A full list loses nothing: the events stay, the next commit names the
// database.
static void add_pending(Scheduler *scheduler, Str name)
{
    for (size_t i = 0; i < scheduler->pending_count; i++) {
        if (str_eq_z(name, scheduler->pending[i])) {
            return;
        }
    }
    if (scheduler->pending_count < TENANTS_MAX) {
        set_name(scheduler->pending[scheduler->pending_count++], name);
    }
}

static void events_written(void *context, Db *db)
{
    Scheduler *scheduler = context;

    pthread_mutex_lock(&scheduler->lock);
    add_pending(scheduler, db_name(db));
    pthread_cond_broadcast(&scheduler->wake);
    pthread_mutex_unlock(&scheduler->lock);
}

static Err *deliver_to(Scheduler *scheduler, const char *name)
{
    Db *db = NULL;

    TRY(db_open(scheduler->store, str_of(name), false, &db));
    return relay_drain(db);
}

static void *relay_run(void *context)
{
    Scheduler *scheduler = context;
    Arena *arena = arena_new(STEP_ARENA_MAX);
    char name[NAME_MAX_LEN];

    arena_use(arena);
    pthread_mutex_lock(&scheduler->lock);
    for (;;) {
        if (scheduler->pending_count == 0) {
            if (scheduler->stops) {
                break;
            }
            wait_at_most(scheduler, TICK_MS);
            continue;
        }
        memcpy(name, scheduler->pending[--scheduler->pending_count], sizeof name);
        pthread_mutex_unlock(&scheduler->lock);
        Err *err = deliver_to(scheduler, name);
        if (err) {
            log_line(LOG_WARN, "jobs", "events of %s wait: " STR_FMT, name, STR_ARG(err->message));
        }
        arena_reset(arena);
        pthread_mutex_lock(&scheduler->lock);
        if (err && !scheduler->stops) {
            add_pending(scheduler, str_of(name));
            wait_at_most(scheduler, RELAY_RETRY_MS);
        }
    }
    pthread_mutex_unlock(&scheduler->lock);
    arena_free(arena);
    return NULL;
}

// With the lock held: the entry that is due, moved to its next time.
static bool take_due(Scheduler *scheduler, Entry *out)
{
    Time now = clock_ms();

    for (size_t i = 0; i < scheduler->entry_count; i++) {
        Entry *entry = &scheduler->entries[i];
        if (entry->due_at <= now) {
            entry->due_at = now + (Time)entry->timer.every_s * SECOND_MS;
            *out = *entry;
            return true;
        }
    }
    return false;
}

static void run_entry(Scheduler *scheduler, const Entry *entry)
{
    Db *db = NULL;
    Err *err = db_open(scheduler->store, str_of(entry->tenant), false, &db);

    if (!err) {
        err = entry->timer.run(db, time_now());
    }
    if (err) {
        log_line(LOG_WARN, "jobs", "timer %s of %s failed: " STR_FMT, entry->timer.name,
                 entry->tenant, STR_ARG(err->message));
    }
}

static void *timers_run(void *context)
{
    Scheduler *scheduler = context;
    Arena *arena = arena_new(STEP_ARENA_MAX);
    Entry entry;

    arena_use(arena);
    pthread_mutex_lock(&scheduler->lock);
    while (!scheduler->stops) {
        if (!take_due(scheduler, &entry)) {
            wait_at_most(scheduler, TICK_MS);
            continue;
        }
        pthread_mutex_unlock(&scheduler->lock);
        run_entry(scheduler, &entry);
        arena_reset(arena);
        pthread_mutex_lock(&scheduler->lock);
    }
    pthread_mutex_unlock(&scheduler->lock);
    arena_free(arena);
    return NULL;
}

// Jobs of a tenant are looked for every few seconds, like a timer of its own.
static Err *run_jobs(Db *db, Time now)
{
    Time next = 0;

    return jobs_run_due(db, now, &next);
}

static const Timer jobs_timer_of_tenant = {.name = "jobs", .every_s = 5, .run = run_jobs};

// With the lock held.
static void set_entry(Scheduler *scheduler, Str tenant, const Timer *timer)
{
    Entry *entry = NULL;

    for (size_t i = 0; i < scheduler->entry_count && !entry; i++) {
        Entry *known = &scheduler->entries[i];
        if (str_eq_z(tenant, known->tenant) && strcmp(known->timer.name, timer->name) == 0) {
            entry = known;
        }
    }
    if (!entry) {
        if (scheduler->entry_count == TIMERS_MAX) {
            die("more than %d timers", TIMERS_MAX);
        }
        entry = &scheduler->entries[scheduler->entry_count++];
    }
    set_name(entry->tenant, tenant);
    entry->timer = *timer;
    entry->due_at = timer->every_s > 0 ? clock_ms() + (Time)timer->every_s * SECOND_MS : INT64_MAX;
}

void jobs_timer(Scheduler *scheduler, Str tenant, const Timer *timer)
{
    pthread_mutex_lock(&scheduler->lock);
    set_entry(scheduler, tenant, timer);
    set_entry(scheduler, tenant, &jobs_timer_of_tenant);
    pthread_mutex_unlock(&scheduler->lock);
}

void jobs_forget(Scheduler *scheduler, Str tenant)
{
    pthread_mutex_lock(&scheduler->lock);
    for (size_t i = 0; i < scheduler->entry_count;) {
        if (str_eq_z(tenant, scheduler->entries[i].tenant)) {
            scheduler->entries[i] = scheduler->entries[--scheduler->entry_count];
        } else {
            i++;
        }
    }
    pthread_mutex_unlock(&scheduler->lock);
}

Err *jobs_new(Store *store, Scheduler **out)
{
    Scheduler *scheduler = calloc(1, sizeof *scheduler);
    pthread_condattr_t attributes;
    StrList names = {0};

    if (!scheduler || !(scheduler->entries = calloc(TIMERS_MAX, sizeof(Entry))) ||
        !(scheduler->pending = calloc(TENANTS_MAX, NAME_MAX_LEN))) {
        die("out of memory");
    }
    scheduler->store = store;
    pthread_mutex_init(&scheduler->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&scheduler->wake, &attributes);
    // What an earlier run left undelivered.
    TRY(db_names(store, &names));
    for (size_t i = 0; i < names.len; i++) {
        add_pending(scheduler, names.at[i]);
    }
    store_on_events(store, events_written, scheduler);
    *out = scheduler;
    return NULL;
}

void jobs_begin(Scheduler *scheduler)
{
    if (pthread_create(&scheduler->relay_thread, NULL, relay_run, scheduler) ||
        pthread_create(&scheduler->timer_thread, NULL, timers_run, scheduler)) {
        die("no thread for background work");
    }
    scheduler->runs = true;
}

void jobs_stop(Scheduler *scheduler)
{
    pthread_mutex_lock(&scheduler->lock);
    scheduler->stops = true;
    pthread_cond_broadcast(&scheduler->wake);
    pthread_mutex_unlock(&scheduler->lock);
    if (scheduler->runs) {
        pthread_join(scheduler->timer_thread, NULL);
        pthread_join(scheduler->relay_thread, NULL);
    }
    store_on_events(scheduler->store, NULL, NULL);
    pthread_cond_destroy(&scheduler->wake);
    pthread_mutex_destroy(&scheduler->lock);
    free(scheduler->entries);
    free(scheduler->pending);
    free(scheduler);
}

Err *jobs_drain(Scheduler *scheduler, Db *db, Time now)
{
    Time next = 0;

    (void)scheduler;
    TRY(relay_drain(db));
    TRY(jobs_run_due(db, now, &next));
    return relay_drain(db);
}
