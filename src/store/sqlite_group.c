// The writer: who has the baton, and one commit for a group of transactions.
//
// A writing transaction takes the baton, does its work inside the writer connection's open
// transaction, and passes the baton on. If somebody waits, that one goes on in the same transaction
// and its last member commits for all; if nobody does, this one commits at once. So a lone writer
// never waits, and many share one sync. Source: spec/engineering.md 3, decision 43.
#include "store/sqlite.h"

#include "base/die.h"
#include "store/faults.h"

enum {
    GROUP_MAX = 64,
};

static const int64_t GROUP_AGE_NS = 2000000; // 2 ms

static const char DISK_FULL[] = "The disk is full; nothing was stored";
static const char COMMIT_FAILED[] = "The data could not be written to the disk; nothing was stored";

// A thread that asks for a writer it already has would wait for itself.
static _Thread_local const SqliteDb *has_writer_of;

// ---------------------------------------------------------------------------------------------
// Group

static SqliteDb *sqlite_db(const Tx *tx)
{
    return tx->db->state;
}

// Wakes the members; from here on their memory is theirs again.
static void members_answer(SqliteDb *db, Tx *members, const char *failed)
{
    pthread_mutex_lock(&db->done_lock);
    for (Tx *tx = members, *next; tx; tx = next) {
        next = tx->next_member;
        tx->failed = failed;
        tx->is_done = true;
    }
    pthread_cond_broadcast(&db->done);
    pthread_mutex_unlock(&db->done_lock);
}

static void group_fail(SqliteDb *db, const char *failed)
{
    Tx *members = db->group.members;

    if (!sqlite3_get_autocommit(db->writer->handle)) {
        conn_run(db->writer, "rollback");
    }
    db->group = (Group){0};
    members_answer(db, members, failed);
}

void group_close(SqliteDb *db)
{
    Group *group = &db->group;
    Tx *members = group->members;
    SqliteStore *store = db->store;

    if (!group->is_open) {
        return;
    }
    if (group->count == 0) {
        group_fail(db, NULL);
        return;
    }
    FAULT_POINT("before-commit");
    int64_t cpu = meter_cpu_begin();
    int code = conn_run(db->writer, "commit");
    meter_cpu_end(store_meter(), cpu);
    FAULT_POINT("after-commit");
    if (code != SQLITE_OK) {
        sqlite_err(db->writer->handle, code, "commit");
        group_fail(db, (code & 0xff) == SQLITE_FULL ? DISK_FULL : COMMIT_FAILED);
        return;
    }
    store->groups++;
    store->commits += (uint64_t)group->count;
    *group = (Group){0};
    db_committed(db->db, members);
    members_answer(db, members, NULL);
    FAULT_POINT("group-answered");
}

// True if the one who ends its turn now commits; else a waiter goes on in the same group. A batch
// does not lengthen a group in which people wait.
static bool group_is_complete(SqliteDb *db)
{
    const Group *group = &db->group;

    if (group->count >= GROUP_MAX || clock_ns() - group->begun_ns >= GROUP_AGE_NS) {
        return true;
    }
    return !baton_is_wanted(&db->baton, QUEUE_INTERACTIVE) &&
           !(group->is_batch && baton_is_wanted(&db->baton, QUEUE_BATCH));
}

static void turn_end(SqliteDb *db)
{
    if (db->group.is_open && group_is_complete(db)) {
        group_close(db);
    }
    has_writer_of = NULL;
    baton_pass(&db->baton);
}

static int turn_begin(SqliteDb *db, const Tx *tx)
{
    Group *group = &db->group;
    int code = SQLITE_OK;

    if (!group->is_open) {
        conn_share_cache(db->writer);
        code = conn_run(db->writer, "begin immediate");
        FAULT_POINT("group-begins");
        if (code == SQLITE_OK) {
            *group = (Group){.is_open = true, .is_batch = true, .begun_ns = clock_ns()};
        }
    } else if (group->count > 0) {
        // The first member needs none: its rollback is the transaction's.
        code = conn_run(db->writer, "savepoint member");
    }
    group->is_batch = group->is_batch && tx->is_batch;
    return code;
}

Err *group_begin(Tx *tx)
{
    SqliteDb *db = sqlite_db(tx);

    if (has_writer_of == db) {
        die("a thread began a second WRITE transaction inside its first");
    }
    checkpoint_let_catch_up(db);
    baton_take(&db->baton, tx->is_batch ? QUEUE_BATCH : QUEUE_INTERACTIVE);
    has_writer_of = db;
    tx->conn = db->writer;
    FAULT_POINT("member-begins");
    int code = turn_begin(db, tx);
    if (code == SQLITE_OK) {
        return NULL;
    }
    Err *err = sqlite_err(db->writer->handle, code, "begin");
    if (db->group.is_open && sqlite3_get_autocommit(db->writer->handle)) {
        group_fail(db, COMMIT_FAILED);
    }
    turn_end(db);
    return err;
}

// The transaction's own end failed or SQLite ended the whole transaction: nobody in the group can
// be told that it is stored.
static void turn_fail(SqliteDb *db, Tx *tx, int code)
{
    if (!tx->failed) {
        sqlite_err(db->writer->handle, code, "end of a member");
        tx->failed = (code & 0xff) == SQLITE_FULL ? DISK_FULL : COMMIT_FAILED;
    }
    group_fail(db, tx->failed);
    turn_end(db);
}

Err *group_commit(Tx *tx)
{
    SqliteDb *db = sqlite_db(tx);
    Group *group = &db->group;
    int code = SQLITE_OK;

    if (!tx->has_ended && group->count > 0) {
        code = conn_run(db->writer, "release member");
    }
    if (code != SQLITE_OK || sqlite3_get_autocommit(db->writer->handle)) {
        turn_fail(db, tx, code);
        return err_text(500, "%s", tx->failed);
    }
    FAULT_POINT("member-released");
    tx->next_member = group->members;
    group->members = tx;
    group->count++;
    turn_end(db);

    pthread_mutex_lock(&db->done_lock);
    while (!tx->is_done) {
        pthread_cond_wait(&db->done, &db->done_lock);
    }
    pthread_mutex_unlock(&db->done_lock);
    return tx->failed ? err_text(500, "%s", tx->failed) : NULL;
}

void group_rollback(Tx *tx)
{
    SqliteDb *db = sqlite_db(tx);
    Group *group = &db->group;
    int code = SQLITE_OK;

    db->store->rollbacks++;
    if (!tx->has_ended && group->count > 0) {
        code = conn_run(db->writer, "rollback to member");
        code = code ? code : conn_run(db->writer, "release member");
    }
    if (code != SQLITE_OK || (group->count > 0 && sqlite3_get_autocommit(db->writer->handle))) {
        turn_fail(db, tx, code);
    } else {
        if (group->count == 0) {
            group_fail(db, NULL); // the only one so far: ends the transaction
        }
        turn_end(db);
    }
}
