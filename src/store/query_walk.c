// Whether an index gives a query's order, so that walking it and testing each record is a way to a
// page beside collecting all matches and sorting them.
#include "store/query.h"

#include <string.h>

static bool is_of(const Collection *of, const Cql *clause, const Field *field)
{
    return field_by_cql_name(of, clause->index) == field;
}

static bool is_plain(const Cql *clause)
{
    return !clause->modifier_count && !clause->is_number;
}

// Equality with something that few records have.
static bool finds_few(const Collection *of, const Cql *clause)
{
    const Field *field = field_by_cql_name(of, clause->index);
    CqlPattern pattern = cql_pattern(clause->term);
    bool is_id = str_eq(clause->index, S("id"));
    bool is_uuid = is_id || (field && field->flags & UUID);
    bool is_equality = clause->relation == CQL_EXACT || (is_uuid && clause->relation == CQL_WORDS);

    if (!is_equality || !is_plain(clause) || pattern.has_wildcards || !pattern.literal.len) {
        return false;
    }
    return is_id || (field && field_has_column(field) && field->flags & (INDEX | UNIQUE) &&
                     !field_is_coarse(field));
}

static bool query_finds_few(const Collection *of, const Cql *cql)
{
    bool is_or = cql->kind == CQL_OR;

    while (cql->kind == CQL_NOT) {
        cql = cql->operands[0];
    }
    if (cql->kind == CQL_CLAUSE) {
        return finds_few(of, cql);
    }
    for (size_t i = 0; i < cql->operand_count; i++) {
        if (query_finds_few(of, cql->operands[i]) != is_or) {
            return !is_or;
        }
    }
    return is_or && cql->operand_count;
}

// A part of the field's index holds all matches: what begins so, what is less than that.
static bool asks_for_part(const Collection *of, const Cql *clause, const Field *field)
{
    CqlPattern pattern = cql_pattern(clause->term);
    bool begins = pattern.count && pattern.pieces[0].kind == CQL_LITERAL;

    return is_of(of, clause, field) && is_plain(clause) &&
           (clause->relation >= CQL_LESS || (clause->relation == CQL_EXACT && begins));
}

static bool query_asks_for_part(const Collection *of, const Cql *cql, const Field *field)
{
    while (cql->kind == CQL_NOT) {
        cql = cql->operands[0];
    }
    if (cql->kind == CQL_CLAUSE) {
        return asks_for_part(of, cql, field);
    }
    for (size_t i = 0; cql->kind == CQL_AND && i < cql->operand_count; i++) {
        if (query_asks_for_part(of, cql->operands[i], field)) {
            return true;
        }
    }
    return false;
}

static const char *index_of_order(const Plan *plan, bool has_range)
{
    const SortKey *first = plan->key_count ? &plan->keys[0] : NULL;

    if (!first || (first->column && strcmp(first->column, "id") == 0)) {
        // The records of one value come in order of id by themselves.
        return has_range ? str_fmt("%s_id_key", plan->of->table).at : NULL;
    }
    if (first->field && first->field->flags & UNIQUE) {
        return unique_field_name(plan->of, first->field).at;
    }
    bool has_index = first->field && first->field->flags & INDEX &&
                     !(first->field->flags & (UUID | FLAG | SPARSE));
    return has_index ? str_fmt("%s_%s_idx", plan->of->table, first->column).at : NULL;
}

void plan_walk(Plan *plan, const CqlQuery *query, bool has_range)
{
    const Cql *root = query->root;
    const Field *sorted = plan->key_count ? plan->keys[0].field : NULL;

    plan->finds_few = query_finds_few(plan->of, root);
    if (!plan->has_filter || !plan->is_exact || !plan->sorts_in_sql || !plan->where.at) {
        return;
    }
    plan->walks_part = sorted && query_asks_for_part(plan->of, root, sorted);
    if (plan->walks_part && root->kind == CQL_CLAUSE) {
        return; // the matches stand together in the index, in order
    }
    plan->walk_index = index_of_order(plan, has_range);
}

// ---------------------------------------------------------------------------------------------
// SQL

// A planner that goes by statistics takes a walk for short where it is not: few records match, and
// they stand far down the index. It is led by subqueries, which it plans one by one.
static void add_source(Buf *sql, const Plan *plan, const Dialect *dialect, Way way)
{
    const char *table = plan->of->table;

    if (dialect->fence && way == COLLECTING) {
        buf_fmt(sql, "(select * from \"%s\" where " STR_FMT " %s) as ", table, STR_ARG(plan->where),
                dialect->fence);
    } else if (dialect->fence && way == WALKING) {
        buf_fmt(sql, "(select * from \"%s\" order by " STR_FMT " limit $%zu) as ", table,
                STR_ARG(plan->order_by), plan->args.len + 3);
    }
    buf_fmt(sql, "\"%s\"", table);
    if (!dialect->fence && way == WALKING) {
        dialect->walk_index(sql, plan->walk_index);
    }
}

const char *plan_sql(const Plan *plan, const Dialect *dialect, Way way, const char *what,
                     Str condition)
{
    bool is_inside = dialect->fence && way == COLLECTING;
    Str where = is_inside ? (Str){0} : plan->where;
    Buf sql = buf_new(arena_current(), SQL_MAX);

    buf_fmt(&sql, "select %s from ", what);
    add_source(&sql, plan, dialect, way);
    if (where.at) {
        buf_add_z(&sql, " where ");
        buf_add(&sql, where);
    }
    if (condition.at) {
        buf_add_z(&sql, where.at ? " and " : " where ");
        buf_add(&sql, condition);
    }
    // The other kind of planner takes no index for the order of a term.
    buf_add_z(&sql, !dialect->fence && way == COLLECTING ? " order by +" : " order by ");
    buf_add(&sql, plan->order_by);
    buf_fmt(&sql, " limit $%zu offset $%zu", plan->args.len + 1, plan->args.len + 2);
    return str_z(buf_str(&sql));
}
