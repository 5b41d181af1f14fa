// Background work: subscribers of events, durable jobs, timers.
#pragma once

#include "store/store.h"

// In-process subscriber of an outbox topic. Called with up to 500 events inside one write
// transaction that also removes them; an error leaves them and tries again later.
typedef Err *(*Subscriber)(Tx *tx, const Event *events, size_t n);
void bus_subscribe(const char *topic, Subscriber subscriber);

typedef struct {
    Str id, kind;
    Json *doc; // the job's own state: cursor and arguments
    int attempt;
} Job;

// A step of a job, one transaction of at most 100 records. *done = true when there is nothing left;
// else it runs again at once with the changed doc. An error is retried later with growing distance.
typedef Err *(*JobStep)(Tx *tx, Job *job, bool *done);
void job_kind(const char *kind, JobStep step);
WARN_UNUSED Err *job_enqueue_at(Tx *tx, const char *kind, Time due_at, Json *doc);

// The table of jobs: part of every tenant's database.
enum {
    JOBS_COLLECTIONS = 1,
};
extern const Collection *const jobs_collections[];

// Periodic work of a tenant, as FOLIO's timers. every_s 0 and cron NULL: never.
typedef struct {
    const char *name; // "expire-users"
    const char *path; // FOLIO's timer route, "/users/expire/timer"
    int every_s;
    Err *(*run)(Db *db, Time now); // opens its own transactions
} Timer;

typedef struct Scheduler Scheduler;

// The relay (events to subscribers and Kafka) and the scheduler (jobs, timers): one thread each.
// They begin to work with jobs_begin, after all subscribers and kinds of jobs are known.
WARN_UNUSED Err *jobs_new(Store *store, Scheduler **out);
void jobs_begin(Scheduler *scheduler);
void jobs_timer(Scheduler *scheduler, Str tenant, const Timer *timer);
void jobs_forget(Scheduler *scheduler, Str tenant);
void jobs_stop(Scheduler *scheduler); // finishes the running step, delivers what is written
// Runs everything that is due and delivers all events before it returns: for tests and recipes.
WARN_UNUSED Err *jobs_drain(Scheduler *scheduler, Db *db, Time now);
