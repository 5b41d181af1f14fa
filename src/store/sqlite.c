// The embedded backend: one file per tenant in the data directory, opened when it is used and
// closed when it is idle.
#include "store/sqlite.h"

#include "base/die.h"
#include "base/log.h"
#include "store/faults.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    DROP_WAIT_S = 10,
};

static const int64_t IDLE_NS = 60 * (int64_t)1000000000;

// ---------------------------------------------------------------------------------------------
// Store

// Two processes on one directory would each believe to be the only writer.
static Err *dir_lock(SqliteStore *state, Str dir)
{
    const char *file = str_z(str_fmt(STR_FMT "/octavo.lock", STR_ARG(dir)));

    if (mkdir(str_z(dir), 0750) && errno != EEXIST) {
        return err_text(500, "Cannot make the data directory " STR_FMT ": %s", STR_ARG(dir),
                        strerror(errno));
    }
    state->lock_file = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0640);
    if (state->lock_file < 0) {
        return err_text(500, "Cannot open %s: %s", file, strerror(errno));
    }
    if (flock(state->lock_file, LOCK_EX | LOCK_NB)) {
        close(state->lock_file);
        return err_text(500, "Another process uses the data directory " STR_FMT, STR_ARG(dir));
    }
    return NULL;
}

static Err *store_start(Store *store)
{
    SqliteStore *state = arena_alloc(store->arena, sizeof *state);
    int64_t idle_ms = store->options.idle_close_ms;

    state->store = store;
    state->vfs = store->options.is_building ? vfs_over(NULL, "octavo-building", false)
                                            : vfs_over(NULL, "octavo", true);
#ifdef OCTAVO_HOOKS
    state->vfs = store->options.faults ? vfs_over(faults_vfs(), "octavo-faulty", true) : state->vfs;
#endif
    state->idle_ns = idle_ms ? idle_ms * 1000000 : IDLE_NS;
    state->syncs_before = vfs_syncs();
    store->state = state;
    state->lock_file = -1;
    if (store->options.beside_server) {
        readers_init(&state->readers, store->options.readers_max);
        return NULL;
    }
    TRY(dir_lock(state, store->options.dir));
    readers_init(&state->readers, store->options.readers_max);
    Err *err = checkpoint_start(state);
    if (err) {
        readers_end(&state->readers);
        close(state->lock_file);
    }
    return err;
}

static void store_end(Store *store)
{
    SqliteStore *state = store->state;

    if (!store->options.beside_server) {
        checkpoint_stop(state);
    }
    for (size_t i = 0; i < store->db_count; i++) {
        SqliteDb *db = store->dbs[i]->state;
        if (!sqlite_db_close_unused(db)) {
            die("the store was closed while a transaction was open in %s", db->file);
        }
        pthread_mutex_destroy(&db->lock);
        pthread_cond_destroy(&db->unused);
        pthread_mutex_destroy(&db->baton.lock);
        pthread_mutex_destroy(&db->done_lock);
        pthread_cond_destroy(&db->done);
        gate_end(db);
    }
    readers_end(&state->readers);
    if (state->lock_file >= 0) {
        close(state->lock_file);
    }
}

static void figures_read(const Store *store, StoreFigures *figures)
{
    const SqliteStore *state = store->state;

    figures->commits = state->commits;
    figures->groups = state->groups;
    figures->rollbacks = state->rollbacks;
    figures->checkpoints = state->checkpoints;
    figures->wal_bytes_max = state->wal_bytes_max;
    figures->syncs = vfs_syncs() - state->syncs_before;
    figures->databases_open = state->open_count;
    ReaderPool *pool = &((SqliteStore *)store->state)->readers;
    pthread_mutex_lock(&pool->lock);
    figures->readers_open = pool->open;
    pthread_mutex_unlock(&pool->lock);
    figures->readers_in_use = readers_in_use(pool);
}

// ---------------------------------------------------------------------------------------------
// Databases

static SqliteDb *db_state_new(Db *db)
{
    Store *store = db->store;
    SqliteDb *state = arena_alloc(store->arena, sizeof *state);
    size_t size = store->options.dir.len + db->name.len + 5;
    char *file = arena_alloc(store->arena, size);

    snprintf(file, size, STR_FMT "/" STR_FMT ".db", STR_ARG(store->options.dir), STR_ARG(db->name));
    state->db = db;
    state->store = store->state;
    state->file = file;
    pthread_mutex_init(&state->lock, NULL);
    pthread_cond_init(&state->unused, NULL);
    baton_init(&state->baton);
    pthread_mutex_init(&state->done_lock, NULL);
    pthread_cond_init(&state->done, NULL);
    gate_init(state);
    return state;
}

static Err *db_use(SqliteDb *db, bool is_new)
{
    Err *err = NULL;

    pthread_mutex_lock(&db->lock);
    if (db->db->is_gone && !is_new) {
        err = err_text(404, "No such tenant " STR_FMT, STR_ARG(db->db->name));
    } else if (!db->writer && !db->store->store->options.beside_server) {
        err = conn_open(db, CONN_WRITER, &db->writer);
        db->store->open_count += err ? 0 : 1;
    }
    db->users += err ? 0 : 1;
    pthread_mutex_unlock(&db->lock);
    return err;
}

static Err *db_hold(Db *db)
{
    return db_use(db->state, false);
}

static void db_release(Db *db)
{
    SqliteDb *state = db->state;

    pthread_mutex_lock(&state->lock);
    state->users--;
    state->used_ns = clock_ns();
    if (state->users == 0) {
        pthread_cond_broadcast(&state->unused);
    }
    pthread_mutex_unlock(&state->lock);
}

static Err *db_prepare(Db *db, bool create)
{
    const char *file = str_z(
        str_fmt(STR_FMT "/" STR_FMT ".db", STR_ARG(db->store->options.dir), STR_ARG(db->name)));
    bool exists = access(file, F_OK) == 0;

    if (!exists && (!create || db->store->options.beside_server)) {
        return err_text(404, "No such tenant " STR_FMT, STR_ARG(db->name));
    }
    if (!db->state) {
        db->state = db_state_new(db);
    }
    if (exists) {
        return NULL;
    }
    // Make the file now, so that it is there after a restart even if nothing is written.
    TRY(db_use(db->state, true));
    db_release(db);
    return NULL;
}

static void db_close_locked(SqliteDb *db)
{
    // Readers first: the writer as the last one empties and removes the log.
    readers_close_idle(&db->store->readers, db, INT64_MAX);
    if (!db->writer) {
        return;
    }
    conn_close(db->checkpointer);
    db->checkpointer = NULL;
    conn_end_building(db->writer);
    conn_close(db->writer);
    db->writer = NULL;
    db->wal_frames = 0;
    db->store->open_count--;
}

bool sqlite_db_close_unused(SqliteDb *db)
{
    pthread_mutex_lock(&db->lock);
    bool is_unused = db->users == 0;
    if (is_unused) {
        db_close_locked(db);
    }
    pthread_mutex_unlock(&db->lock);
    return is_unused;
}

static bool files_remove(const SqliteDb *db)
{
    static const char *const endings[] = {"", "-wal", "-shm"};
    bool is_gone = true;

    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        const char *file = str_z(str_fmt("%s%s", db->file, endings[i]));
        is_gone = (unlink(file) == 0 || errno == ENOENT) && is_gone;
    }
    return is_gone;
}

static Err *db_remove(Db *db)
{
    SqliteDb *state = db->state;
    struct timespec until;
    int code = 0;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += DROP_WAIT_S;
    pthread_mutex_lock(&state->lock);
    while (state->users > 0 && code == 0) {
        code = pthread_cond_timedwait(&state->unused, &state->lock, &until);
    }
    bool is_unused = state->users == 0;
    bool is_removed = false;
    if (is_unused) {
        db_close_locked(state);
        is_removed = files_remove(state);
    }
    pthread_mutex_unlock(&state->lock);
    if (!is_unused) {
        return err_text(503, "The database " STR_FMT " is in use, try again", STR_ARG(db->name));
    }
    return is_removed ? NULL : err_text(500, "Cannot remove %s", state->file);
}

static Err *names_read(Store *store, StrList *names)
{
    DIR *dir = opendir(str_z(store->options.dir));
    Str ending = S(".db");

    if (!dir) {
        return err_text(500, "Cannot read the data directory: %s", strerror(errno));
    }
    for (struct dirent *entry; (entry = readdir(dir));) {
        Str file = str_of(entry->d_name);
        if (str_ends(file, ending) && !str_eq(file, S("octavo.db"))) {
            str_list_add(names, str_copy(arena_current(), str_sub(file, 0, file.len - ending.len)));
        }
    }
    closedir(dir);
    return NULL;
}

// Written beside its final place and renamed when it is complete and on the disk.
static Err *backup_write(Conn *conn, const char *file)
{
    const char *part = str_z(str_fmt("%s.part", file));
    Stmt *stmt = NULL;

    unlink(part);
    int code = stmt_get(conn, "vacuum into $1", &stmt);
    if (code != SQLITE_OK) {
        return sqlite_err(conn->handle, code, "backup");
    }
    sqlite3_bind_text(stmt->handle, 1, part, -1, SQLITE_STATIC);
    code = sqlite3_step(stmt->handle);
    stmt_put(conn, stmt);
    if (code != SQLITE_DONE) {
        Err *err = sqlite_err(conn->handle, code, "backup");
        unlink(part);
        return err;
    }
    int fd = open(part, O_RDONLY | O_CLOEXEC);
    bool is_safe = fd >= 0 && fsync(fd) == 0 && rename(part, file) == 0;
    if (fd >= 0) {
        close(fd);
    }
    return is_safe ? NULL : err_text(500, "Cannot write %s: %s", file, strerror(errno));
}

static Err *backup(Db *db, const char *file)
{
    SqliteDb *state = db->state;
    Conn *conn = NULL;

    TRY(db_hold(db));
    Err *err = readers_take(&state->store->readers, state, false, &conn);
    if (!err) {
        // The reader may write nothing to this database; the copy is another one.
        sqlite3_exec(conn->handle, "pragma query_only=off", NULL, NULL, NULL);
        err = backup_write(conn, file);
        conn->is_bad = true; // its settings changed
        readers_give(&state->store->readers, conn);
    }
    db_release(db);
    return err;
}

// ---------------------------------------------------------------------------------------------
// Transactions

static Err *read_begin(Tx *tx)
{
    SqliteDb *db = tx->db->state;
    Conn *conn = NULL;

    TRY(readers_take(&db->store->readers, db, tx->is_scattered, &conn));
    gate_enter(db);
    int code = conn_run(conn, "begin");
    if (code != SQLITE_OK) {
        Err *err = sqlite_err(conn->handle, code, "begin");
        conn->is_bad = true;
        gate_leave(db);
        readers_give(&db->store->readers, conn);
        return err;
    }
    tx->conn = conn;
    return NULL;
}

static void read_end(Tx *tx)
{
    SqliteDb *db = tx->db->state;
    Conn *conn = tx->conn;

    if (conn_run(conn, "commit") != SQLITE_OK) {
        conn->is_bad = true;
    }
    tx->conn = NULL;
    gate_leave(db);
    readers_give(&db->store->readers, conn);
}

static Err *read_renew(Tx *tx)
{
    SqliteDb *db = tx->db->state;
    Conn *conn = tx->conn;
    int code = conn_run(conn, "commit");

    gate_leave(db);
    gate_enter(db);
    if (code == SQLITE_OK) {
        code = conn_run(conn, "begin");
    }
    conn->is_bad = conn->is_bad || code != SQLITE_OK;
    return code == SQLITE_OK ? NULL : sqlite_err(conn->handle, code, "begin");
}

static Err *begin(Tx *tx)
{
    if (tx->kind == READ) {
        return read_begin(tx);
    }
    if (tx->db->store->options.beside_server) {
        return err_text(500, "Another process serves the data directory; nothing can be written");
    }
    return group_begin(tx);
}

static Err *commit(Tx *tx)
{
    if (tx->kind == WRITE) {
        return group_commit(tx);
    }
    read_end(tx);
    return NULL;
}

static void rollback(Tx *tx)
{
    if (tx->kind == WRITE) {
        group_rollback(tx);
    } else {
        read_end(tx);
    }
}

static const Tx *group_members(const Tx *tx)
{
    return ((const SqliteDb *)tx->db->state)->group.members;
}

// ---------------------------------------------------------------------------------------------
// Facts of the live database

static Err *take_name(const Row *row, void *names)
{
    str_list_add(names, str_copy(arena_current(), row_text(row, 0)));
    return NULL;
}

Err *sqlite_table_columns(Tx *tx, const char *table, StrList *columns)
{
    return sql_rows(tx, "select name from pragma_table_info($1) order by cid",
                    ARGS(A_TEXT(str_of(table))), take_name, columns);
}

static Err *index_names(Tx *tx, const char *table, StrList *names)
{
    return sql_rows(tx, "select name from pragma_index_list($1) where origin = 'c'",
                    ARGS(A_TEXT(str_of(table))), take_name, names);
}

static void ids_in(Buf *sql, const char *column, int n)
{
    buf_fmt(sql, "%s in (select value from json_each($%d))", column, n);
}

// A JSON array of the texts.
static Str ids_value(const Str *ids, size_t n)
{
    Buf out = buf_new(arena_current(), 256 * 1024 * 1024);

    buf_char(&out, '[');
    for (size_t i = 0; i < n; i++) {
        buf_add_z(&out, i ? "," : "");
        json_write_string(&out, ids[i]);
    }
    buf_char(&out, ']');
    return buf_str(&out);
}

static void like(Buf *sql, const char *column, int n)
{
    buf_fmt(sql, "%s like $%d escape '\\'", column, n);
}

const Backend backend_sqlite = {
    .name = "sqlite",
    .open = store_start,
    .close = store_end,
    .db_open = db_prepare,
    .db_drop = db_remove,
    .db_hold = db_hold,
    .db_release = db_release,
    .db_names = names_read,
    .db_backup = backup,
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
    .renew = read_renew,
    .rows = sqlite_rows,
    .exec = sqlite_exec,
    .row_text = sqlite_row_text,
    .row_int = sqlite_row_int,
    .row_real = sqlite_row_real,
    .row_is_null = sqlite_row_is_null,
    .group_members = group_members,
    .words_write = sqlite_words_write,
    .words_make = sqlite_words_make,
    .words_drop = sqlite_words_drop,
    .table_columns = sqlite_table_columns,
    .index_names = index_names,
    .give_back = sqlite_give_back,
    .note_coarse = sqlite_note_coarse,
    .figures = figures_read,
    .facts = sqlite_facts,
    .plan = sqlite_plan,
    .dialect =
        {
            .ids_in = ids_in,
            .ids = ids_value,
            .like = like,
            .words = sqlite_words_match,
            .words_query = sqlite_words_query,
            .walk_index = sqlite_walk_index,
            .sorts = sqlite_sorts,
            .seldom = "unlikely",
            .lock_row = "",
            .lock_end = "",
            .lock_stay = "",
            .serial_key = "integer primary key",
            .serial_key_once = "integer primary key autoincrement",
            .integer_type = "integer",
            .real_type = "real",
            .text_type = "text",
        },
};
