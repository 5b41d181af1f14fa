// A query without its values: what statistics may show. id==(a or b) has the shape of id==a.
#include "cql/cql.h"

#include "base/arena.h"
#include "base/buf.h"

enum {
    SHAPE_MAX = 1000, // bytes; longer shapes are cut
};

static void shape_clause(Buf *to, const Cql *clause)
{
    buf_add(to, clause->index);
    for (size_t i = 0; i < clause->modifier_count; i++) {
        const CqlModifier *modifier = &clause->modifiers[i];
        buf_add(to, modifier->is_array ? S("/@") : S("/"));
        buf_add(to, modifier->name);
        buf_add(to, modifier->has_value ? S("=?") : S(""));
    }
    bool is_word = clause->relation == CQL_ALL_WORDS || clause->relation == CQL_ANY_WORD ||
                   str_eq_nocase(clause->relation_text, S("adj"));
    buf_add(to, is_word ? S(" ") : S(""));
    buf_add(to, clause->relation_text);
    buf_add(to, is_word ? S(" ?") : S("?"));
}

static void shape_node(Buf *to, const Cql *node);

static void shape_operands(Buf *to, const Cql *node)
{
    Str word = node->kind == CQL_AND ? S(" and ") : node->kind == CQL_OR ? S(" or ") : S(" not ");
    Str before = {0};

    buf_char(to, '(');
    for (size_t i = 0; i < node->operand_count; i++) {
        Buf operand = buf_new(arena_current(), SHAPE_MAX);
        shape_node(&operand, node->operands[i]);
        // Alternatives that differ in their values only are one.
        if (i > 0 && node->kind == CQL_OR && str_eq(buf_str(&operand), before)) {
            continue;
        }
        buf_add(to, i > 0 ? word : S(""));
        before = buf_str(&operand);
        buf_add(to, before);
    }
    buf_char(to, ')');
}

static void shape_node(Buf *to, const Cql *node)
{
    switch (node->kind) {
    case CQL_CLAUSE:
        shape_clause(to, node);
        break;
    case CQL_ALL:
        buf_add(to, S("cql.allRecords=1"));
        break;
    default:
        shape_operands(to, node);
    }
}

Str cql_shape(Str text)
{
    Buf shape = buf_new(arena_current(), SHAPE_MAX);
    CqlQuery query;

    if (!text.at || cql_parse(text, &query)) {
        return S("");
    }
    shape_node(&shape, query.root);
    for (size_t i = 0; i < query.sort_count; i++) {
        buf_add(&shape, i ? S(" ") : S(" sortby "));
        buf_add(&shape, query.sort[i].index);
        buf_add(&shape, query.sort[i].is_descending ? S("/sort.descending") : S(""));
    }
    return buf_str(&shape);
}
