// Sort keys: by side columns where they hold what is compared, else by keys made from documents.
// Source: spec/storage-and-cql.md 2.8.
#include "store/query.h"

#include <string.h>

static bool column_serves(const Field *field, const CqlSortKey *key)
{
    if (!field_has_column(field)) {
        return false;
    }
    if (field->flags & (NUMBER | TIME | FLAG | UUID)) {
        return true;
    }
    return !key->is_number && key->respects_case == !!(field->flags & KEEP_CASE) &&
           key->respects_accents == !!(field->flags & KEEP_ACCENTS);
}

// The column of a parent that a foreign key of ours names; false for anything further away.
static bool parent_column(const Collection *of, const CqlSortKey *key, SortKey *out)
{
    Str rest;
    const Join *join = join_of(of, key->index, &rest);
    const Field *field = join ? field_by_cql_name(join->collection, rest) : NULL;

    if (!field || !join->sorts || !join->own_column || join->via || !column_serves(field, key)) {
        return false;
    }
    out->expression =
        str_fmt("(select parent.\"%s\" from \"%s\" parent where parent.id = \"%s\".\"%s\")",
                field->column, join->collection->table, of->table, join->own_column);
    out->typed = field;
    return true;
}

// False if the key says nothing: fields of remote collections, and what no record can have.
static bool sort_key(const Collection *of, const CqlSortKey *key, SortKey *out)
{
    const Field *field = field_by_cql_name(of, key->index);
    Str rest;

    *out = (SortKey){
        .field = field,
        .path = key->index,
        .is_descending = key->is_descending,
        .is_number = key->is_number,
        .keeps_case = key->respects_case,
        .keeps_accents = key->respects_accents,
    };
    if (str_eq(key->index, S("id"))) {
        out->column = "id";
        return true;
    }
    if (!field && join_of(of, key->index, &rest)) {
        return parent_column(of, key, out);
    }
    if (!field) {
        return path_may_exist(of->record, key->index);
    }
    // The index says how a field compares; what the key adds is only looked at without one.
    if (field->flags & KEEP_CASE) {
        out->keeps_case = true;
    }
    if (field->flags & KEEP_ACCENTS) {
        out->keeps_accents = true;
    }
    CqlSortKey asked = *key;
    asked.respects_case = out->keeps_case;
    asked.respects_accents = out->keeps_accents;
    if (column_serves(field, &asked)) {
        out->column = field->column;
        out->typed = field;
    }
    return true;
}

Str sort_expression(const SortKey *key)
{
    return key->column ? str_fmt("\"%s\"", key->column) : key->expression;
}

Err *plan_sort(Plan *plan, const CqlQuery *query)
{
    Buf order = buf_new(arena_current(), SQL_MAX);
    bool has_id = false, is_descending = false;

    plan->keys = NEW_ARRAY(SortKey, query->sort_count);
    plan->sorts_in_sql = true;
    for (size_t i = 0; i < query->sort_count && !has_id; i++) {
        SortKey *key = &plan->keys[plan->key_count];
        if (!sort_key(plan->of, &query->sort[i], key)) {
            continue;
        }
        plan->key_count++;
        is_descending = key->is_descending;
        if (!key->column && !key->expression.at) {
            plan->sorts_in_sql = false;
            continue;
        }
        has_id = key->column && strcmp(key->column, "id") == 0;
        buf_fmt(&order, STR_FMT "%s%s", STR_ARG(sort_expression(key)), is_descending ? " desc" : "",
                has_id ? "" : (is_descending ? " nulls first, " : " nulls last, "));
    }
    // The id breaks ties, in the direction of the last key: one walk over an index gives both.
    plan->is_by_id = plan->key_count == 0 || (plan->key_count == 1 && has_id && !is_descending);
    if (!has_id) {
        buf_add_z(&order, is_descending ? "id desc" : "id");
    }
    plan->order_by = buf_str(&order);
    return NULL;
}
