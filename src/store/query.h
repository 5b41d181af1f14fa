// A CQL query as the database and the program answer it together.
//
// Every part of the query that side columns can decide is SQL; the rest is decided on the
// documents. SQL narrows the candidates for the rest wherever it can. Because "unknown" (a missing
// field) and "false" lead to the same result in every query CQL can express - its only negation
// asks "is not true" - both are one here. Source: spec/storage-and-cql.md 2.
#pragma once

#include "cql/cql.h"
#include "store/engine.h"

typedef enum {
    NODE_SQL, // decided by `sql`
    NODE_DOC, // decided on the document; `sql`, if set, holds for every match
    NODE_AND,
    NODE_OR,
    NODE_NOT, // kids[0] is not true
} NodeKind;

typedef struct Node Node;

struct Node {
    NodeKind kind;
    Str sql;
    bool is_true, is_false; // SQL: always
    Node **kids;
    size_t kid_count;
    // DOC: the text of `field`, or of the value at `path`, matches; or an element of the array
    // does.
    const Field *field;
    Str path;
    const Cql *clause;
    CqlMatcher *matcher;
    const CqlUuid *uuid;
    const struct Elements *elements;
    // SQL below something that is decided on documents: its column in the scan's rows.
    int column;
};

// "/@": one element of the array has a matching member, and members that match the modifiers.
typedef struct Elements {
    StrList members; // any of them matches
    CqlMatcher *matcher;
    struct {
        Str member;
        CqlMatcher *matcher;
    } with[8];
    size_t with_count;
} Elements;

typedef struct {
    const char *column; // side column, or NULL: on the document
    const Field *field;
    Str path;
    Str expression;     // of a parent's column, instead of a column of ours; at == NULL: none
    const Field *typed; // what such a column holds; NULL: ids
    bool is_descending, is_number, keeps_case, keeps_accents;
} SortKey;

typedef struct {
    Tx *tx;
    const Collection *of;
    Arg *args;
    size_t arg_count, arg_cap;
    int depth, or_depth; // of operators; of those among them that are "or"
    bool has_words;
    bool has_range;              // in no order of id: the records of several values
    const Collection *cut_asked; // whether some of its columns hold cut texts:
    bool has_cut;
} Planner;

typedef struct {
    const Collection *of;
    Node *root;
    Str where; // SQL condition, exact or wider; at == NULL: none
    Args args;
    bool is_exact; // `where` decides alone
    SortKey *keys;
    size_t key_count;
    bool sorts_in_sql;
    Str order_by;    // "\"title\" nulls last, id"
    bool is_by_id;   // the order is that of id, ascending
    bool has_filter; // anything but a range of ids stands in `where`
    bool has_words;  // some word search stands in `where`
    // Where many records match, walking this index in order and testing each record finds a page
    // sooner than sorting all matches; NULL: none.
    const char *walk_index;
    bool walks_part; // all matches stand in a part of it
    bool finds_few;  // a condition leaves few records, however large the table
    Str shape;       // for the log: fields and relations, no terms
} Plan;

// Further condition of the caller: its $1.. keep their numbers.
WARN_UNUSED Err *query_plan(Tx *tx, const Collection *of, const ListRequest *request, Plan *out);

// One clause as a node.
WARN_UNUSED Err *clause_node(Planner *planner, const Cql *clause, Node **out);
// A test of the document; `bound`, if set, is a condition that holds for every match.
WARN_UNUSED Err *doc_node(const Cql *clause, const Field *field, Str bound, Node **out);
// Adds " or ...": all rows whose column holds only the beginning of the text; those of them that
// match the clause, as if it were positive.
void add_cut_rows(Planner *planner, const Field *field, Buf *sql);
WARN_UNUSED Err *add_cut_matches(Planner *planner, const Cql *clause, const Field *field, Buf *sql);
WARN_UNUSED Err *elements_node(Planner *planner, const Cql *clause, const Field *field, Node **out);
// Fills walk_index and what is said with it.
void plan_walk(Plan *plan, const CqlQuery *query, bool has_range);

// How a page is found where its order has an index.
typedef enum {
    FREELY,     // as the database likes
    WALKING,    // along the index, testing each record
    COLLECTING, // all matches, which are sorted then
} Way;

// "select WHAT ..." of the matches in the plan's order. Behind the plan's arguments: limit, offset,
// and what `condition` has more, or, where the planner is led by subqueries, how many steps a walk
// goes at most.
const char *plan_sql(const Plan *plan, const Dialect *dialect, Way way, const char *what,
                     Str condition);
// Any part of the query.
WARN_UNUSED Err *query_node(Planner *planner, const Cql *cql, Node **out);
// The related collection a name begins with; NULL if none. *rest = the name behind the alias.
const Join *join_of(const Collection *of, Str name, Str *rest);
WARN_UNUSED Err *join_node(Planner *planner, const Join *join, const Cql *cql, Node **out);

// Number of a new parameter.
int planner_add(Planner *planner, Arg arg);
// Condition: the column begins with the prefix, in the order of code points.
Str prefix_sql(Planner *planner, const char *column, Str prefix);
Node *node_sql(Str sql);
Node *node_true(void);
Node *node_false(void);
// What SQL can say about a node at least; at == NULL: nothing.
Str node_bound(const Node *node);
bool node_is_exact(const Node *node);

// How many records match, for plans that SQL decides alone.
typedef struct {
    int64_t total;
    bool is_exact;
    int64_t table_size; // about; 0: not known
} Counted;

WARN_UNUSED Err *plan_count_capped(Tx *tx, const Plan *plan, Counted *out);
WARN_UNUSED Err *plan_count(Tx *tx, const Plan *plan, int64_t *out);

// "select WHAT ..." of records by 100 numbers; a number may stand there several times.
enum { PKS_IN_STATEMENT = 100 };
const char *by_pk_sql(const Collection *of, const char *what);

// All rows the plan matches, decided on documents where needed, in the plan's order.
typedef struct {
    int64_t offset, limit;
    int64_t rows_max; // budget; 0 = 1,000,000
    int64_t total;    // out: how many match
    Err *(*each)(int64_t pk, void *context);
    void *context;
} Scan;

WARN_UNUSED Err *query_scan(Tx *tx, const Plan *plan, Scan *scan);
// The ids of all records that match.
WARN_UNUSED Err *query_scan_ids(Tx *tx, const Collection *of, const Node *root, Args args,
                                StrList *out);
WARN_UNUSED Err *plan_sort(Plan *plan, const CqlQuery *query);
// What a record is sorted by: bytes to be compared as such, no two records have the same. Of its
// document, or, if the plan sorts in SQL, of its id and then the keys in columns 1, 2 ... of a row.
Str sort_bytes(const Plan *plan, const Json *doc);
Str sort_bytes_of_row(const Plan *plan, const Row *row);
Str sort_expression(const SortKey *key);
