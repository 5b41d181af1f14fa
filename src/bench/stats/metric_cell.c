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

// The first tick at or after a moment: ticks rise.
static size_t tick_at(const Cell *cell, double s)
{
    size_t low = 0, high = cell->ticks.len;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (cell->ticks.at[middle] < s) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// The value at a moment, by line between the samples around it; the first and last one beyond.
static double value_at(const Cell *cell, const Series *series, double s)
{
    const double *ticks = cell->ticks.at, *values = series->values.at;
    size_t len = series->values.len < cell->ticks.len ? series->values.len : cell->ticks.len;
    size_t after = tick_at(cell, s), before = after < len ? after : len;

    while (after < len && isnan(values[after])) {
        after++;
    }
    while (before > 0 && isnan(values[before - 1])) {
        before--;
    }
    if (before == 0 || after >= len) {
        return before > 0 ? values[before - 1] : after < len ? values[after] : NAN;
    }
    double from_s = ticks[before - 1], from = values[before - 1];
    double share = ticks[after] > from_s ? (s - from_s) / (ticks[after] - from_s) : 1;
    return from + share * (values[after] - from);
}

double series_growth(const Cell *cell, const Series *series, double from_s, double to_s)
{
    return series ? value_at(cell, series, to_s) - value_at(cell, series, from_s) : NAN;
}

// Of the samples from one moment to another.
typedef struct {
    double sum, most;
    size_t n;
} Gathered;

static Gathered gather(const Cell *cell, const Series *series, double from_s, double to_s)
{
    Gathered found = {.most = NAN};

    for (size_t i = tick_at(cell, from_s);
         series && i < series->values.len && i < cell->ticks.len && cell->ticks.at[i] <= to_s;
         i++) {
        if (!isnan(series->values.at[i])) {
            found.sum += series->values.at[i];
            found.most = fmax(series->values.at[i], found.most);
            found.n++;
        }
    }
    return found;
}

double series_mean(const Cell *cell, const Series *series, double from_s, double to_s)
{
    Gathered found = gather(cell, series, from_s, to_s);

    // Some are sampled less often than others: between two samples there is a line.
    return found.n  ? found.sum / (double)found.n
           : series ? value_at(cell, series, (from_s + to_s) / 2)
                    : NAN;
}

double series_max(const Cell *cell, const Series *series, double from_s, double to_s)
{
    return gather(cell, series, from_s, to_s).most;
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
    static const char *const names[] = {"memory.anonymous", "memory.pss", "memory.cgroup",
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
