// Reading a load plan: its head, variables, data files and groups.
#include "reader.h"

#include <string.h>

Err *plan_error(const PlanReader *reader, const char *key, const char *what)
{
    bool has_dot = key && reader->where.len > 0;
    return err_text(400, STR_FMT "%s%s: %s", STR_ARG(reader->where), has_dot ? "." : "",
                    key ? key : "", what);
}

Err *plan_keys(const PlanReader *reader, const Json *object, const char *names)
{
    if (!json_is_object(object)) {
        return plan_error(reader, NULL, "must be an object");
    }
    JSON_EACH(member, object)
    {
        Str rest = str_of(names), name;
        bool is_known = false;
        while (str_next(&rest, ' ', &name)) {
            is_known = is_known || str_eq(name, json_key(member));
        }
        if (!is_known) {
            return plan_error(reader, str_z(json_key(member)), "unknown key");
        }
    }
    return NULL;
}

Str plan_enter(PlanReader *reader, const char *key, int index)
{
    Str before = reader->where;

    if (key) {
        reader->where = str_fmt(STR_FMT "%s%s", STR_ARG(before), before.len ? "." : "", key);
    }
    if (index >= 0) {
        reader->where = str_fmt(STR_FMT "[%d]", STR_ARG(reader->where), index);
    }
    return before;
}

Err *plan_value(PlanReader *reader, const Json *value, Text **out)
{
    TextScope scope = {.symbols = &reader->plan->symbols, .where = reader->where};

    if (json_is_object(value) || json_is_array(value)) {
        return plan_error(reader, NULL, "must be a text or a number");
    }
    return text_compile(&scope, json_scalar_text(value), out);
}

Err *plan_text(PlanReader *reader, const Json *object, const char *key, const char *fallback,
               Text **out)
{
    const Json *value = json_get(object, key);

    if (!value || json_is_null(value)) {
        *out = fallback ? text_literal(str_of(fallback)) : NULL;
        return NULL;
    }
    Str before = plan_enter(reader, key, -1);
    TRY(plan_value(reader, value, out));
    reader->where = before;
    return NULL;
}

Err *plan_on_error(PlanReader *reader, const Json *object, OnError *out)
{
    static const char *const names[] = {"continue", "startnextloop", "stopthread", "stoptest"};
    Str text = json_str(object, "on_error");

    for (size_t i = 0; text.len > 0 && i < sizeof names / sizeof *names; i++) {
        if (str_eq_z(text, names[i])) {
            *out = (OnError)i;
            return NULL;
        }
    }
    return text.len == 0 ? NULL
                         : plan_error(reader, "on_error",
                                      "must be continue, startnextloop, stopthread or stoptest");
}

uint32_t plan_label(StrList *labels, Str label)
{
    for (size_t i = 0; i < labels->len; i++) {
        if (str_eq(labels->at[i], label)) {
            return (uint32_t)i;
        }
    }
    str_list_add(labels, str_copy(arena_current(), label));
    return (uint32_t)labels->len - 1;
}

// name: text or {property, default}.
static Err *read_variables(PlanReader *reader, const Json *variables)
{
    JSON_EACH(member, variables)
    {
        Symbols *symbols = &reader->plan->symbols;
        uint32_t number = symbol_of(symbols, json_key(member));
        Str value = json_scalar_text(member);
        if (json_is_object(member)) {
            Str before = plan_enter(reader, str_z(json_key(member)), -1);
            TRY(plan_keys(reader, member, "property default"));
            value = json_scalar_text(json_get(member, "default"));
            (void)plan_property(reader->plan, json_str(member, "property"), &value);
            reader->where = before;
        }
        if (!symbols->at[number].is_pinned) {
            symbols->at[number].initial = str_copy(arena_current(), value);
            symbols->at[number].has_initial = true;
        }
        symbols->at[number].is_assigned = true;
    }
    return NULL;
}

// What --var gave is a variable that data files do not change, and a property.
static void pin_variables(PlanReader *reader)
{
    for (size_t i = 0; i < reader->options->variable_len; i++) {
        const PlanVariable *given = &reader->options->variables[i];
        uint32_t number = symbol_of(&reader->plan->symbols, given->name);
        Symbol *symbol = &reader->plan->symbols.at[number];
        symbol->initial = given->value;
        symbol->has_initial = symbol->is_pinned = symbol->is_assigned = true;
        plan_set_property(reader->plan, given->name, given->value);
    }
}

static Err *read_all_data(PlanReader *reader, const Json *data)
{
    int i = 0;

    JSON_EACH(one, data)
    {
        Str before = plan_enter(reader, "data", i++);
        TRY(plan_feed(reader, one));
        reader->where = before;
    }
    return NULL;
}

// The body of a group: each pass takes lines of the data files, runs the steps and begins again.
static Err *read_program(PlanReader *reader, const Json *root, const Json *steps)
{
    ReadScope scope = {0};
    const Json *headers = json_get(root, "headers");
    const Json *setup = json_get(root, "user_setup");

    if (headers) {
        scope.headers[scope.header_len++] = headers;
    }
    reader->scope = &scope;
    reader->counters = 0;
    plan_emit(reader, (Step){.op = OP_ITERATION});
    TRY(read_all_data(reader, json_get(root, "data")));
    if (setup) {
        uint32_t skip = plan_emit(reader, (Step){.op = OP_SETUP});
        Str before = plan_enter(reader, "user_setup", -1);
        TRY(plan_steps(reader, setup));
        reader->where = before;
        plan_emit(reader, (Step){.op = OP_SETUP_DONE});
        reader->group->program.at[skip].target = reader->group->program.len;
    }
    Str before = plan_enter(reader, json_has(root, "loop") ? "loop" : "steps", -1);
    TRY(plan_steps(reader, steps));
    reader->where = before;
    plan_emit(reader, (Step){.op = OP_JUMP, .target = 0});
    reader->scope = NULL;
    return NULL;
}

static Err *read_group(PlanReader *reader, const Json *root, const Json *json, Group *group)
{
    bool is_root = root == json;

    if (!is_root) {
        TRY(plan_keys(
            reader, json,
            "group setup users ramp_s duration_s start_delay_s iterations on_error steps"));
    }
    group->name = is_root ? reader->plan->name : json_str(json, "group");
    group->is_setup = json_flag(json, "setup", false);
    TRY(plan_text(reader, json, "users", "1", &group->users));
    TRY(plan_text(reader, json, "ramp_s", "0", &group->ramp_s));
    TRY(plan_text(reader, json, "duration_s", NULL, &group->duration_s));
    TRY(plan_text(reader, json, "start_delay_s", "0", &group->start_delay_s));
    TRY(plan_text(reader, json, "iterations", "-1", &group->iterations));
    TRY(plan_on_error(reader, json, &group->on_error));
    reader->group = group;
    const Json *steps = json_get(json, is_root ? "loop" : "steps");
    if (!json_is_array(steps)) {
        return plan_error(reader, is_root ? "loop" : "steps", "must be a list of steps");
    }
    return read_program(reader, root, steps);
}

static Err *read_groups(PlanReader *reader, const Json *root)
{
    const Json *groups = json_get(root, "groups");
    Plan *plan = reader->plan;

    if (json_has(root, "loop") == json_has(root, "groups")) {
        return plan_error(reader, "groups", "a plan has either \"loop\" or \"groups\"");
    }
    plan->group_len = groups ? json_len(groups) : 1;
    plan->groups = NEW_ARRAY(Group, plan->group_len);
    if (!groups) {
        return read_group(reader, root, root, &plan->groups[0]);
    }
    size_t i = 0;
    JSON_EACH(group, groups)
    {
        Str before = plan_enter(reader, "groups", (int)i);
        TRY(read_group(reader, root, group, &plan->groups[i++]));
        reader->where = before;
    }
    return NULL;
}

// As the plan names them; they were found in front of each other.
static void turn_feeds(Plan *plan)
{
    Feed *turned = NULL;

    for (Feed *feed = plan->feeds, *next; feed; feed = next) {
        next = feed->following;
        feed->following = turned;
        turned = feed;
    }
    plan->feeds = turned;
}

// A file is read unless all of its columns were given on the command line.
static Err *load_feeds(Plan *plan, bool has_inputs)
{
    for (Feed *feed = plan->feeds; feed; feed = feed->following) {
        bool is_needed = false;
        Str content = {0};
        for (size_t i = 0; i < feed->column_len; i++) {
            is_needed = is_needed || !plan->symbols.at[feed->columns[i]].is_pinned;
        }
        if (is_needed && has_inputs) {
            TRY(plan_file(plan, feed->file, &content));
            feed_load(feed, content);
        } else {
            feed_load(feed, S("-\n"));
            feed->recycles = feed->is_given = true;
            feed->stops = feed->is_single_use = false;
        }
    }
    return NULL;
}

static Err *read_parts(PlanReader *reader, const Json *root)
{
    pin_variables(reader);
    reader->where = S("variables");
    TRY(read_variables(reader, json_get(root, "variables")));
    reader->where = (Str){"", 0};
    reader->fragments = json_get(root, "fragments");
    reader->transactions = json_get(root, "transactions");
    TRY(read_groups(reader, root));
    turn_feeds(reader->plan);
    return load_feeds(reader->plan, reader->options->inputs.len > 0);
}

Err *plan_read(Str text, const PlanOptions *options, Plan **out)
{
    Json *root = NULL;
    Plan *plan = NEW(Plan);
    PlanReader reader = {.plan = plan, .options = options};

    TRY(json_parse(text, &root));
    TRY(plan_keys(
        &reader, root,
        "name title derived_from jmeter note variables data headers users ramp_s "
        "duration_s start_delay_s iterations on_error user_setup loop transactions groups "
        "fragments"));
    plan->name = json_str(root, "name");
    plan->title = json_str(root, "title");
    if (plan->name.len == 0) {
        return plan_error(&reader, "name", "is missing");
    }
    plan_open_files(plan, options->inputs);
    Err *err = read_parts(&reader, root);
    if (err) {
        plan_close_files(plan);
        return err;
    }
    *out = plan;
    return NULL;
}

const Symbols *plan_symbols(const Plan *plan)
{
    return &plan->symbols;
}

StrList plan_unset_variables(const Plan *plan)
{
    StrList names = {0};

    for (uint32_t i = 0; i < plan->symbols.len; i++) {
        const Symbol *symbol = &plan->symbols.at[i];
        if (!symbol->is_assigned && symbol->base < 0) {
            str_list_add(&names, symbol->name);
        }
    }
    return names;
}
