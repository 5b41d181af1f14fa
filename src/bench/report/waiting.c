// What waiting hides: users of a closed model ask less while the server is slow, and arrivals of an
// open one wait before anybody sends them. Both figures, each with its name; verdicts use the ones
// of the table of transactions. Source: spec/perf-lab.md 4.2.
#include "report.h"

#include <math.h>

static const double percents[] = {50, 95, 99};
enum {
    PERCENTS = sizeof percents / sizeof *percents,
    P99_LEAST = 500,
};
#define LAG_SHARE 0.05 // of the median response

typedef struct {
    Hist *to;
    int64_t interval_us;
} Correction;

static void correct(int64_t value, int64_t count, void *context)
{
    Correction *correction = context;

    for (int64_t i = 0; i < count; i++) {
        hist_record_corrected(correction->to, value, correction->interval_us);
    }
}

// The same times and those of the passes that a user would have begun meanwhile.
static Hist *corrected(const Hist *times, int64_t interval_us)
{
    Correction correction = {hist_new(RESULT_DIGITS, RESULT_LONGEST_US), interval_us};

    // What hist_pack has written can be read.
    (void)!hist_packed_each(hist_pack(times), correct, &correction);
    return correction.to;
}

static Hist *service_times(const Report *report, const Scope *scope, Str name)
{
    Cells cells = cells_of(report->result, scope);
    Hist *all = hist_new(RESULT_DIGITS, RESULT_LONGEST_US);

    for (size_t i = 0; i < cells.len; i++) {
        for (size_t j = 0; j < cells.at[i]->measures.len; j++) {
            const Measure *measure = &cells.at[i]->measures.at[j];
            if (measure->kind == MEASURE_TRANSACTION && str_eq(measure->name, name) &&
                measure->service.len > 0 && !hist_merge_packed(all, measure->service)) {
                break;
            }
        }
    }
    return all;
}

// Mean time from one pass of a user to its next, as measured.
static int64_t cycle_us(const Report *report, const Scope *scope)
{
    Cells cells = cells_of(report->result, scope);
    Outcomes all = scope_outcomes(report, scope, MEASURE_TRANSACTION, (Str){"", 0});
    double users = 0;

    for (size_t i = 0; i < cells.len; i++) {
        for (size_t j = 0; j < cells.at[i]->parts.len; j++) {
            users += (double)cells.at[i]->parts.at[j].users * cells.at[i]->window_s;
        }
    }
    return count_of(1e6 * users / (double)(all.ok + all.failed));
}

typedef struct {
    Str transaction, configuration, run;
} Names;

static void add_row(Table *table, const Names *names, Str which, const Hist *times)
{
    table_text(table, names->transaction);
    table_text(table, names->configuration);
    table_text(table, names->run);
    table_text(table, which);
    for (int i = 0; i < PERCENTS; i++) {
        bool is_enough = hist_count(times) >= (percents[i] < 99 ? 1 : P99_LEAST);
        table_number(table, is_enough ? (double)hist_percentile(times, percents[i]) / 1000 : NAN);
    }
}

static void add_rows(const Report *report, Table *table, const Scope *scope, Str name)
{
    Names names = {name, scope_label(report, scope->configuration), scope_title(report, scope)};
    Hist *measured = scope_times(report, scope, MEASURE_TRANSACTION, name);
    Hist *service = service_times(report, scope, name), *waiting = NULL;

    if (hist_count(service) > 0) {
        add_row(table, &names, S("service"), service);
        add_row(table, &names, S("from the planned arrival on"), measured);
    } else if (hist_count(measured) > 0) {
        int64_t interval_us = cycle_us(report, scope);
        waiting = corrected(measured, interval_us);
        add_row(table, &names, S("service"), measured);
        add_row(table, &names,
                str_fmt("corrected, a pass each " STR_FMT,
                        STR_ARG(show_quantity((double)interval_us / 1000, UNIT_MS))),
                waiting);
    }
    hist_free(measured);
    hist_free(service);
    hist_free(waiting);
}

// Users that begin late ask less than planned: said where it is more than a twentieth of a time.
static void warn_of_lag(const Report *report, Section *section, const Scope *scope)
{
    Cells cells = cells_of(report->result, scope);
    Hist *lag = hist_new(RESULT_DIGITS, RESULT_LONGEST_US);
    Hist *times = scope_times(report, scope, MEASURE_TRANSACTION, (Str){"", 0});

    for (size_t i = 0; i < cells.len; i++) {
        for (size_t j = 0; j < cells.at[i]->parts.len; j++) {
            Str packed = cells.at[i]->parts.at[j].lag;
            if (packed.len > 0 && !hist_merge_packed(lag, packed)) {
                break;
            }
        }
    }
    double late_ms = (double)hist_percentile(lag, 99) / 1000;
    double median_ms = (double)hist_percentile(times, 50) / 1000;
    Str where = scope_title(report, scope);
    if (hist_count(times) > 0 && late_ms > LAG_SHARE * median_ms) {
        section_finding(
            section, TONE_WARN, "4.2-lag",
            str_fmt("\"" STR_FMT "\"%s" STR_FMT ": one request in a hundred began " STR_FMT
                    " or more after its pause was over, more than 5 %% of the median of " STR_FMT
                    ": the machine or the driver was busy.",
                    STR_ARG(scope_label(report, scope->configuration)), where.len ? ", " : "",
                    STR_ARG(where), STR_ARG(show_quantity(late_ms, UNIT_MS)),
                    STR_ARG(show_quantity(median_ms, UNIT_MS))));
    }
    hist_free(lag);
    hist_free(times);
}

static void waiting_columns(Table *table)
{
    table_column(table, "Transaction", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Configuration", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Run", ROLE_KEY, UNIT_COUNT)->may_be_empty = true;
    table_column(table, "Time", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Median", ROLE_P50, UNIT_MS);
    table_column(table, "p95", ROLE_P95, UNIT_MS);
    table_column(table, "p99", ROLE_P99, UNIT_MS)->may_be_empty = true;
}

void report_waiting(Report *report, Section *section)
{
    Table *table = section_table(section, "waiting", S("Service and waiting"));

    waiting_columns(table);
    for (size_t i = 0; i < report->scopes.len; i++) {
        const Scope *scope = &report->scopes.at[i];
        StrList names = scope_names(report, scope, MEASURE_TRANSACTION);
        for (size_t j = 0; j < report->result->configurations.len; j++) {
            Scope at = scope_with(scope, report->result->configurations.at[j].name);
            for (size_t k = 0; k < names.len; k++) {
                add_rows(report, table, &at, names.at[k]);
            }
            warn_of_lag(report, section, &at);
        }
    }
    table->why_empty = S("no valid cell holds a transaction");
    table->note = S(
        "Service: from the send to the last byte. In the open model transactions count from their "
        "planned arrival on; in the closed one, where a user that waits asks for nothing, the "
        "corrected times hold the passes it would have begun meanwhile (HdrHistogram's correction "
        "for coordinated omission). Verdicts use the service time of the closed model and the "
        "planned arrival of the open one.");
}
