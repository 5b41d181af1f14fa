// What the server's errors mean for a client, and which rule of ours a statement broke.
#include "store/postgres.h"

#include "base/log.h"

#include <string.h>

typedef struct {
    const char *state; // SQLSTATE or its first letters
    int status;
    const char *text;
} Meaning;

static const char BUSY[] = "The database is busy, try again";
static const char AWAY[] = "The database cannot be reached, try again";

// The first that fits.
static const Meaning meanings[] = {
    {"40001", 503, BUSY},
    {"40P01", 503, BUSY},
    {"55P03", 503, BUSY}, // waited too long for a lock
    {"57014", 503, BUSY}, // took too long
    {"53100", 500, "The disk is full; nothing was stored"},
    {"53300", 503, AWAY}, // too many connections
    {"53", 503, BUSY},
    {"57P", 503, AWAY}, // shuts down, starts up
    {"08", 503, AWAY},
    {"25006", 503, AWAY}, // a standby
    {"58030", 500, "The disk reports an error; nothing was stored"},
    {"54", 413, "The answer or the record is too large"},
    {"3F000", 404, "No such tenant"},
    {"", 500, "Internal error of the database"},
};

static const char *state_of(const PGresult *result)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    return state ? state : "08000"; // libpq's own: the connection broke
}

bool pg_is_conflict(const PGresult *result)
{
    const char *state = state_of(result);
    return strcmp(state, "40001") == 0 || strcmp(state, "40P01") == 0;
}

bool pg_lacks_table(const PGresult *result)
{
    return strcmp(state_of(result), "42P01") == 0;
}

Err *pg_err(const PGresult *result, const char *sql)
{
    const char *state = state_of(result);
    const Meaning *meaning = meanings;

    while (strncmp(state, meaning->state, strlen(meaning->state)) != 0) {
        meaning++;
    }
    log_line(meaning->status == 503 ? LOG_WARN : LOG_ERROR, "store",
             "database error %s (%.200s): %s", state, sql, PQresultErrorMessage(result));
    Err *err = err_text(meaning->status, "%s", meaning->text);
    err->may_repeat = pg_is_conflict(result);
    err->other_node_may = meaning->text == AWAY;
    return err;
}

Err *pg_err_lost(PGconn *pg, const char *doing)
{
    log_line(LOG_ERROR, "store", "the database cannot be reached (%.200s): %s", doing,
             pg ? PQerrorMessage(pg) : "");
    return pg_err_away();
}

Err *pg_err_away(void)
{
    Err *err = err_text(503, "%s", AWAY);

    err->other_node_may = true;
    return err;
}

static Str field(const PGresult *result, int code)
{
    const char *text = PQresultErrorField(result, code);
    return text ? str_copy(arena_current(), str_of(text)) : (Str){"", 0};
}

bool pg_violation(const PGresult *result, Violation *out)
{
    const char *state = state_of(result);
    bool is_unique = strcmp(state, "23505") == 0;

    *out = (Violation){.is_reference = strcmp(state, "23503") == 0};
    if (!is_unique && !out->is_reference) {
        return false;
    }
    out->table = field(result, PG_DIAG_TABLE_NAME);
    out->index = field(result, PG_DIAG_CONSTRAINT_NAME);
    if (is_unique && str_ends(out->index, S("_id_key"))) {
        out->index = (Str){"", 0};
        str_list_add(&out->columns, S("id"));
    }
    return true;
}
