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

#include <time.h>

enum {
    PERIOD_MS = 250,
    RETRY_MS = 20, // while a log is above its limit
    PASSIVE_FRAMES = 1000,
    RESTART_FRAMES = 4000,
    OPEN_MAX = 64, // of more open databases the least recently used close
};

static int checkpoint_run(SqliteDb *db, int mode, int *frames, int *done)
{
    if (!db->checkpointer) {
        Err *err = conn_open(db, CONN_CHECKPOINT, &db->checkpointer);
        if (err) {
            return SQLITE_CANTOPEN; // logged there; next round tries again
        }
    }
    db->store->checkpoints++;
    return sqlite3_wal_checkpoint_v2(db->checkpointer->handle, "main", mode, frames, done);
}

// True if the log is still longer than it should be.
static bool db_checkpoint(SqliteDb *db)
{
    int frames = 0, done = 0;

    if (db->wal_frames < PASSIVE_FRAMES) {
        return false;
    }
    int code = checkpoint_run(db, SQLITE_CHECKPOINT_PASSIVE, &frames, &done);
    if (db->wal_frames < RESTART_FRAMES || (code & 0xff) != SQLITE_OK) {
        return db->wal_frames >= RESTART_FRAMES;
    }
    // What came in meanwhile, so that little is left to do with the baton.
    checkpoint_run(db, SQLITE_CHECKPOINT_PASSIVE, &frames, &done);
    baton_take(&db->baton, QUEUE_INTERACTIVE);
    group_close(db);
    FAULT_POINT("before-restart");
    code = checkpoint_run(db, SQLITE_CHECKPOINT_RESTART, &frames, &done);
    FAULT_POINT("after-restart");
    if (code == SQLITE_OK) {
        db->wal_frames = 0;
    }
    baton_pass(&db->baton);
    return code != SQLITE_OK;
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
        int64_t wait_ns = (has_more ? RETRY_MS : PERIOD_MS) * (int64_t)1000000;
        int64_t until_ns = clock_ns() + wait_ns;
        struct timespec until = {until_ns / 1000000000, until_ns % 1000000000};
        pthread_cond_timedwait(&store->checkpoint_wake, &store->checkpoint_lock, &until);
        if (store->is_stopping) {
            break;
        }
        pthread_mutex_unlock(&store->checkpoint_lock);
        has_more = round_run(store);
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
