// Folding of text for comparison and word search: the one place that decides what counts as equal.
//
// fold(s) = simple lower case of s without accents, the result FOLIO gets from
// lower(f_unaccent(s)) on PostgreSQL. Source: spec/storage-and-cql.md 2.4, 2.10; the folding equals
// PostgreSQL's unaccent rules.
#pragma once

#include "base/str.h"

// Raised when folding or ICU's data change what they give; stored word indexes carry it.
int fold_version(void);

// All results in the current arena. Invalid UTF-8 bytes pass unchanged. Fold once: as in PostgreSQL
// three rare capitals (U+01A6, U+01F6, U+0220) become small letters that another folding would
// change.
Str fold(Str s);         // lower case, no accents
Str fold_case(Str s);    // lower case only
Str fold_accents(Str s); // no accents only

// The words of a text as word search sees them, folded: runs of letters, digits and marks;
// everything else separates ("&" too). Equal tokens on every database (decision 23).
void fold_words(Str s, StrList *words);
