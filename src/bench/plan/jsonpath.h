// JSON paths over the text of an answer: found values are pieces of the text, no tree is built.
//
// The subset that FOLIO's load plans use: $ (may be missing), .name, ['name'], ..name, [n], [-n],
// [*],
// .*, [?(filter)] with == != < <= > >= && || ! and paths beginning with @; a stray dot before "["
// and blanks at the end are accepted. Source: spec/workloads.md 13.
#pragma once

#include "base/err.h"

enum {
    JSONPATH_STEPS_MAX = 24,
    JSONPATH_DEPTH_MAX = 128,
};

typedef struct JsonPath JsonPath;

// In the current arena. 400 with the place for a path outside the subset.
WARN_UNUSED Err *jsonpath_compile(Str text, JsonPath **out);

// Adds each value found, in document order (a node before its descendants), as the piece of `doc`
// that holds it, strings with their quotes. At most `max` values are taken (0 = all). 400 if the
// text is no JSON as far as brackets, quotes and separators go, is nested too deeply or costs too
// much to search.
WARN_UNUSED Err *jsonpath_find(const JsonPath *path, Str doc, size_t max, StrList *found);

// The value as text: a string without quotes and escapes, anything else as it stands.
Str jsonpath_text(Str value);
