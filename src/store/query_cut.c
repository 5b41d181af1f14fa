// Texts that an index cannot take whole: their columns hold the beginning and a hash
// (KEY_BYTES_MAX). What asks for another part of them asks the documents of those few rows.
#include "store/query.h"

void add_cut_rows(Planner *planner, const Field *field, Buf *sql)
{
    if (key_may_be_cut(planner->tx, planner->of, field)) {
        buf_add_z(sql, " or ");
        tx_dialect(planner->tx)->is_cut(sql, field->column);
    }
}

static Err *take_any(const Row *row, void *context)
{
    (void)row;
    *(bool *)context = true;
    return NULL;
}

// Asked once: most tables never hold such a text.
static Err *cut_rows_exist(Planner *planner)
{
    Buf sql = buf_new(arena_current(), SQL_MAX);

    if (planner->cut_asked == planner->of) {
        return NULL;
    }
    planner->cut_asked = planner->of;
    planner->has_cut = false;
    buf_fmt(&sql, "select 1 from \"%s\" where ", planner->of->table);
    if (!keys_are_cut_sql(planner->tx, shape_of(planner->of), &sql)) {
        return NULL;
    }
    buf_add_z(&sql, " limit 1");
    return sql_rows(planner->tx, str_z(buf_str(&sql)), NO_ARGS, take_any, &planner->has_cut);
}

// They are few and looked for first, so that the condition stays SQL's.
Err *add_cut_matches(Planner *planner, const Cql *clause, const Field *field, Buf *sql)
{
    const Dialect *dialect = tx_dialect(planner->tx);
    Buf is_cut = buf_new(arena_current(), SQL_MAX);
    Cql *positive = NEW(Cql);
    Node *node = NULL;
    StrList ids = {0};

    if (!key_may_be_cut(planner->tx, planner->of, field)) {
        return NULL;
    }
    TRY(cut_rows_exist(planner));
    if (!planner->has_cut) {
        return NULL;
    }
    *positive = *clause;
    positive->relation = CQL_EXACT;
    dialect->is_cut(&is_cut, field->column);
    TRY(doc_node(positive, field, buf_str(&is_cut), &node));
    TRY(query_scan_ids(planner->tx, planner->of, node, NO_ARGS, &ids));
    if (ids.len) {
        buf_add_z(sql, " or ");
        dialect->ids_in(sql, "id", planner_add(planner, A_TEXT(dialect->ids(ids.at, ids.len))));
    }
    return NULL;
}
