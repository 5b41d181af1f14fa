// Background work: events for those who want them, durable jobs, timers.
#pragma once

#include "store/store.h"

// ---------------------------------------------------------------------------------------------
// Events

// In-process subscriber of an outbox topic. Called with up to 500 events, in order, inside one
// write transaction that also removes them; an error leaves them and tries again later. An event
// that fails eight times goes to the dead letters, so that those behind it are not kept for ever.
typedef Err *(*Subscriber)(Tx *tx, const Event *events, size_t n);
// `owner` is what TenantAccess.has is asked about, usually the module; NULL: every tenant has it.
void bus_subscribe(const char *topic, Subscriber subscriber, const void *owner);

// Somebody outside the process who gets every event (Kafka), after the subscribers had it. Called
// by a thread of its own.
typedef struct {
    void *context;
    // Sends events of a tenant, in order, and returns when each is confirmed or refused for good.
    // refused[i] says why it never will be taken, "" = confirmed. An error: all come again later.
    Err *(*send)(void *context, const Event *events, size_t n, Str tenant, Str *refused);
    // From another thread: send must return soon.
    void (*interrupt)(void *context);
} EventSink;

// ---------------------------------------------------------------------------------------------
// Durable jobs

typedef struct {
    Str id, kind;
    Json *doc; // the job's own state: cursor and arguments
    int attempt;
} Job;

// A step of a job, one transaction of at most 100 records. *done = true when there is nothing left;
// else it runs again soon with the changed doc. An error is retried later with growing distance;
// after twenty in a row the job stays in the table with its error and runs no more.
typedef Err *(*JobStep)(Tx *tx, Job *job, bool *done);
void job_kind(const char *kind, JobStep step);
WARN_UNUSED Err *job_enqueue_at(Tx *tx, const char *kind, Time due_at, Json *doc);

// Tables of jobs, dead letters and the relay: part of every tenant's database.
enum {
    JOBS_COLLECTIONS = 3,
};
extern const Collection *const jobs_collections[];
// One of them: how far the relay has delivered the outbox, as "seq".
extern const Collection relay_positions;

// ---------------------------------------------------------------------------------------------
// Timers

// Periodic work of a tenant, as FOLIO's timers. every_s 0 and cron NULL: never. It never overlaps
// with itself; what fails is logged and runs again next time.
typedef struct {
    const char *name; // "expire-users"
    const char *path; // FOLIO's timer route, "/users/expire/timer"
    int every_s;
    Err *(*run)(Db *db, Time now); // opens its own transactions
    const char *cron;              // instead of every_s: minute hour day month weekday, "0 2 * * *"
    const char *zone;              // of cron; NULL = UTC
    // While nothing of the tenant's data changes, it need not run before *at (INT64_MAX: never), so
    // that an idle tenant's files stay closed. NULL: it runs every time.
    Err *(*due)(Db *db, Time now, Time *at);
} Timer;

// For work that goes by many rules: an hour later.
WARN_UNUSED Err *timer_due_in_an_hour(Db *db, Time now, Time *at);

// The first time after `after` that fits; 0 if the text is none or nothing fits within five years.
Time cron_next(const char *cron, const char *zone, Time after);

// ---------------------------------------------------------------------------------------------
// The threads

typedef struct Scheduler Scheduler;

// How background work gets at tenants.
typedef struct {
    void *context;
    // The tenant's database with all its tables; 400 or 404 when there is no such tenant.
    Err *(*open)(void *context, Str tenant, Db **db);
    bool (*has)(void *context, Str tenant, const void *owner);
} TenantAccess;

// The relay (events to subscribers), the scheduler (jobs, timers), and with a sink the outlet
// (events to it): one thread each, for all tenants. They begin to work with jobs_begin, after all
// subscribers and kinds of jobs are known.
WARN_UNUSED Err *jobs_new(Store *store, Scheduler **out);
// Both before jobs_begin. Without access databases are opened as they are.
void jobs_access(Scheduler *scheduler, const TenantAccess *access);
void jobs_sink(Scheduler *scheduler, const EventSink *sink);
void jobs_begin(Scheduler *scheduler);
void jobs_timer(Scheduler *scheduler, Str tenant, const Timer *timer);
// The tenant's timers are given anew.
void jobs_timers_clear(Scheduler *scheduler, Str tenant);

// A timer as operators see it. Texts in the current arena.
typedef struct {
    Str tenant, name, schedule; // "every 60 s", a cron line; "" = never
    Time last_run, next_run;    // 0: not yet, never
    int64_t last_ms;
    bool has_failed; // the last time
    bool is_paused;
} TimerState;

// Those of a tenant, "" = of all; returns how many.
size_t jobs_timers(Scheduler *scheduler, Str tenant, TimerState **out);
// Each of these: false if the tenant ("" = any) has no such timer. A run comes at once, beside the
// schedule, and also while it is paused. Who gives the timers remembers pauses over a restart.
bool jobs_timer_run(Scheduler *scheduler, Str tenant, Str name);
bool jobs_timer_pause(Scheduler *scheduler, Str tenant, Str name, bool pauses);
// The tenant is gone: nothing of it runs or is delivered any more.
void jobs_forget(Scheduler *scheduler, Str tenant);
// Finishes the running steps, delivers what is written; waits five seconds for the sink. What it
// did not confirm stays in the outbox.
void jobs_stop(Scheduler *scheduler);
// Runs everything that is due and delivers all events to subscribers before it returns: for tests
// and recipes.
WARN_UNUSED Err *jobs_drain(Scheduler *scheduler, Db *db, Time now);

typedef struct {
    uint64_t delivered; // events that subscribers had or nobody in the process wants
    uint64_t sent;      // events confirmed by the sink
    uint64_t failures;  // attempts that were put off
    uint64_t buried;    // events that went to the dead letters
    int databases;      // with events under way
    int64_t pending;    // events in them
    int64_t oldest_ms;  // age of the oldest
} JobsFigures;

WARN_UNUSED Err *jobs_figures(Scheduler *scheduler, JobsFigures *out);

// Events that were given up, in order: seq, topic, type, key, body, at, reader ("subscribers" or
// "sink"), error, failedAt.
WARN_UNUSED Err *dead_letters_list(Tx *tx, int64_t limit, Docs *out);
// Puts one back at the end of the outbox: subscribers and sink get it once more. 404 text if there
// is none with that seq.
WARN_UNUSED Err *dead_letter_retry(Tx *tx, int64_t seq);
WARN_UNUSED Err *dead_letter_delete(Tx *tx, int64_t seq);
