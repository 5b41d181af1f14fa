// What SQLite's planner is told, and what it says: it does not look at the data by itself.
#include "store/sqlite.h"

enum {
    PLAN_STEPS_MAX = 64,
    PLAN_BYTES_MAX = 16 << 10,
};

// The planner takes any index with a value for 10 records; between two it takes the one made last.
// Of the table's size it thinks as if nothing were noted.
#define COARSE_STATISTICS "1048576 10000 1 noskipscan"

static Err *statistics_make(Tx *tx)
{
    StrList columns = {0};

    TRY(sqlite_table_columns(tx, "sqlite_stat1", &columns));
    return columns.len ? NULL : sql_exec(tx, "analyze sqlite_schema", NO_ARGS, NULL, NULL);
}

Err *sqlite_note_coarse(Tx *tx, const char *table, const StrList *indexes)
{
    int64_t forgotten = 0;

    TRY(statistics_make(tx));
    TRY(sql_exec(tx, "delete from sqlite_stat1 where tbl = $1", ARGS(A_TEXT(str_of(table))),
                 &forgotten, NULL));
    for (size_t i = 0; i < indexes->len; i++) {
        TRY(sql_exec(
            tx, "insert into sqlite_stat1 (tbl, idx, stat) values ($1, $2, $3)",
            ARGS(A_TEXT(str_of(table)), A_TEXT(indexes->at[i]), A_TEXT(S(COARSE_STATISTICS))), NULL,
            NULL));
    }
    // Reads them again; other connections do when they read the schema.
    return forgotten || indexes->len ? sql_exec(tx, "analyze sqlite_schema", NO_ARGS, NULL, NULL)
                                     : NULL;
}

void sqlite_walk_index(Buf *sql, const char *index)
{
    buf_fmt(sql, " indexed by \"%s\"", index);
}

static Err *take_step(const Row *row, void *sorts)
{
    *(bool *)sorts = *(bool *)sorts || str_find(row_text(row, 3), S("FOR ORDER BY"), 0) >= 0;
    return NULL;
}

Err *sqlite_sorts(Tx *tx, const char *sql, Args args, bool *out)
{
    *out = false;
    return sql_rows(tx, str_z(str_fmt("explain query plan %s", sql)), args, take_step, out);
}

// Steps name the one they are part of; those without are part of the statement.
static int depth_of(const int *ids, const int *depths, size_t len, int parent)
{
    for (size_t i = len; i-- > 0;) {
        if (ids[i] == parent) {
            return depths[i] + 1;
        }
    }
    return 0;
}

// Not by way of the statements' cache: it counts as none of the program's own.
Err *sqlite_plan(Tx *tx, const char *sql, Str *out)
{
    Conn *conn = tx->conn;
    sqlite3_stmt *handle = NULL;
    int ids[PLAN_STEPS_MAX], depths[PLAN_STEPS_MAX];
    size_t len = 0;
    Buf plan = buf_new(arena_current(), PLAN_BYTES_MAX);
    Str text = str_fmt("explain query plan %s", sql);

    int code = sqlite3_prepare_v2(conn->handle, text.at, (int)text.len, &handle, NULL);
    if (code != SQLITE_OK) {
        return sqlite_err(conn->handle, code, sql);
    }
    while (sqlite3_step(handle) == SQLITE_ROW && len < PLAN_STEPS_MAX) {
        ids[len] = sqlite3_column_int(handle, 0);
        depths[len] = depth_of(ids, depths, len, sqlite3_column_int(handle, 1));
        buf_fmt(&plan, "%s%*s%s", len ? "\n" : "", 2 * depths[len], "",
                (const char *)sqlite3_column_text(handle, 3));
        len++;
    }
    sqlite3_finalize(handle);
    *out = buf_str(&plan);
    return NULL;
}
