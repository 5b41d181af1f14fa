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
#include <sys/socket.h>
#include <time.h>

enum {
    POOL_WAIT_S = 5,
    POOL_MAX = 20,
    ANSWER_GRACE_S = 5, // beyond what the server gives a statement itself
};

static const size_t SENT_ARENA_LIMIT = (size_t)256 * 1024 * 1024;

const PgPatience pg_patience = {"5", "10000"}, pg_impatience = {"2", "3000"};

static void quiet(void *context, const char *message)
{
    (void)context;
    log_line(LOG_DEBUG, "store", "%s", message);
}

// The same at the server's end: what a node that is cut off has locked must not stay locked. The
// second is unknown to version 13 and to servers that cannot do it; then the end of the statement
// shows it.
static const char SERVER_NOTICES[] =
    "set tcp_keepalives_idle = 2; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 2; "
    "set tcp_user_timeout = 6000; commit; set client_connection_check_interval = 2000";

// A peer that went without a word is noticed by either end within ten seconds, or three: by what
// was sent and never confirmed, or by asking a silent one. What the URL says wins.
PGconn *pg_connect(Str url, const PgPatience *patience)
{
    const char *const names[] = {"connect_timeout",
                                 "keepalives_idle",
                                 "keepalives_interval",
                                 "keepalives_count",
                                 "tcp_user_timeout",
                                 "application_name",
                                 "dbname",
                                 NULL};
    const char *const values[] = {patience->connect_s, "3",      "2",    "3",
                                  patience->answer_ms, "octavo", url.at, NULL};
    PGconn *pg = PQconnectdbParams(names, values, 1);

    if (PQstatus(pg) == CONNECTION_OK) {
        PQsetNoticeProcessor(pg, quiet, NULL);
        PQclear(PQexec(pg, SERVER_NOTICES));
    }
    return pg;
}

// Settings are statements, not start options: a balancer of connections may refuse those.
static const char SETTINGS[] =
    "set client_encoding = 'UTF8'; set standard_conforming_strings = on; set datestyle = 'ISO'; "
    "set client_min_messages = warning; set jit = off; set extra_float_digits = 1; "
    "set cursor_tuple_fraction = 1; "
    // Estimates of how many match are made from where the first ones stand.
    "set synchronize_seqscans = off; "
    "set idle_in_transaction_session_timeout = '20s'; "
    "set search_path = pg_catalog; "
    // A server that crashed, or a standby that was promoted, may give an id again that was given to
    // a transaction it never heard of. After a crash the statistics are new, after a promotion the
    // timeline is.
    "select concat_ws(' ', pg_postmaster_start_time(), stats_reset, case when not "
    "pg_is_in_recovery() then left(pg_walfile_name(pg_current_wal_lsn()), 8) end) "
    "from pg_stat_bgwriter";

// What is worth nothing until it is complete waits for no disk: whoever builds it ends with a
// commit that does.
static const char BUILDING[] = "set synchronous_commit = off; set maintenance_work_mem = '512MB'";

static bool set_up(PgConn *conn)
{
    const StoreOptions *options = &conn->store->store->options;
    char settings[sizeof SETTINGS + 128];

    snprintf(settings, sizeof settings,
             "set statement_timeout = '%ds'; set lock_timeout = '%ds'; %s",
             options->statement_limit_s, options->lock_limit_s, SETTINGS);
    PGresult *result = PQexec(conn->pg, settings);
    bool is_set = PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == 1;

    if (is_set) {
        snprintf(conn->server_run, sizeof conn->server_run, "%s", PQgetvalue(result, 0, 0));
    }
    PQclear(result);
    if (is_set && conn->store->store->options.is_building) {
        PGresult *building = PQexec(conn->pg, BUILDING);
        is_set = PQresultStatus(building) == PGRES_COMMAND_OK;
        PQclear(building);
    }
    return is_set && PQenterPipelineMode(conn->pg);
}

// How long an answer may take until the server counts as lost; 0: for ever. It ends a statement
// itself before that, if it can.
static int answer_limit_s(const PostgresStore *store)
{
    int limit_s = store->store->options.statement_limit_s;

    return limit_s ? limit_s + ANSWER_GRACE_S : 0;
}

static Err *conn_open(PgPool *pool, PgConn **out)
{
    PgConn *conn = calloc(1, sizeof *conn);

    if (!conn) {
        die("out of memory");
    }
    conn->store = pool->store;
    conn->answer_limit_s = answer_limit_s(pool->store);
    conn->arena = arena_new(SENT_ARENA_LIMIT);
    conn->pg = pg_connect(pool->url, pool->patience);
    if (PQstatus(conn->pg) != CONNECTION_OK || !set_up(conn)) {
        Err *err = pg_err_lost(conn->pg, "connect");
        pg_conn_close(conn);
        return err;
    }
    pool->is_away = false;
    *out = conn;
    return NULL;
}

Err *pg_conn_open(PostgresStore *store, PgConn **out)
{
    return conn_open(&store->pool, out);
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

void pg_pool_init(PgPool *pool, PostgresStore *store, Str url, const PgPatience *patience)
{
    int max = store->store->options.connections;
    pthread_condattr_t monotonic;

    *pool = (PgPool){.store = store, .url = url, .patience = patience, .wait_s = POOL_WAIT_S};
    pthread_mutex_init(&pool->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&pool->free, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pool->max = max > 0 ? max : POOL_MAX;
}

static void list_add(PgConnList *list, PgConn *conn)
{
    conn->newer = NULL;
    conn->older = list->newest;
    *(list->newest ? &list->newest->newer : &list->oldest) = conn;
    list->newest = conn;
}

static void list_remove(PgConnList *list, PgConn *conn)
{
    *(conn->newer ? &conn->newer->older : &list->newest) = conn->older;
    *(conn->older ? &conn->older->newer : &list->oldest) = conn->newer;
    conn->newer = conn->older = NULL;
}

static PgConn *idle_of(const PgPool *pool, const PostgresDb *db)
{
    PgConn *conn = pool->idle.newest;

    while (conn && conn->db != db) {
        conn = conn->older;
    }
    return conn;
}

// Waits for a place; *found is an idle connection, or NULL: open one.
static bool place_wait(PgPool *pool, const PostgresDb *db, PgConn **found)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += pool->wait_s;
    for (;;) {
        *found = idle_of(pool, db);
        if (!*found && pool->open < pool->max) {
            pool->open++;
            return true;
        }
        *found = *found ? *found : pool->idle.oldest;
        if (*found) {
            list_remove(&pool->idle, *found);
            list_add(&pool->used, *found);
            return true;
        }
        pool->waiting++;
        int code = pthread_cond_timedwait(&pool->free, &pool->lock, &until);
        pool->waiting--;
        if (code == ETIMEDOUT && !pool->idle.newest && pool->open >= pool->max) {
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

// Out of the pool's sight before it closes: pg_pool_cut must not meet another's socket.
static void used_close(PgPool *pool, PgConn *conn)
{
    pthread_mutex_lock(&pool->lock);
    list_remove(&pool->used, conn);
    pthread_mutex_unlock(&pool->lock);
    pg_conn_close(conn);
}

// While the database is away nobody waits for it but the thread of news, which tries again and
// again.
static Err *used_open(PgPool *pool, PgConn **out)
{
    PostgresStore *store = pool->store;

    if (pool->is_away) {
        return pg_err_away();
    }
    Err *err = conn_open(pool, out);
    if (err && pool == &store->pool) {
        pool->is_away = true;
        pg_news_wake(store);
    }
    TRY(err);
    (*out)->pool = pool;
    pthread_mutex_lock(&pool->lock);
    list_add(&pool->used, *out);
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

Err *pg_pool_take(PgPool *pool, const PostgresDb *db, PgConn **out)
{
    PgConn *conn = NULL;

    pthread_mutex_lock(&pool->lock);
    bool has_place = place_wait(pool, db, &conn);
    bool is_trusted = conn && conn->used_ns > pool->lost_ns;
    pthread_mutex_unlock(&pool->lock);
    if (!has_place && !pool->wait_s) {
        *out = NULL;
        return NULL;
    }
    if (!has_place) {
        return err_text(503, "All %d connections to the database are in use, try again", pool->max);
    }
    if (conn && !(is_trusted && is_alive(conn))) {
        used_close(pool, conn);
        conn = NULL;
    }
    if (!conn) {
        Err *err = used_open(pool, &conn);
        if (err) {
            place_free(pool);
            return err;
        }
    }
    conn->answer_limit_s = answer_limit_s(pool->store);
    show_tables_of(conn, db);
    *out = conn;
    return NULL;
}

void pg_pool_give(PgConn *conn)
{
    PgPool *pool = conn->pool;

    pg_failure_clear(conn);
    conn->used_ns = clock_ns();
    if (conn->is_bad) {
        // Those that lie idle are most likely lost, too, and each would have to find out.
        pthread_mutex_lock(&pool->lock);
        pool->lost_ns = conn->used_ns;
        pthread_mutex_unlock(&pool->lock);
        used_close(pool, conn);
        place_free(pool);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    list_remove(&pool->used, conn);
    list_add(&pool->idle, conn);
    if (pool->waiting) {
        pthread_cond_signal(&pool->free);
    }
    pthread_mutex_unlock(&pool->lock);
}

static void idle_close(PgPool *pool)
{
    pthread_mutex_lock(&pool->lock);
    for (PgConn *conn; (conn = pool->idle.newest);) {
        list_remove(&pool->idle, conn);
        pool->open--;
        pthread_mutex_unlock(&pool->lock);
        pg_conn_close(conn);
        pthread_mutex_lock(&pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
}

void pg_pool_cut(PgPool *pool)
{
    pthread_mutex_lock(&pool->lock);
    for (PgConn *conn = pool->used.newest; conn; conn = conn->older) {
        shutdown(PQsocket(conn->pg), SHUT_RDWR);
    }
    pthread_mutex_unlock(&pool->lock);
    idle_close(pool);
}

void pg_pool_end(PgPool *pool)
{
    idle_close(pool);
    pthread_cond_destroy(&pool->free);
    pthread_mutex_destroy(&pool->lock);
}
