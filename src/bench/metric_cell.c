// Reading one cell: samples between two moments, times and outcomes of a name.
#include "metric.h"

#include <math.h>

const Series *cell_series(const Cell *cell, SeriesGroup group, const char *subject,
                          const char *name)
{
    for (size_t i = 0; i < cell->series.len; i++) {
        const Series *series = &cell->series.at[i];
        if (series->group == group && str_eq_z(series->name, name) &&
            (!subject || str_eq_z(series->subject, subject))) {
            return series;
        }
    }
    return NULL;
}

// The value at a moment, by line between the samples around it; the first and last one beyond.
static double value_at(const Cell *cell, const Series *series, double s)
{
    double before_s = NAN, before = NAN;

    for (size_t i = 0; i < series->values.len && i < cell->ticks.len; i++) {
        double at = cell->ticks.at[i], value = series->values.at[i];
        if (isnan(value)) {
            continue;
        }
        if (at >= s) {
            double share = isnan(before) || at <= before_s ? 1 : (s - before_s) / (at - before_s);
            return isnan(before) ? value : before + share * (value - before);
        }
        before_s = at;
        before = value;
    }
    return before;
}

double series_growth(const Cell *cell, const Series *series, double from_s, double to_s)
{
    return series ? value_at(cell, series, to_s) - value_at(cell, series, from_s) : NAN;
}

static bool is_within(const Cell *cell, const Series *series, size_t i, double from_s, double to_s)
{
    return cell->ticks.at[i] >= from_s && cell->ticks.at[i] <= to_s && !isnan(series->values.at[i]);
}

double series_mean(const Cell *cell, const Series *series, double from_s, double to_s)
{
    double sum = 0;
    size_t n = 0;

    for (size_t i = 0; series && i < series->values.len && i < cell->ticks.len; i++) {
        if (is_within(cell, series, i, from_s, to_s)) {
            sum += series->values.at[i];
            n++;
        }
    }
    // Some are sampled less often than others: between two samples there is a line.
    return n ? sum / (double)n : series ? value_at(cell, series, (from_s + to_s) / 2) : NAN;
}

double series_max(const Cell *cell, const Series *series, double from_s, double to_s)
{
    double most = NAN;

    for (size_t i = 0; series && i < series->values.len && i < cell->ticks.len; i++) {
        if (is_within(cell, series, i, from_s, to_s)) {
            most = fmax(series->values.at[i], most);
        }
    }
    return most;
}

double cell_cpu_s(const Cell *cell, double from_s, double to_s)
{
    return series_growth(cell, cell_series(cell, GROUP_PROCESS, "server", "cpu.user"), from_s,
                         to_s) +
           series_growth(cell, cell_series(cell, GROUP_PROCESS, "server", "cpu.system"), from_s,
                         to_s);
}

const Series *cell_memory(const Cell *cell)
{
    static const char *const names[] = {"memory.pss", "memory.anonymous", "memory.cgroup",
                                        "memory.rss"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const Series *series = cell_series(cell, GROUP_PROCESS, "server", names[i]);
        if (series && !isnan(series_mean(cell, series, 0, cell->window_s))) {
            return series;
        }
    }
    return NULL;
}

static bool is_meant(const Measure *measure, MeasureKind kind, Str name)
{
    return measure->kind == kind && (name.len == 0 || str_eq(measure->name, name));
}

Hist *cell_times(const Cell *cell, MeasureKind kind, Str name)
{
    Hist *hist = hist_new(RESULT_DIGITS, RESULT_LONGEST_US);

    for (size_t i = 0; i < cell->measures.len; i++) {
        const Measure *measure = &cell->measures.at[i];
        // result_parse has seen that each is one.
        if (is_meant(measure, kind, name) && measure->ok.len > 0 &&
            !hist_merge_packed(hist, measure->ok)) {
            break;
        }
    }
    return hist;
}

Outcomes cell_outcomes(const Cell *cell, MeasureKind kind, Str name)
{
    Outcomes sum = {0};

    for (size_t i = 0; i < cell->measures.len; i++) {
        const Measure *measure = &cell->measures.at[i];
        if (is_meant(measure, kind, name)) {
            sum.ok += hist_packed_count(measure->ok);
            sum.failed += hist_packed_count(measure->failed);
            sum.cut += measure->cut;
        }
    }
    return sum;
}
