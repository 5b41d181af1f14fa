// Deciding on documents: reads the candidates, tests each, sorts what matches.
//
// A scan has a budget of time and rows (decision 55); the log says which query caused it, without
// its terms. Keys that outgrow memory go to a spool.
#include "store/query.h"

#include "base/log.h"
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROWS_MAX = 1000 * 1000,
    TIME_MAX_S = 10,
    ROWS_TO_LOG = 1000,
    CHECK_EVERY = 256,
    IN_MEMORY_MAX = 4000,
    KEY_MAX = 64 * 1024,
    COLUMNS_OF_DECIDED = 1000,
};

// ---------------------------------------------------------------------------------------------
// Testing a document

// Conditions that SQL decides inside a query that is decided on documents: columns of the row.
typedef struct {
    Node *nodes[COLUMNS_OF_DECIDED];
    bool values[COLUMNS_OF_DECIDED];
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

static bool node_matches(const Node *node, const Json *doc, const bool *decided)
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
// Sort keys: bytes that compare as the keys do, all keys of a record in one

static void key_bytes(Buf *key, Str bytes, unsigned char invert)
{
    for (size_t i = 0; i < bytes.len; i++) {
        buf_char(key, (char)((unsigned char)bytes.at[i] ^ invert));
        if (bytes.at[i] == '\0') {
            buf_char(key, (char)(0xff ^ invert)); // tells it from the end
        }
    }
    buf_char(key, (char)invert);
    buf_char(key, (char)invert);
}

static void key_number(Buf *key, double number, unsigned char invert)
{
    uint64_t bits;

    memcpy(&bits, &number, sizeof bits);
    bits = bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
    for (int shift = 56; shift >= 0; shift -= 8) {
        buf_char(key, (char)((unsigned char)(bits >> shift) ^ invert));
    }
}

static Str key_fold(const SortKey *key, Str text)
{
    Field like = {.flags = TEXT | (key->keeps_case ? KEEP_CASE : 0u) |
                           (key->keeps_accents ? KEEP_ACCENTS : 0u)};

    return field_fold(&like, text);
}

// Order of JSON types: null, string, number, boolean, array, object. Source:
// storage-and-cql.md 2.8.
static char json_rank(const Json *value)
{
    return (char)(json_is_string(value)   ? 2
                  : json_is_number(value) ? 3
                  : json_is_bool(value)   ? 4
                  : json_is_array(value)  ? (json_len(value) ? 5 : 0)
                  : json_is_null(value)   ? 1
                                          : 6);
}

static bool key_json(Buf *out, const SortKey *key, const Json *doc, unsigned char invert)
{
    const Json *value = json_get(doc, str_z(key->path));

    if (!value) {
        return false;
    }
    buf_char(out, (char)(json_rank(value) ^ (char)invert));
    if (json_is_number(value)) {
        double number = 0;
        (void)str_double(json_scalar_text(value), &number);
        key_number(out, number, invert);
    } else {
        key_bytes(out, json_scalar_text(value), invert);
    }
    return true;
}

static void key_add(Buf *out, const SortKey *key, const Json *doc)
{
    unsigned char invert = key->is_descending ? 0xff : 0;
    size_t start = out->len;

    buf_char(out, (char)invert); // before the missing ones
    if (key->is_number && (!key->field || !key->column)) {
        if (!key_json(out, key, doc, invert)) {
            out->len = start;
            buf_char(out, (char)(1 ^ invert));
        }
        return;
    }
    Arg value = A_NULL;
    Str text = key->field ? field_text(key->field, doc) : path_text(doc, key->path);
    if (key->field && key->field->flags & (TIME | NUMBER | FLAG)) {
        value = field_arg(key->field, text);
    } else if (text.at) {
        value = A_TEXT(key_fold(key, text));
    }
    switch (value.kind) {
    case ARG_INT:
        key_number(out, (double)value.integer, invert);
        break;
    case ARG_REAL:
        key_number(out, value.real, invert);
        break;
    case ARG_TEXT:
        key_bytes(out, value.text, invert);
        break;
    default:
        out->len = start;
        buf_char(out, (char)(1 ^ invert));
    }
}

static Str sort_bytes(const Plan *plan, const Json *doc)
{
    Buf key = buf_new(arena_current(), KEY_MAX);
    bool is_descending = plan->key_count && plan->keys[plan->key_count - 1].is_descending;

    for (size_t i = 0; i < plan->key_count; i++) {
        key_add(&key, &plan->keys[i], doc);
    }
    key_bytes(&key, json_str(doc, "id"), is_descending ? 0xff : 0);
    return buf_str(&key);
}

// ---------------------------------------------------------------------------------------------
// Sorting: in memory while it is little, then in a spool

typedef struct {
    Str key;
    int64_t pk;
} Sorted;

typedef struct {
    Sorted *at;
    size_t len, cap;
    Spool *spool; // NULL: all is in memory
} Sorter;

static Err *sorter_add(Sorter *sorter, Str key, int64_t pk)
{
    if (!sorter->spool && sorter->len < IN_MEMORY_MAX) {
        sorter->at =
            array_room(arena_current(), sorter->at, sorter->len, &sorter->cap, sizeof *sorter->at);
        sorter->at[sorter->len++] = (Sorted){str_copy(arena_current(), key), pk};
        return NULL;
    }
    if (!sorter->spool) {
        TRY(spool_new(&sorter->spool));
        for (size_t i = 0; i < sorter->len; i++) {
            TRY(spool_add(sorter->spool, sorter->at[i].key, false, sorter->at[i].pk));
        }
    }
    return spool_add(sorter->spool, key, false, pk);
}

static int compare_sorted(const void *a, const void *b)
{
    return str_cmp(((const Sorted *)a)->key, ((const Sorted *)b)->key);
}

static Err *sorter_read(Sorter *sorter, Scan *scan)
{
    if (sorter->spool) {
        return spool_read(sorter->spool, false, scan->offset, scan->limit, scan->each,
                          scan->context);
    }
    if (sorter->len) {
        sort_array(sorter->at, sorter->len, sizeof *sorter->at, compare_sorted);
    }
    for (size_t i = 0; i < sorter->len; i++) {
        if ((int64_t)i >= scan->offset && (int64_t)i - scan->offset < scan->limit) {
            TRY(scan->each(sorter->at[i].pk, scan->context));
        }
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// The scan

typedef struct {
    const Node *root;
    const Plan *plan; // sorts; or
    StrList *values;  // takes the ids
    Decided decided;
    Arena *arena; // of one document
    Arena *outer;
    Sorter sorter;
    int64_t rows, rows_max, matches;
    int64_t deadline_ns;
    Str field;
} Scanning;

static Err *budget_check(const Scanning *scanning)
{
    if (scanning->rows < scanning->rows_max &&
        (scanning->rows % CHECK_EVERY || clock_ns() < scanning->deadline_ns)) {
        return NULL;
    }
    return err_text(503,
                    "The query needs an index on " STR_FMT
                    ": too many records would have to be read to answer it",
                    STR_ARG(scanning->field.at ? scanning->field : S("its sort key")));
}

static Err *test_row(Scanning *scanning, const Row *row, Str *value, bool *matches)
{
    Json *doc = json_parse_stored(row_text(row, 1));

    for (size_t i = 0; i < scanning->decided.count; i++) {
        scanning->decided.values[i] = row_int(row, (int)i + 2) != 0;
    }
    *matches = node_matches(scanning->root, doc, scanning->decided.values);
    if (*matches) {
        *value = scanning->plan ? sort_bytes(scanning->plan, doc) : json_str(doc, "id");
    }
    return NULL;
}

static Err *scan_row(const Row *row, void *context)
{
    Scanning *scanning = context;
    Str value = {0};
    bool matches = false;

    TRY(budget_check(scanning));
    scanning->rows++;
    scanning->outer = arena_use(scanning->arena);
    Err *err = test_row(scanning, row, &value, &matches);
    arena_use(scanning->outer);
    if (!err && matches) {
        scanning->matches++;
        if (scanning->plan) {
            err = sorter_add(&scanning->sorter, value, row_int(row, 0));
        } else {
            str_list_add(scanning->values, str_copy(scanning->outer, value));
        }
    }
    arena_reset(scanning->arena);
    return err;
}

static const char *scan_sql(const Collection *of, const Decided *decided, Str where)
{
    Buf sql = buf_new(arena_current(), SQL_MAX);

    buf_add_z(&sql, "select pk, doc");
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

static Err *scan_run(Tx *tx, const Collection *of, Str where, Args args, Scanning *scanning)
{
    scanning->field = scanned_field(scanning->root);
    scanning->deadline_ns = clock_ns() + (int64_t)TIME_MAX_S * 1000 * 1000 * 1000;
    TRY(decided_collect((Node *)scanning->root, true, &scanning->decided));
    scanning->arena = arena_new((size_t)64 * 1024 * 1024);
    Err *err = sql_walk(tx, scan_sql(of, &scanning->decided, where), args, scan_row, scanning);
    arena_free(scanning->arena);
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

Err *query_scan(Tx *tx, const Plan *plan, Scan *scan)
{
    Scanning *scanning = NEW(Scanning);

    scanning->root = plan->root;
    scanning->plan = plan;
    scanning->rows_max = scan->rows_max ? scan->rows_max : ROWS_MAX;
    Err *err = scan_run(tx, plan->of, plan->where, plan->args, scanning);
    scan_log(plan, scanning);
    if (!err) {
        scan->total = scanning->matches;
        err = sorter_read(&scanning->sorter, scan);
    }
    if (scanning->sorter.spool) {
        spool_free(scanning->sorter.spool);
    }
    return err;
}

Err *query_scan_ids(Tx *tx, const Collection *of, const Node *root, Args args, StrList *out)
{
    Scanning *scanning = NEW(Scanning);

    scanning->root = root;
    scanning->values = out;
    scanning->rows_max = ROWS_MAX;
    return scan_run(tx, of, node_bound(root), args, scanning);
}
