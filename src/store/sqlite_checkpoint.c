// The checkpoint thread: moves the write-ahead logs of all databases into their files, in small
// portions and without making anybody wait, and closes what is idle.
//
// Every 250 ms a log of more than 1,000 frames is copied as far as readers allow (PASSIVE). Under
// load that never empties it, so above 4,000 frames the thread takes the baton between two groups
// and starts the log anew (RESTART), never waiting for a reader meanwhile: a slow reader would stop
// every writer (decision 42). If a reader is in the way it tries again soon.
#include "store/sqlite.h"

#include "base/log.h"
#include "store/faults.h"

#include <malloc.h>
#include <time.h>

enum {
    PERIOD_MS = 250,
    RETRY_MS = 20, // while a log is above its limit
    PASSIVE_FRAMES = 1000,
    RESTART_FRAMES = 4000,
    GATE_FRAMES = 8000,
    GATE_MS = 50,
    SLOW_FRAMES = 10000,
    SLOW_MS = 100, // of one writer
    FRAME_BYTES = 4096 + 24,
    OPEN_MAX = 64, // of more open databases the least recently used close
};

// After a vain closing of the gate: somebody reads for long.
static const int64_t GATE_PAUSE_NS = 1000000000;

static struct timespec time_after_ms(int ms)
{
    int64_t ns = clock_ns() + ms * (int64_t)1000000;

    return (struct timespec){ns / 1000000000, ns % 1000000000};
}

// ---------------------------------------------------------------------------------------------
// Gate

void gate_init(SqliteDb *db)
{
    pthread_condattr_t monotonic;

    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&db->gate_lock, NULL);
    pthread_cond_init(&db->gate_opened, &monotonic);
    pthread_cond_init(&db->readers_gone, &monotonic);
    pthread_cond_init(&db->log_shortened, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

void gate_end(SqliteDb *db)
{
    pthread_cond_destroy(&db->log_shortened);
    pthread_cond_destroy(&db->readers_gone);
    pthread_cond_destroy(&db->gate_opened);
    pthread_mutex_destroy(&db->gate_lock);
}

// The wait has an end of its own: the caller may hold the baton that the closer of the gate waits
// for.
void gate_enter(SqliteDb *db)
{
    db->readers++;
    if (!db->is_gated) {
        return;
    }
    gate_leave(db);
    struct timespec until = time_after_ms(2 * GATE_MS);
    int code = 0;
    pthread_mutex_lock(&db->gate_lock);
    while (db->is_gated && code == 0) {
        code = pthread_cond_timedwait(&db->gate_opened, &db->gate_lock, &until);
    }
    pthread_mutex_unlock(&db->gate_lock);
    db->readers++;
}

void gate_leave(SqliteDb *db)
{
    if (--db->readers == 0 && db->is_gated) {
        pthread_mutex_lock(&db->gate_lock);
        pthread_cond_signal(&db->readers_gone);
        pthread_mutex_unlock(&db->gate_lock);
    }
}

// Closes the gate and waits for those inside; true if all have left.
static bool gate_close(SqliteDb *db)
{
    struct timespec until = time_after_ms(GATE_MS);
    int code = 0;

    pthread_mutex_lock(&db->gate_lock);
    db->is_gated = true;
    while (db->readers > 0 && code == 0) {
        code = pthread_cond_timedwait(&db->readers_gone, &db->gate_lock, &until);
    }
    pthread_mutex_unlock(&db->gate_lock);
    return db->readers == 0;
}

static void gate_open(SqliteDb *db)
{
    pthread_mutex_lock(&db->gate_lock);
    db->is_gated = false;
    pthread_cond_broadcast(&db->gate_opened);
    pthread_mutex_unlock(&db->gate_lock);
}

// ---------------------------------------------------------------------------------------------
// Checkpoints

static int checkpoint_run(SqliteDb *db, int mode, int *frames, int *done)
{
    if (!db->checkpointer) {
        Err *err = conn_open(db, CONN_CHECKPOINT, &db->checkpointer);
        if (err) {
            return SQLITE_CANTOPEN; // logged there; next round tries again
        }
    }
    db->store->checkpoints++;
    int code = sqlite3_wal_checkpoint_v2(db->checkpointer->handle, "main", mode, frames, done);
    bool is_failure = (code & 0xff) != SQLITE_OK && (code & 0xff) != SQLITE_BUSY;
    // Once, not four times a second: the log of a disk that fails grows until it is looked after.
    if (is_failure && code != db->checkpoint_code) {
        sqlite_err(db->checkpointer->handle, code, "checkpoint");
    }
    db->checkpoint_code = code;
    return code;
}

void checkpoint_note(SqliteDb *db, int frames)
{
    SqliteStore *store = db->store;
    uint64_t bytes = (uint64_t)frames * FRAME_BYTES, max = store->wal_bytes_max;
    int before = db->wal_frames;

    db->wal_frames = frames;
    while (bytes > max && !atomic_compare_exchange_weak(&store->wal_bytes_max, &max, bytes)) {
    }
    if (before < RESTART_FRAMES && frames >= RESTART_FRAMES) {
        pthread_mutex_lock(&store->checkpoint_lock);
        store->is_urgent = true;
        pthread_cond_signal(&store->checkpoint_wake);
        pthread_mutex_unlock(&store->checkpoint_lock);
    }
}

void checkpoint_let_catch_up(SqliteDb *db)
{
    if (db->wal_frames < SLOW_FRAMES || db->is_reader_in_way) {
        return;
    }
    struct timespec until = time_after_ms(SLOW_MS);
    int code = 0;
    pthread_mutex_lock(&db->gate_lock);
    while (db->wal_frames >= SLOW_FRAMES && !db->is_reader_in_way && code == 0) {
        code = pthread_cond_timedwait(&db->log_shortened, &db->gate_lock, &until);
    }
    pthread_mutex_unlock(&db->gate_lock);
}

static void log_note_result(SqliteDb *db, bool is_reader_in_way)
{
    pthread_mutex_lock(&db->gate_lock);
    db->is_reader_in_way = is_reader_in_way;
    pthread_cond_broadcast(&db->log_shortened);
    pthread_mutex_unlock(&db->gate_lock);
}

// Starts the log anew between two groups. The caller copied most of it before, so that little is
// left to do with the baton.
static bool log_restart(SqliteDb *db)
{
    int frames = 0, done = 0;

    baton_take(&db->baton, QUEUE_INTERACTIVE);
    group_close(db);
    FAULT_POINT("before-restart");
    int code = checkpoint_run(db, SQLITE_CHECKPOINT_RESTART, &frames, &done);
    FAULT_POINT("after-restart");
    if (code == SQLITE_OK) {
        db->wal_frames = 0;
    }
    baton_pass(&db->baton);
    return code == SQLITE_OK;
}

static bool log_restart_gated(SqliteDb *db)
{
    if (clock_ns() - db->gate_failed_ns < GATE_PAUSE_NS) {
        return false;
    }
    bool is_done = gate_close(db) && log_restart(db);
    gate_open(db);
    db->gate_failed_ns = is_done ? 0 : clock_ns();
    return is_done;
}

// True if the log is still longer than it should be.
static bool db_checkpoint(SqliteDb *db)
{
    int frames = 0, done = 0;

    if (db->wal_frames < PASSIVE_FRAMES) {
        return false;
    }
    FAULT_POINT("before-copy");
    int code = checkpoint_run(db, SQLITE_CHECKPOINT_PASSIVE, &frames, &done);
    FAULT_POINT("after-copy");
    if (db->wal_frames < RESTART_FRAMES || (code & 0xff) != SQLITE_OK) {
        return db->wal_frames >= RESTART_FRAMES;
    }
    checkpoint_run(db, SQLITE_CHECKPOINT_PASSIVE, &frames, &done); // what came in meanwhile
    bool is_done = log_restart(db) || (db->wal_frames >= GATE_FRAMES && log_restart_gated(db));
    log_note_result(db, !is_done);
    return !is_done;
}

// Keeps the database open for the length of a checkpoint.
static bool db_hold(SqliteDb *db)
{
    pthread_mutex_lock(&db->lock);
    bool is_open = db->writer != NULL;
    db->users += is_open;
    pthread_mutex_unlock(&db->lock);
    return is_open;
}

static void db_let_go(SqliteDb *db)
{
    pthread_mutex_lock(&db->lock);
    db->users--; // used_ns stays: a checkpoint is no use
    if (db->users == 0) {
        pthread_cond_broadcast(&db->unused);
    }
    pthread_mutex_unlock(&db->lock);
}

// When it was last used; -1 if it is closed or in use.
static int64_t unused_since(SqliteDb *db)
{
    pthread_mutex_lock(&db->lock);
    int64_t since_ns = db->writer && db->users == 0 ? db->used_ns : -1;
    pthread_mutex_unlock(&db->lock);
    return since_ns;
}

static SqliteDb *db_at(Store *store, size_t i)
{
    pthread_mutex_lock(&store->lock);
    SqliteDb *db = i < store->db_count ? store->dbs[i]->state : NULL;
    pthread_mutex_unlock(&store->lock);
    return db;
}

// Between two groups nobody uses the writer.
static void writer_give_back(SqliteDb *db)
{
    baton_take(&db->baton, QUEUE_INTERACTIVE);
    group_close(db);
    stmt_drop_all(db->writer);
    sqlite3_db_release_memory(db->writer->handle);
    baton_pass(&db->baton);
}

void sqlite_give_back(Store *store)
{
    SqliteDb *db;

    readers_close_idle(&((SqliteStore *)store->state)->readers, NULL, INT64_MAX);
    for (size_t i = 0; (db = db_at(store, i)); i++) {
        if (db_hold(db)) {
            writer_give_back(db);
            db_let_go(db);
        }
    }
}

static SqliteDb *least_recently_used(Store *store)
{
    SqliteDb *found = NULL, *db;
    int64_t found_ns = INT64_MAX;

    for (size_t i = 0; (db = db_at(store, i)); i++) {
        int64_t since_ns = unused_since(db);
        if (since_ns >= 0 && since_ns < found_ns) {
            found_ns = since_ns;
            found = db;
        }
    }
    return found;
}

static void close_idle(SqliteStore *store)
{
    int64_t before_ns = clock_ns() - store->idle_ns;
    int open_before = store->open_count;
    SqliteDb *db;

    for (size_t i = 0; (db = db_at(store->store, i)); i++) {
        int64_t since_ns = unused_since(db);
        if (since_ns >= 0 && since_ns < before_ns) {
            sqlite_db_close_unused(db);
        }
    }
    while (store->open_count > OPEN_MAX && (db = least_recently_used(store->store))) {
        if (!sqlite_db_close_unused(db)) {
            break; // it was just taken; next time
        }
    }
    readers_close_idle(&store->readers, NULL, before_ns);
    if (store->open_count < open_before) {
        malloc_trim(0); // what the closed ones held lies between what others hold
    }
}

static bool round_run(SqliteStore *store)
{
    bool has_more = false;
    SqliteDb *db;

    for (size_t i = 0; (db = db_at(store->store, i)); i++) {
        if (db_hold(db)) {
            has_more = db_checkpoint(db) || has_more;
            db_let_go(db);
        }
    }
    close_idle(store);
    return has_more;
}

static void *checkpoint_main(void *argument)
{
    SqliteStore *store = argument;
    bool has_more = false;

    pthread_mutex_lock(&store->checkpoint_lock);
    while (!store->is_stopping) {
        struct timespec until = time_after_ms(has_more ? RETRY_MS : PERIOD_MS);
        if (!store->is_urgent) {
            pthread_cond_timedwait(&store->checkpoint_wake, &store->checkpoint_lock, &until);
        }
        if (store->is_stopping) {
            break;
        }
        store->is_urgent = false;
        pthread_mutex_unlock(&store->checkpoint_lock);
        meter_begin_alone(store_meter());
        has_more = round_run(store);
        meter_end(clock_ns());
        arena_reset(arena_current());
        pthread_mutex_lock(&store->checkpoint_lock);
    }
    pthread_mutex_unlock(&store->checkpoint_lock);
    return NULL;
}

Err *checkpoint_start(SqliteStore *store)
{
    pthread_condattr_t monotonic;

    pthread_mutex_init(&store->checkpoint_lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&store->checkpoint_wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (pthread_create(&store->checkpoint_thread, NULL, checkpoint_main, store)) {
        return err_text(500, "Cannot start the checkpoint thread");
    }
    return NULL;
}

void checkpoint_stop(SqliteStore *store)
{
    pthread_mutex_lock(&store->checkpoint_lock);
    store->is_stopping = true;
    pthread_cond_signal(&store->checkpoint_wake);
    pthread_mutex_unlock(&store->checkpoint_lock);
    pthread_join(store->checkpoint_thread, NULL);
    pthread_mutex_destroy(&store->checkpoint_lock);
    pthread_cond_destroy(&store->checkpoint_wake);
}
