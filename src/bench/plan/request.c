// Reading one request of a plan: address, headers, timers, extractors, checks.
#include "reader.h"

#include <string.h>

static Err *one_of(const PlanReader *reader, const char *key, Str text, const char *names, int *out)
{
    Str rest = str_of(names), name;

    for (int i = 0; str_next(&rest, ' ', &name); i++) {
        if (str_eq(name, text)) {
            *out = i;
            return NULL;
        }
    }
    return plan_error(reader, key, str_z(str_fmt("must be one of %s", names)));
}

// A throughput timer's mode: 0 counts for each user alone, all others for the users together.
Err *plan_timer(PlanReader *reader, const Json *json, Timer *timer)
{
    int kind = 0;

    *timer = (Timer){0};
    TRY(plan_keys(reader, json,
                  "kind ms offset_ms range_ms intended_offset_ms deviation_ms per_minute mode"));
    TRY(one_of(reader, "kind", json_str(json, "kind"), "constant uniform gaussian throughput",
               &kind));
    timer->kind = kind;
    TRY(plan_text(reader, json, kind == TIMER_CONSTANT ? "ms" : "offset_ms", "0",
                  &timer->offset_ms));
    TRY(plan_text(reader, json, "intended_offset_ms", NULL, &timer->written_ms));
    TRY(plan_text(reader, json, kind == TIMER_GAUSSIAN ? "deviation_ms" : "range_ms", "0",
                  &timer->spread_ms));
    if (kind == TIMER_THROUGHPUT) {
        TRY(plan_text(reader, json, "per_minute", "", &timer->per_minute));
        Str mode = json_scalar_text(json_get(json, "mode"));
        timer->is_shared = mode.len > 0 && !str_eq_z(mode, "0");
        timer->pace = reader->plan->pace_len++;
    }
    return NULL;
}

static Err *read_timers(PlanReader *reader, const Json *json, Request *request)
{
    const Json *think = json_get(json, "think_before");

    request->timers = NEW_ARRAY(Timer, REQUEST_PARTS_MAX);
    for (const ReadScope *scope = reader->scope; scope; scope = scope->outer) {
        for (size_t i = 0; i < scope->timer_len; i++) {
            if (request->timer_len + 1 >= REQUEST_PARTS_MAX) {
                return plan_error(reader, "pace", "too many");
            }
            request->timers[request->timer_len++] = scope->timers[i];
        }
    }
    if (think) {
        Str before = plan_enter(reader, "think_before", -1);
        TRY(plan_timer(reader, think, &request->timers[request->timer_len++]));
        reader->where = before;
    }
    return NULL;
}

typedef struct {
    Str names[REQUEST_PARTS_MAX], values[REQUEST_PARTS_MAX];
    size_t len;
} HeaderList;

static Err *add_headers(PlanReader *reader, const Json *headers, HeaderList *list)
{
    JSON_EACH(header, headers)
    {
        size_t i = 0;
        while (i < list->len && !str_eq_nocase(list->names[i], json_key(header))) {
            i++;
        }
        if (i == REQUEST_PARTS_MAX) {
            return plan_error(reader, "headers", "too many");
        }
        list->names[i] = json_key(header);
        list->values[i] = json_scalar_text(header);
        list->len += i == list->len;
    }
    return NULL;
}

// Outer scopes first, so that inner ones replace what they name again.
static Err *add_scope(PlanReader *reader, const ReadScope *scope, HeaderList *list)
{
    if (!scope) {
        return NULL;
    }
    TRY(add_scope(reader, scope->outer, list));
    for (size_t i = 0; i < scope->header_len; i++) {
        TRY(add_headers(reader, scope->headers[i], list));
    }
    return NULL;
}

// The set with exactly these headers; texts are compared as the plan writes them.
static Err *find_header_set(PlanReader *reader, const HeaderList *list, uint32_t *number)
{
    TextScope scope = {.symbols = &reader->plan->symbols, .where = reader->where};
    Plan *plan = reader->plan;
    HeaderSet set = {.at = NEW_ARRAY(TextPair, list->len + 1), .len = list->len};
    Buf signature = buf_new(arena_current(), 1 << 20);

    for (size_t i = 0; i < list->len; i++) {
        buf_fmt(&signature, STR_FMT ":" STR_FMT "\n", STR_ARG(list->names[i]),
                STR_ARG(list->values[i]));
    }
    *number = plan_label(&plan->header_labels, buf_str(&signature));
    if (*number < plan->header_set_len) {
        return NULL;
    }
    for (size_t i = 0; i < list->len; i++) {
        set.at[i].name = text_literal(list->names[i]);
        TRY(text_compile(&scope, list->values[i], &set.at[i].value));
    }
    HeaderSet *grown = NEW_ARRAY(HeaderSet, plan->header_set_len + 1);
    for (size_t i = 0; i < plan->header_set_len; i++) {
        grown[i] = plan->header_sets[i];
    }
    grown[plan->header_set_len++] = set;
    plan->header_sets = grown;
    return NULL;
}

// A body without a content type is JSON, as in all of FOLIO's plans.
static Err *read_headers(PlanReader *reader, const Json *json, Request *request)
{
    HeaderList *list = NEW(HeaderList);
    Str type = json_str(json, "content_type");
    bool has_type = false;

    TRY(add_scope(reader, reader->scope, list));
    TRY(add_headers(reader, json_get(json, "headers"), list));
    for (size_t i = 0; i < list->len; i++) {
        bool is_type = str_eq_nocase(list->names[i], S("content-type"));
        has_type = has_type || is_type;
        if (is_type && type.len > 0) {
            list->values[i] = type;
        }
    }
    if (!has_type && (request->body || request->body_file)) {
        if (list->len == REQUEST_PARTS_MAX) {
            return plan_error(reader, "headers", "too many");
        }
        list->names[list->len] = S("Content-Type");
        list->values[list->len++] = type.len > 0 ? type : S("application/json");
    }
    return find_header_set(reader, list, &request->header_set);
}

static Err *read_query(PlanReader *reader, const Json *query, Request *request)
{
    size_t count = json_len(query);

    if (count > REQUEST_PARTS_MAX || (query && !json_is_array(query))) {
        return plan_error(reader, "query", "must be a list of at most 64 pairs");
    }
    request->query = NEW_ARRAY(TextPair, count + 1);
    JSON_EACH(pair, query)
    {
        Str before = plan_enter(reader, "query", (int)request->query_len);
        if (json_len(pair) != 2) {
            return plan_error(reader, NULL, "must be a name and a value");
        }
        TextPair *parameter = &request->query[request->query_len++];
        TRY(plan_value(reader, json_at(pair, 0), &parameter->name));
        TRY(plan_value(reader, json_at(pair, 1), &parameter->value));
        reader->where = before;
    }
    return NULL;
}

// A JSON path without variables is read now, any other one for each answer.
static Err *read_json_path(PlanReader *reader, const Json *json, Text **text, JsonPath **compiled)
{
    Str literal;

    TRY(plan_text(reader, json, "path", NULL, text));
    if (!*text) {
        return plan_error(reader, "path", "is missing");
    }
    if (text_is_literal(*text, &literal)) {
        Err *err = jsonpath_compile(literal, compiled);
        if (err) {
            return plan_error(reader, "path", str_z(err->message));
        }
    }
    return NULL;
}

static Err *read_match(const PlanReader *reader, const Json *json, int *match)
{
    Str rest = json_scalar_text(json_get(json, "match")), first = {"", 0};
    int64_t number = 1;

    // "0; 1" comes from an extractor of several variables: the first number is that of the first.
    (void)str_next(&rest, ';', &first);
    first = str_trim(first);
    if (str_eq_z(first, "random")) {
        number = MATCH_RANDOM;
    } else if (str_eq_z(first, "all")) {
        number = MATCH_ALL;
    } else if (first.len > 0 && (!str_int64(first, &number) || number < -1 || number > 1 << 20)) {
        return plan_error(reader, "match", "must be a number, random or all");
    }
    *match = (int)number;
    return NULL;
}

static Err *read_extract_regex(PlanReader *reader, const Json *json, Extract *extract)
{
    Str name = json_str(json, "var");

    TRY(regexp_compile(json_str(json, "regex"), &reader->plan->regexps, &extract->regex));
    extract->template_ = str_copy(arena_current(), json_str(json, "template"));
    for (int g = 0; g <= regexp_groups(extract->regex); g++) {
        Str group = str_fmt(STR_FMT "_g%d", STR_ARG(name), g);
        extract->groups[g] = symbol_of(&reader->plan->symbols, group);
        reader->plan->symbols.at[extract->groups[g]].is_assigned = true;
    }
    return NULL;
}

static Err *read_extract(PlanReader *reader, const Json *json, Extract *extract)
{
    Str name = json_str(json, "var");
    int kind = 0;

    TRY(plan_keys(reader, json, "var kind path match default from regex template left right"));
    TRY(one_of(reader, "kind", json_str(json, "kind"), "json regex boundary", &kind));
    if (name.len == 0) {
        return plan_error(reader, "var", "is missing");
    }
    extract->kind = kind;
    extract->from_headers = str_eq_z(json_str(json, "from"), "headers");
    extract->variable = symbol_of(&reader->plan->symbols, name);
    reader->plan->symbols.at[extract->variable].is_assigned = true;
    TRY(read_match(reader, json, &extract->match));
    TRY(plan_text(reader, json, "default", NULL, &extract->fallback));
    switch (extract->kind) {
    case EXTRACT_JSON:
        return read_json_path(reader, json, &extract->path, &extract->compiled);
    case EXTRACT_REGEX:
        return read_extract_regex(reader, json, extract);
    case EXTRACT_BOUNDARY:
        TRY(plan_text(reader, json, "left", "", &extract->left));
        return plan_text(reader, json, "right", "", &extract->right);
    }
    return NULL;
}

// The values that a check compares with, and their patterns if they are some.
static Err *read_check_values(PlanReader *reader, const Json *values, Check *check)
{
    bool is_regex = check->test == TEST_CONTAINS_REGEX || check->test == TEST_MATCHES;
    size_t count = json_is_array(values) ? json_len(values) : values ? 1 : 0;

    check->values = NEW_ARRAY(Text *, count + 1);
    check->regexes = NEW_ARRAY(Regexp *, count + 1);
    for (size_t i = 0; i < count; i++) {
        const Json *value = json_is_array(values) ? json_at(values, i) : values;
        TRY(plan_value(reader, value, &check->values[i]));
        if (is_regex) {
            TRY(regexp_compile(json_scalar_text(value), &reader->plan->regexps,
                               &check->regexes[i]));
        }
    }
    check->value_count = count;
    return NULL;
}

static Err *read_check(PlanReader *reader, const Json *json, Check *check)
{
    Str test = json_str(json, "test");
    int kind = 0, number = 0;

    TRY(plan_keys(reader, json, "kind test values not any path value regex"));
    TRY(one_of(reader, "kind", json_str(json, "kind"), "status body headers json", &kind));
    check->kind = kind;
    check->is_not = json_flag(json, "not", false);
    check->is_any = json_flag(json, "any", false);
    if (check->kind == CHECK_JSON) {
        check->has_value = json_has(json, "value");
        check->test = json_flag(json, "regex", false) ? TEST_MATCHES : TEST_EQUALS;
        check->shown = str_copy(arena_current(), json_str(json, "path"));
        TRY(read_check_values(reader, json_get(json, "value"), check));
        return read_json_path(reader, json, &check->path, &check->compiled);
    }
    TRY(one_of(reader, "test", test, "equals contains_text contains_regex matches", &number));
    check->test = number;
    const Json *values = json_get(json, "values");
    if (!json_is_array(values)) {
        return plan_error(reader, "values", "must be a list");
    }
    check->shown = str_copy(arena_current(), json_text(values));
    return read_check_values(reader, values, check);
}

static Err *read_answers(PlanReader *reader, const Json *json, Request *request)
{
    const Json *extracts = json_get(json, "extract"), *checks = json_get(json, "assert");

    request->extracts = NEW_ARRAY(Extract, json_len(extracts) + 1);
    request->checks = NEW_ARRAY(Check, json_len(checks) + 1);
    JSON_EACH(one, extracts)
    {
        Str before = plan_enter(reader, "extract", (int)request->extract_len);
        Extract *extract = &request->extracts[request->extract_len++];
        TRY(read_extract(reader, one, extract));
        request->needs_headers |= extract->from_headers;
        request->needs_body |= !extract->from_headers;
        reader->where = before;
    }
    JSON_EACH(one, checks)
    {
        Str before = plan_enter(reader, "assert", (int)request->check_len);
        Check *check = &request->checks[request->check_len++];
        TRY(read_check(reader, one, check));
        request->needs_headers |= check->kind == CHECK_HEADERS;
        request->needs_body |= check->kind == CHECK_BODY || check->kind == CHECK_JSON;
        reader->where = before;
    }
    return NULL;
}

static Err *read_method(const PlanReader *reader, Str name, const char **out)
{
    static const char *const methods[] = {"GET",   "POST",    "PUT", "DELETE",
                                          "PATCH", "OPTIONS", "HEAD"};

    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (str_eq_z(name, methods[i])) {
            *out = methods[i];
            return NULL;
        }
    }
    return plan_error(reader, "method", "is none of HTTP's");
}

Err *plan_request(PlanReader *reader, const Json *json, Request **out)
{
    Request *request = NEW(Request);
    Str id = json_str(json, "id");

    TRY(plan_keys(reader, json,
                  "id method path query headers body body_file content_type preflight think_before "
                  "extract assert on_error"));
    TRY(read_method(reader, json_str(json, "method"), &request->method));
    if (id.len == 0) {
        id = str_fmt("%s " STR_FMT, request->method, STR_ARG(json_str(json, "path")));
    }
    request->id = str_copy(arena_current(), id);
    request->meter = reader->scope && reader->scope->is_hidden
                         ? METER_NONE
                         : (int32_t)plan_label(&reader->plan->requests, id);
    request->is_preflight = json_flag(json, "preflight", false);
    request->on_error = reader->group->on_error;
    TRY(plan_on_error(reader, json, &request->on_error));
    TRY(plan_text(reader, json, "path", NULL, &request->path));
    if (!request->path) {
        return plan_error(reader, "path", "is missing");
    }
    TRY(plan_text(reader, json, "body", NULL, &request->body));
    TRY(plan_text(reader, json, "body_file", NULL, &request->body_file));
    TRY(read_query(reader, json_get(json, "query"), request));
    TRY(read_headers(reader, json, request));
    TRY(read_timers(reader, json, request));
    TRY(read_answers(reader, json, request));
    *out = request;
    return NULL;
}
