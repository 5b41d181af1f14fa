// Prepared statements of one connection, kept by their text; the least recently used one goes
// first.
#include "store/sqlite.h"

#include "base/die.h"

#include <stdlib.h>
#include <string.h>

static void list_remove(Conn *conn, Stmt *stmt)
{
    *(stmt->newer ? &stmt->newer->older : &conn->newest) = stmt->older;
    *(stmt->older ? &stmt->older->newer : &conn->oldest) = stmt->newer;
    stmt->newer = stmt->older = NULL;
}

static void list_push(Conn *conn, Stmt *stmt)
{
    stmt->older = conn->newest;
    *(conn->newest ? &conn->newest->newer : &conn->oldest) = stmt;
    conn->newest = stmt;
}

static void stmt_free(Stmt *stmt)
{
    sqlite3_finalize(stmt->handle);
    free(stmt->arg_of);
    free(stmt);
}

static void cache_remove(Conn *conn, Stmt *stmt)
{
    Stmt **at = &conn->buckets[stmt->hash % STATEMENT_BUCKETS];

    while (*at != stmt) {
        at = &(*at)->next_in_bucket;
    }
    *at = stmt->next_in_bucket;
    list_remove(conn, stmt);
    conn->statement_count--;
}

// Room for one more; a statement in use stays, whatever its age.
static void cache_shrink(Conn *conn)
{
    Stmt *stmt = conn->oldest;

    while (stmt && stmt->is_busy) {
        stmt = stmt->newer;
    }
    if (stmt) {
        cache_remove(conn, stmt);
        stmt_free(stmt);
    }
}

// $1, $2 ... are names to SQLite, numbered by their first appearance (decision 46).
static void params_map(Stmt *stmt)
{
    stmt->param_count = sqlite3_bind_parameter_count(stmt->handle);
    if (stmt->param_count == 0) {
        return;
    }
    stmt->arg_of = calloc((size_t)stmt->param_count, sizeof *stmt->arg_of);
    if (!stmt->arg_of) {
        die("out of memory");
    }
    for (int i = 0; i < stmt->param_count; i++) {
        const char *name = sqlite3_bind_parameter_name(stmt->handle, i + 1);
        int number = name && name[0] == '$' ? atoi(name + 1) : 0;
        if (number < 1 || number > UINT16_MAX) {
            die("parameter %s is not $1, $2 ...: %s", name ? name : "?", stmt->sql.at);
        }
        stmt->arg_of[i] = (unsigned short)(number - 1);
    }
}

static int stmt_new(Conn *conn, Str sql, uint64_t hash, Stmt **out)
{
    Stmt *stmt = calloc(1, sizeof *stmt + sql.len + 1);
    const char *rest = NULL;

    if (!stmt) {
        die("out of memory");
    }
    memcpy(stmt + 1, sql.at, sql.len);
    stmt->sql = (Str){(char *)(stmt + 1), sql.len};
    stmt->hash = hash;
    int code = sqlite3_prepare_v3(conn->handle, stmt->sql.at, (int)sql.len + 1,
                                  SQLITE_PREPARE_PERSISTENT, &stmt->handle, &rest);
    if (code != SQLITE_OK) {
        free(stmt);
        return code;
    }
    if (!stmt->handle || str_trim(str_of(rest)).len) {
        die("not one statement: %s", stmt->sql.at);
    }
    stmt->shape = statement_shape(stmt->sql);
    stmt->is_write = !sqlite3_stmt_readonly(stmt->handle);
    params_map(stmt);
    *out = stmt;
    return SQLITE_OK;
}

int stmt_get(Conn *conn, const char *sql, Stmt **out)
{
    Str text = str_of(sql);
    uint64_t hash = str_hash(text);
    Stmt *stmt = conn->buckets[hash % STATEMENT_BUCKETS];

    while (stmt && !(stmt->hash == hash && str_eq(stmt->sql, text))) {
        stmt = stmt->next_in_bucket;
    }
    if (stmt && !stmt->is_busy) {
        if (conn->newest != stmt) {
            list_remove(conn, stmt);
            list_push(conn, stmt);
        }
        stmt->is_busy = true;
        *out = stmt;
        return SQLITE_OK;
    }
    // A statement that is being stepped right now (a callback asks the same again) gets a twin that
    // does not stay.
    bool is_twin = stmt != NULL;
    int code = stmt_new(conn, text, hash, &stmt);
    if (code != SQLITE_OK) {
        return code;
    }
    stmt->is_busy = true;
    stmt->is_cached = !is_twin;
    if (!is_twin) {
        if (conn->statement_count >= STATEMENTS_MAX) {
            cache_shrink(conn);
        }
        stmt->next_in_bucket = conn->buckets[hash % STATEMENT_BUCKETS];
        conn->buckets[hash % STATEMENT_BUCKETS] = stmt;
        list_push(conn, stmt);
        conn->statement_count++;
    }
    *out = stmt;
    return SQLITE_OK;
}

void stmt_put(Conn *conn, Stmt *stmt)
{
    (void)conn;
    sqlite3_reset(stmt->handle);
    stmt->is_busy = false;
    if (!stmt->is_cached) {
        stmt_free(stmt);
    }
}

void stmt_drop_all(Conn *conn)
{
    while (conn->oldest) {
        Stmt *stmt = conn->oldest;
        cache_remove(conn, stmt);
        stmt_free(stmt);
    }
}
