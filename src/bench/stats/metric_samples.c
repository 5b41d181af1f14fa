// A metric of a result as samples for the statistics: one per block or run of a job, cut into
// slices of a second.
#include "metric.h"

#include "base/die.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLICES_MAX = 3600, // longer windows get longer slices
};

// The seconds of a cell that one sample takes.
typedef struct {
    double from_s, to_s;
} Span;

typedef struct {
    Span *at;
    size_t len;
    int64_t unit;
} Spans;

static bool job_counts(const JobRun *job)
{
    return !job->is_warmup && str_eq(job->state, S("done"));
}

// What lies between the jobs of a cell, up to the k-th one.
static Span gap_before(const Cell *cell, size_t k)
{
    return (Span){k > 0 ? cell->jobs.at[k - 1].to_s : 0,
                  k < cell->jobs.len ? cell->jobs.at[k].from_s : cell->window_s};
}

static void add_span(Spans *spans, double from_s, double to_s, const Cell *cell)
{
    from_s = fmax(from_s, 0);
    to_s = fmin(to_s, cell->window_s);
    if (to_s > from_s) {
        spans->at[spans->len++] = (Span){from_s, to_s};
    }
}

// The spans of one cell in which its metric is read; with jobs as the unit one list for each.
static size_t spans_of(const Cell *cell, const Metric *metric, bool by_job, Spans *out)
{
    size_t n = 0;

    if (metric->during == DURING_ALL) {
        out[0] = (Spans){.at = NEW_ARRAY(Span, 1), .unit = cell->block};
        add_span(&out[0], 0, cell->window_s, cell);
        return out[0].len;
    }
    out[0] = (Spans){.at = NEW_ARRAY(Span, cell->jobs.len + 1), .unit = cell->block};
    for (size_t k = 0; k < cell->jobs.len + (metric->during == DURING_IDLE && !by_job); k++) {
        if (by_job) {
            out[n] = (Spans){.at = NEW_ARRAY(Span, 1), .unit = cell->jobs.at[k].number};
        }
        if (k < cell->jobs.len && !job_counts(&cell->jobs.at[k])) {
            continue;
        }
        Span span = metric->during == DURING_IDLE
                        ? gap_before(cell, k)
                        : (Span){cell->jobs.at[k].from_s, cell->jobs.at[k].to_s};
        add_span(&out[n], span.from_s, span.to_s, cell);
        n += by_job && out[n].len > 0;
    }
    return by_job ? n : out[0].len > 0;
}

static double span_length(const Spans *spans)
{
    double length = 0;

    for (size_t i = 0; i < spans->len; i++) {
        length += spans->at[i].to_s - spans->at[i].from_s;
    }
    return length;
}

// The slice of a second, or -1: seconds that lie in the spans only partly belong to nobody, but for
// the last one of the window.
static ptrdiff_t slice_of(const Spans *spans, const Cell *cell, int64_t second, double slice_s)
{
    double before = 0;

    for (size_t i = 0; i < spans->len; i++) {
        const Span *span = &spans->at[i];
        bool is_last = span->to_s >= cell->window_s;
        if ((double)second >= span->from_s - 1e-9 &&
            ((double)second + 1 <= span->to_s + 1e-9 || (is_last && (double)second < span->to_s))) {
            return (ptrdiff_t)((before + (double)second - span->from_s) / slice_s);
        }
        before += ceil(span->to_s - span->from_s);
    }
    return -1;
}

static size_t slices_of(const Spans *spans, double slice_s)
{
    double seconds = 0;

    for (size_t i = 0; i < spans->len; i++) {
        seconds += ceil(spans->at[i].to_s - spans->at[i].from_s);
    }
    return (size_t)ceil(seconds / slice_s);
}

typedef struct {
    int64_t value;
    uint32_t slice, count;
} Entry;

// Values of one sample while they are gathered.
typedef struct {
    Entry *at;
    size_t len, cap;
    uint32_t slice;
} Entries;

static void add_entry(int64_t value, int64_t count, void *context)
{
    Entries *entries = context;

    entries->at =
        array_room(arena_current(), entries->at, entries->len, &entries->cap, sizeof *entries->at);
    entries->at[entries->len++] = (Entry){value, entries->slice, (uint32_t)count};
}

static bool is_meant(const Measure *measure, const Metric *metric)
{
    return measure->kind == metric->of &&
           (metric->subject.len == 0 || str_eq(measure->name, metric->subject));
}

static void gather_times(const Cell *cell, const Metric *metric, const Spans *spans, double slice_s,
                         Entries *entries)
{
    for (size_t i = 0; i < cell->measures.len; i++) {
        const Measure *measure = &cell->measures.at[i];
        for (size_t j = 0; is_meant(measure, metric) && j < measure->slices.len; j++) {
            const Slice *slice = &measure->slices.at[j];
            ptrdiff_t at = slice_of(spans, cell, slice->second, slice_s);
            if (at < 0 || slice->ok.len == 0) {
                continue;
            }
            entries->slice = (uint32_t)at;
            if (!hist_packed_each(slice->ok, add_entry, entries)) {
                die("a slice is no packed histogram");
            }
        }
    }
}

static int by_slice(const void *a, const void *b)
{
    const Entry *x = a, *y = b;

    return x->slice != y->slice ? (x->slice > y->slice) - (x->slice < y->slice)
                                : (x->value > y->value) - (x->value < y->value);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The distinct values of all samples, rising; in milliseconds.
static void make_bins(Samples *samples, const Entries *entries)
{
    size_t n = 0, kept = 0;

    for (size_t i = 0; i < samples->len; i++) {
        n += entries[i].len;
    }
    double *bins = NEW_ARRAY(double, n + 1);
    n = 0;
    for (size_t i = 0; i < samples->len; i++) {
        for (size_t j = 0; j < entries[i].len; j++) {
            bins[n++] = (double)entries[i].at[j].value / 1000;
        }
    }
    sort_array(bins, n, sizeof *bins, by_value);
    for (size_t i = 0; i < n; i++) {
        if (kept == 0 || bins[i] != bins[kept - 1]) {
            bins[kept++] = bins[i];
        }
    }
    samples->bins = bins;
    samples->bin_len = kept;
}

static void fill_bins(Samples *samples, Sample *sample, Entries *entries)
{
    if (entries->len > 0) {
        sort_array(entries->at, entries->len, sizeof *entries->at, by_slice);
    }
    sample->from = NEW_ARRAY(uint32_t, sample->len + 2);
    sample->bin = NEW_ARRAY(uint32_t, entries->len + 1);
    sample->count = NEW_ARRAY(uint32_t, entries->len + 1);
    size_t at = 0;
    for (size_t slice = 0; slice < sample->len; slice++) {
        sample->from[slice] = (uint32_t)at;
        for (; at < entries->len && entries->at[at].slice == slice; at++) {
            double ms = (double)entries->at[at].value / 1000;
            const double *bin = bsearch(&ms, samples->bins, samples->bin_len, sizeof ms, by_value);
            sample->bin[at] = (uint32_t)(bin - samples->bins);
            sample->count[at] = entries->at[at].count;
        }
    }
    sample->from[sample->len] = (uint32_t)at;
}

// The percentile of the merged slices of one sample.
static double percentile_of(const Samples *samples, const Sample *sample)
{
    Samples one = *samples;

    one.at = (Sample *)sample;
    one.len = 1;
    return stats_pooled(&one);
}

static void add_slices(const Cell *cell, const Metric *metric, const Measure *measure,
                       const Spans *spans, double slice_s, Sample *sample)
{
    for (size_t j = 0; j < measure->slices.len; j++) {
        const Slice *slice = &measure->slices.at[j];
        ptrdiff_t at = slice_of(spans, cell, slice->second, slice_s);
        if (at < 0 || (size_t)at >= sample->len) {
            continue;
        }
        double ok = (double)hist_packed_count(slice->ok), failed = (double)slice->failed;
        Hist *hist = NULL;
        switch (metric->kind) {
        case METRIC_MEAN:
            hist = hist_new(RESULT_DIGITS, RESULT_LONGEST_US);
            if (slice->ok.len > 0 && hist_merge_packed(hist, slice->ok)) {
                sample->over[at] += hist_mean(hist) / 1000 * ok;
                sample->under[at] += ok;
            }
            hist_free(hist);
            break;
        case METRIC_ERROR_RATE:
            sample->over[at] += failed;
            sample->under[at] += ok + failed;
            break;
        case METRIC_THROUGHPUT:
            sample->over[at] += ok + failed;
            break;
        case METRIC_CPU_PER:
            sample->under[at] += ok + failed;
            break;
        default:
            break;
        }
    }
}

// What a sampled metric adds for the time from .. to.
static void add_sampled(const Cell *cell, const Metric *metric, double from_s, double to_s,
                        Sample *sample, size_t at)
{
    double seconds = to_s - from_s;

    switch (metric->kind) {
    case METRIC_THROUGHPUT:
        sample->under[at] += seconds;
        break;
    case METRIC_CPU:
        sample->over[at] += cell_cpu_s(cell, from_s, to_s);
        sample->under[at] += seconds;
        break;
    case METRIC_CPU_PER:
        sample->over[at] += cell_cpu_s(cell, from_s, to_s) * 1000;
        break;
    case METRIC_MEMORY: {
        double mean = series_mean(cell, cell_memory(cell), from_s, to_s);
        if (!isnan(mean)) {
            sample->over[at] += mean * seconds;
            sample->under[at] += seconds;
        }
        break;
    }
    default:
        break;
    }
}

static void gather_ratio(const Cell *cell, const Metric *metric, const Spans *spans, double slice_s,
                         Sample *sample)
{
    sample->over = NEW_ARRAY(double, sample->len + 1);
    sample->under = NEW_ARRAY(double, sample->len + 1);
    for (size_t i = 0; i < cell->measures.len; i++) {
        if (is_meant(&cell->measures.at[i], metric)) {
            add_slices(cell, metric, &cell->measures.at[i], spans, slice_s, sample);
        }
    }
    double before = 0;
    for (size_t i = 0; i < spans->len; i++) {
        double from_s = spans->at[i].from_s, to_s = spans->at[i].to_s;
        for (double s = from_s; s < to_s - 1e-9; s += 1) {
            size_t at = (size_t)((before + s - from_s) / slice_s);
            if (at < sample->len) {
                add_sampled(cell, metric, s, fmin(s + 1, to_s), sample, at);
            }
        }
        before += ceil(to_s - from_s);
    }
}

static double memory_limit(const Cell *cell)
{
    return series_max(cell, cell_series(cell, GROUP_PROCESS, "server", "memory.limit"), -INFINITY,
                      INFINITY);
}

// Metrics that are one number of a span.
static double point_of(const Cell *cell, const Metric *metric, const Spans *spans)
{
    double most = NAN;

    for (size_t i = 0; i < spans->len; i++) {
        double value = NAN;
        if (metric->kind == METRIC_MAX) {
            Hist *hist = cell_times(cell, metric->of, metric->subject);
            value = hist_count(hist) > 0 ? (double)hist_max(hist) / 1000 : NAN;
            hist_free(hist);
        } else {
            value = series_max(cell, cell_memory(cell), spans->at[i].from_s, spans->at[i].to_s);
        }
        most = fmax(value, most);
    }
    return metric->kind == METRIC_PEAK_SHARE ? 100 * most / memory_limit(cell) : most;
}

// Metrics of a job's runs: a sample each, or a count of the cell.
static void add_jobs(const Cell *cell, const Metric *metric, bool by_job, Samples *samples)
{
    double sum = 0;
    double *durations = NEW_ARRAY(double, cell->jobs.len + 1);
    size_t n = 0;

    for (size_t i = 0; i < cell->jobs.len; i++) {
        const JobRun *job = &cell->jobs.at[i];
        if (!str_eq(job->workload, metric->subject)) {
            continue;
        }
        sum += metric->kind == METRIC_STUCK ? str_eq(job->state, S("stuck"))
                                            : (double)job->records_failed;
        if (!job_counts(job)) {
            continue;
        }
        durations[n++] = job->to_s - job->from_s;
        if (metric->kind == METRIC_DURATION && by_job) {
            samples->at[samples->len++] =
                (Sample){.unit = job->number, .point = job->to_s - job->from_s};
        }
    }
    if (metric->kind != METRIC_DURATION) {
        samples->at[samples->len++] = (Sample){.unit = cell->block, .point = sum};
    } else if (!by_job && n > 0) {
        samples->at[samples->len++] =
            (Sample){.unit = cell->block, .point = stats_median(durations, n)};
    }
}

static bool is_of_jobs(MetricKind kind)
{
    return kind == METRIC_DURATION || kind == METRIC_STUCK || kind == METRIC_RECORDS_FAILED;
}

static bool is_one_number(MetricKind kind)
{
    return kind == METRIC_MAX || kind == METRIC_PEAK || kind == METRIC_PEAK_SHARE;
}

static size_t samples_most(const Cells *cells)
{
    size_t most = 1;

    for (size_t i = 0; i < cells->len; i++) {
        most += cells->at[i]->jobs.len + 1;
    }
    return most;
}

static double slice_length(const Cells *cells)
{
    double longest = 0;

    for (size_t i = 0; i < cells->len; i++) {
        longest = fmax(longest, cells->at[i]->window_s);
    }
    return fmax(1, ceil(longest / SLICES_MAX));
}

static void add_cell(const Cell *cell, const Metric *metric, bool by_job, Samples *samples,
                     Entries *entries)
{
    Spans *spans = NEW_ARRAY(Spans, cell->jobs.len + 2);
    size_t n = spans_of(cell, metric, by_job, spans);

    for (size_t i = 0; i < n; i++) {
        Sample *sample = &samples->at[samples->len];
        *sample = (Sample){.unit = spans[i].unit, .point = NAN};
        if (is_one_number(metric->kind)) {
            sample->point = point_of(cell, metric, &spans[i]);
        } else if (span_length(&spans[i]) > 0) {
            sample->len = slices_of(&spans[i], samples->slice_s);
            if (metric->kind == METRIC_PERCENTILE) {
                gather_times(cell, metric, &spans[i], samples->slice_s, &entries[samples->len]);
            } else {
                gather_ratio(cell, metric, &spans[i], samples->slice_s, sample);
            }
        }
        samples->len++;
    }
}

// Units without a single value are left out.
static void drop_empty(Samples *samples)
{
    size_t kept = 0;

    for (size_t i = 0; i < samples->len; i++) {
        if (!isnan(samples->at[i].point)) {
            samples->at[kept++] = samples->at[i];
        }
    }
    samples->len = kept;
}

Samples metric_read(const Result *result, const Metric *metric, const Scope *scope)
{
    Cells cells = cells_of(result, scope);
    bool by_job = metric_is_by_job(result, metric);
    size_t most = samples_most(&cells);
    Samples samples = {.at = NEW_ARRAY(Sample, most),
                       .percent = metric->kind == METRIC_PERCENTILE ? metric->percent : -1,
                       .slice_s = slice_length(&cells)};
    Entries *entries = NEW_ARRAY(Entries, most);

    for (size_t i = 0; i < cells.len; i++) {
        if (is_of_jobs(metric->kind)) {
            add_jobs(cells.at[i], metric, by_job, &samples);
        } else {
            add_cell(cells.at[i], metric, by_job, &samples, entries);
        }
    }
    make_bins(&samples, entries);
    for (size_t i = 0; i < samples.len; i++) {
        Sample *sample = &samples.at[i];
        if (metric->kind == METRIC_PERCENTILE) {
            fill_bins(&samples, sample, &entries[i]);
        }
        if (sample->len > 0) {
            sample->point = percentile_of(&samples, sample);
        }
    }
    drop_empty(&samples);
    return samples;
}
