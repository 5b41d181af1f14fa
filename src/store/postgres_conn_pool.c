// Connections: opening with the settings of ours, and the pool that all tenants share.
//
// A connection keeps the tenant it served last in view, because its prepared statements mean that
// tenant's tables; one of the same tenant is taken again if there is one.
#include "store/postgres.h"

#include "base/die.h"
#include "base/log.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    POOL_WAIT_S = 5,
    POOL_MAX = 20,
};

static const size_t SENT_ARENA_LIMIT = (size_t)256 * 1024 * 1024;

// What the URL says wins.
PGconn *pg_connect(Str url)
{
    const char *const names[] = {"connect_timeout",
                                 "keepalives_idle",
                                 "keepalives_interval",
                                 "keepalives_count",
                                 "tcp_user_timeout",
                                 "application_name",
                                 "dbname",
                                 NULL};
    const char *const values[] = {"5", "30", "5", "3", "10000", "octavo", url.at, NULL};

    return PQconnectdbParams(names, values, 1);
}

// Settings are statements, not start options: a balancer of connections may refuse those.
static const char SETTINGS[] =
    "set client_encoding = 'UTF8'; set standard_conforming_strings = on; set datestyle = 'ISO'; "
    "set client_min_messages = warning; set jit = off; set extra_float_digits = 1; "
    "set cursor_tuple_fraction = 1; "
    "set lock_timeout = '10s'; set idle_in_transaction_session_timeout = '60s'; "
    "set search_path = pg_catalog; "
    // A server that crashed, or a standby that was promoted, may give an id again that was given to
    // a transaction it never heard of. After a crash the statistics are new, after a promotion the
    // timeline is.
    "select concat_ws(' ', pg_postmaster_start_time(), stats_reset, case when not "
    "pg_is_in_recovery() then left(pg_walfile_name(pg_current_wal_lsn()), 8) end) "
    "from pg_stat_bgwriter";

static void quiet(void *context, const char *message)
{
    (void)context;
    log_line(LOG_DEBUG, "store", "%s", message);
}

static bool set_up(PgConn *conn)
{
    PQsetNoticeProcessor(conn->pg, quiet, NULL);
    PGresult *result = PQexec(conn->pg, SETTINGS);
    bool is_set = PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == 1;

    if (is_set) {
        snprintf(conn->server_run, sizeof conn->server_run, "%s", PQgetvalue(result, 0, 0));
    }
    PQclear(result);
    return is_set && PQenterPipelineMode(conn->pg);
}

Err *pg_conn_open(PostgresStore *store, PgConn **out)
{
    PgConn *conn = calloc(1, sizeof *conn);

    if (!conn) {
        die("out of memory");
    }
    conn->store = store;
    conn->arena = arena_new(SENT_ARENA_LIMIT);
    conn->pg = pg_connect(store->store->options.url);
    if (PQstatus(conn->pg) != CONNECTION_OK || !set_up(conn)) {
        Err *err = pg_err_lost(conn->pg, "connect");
        pg_conn_close(conn);
        return err;
    }
    *out = conn;
    return NULL;
}

void pg_conn_close(PgConn *conn)
{
    if (!conn) {
        return;
    }
    pg_failure_clear(conn);
    pg_stmt_drop_all(conn);
    PQfinish(conn->pg);
    arena_free(conn->arena);
    free(conn);
}

// The last user may not have waited for the end of its transaction; then nothing must be there to
// read, or the server has gone.
static bool is_alive(PgConn *conn)
{
    if (conn->first_sent && !pg_receive(conn, NULL)) {
        return false;
    }
    struct pollfd poll_for = {.fd = PQsocket(conn->pg), .events = POLLIN};
    return poll(&poll_for, 1, 0) == 0 ||
           (PQconsumeInput(conn->pg) && PQstatus(conn->pg) == CONNECTION_OK);
}

static void show_tables_of(PgConn *conn, const PostgresDb *db)
{
    if (conn->db == db || !db) {
        return;
    }
    // With a sync of its own: the setting survives a rollback of what follows.
    pg_send_control(conn, str_fmt("set search_path to \"%s\"", db->schema).at);
    pg_send_sync(conn);
    conn->db = db;
}

// ---------------------------------------------------------------------------------------------
// Pool

void pg_pool_init(PgPool *pool, int max)
{
    pthread_condattr_t monotonic;

    pthread_mutex_init(&pool->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&pool->free, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pool->max = max > 0 ? max : POOL_MAX;
}

static void idle_remove(PgPool *pool, PgConn *conn)
{
    *(conn->newer_idle ? &conn->newer_idle->older_idle : &pool->newest) = conn->older_idle;
    *(conn->older_idle ? &conn->older_idle->newer_idle : &pool->oldest) = conn->newer_idle;
    conn->newer_idle = conn->older_idle = NULL;
}

static PgConn *idle_of(const PgPool *pool, const PostgresDb *db)
{
    PgConn *conn = pool->newest;

    while (conn && conn->db != db) {
        conn = conn->older_idle;
    }
    return conn;
}

// Waits for a place; *found is an idle connection, or NULL: open one.
static bool place_wait(PgPool *pool, const PostgresDb *db, PgConn **found)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += POOL_WAIT_S;
    for (;;) {
        *found = idle_of(pool, db);
        if (!*found && pool->open < pool->max) {
            pool->open++;
            return true;
        }
        *found = *found ? *found : pool->oldest;
        if (*found) {
            idle_remove(pool, *found);
            return true;
        }
        pool->waiting++;
        int code = pthread_cond_timedwait(&pool->free, &pool->lock, &until);
        pool->waiting--;
        if (code == ETIMEDOUT && !pool->newest && pool->open >= pool->max) {
            return false;
        }
    }
}

static void place_free(PgPool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->open--;
    pthread_cond_signal(&pool->free);
    pthread_mutex_unlock(&pool->lock);
}

Err *pg_pool_take(PostgresStore *store, const PostgresDb *db, PgConn **out)
{
    PgPool *pool = &store->pool;
    PgConn *conn = NULL;

    pthread_mutex_lock(&pool->lock);
    bool has_place = place_wait(pool, db, &conn);
    pthread_mutex_unlock(&pool->lock);
    if (!has_place) {
        return err_text(503, "All %d connections to the database are in use, try again", pool->max);
    }
    if (conn && !is_alive(conn)) {
        pg_conn_close(conn);
        conn = NULL;
    }
    if (!conn) {
        Err *err = pg_conn_open(store, &conn);
        if (err) {
            place_free(pool);
            return err;
        }
    }
    show_tables_of(conn, db);
    *out = conn;
    return NULL;
}

void pg_pool_give(PgConn *conn)
{
    PgPool *pool = &conn->store->pool;

    pg_failure_clear(conn);
    if (conn->is_bad) {
        pg_conn_close(conn);
        place_free(pool);
        return;
    }
    conn->used_ns = clock_ns();
    pthread_mutex_lock(&pool->lock);
    conn->older_idle = pool->newest;
    *(pool->newest ? &pool->newest->newer_idle : &pool->oldest) = conn;
    pool->newest = conn;
    if (pool->waiting) {
        pthread_cond_signal(&pool->free);
    }
    pthread_mutex_unlock(&pool->lock);
}

void pg_pool_end(PgPool *pool)
{
    while (pool->newest) {
        PgConn *conn = pool->newest;
        idle_remove(pool, conn);
        pg_conn_close(conn);
    }
    pthread_cond_destroy(&pool->free);
    pthread_mutex_destroy(&pool->lock);
}
