// Transactions: they begin in the database with their first statement, and a write ends with the
// answer to its commit.
//
// READ is one snapshot of the whole request. WRITE is read committed under one lock per database:
// what a handler read stays true until it commits, as on the embedded backend. Handlers that lock
// the rows their decisions hang on share that lock, all others have it alone. It is the database's,
// so it holds between nodes; in front of it the others of this process queue at a baton, so that
// those who wait hold no connection.
#include "store/postgres.h"

#include "base/die.h"
#include "base/log.h"

#include <string.h>
#include <time.h>

enum {
    BATON_WAIT_MS = 10000,
    ASK_AGAIN_MS = 250,
    ASK_FOR_S = 10,
};

static const char UNDONE[] = "The transaction was undone; nothing was stored";

// A thread that asks for a writer it already has would wait for itself.
static _Thread_local const PostgresDb *has_writer_of;

static PostgresDb *postgres_db(const Tx *tx)
{
    return tx->db->state;
}

Err *pg_begin(Tx *tx)
{
    PostgresDb *db = postgres_db(tx);

    if (tx->kind != WRITE) {
        tx->replica = tx->not_before_ns ? pg_replica_find(db->store, tx) : NULL;
        tx->lags = tx->replica != NULL;
        return NULL;
    }
    if (has_writer_of == db) {
        die("a thread began a second WRITE transaction inside its first");
    }
    if (!tx->locks_rows && tx->is_batch) {
        baton_take(&db->baton, QUEUE_BATCH);
    } else if (!tx->locks_rows &&
               !baton_take_within(&db->baton, QUEUE_INTERACTIVE, BATON_WAIT_MS)) {
        return err_text(503, "The database is busy, try again");
    }
    has_writer_of = db;
    return NULL;
}

static Err *conn_take(Tx *tx)
{
    PostgresStore *store = postgres_db(tx)->store;
    PgConn *conn = tx->lags ? pg_replica_take(tx) : NULL;

    if (!conn) {
        tx->lags = false;
        store->reads += tx->kind == READ;
        TRY(pg_pool_take(&store->pool, postgres_db(tx), &conn));
    }
    tx->conn = conn;
    return NULL;
}

static void begin_send(Tx *tx, TxKind kind)
{
    PgConn *conn = tx->conn;
    Arg key = A_INT(postgres_db(tx)->lock_key);

    conn->in_transaction = true;
    conn->transaction_id[0] = '\0';
    if (kind != WRITE) {
        pg_send_control(conn, "begin isolation level repeatable read, read only");
        return;
    }
    pg_send_control(conn, "begin");
    if (tx->takes_long) {
        pg_send_control(conn, "set local statement_timeout = 0");
        conn->answer_limit_s = 0;
    }
    pg_send_statement(conn, SENT_BEGIN,
                      tx->locks_rows
                          ? "select pg_advisory_xact_lock_shared($1), pg_current_xact_id()::text"
                          : "select pg_advisory_xact_lock($1), pg_current_xact_id()::text",
                      (Args){&key, 1}, NULL);
}

// Only what a replica answers may be asked again elsewhere.
static Err *ended(const Tx *tx)
{
    Err *err = err_text(500, "%s", tx->failed);

    err->may_repeat = tx->lags;
    return err;
}

Err *pg_tx_start(Tx *tx)
{
    PgConn *conn = tx->conn;

    if (tx->has_ended) {
        return ended(tx);
    }
    if (conn && conn->in_transaction) {
        return NULL;
    }
    if (!conn) {
        TRY(conn_take(tx));
    }
    begin_send(tx, tx->kind);
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Failures

static void undo_send(PgConn *conn)
{
    if (conn->in_transaction && !conn->is_bad) {
        pg_send_control(conn, "rollback");
        pg_send_sync(conn);
        conn->is_bad = conn->is_bad || PQflush(conn->pg) < 0;
    }
    conn->in_transaction = false;
}

// The transaction is over in the database. What the collection says about a broken rule may read;
// it sees the database as it is without this transaction.
static Err *explained(Tx *tx, const Violation *violation, const OnViolation *on)
{
    PgConn *conn = tx->conn;

    begin_send(tx, READ);
    Err *err = on->explain(tx, violation, on);
    undo_send(conn);
    return err;
}

// Another node may have deleted the tenant while this one was at work in it.
static bool schema_is_gone(Tx *tx)
{
    PgConn *conn = tx->conn;
    Arg schema = A_TEXT(str_of(postgres_db(tx)->schema));
    PGresult *last = NULL;

    pg_send_statement(conn, SENT_READ, "select 1 from pg_namespace where nspname = $1",
                      (Args){&schema, 1}, NULL);
    pg_send_sync(conn);
    bool is_gone = pg_receive(conn, &last) && last && PQntuples(last) == 0;
    PQclear(last);
    return is_gone;
}

static Err *failure_tell(Tx *tx)
{
    PgConn *conn = tx->conn;
    Violation violation;
    OnViolation on = conn->failed_sent->on;
    Err *err = NULL;

    if (on.explain && pg_violation(conn->failed, &violation)) {
        on.doc = str_copy(arena_current(), on.doc);
        undo_send(conn);
        tx_forget(tx);
        err = explained(tx, &violation, &on);
    } else {
        bool lacks_table = pg_lacks_table(conn->failed);
        err = pg_err(conn->failed, conn->failed_sent->sql);
        undo_send(conn);
        if (lacks_table && schema_is_gone(tx)) {
            err = err_text(404, "No such tenant " STR_FMT, STR_ARG(tx->db->name));
        }
    }
    undo_send(conn);
    return err;
}

Err *pg_tx_receive(Tx *tx, PGresult **last)
{
    PgConn *conn = tx->conn;

    tx->cost.round_trips++;
    int64_t begun = meter_clock();
    bool is_good = pg_receive(conn, last);
    meter_rest(begun);
    if (is_good) {
        return NULL;
    }
    if (last) {
        PQclear(*last);
        *last = NULL;
    }
    bool is_lost = conn->is_bad || !conn->failed;
    Err *err = is_lost ? pg_err_lost(conn->pg, "answer") : failure_tell(tx);
    if (tx->lags) {
        err->may_repeat = true;
        pg_replica_failed(tx, is_lost);
    }
    tx->has_ended = true;
    tx->failed = UNDONE;
    return err;
}

void pg_tx_undo(Tx *tx)
{
    undo_send(tx->conn);
    tx->has_ended = true;
    tx->failed = UNDONE;
}

Err *pg_tx_flush(Tx *tx)
{
    const PgConn *conn = tx->conn;

    return conn && conn->first_sent && !tx->has_ended ? pg_tx_receive(tx, NULL) : NULL;
}

// ---------------------------------------------------------------------------------------------
// End

static void tx_leave(Tx *tx)
{
    PostgresDb *db = postgres_db(tx);

    if (tx->conn) {
        pg_pool_give(tx->conn);
        tx->conn = NULL;
    }
    if (tx->kind == WRITE) {
        has_writer_of = NULL;
    }
    if (tx->kind == WRITE && !tx->locks_rows) {
        baton_pass(&db->baton);
    }
}

void pg_rollback(Tx *tx)
{
    postgres_db(tx)->store->rollbacks++;
    if (tx->conn) {
        undo_send(tx->conn);
    }
    tx_leave(tx);
}

// Nobody waits for the end of a transaction that wrote nothing.
static void snapshot_end(Tx *tx)
{
    PgConn *conn = tx->conn;

    if (conn && conn->in_transaction && !conn->is_bad) {
        pg_send_control(conn, "commit");
        pg_send_sync(conn);
        conn->in_transaction = false;
        conn->is_bad = conn->is_bad || PQflush(conn->pg) < 0;
    }
}

static void read_end(Tx *tx)
{
    snapshot_end(tx);
    tx_leave(tx);
}

// The next statement begins the new one.
Err *pg_renew(Tx *tx)
{
    snapshot_end(tx);
    return NULL;
}

typedef enum { COMMITTED, ABORTED, UNKNOWN } Fate;

static Fate fate_read(PgConn *conn, const char *transaction_id)
{
    PGresult *last = NULL;
    Arg id = A_TEXT(str_of(transaction_id));
    Fate fate = UNKNOWN;

    pg_send_statement(conn, SENT_READ, "select pg_xact_status($1::text::xid8)", (Args){&id, 1},
                      NULL);
    pg_send_sync(conn);
    if (pg_receive(conn, &last) && last && PQntuples(last) == 1) {
        const char *status = PQgetvalue(last, 0, 0);
        fate = strcmp(status, "committed") == 0 ? COMMITTED
               : strcmp(status, "aborted") == 0 ? ABORTED
                                                : UNKNOWN;
    }
    PQclear(last);
    return fate;
}

// The connection broke while the commit was on its way: the server knows what became of it, as soon
// as it can be asked (decision 49), if it has not been started anew meanwhile.
static Fate fate_ask(const PgConn *lost)
{
    Fate fate = UNKNOWN;
    bool is_same_run = lost->transaction_id[0] != '\0';
    int64_t until_ns = clock_ns() + (int64_t)ASK_FOR_S * 1000000000;

    while (fate == UNKNOWN && is_same_run && clock_ns() < until_ns) {
        PgConn *conn = NULL;
        if (!pg_conn_open(lost->store, &conn)) {
            conn->answer_limit_s = ASK_FOR_S / 2;
            is_same_run = strcmp(conn->server_run, lost->server_run) == 0;
            fate = is_same_run ? fate_read(conn, lost->transaction_id) : UNKNOWN;
            pg_conn_close(conn);
        }
        if (fate == UNKNOWN && is_same_run) {
            nanosleep(&(struct timespec){.tv_nsec = (long)ASK_AGAIN_MS * 1000000}, NULL);
        }
    }
    return fate;
}

static Err *commit_lost(Tx *tx)
{
    PgConn *conn = tx->conn;
    Fate fate = fate_ask(conn);
    Err *err = NULL;

    log_line(LOG_WARN, "store", "the connection broke in a commit; transaction %s %s",
             conn->transaction_id,
             fate == COMMITTED ? "is stored"
             : fate == ABORTED ? "is undone"
                               : "is unknown");
    switch (fate) {
    case COMMITTED:
        return NULL;
    case ABORTED:
        err = err_text(503, "The database was interrupted; nothing was stored, try again");
        err->other_node_may = true;
        return err;
    default:
        return err_text(503,
                        "The database was interrupted; whether the data are stored is not known");
    }
}

static Err *write_commit(Tx *tx)
{
    PgConn *conn = tx->conn;

    if (tx->has_ended) {
        return err_text(500, "%s", tx->failed);
    }
    tx->tells_changes = pg_changes_send(tx);
    pg_send_control(conn, "commit");
    pg_send_sync(conn);
    int64_t cpu = meter_cpu_begin();
    bool is_stored = pg_receive(conn, NULL);
    meter_cpu_end(store_meter(), cpu);
    if (is_stored) {
        conn->in_transaction = false;
        return NULL;
    }
    return conn->failed && !conn->is_bad ? failure_tell(tx) : commit_lost(tx);
}

Err *pg_commit(Tx *tx)
{
    if (!tx->has_changed && !tx->has_ended) {
        read_end(tx);
        return NULL;
    }
    Err *err = tx->conn ? write_commit(tx) : NULL;
    if (!err && tx->conn) {
        postgres_db(tx)->store->commits++;
        tx->next_member = NULL;
        db_committed(tx->db, tx);
        pg_news_tell(postgres_db(tx), tx->tells_changes, tx->has_events);
    } else if (tx->conn) {
        undo_send(tx->conn);
    }
    tx_leave(tx);
    return err;
}
