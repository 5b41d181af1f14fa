// The lab's report: what is computed from a result once, and the sections made of it.
// Source: spec/perf-lab.md 4, 7.
#pragma once

#include "bench/stats/metric.h"
#include "doc.h"
#include "folder.h"

// One line of the experiment's `compare` list in one scope for one configuration.
typedef struct {
    Metric metric;
    Scope scope; // of the configuration that is held against the baseline
    double margin, alpha;
    Comparison is;
    double base, value; // of all units together
    bool by_job;
} Compared;

typedef enum {
    KPI_MET,
    KPI_MISSED,
    KPI_NO_DATA,
} KpiState;

typedef struct {
    Metric metric;
    Scope scope;
    KpiState state;
    bool is_warning; // severity warn: never fails the run
    double value, limit;
    double bound;            // of a change: its value is not beyond with 95 %; else NAN
    bool is_least, is_delta; // the limit is a minimum; a change for the worse in percent
    Str note;
} Kpi;

enum {
    BLOCKS_USEFUL = 100, // nobody runs more
};

typedef struct {
    const Result *result;
    Str hash;      // of result.json, in hexadecimal
    Str reference; // the FOLIO report to show beside, like "perf-920"; or empty
    Doc *doc;
    Scopes scopes;
    Compared *compared;
    size_t compared_len;
    Kpi *kpis;
    size_t kpi_len;
} Report;

// Everything but the drawings. The hash is that of the result's text as it was.
// The result is completed by metric_complete.
Report *report_make(Result *result);
int report_exit_code(const Report *report);
// Writes report.html, report.md, tables, timeline.csv, junit.xml and the plots into the folder of
// the result.
WARN_UNUSED Err *report_write(Report *report, const char *folder);

// Filled by report_make, before the sections.
void report_compare_all(Report *report);
void report_kpis(Report *report);

// Sections, in this order.
void report_overview(Report *report);
void report_summary(Report *report);
void report_recommendations(Report *report);
void report_test_runs(Report *report);
void report_results(Report *report);
void report_jobs(Report *report, Section *section);
// Service time and the time with waiting, side by side; warns of late begins.
void report_waiting(Report *report, Section *section);
// Of runs whose load has steps; nothing if there are none.
void report_capacity(Report *report, Section *section);
void report_capacity_findings(Report *report, Section *section);
// Beyond the first step a missed limit is a finding, not a failure.
bool report_is_later_step(const Report *report, const Scope *scope);
// Slope of the durations by repetition and their level at 0; NAN if there is no single line.
double job_line(const Report *report, const Scope *scope, Str workload, double *level);
void report_comparison(Report *report);
void report_resources(Report *report);
void report_database(Report *report);
void report_errors(Report *report);
void report_annotations(Report *report);
void report_infrastructure(Report *report);
void report_methodology(Report *report);
void report_data_files(Report *report);

// Plots.
void chart_over_time(Report *report, Section *section, const Scope *scope, Str transaction);
void chart_throughput(Report *report, Section *section, const Scope *scope);
void chart_distribution(Report *report, Section *section, const Scope *scope, Str transaction);
void chart_blocks(Report *report, Section *section, const Scope *scope, Str transaction);
void chart_ratios(Report *report, Section *section);
void chart_modules(Report *report, Section *section, const Scope *scope, const char *series);
void chart_errors(Report *report, Section *section, const Scope *scope);
void chart_jobs(Report *report, Section *section, const Scope *scope, Str workload);
void chart_users(Report *report, Section *section);
// What all of them are made of: the label of a configuration in quotes, ids, titles with the run.
Str chart_label(const Report *report, size_t configuration);
Str chart_id(const Report *report, const Scope *scope, const char *kind, Str what);
Str chart_title(const Report *report, const Scope *scope, Str title);

// Checks a table against itself: sums, windows, order of percentiles, shares, copies, empty
// columns. What is wrong goes to the list.
void report_check_table(const Table *table, StrList *defects);
void report_check_doc(const Report *report);

// What FOLIO reported; NAN if it did not. Run "" = of all runs.
double reference_value(Str report, Str run, Str subject, const char *metric);
// All subjects for which a metric was reported.
StrList reference_subjects(Str report, const char *metric);
// Number of the configuration in FOLIO's report: "1", "2" ...
Str reference_run(const Report *report, const Scope *scope);

// Helpers of the sections.
Str why_not_compared(const Report *report);                // when there are no comparisons
Str kpi_amount(const Kpi *kpi, double amount);             // with its unit
Str scope_title(const Report *report, const Scope *scope); // "" if there is only one
Str scope_label(const Report *report, Str configuration);
StrList scope_names(const Report *report, const Scope *scope, MeasureKind kind);
Scope scope_with(const Scope *scope, Str configuration);
Hist *scope_times(const Report *report, const Scope *scope, MeasureKind kind, Str name);
Outcomes scope_outcomes(const Report *report, const Scope *scope, MeasureKind kind, Str name);
double scope_window(const Report *report, const Scope *scope); // seconds of all its cells
double metric_value(const Report *report, const char *name, const Scope *scope);
// For ids of plots and files: letters, digits and hyphens.
Str show_slug(Str text);
