// The comparisons and thresholds of an experiment, computed once.
#include "report.h"

#include <math.h>

enum {
    MIN_BLOCKS = 3,
};
#define MARGIN_PCT 5
#define ALPHA      0.05

static CompareOptions options_of(const Report *report, const Json *entry, const Metric *metric)
{
    const Json *experiment = report->result->experiment;

    return (CompareOptions){.margin = json_number(entry, "margin_pct", MARGIN_PCT) / 100,
                            .alpha = json_number(entry, "alpha", ALPHA),
                            .min_units =
                                (size_t)json_int(experiment, "design.min_blocks", MIN_BLOCKS),
                            .is_higher_better = metric->is_higher_better,
                            .is_superiority = str_eq(json_str(entry, "test"), S("superiority")),
                            .seed = (uint64_t)json_int(experiment, "experiment.seed", 1)};
}

static void compare_one(Report *report, const Json *entry, const Metric *metric, Scope scope,
                        const Samples *base)
{
    Samples samples = metric_read(report->result, metric, &scope);
    CompareOptions options = options_of(report, entry, metric);
    Compared *compared = &report->compared[report->compared_len++];

    *compared = (Compared){.metric = *metric,
                           .scope = scope,
                           .margin = options.margin,
                           .alpha = options.alpha,
                           .is = stats_compare(base, &samples, &options),
                           .base = stats_pooled(base),
                           .value = stats_pooled(&samples),
                           .by_job = metric_is_by_job(report->result, metric)};
}

// A part of the plan may be wanted alone: what was not begun is not compared.
static bool was_begun(const Report *report, const Scope *scope)
{
    for (size_t i = 0; i < report->result->cells.len; i++) {
        const Cell *cell = &report->result->cells.at[i];
        if (cell->state != CELL_PLANNED && str_eq(cell->run, scope->run) &&
            str_eq(cell->load, scope->load) && str_eq(cell->configuration, scope->configuration)) {
            return true;
        }
    }
    return false;
}

static void compare_entry(Report *report, const Json *entry, const Configuration *baseline)
{
    Metric metric;
    Err *err = metric_parse(json_str(entry, "metric"), &metric);

    if (err) {
        str_list_add(&report->doc->defects, err->message);
        return;
    }
    for (size_t i = 0; i < report->scopes.len; i++) {
        Scope at_base = scope_with(&report->scopes.at[i], baseline->name);
        Samples base = metric_read(report->result, &metric, &at_base);
        for (size_t j = 0; j < report->result->configurations.len; j++) {
            const Configuration *other = &report->result->configurations.at[j];
            Scope scope = scope_with(&report->scopes.at[i], other->name);
            if (other != baseline && was_begun(report, &scope)) {
                compare_one(report, entry, &metric, scope, &base);
            }
        }
    }
}

void report_compare_all(Report *report)
{
    const Json *list = json_get(report->result->experiment, "compare");
    const Configuration *baseline = baseline_of(report->result);
    size_t most = json_len(list) * report->scopes.len * report->result->configurations.len;

    report->compared = NEW_ARRAY(Compared, most + 1);
    if (!baseline) {
        return;
    }
    JSON_EACH(entry, list)
    {
        compare_entry(report, entry, baseline);
    }
    Comparison *all = NEW_ARRAY(Comparison, report->compared_len + 1);
    for (size_t i = 0; i < report->compared_len; i++) {
        all[i] = report->compared[i].is;
    }
    stats_correct(all, report->compared_len, ALPHA);
    for (size_t i = 0; i < report->compared_len; i++) {
        report->compared[i].is = all[i];
    }
}

static double error_rate(const Report *report, const Metric *metric, const Scope *scope)
{
    Outcomes outcomes = scope_outcomes(report, scope, metric->of, (Str){"", 0});
    int64_t all = outcomes.ok + outcomes.failed;

    return all ? (double)outcomes.failed / (double)all : NAN;
}

// The largest of all blocks or jobs for what is the most or a number, else of all together. Times
// of "transaction" mean the worst one.
static double kpi_value(const Report *report, const Metric *metric, const Scope *scope)
{
    if (metric->kind == METRIC_ERROR_RATE && metric->during == DURING_ALL) {
        return error_rate(report, metric, scope);
    }
    if (metric->kind == METRIC_PERCENTILE && metric->subject.len == 0) {
        StrList names = scope_names(report, scope, metric->of);
        double worst = NAN;
        for (size_t i = 0; i < names.len; i++) {
            Metric one = *metric;
            one.subject = names.at[i];
            Samples samples = metric_read(report->result, &one, scope);
            worst = fmax(stats_pooled(&samples), worst);
        }
        return worst;
    }
    Samples samples = metric_read(report->result, metric, scope);
    bool is_most = metric->kind >= METRIC_PEAK || metric->kind == METRIC_MAX;
    double most = NAN, sum = 0;
    for (size_t i = 0; i < samples.len && is_most; i++) {
        most = fmax(samples.at[i].point, most);
        sum += samples.at[i].point;
    }
    bool is_number = metric->kind == METRIC_STUCK || metric->kind == METRIC_RECORDS_FAILED;
    return !is_most ? stats_pooled(&samples) : is_number && samples.len > 0 ? sum : most;
}

// A change against the baseline is judged block by block, as comparisons are; it is proven when the
// end of its interval holds the limit, too.
static void judge_change(const Report *report, const Json *entry, const Configuration *baseline,
                         Kpi *kpi)
{
    Scope base = scope_with(&kpi->scope, baseline->name);
    Samples a = metric_read(report->result, &kpi->metric, &base),
            b = metric_read(report->result, &kpi->metric, &kpi->scope);
    CompareOptions options = options_of(report, entry, &kpi->metric);
    Comparison is = stats_compare(&a, &b, &options);
    double worst = kpi->metric.is_higher_better ? is.within90.low : is.within90.high;

    kpi->is_delta = true;
    kpi->limit = json_number(entry, "max_delta_pct", 0);
    kpi->value = 100 * (is.ratio - 1);
    kpi->bound = 100 * (worst - 1);
    if (kpi->metric.is_higher_better) {
        kpi->value = -kpi->value;
        kpi->bound = -kpi->bound;
    }
}

static void judge(const Report *report, const Json *entry, Kpi *kpi)
{
    const Configuration *baseline = baseline_of(report->result);

    kpi->is_delta = kpi->is_least = false;
    kpi->bound = NAN;
    if (json_has(entry, "max_delta_pct") && baseline) {
        judge_change(report, entry, baseline, kpi);
    } else {
        kpi->value = kpi_value(report, &kpi->metric, &kpi->scope);
        kpi->is_least = json_has(entry, "min");
        kpi->limit = kpi->is_least               ? json_number(entry, "min", 0)
                     : json_has(entry, "max_ms") ? json_number(entry, "max_ms", 0)
                                                 : json_number(entry, "max", 0);
    }
    bool is_met = kpi->is_least ? kpi->value >= kpi->limit : kpi->value <= kpi->limit;
    kpi->state = isnan(kpi->value) ? KPI_NO_DATA : is_met ? KPI_MET : KPI_MISSED;
}

static void add_kpi(Report *report, const Json *entry)
{
    Kpi kpi = {.note = json_str(entry, "note")};
    bool is_warning = str_eq(json_str(entry, "severity"), S("warn"));
    Err *err = metric_parse(json_str(entry, "metric"), &kpi.metric);

    if (err) {
        str_list_add(&report->doc->defects, err->message);
        return;
    }
    for (size_t i = 0; i < report->scopes.len; i++) {
        for (size_t j = 0; j < report->result->configurations.len; j++) {
            const Configuration *is = &report->result->configurations.at[j];
            if (is == baseline_of(report->result) && json_has(entry, "max_delta_pct")) {
                continue;
            }
            kpi.scope = scope_with(&report->scopes.at[i], is->name);
            judge(report, entry, &kpi);
            kpi.is_warning = is_warning || report_is_later_step(report, &kpi.scope);
            report->kpis[report->kpi_len++] = kpi;
        }
    }
}

void report_kpis(Report *report)
{
    const Json *list = json_get(report->result->experiment, "kpi");
    size_t most = json_len(list) * report->scopes.len * report->result->configurations.len;

    report->kpis = NEW_ARRAY(Kpi, most + 1);
    JSON_EACH(entry, list)
    {
        add_kpi(report, entry);
    }
    // A figure that the experiment promises and the report lacks: the report is not finished.
    for (size_t i = 0; i < report->kpi_len; i++) {
        const Kpi *kpi = &report->kpis[i];
        if (kpi->state == KPI_NO_DATA && !kpi->is_warning &&
            cells_of(report->result, &kpi->scope).len > 0) {
            Str where = scope_title(report, &kpi->scope);
            str_list_add(&report->doc->defects,
                         str_fmt("The threshold on " STR_FMT " has no figure for " STR_FMT
                                 "%s" STR_FMT ".",
                                 STR_ARG(kpi->metric.name),
                                 STR_ARG(scope_label(report, kpi->scope.configuration)),
                                 where.len ? ", " : "", STR_ARG(where)));
        }
    }
}
