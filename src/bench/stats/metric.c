// Names of metrics.
#include "metric.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    MetricKind kind;
    double percent;
    Unit unit;
    bool is_higher_better;
} statistics[] = {
    {"p50", METRIC_PERCENTILE, 50, UNIT_MS, false},
    {"p75", METRIC_PERCENTILE, 75, UNIT_MS, false},
    {"p90", METRIC_PERCENTILE, 90, UNIT_MS, false},
    {"p95", METRIC_PERCENTILE, 95, UNIT_MS, false},
    {"p99", METRIC_PERCENTILE, 99, UNIT_MS, false},
    {"p99.9", METRIC_PERCENTILE, 99.9, UNIT_MS, false},
    {"mean", METRIC_MEAN, 0, UNIT_MS, false},
    {"max", METRIC_MAX, 0, UNIT_MS, false},
    {"throughput", METRIC_THROUGHPUT, 0, UNIT_PER_S, true},
};

// Names without a subject of their own.
static const struct {
    const char *name;
    MetricKind kind;
    MeasureKind of;
    Unit unit;
} fixed[] = {
    {"error_rate.transactions", METRIC_ERROR_RATE, MEASURE_TRANSACTION, UNIT_COUNT},
    {"error_rate.requests", METRIC_ERROR_RATE, MEASURE_REQUEST, UNIT_COUNT},
    {"cpu.total", METRIC_CPU, MEASURE_TRANSACTION, UNIT_VCPU},
    {"cpu.per_transaction", METRIC_CPU_PER, MEASURE_TRANSACTION, UNIT_MS},
    {"cpu.per_request", METRIC_CPU_PER, MEASURE_REQUEST, UNIT_MS},
    {"memory.mean", METRIC_MEMORY, MEASURE_TRANSACTION, UNIT_BYTES},
    {"memory.peak", METRIC_PEAK, MEASURE_TRANSACTION, UNIT_BYTES},
    {"memory.peak_pct", METRIC_PEAK_SHARE, MEASURE_TRANSACTION, UNIT_PERCENT},
};

static const struct {
    const char *name;
    MetricKind kind;
    Unit unit;
} of_jobs[] = {
    {".duration", METRIC_DURATION, UNIT_S},
    {".stuck", METRIC_STUCK, UNIT_COUNT},
    {".records_failed", METRIC_RECORDS_FAILED, UNIT_COUNT},
};

static bool parse_fixed(Str name, Metric *out)
{
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        if (str_eq_z(name, fixed[i].name)) {
            out->kind = fixed[i].kind;
            out->of = fixed[i].of;
            out->unit = fixed[i].unit;
            return true;
        }
    }
    for (size_t i = 0; i < sizeof of_jobs / sizeof *of_jobs; i++) {
        Str end = str_of(of_jobs[i].name);
        if (str_ends(name, end) && name.len > end.len) {
            out->kind = of_jobs[i].kind;
            out->unit = of_jobs[i].unit;
            out->subject = str_sub(name, 0, name.len - end.len);
            return true;
        }
    }
    return false;
}

// SUBJECT.STATISTIC; "transaction" and "request" mean all of them, "request:NAME" one.
static bool parse_statistic(Str name, Metric *out)
{
    for (size_t i = 0; i < sizeof statistics / sizeof *statistics; i++) {
        Str end = str_fmt(".%s", statistics[i].name);
        if (!str_ends(name, end) || name.len == end.len) {
            continue;
        }
        Str subject = str_sub(name, 0, name.len - end.len);
        out->kind = statistics[i].kind;
        out->percent = statistics[i].percent;
        out->unit = statistics[i].unit;
        out->is_higher_better = statistics[i].is_higher_better;
        out->of = str_starts(subject, S("request")) ? MEASURE_REQUEST : MEASURE_TRANSACTION;
        out->subject = str_eq(subject, S("transaction")) || str_eq(subject, S("request"))
                           ? (Str){"", 0}
                       : str_starts(subject, S("request:")) ? str_sub(subject, 8, subject.len)
                                                            : subject;
        return true;
    }
    return false;
}

Err *metric_parse(Str name, Metric *out)
{
    Str stem = name;

    *out = (Metric){.name = name};
    if (str_ends(name, S("@job")) || str_ends(name, S("@idle"))) {
        out->during = str_ends(name, S("@job")) ? DURING_JOB : DURING_IDLE;
        stem = str_sub(name, 0, (size_t)str_find_char(name, '@', 0));
    }
    if (parse_fixed(stem, out) || parse_statistic(stem, out)) {
        return NULL;
    }
    return err_text(400, "there is no metric \"" STR_FMT "\"", STR_ARG(name));
}

static bool has_transactions(const Cell *cell)
{
    for (size_t i = 0; i < cell->measures.len; i++) {
        if (cell->measures.at[i].kind == MEASURE_TRANSACTION) {
            return true;
        }
    }
    return false;
}

void metric_complete(Result *result)
{
    for (size_t i = 0; i < result->cells.len; i++) {
        Cell *cell = &result->cells.at[i];
        size_t n = cell->measures.len;
        if (n == 0 || has_transactions(cell)) {
            continue;
        }
        Measure *measures = NEW_ARRAY(Measure, 2 * n);
        memcpy(measures, cell->measures.at, n * sizeof *measures);
        for (size_t j = 0; j < n; j++) {
            // What was only needed to log in did not happen within the window.
            if (measures[j].ok.len > 0 || measures[j].failed.len > 0) {
                measures[cell->measures.len] = measures[j];
                measures[cell->measures.len++].kind = MEASURE_TRANSACTION;
            }
        }
        cell->measures.at = measures;
    }
}

static bool in_scope(const Cell *cell, const Scope *scope)
{
    return str_eq(cell->run, scope->run) && str_eq(cell->load, scope->load) &&
           (scope->configuration.len == 0 || str_eq(cell->configuration, scope->configuration));
}

Cells cells_of(const Result *result, const Scope *scope)
{
    Cells cells = {.at = NEW_ARRAY(const Cell *, result->cells.len + 1)};

    for (size_t i = 0; i < result->cells.len; i++) {
        const Cell *cell = &result->cells.at[i];
        if (cell->state != CELL_DONE || !in_scope(cell, scope)) {
            continue;
        }
        size_t at = cells.len++;
        for (; at > 0 && cells.at[at - 1]->block > cell->block; at--) {
            cells.at[at] = cells.at[at - 1];
        }
        cells.at[at] = cell;
    }
    return cells;
}

Scopes scopes_of(const Result *result, Str configuration)
{
    Scopes scopes = {.at = NEW_ARRAY(Scope, result->cells.len + 1)};

    for (size_t i = 0; i < result->cells.len; i++) {
        const Cell *cell = &result->cells.at[i];
        bool is_known = configuration.len > 0 && !str_eq(cell->configuration, configuration);
        for (size_t j = 0; j < scopes.len && !is_known; j++) {
            is_known = str_eq(scopes.at[j].run, cell->run) && str_eq(scopes.at[j].load, cell->load);
        }
        if (!is_known) {
            scopes.at[scopes.len++] = (Scope){cell->run, cell->load, configuration};
        }
    }
    return scopes;
}

const Configuration *configuration_of(const Result *result, Str name)
{
    for (size_t i = 0; i < result->configurations.len; i++) {
        if (str_eq(result->configurations.at[i].name, name)) {
            return &result->configurations.at[i];
        }
    }
    return NULL;
}

const Configuration *baseline_of(const Result *result)
{
    for (size_t i = 0; i < result->configurations.len; i++) {
        if (result->configurations.at[i].is_baseline) {
            return &result->configurations.at[i];
        }
    }
    return result->configurations.len ? &result->configurations.at[0] : NULL;
}

bool metric_is_by_job(const Result *result, const Metric *metric)
{
    bool has_jobs = false;

    if (metric->during == DURING_ALL && metric->kind != METRIC_DURATION) {
        return false;
    }
    for (size_t i = 0; i < result->cells.len; i++) {
        if (result->cells.at[i].block > 1) {
            return false;
        }
        has_jobs |= result->cells.at[i].jobs.len > 0;
    }
    return has_jobs;
}
