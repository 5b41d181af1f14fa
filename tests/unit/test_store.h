// Where a test keeps its store: a folder of its own, or a database of its own when
// OCTAVO_TEST_DATABASE names a PostgreSQL cluster (tests/postgres.py sets it).
#pragma once

#include "store/store.h"
#include "test.h"

#include <ftw.h>
#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline bool test_is_embedded(void)
{
    const char *cluster = getenv("OCTAVO_TEST_DATABASE");
    return !cluster || !*cluster;
}

// The cluster's URL with another database in place of /postgres.
static inline Str test_url(Str database)
{
    Str cluster = str_of(getenv("OCTAVO_TEST_DATABASE"));
    ptrdiff_t at = str_find(cluster, S("/postgres"), sizeof "postgres://" - 1);

    assert_true(at > 0);
    return str_fmt(STR_FMT "/" STR_FMT STR_FMT, STR_ARG(str_sub(cluster, 0, (size_t)at)),
                   STR_ARG(database),
                   STR_ARG(str_sub(cluster, (size_t)at + sizeof "/postgres" - 1, cluster.len)));
}

static inline void test_statement(Str sql)
{
    PGconn *conn = PQconnectdb(getenv("OCTAVO_TEST_DATABASE"));
    PGresult *result = PQexec(conn, str_z(sql));

    if (PQresultStatus(result) != PGRES_COMMAND_OK) {
        fail_msg("%s", PQerrorMessage(conn));
    }
    PQclear(result);
    PQfinish(conn);
}

// The database that belongs to a folder: its last six letters, unlike any other's.
static inline Str test_database(const char *dir)
{
    return str_fmt("t%s_%d", dir + strlen(dir) - 6, (int)getpid());
}

// Fills `dir` ("/tmp/octavo-x-XXXXXX") with the name of a new folder.
static inline void test_store_make(char *dir)
{
    assert_non_null(mkdtemp(dir));
    if (!test_is_embedded()) {
        test_statement(str_fmt("create database \"" STR_FMT "\"", STR_ARG(test_database(dir))));
    }
}

// Options that open what belongs to the folder, as often as a test likes.
static inline StoreOptions test_store_options(const char *dir)
{
    StoreOptions options = {.cache_bytes = 8 << 20, .readers_max = 4};

    if (test_is_embedded()) {
        options.dir = str_of(dir);
    } else {
        options.url = test_url(test_database(dir));
    }
    return options;
}

static inline int test_remove_one(const char *path, const struct stat *st, int kind,
                                  struct FTW *ftw)
{
    (void)st, (void)kind, (void)ftw;
    return remove(path);
}

// After the store is closed.
static inline void test_store_remove(const char *dir)
{
    nftw(dir, test_remove_one, 8, FTW_DEPTH | FTW_PHYS);
    if (!test_is_embedded()) {
        test_statement(
            str_fmt("drop database \"" STR_FMT "\" with (force)", STR_ARG(test_database(dir))));
    }
}

// For what only the embedded database does: its files, its groups.
#define only_embedded()                                                                            \
    do {                                                                                           \
        if (!test_is_embedded()) {                                                                 \
            skip_because("it is about the files of the embedded database");                        \
        }                                                                                          \
    } while (0)
