// From the CQL tree to a plan: which part SQL decides, which the documents, and in which order.
#include "store/query.h"

#include <string.h>

// Lists of values count once; SQLite thinks about the others in pairs.
enum { COMPARISONS_MAX = 4000 };

enum {
    DEPTH_MAX = 200,
    PARAMS_MAX = 30000, // SQLite takes 32,766, PostgreSQL 65,535
};

// ---------------------------------------------------------------------------------------------
// Nodes

int planner_add(Planner *planner, Arg arg)
{
    planner->args = array_room(arena_current(), planner->args, planner->arg_count,
                               &planner->arg_cap, sizeof *planner->args);
    planner->args[planner->arg_count++] = arg;
    return (int)planner->arg_count;
}

Node *node_sql(Str sql)
{
    Node *node = NEW(Node);

    *node = (Node){.kind = NODE_SQL, .sql = sql, .column = -1};
    return node;
}

Node *node_true(void)
{
    Node *node = node_sql(S("1 = 1"));

    node->is_true = true;
    return node;
}

Node *node_false(void)
{
    Node *node = node_sql(S("1 = 0"));

    node->is_false = true;
    return node;
}

bool node_is_exact(const Node *node)
{
    return node->kind == NODE_SQL;
}

// As a balanced tree: databases limit the depth of an expression.
static void add_joined(Buf *sql, const Str *parts, size_t n, const char *operator_)
{
    if (n == 1) {
        buf_add(sql, parts[0]);
        return;
    }
    buf_char(sql, '(');
    add_joined(sql, parts, n / 2, operator_);
    buf_add_z(sql, operator_);
    add_joined(sql, parts + n / 2, n - n / 2, operator_);
    buf_char(sql, ')');
}

static Str joined(const StrList *parts, const char *operator_)
{
    Buf sql = buf_new(arena_current(), SQL_MAX);

    if (!parts->len) {
        return (Str){0};
    }
    add_joined(&sql, parts->at, parts->len, operator_);
    return buf_str(&sql);
}

static Str not_true(Str sql)
{
    return str_fmt("((" STR_FMT ") is not true)", STR_ARG(sql));
}

Str node_bound(const Node *node)
{
    StrList parts = {0};

    switch (node->kind) {
    case NODE_SQL:
    case NODE_DOC:
        return node->is_true ? (Str){0} : node->sql;
    case NODE_NOT:
        return (Str){0}; // an exact one is SQL already
    case NODE_AND:
        for (size_t i = 0; i < node->kid_count; i++) {
            Str bound = node_bound(node->kids[i]);
            if (bound.at) {
                str_list_add(&parts, bound);
            }
        }
        return joined(&parts, " and ");
    case NODE_OR:
        for (size_t i = 0; i < node->kid_count; i++) {
            Str bound = node_bound(node->kids[i]);
            if (!bound.at) {
                return (Str){0};
            }
            str_list_add(&parts, bound);
        }
        return joined(&parts, " or ");
    }
    return (Str){0};
}

// ---------------------------------------------------------------------------------------------
// Boolean operators

typedef struct {
    Node **at;
    size_t len;
} Nodes;

static Node *node_of_kids(NodeKind kind, const Nodes *nodes)
{
    Node *node = NEW(Node);

    *node = (Node){.kind = kind, .kids = nodes->at, .kid_count = nodes->len, .column = -1};
    return node;
}

// Merges the parts that SQL decides into one; nothing else left: all is SQL.
static Node *node_merge(NodeKind kind, const Nodes *nodes)
{
    bool is_and = kind == NODE_AND;
    StrList sql = {0};
    Nodes rest = {NEW_ARRAY(Node *, nodes->len + 1), 0};

    for (size_t i = 0; i < nodes->len; i++) {
        Node *node = nodes->at[i];
        if (is_and ? node->is_false : node->is_true) {
            return is_and ? node_false() : node_true();
        }
        if (is_and ? node->is_true : node->is_false) {
            continue;
        }
        if (node_is_exact(node)) {
            str_list_add(&sql, node->sql);
        } else {
            rest.at[rest.len++] = node;
        }
    }
    if (sql.len) {
        Node *node = node_sql(joined(&sql, is_and ? " and " : " or "));
        if (!rest.len) {
            return node;
        }
        rest.at[rest.len++] = node;
    }
    if (!rest.len) {
        return is_and ? node_true() : node_false();
    }
    return rest.len == 1 ? rest.at[0] : node_of_kids(kind, &rest);
}

static Node *node_not(Node *of)
{
    if (of->is_true || of->is_false) {
        return of->is_true ? node_false() : node_true();
    }
    if (node_is_exact(of)) {
        return node_sql(not_true(of->sql));
    }
    Nodes one = {NEW_ARRAY(Node *, 1), 1};
    one.at[0] = of;
    return node_of_kids(NODE_NOT, &one);
}

// a not b not c ...: a, and none of the others.
static Err *not_node(Planner *planner, const Cql *cql, Node **out)
{
    size_t n = 1;
    const Cql *first = cql;

    for (; first->kind == CQL_NOT; first = first->operands[0]) {
        n++;
    }
    Nodes nodes = {NEW_ARRAY(Node *, n), n};
    TRY(query_node(planner, first, &nodes.at[0]));
    for (; cql->kind == CQL_NOT; cql = cql->operands[0]) {
        Node *right = NULL;
        TRY(query_node(planner, cql->operands[1], &right));
        nodes.at[--n] = node_not(right);
    }
    *out = node_merge(NODE_AND, &nodes);
    return NULL;
}

static Err *and_node(Planner *planner, const Cql *cql, Node **out)
{
    Nodes nodes = {NEW_ARRAY(Node *, cql->operand_count), cql->operand_count};

    for (size_t i = 0; i < cql->operand_count; i++) {
        TRY(query_node(planner, cql->operands[i], &nodes.at[i]));
    }
    *out = node_merge(NODE_AND, &nodes);
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// OR, with "index == (a or b or c)" as one list of values

static bool is_same_index(const Cql *a, const Cql *b)
{
    return a->index.at == b->index.at || str_eq(a->index, b->index);
}

// The value of a clause that is plain equality with a text or id column, as the column holds it.
static bool listed_value(const Field *field, const Cql *clause, Str *out)
{
    bool is_uuid = !field || field->flags & UUID;

    if (clause->modifier_count || clause->is_number) {
        return false;
    }
    if (clause->relation != CQL_EXACT && !(is_uuid && clause->relation == CQL_WORDS)) {
        return false;
    }
    CqlPattern pattern = cql_pattern(clause->term);
    if (pattern.has_wildcards || (is_uuid && str_is_empty(pattern.literal))) {
        return false;
    }
    *out = is_uuid ? str_lower(pattern.literal) : field_fold(field, pattern.literal);
    return true;
}

static bool can_list(const Collection *of, const Cql *clause, const Field **field)
{
    *field = field_by_cql_name(of, clause->index);
    if (str_eq(clause->index, S("id"))) {
        *field = NULL;
        return true;
    }
    return *field && field_has_column(*field) && (*field)->flags & (TEXT | UUID | TREE) &&
           !(*field)->compute_term;
}

// One value is compared: a list would be unpacked first, which costs more than the look-up.
static Node *values_node(Planner *planner, const Field *field, const StrList *values)
{
    const char *column = field ? str_fmt("\"%s\"", field->column).at : "id";
    Buf sql = buf_new(arena_current(), SQL_MAX);

    if (values->len == 1) {
        buf_fmt(&sql, "%s = $%d", column, planner_add(planner, A_TEXT(values->at[0])));
    } else {
        const Dialect *dialect = tx_dialect(planner->tx);
        int n = planner_add(planner, A_TEXT(dialect->ids(values->at, values->len)));
        dialect->ids_in(&sql, column, n);
        planner->has_range = planner->has_range || field;
    }
    return node_sql(buf_str(&sql));
}

// All operands with the index of operand `first` become one node, or one per value where they are
// not plain equality. They are marked done.
static Err *or_group(Planner *planner, const Cql *cql, size_t first, bool *is_done, Nodes *nodes)
{
    const Field *field = NULL;
    const Cql *head = cql->operands[first];
    bool lists = can_list(planner->of, head, &field);
    StrList values = {0};

    for (size_t i = first; i < cql->operand_count; i++) {
        const Cql *one = cql->operands[i];
        Str value;
        if (is_done[i] || one->kind != CQL_CLAUSE || !is_same_index(one, head)) {
            continue;
        }
        is_done[i] = true;
        if (lists && listed_value(field, one, &value)) {
            str_list_add(&values, key_text(planner->tx, planner->of, field, value));
        } else {
            TRY(clause_node(planner, one, &nodes->at[nodes->len++]));
        }
    }
    if (values.len) {
        nodes->at[nodes->len++] = values_node(planner, field, &values);
    }
    return NULL;
}

// All operands that name the same related field are asked of the related collection together.
static Err *or_join(Planner *planner, const Cql *cql, size_t first, bool *is_done, Nodes *nodes)
{
    const Cql *head = cql->operands[first];
    Str rest;
    const Join *join = join_of(planner->of, head->index, &rest);
    Cql *related = NEW(Cql);

    *related = (Cql){.kind = CQL_OR, .operands = NEW_ARRAY(Cql *, cql->operand_count)};
    for (size_t i = first; i < cql->operand_count; i++) {
        const Cql *one = cql->operands[i];
        if (is_done[i] || one->kind != CQL_CLAUSE || !is_same_index(one, head)) {
            continue;
        }
        is_done[i] = true;
        Cql *copy = NEW(Cql);
        *copy = *one;
        copy->index = rest;
        related->operands[related->operand_count++] = copy;
    }
    return join_node(planner, join, related, &nodes->at[nodes->len++]);
}

static Err *or_node(Planner *planner, const Cql *cql, Node **out)
{
    size_t n = cql->operand_count;
    Nodes nodes = {NEW_ARRAY(Node *, n + 1), 0};
    bool *is_done = NEW_ARRAY(bool, n);

    for (size_t i = 0; i < n; i++) {
        const Cql *one = cql->operands[i];
        Str rest;
        if (is_done[i]) {
            continue;
        }
        if (one->kind != CQL_CLAUSE) {
            TRY(query_node(planner, one, &nodes.at[nodes.len++]));
        } else if (join_of(planner->of, one->index, &rest)) {
            TRY(or_join(planner, cql, i, is_done, &nodes));
        } else {
            TRY(or_group(planner, cql, i, is_done, &nodes));
        }
    }
    *out = node_merge(NODE_OR, &nodes);
    return NULL;
}

Err *query_node(Planner *planner, const Cql *cql, Node **out)
{
    Err *err = NULL;

    if (planner->depth == DEPTH_MAX) {
        return err_text(400, "CQL: the query is nested too deeply");
    }
    if (planner->arg_count > PARAMS_MAX) {
        return err_text(400, "CQL: the query has too many terms");
    }
    planner->depth++;
    switch (cql->kind) {
    case CQL_ALL:
        *out = node_true();
        break;
    case CQL_CLAUSE:
        err = clause_node(planner, cql, out);
        break;
    case CQL_AND:
        err = and_node(planner, cql, out);
        break;
    case CQL_OR:
        planner->or_depth++;
        err = or_node(planner, cql, out);
        planner->or_depth--;
        break;
    case CQL_NOT:
        err = not_node(planner, cql, out);
        break;
    }
    planner->depth--;
    return err;
}

// ---------------------------------------------------------------------------------------------
// The plan

static bool only_asks_for_ids(const Cql *cql)
{
    if (cql->kind == CQL_AND) {
        for (size_t i = 0; i < cql->operand_count; i++) {
            if (!only_asks_for_ids(cql->operands[i])) {
                return false;
            }
        }
        return true;
    }
    return cql->kind == CQL_ALL ||
           (cql->kind == CQL_CLAUSE && str_eq(cql->index, S("id")) && cql->relation >= CQL_LESS);
}

static void shape_add(Buf *out, const Cql *cql)
{
    static const char *const names[] = {"and", "or", "not"};

    if (cql->kind == CQL_CLAUSE) {
        buf_add(out, cql->index);
        buf_fmt(out, " " STR_FMT " ?", STR_ARG(cql->relation_text));
        return;
    }
    if (cql->kind == CQL_ALL) {
        buf_add_z(out, "all");
        return;
    }
    buf_char(out, '(');
    for (size_t i = 0; i < cql->operand_count && i < 5; i++) {
        if (i) {
            buf_fmt(out, " %s ", names[cql->kind]);
        }
        shape_add(out, cql->operands[i]);
    }
    buf_add_z(out, cql->operand_count > 5 ? " ...)" : ")");
}

static Str shape_text(const CqlQuery *query)
{
    Buf out = buf_new(arena_current(), 2000);

    shape_add(&out, query->root);
    for (size_t i = 0; i < query->sort_count; i++) {
        buf_add_z(&out, i ? " " : " sortby ");
        buf_add(&out, query->sort[i].index);
    }
    return buf_str(&out);
}

static Err *parse_query(const Collection *of, Str text, CqlQuery *out)
{
    CqlQuery sorted;

    TRY(cql_parse(text, out));
    if (out->sort_count || !of->default_sort) {
        return NULL;
    }
    TRY(cql_parse(str_fmt("cql.allRecords=1 sortby %s", of->default_sort), &sorted));
    out->sort = sorted.sort;
    out->sort_count = sorted.sort_count;
    return NULL;
}

Err *query_plan(Tx *tx, const Collection *of, const ListRequest *request, Plan *out)
{
    Planner planner = {.tx = tx, .of = of};
    TableState state;
    CqlQuery query;

    *out = (Plan){.of = of};
    TRY(table_state(tx, of, &state));
    if (state.exists && !state.serves) {
        return err_text(503, "The records of %s are being prepared for this version", of->table);
    }
    TRY(parse_query(of, request->query, &query));
    for (size_t i = 0; request->where && i < request->args.len; i++) {
        planner_add(&planner, request->args.at[i]);
    }
    TRY(query_node(&planner, query.root, &out->root));
    if (planner.arg_count > COMPARISONS_MAX) {
        return err_text(400, "CQL: more than %d comparisons", COMPARISONS_MAX);
    }
    TRY(plan_sort(out, &query));
    out->is_exact = node_is_exact(out->root);
    out->where = node_bound(out->root);
    out->has_filter = request->where || !only_asks_for_ids(query.root);
    if (request->where) {
        out->where = out->where.at
                         ? str_fmt("(%s) and " STR_FMT, request->where, STR_ARG(out->where))
                         : str_fmt("(%s)", request->where);
    }
    out->args = (Args){planner.args, planner.arg_count};
    out->shape = shape_text(&query);
    out->has_words = planner.has_words;
    plan_walk(out, &query, planner.has_range);
    return NULL;
}
