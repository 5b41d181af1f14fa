// What the files of jobs/ share.
#pragma once

#include "jobs/jobs.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    EVENTS_PER_STEP = 500,
    BYTES_PER_STEP = 1 << 20, // beyond it more may wait than was read
    NAME_MAX_LEN = 40,
    STEP_ARENA_MAX = 256 << 20,
};

#define NEVER     INT64_MAX
#define JOB_TOPIC "octavo.job" // says that a job was enqueued; its key is when it is due

// ---------------------------------------------------------------------------------------------
// bus.c, jobs.c, dead_letters.c

JobStep job_step_of(Str kind);
bool bus_has(Str topic);
// Runs of one topic go to its subscribers together; order between topics is kept.
Err *bus_deliver(Tx *tx, const TenantAccess *access, const Event *events, size_t n);

// One slice of work on each job that is due; *next is when to look again (NEVER: no job waits).
Err *jobs_run_due(Db *db, Time now, Time *next);

extern const Collection jobs_table, dead_letters;
// `reader`: who could not take it, "subscribers" or "sink".
Err *dead_letter_add(Tx *tx, const Event *event, const char *reader, Str error);

// ---------------------------------------------------------------------------------------------
// relay.c, outlet.c

typedef struct {
    int64_t delivered; // subscribers have everything up to here
    size_t limit;      // events per step: fewer after an error, to find the one that fails
    int attempts;      // at the event that fails alone
    Time jobs_at;      // earliest job that was enqueued, NEVER if none
} RelayState;

typedef struct {
    const TenantAccess *access;
    bool keeps_rows; // the sink removes them
    size_t delivered, buried;
    bool is_last; // nothing more is there
} RelayPass;

// Delivers the next events of a database.
Err *relay_pass(Db *db, RelayState *state, RelayPass *pass);

typedef struct {
    const EventSink *sink;
    int64_t up_to; // subscribers have everything up to here
    size_t sent, buried;
    bool is_last;
} OutletPass;

Err *outlet_pass(Db *db, OutletPass *pass);

// ---------------------------------------------------------------------------------------------
// work.c: tenants and what is to be done for them

// A place in the queue of a thread: who asked first is served first.
typedef struct {
    bool is_waiting;
    Time due_at; // by the monotonic clock
    int attempts;
} Turn;

// What a timer that ran knows: it has nothing to do while the database stays as it is.
typedef struct {
    bool is_known;
    uint64_t change; // of the database, before it ran
    Time until;      // by the wall clock
} Rest;

typedef struct {
    Timer timer;
    Time due_at;   // by the monotonic clock; NEVER: switched off, or by cron
    Time cron_at;  // by the wall clock
    Time last_run; // by the wall clock, 0 = not yet
    int64_t last_ms;
    Rest rest;
    bool goes_along; // because another one opened the tenant
    bool has_failed, is_paused;
} TimerEntry;

typedef struct Work {
    struct Work *next;
    char tenant[NAME_MAX_LEN];
    int users;    // threads that work on it
    bool is_gone; // given back when the last one is done
    Turn relay, outlet;
    RelayState relay_state; // the relay thread's while it works, but for `delivered`
    int64_t delivered;      // what the outlet may take
    Time jobs_at;           // by the wall clock: when the next job is due
    TimerEntry *timers;
    size_t timer_count, timer_room;
} Work;

struct Scheduler {
    pthread_mutex_t lock; // guards everything below but the counters
    pthread_cond_t relay_wake, timer_wake, outlet_wake, outlet_end;
    Store *store;
    Arena *arena; // of the list of works
    Work *works, *unused;
    TenantAccess access;
    EventSink sink;
    bool has_sink, runs, leads;
    bool timers_stop, relay_stops, outlet_stops, outlet_gives_up, outlet_ended;
    Time relay_until; // set before relay_stops
    _Atomic uint64_t delivered, sent, failures, buried;
    pthread_t relay_thread, timer_thread, outlet_thread;
};

Time clock_ms(void);
void cond_make(pthread_cond_t *cond);
// Until the monotonic time, NEVER = without end.
void wait_until(Scheduler *scheduler, pthread_cond_t *cond, Time until);

// All with the lock held. work_of makes it if it is not there.
Work *work_of(Scheduler *scheduler, Str tenant);
void work_remove(Scheduler *scheduler, Work *work);
void work_use(Work *work);
void work_release(Scheduler *scheduler, Work *work);

typedef Turn *(*TurnOf)(Work *work);
void turn_ask(Turn *turn);
// Later by a distance that doubles up to half a minute.
void turn_put_off(Turn *turn);
// The work whose turn it is, with its turn taken; NULL and the time to wait until.
Work *turn_next(Scheduler *scheduler, TurnOf of, Time *until);

// Opens the tenant's database; *is_gone if there is no such tenant.
Err *work_open(Scheduler *scheduler, const char *tenant, Db **db, bool *is_gone);

// True if this process runs what runs once for all of them; when it begins to, all tenants are
// looked at. Else the thread has waited a moment on `wake`. The lock is given back meanwhile.
bool scheduler_leads(Scheduler *scheduler, pthread_cond_t *wake);
void *timers_run(void *scheduler);
void *relay_run(void *scheduler);
void *outlet_run(void *scheduler);
