// Reading records: by id, by side column, by condition.
#include "store/engine.h"

#include "base/die.h"
#include "base/sort.h"
#include "base/uuid.h"

#include <stdlib.h>
#include <string.h>

enum { IDS_AT_ONCE = 500 };

// ---------------------------------------------------------------------------------------------
// One record

typedef struct {
    Tx *tx;
    const Collection *of;
    Known *out;
} OneRow;

static Err *take_row(const Row *row, void *context)
{
    OneRow *one = context;

    *one->out = (Known){row_int(row, 0), str_copy(arena_current(), row_text(row, 1))};
    return NULL;
}

Err *record_read(Tx *tx, const Collection *of, Str id, Known *out)
{
    const Known *known = known_get(tx, of, id);

    *out = (Known){0};
    if (known) {
        *out = *known;
        if (known->pk) {
            return NULL;
        }
    }
    OneRow one = {tx, of, out};
    TRY(sql_rows(tx, shape_of(of)->sql_get, ARGS(A_TEXT(id)), take_row, &one));
    if (out->text.at) {
        known_put(tx, of, id, out->pk, out->text);
    }
    return NULL;
}

// The stored text; at == NULL if there is none. Memory of the transaction or the cache.
static Err *text_read(Tx *tx, const Collection *of, Str id, Str *out)
{
    const RecordSet *set = NULL;
    const Known *known = known_get(tx, of, id);
    Known record = {0};

    if (known) {
        *out = known->text;
        return NULL;
    }
    TRY(record_set(tx, of, &set));
    if (set) {
        known = record_set_record(set, id);
        *out = known ? known->text : (Str){0};
        return NULL;
    }
    TRY(record_read(tx, of, id, &record));
    *out = record.text;
    return NULL;
}

Err *tx_get_text(Tx *tx, const Collection *of, Str id, Str *out)
{
    Str text = {0};

    TRY(text_read(tx, of, str_lower(id), &text));
    *out = text.at ? str_copy(arena_current(), text) : (Str){0};
    return NULL;
}

Err *tx_get(Tx *tx, const Collection *of, Str id, Json **out)
{
    Str text = {0};

    TRY(text_read(tx, of, str_lower(id), &text));
    *out = text.at ? json_parse_stored(text) : NULL;
    return NULL;
}

// Even if it is known: another transaction may have changed it before the lock was had.
static Err *read_with_lock(Tx *tx, const Collection *of, const char *lock, Known *out, Str id)
{
    OneRow one = {tx, of, out};
    Str sql = str_fmt("%s%s", shape_of(of)->sql_get, lock);

    *out = (Known){0};
    TRY(sql_rows(tx, sql.at, ARGS(A_TEXT(id)), take_row, &one));
    if (out->text.at) {
        known_put(tx, of, id, out->pk, out->text);
    } else {
        known_drop(tx, of, id);
    }
    return NULL;
}

Err *record_acquire(Tx *tx, const Collection *of, Str id, bool ends, Known *out)
{
    const Dialect *dialect = tx_dialect(tx);

    return tx_locks_rows(tx)
               ? read_with_lock(tx, of, ends ? dialect->lock_end : dialect->lock_row, out, id)
               : record_read(tx, of, id, out);
}

Err *tx_get_locked(Tx *tx, const Collection *of, Str id, Json **out)
{
    const char *lock = tx_writes(tx) ? tx_dialect(tx)->lock_row : "";
    Known record = {0};

    id = str_lower(id);
    TRY(*lock ? read_with_lock(tx, of, lock, &record, id) : record_read(tx, of, id, &record));
    *out = record.text.at ? json_parse_stored(record.text) : NULL;
    return NULL;
}

static Err *ignore_row(const Row *row, void *context)
{
    (void)row, (void)context;
    return NULL;
}

Err *tx_lock(Tx *tx, const Collection *of, Str id)
{
    const char *lock = tx_writes(tx) ? tx_dialect(tx)->lock_row : "";
    Str sql = str_fmt("select 1 from \"%s\" where id = $1%s", of->table, lock);

    return *lock ? sql_rows(tx, sql.at, ARGS(A_TEXT(str_lower(id))), ignore_row, NULL) : NULL;
}

Str tx_locking(const Tx *tx, const char *aliases)
{
    const char *lock = tx_writes(tx) ? tx_dialect(tx)->lock_row : "";

    return *lock ? str_fmt("%s of %s", lock, aliases) : S("");
}

Err *tx_ref(Tx *tx, const Collection *of, Str id, const Json **out)
{
    const RecordSet *set = NULL;
    Json *own = NULL;

    TRY(record_set(tx, of, &set));
    if (set) {
        *out = record_set_get(set, str_lower(id));
        return NULL;
    }
    TRY(tx_get(tx, of, id, &own));
    *out = own;
    return NULL;
}

// Where one writer has the database alone, and it is the only process, memory knows.
static Err *first_unknown(Tx *tx, const Collection *of, const StrList *ids, Str *missing)
{
    for (size_t i = 0; i < ids->len && !missing->at; i++) {
        const Json *found = NULL;
        TRY(tx_ref(tx, of, ids->at[i], &found));
        *missing = found ? (Str){0} : ids->at[i];
    }
    return NULL;
}

static Err *take_id(const Row *row, void *found)
{
    str_list_add(found, str_copy(arena_current(), row_text(row, 0)));
    return NULL;
}

Err *tx_hold(Tx *tx, const Collection *of, const StrList *ids, Str *missing)
{
    const Dialect *dialect = tx_dialect(tx);
    Buf sql = buf_new(arena_current(), SQL_MAX);
    StrList found = {0}, wanted = {0};

    *missing = (Str){0};
    if (!*dialect->lock_stay || !tx_writes(tx)) {
        return first_unknown(tx, of, ids, missing);
    }
    for (size_t i = 0; i < ids->len; i++) {
        str_list_add(&wanted, str_lower(ids->at[i]));
    }
    if (!wanted.len) {
        return NULL;
    }
    buf_fmt(&sql, "select id from \"%s\" where ", of->table);
    dialect->ids_in(&sql, "id", 1);
    buf_fmt(&sql, " order by id%s", dialect->lock_stay);
    TRY(sql_rows(tx, str_z(buf_str(&sql)), ARGS(A_TEXT(dialect->ids(wanted.at, wanted.len))),
                 take_id, &found));
    for (size_t i = 0; i < wanted.len && !missing->at; i++) {
        *missing = str_list_has(&found, wanted.at[i]) ? (Str){0} : ids->at[i];
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Several records

typedef struct {
    Tx *tx;
    const Collection *of;
    Docs *out;
    size_t cap;
} ManyRows;

static void docs_add(ManyRows *rows, Json *doc)
{
    Docs *out = rows->out;

    out->at = array_room(arena_current(), out->at, out->len, &rows->cap, sizeof *out->at);
    out->at[out->len++] = doc;
}

static Err *take_rows(const Row *row, void *context)
{
    ManyRows *rows = context;
    Str text = row_text(row, 1);
    Json *doc = json_parse_stored(text);

    known_put(rows->tx, rows->of, json_str(doc, "id"), row_int(row, 0), text);
    docs_add(rows, doc);
    return NULL;
}

Err *tx_where(Tx *tx, const Collection *of, const char *where, Args args, Docs *out)
{
    Docs docs = {0};
    ManyRows rows = {tx, of, &docs, 0};
    Str sql = str_fmt("select pk, doc from \"%s\" where %s", of->table, where);

    TRY(sql_rows(tx, sql.at, args, take_rows, &rows));
    *out = docs;
    return NULL;
}

static Err *take_count(const Row *row, void *context)
{
    *(int64_t *)context = row_int(row, 0);
    return NULL;
}

// One value is compared: a list would be unpacked first, which costs more than the look-up.
static Err *rows_where_in(ManyRows *rows, const WhereIn *in)
{
    const Dialect *dialect = tx_dialect(rows->tx);
    bool is_one = in->n == 1;
    Buf sql = buf_new(arena_current(), SQL_MAX);

    buf_fmt(&sql, "select pk, doc from \"%s\" where ", rows->of->table);
    if (is_one) {
        buf_fmt(&sql, "%s = $1", in->column);
    } else {
        dialect->ids_in(&sql, in->column, 1);
    }
    if (in->where) {
        buf_fmt(&sql, " and %s", in->where);
    }
    const char *text = str_z(buf_str(&sql));
    for (size_t i = 0; i < in->n; i += IDS_AT_ONCE) {
        size_t count = in->n - i < IDS_AT_ONCE ? in->n - i : IDS_AT_ONCE;
        Arg some = A_TEXT(is_one ? in->values[0] : dialect->ids(in->values + i, count));
        TRY(sql_rows(rows->tx, text, (Args){&some, 1}, take_rows, rows));
    }
    return NULL;
}

Err *tx_where_in(Tx *tx, const Collection *of, const WhereIn *in, Docs *out)
{
    Docs docs = {0};
    ManyRows rows = {tx, of, &docs, 0};

    TRY(rows_where_in(&rows, in));
    *out = docs;
    return NULL;
}

Err *tx_count_where(Tx *tx, const Collection *of, const char *where, Args args, int64_t *out)
{
    Str sql = str_fmt("select count(*) from \"%s\" where %s", of->table, where);

    return sql_rows(tx, sql.at, args, take_count, out);
}

Err *tx_find(Tx *tx, const Collection *of, const char *column, Str value, Json **out)
{
    const Field *field = field_by_column(of, str_of(column));
    Docs docs = {0};
    ManyRows rows = {tx, of, &docs, 0};

    if (strcmp(column, "id") == 0) {
        return tx_get(tx, of, value, out);
    }
    if (!field || !field_has_column(field)) {
        die("%s has no side column %s", of->table, column);
    }
    Arg arg = key_arg(tx, of, field, field_arg(field, value));
    Str sql = str_fmt("select pk, doc from \"%s\" where \"%s\" = $1%s", of->table, column,
                      field->flags & UNIQUE ? "" : " order by id limit 1");
    TRY(sql_rows(tx, sql.at, (Args){&arg, 1}, take_rows, &rows));
    *out = docs.len ? docs.at[0] : NULL;
    return NULL;
}

// Adds what needs no statement; returns the number of ids left over in `rest`.
static Err *many_from_memory(ManyRows *rows, const Str *ids, size_t n, StrList *rest)
{
    const RecordSet *set = NULL;

    TRY(record_set(rows->tx, rows->of, &set));
    for (size_t i = 0; i < n; i++) {
        Str id = str_lower(ids[i]);
        const Known *known = known_get(rows->tx, rows->of, id);
        if (!known && set) {
            known = record_set_record(set, id);
        }
        if (known) {
            docs_add(rows, json_parse_stored(known->text));
        } else if (!set) {
            str_list_add(rest, id);
        }
    }
    return NULL;
}

static int compare_strs(const void *a, const void *b)
{
    return str_cmp(*(const Str *)a, *(const Str *)b);
}

static size_t strs_unique(Str *at, size_t n)
{
    size_t kept = 0;

    sort_array(at, n, sizeof *at, compare_strs);
    for (size_t i = 0; i < n; i++) {
        if (!kept || !str_eq(at[kept - 1], at[i])) {
            at[kept++] = at[i];
        }
    }
    return kept;
}

static int compare_docs(const void *a, const void *b)
{
    return str_cmp(json_str(*(Json *const *)a, "id"), json_str(*(Json *const *)b, "id"));
}

static int compare_with_id(const void *id, const void *doc)
{
    return str_cmp(*(const Str *)id, json_str(*(Json *const *)doc, "id"));
}

void docs_sort(Docs *docs)
{
    sort_array(docs->at, docs->len, sizeof *docs->at, compare_docs);
}

Json *docs_find(const Docs *docs, Str id)
{
    if (!docs->len || !id.len) {
        return NULL;
    }
    id = str_lower(id);
    Json **found = bsearch(&id, docs->at, docs->len, sizeof *docs->at, compare_with_id);
    return found ? *found : NULL;
}

Err *tx_get_many(Tx *tx, const Collection *of, const Str *ids, size_t n, Docs *out)
{
    Docs docs = {0};
    ManyRows rows = {tx, of, &docs, 0};
    StrList rest = {0};
    Str *unique = NEW_ARRAY(Str, n);

    *out = docs;
    if (!n) {
        return NULL;
    }
    memcpy(unique, ids, n * sizeof *ids);
    n = strs_unique(unique, n);
    TRY(many_from_memory(&rows, unique, n, &rest));
    TRY(rows_where_in(&rows, &(WhereIn){.column = "id", .values = rest.at, .n = rest.len}));
    docs_sort(&docs);
    *out = docs;
    return NULL;
}

Err *tx_get_named(Tx *tx, const Collection *of, const Docs *by, const char *path, Docs *out)
{
    StrList ids = {0};

    for (size_t i = 0; i < by->len; i++) {
        Str id = json_str(by->at[i], path);
        if (uuid_is_uuid_shaped(id)) {
            str_list_add(&ids, str_lower(id));
        }
    }
    return tx_get_many(tx, of, ids.at, ids.len, out);
}
