// Inside of the CQL layer: what the parser's files share.
#pragma once

#include "cql/cql.h"

// The parts a query falls into, the same for the reader's preparation and for messages.
typedef enum {
    PART_END,
    PART_OPEN,
    PART_CLOSE,
    PART_SLASH,
    PART_RELATION, // = == < <= > >= <>
    PART_WORD,
    PART_QUOTED,
} PartKind;

typedef struct {
    PartKind kind;
    size_t start, end; // in bytes; quotes included
} Part;

// Blank, tab or line end.
bool part_is_blank(char c);
// The part at or after `from`. An open quote ends with the text.
Part part_next(Str text, size_t from);
// A word of this text in any case, not quoted.
bool part_is(Str text, Part part, const char *keyword);
// and, or, not, prox
bool part_is_boolean(Str text, Part part);

// 400 "CQL: <what>, at position <n>: <text>", n counting characters from 1.
Err *cql_error_at(Str text, size_t at, const char *what);
// What is wrong with the order of the parts, if anything.
Err *cql_check(Str text);
// The same for a text that the parser refused: always an error.
Err *cql_explain(Str text);

// Whether < <= > >= == <> is true of two values that compare as `order`.
bool relation_holds(CqlRelation relation, int order);

bool number_is_valid(Str s);
// As numbers of any length; both must be valid.
int number_cmp(Str a, Str b);
