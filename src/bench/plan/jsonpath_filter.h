// The filters of JSON paths, and the form of a path that both files share.
#pragma once

#include "jsonpath.h"

typedef struct Filter Filter;

typedef struct {
    enum { STEP_NAME, STEP_INDEX, STEP_ANY, STEP_FILTER } kind;
    bool is_deep; // written with ".."
    int32_t index;
    Str name;
    Filter *filter;
} PathStep;

struct JsonPath {
    PathStep at[JSONPATH_STEPS_MAX];
    size_t len;
};

// A path inside a longer text; *at moves behind it.
WARN_UNUSED Err *path_compile_at(Str text, size_t *at, JsonPath *path);
// "(...)" at *at; moves behind it.
WARN_UNUSED Err *filter_compile(Str text, size_t *at, Filter **out);
// Is the filter true for the value?
bool filter_accepts(const Filter *filter, Str value);
