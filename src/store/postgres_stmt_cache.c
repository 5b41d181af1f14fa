// Prepared statements of one connection, kept by database and text; the least recently used one
// goes first. The server knows them by numbered names.
#include "store/postgres.h"

#include "base/die.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void list_remove(PgConn *conn, PgStmt *stmt)
{
    *(stmt->newer ? &stmt->newer->older : &conn->newest) = stmt->older;
    *(stmt->older ? &stmt->older->newer : &conn->oldest) = stmt->newer;
    stmt->newer = stmt->older = NULL;
}

static void list_push(PgConn *conn, PgStmt *stmt)
{
    stmt->older = conn->newest;
    *(conn->newest ? &conn->newest->newer : &conn->oldest) = stmt;
    conn->newest = stmt;
}

void pg_stmt_params(PgStmt *stmt)
{
    for (size_t i = 0; i + 1 < stmt->sql.len; i++) {
        int n = stmt->sql.at[i] == '$' ? atoi(stmt->sql.at + i + 1) : 0;
        if (n < 1) {
            continue;
        }
        stmt->param_count = n > stmt->param_count ? n : stmt->param_count;
        stmt->used_params |= n <= 64 ? (uint64_t)1 << (n - 1) : 0;
    }
}

static PgStmt *stmt_new(PgConn *conn, Str sql, uint64_t hash)
{
    PgStmt *stmt = calloc(1, sizeof *stmt + sql.len + 1);

    if (!stmt) {
        die("out of memory");
    }
    memcpy(stmt + 1, sql.at, sql.len);
    stmt->sql = (Str){(char *)(stmt + 1), sql.len};
    stmt->hash = hash;
    stmt->db = conn->db;
    snprintf(stmt->name, sizeof stmt->name, "s%u", ++conn->statement_number);
    pg_stmt_params(stmt);
    return stmt;
}

void pg_stmt_drop(PgConn *conn, uint64_t hash, const char *name)
{
    PgStmt **at = &conn->buckets[hash % PG_STATEMENT_BUCKETS];

    while (*at && strcmp((*at)->name, name) != 0) {
        at = &(*at)->next_in_bucket;
    }
    PgStmt *stmt = *at;
    if (!stmt) {
        return;
    }
    *at = stmt->next_in_bucket;
    list_remove(conn, stmt);
    conn->statement_count--;
    free(stmt);
}

PgStmt *pg_stmt_get(PgConn *conn, const char *sql, bool *is_new, char forgotten[16])
{
    Str text = str_of(sql);
    uint64_t hash = str_hash(text) ^ (conn->db ? conn->db->hash : 0);
    PgStmt *stmt = conn->buckets[hash % PG_STATEMENT_BUCKETS];

    forgotten[0] = '\0';
    while (stmt && !(stmt->hash == hash && stmt->db == conn->db && str_eq(stmt->sql, text))) {
        stmt = stmt->next_in_bucket;
    }
    *is_new = stmt == NULL;
    if (stmt) {
        if (conn->newest != stmt) {
            list_remove(conn, stmt);
            list_push(conn, stmt);
        }
        return stmt;
    }
    if (conn->statement_count >= PG_STATEMENTS_MAX) {
        memcpy(forgotten, conn->oldest->name, 16);
        pg_stmt_drop(conn, conn->oldest->hash, conn->oldest->name);
    }
    stmt = stmt_new(conn, text, hash);
    stmt->next_in_bucket = conn->buckets[hash % PG_STATEMENT_BUCKETS];
    conn->buckets[hash % PG_STATEMENT_BUCKETS] = stmt;
    list_push(conn, stmt);
    conn->statement_count++;
    return stmt;
}

void pg_stmt_drop_all(PgConn *conn)
{
    while (conn->oldest) {
        pg_stmt_drop(conn, conn->oldest->hash, conn->oldest->name);
    }
}
