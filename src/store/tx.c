// Life of transactions and their statements; everything a backend does differently goes through its
// function table.
#include "store/tx.h"

#include "base/die.h"
#include "base/log.h"

// A snapshot older than this keeps the write-ahead log from being reused (decision 42).
static const int64_t SNAPSHOT_WARN_NS = 5 * (int64_t)1000000000;
static const int64_t SNAPSHOT_RENEW_NS = 1000000000;

Err *tx_begin(Db *db, const TxOptions *options, Tx **out)
{
    if (options->kind == NONE) {
        die("a transaction must be READ or WRITE");
    }
    Tx *tx = NEW(Tx);
    tx->db = db;
    tx->backend = db->store->backend;
    tx->kind = options->kind;
    tx->is_batch = options->is_batch;
    tx->takes_long = options->takes_long;
    tx->locks_rows = options->locks_rows;
    tx->is_scattered = options->is_scattered;
    tx->now = options->now ? options->now : time_now();
    tx->user_id = options->user_id;
    tx->reader = options->reader;
    if (options->not_before_ns) {
        int64_t shaped_ns = db->shaped_ns;
        tx->not_before_ns = options->not_before_ns > shaped_ns ? options->not_before_ns : shaped_ns;
    }
    // Read before the snapshot is taken: what is read later can only be newer than this.
    tx->snapshot_generation = db->generation;
    TRY(tx->backend->db_hold(db));
    Err *err = tx->backend->begin(tx);
    if (err) {
        tx->backend->db_release(db);
        return err;
    }
    if (tx->kind == WRITE) {
        // Nobody commits while this transaction has the writer.
        tx->snapshot_generation = db->generation;
    }
    tx->begun_ns = clock_ns();
    *out = tx;
    return NULL;
}

static void tx_end(Tx *tx)
{
    int64_t now_ns = clock_ns(), age_ns = now_ns - tx->begun_ns;

    tx->db->used_ns = now_ns;
    // The caches are the database's: it must not go before they know.
    cache_tx_end(tx);
    tx->backend->db_release(tx->db);
    if (age_ns > SNAPSHOT_WARN_NS) {
        log_line(LOG_WARN, "store", "a transaction in %.*s was open for %lld ms",
                 STR_ARG(tx->db->name), (long long)(age_ns / 1000000));
    }
}

// Of the thread, that wrote: what it did before is not undone by the end of its last transaction.
static _Thread_local uint64_t commits_of_thread;

uint64_t tx_commits_of_thread(void)
{
    return commits_of_thread;
}

Err *tx_commit(Tx *tx)
{
    Err *err = tx->kind == WRITE ? outbox_flush(tx) : NULL;

    if (err) {
        tx->backend->rollback(tx);
    } else if (tx->kind == WRITE) {
        MeterMark begun = meter_mark();
        err = tx->backend->commit(tx);
        // Most of it is waiting; the commit's CPU is charged by whoever commits for the group.
        meter_wait(PHASE_COMMIT, begun);
    } else {
        err = tx->backend->commit(tx);
    }
    if (tx->has_changed && !(err && err->other_node_may)) {
        commits_of_thread++;
    }
    tx_end(tx);
    return err;
}

void tx_rollback(Tx *tx)
{
    tx->backend->rollback(tx);
    tx_end(tx);
}

Err *tx_renew(Tx *tx, bool at_once)
{
    bool is_free = tx->kind == READ && !tx->statements && !tx->together && !tx->backend_reads;

    if (!is_free || (!at_once && clock_ns() - tx->begun_ns < SNAPSHOT_RENEW_NS)) {
        return NULL;
    }
    tx_forget(tx);
    tx->snapshot_generation = tx->db->generation;
    TRY(tx->backend->renew(tx));
    tx->begun_ns = clock_ns();
    return NULL;
}

Err *tx_run(Db *db, const TxOptions *options, Err *(*work)(Tx *tx, void *context), void *context)
{
    Tx *tx = NULL;

    TRY(tx_begin(db, options, &tx));
    Err *err = work(tx, context);
    if (err) {
        tx_rollback(tx);
        return err;
    }
    return tx_commit(tx);
}

bool tx_lags(const Tx *tx)
{
    return tx->lags;
}

TxOptions tx_reading(const Tx *tx)
{
    return (TxOptions){.kind = READ,
                       .now = tx->now,
                       .user_id = tx->user_id,
                       .not_before_ns = tx->lags ? tx->not_before_ns : 0,
                       .reader = tx->reader};
}

Err *tx_newest(Tx *tx, Err *(*work)(Tx *tx, void *context), void *context)
{
    const TxOptions options = {.kind = READ, .now = tx->now, .user_id = tx->user_id};
    Tx *newest = NULL;

    if (!tx->lags) {
        return work(tx, context);
    }
    TRY(tx_begin(tx->db, &options, &newest));
    Err *err = work(newest, context);
    tx->cost.statements += newest->cost.statements;
    tx->cost.round_trips += newest->cost.round_trips;
    tx->cost.rows_read += newest->cost.rows_read;
    if (err) {
        tx_rollback(newest);
        return err;
    }
    return tx_commit(newest);
}

Err *tx_flush(Tx *tx)
{
    return tx->backend->flush ? tx->backend->flush(tx) : NULL;
}

Db *tx_db(const Tx *tx)
{
    return tx->db;
}

Time tx_now(const Tx *tx)
{
    return tx->now;
}

Str tx_user_id(const Tx *tx)
{
    return tx->user_id;
}

TxCost tx_cost(const Tx *tx)
{
    TxCost cost = tx->cost;

    cost.round_trips += tx->has_pending; // goes out with the commit
    return cost;
}

void tx_count_events(Tx *tx, int n)
{
    tx->cost.events += n;
    tx->has_events = tx->has_events || n > 0;
}

TxExtra **tx_extra(Tx *tx)
{
    return &tx->extra;
}

uint64_t tx_snapshot_generation(const Tx *tx)
{
    return tx->snapshot_generation;
}

// ---------------------------------------------------------------------------------------------
// What a transaction wrote

static bool written_has(const Written *written, const Collection *of)
{
    for (size_t i = 0; i < written->len; i++) {
        if (written->at[i] == of) {
            return true;
        }
    }
    return false;
}

static void written_add(Written *written, const Collection *of)
{
    if (written_has(written, of)) {
        return;
    }
    written->at =
        array_room(arena_current(), written->at, written->len, &written->cap, sizeof *written->at);
    written->at[written->len++] = of;
}

void tx_note_write(Tx *tx, const Collection *of)
{
    written_add(&tx->written, of);
}

bool tx_has_written(const Tx *tx, const Collection *of)
{
    if (tx->kind != WRITE) {
        return false;
    }
    bool has = written_has(&tx->written, of);
    for (const Tx *one = tx->backend->group_members(tx); one && !has; one = one->next_member) {
        has = written_has(&one->written, of);
    }
    return has;
}

void db_committed(Db *db, const Tx *members)
{
    Written all = {0};
    bool has_changed = false, has_events = false;

    for (const Tx *one = members; one; one = one->next_member) {
        has_changed = has_changed || one->has_changed;
        has_events = has_events || one->has_events;
        for (size_t i = 0; i < one->written.len; i++) {
            written_add(&all, one->written.at[i]);
        }
    }
    if (!has_changed) {
        return;
    }
    atomic_fetch_add(&db->generation, 1);
    cache_committed(db, all.at, all.len);
    if (has_events) {
        outbox_committed(db);
    }
}

void db_changed_elsewhere(Db *db, const Collection *const *changed, size_t n)
{
    atomic_fetch_add(&db->generation, 1);
    cache_committed(db, changed, n);
    changes_tell(db, changed, n);
}

// ---------------------------------------------------------------------------------------------
// Statements

Err *sql_rows(Tx *tx, const char *sql, Args args, Err *(*each)(const Row *, void *), void *context)
{
    tx->cost.statements++;
    if (!tx->backend->counts_round_trips) {
        tx->cost.round_trips += tx->together && tx->has_together_read ? 0 : 1;
        tx->has_together_read = tx->together > 0;
        tx->has_pending = false;
    }
    tx->statements++;
    Err *err = tx->backend->rows(tx, sql, args, each, context);
    tx->statements--;
    return err;
}

Err *rows_load(Tx *tx, const struct LoadedRow *rows, size_t n, bool *is_done)
{
    *is_done = tx->backend->load != NULL;
    return *is_done ? tx->backend->load(tx, rows, n) : NULL;
}

bool tx_keeps_references(const Tx *tx)
{
    return db_keeps_references(tx->db);
}

Err *sql_walk(Tx *tx, const char *sql, Args args, Err *(*each)(const Row *, void *), void *context)
{
    if (!tx->backend->walk) {
        return sql_rows(tx, sql, args, each, context);
    }
    tx->cost.statements++;
    tx->statements++;
    Err *err = tx->backend->walk(tx, sql, args, each, context);
    tx->statements--;
    return err;
}

Err *sql_exec(Tx *tx, const char *sql, Args args, int64_t *changed, const OnViolation *on)
{
    if (tx->kind != WRITE) {
        die("a statement that writes in a READ transaction: %s", sql);
    }
    tx->cost.statements++;
    // A count is an answer to wait for; all other writes travel with the next read or the commit.
    if (!tx->backend->counts_round_trips) {
        tx->cost.round_trips += changed ? 1 : 0;
        tx->has_pending = !changed;
    }
    return tx->backend->exec(tx, sql, args, changed, on);
}

Err *tx_rows(Tx *tx, const char *sql, Args args, Err *(*each)(const Row *, void *), void *context)
{
    return sql_rows(tx, sql, args, each, context);
}

Err *tx_exec(Tx *tx, const char *sql, Args args, int64_t *changed)
{
    return sql_exec(tx, sql, args, changed, NULL);
}

void tx_note_states(Tx *tx)
{
    tx->has_new_states = tx->kind == WRITE;
}

bool tx_writes(const Tx *tx)
{
    return tx->kind == WRITE;
}

bool tx_locks_rows(const Tx *tx)
{
    return tx->kind == WRITE && tx->locks_rows && tx->backend->has_many_writers;
}

void tx_plan_anew(Tx *tx, bool does)
{
    tx->plans_anew = does;
}

void tx_note_query(Tx *tx, Str cql)
{
    tx->cql = cql;
}

const Dialect *tx_dialect(const Tx *tx)
{
    return &tx->backend->dialect;
}

Str row_text(const Row *row, int column)
{
    return row->backend->row_text(row, column);
}

int64_t row_int(const Row *row, int column)
{
    return row->backend->row_int(row, column);
}

double row_real(const Row *row, int column)
{
    return row->backend->row_real(row, column);
}

bool row_is_null(const Row *row, int column)
{
    return row->backend->row_is_null(row, column);
}

static Err *take_int(const Row *row, void *context)
{
    *(int64_t *)context = row_int(row, 0);
    return NULL;
}

Err *tx_sequence(Tx *tx, const char *name, int64_t n, int64_t *first)
{
    if (tx->kind != WRITE) {
        die("numbers of sequence %s are taken in WRITE transactions only", name);
    }
    return sql_rows(tx,
                    "insert into octavo_sequence as s (name, next) values ($1, $2 + 1) "
                    "on conflict (name) do update set next = s.next + $2 returning next - $2",
                    ARGS(A_TEXT(str_of(name)), A_INT(n)), take_int, first);
}

Err *tx_sequence_last(Tx *tx, const char *name, int64_t *last)
{
    *last = 0;
    return sql_rows(tx, "select next - 1 from octavo_sequence where name = $1",
                    ARGS(A_TEXT(str_of(name))), take_int, last);
}

Err *tx_sequence_restart(Tx *tx, const char *name)
{
    tx->has_changed = true;
    return sql_exec(tx, "delete from octavo_sequence where name = $1", ARGS(A_TEXT(str_of(name))),
                    NULL, NULL);
}

// A round trip counts with its first statement: caches may have answered everything.
Err *tx_together(Tx *tx, const Read *reads, size_t n)
{
    Err *err = NULL;

    if (tx->backend->together) {
        return tx->backend->together(tx, reads, n);
    }
    tx->together++;
    for (size_t i = 0; i < n && !err; i++) {
        err = reads[i].read(tx, reads[i].context);
    }
    tx->together--;
    tx->has_together_read = tx->has_together_read && tx->together > 0;
    return err;
}

bool tx_together_pause(Tx *tx, bool pauses)
{
    return tx->backend->together_pause && tx->backend->together_pause(tx, pauses);
}

static bool has_words(const Str *words, size_t n)
{
    for (size_t i = 0; words && i < n; i++) {
        if (words[i].len) {
            return true;
        }
    }
    return false;
}

static bool same_words(const Str *a, const Str *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!str_eq(a[i], b[i])) {
            return false;
        }
    }
    return true;
}

Err *words_write(Tx *tx, const Collection *of, int64_t pk, const Str *old, const Str *now, size_t n)
{
    old = has_words(old, n) ? old : NULL;
    now = has_words(now, n) ? now : NULL;
    if ((!old && !now) || (old && now && same_words(old, now, n))) {
        return NULL;
    }
    return tx->backend->words_write(tx, of, pk, old, now, n);
}

Err *words_make(Tx *tx, const Collection *of, const char *const *columns, size_t n)
{
    return tx->backend->words_make(tx, of, columns, n);
}

Err *words_drop(Tx *tx, const char *table)
{
    return tx->backend->words_drop(tx, table);
}

Err *db_table_columns(Tx *tx, const char *table, StrList *columns)
{
    return tx->backend->table_columns(tx, table, columns);
}

Err *db_foreign_keys(Tx *tx, Err *(*each)(const Row *, void *), void *context)
{
    return tx->backend->foreign_keys(tx, each, context);
}

Err *db_index_names(Tx *tx, const char *table, StrList *names)
{
    return tx->backend->index_names(tx, table, names);
}

Err *db_note_coarse(Tx *tx, const char *table, const StrList *indexes)
{
    return tx->backend->note_coarse ? tx->backend->note_coarse(tx, table, indexes) : NULL;
}
