// Durable jobs: rows of a table; each step is one transaction that also keeps the job's own state.
//
// A step reads the job's row again inside its transaction: what another thread finished meanwhile
// is not done twice. On one writer that is all the lease there needs to be.
#include "jobs/internal.h"

#include "base/log.h"

enum {
    FIRST_RETRY_MS = 1000,
    RETRY_MAX_MS = 15 * MINUTE_MS,
    ATTEMPTS_MAX = 20, // about two and a half hours
    STEPS_PER_SLICE = 50,
    SLICE_MS = 200,
};

// Later than every look: the job is given up.
#define GIVEN_UP ((Time)8640000000000000)

static const Property job_properties[] = {
    {"id", ID},
    {"kind", STRING, REQUIRED},
    {"dueAt", INTEGER, REQUIRED},
    {"attempt", INTEGER},
    {"doc", OBJECT, .open = true},
    {"error", STRING},
    {0},
};

static const RecordType job_record = {"Job", .properties = job_properties};

static const Field job_fields[] = {
    {"due_at", "dueAt", NUMBER | INDEX},
    {"kind", "kind", TEXT | KEEP_CASE | KEEP_ACCENTS},
    {0},
};

const Collection jobs_table = {
    .table = "octavo_job",
    .record = &job_record,
    .fields = job_fields,
};

// The event tells the scheduler of a commit, not of an attempt: nothing is looked for in vain, and
// nothing waits for the next look.
Err *job_enqueue_at(Tx *tx, const char *kind, Time due_at, Json *doc)
{
    Json *row = json_object();

    json_set_str(row, "kind", str_of(kind));
    json_set_int(row, "dueAt", due_at);
    json_set_int(row, "attempt", 0);
    json_set(row, "doc", doc ? doc : json_object());
    TRY(tx_insert(tx, &jobs_table, row));
    return tx_emit(tx, JOB_TOPIC, "CREATED", str_fmt("%lld", (long long)due_at), NULL, NULL);
}

// ---------------------------------------------------------------------------------------------
// One step

typedef struct {
    Str id;
    Time now;
    bool done; // or no longer due
} StepRun;

static Err *run_step(Tx *tx, void *context)
{
    StepRun *run = context;
    Json *row = NULL;

    TRY(tx_get_locked(tx, &jobs_table, run->id, &row));
    run->done = !row || json_int(row, "dueAt", 0) > run->now;
    if (run->done) {
        return NULL;
    }
    Str kind = json_str(row, "kind");
    JobStep step = job_step_of(kind);
    Json *doc = json_get(row, "doc") ? json_copy(json_get(row, "doc")) : json_object();
    Job job = {run->id, kind, doc, (int)json_int(row, "attempt", 0)};
    if (!step) {
        return err_text(500, "no code for jobs of this kind");
    }
    TRY(step(tx, &job, &run->done));
    if (run->done) {
        return tx_delete(tx, &jobs_table, run->id);
    }
    Json *changed = json_copy(row);
    json_set(changed, "doc", job.doc);
    json_set_int(changed, "attempt", 0);
    return tx_change(tx, &jobs_table, row, changed);
}

// ---------------------------------------------------------------------------------------------
// Failures

typedef struct {
    Str id, error;
    Time now;
} Failure;

// Doubles with every attempt up to a quarter of an hour.
static Time retry_at(Time now, int64_t attempt)
{
    int64_t wait = attempt > 20 ? RETRY_MAX_MS : (int64_t)FIRST_RETRY_MS << attempt;

    return now + (wait > RETRY_MAX_MS ? RETRY_MAX_MS : wait);
}

static Err *put_off(Tx *tx, void *context)
{
    const Failure *failure = context;
    Json *row = NULL;

    TRY(tx_get_locked(tx, &jobs_table, failure->id, &row));
    if (!row) {
        return NULL;
    }
    Json *changed = json_copy(row);
    int64_t attempt = json_int(row, "attempt", 0);
    bool gives_up = attempt + 1 >= ATTEMPTS_MAX;

    json_set_int(changed, "attempt", attempt + 1);
    json_set_int(changed, "dueAt", gives_up ? GIVEN_UP : retry_at(failure->now, attempt));
    json_set_str(changed, "error", failure->error);
    log_line(gives_up ? LOG_ERROR : LOG_WARN, "jobs",
             "job " STR_FMT " (" STR_FMT ") of " STR_FMT " %s: " STR_FMT, STR_ARG(failure->id),
             STR_ARG(json_str(row, "kind")), STR_ARG(db_name(tx_db(tx))),
             gives_up ? "is given up" : "failed", STR_ARG(failure->error));
    return tx_change(tx, &jobs_table, row, changed);
}

// ---------------------------------------------------------------------------------------------
// Slices: a long job leaves room for others, and for a stop, between its steps

static Err *run_slice(Db *db, Str id, Time now)
{
    const TxOptions batch = {.kind = WRITE, .is_batch = true, .now = now};
    StepRun run = {.id = id, .now = now};
    int64_t until = clock_ms() + SLICE_MS;

    for (int i = 0; i < STEPS_PER_SLICE && !run.done && clock_ms() < until; i++) {
        ArenaMark mark = arena_mark(arena_current());
        Err *err = tx_run(db, &batch, run_step, &run);
        if (err) {
            return tx_run(db, &batch, put_off, &(Failure){id, err->message, now});
        }
        arena_release(arena_current(), mark);
    }
    return NULL;
}

typedef struct {
    Time now;
    Docs due, next;
} Look;

static Err *read_due(Tx *tx, void *context)
{
    Look *look = context;

    return tx_where(tx, &jobs_table, "due_at <= $1 order by due_at, id limit 100",
                    ARGS(A_INT(look->now)), &look->due);
}

static Err *read_next(Tx *tx, void *context)
{
    Look *look = context;

    return tx_where(tx, &jobs_table, "due_at < $1 order by due_at limit 1", ARGS(A_INT(GIVEN_UP)),
                    &look->next);
}

Err *jobs_run_due(Db *db, Time now, Time *next)
{
    Look look = {.now = now};

    TRY(tx_run(db, &(TxOptions){.kind = READ}, read_due, &look));
    for (size_t i = 0; i < look.due.len; i++) {
        TRY(run_slice(db, json_str(look.due.at[i], "id"), now));
    }
    TRY(tx_run(db, &(TxOptions){.kind = READ}, read_next, &look));
    *next = look.next.len ? json_int(look.next.at[0], "dueAt", 0) : NEVER;
    return NULL;
}
