// Facets of a list: how often which value of a property occurs among what a query matches.
// Source: spec/storage-and-cql.md 1.2, 1.3.
#include "gateway/internal.h"

#include "base/sort.h"

#include <stdlib.h>

enum {
    FACETS_MAX = 16,
    DEFAULT_VALUES = 5,
    DOCS_MAX = 10000, // only the first matches are counted
};

typedef struct {
    Str path; // "patronGroup", "a.b", "tags.tagList[]", "arr[].x"
    int64_t values_max;
    PermissionNames *values; // a table from texts to numbers
    int64_t *counts;
    size_t cap;
} Facet;

static Err *read_facet(Str text, Facet *out)
{
    ptrdiff_t colon = str_find_char(text, ':', 0);
    *out = (Facet){.path = text, .values_max = DEFAULT_VALUES, .values = permission_names_new()};
    if (colon < 0) {
        return NULL;
    }
    out->path = str_sub(text, 0, (size_t)colon);
    Str number = str_sub(text, (size_t)colon + 1, text.len);
    if (!str_int64(number, &out->values_max) || out->values_max < 0) {
        return err_text(400, "For input string: \"" STR_FMT "\"", STR_ARG(number));
    }
    return NULL;
}

static void count_value(Facet *facet, Str value)
{
    size_t number = permission_number(facet->values, value);
    facet->counts =
        array_room(arena_current(), facet->counts, number, &facet->cap, sizeof *facet->counts);
    facet->counts[number]++;
}

static void count_at(Facet *facet, const Json *value, Str path)
{
    Str part;
    while (value && str_next(&path, '.', &part)) {
        bool is_array = str_ends(part, S("[]"));
        if (is_array) {
            part = str_sub(part, 0, part.len - 2);
        }
        value = json_get(value, str_z(part));
        if (is_array || json_is_array(value)) {
            JSON_EACH(one, value)
            {
                count_at(facet, one, path.at ? path : (Str){NULL, 0});
            }
            return;
        }
    }
    if (json_is_string(value) || json_is_bool(value) || json_is_number(value)) {
        count_value(facet, json_scalar_text(value));
    }
}

static Err *count_all(Req *req, const Collection *of, Facet *facets, size_t n)
{
    ListRequest request;
    List *list = NULL;
    Str text;
    TRY(list_request_read(req, of, &request));
    request.offset = 0;
    request.limit = DOCS_MAX;
    request.totals = TOTALS_NONE;
    TRY(list_open(req->tx, of, &request, &list));
    for (;;) {
        TRY(list_next(list, &text));
        if (!text.at) {
            return NULL;
        }
        const Json *doc = json_parse_stored(text);
        for (size_t i = 0; i < n; i++) {
            count_at(&facets[i], doc, facets[i].path);
        }
    }
}

typedef struct {
    Str value;
    int64_t count;
} ValueCount;

static int by_count(const void *a, const void *b)
{
    const ValueCount *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count) - (x->count > y->count)
                                : str_cmp(x->value, y->value);
}

static Json *facet_json(const Facet *facet)
{
    size_t n = permission_count(facet->values);
    ValueCount *values = NEW_ARRAY(ValueCount, n + 1);
    Json *json = json_object(), *array = json_array();
    for (size_t i = 0; i < n; i++) {
        values[i] = (ValueCount){permission_name(facet->values, i), facet->counts[i]};
    }
    sort_array(values, n, sizeof *values, by_count);
    for (size_t i = 0; i < n && (int64_t)i < facet->values_max; i++) {
        Json *one = json_object();
        json_set_int(one, "count", values[i].count);
        json_set_str(one, "value", values[i].value);
        json_add(array, one);
    }
    json_set(json, "facetValues", array);
    json_set_str(json, "type", facet->path);
    return json;
}

Err *facets_read(Req *req, const Collection *of, Str *out)
{
    Facet facets[FACETS_MAX];
    size_t n = 0;
    Json *array = json_array();
    *out = S("[]");
    for (size_t i = 0; i < req->query.len && n < FACETS_MAX; i++) {
        const NameValue *one = &req->query.at[i];
        if (str_eq(one->name, S("facets")) && one->value.len) {
            TRY(read_facet(one->value, &facets[n]));
            n++;
        }
    }
    if (!n) {
        return NULL;
    }
    TRY(count_all(req, of, facets, n));
    for (size_t i = 0; i < n; i++) {
        json_add(array, facet_json(&facets[i]));
    }
    *out = json_text(array);
    return NULL;
}
