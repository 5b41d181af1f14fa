// Reading the steps of a plan into a program.
#include "reader.h"

#include <string.h>

enum {
    STEP_NESTING_MAX = 40,
};

uint32_t plan_emit(PlanReader *reader, Step step)
{
    Program *program = &reader->group->program;

    if (program->len == program->cap) {
        program->cap = program->cap ? program->cap * 2 : 64;
        Step *grown = NEW_ARRAY(Step, program->cap);
        if (program->len > 0) {
            memcpy(grown, program->at, program->len * sizeof *grown);
        }
        program->at = grown;
    }
    program->at[program->len] = step;
    return program->len++;
}

static Step *step_at(PlanReader *reader, uint32_t i)
{
    return &reader->group->program.at[i];
}

static void lands_here(PlanReader *reader, uint32_t jump)
{
    step_at(reader, jump)->target = reader->group->program.len;
}

static Err *new_counter(PlanReader *reader, uint32_t *counter)
{
    if (reader->counters == COUNTERS_MAX) {
        return plan_error(reader, NULL, "too many loops in one group");
    }
    *counter = reader->counters++;
    return NULL;
}

static uint32_t assigned(PlanReader *reader, Str name)
{
    uint32_t number = symbol_of(&reader->plan->symbols, name);
    reader->plan->symbols.at[number].is_assigned = true;
    return number;
}

static Err *find_feed(PlanReader *reader, Str file, FeedShare share, uint32_t first, Feed **out)
{
    Str group = share == SHARE_GROUP ? reader->group->name : (Str){"", 0};

    for (Feed *feed = reader->plan->feeds; feed; feed = feed->following) {
        if (str_eq(feed->file, file) && feed->share == share && str_eq(feed->group, group) &&
            feed->column_len > 0 && feed->columns[0] == first) {
            *out = feed;
            return NULL;
        }
    }
    Feed *feed = NEW(Feed);
    *feed = (Feed){.file = file, .group = group, .share = share};
    feed->number = reader->plan->feed_len++;
    feed->following = reader->plan->feeds;
    reader->plan->feeds = feed;
    *out = feed;
    return NULL;
}

Err *plan_feed(PlanReader *reader, const Json *data)
{
    const Json *columns = json_get(data, "columns");
    Str share = json_str(data, "share"), delimiter = json_str(data, "delimiter");
    TextScope scope = {.symbols = &reader->plan->symbols, .where = reader->where};
    Text *file = NULL;
    Feed *feed = NULL;

    TRY(plan_keys(reader, data,
                  "file columns delimiter recycle stop_thread_at_end "
                  "single_use share"));
    if (json_len(columns) == 0 || json_str(data, "file").len == 0) {
        return plan_error(reader, NULL, "needs a file and columns");
    }
    if (share.len > 0 && !str_eq_z(share, "all") && !str_eq_z(share, "group") &&
        !str_eq_z(share, "thread")) {
        return plan_error(reader, "share", "must be all, group or thread");
    }
    TRY(text_compile(&scope, json_str(data, "file"), &file));
    uint32_t first = assigned(reader, str_trim(json_scalar_text(json_first(columns))));
    Vars *vars = vars_new(&reader->plan->symbols);
    Actor actor = {.plan = reader->plan, .vars = vars};
    Str name = str_copy(arena_current(), text_str(file, &actor));
    vars_free(vars);
    TRY(find_feed(reader, name,
                  str_eq_z(share, "thread")  ? SHARE_THREAD
                  : str_eq_z(share, "group") ? SHARE_GROUP
                                             : SHARE_ALL,
                  first, &feed));
    feed->columns = NEW_ARRAY(uint32_t, json_len(columns));
    feed->column_len = 0;
    JSON_EACH(column, columns)
    {
        feed->columns[feed->column_len++] = assigned(reader, str_trim(json_scalar_text(column)));
    }
    feed->delimiter = str_eq_z(delimiter, "\\t") ? '\t' : delimiter.len ? delimiter.at[0] : ',';
    feed->stops = json_flag(data, "stop_thread_at_end", false);
    feed->is_single_use = json_flag(data, "single_use", feed->stops);
    feed->recycles = json_flag(data, "recycle", true);
    if (reader->options->stops_at_end && feed->is_single_use) {
        feed->recycles = false;
        feed->stops = true;
    }
    plan_emit(reader, (Step){.op = OP_DATA, .feed = feed});
    return NULL;
}

static Err *read_inner(PlanReader *reader, const Json *step)
{
    Str before = plan_enter(reader, "steps", -1);
    TRY(plan_steps(reader, json_get(step, "steps")));
    reader->where = before;
    return NULL;
}

// Steps between the begin and the end of a transaction of that name.
static Err *read_transaction(PlanReader *reader, Str name, bool is_hidden, const Json *step)
{
    ReadScope scope = {.outer = reader->scope};
    uint32_t number = plan_label(&reader->plan->transactions, name);

    scope.is_hidden = is_hidden || (reader->scope && reader->scope->is_hidden);
    plan_emit(reader, (Step){.op = OP_BEGIN, .number = number});
    reader->scope = &scope;
    TRY(read_inner(reader, step));
    reader->scope = scope.outer;
    plan_emit(reader, (Step){.op = OP_COMMIT, .number = number});
    return NULL;
}

static Err *read_if(PlanReader *reader, const Json *step, bool is_while)
{
    const char *key = is_while ? "while" : "if";
    TextScope scope = {.symbols = &reader->plan->symbols, .where = reader->where};
    Step test = {.op = OP_IF};

    TRY(plan_keys(reader, step, is_while ? "while steps" : "if steps"));
    TRY(condition_compile(&scope, json_str(step, key), &test.condition));
    uint32_t begin = plan_emit(reader, test);
    TRY(read_inner(reader, step));
    if (is_while) {
        plan_emit(reader, (Step){.op = OP_JUMP, .target = begin});
    }
    lands_here(reader, begin);
    return NULL;
}

static Err *read_loop(PlanReader *reader, const Json *step)
{
    Step begin = {.op = OP_LOOP};

    TRY(plan_keys(reader, step, "loop steps"));
    TRY(plan_text(reader, step, "loop", NULL, &begin.count));
    TRY(new_counter(reader, &begin.counter));
    uint32_t first = plan_emit(reader, begin);
    TRY(read_inner(reader, step));
    plan_emit(reader, (Step){.op = OP_LOOP_NEXT, .counter = begin.counter, .target = first + 1});
    lands_here(reader, first);
    return NULL;
}

static Err *read_foreach(PlanReader *reader, const Json *step)
{
    Step each = {.op = OP_EACH};

    TRY(plan_keys(reader, step, "foreach as from to steps"));
    each.variable = symbol_of(&reader->plan->symbols, json_str(step, "foreach"));
    each.number = assigned(reader, json_str(step, "as"));
    TRY(plan_text(reader, step, "from", "0", &each.from));
    TRY(plan_text(reader, step, "to", NULL, &each.to));
    TRY(new_counter(reader, &each.counter));
    plan_emit(reader, each);
    each.op = OP_EACH_NEXT;
    uint32_t next = plan_emit(reader, each);
    TRY(read_inner(reader, step));
    plan_emit(reader, (Step){.op = OP_JUMP, .target = next});
    lands_here(reader, next);
    return NULL;
}

static Err *read_call(PlanReader *reader, const Json *step)
{
    Str name = json_str(step, "call");
    const Json *steps = NULL;

    TRY(plan_keys(reader, step, "call"));
    JSON_EACH(fragment, reader->fragments)
    {
        if (str_eq(json_key(fragment), name)) {
            steps = fragment;
        }
    }
    if (!steps) {
        return plan_error(reader, "call", "there is no fragment of that name");
    }
    Str before = reader->where;
    reader->where = str_fmt("fragments." STR_FMT, STR_ARG(name));
    TRY(plan_steps(reader, steps));
    reader->where = before;
    return NULL;
}

// One branch: the transaction of that name, or the variable `as` gets the name.
static Err *read_branch(PlanReader *reader, const Json *step, Str name)
{
    Str as = json_str(step, "as");

    if (as.len > 0) {
        plan_emit(
            reader,
            (Step){.op = OP_SET, .number = assigned(reader, as), .count = text_literal(name)});
        return NULL;
    }
    JSON_EACH(transaction, reader->transactions)
    {
        if (str_eq(json_key(transaction), name)) {
            Str before = reader->where;
            reader->where = str_fmt("transactions." STR_FMT, STR_ARG(name));
            TRY(plan_keys(reader, transaction, "plan_name parent_only steps"));
            TRY(read_transaction(reader, name, json_flag(transaction, "parent_only", false),
                                 transaction));
            reader->where = before;
            return NULL;
        }
    }
    return plan_error(reader, "branches", "there is no transaction of that name and no \"as\"");
}

static Err *read_choose(PlanReader *reader, const Json *step)
{
    const Json *branches = json_get(step, "branches");
    size_t count = json_len(branches), i = 0;
    Step choose = {.op = OP_CHOOSE, .target_len = count};

    TRY(plan_keys(reader, step, "choose_branch branches as rule"));
    TRY(plan_text(reader, step, "choose_branch", NULL, &choose.count));
    if (count == 0) {
        return plan_error(reader, "branches", "is missing");
    }
    uint32_t *ends = NEW_ARRAY(uint32_t, count);
    choose.targets = NEW_ARRAY(uint32_t, count);
    plan_emit(reader, choose);
    JSON_EACH(branch, branches)
    {
        choose.targets[i] = reader->group->program.len;
        TRY(read_branch(reader, step, json_scalar_text(branch)));
        ends[i++] = plan_emit(reader, (Step){.op = OP_JUMP});
    }
    for (i = 0; i < count; i++) {
        lands_here(reader, ends[i]);
    }
    return NULL;
}

static Err *read_pause(PlanReader *reader, const Json *step)
{
    Step pause = {.op = OP_PAUSE};

    TRY(plan_keys(reader, step, "pause_ms"));
    TRY(plan_text(reader, step, "pause_ms", NULL, &pause.count));
    plan_emit(reader, pause);
    return NULL;
}

// {"set": {"name": "text", ...}}
static Err *read_set(PlanReader *reader, const Json *step)
{
    TRY(plan_keys(reader, step, "set"));
    JSON_EACH(member, json_get(step, "set"))
    {
        Step set = {.op = OP_SET, .number = assigned(reader, json_key(member))};
        Str before = plan_enter(reader, "set", -1);
        TRY(plan_value(reader, member, &set.count));
        reader->where = before;
        plan_emit(reader, set);
    }
    return NULL;
}

static Err *read_step(PlanReader *reader, const Json *step)
{
    if (json_has(step, "method")) {
        Step request = {.op = OP_REQUEST};
        TRY(plan_request(reader, step, &request.request));
        plan_emit(reader, request);
        return NULL;
    }
    if (json_has(step, "transaction")) {
        TRY(plan_keys(reader, step, "transaction parent_only steps"));
        return read_transaction(reader, json_str(step, "transaction"),
                                json_flag(step, "parent_only", false), step);
    }
    if (json_has(step, "if") || json_has(step, "while")) {
        return read_if(reader, step, json_has(step, "while"));
    }
    if (json_has(step, "loop")) {
        return read_loop(reader, step);
    }
    if (json_has(step, "foreach")) {
        return read_foreach(reader, step);
    }
    if (json_has(step, "choose_branch")) {
        return read_choose(reader, step);
    }
    if (json_has(step, "call")) {
        return read_call(reader, step);
    }
    if (json_has(step, "pause_ms")) {
        return read_pause(reader, step);
    }
    if (json_has(step, "set")) {
        return read_set(reader, step);
    }
    return plan_error(reader, NULL, "is no step that a plan knows");
}

// Headers, pacing and data of a list hold for the whole list, wherever they stand in it.
static Err *read_scope(PlanReader *reader, const Json *step, ReadScope *scope, bool *is_scope)
{
    const Json *headers = json_get(step, "headers"), *pace = json_get(step, "pace");
    const Json *data = json_get(step, "data");

    *is_scope = !json_has(step, "method") && (headers || pace || data);
    if (!*is_scope) {
        return NULL;
    }
    TRY(plan_keys(reader, step, headers ? "headers" : pace ? "pace" : "data"));
    if (headers) {
        if (scope->header_len == sizeof scope->headers / sizeof *scope->headers) {
            return plan_error(reader, NULL, "too many headers steps in one list");
        }
        scope->headers[scope->header_len++] = headers;
        return NULL;
    }
    Str before = plan_enter(reader, pace ? "pace" : "data", -1);
    if (data) {
        TRY(plan_feed(reader, data));
    } else if (scope->timer_len == sizeof scope->timers / sizeof *scope->timers) {
        return plan_error(reader, NULL, "too many pace steps in one list");
    } else {
        TRY(plan_timer(reader, pace, &scope->timers[scope->timer_len++]));
    }
    reader->where = before;
    return NULL;
}

Err *plan_steps(PlanReader *reader, const Json *steps)
{
    ReadScope scope = {.outer = reader->scope};
    bool *is_scope = NEW_ARRAY(bool, json_len(steps) + 1);
    int i = 0;

    if (!json_is_array(steps)) {
        return plan_error(reader, NULL, "must be a list of steps");
    }
    if (++reader->depth > STEP_NESTING_MAX) {
        return plan_error(reader, NULL, "nested too deeply");
    }
    scope.is_hidden = reader->scope && reader->scope->is_hidden;
    JSON_EACH(step, steps)
    {
        Str before = plan_enter(reader, NULL, i);
        TRY(read_scope(reader, step, &scope, &is_scope[i++]));
        reader->where = before;
    }
    reader->scope = &scope;
    i = 0;
    JSON_EACH(step, steps)
    {
        Str before = plan_enter(reader, NULL, i);
        if (!is_scope[i++]) {
            TRY(read_step(reader, step));
        }
        reader->where = before;
    }
    reader->scope = scope.outer;
    reader->depth--;
    return NULL;
}
