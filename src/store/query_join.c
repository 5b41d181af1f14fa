// Clauses that reach beyond a record's own fields: related collections, elements of arrays.
// Source: spec/storage-and-cql.md 2.5, 2.6.
#include "store/query.h"

#include "base/fold.h"

#include <string.h>

const Join *join_of(const Collection *of, Str name, Str *rest)
{
    const Join *found = NULL;
    size_t longest = 0;

    for (const Join *join = of->joins; join && join->alias; join++) {
        size_t len = strlen(join->alias);
        if (len >= longest && name.len > len + 1 && name.at[len] == '.' &&
            memcmp(name.at, join->alias, len) == 0) {
            found = join;
            longest = len;
            *rest = str_sub(name, len + 1, name.len);
        }
    }
    return found;
}

// Records of `join->collection` for which `inside` holds, as a condition on ours.
static Str join_sql(const Join *join, Str inside)
{
    if (join->own_column && join->via) {
        return str_fmt("\"%s\" in (select id from \"%s\" where \"%s\" in "
                       "(select id from \"%s\" where " STR_FMT "))",
                       join->own_column, join->via->table, join->via_column,
                       join->collection->table, STR_ARG(inside));
    }
    if (join->own_column) {
        return str_fmt("\"%s\" in (select id from \"%s\" where " STR_FMT ")", join->own_column,
                       join->collection->table, STR_ARG(inside));
    }
    if (join->via) {
        return str_fmt("id in (select \"%s\" from \"%s\" where id in "
                       "(select \"%s\" from \"%s\" where " STR_FMT "))",
                       join->via_column, join->via->table, join->child_column,
                       join->collection->table, STR_ARG(inside));
    }
    return str_fmt("id in (select \"%s\" from \"%s\" where " STR_FMT ")", join->child_column,
                   join->collection->table, STR_ARG(inside));
}

// Ids of the related records, found on their documents, as a condition on them.
static Err *scanned_sql(Planner *planner, const Collection *related, const Node *node, Str *out)
{
    StrList ids = {0};
    Buf sql = buf_new(arena_current(), SQL_MAX);
    Args args = {planner->args, planner->arg_count};

    TRY(query_scan_ids(planner->tx, related, node, args, &ids));
    int n = planner_add(planner, A_TEXT(tx_dialect(planner->tx)->ids(ids.at, ids.len)));
    tx_dialect(planner->tx)->ids_in(&sql, "id", n);
    *out = buf_str(&sql);
    return NULL;
}

Err *join_node(Planner *planner, const Join *join, const Cql *cql, Node **out)
{
    Planner related = *planner;
    Node *node = NULL;
    Str inside;

    related.of = join->collection;
    Err *err = query_node(&related, cql, &node);
    planner->args = related.args;
    planner->arg_count = related.arg_count;
    planner->arg_cap = related.arg_cap;
    planner->has_words = related.has_words;
    if (err) {
        return err;
    }
    if (node->is_false) {
        *out = node_false();
        return NULL;
    }
    if (node_is_exact(node)) {
        inside = node->sql;
    } else {
        TRY(scanned_sql(planner, join->collection, node, &inside));
    }
    *out = node_sql(join_sql(join, inside));
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Elements of arrays

// The name as the record spells it; at == NULL if the field does not offer it.
static Str element_member(const Field *field, Str name, bool may_be_first)
{
    Str rest = str_of(field->elements), member;
    bool is_first = true;

    while (str_next(&rest, ' ', &member)) {
        if ((!is_first || may_be_first) && str_eq_nocase(member, name)) {
            return member;
        }
        is_first = false;
    }
    return (Str){0};
}

static Err *plain_matcher(const Cql *clause, CqlRelation relation, Str term, CqlMatcher **out)
{
    Cql *copy = NEW(Cql);

    *copy = *clause;
    copy->relation = relation;
    copy->term = term;
    copy->modifiers = NULL;
    copy->modifier_count = 0;
    return cql_matcher(copy, 0, true, out);
}

static Err *element_modifier(const Cql *clause, const Field *field, const CqlModifier *modifier,
                             Elements *elements)
{
    Str member = element_member(field, modifier->name, true);

    if (!member.at) {
        return err_text(400, "CQL: Unsupported relation modifier @" STR_FMT,
                        STR_ARG(modifier->name));
    }
    if (!modifier->has_value) {
        str_list_add(&elements->members, member);
        return NULL;
    }
    size_t n = elements->with_count;
    if (n == sizeof elements->with / sizeof elements->with[0]) {
        return err_text(400, "CQL: too many relation modifiers");
    }
    elements->with_count++;
    elements->with[n].member = member;
    return plain_matcher(clause, CQL_WORDS, modifier->value, &elements->with[n].matcher);
}

// The words that the array's text must hold for an element to match; at == NULL: not known.
static Err *elements_bound(Planner *planner, const Cql *clause, const Field *field, Str *out)
{
    const Dialect *dialect = tx_dialect(planner->tx);
    CqlPattern pattern = cql_pattern(clause->term);
    CqlWords words = {0};
    bool is_exact = clause->relation == CQL_EXACT && !pattern.has_wildcards;

    *out = (Str){0};
    if (!(field->flags & WORDS) ||
        (clause->relation != CQL_WORDS && !is_exact && clause->relation != CQL_ALL_WORDS)) {
        return NULL;
    }
    StrList texts = {0};
    bool *prefixes = NULL;
    if (is_exact) {
        fold_words(pattern.literal, &texts);
        prefixes = NEW_ARRAY(bool, texts.len);
    } else {
        TRY(cql_words(clause, &words));
        prefixes = NEW_ARRAY(bool, words.count);
        for (size_t i = 0; i < words.count; i++) {
            str_list_add(&texts, words.words[i].word);
            prefixes[i] = words.words[i].is_prefix;
        }
    }
    if (!texts.len) {
        return NULL;
    }
    Buf sql = buf_new(arena_current(), SQL_MAX);
    Str query = dialect->words_query(field->column, WORDS_ALL, texts.at, prefixes, texts.len);
    dialect->words(&sql, planner->of->table, field->column, planner_add(planner, A_TEXT(query)),
                   planner->or_depth > 0);
    *out = buf_str(&sql);
    return NULL;
}

Err *elements_node(Planner *planner, const Cql *clause, const Field *field, Node **out)
{
    Node *node = NEW(Node);
    Elements *elements = NEW(Elements);

    if (!field || !field->elements) {
        return err_text(400, "CQL: No arraySubfield defined for index " STR_FMT,
                        STR_ARG(clause->index));
    }
    for (size_t i = 0; i < clause->modifier_count; i++) {
        if (clause->modifiers[i].is_array) {
            TRY(element_modifier(clause, field, &clause->modifiers[i], elements));
        }
    }
    if (!elements->members.len) {
        Str rest = str_of(field->elements), first;
        str_next(&rest, ' ', &first);
        str_list_add(&elements->members, first);
    }
    TRY(plain_matcher(clause, clause->relation, clause->term, &elements->matcher));
    *node = (Node){
        .kind = NODE_DOC,
        .field = field,
        .path = clause->index,
        .clause = clause,
        .elements = elements,
        .column = -1,
    };
    TRY(elements_bound(planner, clause, field, &node->sql));
    *out = node;
    return NULL;
}
