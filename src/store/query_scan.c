// Deciding on documents: notes the candidates, reads them piece by piece, tests each, sorts what
// matches.
//
// One statement tells which records are candidates, and what SQL decides of each. Their documents,
// or only the columns they are sorted by, are read in order of pk, and a reader's snapshot is made
// anew on the way (decision 42): a record that changed meanwhile is tested and sorted as it is
// then, one that was deleted is left out.
//
// A test of documents has a budget of time and rows (decision 55). Sorting all of them has none,
// but only so many may do so at a time. The log says which query it was, without its terms.
#include "store/query.h"

#include "base/log.h"
#include "base/sort.h"
#include "store/sorter.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROWS_MAX = 1000 * 1000,
    TIME_MAX_S = 10,
    LONG_SORTS_MAX = 2, // of the process, beyond that budget
    ROWS_TO_LOG = 1000,
    CHECK_EVERY = 256,
    COLUMNS_OF_DECIDED = 1000,
};
static const size_t DOCUMENT_MAX = (size_t)64 * 1024 * 1024;
static const size_t CANDIDATES_MAX = (size_t)256 * 1024 * 1024;

static atomic_int long_sorts;

// ---------------------------------------------------------------------------------------------
// Testing a document

// Conditions that SQL decides inside a query that is decided on documents: columns of the row.
typedef struct {
    Node *nodes[COLUMNS_OF_DECIDED];
    size_t count;
} Decided;

static Err *decided_collect(Node *node, bool is_given, Decided *out)
{
    if (node->kind == NODE_SQL) {
        // What stands in the condition of the statement is true for every row.
        if (!is_given && !node->is_true && !node->is_false) {
            if (out->count == COLUMNS_OF_DECIDED) {
                return err_text(400, "CQL: the query is too complex");
            }
            node->column = (int)out->count;
            out->nodes[out->count++] = node;
        }
        return NULL;
    }
    for (size_t i = 0; i < node->kid_count; i++) {
        TRY(decided_collect(node->kids[i], is_given && node->kind == NODE_AND, out));
    }
    return NULL;
}

static bool element_matches(const Elements *elements, const Json *element)
{
    for (size_t i = 0; i < elements->with_count; i++) {
        Str text = path_text(element, elements->with[i].member);
        if (cql_matcher_test(elements->with[i].matcher, text) != CQL_TRUE) {
            return false;
        }
    }
    for (size_t i = 0; i < elements->members.len; i++) {
        Str text = path_text(element, elements->members.at[i]);
        if (cql_matcher_test(elements->matcher, text) == CQL_TRUE) {
            return true;
        }
    }
    return false;
}

static bool doc_matches(const Node *node, const Json *doc)
{
    if (!node->elements) {
        Str text = node->field ? field_text(node->field, doc) : path_text(doc, node->path);
        return cql_matcher_test(node->matcher, text) == CQL_TRUE;
    }
    const Json *array = json_get(doc, node->field->path);
    if (!json_is_array(array)) {
        return false;
    }
    JSON_EACH(element, array)
    {
        if (element_matches(node->elements, element)) {
            return true;
        }
    }
    return false;
}

// `decided`: a byte for each condition.
static bool node_matches(const Node *node, const Json *doc, const char *decided)
{
    switch (node->kind) {
    case NODE_SQL:
        return node->is_true || (!node->is_false && (node->column < 0 || decided[node->column]));
    case NODE_DOC:
        return doc_matches(node, doc);
    case NODE_NOT:
        return !node_matches(node->kids[0], doc, decided);
    case NODE_AND:
        for (size_t i = 0; i < node->kid_count; i++) {
            if (!node_matches(node->kids[i], doc, decided)) {
                return false;
            }
        }
        return true;
    case NODE_OR:
        for (size_t i = 0; i < node->kid_count; i++) {
            if (node_matches(node->kids[i], doc, decided)) {
                return true;
            }
        }
        return false;
    }
    return false;
}

// The field a scan is due to, for messages.
static Str scanned_field(const Node *node)
{
    if (node->kind == NODE_DOC) {
        return node->path;
    }
    for (size_t i = 0; i < node->kid_count; i++) {
        Str field = scanned_field(node->kids[i]);
        if (field.at) {
            return field;
        }
    }
    return (Str){0};
}

// ---------------------------------------------------------------------------------------------
// Candidates

// Noted one behind the other: pk, and a byte for each condition that SQL decided.
typedef struct {
    Arena *arena;
    char *at;
    size_t len, cap, size;
} Candidates;

typedef struct {
    const Node *root;
    const Plan *plan; // of a list; or
    StrList *ids;     // takes those of the matches
    Decided decided;
    Candidates candidates;
    const char *piece; // of them, being read
    size_t piece_len;
    Arena *arena; // of one document
    Sorter *sorter;
    int64_t rows, rows_max, matches;
    int64_t deadline_ns;
    bool is_long; // one of long_sorts
} Scanning;

static int64_t pk_of(const char *candidate)
{
    int64_t pk;

    memcpy(&pk, candidate, sizeof pk);
    return pk;
}

static int compare_pk(const void *a, const void *b)
{
    int64_t left = pk_of(a), right = pk_of(b);

    return (left > right) - (left < right);
}

static Err *note(const Row *row, void *context)
{
    Scanning *scanning = context;
    Candidates *all = &scanning->candidates;
    int64_t pk = row_int(row, 0);

    all->at = array_room(all->arena, all->at, all->len, &all->cap, all->size);
    char *candidate = all->at + all->len++ * all->size;
    memcpy(candidate, &pk, sizeof pk);
    for (size_t i = 0; i < scanning->decided.count; i++) {
        candidate[sizeof pk + i] = row_int(row, (int)i + 1) != 0;
    }
    if (arena_is_over_limit(all->arena)) {
        return err_text(413, "The query has too many candidates");
    }
    return NULL;
}

static const char *candidates_sql(const Collection *of, const Decided *decided, Str where)
{
    Buf sql = buf_new(arena_current(), SQL_MAX);

    buf_add_z(&sql, "select pk");
    for (size_t i = 0; i < decided->count; i++) {
        buf_fmt(&sql, ", case when " STR_FMT " then 1 else 0 end", STR_ARG(decided->nodes[i]->sql));
    }
    buf_fmt(&sql, " from \"%s\"", of->table);
    if (where.at) {
        buf_add_z(&sql, " where ");
        buf_add(&sql, where);
    }
    return str_z(buf_str(&sql));
}

static Err *candidates_read(Tx *tx, const Collection *of, Str where, Args args, Scanning *scanning)
{
    Candidates *all = &scanning->candidates;

    TRY(decided_collect((Node *)scanning->root, true, &scanning->decided));
    all->size = sizeof(int64_t) + scanning->decided.count;
    TRY(sql_walk(tx, candidates_sql(of, &scanning->decided, where), args, note, scanning));
    sort_array(all->at, all->len, all->size, compare_pk);
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// The scan

// The field a scan is due to.
static Str slow_field(const Scanning *scanning)
{
    const Plan *plan = scanning->plan;
    Str field = scanned_field(scanning->root);

    for (size_t i = 0; !field.at && plan && i < plan->key_count; i++) {
        const SortKey *key = &plan->keys[i];
        field = key->column || key->expression.at ? field : key->path;
    }
    return field.at ? field : S("its sort key");
}

static Err *long_sort_begin(Scanning *scanning)
{
    if (atomic_fetch_add(&long_sorts, 1) < LONG_SORTS_MAX) {
        scanning->is_long = true;
        return NULL;
    }
    atomic_fetch_sub(&long_sorts, 1);
    return err_text(503,
                    "Sorting so many records by " STR_FMT
                    " takes long, and %d others do such a thing already: try again later",
                    STR_ARG(slow_field(scanning)), LONG_SORTS_MAX);
}

static Err *budget_check(Scanning *scanning)
{
    if (scanning->is_long ||
        (scanning->rows < scanning->rows_max &&
         (scanning->rows % CHECK_EVERY || clock_ns() < scanning->deadline_ns))) {
        return NULL;
    }
    if (scanning->plan && scanning->plan->is_exact) {
        return long_sort_begin(scanning);
    }
    return err_text(503,
                    "The query needs an index on " STR_FMT
                    ": too many records would have to be read to answer it",
                    STR_ARG(slow_field(scanning)));
}

static bool row_matches(const Scanning *scanning, const Row *row, const Json *doc)
{
    int64_t pk = row_int(row, 0);
    const char *candidate =
        bsearch(&pk, scanning->piece, scanning->piece_len, scanning->candidates.size, compare_pk);

    return candidate && node_matches(scanning->root, doc, candidate + sizeof pk);
}

// What the database decides, and has all keys of, needs no document.
static bool goes_by_columns(const Scanning *scanning)
{
    return scanning->plan && scanning->plan->is_exact && scanning->plan->sorts_in_sql;
}

static Err *column_row(const Row *row, void *context)
{
    Scanning *scanning = context;

    TRY(budget_check(scanning));
    scanning->rows++;
    scanning->matches++;
    Arena *outer = arena_use(scanning->arena);
    Str key = sort_bytes_of_row(scanning->plan, row);
    arena_use(outer);
    Err *err = sorter_add(scanning->sorter, key, row_int(row, 0));
    arena_reset(scanning->arena);
    return err;
}

static const char *piece_sql(const Collection *of, const Scanning *scanning)
{
    const Plan *plan = scanning->plan;
    Buf what = buf_new(arena_current(), SQL_MAX);

    if (!goes_by_columns(scanning)) {
        return by_pk_sql(of, "pk, doc");
    }
    buf_add_z(&what, "pk, id");
    for (size_t i = 0; i < plan->key_count; i++) {
        buf_fmt(&what, ", " STR_FMT, STR_ARG(sort_expression(&plan->keys[i])));
    }
    return by_pk_sql(of, str_z(buf_str(&what)));
}

static Err *scan_row(const Row *row, void *context)
{
    Scanning *scanning = context;
    Str value = {0};

    TRY(budget_check(scanning));
    scanning->rows++;
    Arena *outer = arena_use(scanning->arena);
    Json *doc = json_parse_stored(row_text(row, 1));
    bool matches = row_matches(scanning, row, doc);
    if (matches && scanning->sorter) {
        value = sort_bytes(scanning->plan, doc);
    } else if (matches && scanning->ids) {
        value = json_str(doc, "id");
    }
    arena_use(outer);
    Err *err = NULL;
    if (matches && scanning->sorter) {
        err = sorter_add(scanning->sorter, value, row_int(row, 0));
    } else if (matches && scanning->ids) {
        str_list_add(scanning->ids, str_copy(outer, value));
    }
    scanning->matches += matches;
    arena_reset(scanning->arena);
    return err;
}

static Err *pieces_scan(Tx *tx, const Collection *of, Scanning *scanning)
{
    const Candidates *all = &scanning->candidates;
    const char *sql = piece_sql(of, scanning);
    Err *(*each)(const Row *, void *) = goes_by_columns(scanning) ? column_row : scan_row;
    Arg args[PKS_IN_STATEMENT];

    for (size_t at = 0; at < all->len; at += PKS_IN_STATEMENT) {
        scanning->piece = all->at + at * all->size;
        scanning->piece_len = all->len - at < PKS_IN_STATEMENT ? all->len - at : PKS_IN_STATEMENT;
        for (size_t i = 0; i < PKS_IN_STATEMENT; i++) {
            size_t shown = i < scanning->piece_len ? i : 0;
            args[i] = A_INT(pk_of(scanning->piece + shown * all->size));
        }
        TRY(sql_rows(tx, sql, (Args){args, PKS_IN_STATEMENT}, each, scanning));
        TRY(tx_renew(tx, false));
    }
    return NULL;
}

static Err *scan_run(Tx *tx, const Collection *of, Str where, Args args, Scanning *scanning)
{
    scanning->deadline_ns = clock_ns() + (int64_t)TIME_MAX_S * 1000 * 1000 * 1000;
    scanning->arena = arena_new(DOCUMENT_MAX);
    scanning->candidates.arena = arena_new(CANDIDATES_MAX);
    Err *err = candidates_read(tx, of, where, args, scanning);
    if (!err) {
        err = pieces_scan(tx, of, scanning);
    }
    arena_free(scanning->candidates.arena);
    arena_free(scanning->arena);
    if (scanning->is_long) {
        atomic_fetch_sub(&long_sorts, 1);
    }
    return err;
}

static void scan_log(const Plan *plan, const Scanning *scanning)
{
    if (scanning->rows > ROWS_TO_LOG) {
        log_line(LOG_INFO, "store", "scan of %lld records of %s for %lld matches: %.*s",
                 (long long)scanning->rows, plan->of->table, (long long)scanning->matches,
                 STR_ARG(plan->shape));
    }
}

// Sorting on disk takes its time: no snapshot waits for it.
static Err *sorted_read(Tx *tx, Sorter *sorter, const Scan *scan)
{
    bool is_long = sorter_is_on_disk(sorter);

    if (is_long) {
        TRY(tx_renew(tx, true));
    }
    TRY(sorter_read(sorter, scan->offset, scan->limit, scan->each, scan->context));
    return is_long ? tx_renew(tx, true) : NULL;
}

Err *query_scan(Tx *tx, const Plan *plan, Scan *scan)
{
    Scanning *scanning = NEW(Scanning);
    int64_t wanted = 0;

    scanning->root = plan->root;
    scanning->plan = plan;
    scanning->rows_max = scan->rows_max ? scan->rows_max : ROWS_MAX;
    if (scan->limit > 0) {
        bool is_page = !__builtin_add_overflow(scan->offset, scan->limit, &wanted);
        scanning->sorter = sorter_new(is_page ? wanted : INT64_MAX);
    }
    Err *err = scan_run(tx, plan->of, plan->where, plan->args, scanning);
    scan_log(plan, scanning);
    if (!err) {
        scan->total = scanning->matches;
    }
    if (!err && scanning->sorter) {
        err = sorted_read(tx, scanning->sorter, scan);
    }
    sorter_free(scanning->sorter);
    return err;
}

Err *query_scan_ids(Tx *tx, const Collection *of, const Node *root, Args args, StrList *out)
{
    Scanning *scanning = NEW(Scanning);

    scanning->root = root;
    scanning->ids = out;
    scanning->rows_max = ROWS_MAX;
    return scan_run(tx, of, node_bound(root), args, scanning);
}
