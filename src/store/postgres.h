// The other backend's own parts: connections with their prepared statements, the pipeline that
// statements travel in, the pool that all tenants share, words, errors, news between nodes.
#pragma once

#include "store/baton.h"
#include "store/tx.h"

#include <libpq-fe.h>

typedef struct PgPool PgPool;
typedef struct PostgresDb PostgresDb;
typedef struct PostgresStore PostgresStore;

// ---------------------------------------------------------------------------------------------
// Connections (postgres_conn_pool.c) and prepared statements (postgres_stmt_cache.c)

enum {
    PG_STATEMENTS_MAX = 256,
    PG_STATEMENT_BUCKETS = 512,
};

typedef struct PgStmt {
    uint64_t hash;
    const PostgresDb *db; // whose tables it means
    Str sql;              // own copy
    char name[16];
    int param_count;
    uint64_t used_params; // bit n-1: $n occurs (only looked at for the first 64)
    struct PgStmt *next_in_bucket;
    struct PgStmt *newer, *older;
} PgStmt;

typedef enum {
    SENT_CONTROL, // transaction control, settings
    SENT_PREPARE,
    SENT_WRITE,
    SENT_BEGIN, // the lock of a writer; answers the transaction's id
    SENT_ASKED, // its rows go where `result` says
    SENT_READ,  // somebody waits for its rows
    SENT_SYNC,  // an end of the pipeline: what failed before it is over
} SentKind;

// A message on its way: what its answer means.
typedef struct Sent {
    SentKind kind;
    char name[16]; // of the statement that SENT_PREPARE makes
    uint64_t hash; // and where it is kept
    const char *sql;
    OnViolation on; // explain NULL: none
    PGresult **result;
    struct Sent *next;
} Sent;

typedef struct PgConn {
    PGconn *pg;
    PostgresStore *store;
    PgPool *pool;         // where it belongs; NULL: outside of any
    const PostgresDb *db; // its tables are found without a prefix; NULL: nobody's
    bool is_bad;          // to be closed instead of used again
    bool in_transaction;
    int64_t used_ns;
    int answer_limit_s;      // after that long without an answer it is lost; 0 = never
    char transaction_id[24]; // of the open WRITE transaction, "" = not known
    char server_run[128];    // which run of which server: transaction ids mean nothing elsewhere

    Arena *arena; // of what is on its way
    Sent *first_sent, *last_sent;
    size_t sent_count, sent_bytes;
    PGresult *failed; // the first error since the last sync
    Sent *failed_sent;

    unsigned statement_number;
    int statement_count;
    PgStmt *buckets[PG_STATEMENT_BUCKETS];
    PgStmt *newest, *oldest;
    struct PgConn *newer, *older; // in one of its pool's lists
} PgConn;

// What waits for a server that does not answer.
typedef struct {
    const char *connect_s, *answer_ms; // texts, as libpq takes them
} PgPatience;

extern const PgPatience pg_patience, pg_impatience; // of the database; of a replica

// Without settings and pipeline; look at PQstatus.
PGconn *pg_connect(Str url, const PgPatience *patience);
// A connection of its own to the database, outside the pool.
WARN_UNUSED Err *pg_conn_open(PostgresStore *store, PgConn **out);
void pg_conn_close(PgConn *conn);

typedef struct {
    PgConn *newest, *oldest;
} PgConnList;

struct PgPool {
    PostgresStore *store;
    Str url;
    const PgPatience *patience;
    int wait_s;           // for a free place
    pthread_mutex_t lock; // guards everything below
    pthread_cond_t free;  // a connection came back or was closed
    int open, max, waiting;
    PgConnList idle, used;
    int64_t lost_ns;      // when a connection broke: older idle ones are not used again
    _Atomic bool is_away; // the last attempt to connect failed
};

// Keep-alives are the URL's, or ours.
void pg_pool_init(PgPool *pool, PostgresStore *store, Str url, const PgPatience *patience);
// One that is alive, with the tables of `db` in view (NULL: of none). *out == NULL without an
// error: none is free in a pool where nobody waits.
WARN_UNUSED Err *pg_pool_take(PgPool *pool, const PostgresDb *db, PgConn **out);
void pg_pool_give(PgConn *conn);
// Breaks all connections: who waits for an answer gets an error at once.
void pg_pool_cut(PgPool *pool);
void pg_pool_end(PgPool *pool);

// The prepared statement for the text; *is_new: its Parse message must be sent before it. Makes
// room by forgetting the least recently used one: *forgotten names it, "" = none.
PgStmt *pg_stmt_get(PgConn *conn, const char *sql, bool *is_new, char forgotten[16]);
// The server does not have it; nothing happens if it was forgotten already.
void pg_stmt_drop(PgConn *conn, uint64_t hash, const char *name);
void pg_stmt_drop_all(PgConn *conn);
// Which $1, $2 ... its text has: the planner of queries may leave some out.
void pg_stmt_params(PgStmt *stmt);

// ---------------------------------------------------------------------------------------------
// Pipeline (postgres_pipeline.c): messages are sent without waiting, answers come in order

void pg_send_control(PgConn *conn, const char *sql);
void pg_send_statement(PgConn *conn, SentKind kind, const char *sql, Args args,
                       const OnViolation *on);
// A read that the server plans for these values and forgets (tx_plan_anew).
void pg_send_once(PgConn *conn, const char *sql, Args args);
// Its rows come to *result when answers are taken; the caller clears them.
void pg_send_asked(PgConn *conn, const char *sql, Args args, PGresult **result);
void pg_send_sync(PgConn *conn);
// Takes the answers to all that was sent. *last: rows of the last SENT_READ, to be cleared by the
// caller; may be NULL if nobody reads. After an error the pipeline is usable again, and the
// transaction is not: conn->failed and failed_sent say why until pg_failure_clear.
WARN_UNUSED bool pg_receive(PgConn *conn, PGresult **last);
void pg_failure_clear(PgConn *conn);

// ---------------------------------------------------------------------------------------------
// Transactions (postgres_tx.c)

WARN_UNUSED Err *pg_begin(Tx *tx);
WARN_UNUSED Err *pg_commit(Tx *tx);
void pg_rollback(Tx *tx);
WARN_UNUSED Err *pg_renew(Tx *tx);
// Begins in the database when the first statement comes.
WARN_UNUSED Err *pg_tx_start(Tx *tx);
// Takes all answers; the error of the first that failed in the client's words. Counts a round trip.
WARN_UNUSED Err *pg_tx_receive(Tx *tx, PGresult **last);
WARN_UNUSED Err *pg_tx_flush(Tx *tx);
// Nothing of it is stored; only commit or rollback may follow.
void pg_tx_undo(Tx *tx);

// Reads of one round trip (postgres_together.c). *answer: rows that are here already. An error: the
// statement was sent, or is on its way, and the function that asks shall be called again.
WARN_UNUSED Err *pg_ask(Tx *tx, const char *sql, Args args, const PGresult **answer);
WARN_UNUSED Err *pg_together(Tx *tx, const Read *reads, size_t n);
bool pg_together_pause(Tx *tx, bool pauses);

// ---------------------------------------------------------------------------------------------
// Errors (postgres_errors.c)

// The client's text for a failed statement; its details go to the log.
Err *pg_err(const PGresult *result, const char *sql);
Err *pg_err_lost(PGconn *pg, const char *doing);
// The same, when nothing new is to be logged.
Err *pg_err_away(void);
// True if the work may succeed when it is done again at once (decision 49).
bool pg_is_conflict(const PGresult *result);
bool pg_lacks_table(const PGresult *result);
bool pg_violation(const PGresult *result, Violation *out);

// ---------------------------------------------------------------------------------------------
// Replicas (postgres_replica.c)

typedef struct PgReplicas PgReplicas;

// None if the options name none. Errors: 400 for a URL that is none.
WARN_UNUSED Err *pg_replicas_start(PostgresStore *store);
void pg_replicas_stop(PostgresStore *store);
// A replica that has what the transaction must see; NULL: only the database has.
void *pg_replica_find(const PostgresStore *store, const Tx *tx);
// A connection to the transaction's replica; NULL: it has none to give now.
PgConn *pg_replica_take(const Tx *tx);
// A statement of the transaction failed there, because the connection broke, or for another reason.
void pg_replica_failed(const Tx *tx, bool is_lost);
void pg_replica_figures(const PostgresStore *store, StoreFigures *figures);

// ---------------------------------------------------------------------------------------------
// Others

// News between nodes (postgres_news.c).
typedef struct {
    PostgresStore *store;
    pthread_t thread;
    PGconn *pg; // the thread's; NULL: not connected
    int wake_fd;
    char node[37];
    int64_t look_at_ns; // when all counters are looked at again
    _Atomic bool stops, leads;
} PgNews;

typedef struct {
    char *name;
    int64_t n;
} PgSeen;

WARN_UNUSED Err *pg_news_start(PostgresStore *store);
void pg_news_stop(PostgresStore *store);
// It looks at once whether the database is there.
void pg_news_wake(PostgresStore *store);
// Before a commit: counts what other nodes keep in memory; false if there is nothing to tell.
bool pg_changes_send(Tx *tx);
// After it.
void pg_news_tell(PostgresDb *db, bool has_changes, bool has_events);
bool pg_leads(const Store *store);

struct PostgresDb {
    Db *db;
    PostgresStore *store;
    const char *schema;
    uint64_t hash;                            // of the name
    int64_t lock_key;                         // of the database's advisory lock for writers
    Baton baton;                              // of the writers in this process
    pthread_mutex_t lock;                     // guards users
    pthread_cond_t unused;                    // users became 0
    int users;                                // open transactions
    _Atomic bool tells_changes, tells_events; // what the others are to hear
    PgSeen *seen;                             // counters of changes, the news thread's
    size_t seen_count;
};

struct PostgresStore {
    Store *store;
    PgPool pool;
    PgNews news;
    PgReplicas *replicas; // NULL: none
    _Atomic uint64_t commits, rollbacks, reads;
};

WARN_UNUSED Err *pg_rows(Tx *tx, const char *sql, Args args, Err *(*each)(const Row *, void *),
                         void *context);
WARN_UNUSED Err *pg_walk(Tx *tx, const char *sql, Args args, Err *(*each)(const Row *, void *),
                         void *context);
WARN_UNUSED Err *pg_load(Tx *tx, const struct LoadedRow *rows, size_t n);
WARN_UNUSED Err *pg_exec(Tx *tx, const char *sql, Args args, int64_t *changed,
                         const OnViolation *on);
Str pg_row_text(const Row *row, int column);
int64_t pg_row_int(const Row *row, int column);
double pg_row_real(const Row *row, int column);
bool pg_row_is_null(const Row *row, int column);

WARN_UNUSED Err *pg_words_write(Tx *tx, const Collection *of, int64_t pk, const Str *old,
                                const Str *now, size_t n);
WARN_UNUSED Err *pg_words_make(Tx *tx, const Collection *of, const char *const *columns, size_t n);
Arg pg_words_vector(Str words);
WARN_UNUSED Err *pg_words_drop(Tx *tx, const char *table);
void pg_words_match(Buf *sql, const char *table, const char *column, int n, bool has_alternative);
Str pg_words_query(const char *column, int operator_, const Str *words, const bool *is_prefix,
                   size_t n);
