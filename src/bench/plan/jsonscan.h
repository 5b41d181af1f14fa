// Walking JSON as text: where values begin and end, the members of a container one after another.
#pragma once

#include "base/err.h"

typedef struct {
    Str doc;
    size_t fuel; // bytes that may still be looked at: bounds the work of nested ".."
} JsonScan;

typedef struct {
    size_t key, key_end; // inside the quotes
    size_t value, end;
    size_t i; // position in the container
    bool has_key;
    bool has_escape; // in the key
    bool is_end;
} JsonMember;

JsonScan scan_of(Str doc);
size_t scan_blanks(const JsonScan *scan, size_t at);
// The end of the value at `at`. Brackets must match; inside containers only quotes and brackets are
// looked at, which finds cut-off answers and costs one pass.
WARN_UNUSED Err *scan_value(JsonScan *scan, size_t at, size_t *end);
bool scan_is_container(const JsonScan *scan, size_t at);

// The members of the container at `at`; is_end behind the last.
WARN_UNUSED Err *scan_first(JsonScan *scan, size_t at, JsonMember *member);
WARN_UNUSED Err *scan_next(JsonScan *scan, JsonMember *member);
WARN_UNUSED Err *scan_count(JsonScan *scan, size_t at, size_t *count);
bool scan_key_is(const JsonScan *scan, const JsonMember *member, Str name);
// The inside of a string without its escapes; the same text if there are none.
Str scan_unescape(Str inside);
