// Extractors and checks of answers. They behave like JMeter's elements of the same purpose, because
// FOLIO's plans rely on it: spec/workloads.md 13 and 14.
#include "answer.h"

enum {
    FOUND_MAX = 100000,
};

static Err *path_of(Text *text, JsonPath *compiled, Actor *actor, const JsonPath **out)
{
    JsonPath *path = compiled;

    if (!path) {
        TRY(jsonpath_compile(text_str(text, actor), &path));
    }
    *out = path;
    return NULL;
}

// The values as text; none if the answer is no JSON.
static void find_json(const Extract *extract, Actor *actor, const Answer *answer, StrList *found)
{
    const JsonPath *path = NULL;
    StrList raw = {0};
    size_t max = extract->match > 0 ? (size_t)extract->match : 0;

    if (path_of(extract->path, extract->compiled, actor, &path) ||
        jsonpath_find(path, answer->body, max, &raw)) {
        return;
    }
    for (size_t i = 0; i < raw.len; i++) {
        str_list_add(found, jsonpath_text(raw.at[i]));
    }
}

// "$1$-$2$" filled in with the groups of a match.
static Str fill_template(Str template_, const RegexpMatch *match)
{
    Buf buf = buf_new(arena_current(), TEXT_MAX);

    if (template_.len == 0) {
        return match->group[1].len > 0 ? match->group[1] : match->group[0];
    }
    for (size_t i = 0; i < template_.len; i++) {
        bool is_group = template_.at[i] == '$' && i + 2 < template_.len &&
                        template_.at[i + 1] >= '0' && template_.at[i + 1] <= '9' &&
                        template_.at[i + 2] == '$';
        if (is_group) {
            buf_add(&buf, match->group[template_.at[i + 1] - '0']);
            i += 2;
        } else {
            buf_char(&buf, template_.at[i]);
        }
    }
    return buf_str(&buf);
}

static void find_regex(const Extract *extract, Actor *actor, Str text, StrList *found)
{
    size_t max = extract->match > 0 ? (size_t)extract->match : 1000;
    RegexpMatch *matches = NEW_ARRAY(RegexpMatch, max);
    size_t count = regexp_find_all(extract->regex, text, matches, max);
    size_t chosen = extract->match > 0 ? max - 1 : 0;

    for (size_t i = 0; i < count; i++) {
        str_list_add(found, fill_template(extract->template_, &matches[i]));
    }
    for (int g = 0; chosen < count && g <= regexp_groups(extract->regex); g++) {
        vars_set(actor->vars, extract->groups[g], matches[chosen].group[g]);
    }
}

static void find_boundary(const Extract *extract, Actor *actor, Str text, StrList *found)
{
    Str left = text_str(extract->left, actor), right = text_str(extract->right, actor);
    size_t from = 0;

    while (found->len < FOUND_MAX) {
        ptrdiff_t begin = str_find(text, left, from);
        ptrdiff_t end = begin < 0 ? -1 : str_find(text, right, (size_t)begin + left.len);
        if (end < 0) {
            return;
        }
        str_list_add(found, str_sub(text, (size_t)begin + left.len, (size_t)end));
        from = (size_t)end + (right.len ? right.len : 1);
    }
}

// False if nothing was found and there is no default.
static bool store(const Extract *extract, Actor *actor, const StrList *found)
{
    bool is_all = extract->match == MATCH_ALL;

    if (is_all) {
        vars_set_list(actor->vars, extract->variable, found->at, found->len);
    }
    if (found->len == 0 || (extract->match > 0 && found->len < (size_t)extract->match)) {
        if (extract->fallback) {
            vars_set(actor->vars, extract->variable, text_str(extract->fallback, actor));
        } else if (extract->kind == EXTRACT_JSON) {
            vars_set(actor->vars, extract->variable, (Str){"", 0});
        }
        return extract->fallback != NULL;
    }
    if (is_all) {
        vars_unset(actor->vars, extract->variable);
        return true;
    }
    size_t chosen = extract->match > 0
                        ? (size_t)extract->match - 1
                        : (size_t)rng_between(&actor->rng, 0, (int64_t)found->len - 1);
    vars_set(actor->vars, extract->variable, found->at[chosen]);
    return true;
}

size_t answer_extract(const Request *request, Actor *actor, const Answer *answer)
{
    size_t missed = 0;

    for (size_t i = 0; i < request->extract_len; i++) {
        const Extract *extract = &request->extracts[i];
        Str text = extract->from_headers ? answer->headers : answer->body;
        StrList found = {0};
        switch (extract->kind) {
        case EXTRACT_JSON:
            find_json(extract, actor, answer, &found);
            break;
        case EXTRACT_REGEX:
            find_regex(extract, actor, text, &found);
            break;
        case EXTRACT_BOUNDARY:
            find_boundary(extract, actor, text, &found);
            break;
        }
        missed += !store(extract, actor, &found);
    }
    return missed;
}

static bool value_holds(const Check *check, size_t i, Actor *actor, Str text)
{
    switch (check->test) {
    case TEST_EQUALS:
        return str_eq(text, text_str(check->values[i], actor));
    case TEST_CONTAINS_TEXT:
        return str_find(text, text_str(check->values[i], actor), 0) >= 0;
    case TEST_CONTAINS_REGEX:
        return regexp_finds(check->regexes[i], text);
    case TEST_MATCHES:
        return regexp_matches(check->regexes[i], text);
    }
    return false;
}

// With `not` each value has to fail; with `any` one that is right is enough.
static bool text_holds(const Check *check, Actor *actor, Str text)
{
    bool holds = !check->is_any;

    for (size_t i = 0; i < check->value_count; i++) {
        bool is_right = value_holds(check, i, actor, text) != check->is_not;
        holds = check->is_any ? holds || is_right : holds && is_right;
    }
    return holds || check->value_count == 0;
}

// The path must exist; with a value its text must be that, or match it. "[]" also means "nothing".
static bool json_holds(const Check *check, Actor *actor, const Answer *answer)
{
    const JsonPath *path = NULL;
    StrList found = {0};

    if (path_of(check->path, check->compiled, actor, &path) ||
        jsonpath_find(path, answer->body, 1, &found)) {
        return false;
    }
    bool holds = found.len > 0;
    if (check->has_value) {
        Str wanted = text_str(check->values[0], actor);
        bool is_empty = str_eq_z(wanted, "[]") && found.len == 0;
        holds = is_empty || (holds && value_holds(check, 0, actor, jsonpath_text(found.at[0])));
    }
    return holds != check->is_not;
}

bool answer_holds(const Request *request, Actor *actor, const Answer *answer, Str *why)
{
    for (size_t i = 0; i < request->check_len; i++) {
        const Check *check = &request->checks[i];
        bool holds = false;
        switch (check->kind) {
        case CHECK_STATUS:
            holds = text_holds(check, actor, str_fmt("%d", answer->status));
            break;
        case CHECK_BODY:
            holds = text_holds(check, actor, answer->body);
            break;
        case CHECK_HEADERS:
            holds = text_holds(check, actor, answer->headers);
            break;
        case CHECK_JSON:
            holds = json_holds(check, actor, answer);
            break;
        }
        if (!holds) {
            static const char *const kinds[] = {"status", "body", "headers", "json"};
            static const char *const tests[] = {"equals", "contains", "contains", "matches"};
            *why =
                str_fmt("%s%s%s " STR_FMT, check->is_not ? "not " : "", kinds[check->kind],
                        check->kind == CHECK_JSON ? "" : str_z(str_fmt(" %s", tests[check->test])),
                        STR_ARG(check->shown));
            return false;
        }
    }
    return true;
}
