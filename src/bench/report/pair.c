// Joining two results.
#include "pair.h"

#include "bench/stats/metric.h"

#include <math.h>
#include <string.h>

// Comparing differs from running: what is compared if the experiment names nothing.
static const char *const usual_metrics[] = {"transaction.p50", "transaction.p95",
                                            "transaction.throughput", "cpu.per_transaction",
                                            "memory.mean"};

static void warn(StrList *warnings, const char *what, Str a, Str b)
{
    if (!str_eq(a, b)) {
        str_list_add(warnings,
                     str_fmt("%s differs: " STR_FMT " and " STR_FMT, what,
                             STR_ARG(a.len ? a : S("(none)")), STR_ARG(b.len ? b : S("(none)"))));
    }
}

static Str text_at(const Json *doc, const char *path)
{
    const Json *value = json_get(doc, path);
    return value ? json_scalar_text(value) : (Str){"", 0};
}

static const Cell *first_done(const Result *result)
{
    for (size_t i = 0; i < result->cells.len; i++) {
        if (result->cells.at[i].state == CELL_DONE) {
            return &result->cells.at[i];
        }
    }
    return NULL;
}

static void warn_load(const Result *a, const Result *b, StrList *warnings)
{
    const Cell *x = first_done(a), *y = first_done(b);

    if (!x || !y || x->parts.len == 0 || y->parts.len == 0) {
        return;
    }
    warn(warnings, "think model", x->parts.at[0].think_model, y->parts.at[0].think_model);
    warn(warnings, "factor of think times", str_fmt("%g", x->parts.at[0].think_scale),
         str_fmt("%g", y->parts.at[0].think_scale));
    warn(warnings, "number of users", str_fmt("%lld", (long long)x->parts.at[0].users),
         str_fmt("%lld", (long long)y->parts.at[0].users));
    if (fabs(x->window_s / y->window_s - 1) > 0.1) {
        warn(warnings, "window", str_fmt("%.3g s", x->window_s), str_fmt("%.3g s", y->window_s));
    }
}

static void warn_all(const Result *a, const Result *b, StrList *warnings)
{
    static const struct {
        const char *what, *path;
    } facts[] = {{"processor of the host", "host.cpuModel"},
                 {"cores of the host", "host.cores"},
                 {"memory of the host", "host.memoryBytes"},
                 {"kernel", "host.kernel"},
                 {"data recipe", "data.recipe"},
                 {"seed of the data", "data.seed"},
                 {"checksum of the data", "data.checksum"}};

    warn(warnings, "experiment", json_str(a->experiment, "experiment.id"),
         json_str(b->experiment, "experiment.id"));
    warn(warnings, "profile", a->profile, b->profile);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        warn(warnings, facts[i].what, text_at(a->environment, facts[i].path),
             text_at(b->environment, facts[i].path));
    }
    warn_load(a, b, warnings);
}

static const Configuration *chosen(const Result *result, Str name)
{
    return name.len > 0 ? configuration_of(result, name) : baseline_of(result);
}

static Str revision_of(const Result *result)
{
    Str build = json_str(result->environment, "lab.build");
    Str version = json_str(result->environment, "lab.version");

    return result->label.len > 0 ? result->label : build.len > 0 ? build : version;
}

static void add_side(Result *both, const Result *from, const Configuration *configuration,
                     const char *name)
{
    Configuration *side = &both->configurations.at[both->configurations.len++];

    *side = *configuration;
    side->name = str_of(name);
    side->is_baseline = strcmp(name, "a") == 0;
    side->label =
        str_fmt(STR_FMT ", " STR_FMT " (" STR_FMT ")", STR_ARG(str_upper(str_of(name))),
                STR_ARG(configuration->label.len ? configuration->label : configuration->name),
                STR_ARG(revision_of(from)));
    for (size_t i = 0; i < from->cells.len; i++) {
        if (!str_eq(from->cells.at[i].configuration, configuration->name)) {
            continue;
        }
        Cell *cell = &both->cells.at[both->cells.len++];
        *cell = from->cells.at[i];
        cell->configuration = str_of(name);
        cell->id = str_fmt("%s/" STR_FMT, name, STR_ARG(cell->id));
    }
    for (size_t i = 0; i < from->annotations.len; i++) {
        Annotation *note = &both->annotations.at[both->annotations.len++];
        *note = from->annotations.at[i];
        note->cell =
            note->cell.len ? str_fmt("%s/" STR_FMT, name, STR_ARG(note->cell)) : note->cell;
    }
}

static void set_experiment(Result *both, const Result *a, const Result *b, const StrList *warnings)
{
    Json *compare = json_array(), *list = json_array();

    both->experiment = json_copy(a->experiment);
    both->environment = a->environment ? json_copy(a->environment) : json_object();
    json_set_str(
        both->experiment, "experiment.title",
        str_fmt("Comparison: " STR_FMT, STR_ARG(json_str(a->experiment, "experiment.title"))));
    json_set_str(
        both->experiment, "experiment.question",
        str_fmt("Does " STR_FMT " differ from " STR_FMT "?", STR_ARG(b->id), STR_ARG(a->id)));
    json_remove(both->experiment, "experiment.reference");
    if (json_len(json_get(both->experiment, "compare")) == 0) {
        for (size_t i = 0; i < sizeof usual_metrics / sizeof *usual_metrics; i++) {
            Json *entry = json_object();
            json_set_str(entry, "metric", str_of(usual_metrics[i]));
            json_add(compare, entry);
        }
        json_set(both->experiment, "compare", compare);
    }
    for (size_t i = 0; i < warnings->len; i++) {
        json_add(list, json_string(warnings->at[i]));
    }
    if (warnings->len > 0) {
        json_set(both->environment, "warnings", list);
    }
}

Err *pair_results(const Result *a, const Result *b, Str configuration, Result **out,
                  StrList *warnings)
{
    const Configuration *of_a = chosen(a, configuration), *of_b = chosen(b, configuration);
    Result *both = NEW(Result);

    if (!of_a || !of_b) {
        return err_text(400, STR_FMT " has no configuration " STR_FMT,
                        STR_ARG(of_a ? b->id : a->id), STR_ARG(configuration));
    }
    if (str_eq(a->id, b->id)) {
        return err_text(400, "both are the result " STR_FMT, STR_ARG(a->id));
    }
    warn_all(a, b, warnings);
    *both = (Result){.schema = RESULT_SCHEMA,
                     .id = str_fmt("compare-" STR_FMT "-" STR_FMT, STR_ARG(a->id), STR_ARG(b->id)),
                     .profile = a->profile,
                     .started_at = a->started_at,
                     .ended_at = b->ended_at};
    both->configurations.at = NEW_ARRAY(Configuration, 2);
    both->cells.at = NEW_ARRAY(Cell, a->cells.len + b->cells.len + 1);
    both->annotations.at = NEW_ARRAY(Annotation, a->annotations.len + b->annotations.len + 1);
    set_experiment(both, a, b, warnings);
    add_side(both, a, of_a, "a");
    add_side(both, b, of_b, "b");
    *out = both;
    return NULL;
}
