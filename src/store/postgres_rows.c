// Running statements and reading their rows. All values travel as text.
#include "store/postgres.h"

#include <stdlib.h>
#include <string.h>

enum {
    SENT_MAX = 1000, // statements on their way before their answers are taken
    SENT_BYTES_MAX = 8 * 1024 * 1024,
    ROWS_OF_FETCH = 500,
};

typedef struct {
    const PGresult *result;
    int at;
} Cursor;

static bool is_read(const char *sql)
{
    return strncmp(sql, "select ", 7) == 0 || strncmp(sql, "with ", 5) == 0;
}

static Err *rows_walk(Tx *tx, const PGresult *result, Err *(*each)(const Row *, void *),
                      void *context)
{
    Cursor cursor = {result, 0};
    Row row = {tx->backend, &cursor};

    for (int n = PQntuples(result); cursor.at < n; cursor.at++) {
        tx->cost.rows_read++;
        TRY(each(&row, context));
        if (arena_is_over_limit(arena_current())) {
            return err_text(413, "The answer is too large");
        }
    }
    return NULL;
}

// A write that waits for nobody took no time yet: the next answer brings its own.
static void statement_count(const Tx *tx, const char *sql, MeterMark begun, int64_t rows)
{
    if (begun.ns) {
        statement_ended(tx, statement_shape(str_of(sql)), begun, rows);
    }
}

Err *pg_rows(Tx *tx, const char *sql, Args args, Err *(*each)(const Row *, void *), void *context)
{
    PGresult *result = NULL;
    const PGresult *answer = NULL;
    MeterMark begun = meter_mark();

    TRY(pg_ask(tx, sql, args, &answer));
    if (answer) {
        Err *kept = rows_walk(tx, answer, each, context);
        statement_count(tx, sql, begun, PQntuples(answer));
        return kept;
    }
    TRY(pg_tx_start(tx));
    tx->has_changed = tx->has_changed || !is_read(sql);
    tx->has_pending = tx->has_changed; // the commit is a round trip
    if (tx->plans_anew) {
        pg_send_once(tx->conn, sql, args);
    } else {
        pg_send_statement(tx->conn, SENT_READ, sql, args, NULL);
    }
    TRY(pg_tx_receive(tx, &result));
    Err *err = rows_walk(tx, result, each, context);
    statement_count(tx, sql, begun, PQntuples(result));
    PQclear(result);
    return err;
}

// One piece of a cursor's rows; *is_last: nothing is behind it.
static Err *fetch(Tx *tx, Str name, Err *(*each)(const Row *, void *), void *context, bool *is_last)
{
    PGresult *result = NULL;

    pg_send_statement(tx->conn, SENT_READ,
                      str_fmt("fetch %d from " STR_FMT, ROWS_OF_FETCH, STR_ARG(name)).at, NO_ARGS,
                      NULL);
    TRY(pg_tx_receive(tx, &result));
    *is_last = PQntuples(result) < ROWS_OF_FETCH;
    Err *err = rows_walk(tx, result, each, context);
    PQclear(result);
    return err;
}

Err *pg_walk(Tx *tx, const char *sql, Args args, Err *(*each)(const Row *, void *), void *context)
{
    Str name = str_fmt("walk%d", ++tx->walks);
    bool is_last = false;
    Err *err = pg_tx_start(tx);

    if (!err) {
        Str declare = str_fmt("declare " STR_FMT " no scroll cursor for %s", STR_ARG(name), sql);
        pg_send_statement(tx->conn, SENT_WRITE, declare.at, args, NULL);
    }
    while (!err && !is_last) {
        err = fetch(tx, name, each, context, &is_last);
    }
    // After an error of ours the transaction goes on; after one of the database it has ended.
    if (tx->conn && !tx->has_ended) {
        pg_send_control(tx->conn, str_fmt("close " STR_FMT, STR_ARG(name)).at);
    }
    tx->walks--;
    return err;
}

Err *pg_exec(Tx *tx, const char *sql, Args args, int64_t *changed, const OnViolation *on)
{
    PgConn *conn = NULL;
    PGresult *result = NULL;
    MeterMark begun = meter_mark();

    TRY(pg_tx_start(tx));
    conn = tx->conn;
    tx->has_changed = tx->has_pending = true;
    pg_send_statement(conn, changed ? SENT_READ : SENT_WRITE, sql, args, on);
    if (!changed && conn->sent_count < SENT_MAX && conn->sent_bytes < SENT_BYTES_MAX) {
        statement_count(tx, sql, begun, 0);
        return NULL;
    }
    TRY(pg_tx_receive(tx, &result));
    statement_count(tx, sql, begun, 0);
    if (changed) {
        *changed = atoll(PQcmdTuples(result));
    }
    PQclear(result);
    return NULL;
}

Str pg_row_text(const Row *row, int column)
{
    const Cursor *cursor = row->cursor;

    if (PQgetisnull(cursor->result, cursor->at, column)) {
        return (Str){0};
    }
    return (Str){PQgetvalue(cursor->result, cursor->at, column),
                 (size_t)PQgetlength(cursor->result, cursor->at, column)};
}

int64_t pg_row_int(const Row *row, int column)
{
    const Cursor *cursor = row->cursor;
    const char *text = PQgetvalue(cursor->result, cursor->at, column);

    return text[0] == 't' ? 1 : atoll(text); // true, false
}

double pg_row_real(const Row *row, int column)
{
    const Cursor *cursor = row->cursor;

    return strtod(PQgetvalue(cursor->result, cursor->at, column), NULL);
}

bool pg_row_is_null(const Row *row, int column)
{
    const Cursor *cursor = row->cursor;

    return PQgetisnull(cursor->result, cursor->at, column);
}
