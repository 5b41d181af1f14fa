// Connections: opening with the settings of their kind, and the pool of readers for all databases.
#include "store/sqlite.h"

#include "base/die.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    BUSY_TIMEOUT_MS = 5000, // also for readers: recovery of the log answers "busy" meanwhile
    READER_CACHE_KIB = 2048,
    READER_WAIT_S = 5,
    STEPS_BETWEEN_LOOKS = 10000, // of a statement, at its deadline: less than a millisecond
    WRITER_CACHE_MIN_KIB = 2048,
};

// Up to here SQLite asks for pages by their address, behind it by copies: the map is ours and has
// the whole file. Debian's SQLite allows no more.
#define MMAP_BYTES "2147418112"

Err *sqlite_err(sqlite3 *handle, int code, const char *doing)
{
    switch (code & 0xff) {
    case SQLITE_FULL:
        log_line(LOG_ERROR, "store", "the disk is full (%s)", doing);
        return err_text(500, "The disk is full; nothing was stored");
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
        log_line(LOG_ERROR, "store", "I/O error %d (%s): %s", code, doing,
                 handle ? sqlite3_errmsg(handle) : "");
        return err_text(500, "The disk reports an error; nothing was stored");
    case SQLITE_BUSY:
        return err_text(503, "The database is busy, try again");
    case SQLITE_INTERRUPT:
        log_line(LOG_WARN, "store", "stopped, it took too long: %s", doing);
        return err_text(503, "The query takes too long: ask for less");
    case SQLITE_TOOBIG:
        return err_text(413, "The answer or the record is too large");
    default:
        log_line(LOG_ERROR, "store", "database error %d (%s): %s", code, doing,
                 handle ? sqlite3_errmsg(handle) : "");
        return err_text(500, "Internal error of the database");
    }
}

int conn_run(Conn *conn, const char *sql)
{
    Stmt *stmt = NULL;
    int code = stmt_get(conn, sql, &stmt);

    if (code == SQLITE_OK) {
        do {
            code = sqlite3_step(stmt->handle);
        } while (code == SQLITE_ROW);
        stmt_put(conn, stmt);
    }
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int log_grew(void *db, sqlite3 *handle, const char *schema, int frames)
{
    (void)handle;
    (void)schema;
    checkpoint_note(db, frames);
    return SQLITE_OK;
}

static int cache_set(sqlite3 *handle, int kib)
{
    char sql[64];

    snprintf(sql, sizeof sql, "pragma cache_size=-%d", kib);
    return sqlite3_exec(handle, sql, NULL, NULL, NULL);
}

static bool is_building(const Conn *conn)
{
    return conn->owner->store->store->options.is_building;
}

// What is built needs no log: nobody reads beside, and after a crash it is made anew.
static const char *journal_of(const Conn *conn)
{
    return is_building(conn) ? "pragma journal_mode=memory; pragma threads=2"
                             : "pragma journal_mode=wal; pragma wal_autocheckpoint=0;"
                               "pragma journal_size_limit=16777216";
}

static int set_up_writer(Conn *conn)
{
    int code = sqlite3_exec(conn->handle, journal_of(conn), NULL, NULL, NULL);

    if (code == SQLITE_OK) {
        code = sqlite3_exec(conn->handle,
                            "pragma synchronous=full; pragma temp_store=file;"
                            "pragma foreign_keys=off; pragma secure_delete=fast;"
                            "pragma case_sensitive_like=on; pragma mmap_size=" MMAP_BYTES ";"
                            "create table if not exists octavo_sequence"
                            "(name text primary key, next integer not null)",
                            NULL, NULL, NULL);
    }
    // Takes the place of the automatic checkpoint.
    sqlite3_wal_hook(conn->handle, log_grew, conn->owner);
    return code;
}

void conn_share_cache(Conn *conn)
{
    SqliteStore *store = conn->owner->store;
    int open = store->open_count;
    int64_t kib = store_page_bytes(store->store) / 1024 / (open > 0 ? open : 1);

    kib = kib < WRITER_CACHE_MIN_KIB ? WRITER_CACHE_MIN_KIB : kib;
    if (kib != conn->cache_kib) {
        conn->cache_kib = (int)kib;
        cache_set(conn->handle, (int)kib);
    }
}

static int set_up(Conn *conn, ConnKind kind)
{
    sqlite3_busy_timeout(conn->handle, kind == CONN_CHECKPOINT ? 0 : BUSY_TIMEOUT_MS);
    // A plan does not hang on bound values: SQLite would prepare such statements at each run.
    sqlite3_db_config(conn->handle, SQLITE_DBCONFIG_ENABLE_QPSG, 1, NULL);
    if (kind == CONN_READER) {
        int code = sqlite3_exec(conn->handle,
                                "pragma query_only=on; pragma temp_store=file;"
                                "pragma case_sensitive_like=on;"
                                "pragma mmap_size=" MMAP_BYTES,
                                NULL, NULL, NULL);
        return code ? code : cache_set(conn->handle, READER_CACHE_KIB);
    }
    if (kind == CONN_CHECKPOINT) {
        return sqlite3_exec(conn->handle, "pragma wal_autocheckpoint=0; pragma synchronous=full",
                            NULL, NULL, NULL);
    }
    return set_up_writer(conn);
}

static int is_late(void *context)
{
    const Conn *conn = context;

    return conn->deadline_ns && clock_ns() > conn->deadline_ns;
}

Err *conn_open(SqliteDb *db, ConnKind kind, Conn **out)
{
    int flags = kind == CONN_READER   ? SQLITE_OPEN_READONLY
                : kind == CONN_WRITER ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                      : SQLITE_OPEN_READWRITE;
    Conn *conn = calloc(1, sizeof *conn);

    if (!conn) {
        die("out of memory");
    }
    conn->owner = db;
    int code =
        sqlite3_open_v2(db->file, &conn->handle,
                        flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE, db->store->vfs);
    if (code == SQLITE_OK) {
        sqlite3_extended_result_codes(conn->handle, 1);
        sqlite3_progress_handler(conn->handle, STEPS_BETWEEN_LOOKS, is_late, conn);
        code = set_up(conn, kind);
    }
    if (code != SQLITE_OK) {
        Err *err = sqlite_err(conn->handle, code, db->file);
        conn_close(conn);
        return err;
    }
    *out = conn;
    return NULL;
}

void conn_end_building(Conn *writer)
{
    if (is_building(writer)) {
        sqlite3_exec(writer->handle, "pragma journal_mode=wal", NULL, NULL, NULL);
    }
}

void conn_close(Conn *conn)
{
    if (!conn) {
        return;
    }
    stmt_drop_all(conn);
    if (sqlite3_close(conn->handle) != SQLITE_OK) {
        die("a connection was closed in use: %s", sqlite3_errmsg(conn->handle));
    }
    free(conn);
}

// ---------------------------------------------------------------------------------------------
// Readers

void readers_init(ReaderPool *pool, int max)
{
    pthread_mutex_init(&pool->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&pool->free, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pool->max = max > 0 ? max : 64;
}

static void idle_remove(ReaderPool *pool, Conn *conn)
{
    *(conn->newer ? &conn->newer->older : &pool->newest) = conn->older;
    *(conn->older ? &conn->older->newer : &pool->oldest) = conn->newer;
    conn->newer = conn->older = NULL;
}

static Conn *idle_of(const ReaderPool *pool, const SqliteDb *db, bool is_scattered)
{
    Conn *conn = pool->newest;

    while (conn && (conn->owner != db || conn->is_scattered != is_scattered)) {
        conn = conn->older;
    }
    return conn;
}

// Waits for a place; *found is an idle reader of the database, or NULL: open one. *victim is an
// idle reader of another kind that must be closed first.
static bool place_wait(ReaderPool *pool, const SqliteDb *db, bool is_scattered, Conn **found,
                       Conn **victim)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += READER_WAIT_S;
    for (;;) {
        *found = idle_of(pool, db, is_scattered);
        if (*found) {
            idle_remove(pool, *found);
            return true;
        }
        if (pool->open < pool->max) {
            pool->open++;
            return true;
        }
        if (pool->oldest) {
            *victim = pool->oldest; // its place is taken over
            idle_remove(pool, *victim);
            return true;
        }
        pool->waiting++;
        int code = pthread_cond_timedwait(&pool->free, &pool->lock, &until);
        pool->waiting--;
        if (code == ETIMEDOUT && !pool->newest && pool->open == pool->max) {
            return false;
        }
    }
}

static void place_free(ReaderPool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->open--;
    pthread_cond_signal(&pool->free);
    pthread_mutex_unlock(&pool->lock);
}

static Err *reader_open(SqliteDb *db, bool is_scattered, Conn **out)
{
    TRY(conn_open(db, CONN_READER, out));
    if (is_scattered) {
        (*out)->is_scattered = true;
        sqlite3_exec((*out)->handle, "pragma mmap_size=0", NULL, NULL, NULL);
    }
    return NULL;
}

Err *readers_take(ReaderPool *pool, SqliteDb *db, bool is_scattered, Conn **out)
{
    Conn *found = NULL, *victim = NULL;

    pthread_mutex_lock(&pool->lock);
    bool has_place = place_wait(pool, db, is_scattered, &found, &victim);
    pthread_mutex_unlock(&pool->lock);
    if (!has_place) {
        return err_text(503, "All %d reader connections are in use, try again", pool->max);
    }
    conn_close(victim);
    if (!found) {
        Err *err = reader_open(db, is_scattered, &found);
        if (err) {
            place_free(pool);
            return err;
        }
    }
    *out = found;
    return NULL;
}

int readers_in_use(ReaderPool *pool)
{
    pthread_mutex_lock(&pool->lock);
    int in_use = pool->open;
    for (const Conn *conn = pool->newest; conn; conn = conn->older) {
        in_use--;
    }
    pthread_mutex_unlock(&pool->lock);
    return in_use;
}

void readers_give(ReaderPool *pool, Conn *conn)
{
    if (conn->is_bad) {
        conn_close(conn);
        place_free(pool);
        return;
    }
    conn->used_ns = clock_ns();
    pthread_mutex_lock(&pool->lock);
    conn->older = pool->newest;
    *(pool->newest ? &pool->newest->newer : &pool->oldest) = conn;
    pool->newest = conn;
    if (pool->waiting) {
        pthread_cond_signal(&pool->free);
    }
    pthread_mutex_unlock(&pool->lock);
}

void readers_close_idle(ReaderPool *pool, const SqliteDb *db, int64_t before_ns)
{
    Conn *closing = NULL;

    pthread_mutex_lock(&pool->lock);
    for (Conn *conn = pool->oldest, *newer; conn; conn = newer) {
        newer = conn->newer;
        if ((!db || conn->owner == db) && conn->used_ns <= before_ns) {
            idle_remove(pool, conn);
            conn->older = closing;
            closing = conn;
            pool->open--;
        }
    }
    pthread_cond_broadcast(&pool->free);
    pthread_mutex_unlock(&pool->lock);
    for (Conn *older; closing; closing = older) {
        older = closing->older;
        conn_close(closing);
    }
}

void readers_end(ReaderPool *pool)
{
    readers_close_idle(pool, NULL, INT64_MAX);
    pthread_cond_destroy(&pool->free);
    pthread_mutex_destroy(&pool->lock);
}
