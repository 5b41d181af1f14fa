// Metrics by name, read from a result: "check-out.p95", "cpu.total", "import.duration",
// "check-in.p50@job". docs/lab.md lists them.
#pragma once

#include "bench/result.h"
#include "stats.h"

typedef enum {
    METRIC_PERCENTILE, // of the times of a transaction or request
    METRIC_MEAN,
    METRIC_MAX,
    METRIC_THROUGHPUT,
    METRIC_ERROR_RATE,
    METRIC_CPU,        // vCPU of the server
    METRIC_CPU_PER,    // CPU milliseconds of the server per transaction or request
    METRIC_MEMORY,     // mean bytes of the server
    METRIC_PEAK,       // most bytes of the server
    METRIC_PEAK_SHARE, // the same in percent of the limit
    METRIC_DURATION,   // of a job, each run of it
    METRIC_STUCK,      // number of runs of a job
    METRIC_RECORDS_FAILED,
} MetricKind;

typedef enum {
    DURING_ALL,
    DURING_JOB,  // @job: only seconds in which a job runs
    DURING_IDLE, // @idle: only seconds in which none does
} During;

typedef struct {
    Str name; // as written
    MetricKind kind;
    MeasureKind of; // METRIC_PERCENTILE .. METRIC_CPU_PER
    Str subject;    // transaction, request or job workload; empty = all of them together
    double percent; // METRIC_PERCENTILE
    During during;
    Unit unit;
    bool is_higher_better;
} Metric;

// Errors: 400 naming what is not understood.
WARN_UNUSED Err *metric_parse(Str name, Metric *out);

// Requests of a workload without named transactions are transactions of their own: adds them as
// such to the cells that have none. Twice does nothing more.
void metric_complete(Result *result);

// Cells that belong together: one run, one load, one configuration.
typedef struct {
    Str run, load, configuration;
} Scope;

// The valid cells of the scope in order of blocks.
typedef struct {
    const Cell **at;
    size_t len;
} Cells;
Cells cells_of(const Result *result, const Scope *scope);
// All scopes of the plan for one configuration (empty = any), in order of the plan.
typedef struct {
    Scope *at;
    size_t len;
} Scopes;
Scopes scopes_of(const Result *result, Str configuration);

const Configuration *configuration_of(const Result *result, Str name);
const Configuration *baseline_of(const Result *result);

// One sample per block, or per run of a job where jobs are the unit (decision 29: one block).
Samples metric_read(const Result *result, const Metric *metric, const Scope *scope);
// The unit is a repetition of a job, not a block.
bool metric_is_by_job(const Result *result, const Metric *metric);

// Reading a cell.
const Series *cell_series(const Cell *cell, SeriesGroup group, const char *subject,
                          const char *name);
// Of a counter from `from_s` to `to_s`, between samples by line; NAN if it was not sampled.
double series_growth(const Cell *cell, const Series *series, double from_s, double to_s);
// Of a level; between samples by line, too.
double series_mean(const Cell *cell, const Series *series, double from_s, double to_s);
double series_max(const Cell *cell, const Series *series, double from_s, double to_s);
// CPU-seconds of the server, user and system, from the series of its process.
double cell_cpu_s(const Cell *cell, double from_s, double to_s);
// The series that says how much memory the server holds: anonymous memory, else PSS, else the
// cgroup's figure, else RSS.
const Series *cell_memory(const Cell *cell);
// Of the kind that counts, merged over the measures with the name (empty = all); free with
// hist_free.
Hist *cell_times(const Cell *cell, MeasureKind kind, Str name);
typedef struct {
    int64_t ok, failed, cut;
} Outcomes;
Outcomes cell_outcomes(const Cell *cell, MeasureKind kind, Str name);
