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
    // CLAUSE
    Str index; // dotted path as written
    CqlRelation relation;
    const CqlModifier *modifiers;
    size_t modifier_count;
    bool is_number;   // /number
    Str term;         // with its escapes and wildcards; see cql_pattern
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

// 400 text for everything FOLIO refuses: syntax, unsupported relation, modifier or prefix, bare term,
// empty text; depth over 500 nested parentheses. `or` chains of any length are fine.
WARN_UNUSED Err *cql_parse(Str text, CqlQuery *out);

// A term as literal pieces and wildcards, escapes resolved.
typedef enum { CQL_LITERAL, CQL_ANY_RUN, CQL_ANY_CHAR } CqlPieceKind;

typedef struct {
    CqlPieceKind kind;
    Str text; // CQL_LITERAL
} CqlPiece;

typedef struct {
    const CqlPiece *pieces;
    size_t count;
    bool has_wildcards;
    Str literal; // the whole term with escapes resolved when it has no wildcards
} CqlPattern;

CqlPattern cql_pattern(Str term);

// How a field compares: what the index definition of the record type says about it.
typedef enum {
    CQL_KEEP_CASE = 1 << 0,
    CQL_KEEP_ACCENTS = 1 << 1,
} CqlFolding;

// Reference semantics of one clause against a stored value (text of the field; at == NULL for a
// missing field). Unknown: the field is missing. `ordered_raw`: < > compare without folding (no index
// entry). Errors 400 as in spec/storage-and-cql.md 2.2, 2.3.
typedef enum { CQL_FALSE, CQL_TRUE, CQL_UNKNOWN } CqlTruth;

WARN_UNUSED Err *cql_clause_matches(const Cql *clause, Str value, unsigned folding,
                                    bool ordered_raw, CqlTruth *out);

// The words of a term for a word search, each folded: `prefix` for "wor*". Errors 400 for * or ? at
// other places. matches_all: the term is "*" alone; is_defined: the term is "".
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
