// JSON paths over text: reading a path, walking a document.
#include "jsonpath.h"

#include "jsonpath_filter.h"
#include "jsonscan.h"

typedef struct {
    const JsonPath *path;
    JsonScan scan;
    size_t max;
    StrList *found;
} Walk;

static Err *path_error(Str text, size_t at, const char *what)
{
    return err_text(400, "JSON path \"" STR_FMT "\", character %zu: %s", STR_ARG(text), at + 1,
                    what);
}

static bool name_char(char c)
{
    return c != '.' && c != '[' && c != ' ' && c != ']' && c != '(' && c != ')' && c != '=' &&
           c != '!' && c != '<' && c != '>' && c != '&' && c != '|';
}

// ['name'], [n], [*], [?(filter)]; *at stands behind the bracket.
static Err *compile_bracket(Str text, size_t *at, PathStep *step)
{
    size_t i = *at;
    char c = i < text.len ? text.at[i] : 0;

    if (c == '\'' || c == '"') {
        ptrdiff_t end = str_find_char(text, c, i + 1);
        if (end < 0) {
            return path_error(text, i, "the quote is not closed");
        }
        step->kind = STEP_NAME;
        step->name = str_copy(arena_current(), str_sub(text, i + 1, (size_t)end));
        i = (size_t)end + 1;
    } else if (c == '*') {
        step->kind = STEP_ANY;
        i++;
    } else if (c == '?') {
        step->kind = STEP_FILTER;
        i++;
        TRY(filter_compile(text, &i, &step->filter));
    } else {
        ptrdiff_t end = str_find_char(text, ']', i);
        int64_t index = 0;
        if (end < 0 || !str_int64(str_trim(str_sub(text, i, (size_t)end)), &index) ||
            index > INT32_MAX || index < INT32_MIN) {
            return path_error(text, i, "expected a number, *, a quoted name or ?(filter)");
        }
        step->kind = STEP_INDEX;
        step->index = (int32_t)index;
        i = (size_t)end;
    }
    if (i >= text.len || text.at[i] != ']') {
        return path_error(text, i, "expected ]");
    }
    *at = i + 1;
    return NULL;
}

static Err *compile_step(Str text, size_t *at, PathStep *step)
{
    size_t i = *at;

    if (i < text.len && text.at[i] == '.') {
        i++;
        if (i < text.len && text.at[i] == '.') {
            step->is_deep = true;
            i++;
        }
    }
    if (i < text.len && text.at[i] == '[') {
        *at = i + 1;
        return compile_bracket(text, at, step);
    }
    if (i < text.len && text.at[i] == '*') {
        step->kind = STEP_ANY;
        *at = i + 1;
        return NULL;
    }
    size_t begin = i;
    while (i < text.len && name_char(text.at[i])) {
        i++;
    }
    if (i == begin) {
        return path_error(text, i, "expected a name");
    }
    step->kind = STEP_NAME;
    step->name = str_copy(arena_current(), str_sub(text, begin, i));
    *at = i;
    return NULL;
}

Err *path_compile_at(Str text, size_t *at, JsonPath *path)
{
    size_t i = *at;

    while (i < text.len && (text.at[i] == '.' || text.at[i] == '[' || i == *at)) {
        bool is_root = i == *at && (text.at[i] == '$' || text.at[i] == '@');
        if (is_root) {
            i++;
            continue;
        }
        if (path->len == JSONPATH_STEPS_MAX) {
            return path_error(text, i, "too many steps");
        }
        TRY(compile_step(text, &i, &path->at[path->len]));
        path->len++;
    }
    *at = i;
    return NULL;
}

Err *jsonpath_compile(Str text, JsonPath **out)
{
    JsonPath *path = NEW(JsonPath);
    size_t at = 0;

    text = str_trim(text);
    if (text.len == 0) {
        return path_error(text, 0, "the path is empty");
    }
    TRY(path_compile_at(text, &at, path));
    if (at < text.len) {
        return path_error(text, at, "expected . or [");
    }
    *out = path;
    return NULL;
}

static bool is_full(const Walk *walk)
{
    return walk->max > 0 && walk->found->len >= walk->max;
}

static Err *walk_value(Walk *walk, size_t at, size_t step, int depth);

static bool step_takes(Walk *walk, const PathStep *step, const JsonMember *member, size_t count)
{
    switch (step->kind) {
    case STEP_NAME:
        return member->has_key && scan_key_is(&walk->scan, member, step->name);
    case STEP_INDEX:
        return !member->has_key &&
               (step->index >= 0 ? member->i == (size_t)step->index
                                 : count >= (size_t) - (int64_t)step->index &&
                                       member->i == count - (size_t) - (int64_t)step->index);
    case STEP_ANY:
        return true;
    case STEP_FILTER:
        return filter_accepts(step->filter, str_sub(walk->scan.doc, member->value, member->end));
    }
    return false;
}

// The elements of the container at `at`: applies the step to each of them.
static Err *walk_children(Walk *walk, size_t at, size_t step, int depth)
{
    const PathStep *wanted = &walk->path->at[step];
    JsonMember member = {0};
    size_t count = 0;

    if (wanted->kind == STEP_INDEX && wanted->index < 0) {
        TRY(scan_count(&walk->scan, at, &count));
    }
    TRY(scan_first(&walk->scan, at, &member));
    while (!member.is_end) {
        if (!is_full(walk) && step_takes(walk, wanted, &member, count)) {
            TRY(walk_value(walk, member.value, step + 1, depth + 1));
        }
        TRY(scan_next(&walk->scan, &member));
    }
    return NULL;
}

// The same for all descendants: a node's own members first, then what is below them.
static Err *walk_deep(Walk *walk, size_t at, size_t step, int depth)
{
    JsonMember member = {0};

    if (depth > JSONPATH_DEPTH_MAX) {
        return err_text(400, "the JSON is nested too deeply");
    }
    TRY(walk_children(walk, at, step, depth));
    TRY(scan_first(&walk->scan, at, &member));
    while (!member.is_end) {
        if (!is_full(walk) && scan_is_container(&walk->scan, member.value)) {
            TRY(walk_deep(walk, member.value, step, depth + 1));
        }
        TRY(scan_next(&walk->scan, &member));
    }
    return NULL;
}

static Err *walk_value(Walk *walk, size_t at, size_t step, int depth)
{
    if (depth > JSONPATH_DEPTH_MAX) {
        return err_text(400, "the JSON is nested too deeply");
    }
    if (step == walk->path->len) {
        size_t end = 0;
        TRY(scan_value(&walk->scan, at, &end));
        str_list_add(walk->found, str_sub(walk->scan.doc, at, end));
        return NULL;
    }
    if (!scan_is_container(&walk->scan, at)) {
        return NULL;
    }
    if (walk->path->at[step].is_deep) {
        return walk_deep(walk, at, step, depth);
    }
    return walk_children(walk, at, step, depth);
}

Err *jsonpath_find(const JsonPath *path, Str doc, size_t max, StrList *found)
{
    Walk walk = {.path = path, .scan = scan_of(doc), .max = max, .found = found};
    size_t begin = scan_blanks(&walk.scan, 0), end = 0;

    TRY(scan_value(&walk.scan, begin, &end));
    if (scan_blanks(&walk.scan, end) != doc.len) {
        return err_text(400, "there is more than one JSON value");
    }
    return walk_value(&walk, begin, 0, 0);
}

Str jsonpath_text(Str value)
{
    if (value.len < 2 || value.at[0] != '"') {
        return value;
    }
    return scan_unescape(str_sub(value, 1, value.len - 1));
}
