// Reading experiments: keys, profile, references between the parts, defaults.
#include "experiment.h"

#include "base/asset.h"
#include "base/file.h"

#include <stdio.h>
#include <string.h>

enum {
    FILE_MAX = 64 << 20,
};

Json *experiment_member(const Json *object, Str name)
{
    JSON_EACH(member, object)
    {
        if (str_eq(json_key(member), name)) {
            return member;
        }
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// The profile

// A key of a run that is a workload's name merges into that entry of its list.
static void merge_run(Json *run, const Json *patch, const Json *workloads)
{
    Json *plain = json_object();

    JSON_EACH(member, patch)
    {
        if (!experiment_member(workloads, json_key(member))) {
            json_put(plain, json_key(member), json_copy(member));
            continue;
        }
        JSON_EACH(entry, json_get(run, "workloads"))
        {
            if (str_eq(json_str(entry, "workload"), json_key(member))) {
                json_merge(entry, member);
            }
        }
    }
    json_merge(run, plain);
}

static void merge_runs(Json *runs, const Json *patches, const Json *workloads)
{
    JSON_EACH(patch, patches)
    {
        Str name = json_key(patch);
        Json *run = experiment_member(runs, name);
        if (str_eq(name, S("*"))) {
            JSON_EACH(each, runs)
            {
                merge_run(each, patch, workloads);
            }
        } else if (run) {
            merge_run(run, patch, workloads);
        } else {
            json_put(runs, name, json_copy(patch));
        }
    }
}

static Err *merge_profile(Json *json, Str name)
{
    Json *profiles = json_get(json, "profile");
    Json *profile = experiment_member(profiles, name);

    if (name.len && !profile) {
        StrList names = {0};
        JSON_EACH(member, profiles)
        {
            str_list_add(&names, json_key(member));
        }
        return err_text(400, "there is no profile \"" STR_FMT "\"; there are: " STR_FMT,
                        STR_ARG(name), STR_ARG(str_join(names.at, names.len, S(", "))));
    }
    if (profile) {
        Json *rest = json_copy(profile);
        json_merge(json_get(json, "workload"), json_get(profile, "workload"));
        merge_runs(json_get(json, "run"), json_get(profile, "run"), json_get(json, "workload"));
        json_remove(rest, "run");
        json_merge(json, rest);
    }
    json_remove(json, "profile");
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// The parts

typedef struct {
    Experiment *experiment;
    StrList problems;
} Reader;

static void problem(Reader *reader, Str what)
{
    str_list_add(&reader->problems, what);
}

static int word_of(const Json *object, const char *path, const char *words, int fallback)
{
    Str value = json_str(object, path), rest = str_of(words), word;

    for (int i = 0; str_next(&rest, ' ', &word); i++) {
        if (str_eq(word, value)) {
            return i;
        }
    }
    return fallback;
}

static Str text_of(const Json *object, const char *path)
{
    return json_scalar_text(json_get(object, path));
}

static void read_general(Reader *reader)
{
    Experiment *experiment = reader->experiment;
    const Json *json = experiment->json;
    const char *rhythms = "each-run each-block never";

    experiment->id = json_str(json, "experiment.id");
    experiment->title = json_str(json, "experiment.title");
    experiment->seed = (uint64_t)json_int(json, "experiment.seed", 1);
    experiment->data.recipe = json_str(json, "data.recipe");
    experiment->data.inputs = json_str(json, "data.inputs");
    experiment->data.seed = (uint64_t)json_int(json, "data.seed", 1);
    experiment->data.reset = (Rhythm)word_of(json, "data.reset", rhythms, EVERY_RUN);
    experiment->target.url = json_str(json, "target.url");
    experiment->target.admin_url = json_str(json, "target.admin_url");
    experiment->target.cpuset = json_str(json, "target.cpuset");
    experiment->target.memory_limit = json_str(json, "target.memory_limit");
    experiment->target.has_otlp_sink = json_flag(json, "target.otlp_sink", false);
    experiment->design.blocks = json_int(json, "design.blocks", 5);
    experiment->design.min_blocks = json_int(json, "design.min_blocks", 3);
    experiment->design.min_transactions = json_int(json, "design.min_transactions", 100);
    experiment->design.order =
        (Order)word_of(json, "design.order", "interleaved random sequential", ORDER_INTERLEAVED);
    experiment->design.restart = (Rhythm)word_of(json, "design.restart", rhythms, EVERY_RUN);
    experiment->design.time_limit_s = json_number(json, "design.time_limit_s", 0);
    experiment->sample.interval_s = (double)json_int(json, "sample.interval_ms", 1000) / 1000;
    experiment->sample.modules = json_flag(json, "sample.modules", true);
    experiment->sample.database = json_flag(json, "sample.database", true);
    experiment->sample.host = json_flag(json, "sample.host", true);
    JSON_EACH(format, json_get(json, "report.formats"))
    {
        str_list_add(&experiment->formats, json_scalar_text(format));
    }
    if (!experiment->id.len || str_find_char(experiment->id, '/', 0) >= 0 ||
        str_starts(experiment->id, S("."))) {
        problem(reader, S("experiment.id: is needed, as a name without \"/\""));
    }
    bool is_managed = json_flag(json, "target.managed", experiment->target.url.len == 0);
    if (is_managed == (experiment->target.url.len > 0)) {
        problem(reader, S("target: either managed is true, or url says where the server is"));
    }
    if (is_managed && !experiment->data.recipe.len) {
        problem(reader, S("data.recipe: is needed for a server that the lab starts"));
    }
}

static void read_configurations(Reader *reader)
{
    Experiment *experiment = reader->experiment;
    const Json *map = json_get(experiment->json, "configuration");
    size_t baselines = 0;

    experiment->configurations = NEW_ARRAY(Configuration, json_len(map) + 1);
    JSON_EACH(entry, map)
    {
        Configuration *configuration = &experiment->configurations[experiment->configuration_len++];
        Str label = json_str(entry, "label");
        *configuration = (Configuration){
            .name = json_key(entry),
            .label = label.len ? label : json_key(entry),
            .is_baseline = json_flag(entry, "baseline", false),
            .options = json_has(entry, "options") ? json_get(entry, "options") : json_object(),
            .env = json_has(entry, "env") ? json_get(entry, "env") : json_object(),
            .memory_limit = json_str(entry, "memory_limit"),
            .cpus = text_of(entry, "cpus"),
            .deployment_note = json_str(entry, "deployment_note"),
            .recipe = json_str(entry, "recipe")};
        baselines += configuration->is_baseline;
    }
    if (baselines != 1) {
        problem(reader, S("configuration: exactly one has \"baseline\": true"));
    }
}

// Two configurations with the same settings compare nothing.
static void check_differences(Reader *reader)
{
    const Experiment *experiment = reader->experiment;

    for (size_t i = 0; i < experiment->configuration_len; i++) {
        for (size_t k = 0; k < i; k++) {
            const Configuration *a = &experiment->configurations[k],
                                *b = &experiment->configurations[i];
            if (json_equal(a->options, b->options) && json_equal(a->env, b->env) &&
                str_eq(a->memory_limit, b->memory_limit) && str_eq(a->cpus, b->cpus) &&
                str_eq(a->deployment_note, b->deployment_note) && str_eq(a->recipe, b->recipe)) {
                problem(reader, str_fmt("configuration." STR_FMT ": does not differ from " STR_FMT,
                                        STR_ARG(b->name), STR_ARG(a->name)));
            }
        }
    }
}

static void read_workloads(Reader *reader)
{
    Experiment *experiment = reader->experiment;
    const Json *map = json_get(experiment->json, "workload");

    experiment->workloads = NEW_ARRAY(Workload, json_len(map) + 1);
    JSON_EACH(entry, map)
    {
        Workload *workload = &experiment->workloads[experiment->workload_len++];
        *workload = (Workload){.name = json_key(entry),
                               .file = json_str(entry, "file"),
                               .variables = json_get(entry, "variables"),
                               .think = (ThinkModel)word_of(
                                   entry, "think_model", "effective written none", THINK_EFFECTIVE),
                               .think_scale = json_number(entry, "think_scale", 1),
                               .timeout_s = json_number(entry, "timeout_s", 60),
                               .has_preflights = json_flag(entry, "preflights", true)};
        if (!workload->file.len) {
            problem(reader,
                    str_fmt("workload." STR_FMT ".file: is needed", STR_ARG(workload->name)));
        }
    }
}

static void read_steps(Reader *reader, const Json *entry, Load *load)
{
    const Json *steps = json_get(entry, "steps");
    bool is_whole = true;

    load->steps.at = NEW_ARRAY(double, json_len(steps) + 1);
    JSON_EACH(step, steps)
    {
        double number = json_number(step, "", 0);
        load->steps.at[load->steps.len++] = number;
        is_whole = is_whole && number == (double)(int64_t)number;
    }
    if (load->steps.len > 0 && (json_has(entry, "users") || json_has(entry, "rate"))) {
        problem(reader, str_fmt("load." STR_FMT ".steps: stand in place of users or rate",
                                STR_ARG(load->name)));
    }
    if (!load->is_open && !is_whole) {
        problem(reader,
                str_fmt("load." STR_FMT ".steps: users are whole numbers", STR_ARG(load->name)));
    }
    if (load->is_open && load->steps.len > 0) {
        load->rate = load->steps.at[0];
    }
}

static void read_loads(Reader *reader)
{
    Experiment *experiment = reader->experiment;
    const Json *map = json_get(experiment->json, "load");

    experiment->loads = NEW_ARRAY(Load, json_len(map) + 1);
    JSON_EACH(entry, map)
    {
        Load *load = &experiment->loads[experiment->load_len++];
        *load = (Load){.name = json_key(entry),
                       .is_open = str_eq(json_str(entry, "model"), S("open")),
                       .is_poisson = !str_eq(json_str(entry, "arrival"), S("constant")),
                       .users = json_int(entry, "users", 1),
                       .ramp_s = json_number(entry, "ramp_s", 0),
                       .rate = json_number(entry, "rate", 0)};
        if (load->is_open) {
            load->users = json_int(entry, "max_users", 100);
        }
        read_steps(reader, entry, load);
        if (load->is_open != (load->rate > 0)) {
            problem(reader, str_fmt("load." STR_FMT ": an open model has a rate above 0, a closed "
                                    "one has none",
                                    STR_ARG(load->name)));
        }
    }
}

static const Workload *find_workload(const Experiment *experiment, Str name)
{
    for (size_t i = 0; i < experiment->workload_len; i++) {
        if (str_eq(experiment->workloads[i].name, name)) {
            return &experiment->workloads[i];
        }
    }
    return NULL;
}

static const Load *find_load(const Experiment *experiment, Str name)
{
    for (size_t i = 0; i < experiment->load_len; i++) {
        if (str_eq(experiment->loads[i].name, name)) {
            return &experiment->loads[i];
        }
    }
    return NULL;
}

static const Configuration *find_configuration(const Experiment *experiment, Str name)
{
    for (size_t i = 0; i < experiment->configuration_len; i++) {
        if (str_eq(experiment->configurations[i].name, name)) {
            return &experiment->configurations[i];
        }
    }
    return NULL;
}

static void read_run_workload(Reader *reader, Str path, const Json *entry, RunWorkload *out)
{
    Str workload = json_str(entry, "workload"), load = json_str(entry, "load");
    Str set = json_str(entry, "set");

    *out = (RunWorkload){.workload = find_workload(reader->experiment, workload),
                         .load = find_load(reader->experiment, load),
                         .set = set,
                         .start_offset_s = json_number(entry, "start_offset_s", 0)};
    if (!out->workload) {
        problem(reader, str_fmt(STR_FMT ".workload: there is no workload \"" STR_FMT "\"",
                                STR_ARG(path), STR_ARG(workload)));
    }
    if (!out->load) {
        problem(reader, str_fmt(STR_FMT ".load: there is no load \"" STR_FMT "\"", STR_ARG(path),
                                STR_ARG(load)));
    }
    if (set.len && !experiment_member(json_get(reader->experiment->json, "data.rtac_sets"), set)) {
        problem(reader, str_fmt(STR_FMT ".set: there is no data set \"" STR_FMT "\"", STR_ARG(path),
                                STR_ARG(set)));
    }
}

static void read_run(Reader *reader, const Json *entry, RunPlan *run)
{
    const Json *workloads = json_get(entry, "workloads");
    Str path = str_fmt("run." STR_FMT, STR_ARG(json_key(entry)));

    *run = (RunPlan){.name = json_key(entry),
                     .workloads = NEW_ARRAY(RunWorkload, json_len(workloads) + 1),
                     .warmup_s = json_number(entry, "warmup_s", 0),
                     .steady_s = json_number(entry, "steady_s", 0),
                     .cooldown_s = json_number(entry, "cooldown_s", 2)};
    JSON_EACH(workload, workloads)
    {
        Str where = str_fmt(STR_FMT ".workloads[%zu]", STR_ARG(path), run->workload_len);
        read_run_workload(reader, where, workload, &run->workloads[run->workload_len++]);
    }
    JSON_EACH(name, json_get(entry, "configurations"))
    {
        Str configuration = json_scalar_text(name);
        str_list_add(&run->configurations, configuration);
        if (!find_configuration(reader->experiment, configuration)) {
            problem(reader,
                    str_fmt(STR_FMT ".configurations: there is no configuration \"" STR_FMT "\"",
                            STR_ARG(path), STR_ARG(configuration)));
        }
    }
    if (run->workload_len == 0) {
        problem(reader, str_fmt(STR_FMT ".workloads: at least one is needed", STR_ARG(path)));
    }
    if (run->steady_s <= 0) {
        problem(reader, str_fmt(STR_FMT ".steady_s: must be above 0", STR_ARG(path)));
    }
}

static void read_runs(Reader *reader)
{
    Experiment *experiment = reader->experiment;
    const Json *map = json_get(experiment->json, "run");

    experiment->runs = NEW_ARRAY(RunPlan, json_len(map) + 1);
    JSON_EACH(entry, map)
    {
        read_run(reader, entry, &experiment->runs[experiment->run_len++]);
    }
    if (experiment->run_len == 0) {
        problem(reader, S("run: at least one is needed"));
    }
}

static Err *problems_err(const StrList *problems)
{
    return problems->len == 0
               ? NULL
               : err_text(400, STR_FMT, STR_ARG(str_join(problems->at, problems->len, S("\n"))));
}

Err *experiment_read(Str text, Str profile, Experiment **out)
{
    Reader reader = {.experiment = NEW(Experiment)};
    Experiment *experiment = reader.experiment;

    TRY(json_parse(text, &experiment->json));
    experiment_check_keys(experiment->json, &reader.problems);
    TRY(problems_err(&reader.problems));
    TRY(merge_profile(experiment->json, profile));
    experiment->profile = profile;
    read_general(&reader);
    read_configurations(&reader);
    check_differences(&reader);
    read_workloads(&reader);
    read_loads(&reader);
    read_runs(&reader);
    experiment_unfold_steps(experiment);
    *out = experiment;
    return problems_err(&reader.problems);
}

// ---------------------------------------------------------------------------------------------

static Err *read_text(const char *name, Str *text)
{
    bool is_name = !strchr(name, '/') && !strchr(name, '.');

    if (is_name && asset_find(str_z(str_fmt("bench/experiments/%s.json", name)), text)) {
        return NULL;
    }
    if (is_name) {
        return err_text(400, "%s: there is no built-in experiment of that name; octavo bench list",
                        name);
    }
    return file_read(name, FILE_MAX, text);
}

Err *experiment_open(const char *name_or_file, Str profile, Experiment **out)
{
    Str text;

    TRY(read_text(name_or_file, &text));
    return experiment_read(text, profile, out);
}

Err *experiment_profiles(const char *name_or_file, StrList *out)
{
    Json *json = NULL;
    Str text;

    TRY(read_text(name_or_file, &text));
    TRY(json_parse(text, &json));
    JSON_EACH(profile, json_get(json, "profile"))
    {
        str_list_add(out, json_key(profile));
    }
    return NULL;
}

// Keys of job workloads and of answers checked against a data set, with what they need.
#define NEEDS_RTAC   "needs mod-rtac and edge-rtac, which this version does not have"
#define NEEDS_IMPORT "needs data import (mod-data-import), which this version does not have"
typedef struct {
    const char *name, *why;
} FutureKey;

static const FutureKey future_of_workloads[] = {{"verify", NEEDS_RTAC},
                                                {"data", NEEDS_IMPORT},
                                                {"poll_s", NEEDS_IMPORT},
                                                {"stuck_after_s", NEEDS_IMPORT},
                                                {0}};
static const FutureKey future_of_runs[] = {
    {"set", NEEDS_RTAC}, {"repeat", NEEDS_IMPORT}, {"pause_s", NEEDS_IMPORT}, {0}};

static void find_future_keys(const Json *entry, const FutureKey *keys, Str path, StrList *problems)
{
    for (; keys->name; keys++) {
        if (json_has(entry, keys->name)) {
            str_list_add(problems,
                         str_fmt(STR_FMT ".%s: %s", STR_ARG(path), keys->name, keys->why));
        }
    }
}

Err *experiment_can_run(const Experiment *experiment)
{
    StrList problems = {0};

    JSON_EACH(workload, json_get(experiment->json, "workload"))
    {
        find_future_keys(workload, future_of_workloads,
                         str_fmt("workload." STR_FMT, STR_ARG(json_key(workload))), &problems);
    }
    JSON_EACH(run, json_get(experiment->json, "run"))
    {
        size_t number = 0;
        JSON_EACH(entry, json_get(run, "workloads"))
        {
            Str path = str_fmt("run." STR_FMT ".workloads[%zu]", STR_ARG(json_key(run)), number++);
            find_future_keys(entry, future_of_runs, path, &problems);
        }
    }
    return problems_err(&problems);
}

const Configuration *experiment_baseline(const Experiment *experiment)
{
    for (size_t i = 0; i < experiment->configuration_len; i++) {
        if (experiment->configurations[i].is_baseline) {
            return &experiment->configurations[i];
        }
    }
    return NULL;
}

void experiment_use_url(Experiment *experiment, Str url)
{
    experiment->target.url = url;
    json_set_bool(experiment->json, "target.managed", false);
    json_set_str(experiment->json, "target.url", url);
    experiment->configurations[0] = *experiment_baseline(experiment);
    experiment->configuration_len = 1;
    for (size_t i = 0; i < experiment->run_len; i++) {
        experiment->runs[i].configurations = (StrList){0};
    }
}

// ---------------------------------------------------------------------------------------------

Err *workload_plan(const Workload *workload, const PlanOptions *options, Plan **out)
{
    Json *own = workload->variables;
    PlanOptions all = *options;
    PlanVariable *variables = NEW_ARRAY(PlanVariable, options->variable_len + json_len(own) + 1);
    size_t n = 0;
    Str text;

    JSON_EACH(variable, own)
    {
        variables[n++] = (PlanVariable){json_key(variable), json_scalar_text(variable)};
    }
    for (size_t i = 0; i < options->variable_len; i++) {
        variables[n++] = options->variables[i];
    }
    all.variables = variables;
    all.variable_len = n;
    if (!asset_find(str_z(str_fmt("bench/" STR_FMT, STR_ARG(workload->file))), &text)) {
        TRY(file_read(str_z(workload->file), FILE_MAX, &text));
    }
    return plan_read(text, &all, out);
}

Str experiment_duration(double seconds)
{
    int64_t s = (int64_t)(seconds + 0.5);

    return s < 120    ? str_fmt("%d s", (int)s)
           : s < 7200 ? str_fmt("%d min", (int)((s + 30) / 60))
                      : str_fmt("%d h %d min", (int)(s / 3600), (int)(s % 3600 / 60));
}
