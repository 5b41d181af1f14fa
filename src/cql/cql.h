// CQL queries as a tree (YAZ parses; this layer makes the dialect FOLIO's).
// Source: spec/storage-and-cql.md 2, spec/workloads.md 1 (S4-S7).
#pragma once

#include "base/err.h"

typedef enum {
    CQL_AND,
    CQL_OR,
    CQL_NOT, // left AND NOT right; missing fields satisfy the NOT
    CQL_CLAUSE,
    CQL_ALL, // cql.allRecords=1
} CqlKind;

typedef enum {
    CQL_EXACT,     // ==
    CQL_NOT_EQUAL, // <>
    CQL_WORDS,     // = and adj: phrase
    CQL_ALL_WORDS, // all
    CQL_ANY_WORD,  // any
    CQL_LESS,
    CQL_LESS_EQUAL,
    CQL_GREATER,
    CQL_GREATER_EQUAL,
} CqlRelation;

typedef struct {
    Str name;      // lower case, without '@' for /@name
    Str value;     // /@name=value; empty if none
    bool is_array; // was written /@name
    bool has_value;
} CqlModifier;

typedef struct Cql Cql;

struct Cql {
    CqlKind kind;
    // AND, OR, NOT: AND and OR hold any number of operands (a or b or c is one node), NOT two.
    Cql **operands;
    size_t operand_count;
    int depth; // of booleans below each other: 0 for a clause
    // CLAUSE
    Str index; // dotted path as written
    CqlRelation relation;
    const CqlModifier *modifiers;
    size_t modifier_count;
    bool is_number;    // /number
    Str term;          // with its escapes and wildcards; see cql_pattern
    Str relation_text; // as written, for messages
};

typedef struct {
    Str index;
    bool is_descending;
    bool is_number, respects_case, respects_accents;
} CqlSortKey;

typedef struct {
    Cql *root; // CQL_ALL for an absent query
    const CqlSortKey *sort;
    size_t sort_count;
} CqlQuery;

// 400 text for everything FOLIO refuses: syntax, unsupported relation, modifier or prefix, bare
// term, empty text, invalid UTF-8; and for what only an attacker sends, because it would cost a
// thread its stack: 256 KiB, 500 nested parentheses, 30 booleans below each other, 10,000 booleans,
// 300 times not, 1,000 modifiers, 50 sort keys. A query that is absent (at == NULL) is CQL_ALL, as
// is cql.allRecords=1; "everything and x" is x. The clauses of index==(a or b ...) share one Str as
// index (the same pointer).
WARN_UNUSED Err *cql_parse(Str text, CqlQuery *out);

// The query with ? for its values, for statistics; "" for one that is absent or refused.
Str cql_shape(Str text);

// A term as literal pieces and wildcards, escapes resolved.
typedef enum { CQL_LITERAL, CQL_ANY_RUN, CQL_ANY_CHAR } CqlPieceKind;

typedef struct {
    CqlPieceKind kind;
    Str text; // CQL_LITERAL
} CqlPiece;

typedef struct {
    const CqlPiece *pieces; // none for the empty term
    size_t count;
    bool has_wildcards;
    Str literal; // the whole term with escapes resolved when it has no wildcards
} CqlPattern;

CqlPattern cql_pattern(Str term);

// How a field compares: what the index definition of the record type says about it.
typedef enum {
    CQL_KEEP_CASE = 1 << 0,
    CQL_KEEP_ACCENTS = 1 << 1,
    // == <> < <= > >= compare instants if both sides are times (TIME fields), else text.
    CQL_AS_TIME = 1 << 2,
} CqlFolding;

// Reference semantics of one clause against a stored value (text of the field; at == NULL for a
// missing field). Unknown: the field is missing. `ordered_raw`: < > compare without folding (no
// index entry). Errors 400 as in spec/storage-and-cql.md 2.2, 2.3.
typedef enum { CQL_FALSE, CQL_TRUE, CQL_UNKNOWN } CqlTruth;

WARN_UNUSED Err *cql_clause_matches(const Cql *clause, Str value, unsigned folding,
                                    bool ordered_raw, CqlTruth *out);

// The same prepared once for many values: the term is read and folded once, a test leaves nothing
// in the arena. The matcher lives in the arena current at its making.
typedef struct CqlMatcher CqlMatcher;

WARN_UNUSED Err *cql_matcher(const Cql *clause, unsigned folding, bool ordered_raw,
                             CqlMatcher **out);
CqlTruth cql_matcher_test(const CqlMatcher *matcher, Str value);

// What a clause asks of an id or a reference (a UUID column). Errors 400: modifiers, other
// relations, a wildcard that is not at the end, an order by something that is no UUID.
typedef enum {
    CQL_UUID_ALL,        // where set
    CQL_UUID_NONE,       // nothing; also equality with what is no UUID
    CQL_UUID_EQUAL,      // text: the UUID in lower case
    CQL_UUID_NOT_EQUAL,  // where set and different
    CQL_UUID_PREFIX,     // text: what it begins with, in lower case
    CQL_UUID_NOT_PREFIX, // where set and beginning otherwise
    CQL_UUID_ORDER,      // relation: < <= > >=, text: the UUID in lower case
} CqlUuidKind;

typedef struct {
    CqlUuidKind kind;
    CqlRelation relation;
    Str text;
} CqlUuid;

WARN_UNUSED Err *cql_uuid(const Cql *clause, CqlUuid *out);
// Unknown where the value is missing (at == NULL).
CqlTruth cql_uuid_test(const CqlUuid *uuid, Str value);
// Both at once. `is_key`: the record's own id.
WARN_UNUSED Err *cql_uuid_matches(const Cql *clause, Str value, bool is_key, CqlTruth *out);

// The words of a term for a word search (= adj all any), each folded: `prefix` for "wor*". Errors
// 400 for * or ? at other places. matches_all: the term is "*" alone, every record matches, also
// without the field; is_defined: the term is "". No words and neither of them: nothing matches.
typedef struct {
    Str word;
    bool is_prefix;
} CqlWord;

typedef struct {
    const CqlWord *words;
    size_t count;
    bool matches_all, is_defined;
} CqlWords;

WARN_UNUSED Err *cql_words(const Cql *clause, CqlWords *out);
