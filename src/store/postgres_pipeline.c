// Statements in libpq's pipeline mode: sent without waiting for answers, which come in order.
//
// An error makes the server skip everything up to the next sync. Writes travel with the next read
// or the commit, so one round trip carries all that happened since the last one. Source:
// spec/engineering.md 4, 10 (trap 7).
#include "store/postgres.h"

#include "base/die.h"
#include "base/log.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

enum {
    PARAMS_MAX = 65535,
    TEXT_OID = 25,
};

static Sent *sent_add(PgConn *conn, SentKind kind, const char *sql, const OnViolation *on)
{
    Sent *sent = arena_alloc(conn->arena, sizeof *sent);

    *sent = (Sent){.kind = kind, .sql = str_copy(conn->arena, str_of(sql)).at};
    if (on) {
        sent->on = *on;
        sent->on.doc = str_copy(conn->arena, on->doc);
    }
    if (conn->last_sent) {
        conn->last_sent->next = sent;
    } else {
        conn->first_sent = sent;
    }
    conn->last_sent = sent;
    conn->sent_count++;
    return sent;
}

// libpq takes a message whole or says no, which only a broken connection makes it do: the answers
// tell that.
static void sent_check(PgConn *conn, int was_sent)
{
    conn->is_bad = conn->is_bad || !was_sent;
}

void pg_send_control(PgConn *conn, const char *sql)
{
    if (conn->is_bad) {
        return;
    }
    sent_check(conn, PQsendQueryParams(conn->pg, sql, 0, NULL, NULL, NULL, NULL, 0));
    sent_add(conn, SENT_CONTROL, sql, NULL);
}

void pg_send_sync(PgConn *conn)
{
    if (conn->is_bad) {
        return;
    }
    sent_check(conn, PQpipelineSync(conn->pg));
    sent_add(conn, SENT_SYNC, "sync", NULL);
}

static const char *param_text(const Arg *arg)
{
    char number[32];

    switch (arg->kind) {
    case ARG_TEXT:
    case ARG_BLOB:
        return str_copy(scratch_arena(), arg->text.at ? arg->text : S("")).at;
    case ARG_INT:
        snprintf(number, sizeof number, "%lld", (long long)arg->integer);
        return str_copy(scratch_arena(), str_of(number)).at;
    case ARG_REAL:
        snprintf(number, sizeof number, "%.17g", arg->real);
        return str_copy(scratch_arena(), str_of(number)).at;
    case ARG_NULL:
        break;
    }
    return NULL;
}

// Types are the server's to find out from where a parameter stands; only one that stands nowhere
// needs a name.
static const Oid *param_types(const PgStmt *stmt)
{
    Oid *types = arena_alloc_array(scratch_arena(), (size_t)stmt->param_count + 1, sizeof *types);

    for (int i = 0; i < stmt->param_count && i < 64; i++) {
        types[i] = stmt->used_params >> i & 1 ? 0 : TEXT_OID;
    }
    return types;
}

static const char **param_values(PgConn *conn, const PgStmt *stmt, Args args)
{
    size_t n = (size_t)stmt->param_count;

    if (n > args.len || n > PARAMS_MAX) {
        die("$%zu has no value: %s", n, stmt->sql.at);
    }
    const char **values = arena_alloc_array(scratch_arena(), n + 1, sizeof *values);
    for (size_t i = 0; i < n; i++) {
        values[i] = param_text(&args.at[i]);
        conn->sent_bytes += args.at[i].text.len;
    }
    return values;
}

static void prepare_send(PgConn *conn, PgStmt *stmt)
{
    sent_check(conn, PQsendPrepare(conn->pg, stmt->name, stmt->sql.at, stmt->param_count,
                                   param_types(stmt)));
    Sent *sent = sent_add(conn, SENT_PREPARE, stmt->sql.at, NULL);
    memcpy(sent->name, stmt->name, sizeof sent->name);
    sent->hash = stmt->hash;
}

// Statements about tables are run once: nothing is kept of them.
static bool is_ddl(const char *sql)
{
    return strncmp(sql, "create ", 7) == 0 || strncmp(sql, "drop ", 5) == 0 ||
           strncmp(sql, "alter ", 6) == 0 || strncmp(sql, "analyze ", 8) == 0;
}

void pg_send_statement(PgConn *conn, SentKind kind, const char *sql, Args args,
                       const OnViolation *on)
{
    char forgotten[16];
    bool is_new = false;

    if (conn->is_bad) {
        return;
    }
    if (kind != SENT_BEGIN) {
        statement_log(sql, args);
    }
    if (is_ddl(sql)) {
        sent_check(conn, PQsendQueryParams(conn->pg, sql, 0, NULL, NULL, NULL, NULL, 0));
        sent_add(conn, kind, sql, on);
        return;
    }
    PgStmt *stmt = pg_stmt_get(conn, sql, &is_new, forgotten);
    if (forgotten[0]) {
        pg_send_control(conn, str_fmt("deallocate %s", forgotten).at);
    }
    ArenaMark mark = arena_mark(scratch_arena());
    if (is_new) {
        prepare_send(conn, stmt);
    }
    sent_check(conn, PQsendQueryPrepared(conn->pg, stmt->name, stmt->param_count,
                                         param_values(conn, stmt, args), NULL, NULL, 0));
    arena_release(scratch_arena(), mark);
    sent_add(conn, kind, sql, on);
}

void pg_send_once(PgConn *conn, const char *sql, Args args)
{
    PgStmt stmt = {.sql = str_of(sql)};

    if (conn->is_bad) {
        return;
    }
    statement_log(sql, args);
    pg_stmt_params(&stmt);
    ArenaMark mark = arena_mark(scratch_arena());
    sent_check(conn, PQsendQueryParams(conn->pg, sql, stmt.param_count, param_types(&stmt),
                                       param_values(conn, &stmt, args), NULL, NULL, 0));
    arena_release(scratch_arena(), mark);
    sent_add(conn, SENT_READ, sql, NULL);
}

void pg_send_asked(PgConn *conn, const char *sql, Args args, PGresult **result)
{
    pg_send_statement(conn, SENT_ASKED, sql, args, NULL);
    if (conn->last_sent) {
        conn->last_sent->result = result;
    }
}

// ---------------------------------------------------------------------------------------------
// Answers

static void sent_failed(PgConn *conn, Sent *sent, PGresult *result)
{
    if (sent->kind == SENT_PREPARE) {
        pg_stmt_drop(conn, sent->hash, sent->name);
    }
    if (conn->failed || PQresultStatus(result) == PGRES_PIPELINE_ABORTED) {
        PQclear(result);
        return;
    }
    conn->failed = result;
    conn->failed_sent = sent;
}

// Until the next answer is here whole; false if it does not come in time or the connection broke.
// libpq's own functions would wait for ever: for a server that hangs, or a network that lost what
// it had taken over.
static bool answer_wait(PgConn *conn)
{
    int64_t until_ns = clock_ns() + (int64_t)conn->answer_limit_s * 1000000000;
    struct pollfd poll_for = {.fd = PQsocket(conn->pg), .events = POLLIN};

    if (conn->answer_limit_s && PQflush(conn->pg) < 0) {
        return false;
    }
    while (conn->answer_limit_s && PQisBusy(conn->pg)) {
        int64_t left_ms = (until_ns - clock_ns()) / 1000000;
        int ready = left_ms > 0 ? poll(&poll_for, 1, (int)left_ms) : 0;
        if (ready == 0) {
            log_line(LOG_ERROR, "store", "no answer of the database for %d s",
                     conn->answer_limit_s);
            return false;
        }
        if (ready < 0 ? errno != EINTR : !PQconsumeInput(conn->pg)) {
            return false;
        }
    }
    return true;
}

static PGresult *answer_next(PgConn *conn)
{
    return answer_wait(conn) ? PQgetResult(conn->pg) : NULL;
}

// One statement's answer and the NULL behind it; false if the connection is lost.
static bool answer_take(PgConn *conn, Sent *sent, PGresult **last)
{
    PGresult *result = answer_next(conn);

    if (!result) {
        return false;
    }
    ExecStatusType status = PQresultStatus(result);
    if (sent->kind == SENT_SYNC) {
        PQclear(result);
        return status == PGRES_PIPELINE_SYNC;
    }
    bool is_lost = PQstatus(conn->pg) != CONNECTION_OK;
    PGresult *end = is_lost ? NULL : answer_next(conn);
    if (end) {
        PQclear(end);
        PQclear(result);
        return false;
    }
    if (sent->kind == SENT_BEGIN && status == PGRES_TUPLES_OK) {
        snprintf(conn->transaction_id, sizeof conn->transaction_id, "%s", PQgetvalue(result, 0, 1));
    }
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) {
        if (sent->kind == SENT_ASKED) {
            *sent->result = result;
        } else if (sent->kind == SENT_READ && last) {
            PQclear(*last);
            *last = result;
        } else {
            PQclear(result);
        }
        return true;
    }
    sent_failed(conn, sent, result);
    return !is_lost;
}

static Sent *sent_next(PgConn *conn)
{
    Sent *sent = conn->first_sent;

    conn->first_sent = sent->next;
    if (!conn->first_sent) {
        conn->last_sent = NULL;
    }
    return sent;
}

// The connection is lost, or answers what was not asked.
static void give_up(PgConn *conn)
{
    conn->is_bad = true;
    while (conn->first_sent) {
        Sent *sent = sent_next(conn);
        if (sent->kind == SENT_PREPARE) {
            pg_stmt_drop(conn, sent->hash, sent->name);
        }
    }
}

bool pg_receive(PgConn *conn, PGresult **last)
{
    bool has_ended = conn->last_sent && conn->last_sent->kind == SENT_SYNC;

    pg_failure_clear(conn);
    // Not a mere request for answers: only behind a sync does the server know that it waits for us,
    // and ends a transaction that is left alone (idle_in_transaction_session_timeout).
    if (!has_ended) {
        pg_send_sync(conn);
    }
    while (conn->first_sent && !conn->is_bad) {
        if (!answer_take(conn, sent_next(conn), last)) {
            give_up(conn);
        }
    }
    if (conn->is_bad) {
        give_up(conn);
    }
    conn->sent_count = conn->sent_bytes = 0;
    if (!conn->failed) {
        arena_reset(conn->arena);
    }
    return !conn->failed && !conn->is_bad;
}

void pg_failure_clear(PgConn *conn)
{
    if (conn->failed) {
        PQclear(conn->failed);
        conn->failed = NULL;
        conn->failed_sent = NULL;
    }
}
