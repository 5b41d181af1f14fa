// References: that what a record names exists, and that nothing names what is deleted.
//
// A database that keeps foreign keys sees to it itself, between tables that are complete. Else
// cached collections are looked up in memory, all others in one statement. Source: decision 48.
#include "store/engine.h"

#include <string.h>

typedef struct {
    size_t count;
    bool *found;
} FoundRow;

static Err *take_found(const Row *row, void *context)
{
    FoundRow *found = context;

    for (size_t i = 0; i < found->count; i++) {
        found->found[i] = row_int(row, (int)i) != 0;
    }
    return NULL;
}

// Both tables have been complete since before anybody could write: see foreign_keys.c.
static Err *is_kept(Tx *tx, const Collection *of, const Collection *target, bool *out)
{
    TableState state = {0};

    *out = tx_keeps_references(tx);
    if (*out) {
        TRY(table_state(tx, of, &state));
        *out = state.is_ready;
    }
    if (*out) {
        TRY(table_state(tx, target, &state));
        *out = state.is_ready;
    }
    return NULL;
}

typedef struct {
    const Collection *of;
    const Json *old, *doc;
} Checked;

// The value to look up, "" if there is nothing to check: absent, unchanged, or known to exist.
static Err *reference_to_check(Tx *tx, const Checked *checked, const Field *field, Str *out)
{
    const Json *old = checked->old;
    Str text = field_text(field, checked->doc);
    const RecordSet *set = NULL;
    TableState state;
    bool is_database_s = false;

    *out = (Str){0};
    if (!text.at) {
        return NULL;
    }
    Str value = str_lower(text);
    if (old && str_eq(value, str_lower(field_text(field, old)))) {
        return NULL;
    }
    TRY(is_kept(tx, checked->of, field->references, &is_database_s));
    if (is_database_s || known_get(tx, field->references, value)) {
        return NULL;
    }
    TRY(table_state(tx, field->references, &state));
    if (!state.exists) {
        return NULL; // its module is not enabled for this tenant
    }
    TRY(record_set(tx, field->references, &set));
    if (set && record_set_get(set, value)) {
        return NULL;
    }
    *out = value;
    return NULL;
}

Err *references_check(Tx *tx, const Shape *shape, const Json *old, const Json *doc)
{
    const Checked checked = {shape->of, old, doc};
    const Field *fields[COLUMNS_MAX];
    Arg args[COLUMNS_MAX];
    bool found[COLUMNS_MAX] = {false};
    size_t n = 0;
    Buf sql = buf_new(arena_current(), SQL_MAX);

    for (size_t i = 0; i < shape->reference_count; i++) {
        const Field *field = shape->references[i];
        Str value;
        TRY(reference_to_check(tx, &checked, field, &value));
        if (!value.at) {
            continue;
        }
        fields[n] = field;
        args[n] = A_TEXT(value);
        n++;
        buf_fmt(&sql, "%s case when exists(select 1 from \"%s\" where id = $%zu) then 1 else 0 end",
                n == 1 ? "select" : ",", field->references->table, n);
    }
    if (!n) {
        return NULL;
    }
    FoundRow row = {n, found};
    TRY(sql_rows(tx, str_z(buf_str(&sql)), (Args){args, n}, take_found, &row));
    for (size_t i = 0; i < n; i++) {
        if (!found[i]) {
            return conflict_reference(tx, shape->of, fields[i], args[i].text, doc);
        }
    }
    return NULL;
}

Err *references_in_use(Tx *tx, const Shape *shape, Str id, bool is_deleted_next)
{
    Reference *all = NEW_ARRAY(Reference, REFERENCES_MAX);
    bool *found = NEW_ARRAY(bool, REFERENCES_MAX);
    size_t count = references_to(shape->of, all, REFERENCES_MAX);
    size_t n = 0;
    Buf sql = buf_new(arena_current(), SQL_MAX);

    for (size_t i = 0; i < count; i++) {
        TableState state;
        bool is_database_s = false;
        TRY(table_state(tx, all[i].of, &state));
        if (state.exists && is_deleted_next) {
            TRY(is_kept(tx, all[i].of, shape->of, &is_database_s));
        }
        if (!state.exists || is_database_s) {
            continue;
        }
        all[n++] = all[i];
        buf_fmt(&sql,
                "%s case when exists(select 1 from \"%s\" where \"%s\" = $1%s) then 1 else 0 end",
                n == 1 ? "select" : ",", all[i].of->table, all[i].field->column,
                same_table(all[i].of, shape->of) ? " and id <> $1" : "");
    }
    if (!n) {
        return NULL;
    }
    FoundRow row = {n, found};
    TRY(sql_rows(tx, str_z(buf_str(&sql)), ARGS(A_TEXT(id)), take_found, &row));
    for (size_t i = 0; i < n; i++) {
        if (found[i]) {
            return conflict_in_use(tx, shape->of, id, &all[i]);
        }
    }
    return NULL;
}
