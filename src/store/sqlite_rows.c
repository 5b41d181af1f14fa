// Running statements: binding $n, walking rows, telling what a broken constraint means.
#include "store/sqlite.h"

#include "base/buf.h"
#include "base/die.h"
#include "base/log.h"

#include <string.h>

static int bind_one(sqlite3_stmt *handle, int i, const Arg *arg)
{
    switch (arg->kind) {
    case ARG_TEXT:
        // The values outlive the statement's run; a text of length 0 must not become NULL.
        return sqlite3_bind_text64(handle, i, arg->text.at ? arg->text.at : "", arg->text.len,
                                   SQLITE_STATIC, SQLITE_UTF8);
    case ARG_BLOB:
        return sqlite3_bind_blob64(handle, i, arg->text.at ? arg->text.at : "", arg->text.len,
                                   SQLITE_STATIC);
    case ARG_INT:
        return sqlite3_bind_int64(handle, i, arg->integer);
    case ARG_REAL:
        return sqlite3_bind_double(handle, i, arg->real);
    case ARG_NULL:
        break;
    }
    return sqlite3_bind_null(handle, i);
}

static int bind_all(const Stmt *stmt, Args args)
{
    for (int i = 0; i < stmt->param_count; i++) {
        if (stmt->arg_of[i] >= args.len) {
            die("$%d has no value: %s", stmt->arg_of[i] + 1, stmt->sql.at);
        }
        int code = bind_one(stmt->handle, i + 1, &args.at[stmt->arg_of[i]]);
        if (code != SQLITE_OK) {
            return code;
        }
    }
    return SQLITE_OK;
}

// "UNIQUE constraint failed: item.barcode", "...: t.a, t.b" or "...: index 'name'".
static bool violation_read(const char *message, Violation *violation)
{
    Str rest = str_of(message), part = {0};
    Str prefix = S("UNIQUE constraint failed: ");

    if (!str_starts(rest, prefix)) {
        return false;
    }
    rest = str_copy(arena_current(), str_sub(rest, prefix.len, rest.len));
    *violation = (Violation){0};
    if (str_starts(rest, S("index '"))) {
        violation->index = str_sub(rest, 7, rest.len - 1);
        return true;
    }
    while (str_next(&rest, ',', &part)) {
        part = str_trim(part);
        ptrdiff_t dot = str_find_char(part, '.', 0);
        size_t at = dot < 0 ? 0 : (size_t)dot + 1;
        violation->table = dot < 0 ? violation->table : str_sub(part, 0, (size_t)dot);
        str_list_add(&violation->columns, str_sub(part, at, part.len));
    }
    return true;
}

static Err *statement_failed(Tx *tx, int code, const char *sql)
{
    Conn *conn = tx->conn;
    int kind = code & 0xff;

    if (kind == SQLITE_IOERR || kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB) {
        conn->is_bad = true;
    }
    Err *err = sqlite_err(conn->handle, code, sql);
    // A full disk or an I/O error may have ended the whole transaction (decision 43).
    if (tx->kind == WRITE && sqlite3_get_autocommit(conn->handle)) {
        tx->has_ended = true;
        tx->failed = (kind == SQLITE_FULL) ? "The disk is full; nothing was stored"
                                           : "The disk reports an error; nothing was stored";
    }
    return err;
}

static Err *statement_start(Tx *tx, const char *sql, Args args, Stmt **out)
{
    Conn *conn = tx->conn;

    statement_log(sql, args);
    if (tx->has_ended) {
        return err_text(500, "%s", tx->failed);
    }
    int code = stmt_get(conn, sql, out);
    if (code != SQLITE_OK) {
        return statement_failed(tx, code, sql);
    }
    statement_begins((*out)->shape);
    code = bind_all(*out, args);
    if (code != SQLITE_OK) {
        stmt_put(conn, *out);
        return statement_failed(tx, code, sql);
    }
    tx->has_changed = tx->has_changed || (*out)->is_write;
    return NULL;
}

static Err *row_take(Tx *tx, const Row *row, Err *(*each)(const Row *, void *), void *context)
{
    tx->cost.rows_read++;
    Err *err = each(row, context);
    if (!err && arena_is_over_limit(arena_current())) {
        err = err_text(413, "The answer is too large");
    }
    return err;
}

// A query that never ends would keep its snapshot, and with it the log of the database, for ever
// (decision 42), or everybody who wants to write. 0 = it may take as long as it likes.
static int64_t read_deadline_ns(const Tx *tx)
{
    int64_t limit_ns = tx->db->store->options.read_limit_ms * (int64_t)1000000;

    // The reads of a snapshot together; of a writer, who may have much to do, each.
    return limit_ns ? (tx->kind == READ ? tx->begun_ns : clock_ns()) + limit_ns : 0;
}

Err *sqlite_rows(Tx *tx, const char *sql, Args args, Err *(*each)(const Row *, void *),
                 void *context)
{
    Stmt *stmt = NULL;
    MeterMark begun = meter_mark();
    int64_t rows = 0;
    TRY(statement_start(tx, sql, args, &stmt));
    Row row = {tx->backend, stmt->handle};
    Err *err = NULL;
    int code = SQLITE_ROW;

    Conn *conn = tx->conn;
    int64_t outer_ns = conn->deadline_ns; // of the statement whose row is looked at
    conn->deadline_ns = stmt->is_write ? 0 : read_deadline_ns(tx);
    while (!err && (code = sqlite3_step(stmt->handle)) == SQLITE_ROW) {
        err = row_take(tx, &row, each, context);
        rows++;
    }
    conn->deadline_ns = outer_ns;
    if (!err && code != SQLITE_DONE) {
        err = statement_failed(tx, code, sql);
    }
    statement_ended(tx, stmt->shape, begun, rows);
    tx->cost.steps += sqlite3_stmt_status(stmt->handle, SQLITE_STMTSTATUS_VM_STEP, true);
    stmt_put(conn, stmt);
    return err;
}

Err *sqlite_exec(Tx *tx, const char *sql, Args args, int64_t *changed, const OnViolation *on)
{
    Conn *conn = tx->conn;
    Stmt *stmt = NULL;
    Violation violation;
    bool is_violation = false;
    MeterMark begun = meter_mark();
    TRY(statement_start(tx, sql, args, &stmt));
    Err *err = NULL;
    int code;

    do {
        code = sqlite3_step(stmt->handle);
    } while (code == SQLITE_ROW);
    if (on && (code & 0xff) == SQLITE_CONSTRAINT) {
        is_violation = violation_read(sqlite3_errmsg(conn->handle), &violation);
    }
    if (code != SQLITE_DONE) {
        err = is_violation ? NULL : statement_failed(tx, code, sql);
    } else {
        tx->last_pk = sqlite3_last_insert_rowid(conn->handle);
        if (changed) {
            *changed = sqlite3_changes64(conn->handle);
        }
    }
    statement_ended(tx, stmt->shape, begun, 0);
    stmt_put(conn, stmt);
    return is_violation ? on->explain(tx, &violation, on) : err;
}

// The bytes as stored, without the NUL that sqlite3_column_text would have to copy for.
Str sqlite_row_text(const Row *row, int column)
{
    sqlite3_stmt *handle = row->cursor;

    if (sqlite3_column_type(handle, column) == SQLITE_NULL) {
        return (Str){0};
    }
    const char *at = sqlite3_column_blob(handle, column);
    return (Str){at ? at : "", (size_t)sqlite3_column_bytes(handle, column)};
}

int64_t sqlite_row_int(const Row *row, int column)
{
    return sqlite3_column_int64(row->cursor, column);
}

double sqlite_row_real(const Row *row, int column)
{
    return sqlite3_column_double(row->cursor, column);
}

bool sqlite_row_is_null(const Row *row, int column)
{
    return sqlite3_column_type(row->cursor, column) == SQLITE_NULL;
}
