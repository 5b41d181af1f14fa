// What a write broke, in FOLIO's words. Source: spec/storage-and-cql.md 1.4.
#include "store/engine.h"

#include "base/log.h"

#include <string.h>

// RMB's form of a validation error.
static Err *validation_error(Str key, Str value, Str message)
{
    ErrParam param = {.key = key, .value = value};
    Err *err = err_json(422, S("-1"), message, &param, 1);

    err->type = S("1");
    return err;
}

Err *not_found(const Collection *of, Str id)
{
    if (!of->not_found) {
        return err_text(404, "Not found");
    }
    Str text = str_of(of->not_found);
    ptrdiff_t at = str_find(text, S("%s"), 0);
    if (at < 0) {
        return err_text(404, STR_FMT, STR_ARG(text));
    }
    return err_text(404, STR_FMT STR_FMT STR_FMT, (int)at, text.at, STR_ARG(id),
                    STR_ARG(str_sub(text, (size_t)at + 2, text.len)));
}

Err *invalid_id(const Collection *of, Str id)
{
    return validation_error(str_fmt("%s.id", of->table), id,
                            S("Invalid UUID format of id, should be "
                              "xxxxxxxx-xxxx-Mxxx-Nxxx-xxxxxxxxxxxx where M is 1-5 "
                              "and N is 8, 9, a, b, A or B and x is 0-9, a-f or A-F."));
}

// PostgreSQL's text of an index expression: jsonb ->> 'f'::text, (jsonb -> 'a'::text) ->>
// 'b'::text.
static void add_path_expression(Buf *out, Str path)
{
    StrList parts = {0};
    Str part;

    while (str_next(&path, '.', &part)) {
        str_list_add(&parts, part);
    }
    for (size_t i = 1; i < parts.len; i++) {
        buf_char(out, '(');
    }
    buf_add_z(out, "jsonb");
    for (size_t i = 0; i < parts.len; i++) {
        bool is_last = i + 1 == parts.len;
        buf_fmt(out, " %s '" STR_FMT "'::text%s", is_last ? "->>" : "->", STR_ARG(parts.at[i]),
                is_last ? "" : ")");
    }
}

static void add_expression(Buf *out, const Field *field)
{
    bool lower = !(field->flags & KEEP_CASE);
    bool unaccent = !(field->flags & KEEP_ACCENTS);

    buf_add_z(out, lower ? "lower(" : "");
    buf_add_z(out, unaccent ? "f_unaccent(" : "");
    add_path_expression(out, str_of(field->path));
    buf_add_z(out, unaccent ? ")" : "");
    buf_add_z(out, lower ? ")" : "");
}

static void add_value(Buf *out, const Field *field, const Json *doc)
{
    Str text = field_text(field, doc);

    if (text.at) {
        buf_add(out, field->flags & (TIME | NUMBER | FLAG) ? text : field_fold(field, text));
    }
}

static bool key_has_columns(const UniqueKey *key, const StrList *columns)
{
    Str rest = str_of(key->columns);
    Str part;
    size_t n = 0;

    while (str_next(&rest, ',', &part)) {
        if (!str_list_has(columns, str_trim(part))) {
            return false;
        }
        n++;
    }
    return n == columns->len;
}

// The unique key a violation is about: named by its index, or by its columns.
static const UniqueKey *violated_key(const Collection *of, const Violation *violation)
{
    for (const UniqueKey *key = of->uniques; key && key->columns; key++) {
        if (str_eq(violation->index, unique_key_name(of, key)) ||
            (violation->columns.len && key_has_columns(key, &violation->columns))) {
            return key;
        }
    }
    return NULL;
}

static Err *unique_error(const Collection *of, Str expression, Str value)
{
    return validation_error(expression, value,
                            str_fmt(STR_FMT " value already exists in table %s: " STR_FMT,
                                    STR_ARG(expression), of->table, STR_ARG(value)));
}

static Err *explained(Tx *tx, Conflict kind, const Field *field, Str value, const Json *doc,
                      const Collection *of)
{
    return of->explain ? of->explain(tx, kind, field, value, doc) : NULL;
}

// The unique field a violation is about when the database names its index.
static const Field *violated_field(const Collection *of, const Violation *violation)
{
    for (const Field *field = of->fields; field && field->column; field++) {
        if (field->flags & UNIQUE && str_eq(violation->index, unique_field_name(of, field))) {
            return field;
        }
    }
    return NULL;
}

static Str violated_columns(const Collection *of, const Violation *violation)
{
    const UniqueKey *key = violated_key(of, violation);
    const Field *field = key ? NULL : violated_field(of, violation);

    return key     ? str_of(key->columns)
           : field ? str_of(field->column)
                   : str_join(violation->columns.at, violation->columns.len, S(","));
}

Err *conflict_unique(Tx *tx, const Shape *shape, const Violation *violation, const Json *doc)
{
    const Collection *of = shape->of;
    Buf expression = buf_new(arena_current(), 64 * 1024);
    Buf value = buf_new(arena_current(), 1024 * 1024);
    const Field *first = NULL;

    if (violation->columns.len == 1 && str_eq(violation->columns.at[0], S("id"))) {
        Err *own = explained(tx, CONFLICT_ID, NULL, json_str(doc, "id"), doc, of);
        return own ? own : unique_error(of, S("id"), json_str(doc, "id"));
    }
    const UniqueKey *key = violated_key(of, violation);
    Str rest = violated_columns(of, violation);
    Str part;
    while (str_next(&rest, ',', &part)) {
        const Field *field = field_by_column(of, str_trim(part));
        if (!field) {
            continue;
        }
        if (first) {
            buf_add_z(&expression, ", ");
            buf_add_z(&value, ", ");
        }
        first = first ? first : field;
        add_expression(&expression, field);
        add_value(&value, field, doc);
    }
    Err *own = explained(tx, CONFLICT_UNIQUE, first, buf_str(&value), doc, of);
    if (own) {
        return own;
    }
    return unique_error(of, key && key->text ? str_of(key->text) : buf_str(&expression),
                        buf_str(&value));
}

// RMB's foreign key column: the path with "_" for ".", in PostgreSQL's lower case.
static Str reference_column(const Field *field)
{
    Str column = str_lower(str_of(field->path));
    char *copy = arena_alloc(arena_current(), column.len + 1);

    for (size_t i = 0; i < column.len; i++) {
        copy[i] = column.at[i] == '.' ? '_' : column.at[i];
    }
    return (Str){copy, column.len};
}

Err *conflict_reference(Tx *tx, const Collection *of, const Field *field, Str value,
                        const Json *doc)
{
    Err *own = explained(tx, CONFLICT_MISSING_REFERENCE, field, value, doc, of);

    if (own) {
        return own;
    }
    Str key = str_fmt("%s." STR_FMT, of->table, STR_ARG(reference_column(field)));
    return validation_error(key, value,
                            str_fmt("Cannot set " STR_FMT " = " STR_FMT
                                    " because it does not exist in %s.id.",
                                    STR_ARG(key), STR_ARG(value), field->references->table));
}

static Err *unknown_foreign_key(const Violation *violation)
{
    log_line(LOG_ERROR, "store", "the foreign key " STR_FMT " of " STR_FMT " is not one of ours",
             STR_ARG(violation->index), STR_ARG(violation->table));
    return err_text(500, "Internal error of the database");
}

Err *conflict_foreign_key(Tx *tx, const Shape *shape, const Violation *violation, const Json *doc)
{
    for (size_t i = 0; i < shape->reference_count; i++) {
        const Field *field = shape->references[i];
        if (str_eq(violation->index, foreign_key_name(shape->of, field))) {
            return conflict_reference(tx, shape->of, field, str_lower(field_text(field, doc)), doc);
        }
    }
    return unknown_foreign_key(violation);
}

Err *conflict_foreign_key_to(Tx *tx, const Shape *shape, const Violation *violation, Str id)
{
    Reference *all = NEW_ARRAY(Reference, REFERENCES_MAX);
    size_t n = references_to(shape->of, all, REFERENCES_MAX);

    for (size_t i = 0; i < n; i++) {
        if (str_eq(violation->index, foreign_key_name(all[i].of, all[i].field))) {
            return conflict_in_use(tx, shape->of, id, &all[i]);
        }
    }
    return unknown_foreign_key(violation);
}

Err *conflict_in_use(Tx *tx, const Collection *of, Str id, const Reference *by)
{
    Err *own = explained(tx, CONFLICT_IN_USE, by->field, id, NULL, of);
    Str text =
        str_fmt("Cannot delete %s.id = " STR_FMT " because id is still referenced from table %s.",
                of->table, STR_ARG(id), by->of->table);

    if (own) {
        return own;
    }
    if (of->in_use_status == 422) {
        return validation_error(str_fmt("%s.id", of->table), id, text);
    }
    return err_text(of->in_use_status ? of->in_use_status : 400, STR_FMT, STR_ARG(text));
}
