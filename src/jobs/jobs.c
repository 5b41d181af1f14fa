// Durable jobs: rows of a table; each step is one transaction that also keeps the job's own state.
#include "jobs/internal.h"

#include "base/log.h"
#include "base/uuid.h"

enum {
    FIRST_RETRY_MS = 1000,
    RETRY_MAX_MS = 15 * 60 * 1000,
};

static const Property job_properties[] = {
    {"id", ID},           {"kind", STRING, REQUIRED},    {"dueAt", INTEGER, REQUIRED},
    {"attempt", INTEGER}, {"doc", OBJECT, .open = true}, {0},
};

static const RecordType job_record = {"Job", .properties = job_properties};

static const Field job_fields[] = {
    {"due_at", "dueAt", NUMBER | INDEX},
    {"kind", "kind", TEXT | KEEP_CASE | KEEP_ACCENTS},
    {0},
};

static const Collection jobs = {
    .table = "octavo_job",
    .record = &job_record,
    .fields = job_fields,
};

const Collection *const jobs_collections[] = {&jobs, NULL};

Err *job_enqueue_at(Tx *tx, const char *kind, Time due_at, Json *doc)
{
    Json *row = json_object();

    json_set_str(row, "kind", str_of(kind));
    json_set_int(row, "dueAt", due_at);
    json_set_int(row, "attempt", 0);
    json_set(row, "doc", doc);
    return tx_insert(tx, &jobs, row);
}

// Doubles with every attempt up to a quarter of an hour.
static Time retry_at(Time now, int64_t attempt)
{
    int64_t wait = attempt > 20 ? RETRY_MAX_MS : (int64_t)FIRST_RETRY_MS << attempt;

    return now + (wait > RETRY_MAX_MS ? RETRY_MAX_MS : wait);
}

typedef struct {
    Json *row;
    bool done;
} StepRun;

static Err *run_step(Tx *tx, void *context)
{
    StepRun *run = context;
    Str kind = json_str(run->row, "kind");
    JobStep step = job_step_of(kind);
    Job job = {.id = json_str(run->row, "id"),
               .kind = kind,
               .doc = json_copy(json_get(run->row, "doc")),
               .attempt = (int)json_int(run->row, "attempt", 0)};

    if (!step) {
        return err_text(500, "no code for jobs of kind " STR_FMT, STR_ARG(kind));
    }
    TRY(step(tx, &job, &run->done));
    if (run->done) {
        return tx_delete(tx, &jobs, job.id);
    }
    Json *row = json_copy(run->row);
    json_set(row, "doc", job.doc);
    json_set_int(row, "attempt", 0);
    TRY(tx_change(tx, &jobs, run->row, row));
    run->row = row;
    return NULL;
}

typedef struct {
    const Json *row;
    Time now;
} Postponement;

static Err *postpone(Tx *tx, void *context)
{
    const Postponement *p = context;
    Json *row = json_copy(p->row);
    int64_t attempt = json_int(p->row, "attempt", 0);

    json_set_int(row, "attempt", attempt + 1);
    json_set_int(row, "dueAt", retry_at(p->now, attempt));
    return tx_change(tx, &jobs, p->row, row);
}

static Err *run_job(Db *db, Json *row, Time now)
{
    const TxOptions batch = {.kind = WRITE, .is_batch = true, .now = now};
    StepRun run = {.row = row};

    while (!run.done) {
        Err *err = tx_run(db, &batch, run_step, &run);
        if (err) {
            log_line(LOG_WARN, "jobs", "a job of kind " STR_FMT " failed: " STR_FMT,
                     STR_ARG(json_str(row, "kind")), STR_ARG(err->message));
            return tx_run(db, &batch, postpone, &(Postponement){run.row, now});
        }
    }
    return NULL;
}

typedef struct {
    Time now;
    Docs due;
    Time next;
} DueRead;

static Err *read_due(Tx *tx, void *context)
{
    DueRead *read = context;
    Docs next = {0};

    TRY(tx_where(tx, &jobs, "due_at <= $1 order by due_at limit 100", ARGS(A_INT(read->now)),
                 &read->due));
    TRY(tx_where(tx, &jobs, "due_at > $1 order by due_at limit 1", ARGS(A_INT(read->now)), &next));
    read->next = next.len ? json_int(next.at[0], "dueAt", 0) : 0;
    return NULL;
}

Err *jobs_run_due(Db *db, Time now, Time *next)
{
    DueRead read = {.now = now};

    do {
        read.due = (Docs){0};
        TRY(tx_run(db, &(TxOptions){.kind = READ}, read_due, &read));
        for (size_t i = 0; i < read.due.len; i++) {
            TRY(run_job(db, read.due.at[i], now));
        }
    } while (read.due.len);
    *next = read.next;
    return NULL;
}
