// The embedded backend's own parts: connections with their statements, the pool of readers, the
// writer's baton and its group, the checkpoint thread.
#pragma once

#include "store/baton.h"
#include "store/tx.h"

#include <sqlite3.h>

typedef struct SqliteDb SqliteDb;
typedef struct SqliteStore SqliteStore;

// ---------------------------------------------------------------------------------------------
// Connections (sqlite_conn_pool.c) and prepared statements (sqlite_stmt_cache.c)

enum {
    STATEMENTS_MAX = 256,
    STATEMENT_BUCKETS = 512,
};

typedef struct Stmt {
    sqlite3_stmt *handle;
    uint64_t hash;
    Str sql; // own copy
    const char *shape;
    bool is_busy;
    bool is_cached;
    bool is_write; // changes the database
    int param_count;
    unsigned short *arg_of; // index in Args of each parameter
    struct Stmt *next_in_bucket;
    struct Stmt *newer, *older;
} Stmt;

typedef struct Conn {
    sqlite3 *handle;
    SqliteDb *owner;
    bool is_bad; // to be closed instead of used again
    // Reads by calls: a page that is mapped may bring megabytes of neighbours from the disk.
    bool is_scattered;
    int64_t used_ns;
    int64_t deadline_ns; // of the statement that reads; 0 = none
    int cache_kib;
    struct Conn *newer, *older; // among the idle readers
    int statement_count;
    Stmt *buckets[STATEMENT_BUCKETS];
    Stmt *newest, *oldest;
} Conn;

typedef enum { CONN_WRITER, CONN_READER, CONN_CHECKPOINT } ConnKind;

WARN_UNUSED Err *conn_open(SqliteDb *db, ConnKind kind, Conn **out);
void conn_close(Conn *conn);
// The file of a writer that builds becomes one like others.
void conn_end_building(Conn *writer);
// The writer's share of the page cache: what all writers have together, divided by the open ones.
void conn_share_cache(Conn *conn);
// Transaction control and pragmas: runs a constant text, gives SQLite's code.
int conn_run(Conn *conn, const char *sql);

// A prepared statement for the text, from the cache if possible; SQLite's code. stmt_put resets it.
int stmt_get(Conn *conn, const char *sql, Stmt **out);
void stmt_put(Conn *conn, Stmt *stmt);
void stmt_drop_all(Conn *conn);

// The client's text for a code: full disk, I/O error, busy, other (logged with details).
Err *sqlite_err(sqlite3 *handle, int code, const char *doing);

// ---------------------------------------------------------------------------------------------
// Readers

typedef struct {
    pthread_mutex_t lock; // guards everything below
    pthread_cond_t free;  // a reader came back or was closed
    int open, max, waiting;
    Conn *newest, *oldest; // idle ones of all databases
} ReaderPool;

void readers_init(ReaderPool *pool, int max);
WARN_UNUSED Err *readers_take(ReaderPool *pool, SqliteDb *db, bool is_scattered, Conn **out);
void readers_give(ReaderPool *pool, Conn *conn);
// Closes idle readers of a database (NULL: of any) that were last used before `before_ns`.
void readers_close_idle(ReaderPool *pool, const SqliteDb *db, int64_t before_ns);
void readers_end(ReaderPool *pool);
int readers_in_use(ReaderPool *pool);

// ---------------------------------------------------------------------------------------------
// Writer

// The open transaction of the writer connection; belongs to whoever has the baton.
typedef struct {
    bool is_open;
    bool is_batch; // batches only
    int count;
    int64_t begun_ns;
    Tx *members; // released their savepoints, wait for the commit
} Group;

struct SqliteDb {
    Db *db;
    SqliteStore *store;
    const char *file;
    pthread_mutex_t lock;  // guards writer (open or not), checkpointer, users, used_ns
    pthread_cond_t unused; // users became 0
    Conn *writer;
    Conn *checkpointer;
    int users; // open transactions
    int64_t used_ns;

    Baton baton;
    Group group;
    pthread_mutex_t done_lock; // guards is_done and failed of waiting members
    pthread_cond_t done;

    _Atomic int wal_frames;        // after the last commit
    _Atomic bool is_reader_in_way; // the log cannot be shortened now: writers need not wait for it

    // Open READ transactions. New ones wait while the gate is closed: only when the log has become
    // long, for at most GATE_MS.
    _Atomic int readers;
    _Atomic bool is_gated;
    pthread_mutex_t gate_lock; // guards the conditions
    pthread_cond_t gate_opened, readers_gone, log_shortened;
    int64_t gate_failed_ns; // the checkpoint thread's
    int checkpoint_code;    // the checkpoint thread's: of the last copy
};

struct SqliteStore {
    Store *store;
    int lock_file;
    const char *vfs;
    int64_t idle_ns;
    ReaderPool readers;
    _Atomic int open_count;
    _Atomic uint64_t commits, groups, rollbacks, checkpoints, wal_bytes_max, syncs_before;

    pthread_t checkpoint_thread;
    pthread_mutex_t checkpoint_lock; // guards is_stopping, is_urgent
    pthread_cond_t checkpoint_wake;
    bool is_stopping;
    bool is_urgent; // a log became long
};

// Closes all its connections if no transaction is open; false if one is.
bool sqlite_db_close_unused(SqliteDb *db);

WARN_UNUSED Err *group_begin(Tx *tx);
WARN_UNUSED Err *group_commit(Tx *tx);
void group_rollback(Tx *tx);
// Commits the open group, if any; the caller has the baton.
void group_close(SqliteDb *db);

void gate_init(SqliteDb *db);
void gate_end(SqliteDb *db);
// A reader enters and leaves.
void gate_enter(SqliteDb *db);
void gate_leave(SqliteDb *db);

// Memory is short: idle readers close, writers forget their statements and pages.
void sqlite_give_back(Store *store);

WARN_UNUSED Err *checkpoint_start(SqliteStore *store);
void checkpoint_stop(SqliteStore *store);
// After a commit: the log has so many frames.
void checkpoint_note(SqliteDb *db, int frames);
// Before a writer asks for the baton: waits a moment while the log is much too long and is being
// shortened.
void checkpoint_let_catch_up(SqliteDb *db);

// ---------------------------------------------------------------------------------------------
// Others

// Settings of the library, before its first use.
void sqlite_start(void);
// Our file layer over another one (NULL: the system's), made on first use; its name. One that does
// not sync is for databases that are worth nothing until they are complete.
const char *vfs_over(const char *below, const char *name, bool syncs);
uint64_t vfs_syncs(void); // of all our layers

WARN_UNUSED Err *sqlite_rows(Tx *tx, const char *sql, Args args, Err *(*each)(const Row *, void *),
                             void *context);
WARN_UNUSED Err *sqlite_exec(Tx *tx, const char *sql, Args args, int64_t *changed,
                             const OnViolation *on);
void sqlite_facts(Store *store, StoreFacts *facts);
WARN_UNUSED Err *sqlite_table_columns(Tx *tx, const char *table, StrList *columns);
WARN_UNUSED Err *sqlite_note_coarse(Tx *tx, const char *table, const StrList *indexes);
void sqlite_walk_index(Buf *sql, const char *index);
WARN_UNUSED Err *sqlite_sorts(Tx *tx, const char *sql, Args args, bool *out);
WARN_UNUSED Err *sqlite_plan(Tx *tx, const char *sql, Str *out);
Str sqlite_row_text(const Row *row, int column);
int64_t sqlite_row_int(const Row *row, int column);
double sqlite_row_real(const Row *row, int column);
bool sqlite_row_is_null(const Row *row, int column);

WARN_UNUSED Err *sqlite_words_write(Tx *tx, const Collection *of, int64_t pk, const Str *old,
                                    const Str *now, size_t n);
WARN_UNUSED Err *sqlite_words_make(Tx *tx, const Collection *of, const char *const *columns,
                                   size_t n);
WARN_UNUSED Err *sqlite_words_drop(Tx *tx, const char *table);
void sqlite_words_match(Buf *sql, const char *table, const char *column, int n,
                        bool has_alternative);
Str sqlite_words_query(const char *column, int operator_, const Str *words, const bool *is_prefix,
                       size_t n);
