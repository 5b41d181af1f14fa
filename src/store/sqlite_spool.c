// A sorted set outside any transaction: a private temporary database that spills to the disk.
#include "store/sqlite.h"

enum {
    SPOOL_CACHE_KIB = 2048,
};

struct Spool {
    sqlite3 *handle;
    sqlite3_stmt *add;
};

static Err *spool_err(Spool *spool, int code)
{
    return sqlite_err(spool->handle, code, "sorting");
}

Err *spool_new(Spool **out)
{
    Spool *spool = NEW(Spool);

    sqlite_start();
    int code = sqlite3_open_v2(
        "", &spool->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_exec(spool->handle,
                            "pragma journal_mode=off; pragma synchronous=off;"
                            "pragma cache_size=-2048; pragma temp_store=file;"
                            "create table spool(pk integer primary key, key blob); begin",
                            NULL, NULL, NULL);
    }
    if (code == SQLITE_OK) {
        code = sqlite3_prepare_v3(spool->handle, "insert into spool(pk, key) values (?1, ?2)", -1,
                                  SQLITE_PREPARE_PERSISTENT, &spool->add, NULL);
    }
    if (code != SQLITE_OK) {
        Err *err = spool_err(spool, code);
        spool_free(spool);
        return err;
    }
    *out = spool;
    return NULL;
}

Err *spool_add(Spool *spool, Str key, bool key_is_null, int64_t pk)
{
    sqlite3_bind_int64(spool->add, 1, pk);
    int code = key_is_null ? sqlite3_bind_null(spool->add, 2)
                           : sqlite3_bind_blob64(spool->add, 2, key.at ? key.at : "", key.len,
                                                 SQLITE_STATIC);
    if (code == SQLITE_OK) {
        code = sqlite3_step(spool->add);
        sqlite3_reset(spool->add);
    }
    return code == SQLITE_DONE ? NULL : spool_err(spool, code);
}

Err *spool_read(Spool *spool, bool descending, int64_t offset, int64_t limit,
                Err *(*each)(int64_t pk, void *context), void *context)
{
    const char *sql =
        descending ? "select pk from spool order by key desc nulls first, pk limit ?2 offset ?1"
                   : "select pk from spool order by key nulls last, pk limit ?2 offset ?1";
    sqlite3_stmt *stmt = NULL;
    Err *err = NULL;

    int code = sqlite3_prepare_v2(spool->handle, sql, -1, &stmt, NULL);
    if (code == SQLITE_OK) {
        sqlite3_bind_int64(stmt, 1, offset);
        sqlite3_bind_int64(stmt, 2, limit);
        while (!err && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
            err = each(sqlite3_column_int64(stmt, 0), context);
        }
    }
    if (!err && code != SQLITE_DONE) {
        err = spool_err(spool, code);
    }
    sqlite3_finalize(stmt);
    return err;
}

void spool_free(Spool *spool)
{
    if (!spool) {
        return;
    }
    sqlite3_finalize(spool->add);
    sqlite3_close(spool->handle);
    spool->add = NULL;
    spool->handle = NULL;
}
