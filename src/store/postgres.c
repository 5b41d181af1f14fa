// The backend for large sites: a PostgreSQL database, one schema per tenant, any number of nodes.
#include "store/engine.h"
#include "store/postgres.h"

#include "base/die.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    DROP_WAIT_S = 10,
    IDS_MAX = 256 * 1024 * 1024,
};

#define OWN_NAME "octavo" // the process's own database; those of tenants are octavo_<name>

// ---------------------------------------------------------------------------------------------
// Store

static Err *store_start(Store *store)
{
    PostgresStore *state = arena_alloc(store->arena, sizeof *state);
    PgConn *conn = NULL;

    if (!PQisthreadsafe()) {
        return err_text(500, "This libpq cannot be used by threads");
    }
    state->store = store;
    store->state = state;
    pg_pool_init(&state->pool, state, store->options.url, &pg_patience);
    // Says at once what is wrong with the URL.
    Err *err = pg_pool_take(&state->pool, NULL, &conn);
    if (err) {
        pg_pool_end(&state->pool);
        return err;
    }
    if (PQserverVersion(conn->pg) < 130000) {
        err = err_text(500, "The database is PostgreSQL %d; 13 or newer is needed",
                       PQserverVersion(conn->pg) / 10000);
    }
    pg_pool_give(conn);
    err = err ? err : pg_news_start(state);
    if (!err && (err = pg_replicas_start(state))) {
        pg_news_stop(state);
    }
    if (err) {
        pg_pool_end(&state->pool);
    }
    return err;
}

static void seen_free(PostgresDb *db)
{
    for (size_t i = 0; i < db->seen_count; i++) {
        free(db->seen[i].name);
    }
    free(db->seen);
}

static void store_end(Store *store)
{
    PostgresStore *state = store->state;

    pg_replicas_stop(state);
    pg_news_stop(state);
    for (size_t i = 0; i < store->db_count; i++) {
        PostgresDb *db = store->dbs[i]->state;
        if (db->users) {
            die("the store was closed while a transaction was open in %s", db->schema);
        }
        seen_free(db);
        pthread_mutex_destroy(&db->lock);
        pthread_cond_destroy(&db->unused);
        pthread_mutex_destroy(&db->baton.lock);
    }
    pg_pool_end(&state->pool);
}

static void figures_read(const Store *store, StoreFigures *figures)
{
    PostgresStore *state = store->state;

    figures->commits = state->commits;
    figures->groups = state->commits;
    figures->rollbacks = state->rollbacks;
    pthread_mutex_lock(&state->pool.lock);
    figures->readers_open = state->pool.open;
    pthread_mutex_unlock(&state->pool.lock);
    figures->databases_open = (int)store->db_count;
    figures->reads = state->reads;
    pg_replica_figures(state, figures);
}

static Err *take_fact(const Row *row, void *context)
{
    StoreFacts *facts = context;

    facts->version = str_copy(arena_current(), row_text(row, 0));
    facts->size_bytes = row_int(row, 1);
    return NULL;
}

static Err *facts_work(Tx *tx, void *facts)
{
    return sql_rows(tx,
                    "select current_setting('server_version'), "
                    "pg_database_size(current_database())",
                    NO_ARGS, take_fact, facts);
}

static void facts_read(Store *store, StoreFacts *facts)
{
    Db *db = NULL;
    Err *err = store ? db_open(store, S(OWN_NAME), false, &db) : NULL;

    if (store && !err) {
        // Without an answer the facts are missing; health says why.
        err = tx_run(db, &(TxOptions){.kind = READ}, facts_work, facts);
    }
    (void)err;
}

// ---------------------------------------------------------------------------------------------
// Databases are schemas

static const char *schema_name(Arena *arena, Str name)
{
    Str schema = str_eq(name, S(OWN_NAME)) ? name : str_fmt(OWN_NAME "_" STR_FMT, STR_ARG(name));

    return str_copy(arena, schema).at;
}

// The same in every process, which str_hash is not: nodes meet at this lock.
static int64_t lock_key_of(const char *schema)
{
    uint64_t hash = 14695981039346656037u;

    for (; *schema; schema++) {
        hash = (hash ^ (unsigned char)*schema) * 1099511628211u;
    }
    return (int64_t)hash;
}

static PostgresDb *db_state_new(Db *db)
{
    PostgresDb *state = arena_alloc(db->store->arena, sizeof *state);

    state->db = db;
    state->store = db->store->state;
    state->schema = schema_name(db->store->arena, db->name);
    state->hash = str_hash(str_of(state->schema));
    state->lock_key = lock_key_of(state->schema);
    baton_init(&state->baton);
    pthread_mutex_init(&state->lock, NULL);
    pthread_cond_init(&state->unused, NULL);
    return state;
}

// Runs statements outside of any tenant's transaction; the last one's rows.
static Err *run_alone(PostgresStore *store, const char *const *sql, Args args, PGresult **last)
{
    PgConn *conn = NULL;

    TRY(pg_pool_take(&store->pool, NULL, &conn));
    for (; *sql; sql++) {
        pg_send_statement(conn, SENT_READ, *sql, args, NULL);
    }
    pg_send_sync(conn);
    Err *err = NULL;
    if (!pg_receive(conn, last)) {
        err = conn->failed ? pg_err(conn->failed, conn->failed_sent->sql)
                           : pg_err_lost(conn->pg, "answer");
    }
    pg_pool_give(conn);
    return err;
}

static Err *schema_exists(const PostgresDb *db, bool *out)
{
    const char *const sql[] = {"select 1 from pg_namespace where nspname = $1", NULL};
    PGresult *last = NULL;

    TRY(run_alone(db->store, sql, ARGS(A_TEXT(str_of(db->schema))), &last));
    *out = PQntuples(last) > 0;
    PQclear(last);
    return NULL;
}

// Several nodes may do it at the same time.
static Err *schema_make(const PostgresDb *db)
{
    const char *const sql[] = {
        "select pg_advisory_xact_lock($1)",
        str_fmt("create schema if not exists \"%s\"", db->schema).at,
        str_fmt("create table if not exists \"%s\".octavo_sequence "
                "(name text collate \"C\" primary key, next bigint not null)",
                db->schema)
            .at,
        str_fmt("create table if not exists \"%s\".octavo_change "
                "(name text collate \"C\" primary key, n bigint not null)",
                db->schema)
            .at,
        NULL,
    };
    PGresult *last = NULL;
    Err *err = run_alone(db->store, sql, ARGS(A_INT(db->lock_key)), &last);

    PQclear(last);
    return err;
}

static Err *db_prepare(Db *db, bool create)
{
    bool exists = false;

    if (!db->state) {
        db->state = db_state_new(db);
    }
    TRY(schema_exists(db->state, &exists));
    if (!exists && !create) {
        return err_text(404, "No such tenant " STR_FMT, STR_ARG(db->name));
    }
    return exists ? NULL : schema_make(db->state);
}

static Err *db_hold(Db *db)
{
    PostgresDb *state = db->state;
    Err *err = NULL;

    pthread_mutex_lock(&state->lock);
    if (db->is_gone) {
        err = err_text(404, "No such tenant " STR_FMT, STR_ARG(db->name));
    }
    state->users += err ? 0 : 1;
    pthread_mutex_unlock(&state->lock);
    return err;
}

static void db_release(Db *db)
{
    PostgresDb *state = db->state;

    pthread_mutex_lock(&state->lock);
    if (--state->users == 0) {
        pthread_cond_broadcast(&state->unused);
    }
    pthread_mutex_unlock(&state->lock);
}

static bool wait_unused(PostgresDb *state)
{
    struct timespec until;
    int code = 0;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += DROP_WAIT_S;
    pthread_mutex_lock(&state->lock);
    while (state->users > 0 && code == 0) {
        code = pthread_cond_timedwait(&state->unused, &state->lock, &until);
    }
    bool is_unused = state->users == 0;
    pthread_mutex_unlock(&state->lock);
    return is_unused;
}

static Err *db_remove(Db *db)
{
    PostgresDb *state = db->state;
    PGresult *last = NULL;

    if (!wait_unused(state)) {
        return err_text(503, "The database " STR_FMT " is in use, try again", STR_ARG(db->name));
    }
    const char *const sql[] = {
        "select pg_advisory_xact_lock($1)",
        str_fmt("drop schema if exists \"%s\" cascade", state->schema).at,
        NULL,
    };
    Err *err = run_alone(state->store, sql, ARGS(A_INT(state->lock_key)), &last);
    PQclear(last);
    return err;
}

// A connection of its own has it, so that it goes with the process.
static Err *lock_take(Db *db, DbLock **lock)
{
    const PostgresDb *state = db->state;
    PgConn *conn = NULL;
    Arg key = A_INT(state->lock_key + 1);

    TRY(pg_conn_open(state->store, &conn));
    pg_send_control(conn, "set lock_timeout = 0");
    pg_send_statement(conn, SENT_READ, "select pg_advisory_lock($1)", (Args){&key, 1}, NULL);
    pg_send_sync(conn);
    if (!pg_receive(conn, NULL)) {
        Err *err = conn->failed ? pg_err(conn->failed, conn->failed_sent->sql)
                                : pg_err_lost(conn->pg, "lock");
        pg_conn_close(conn);
        return err;
    }
    *lock = (DbLock *)conn;
    return NULL;
}

static void lock_give(DbLock *lock)
{
    pg_conn_close((PgConn *)lock);
}

static Err *names_read(Store *store, StrList *names)
{
    const char *const sql[] = {
        "select nspname from pg_namespace where nspname like 'octavo\\_%' order by 1", NULL};
    PGresult *last = NULL;

    TRY(run_alone(store->state, sql, NO_ARGS, &last));
    for (int i = 0; i < PQntuples(last); i++) {
        Str schema = str_of(PQgetvalue(last, i, 0));
        str_list_add(names,
                     str_copy(arena_current(), str_sub(schema, sizeof OWN_NAME, schema.len)));
    }
    PQclear(last);
    return NULL;
}

static Err *backup(Db *db, const char *file)
{
    (void)file;
    return err_text(400,
                    "Databases on a PostgreSQL server are copied with its own tools: "
                    "pg_dump --schema='%s' (one tenant), pg_basebackup (all of it)",
                    ((const PostgresDb *)db->state)->schema);
}

static const Tx *group_members(const Tx *tx)
{
    (void)tx;
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Facts of the live database

static Err *take_name(const Row *row, void *names)
{
    str_list_add(names, str_copy(arena_current(), row_text(row, 0)));
    return NULL;
}

static Err *table_columns(Tx *tx, const char *table, StrList *columns)
{
    return sql_rows(tx,
                    "select attname from pg_attribute a join pg_class c on c.oid = a.attrelid "
                    "join pg_namespace n on n.oid = c.relnamespace "
                    "where n.nspname = current_schema() and c.relname = $1 and a.attnum > 0 "
                    "and not a.attisdropped order by a.attnum",
                    ARGS(A_TEXT(str_of(table))), take_name, columns);
}

static Err *index_names(Tx *tx, const char *table, StrList *names)
{
    return sql_rows(tx,
                    "select i.relname from pg_index x join pg_class i on i.oid = x.indexrelid "
                    "join pg_class c on c.oid = x.indrelid "
                    "join pg_namespace n on n.oid = c.relnamespace "
                    "where n.nspname = current_schema() and c.relname = $1 and not x.indisprimary",
                    ARGS(A_TEXT(str_of(table))), take_name, names);
}

static Err *foreign_keys(Tx *tx, Err *(*each)(const Row *, void *), void *context)
{
    return sql_rows(tx,
                    "select k.conname, c.relname, t.relname, k.convalidated from pg_constraint k "
                    "join pg_class c on c.oid = k.conrelid join pg_class t on t.oid = k.confrelid "
                    "join pg_namespace n on n.oid = k.connamespace "
                    "where k.contype = 'f' and n.nspname = current_schema() order by k.oid",
                    NO_ARGS, each, context);
}

static void ids_in(Buf *sql, const char *column, int n)
{
    buf_fmt(sql, "%s = any(cast($%d as text[]))", column, n);
}

// An array of texts: {"a","b"}.
static Str ids_value(const Str *ids, size_t n)
{
    Buf out = buf_new(arena_current(), IDS_MAX);

    buf_char(&out, '{');
    for (size_t i = 0; i < n; i++) {
        buf_add_z(&out, i ? ",\"" : "\"");
        for (size_t j = 0; j < ids[i].len; j++) {
            if (ids[i].at[j] == '"' || ids[i].at[j] == '\\') {
                buf_char(&out, '\\');
            }
            buf_char(&out, ids[i].at[j]);
        }
        buf_char(&out, '"');
    }
    buf_char(&out, '}');
    return buf_str(&out);
}

// A B-tree takes entries of up to 2,704 bytes.
static void is_cut(Buf *sql, const char *column)
{
    buf_fmt(sql, "octet_length(\"%s\") > %d", column, KEY_BYTES_MAX);
}

static void like(Buf *sql, const char *column, int n)
{
    buf_fmt(sql, "%s like $%d escape '\\'", column, n);
}

const Backend backend_postgres = {
    .name = "postgres",
    .open = store_start,
    .close = store_end,
    .db_open = db_prepare,
    .db_drop = db_remove,
    .db_hold = db_hold,
    .db_release = db_release,
    .db_lock = lock_take,
    .db_unlock = lock_give,
    .db_names = names_read,
    .db_backup = backup,
    .begin = pg_begin,
    .commit = pg_commit,
    .rollback = pg_rollback,
    .renew = pg_renew,
    .rows = pg_rows,
    .walk = pg_walk,
    .load = pg_load,
    .exec = pg_exec,
    .flush = pg_tx_flush,
    .leads = pg_leads,
    .has_many_writers = true,
    .counts_round_trips = true,
    .together = pg_together,
    .together_pause = pg_together_pause,
    .row_text = pg_row_text,
    .row_int = pg_row_int,
    .row_real = pg_row_real,
    .row_is_null = pg_row_is_null,
    .group_members = group_members,
    .words_write = pg_words_write,
    .words_make = pg_words_make,
    .words_drop = pg_words_drop,
    .table_columns = table_columns,
    .index_names = index_names,
    .foreign_keys = foreign_keys,
    .figures = figures_read,
    .facts = facts_read,
    .dialect =
        {
            .ids_in = ids_in,
            .ids = ids_value,
            .like = like,
            .is_cut = is_cut,
            .words = pg_words_match,
            .words_query = pg_words_query,
            .fence = "offset 0",
            .seldom = "",
            .lock_row = " for no key update",
            .lock_end = " for update",
            .lock_stay = " for key share",
            .analyze = "analyze",
            .serial_key = "bigserial primary key",
            .serial_key_once = "bigserial primary key",
            .integer_type = "bigint",
            .real_type = "double precision",
            .text_type = "text collate \"C\"",
        },
};
