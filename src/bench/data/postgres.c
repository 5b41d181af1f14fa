// Libraries in a PostgreSQL database: tidied after loading, copied whole by the server itself.
//
// The server copies a database by its files, in seconds, while nobody is connected to it. The role
// must be allowed to make databases.
#include "data.h"

#include <libpq-fe.h>
#include <string.h>

enum { PARAMETERS_MAX = 64 };

static const char PREPARED[] = "_prepared";

static void quiet(void *context, const char *message)
{
    (void)context, (void)message; // catalogues of the server that the role may not vacuum
}

// The parts of the URL, with another database if `name` is not NULL.
static Err *connect_to(Str url, const char *name, PGconn **out)
{
    char *message = NULL;
    PQconninfoOption *options = PQconninfoParse(str_z(url), &message);
    const char *names[PARAMETERS_MAX + 1], *values[PARAMETERS_MAX + 1];
    size_t n = 0;

    if (!options) {
        Err *err = err_text(400, "%s", message ? message : "not enough memory");
        PQfreemem(message);
        return err;
    }
    for (PQconninfoOption *one = options; one->keyword && n < PARAMETERS_MAX; one++) {
        bool is_name = name && strcmp(one->keyword, "dbname") == 0;
        if (is_name || one->val) {
            names[n] = one->keyword;
            values[n++] = is_name ? name : one->val;
        }
    }
    names[n] = values[n] = NULL;
    *out = PQconnectdbParams(names, values, 0);
    PQconninfoFree(options);
    PQsetNoticeProcessor(*out, quiet, NULL);
    if (PQstatus(*out) != CONNECTION_OK) {
        Err *err = err_text(500, "%s", PQerrorMessage(*out));
        PQfinish(*out);
        return err;
    }
    return NULL;
}

static Err *run(PGconn *pg, Str sql)
{
    PGresult *result = PQexec(pg, str_z(sql));
    Err *err = PQresultStatus(result) == PGRES_COMMAND_OK
                   ? NULL
                   : err_text(500, "%s", PQresultErrorMessage(result));

    PQclear(result);
    return err;
}

static Err *run_at(Str url, const char *database, Str sql)
{
    PGconn *pg = NULL;

    TRY(connect_to(url, database, &pg));
    Err *err = run(pg, sql);
    PQfinish(pg);
    return err;
}

Err *postgres_run(Str url, Str schema, Str statements)
{
    PGconn *pg = NULL;
    Str one;

    TRY(connect_to(url, NULL, &pg));
    Err *err = run(pg, str_fmt("set search_path = \"" STR_FMT "\"", STR_ARG(schema)));
    while (!err && str_next(&statements, ';', &one)) {
        err = run(pg, one);
    }
    PQfinish(pg);
    return err;
}

Err *postgres_database_name(Str url, Str *out)
{
    PGconn *pg = NULL;

    TRY(connect_to(url, NULL, &pg));
    *out = str_copy(arena_current(), str_of(PQdb(pg)));
    PQfinish(pg);
    return NULL;
}

Str postgres_url(Str url, Str database)
{
    Str rest = url;
    size_t scheme = (size_t)(str_find(url, S("://"), 0) + 3);
    ptrdiff_t slash = str_find_char(rest, '/', scheme), query = str_find_char(rest, '?', scheme);
    size_t end = query < 0 ? url.len : (size_t)query;
    size_t start = slash < 0 || (size_t)slash > end ? end : (size_t)slash;

    return str_fmt(STR_FMT "/" STR_FMT STR_FMT, STR_ARG(str_sub(url, 0, start)), STR_ARG(database),
                   STR_ARG(str_sub(url, end, url.len)));
}

// Not by force: the owner may not end the work of an autovacuum that is in it, the server does.
Err *postgres_drop(Str url, Str database)
{
    return run_at(url, "postgres",
                  str_fmt("drop database if exists \"" STR_FMT "\"", STR_ARG(database)));
}

Err *postgres_copy(Str url, Str from, Str to)
{
    PGconn *pg = NULL;

    TRY(postgres_drop(url, to));
    TRY(connect_to(url, "postgres", &pg));
    // Before 15 files were all there was.
    const char *strategy = PQserverVersion(pg) >= 150000 ? " strategy file_copy" : "";
    Err *err = run(pg, str_fmt("create database \"" STR_FMT "\" template \"" STR_FMT "\"%s",
                               STR_ARG(to), STR_ARG(from), strategy));
    PQfinish(pg);
    return err;
}

Err *postgres_keep(Str url)
{
    Str name = {0};

    TRY(postgres_database_name(url, &name));
    // The planner knows the tables, and index entries need no look at rows. A commit that waits for
    // the disk, as these do, takes all earlier ones with it.
    TRY(run_at(url, NULL, S("vacuum (analyze, parallel 2)")));
    return postgres_copy(url, name, str_fmt(STR_FMT "%s", STR_ARG(name), PREPARED));
}

Err *postgres_reset(Str url)
{
    Str name = {0};

    TRY(postgres_database_name(url, &name));
    return postgres_copy(url, str_fmt(STR_FMT "%s", STR_ARG(name), PREPARED), name);
}
