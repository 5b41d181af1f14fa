// Results: transactions, requests, the slowest ones, jobs.
#include "report.h"

#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

enum {
    P99_LEAST = 500,
    P999_LEAST = 5000,
    REQUESTS_SHOWN = 40,
    SLOWEST_SHOWN = 10,
    NEAR_S = 5, // an annotation that close may explain
};
#define LAW_TOLERANCE 5.0

static double percentile_ms(const Hist *hist, double percent, int64_t least)
{
    int64_t n = hist_count(hist);
    return n >= least && n > 0 ? (double)hist_percentile(hist, percent) / 1000 : NAN;
}

static void add_percentiles(Table *table, const Hist *hist)
{
    bool has_any = hist_count(hist) > 0;

    table_number(table, has_any ? (double)hist_min(hist) / 1000 : NAN);
    table_number(table, has_any ? hist_mean(hist) / 1000 : NAN);
    table_number(table, has_any ? hist_deviation(hist) / 1000 : NAN);
    table_number(table, percentile_ms(hist, 50, 1));
    table_number(table, percentile_ms(hist, 75, 1));
    table_number(table, percentile_ms(hist, 90, 1));
    table_number(table, percentile_ms(hist, 95, 1));
    table_number(table, percentile_ms(hist, 99, P99_LEAST));
    table_number(table, percentile_ms(hist, 99.9, P999_LEAST));
    table_number(table, has_any ? (double)hist_max(hist) / 1000 : NAN);
}

static const char *const foreign_titles[] = {"FOLIO reported: mean", "FOLIO reported: median",
                                             "FOLIO reported: p95"};

static void result_columns(Table *table)
{
    table_column(table, "Transaction", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Configuration", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Run", ROLE_KEY, UNIT_COUNT)->may_be_empty = true;
    table_column(table, "Transactions", ROLE_COUNT, UNIT_COUNT);
    table_column(table, "Failed", ROLE_FAILED, UNIT_COUNT);
    table_column(table, "Failed share", ROLE_FAILED_SHARE, UNIT_PERCENT);
    table_column(table, "Window", ROLE_WINDOW, UNIT_S);
    table_column(table, "Throughput", ROLE_THROUGHPUT, UNIT_PER_S);
    static const struct {
        const char *title;
        Role role;
    } times[] = {{"Min", ROLE_MIN},    {"Mean", ROLE_MEAN}, {"SD", ROLE_VALUE},
                 {"Median", ROLE_P50}, {"p75", ROLE_P75},   {"p90", ROLE_P90},
                 {"p95", ROLE_P95},    {"p99", ROLE_P99},   {"p99.9", ROLE_P999},
                 {"Max", ROLE_MAX}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        table_column(table, times[i].title, times[i].role, UNIT_MS)->may_be_empty = true;
    }
    static const Role foreign[] = {ROLE_MEAN, ROLE_P50, ROLE_P95};
    for (size_t i = 0; i < 3; i++) {
        Column *column = table_column(table, foreign_titles[i], foreign[i], UNIT_MS);
        column->is_foreign = column->may_be_empty = true;
    }
}

static void add_foreign(const Report *report, Table *table, const Scope *scope, Str name)
{
    static const char *const metrics[] = {"mean", "p50", "p95"};
    Str subject = str_eq(report->reference, S("perf-932")) ? (Str){"", 0} : name;

    for (size_t i = 0; i < 3; i++) {
        table_number(table, reference_value(report->reference, reference_run(report, scope),
                                            subject, metrics[i]));
    }
}

static void add_result(const Report *report, Table *table, const Scope *scope, Str name)
{
    Outcomes outcomes = scope_outcomes(report, scope, MEASURE_TRANSACTION, name);
    Hist *hist = scope_times(report, scope, MEASURE_TRANSACTION, name);
    double all = (double)(outcomes.ok + outcomes.failed), window = scope_window(report, scope);

    table_text(table, name);
    table_text(table, scope_label(report, scope->configuration));
    table_text(table, scope_title(report, scope));
    table_number(table, all);
    table_number(table, (double)outcomes.failed);
    table_number(table, all > 0 ? 100 * (double)outcomes.failed / all : NAN);
    table_number(table, window);
    table_number(table, window > 0 ? all / window : NAN);
    add_percentiles(table, hist);
    add_foreign(report, table, scope, name);
    hist_free(hist);
}

// All runs in one table: they are read against each other.
static void add_results_table(Report *report, Section *section)
{
    Table *table = section_table(section, "results", S("Transactions"));

    result_columns(table);
    for (size_t i = 0; i < report->scopes.len; i++) {
        const Scope *scope = &report->scopes.at[i];
        StrList names = scope_names(report, scope, MEASURE_TRANSACTION);
        for (size_t j = 0; j < names.len; j++) {
            for (size_t k = 0; k < report->result->configurations.len; k++) {
                Scope at = scope_with(scope, report->result->configurations.at[k].name);
                if (cells_of(report->result, &at).len > 0) {
                    add_result(report, table, &at, names.at[j]);
                }
            }
        }
    }
    table->why_empty = S("no valid cell holds a transaction");
    table->note = S("Times are those of transactions that were right, without their pauses, from "
                    "the merged histograms of all valid blocks. p99 is left out below 500 values, "
                    "p99.9 below 5,000. Window: seconds of all blocks together. FOLIO reported: on "
                    "other hardware with other data.");
}

typedef struct {
    Str name;
    double total_ms;
} Ranked;

static int by_total(const void *a, const void *b)
{
    const Ranked *x = a, *y = b;
    return x->total_ms != y->total_ms ? (x->total_ms < y->total_ms) - (x->total_ms > y->total_ms)
                                      : str_cmp(x->name, y->name);
}

static Ranked *rank_requests(const Report *report, const Scope *scope, const StrList *names)
{
    Ranked *ranked = NEW_ARRAY(Ranked, names->len + 1);

    for (size_t i = 0; i < names->len; i++) {
        Hist *hist = scope_times(report, scope, MEASURE_REQUEST, names->at[i]);
        ranked[i] = (Ranked){names->at[i], hist_mean(hist) / 1000 * (double)hist_count(hist)};
        hist_free(hist);
    }
    sort_array(ranked, names->len, sizeof *ranked, by_total);
    return ranked;
}

static void add_request(const Report *report, Table *table, const Scope *scope, Str name)
{
    Outcomes outcomes = scope_outcomes(report, scope, MEASURE_REQUEST, name);

    table_text(table, name);
    table_number(table, (double)(outcomes.ok + outcomes.failed));
    table_number(table, (double)outcomes.failed);
    for (size_t i = 0; i < report->result->configurations.len && i < 6; i++) {
        Scope at = scope_with(scope, report->result->configurations.at[i].name);
        Hist *hist = scope_times(report, &at, MEASURE_REQUEST, name);
        table_number(table, percentile_ms(hist, 50, 1));
        table_number(table, percentile_ms(hist, 95, 1));
        hist_free(hist);
    }
}

static void add_requests(Report *report, Section *section, const Scope *scope)
{
    StrList names = scope_names(report, scope, MEASURE_REQUEST);
    Str where = scope_title(report, scope);
    Table *table = section_table(
        section,
        where.len ? str_z(str_fmt("requests-" STR_FMT, STR_ARG(show_slug(where)))) : "requests",
        str_fmt("Requests with the most time%s" STR_FMT, where.len ? ": " : "", STR_ARG(where)));

    table_column(table, "Request", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Requests", ROLE_COUNT, UNIT_COUNT);
    table_column(table, "Failed", ROLE_FAILED, UNIT_COUNT);
    for (size_t i = 0; i < report->result->configurations.len && i < 6; i++) {
        Str label = scope_label(report, report->result->configurations.at[i].name);
        table_column(table, str_z(str_fmt("Median, " STR_FMT, STR_ARG(label))), ROLE_VALUE, UNIT_MS)
            ->may_be_empty = true;
        table_column(table, str_z(str_fmt("p95, " STR_FMT, STR_ARG(label))), ROLE_VALUE, UNIT_MS)
            ->may_be_empty = true;
    }
    Ranked *ranked = rank_requests(report, scope, &names);
    for (size_t i = 0; i < names.len && i < REQUESTS_SHOWN; i++) {
        add_request(report, table, scope, ranked[i].name);
    }
    table->why_empty = S("requests were not counted by type");
    if (names.len > REQUESTS_SHOWN) {
        table->note =
            str_fmt("%d of %zu types; all are in result.json.", REQUESTS_SHOWN, names.len);
    }
}

// Users = throughput x (pause + response), or the window or the driver is wrong.
static void add_law(Report *report, Table *table, const Scope *scope)
{
    Cells cells = cells_of(report->result, scope);
    double users = 0, think = 0, parts = 0;

    for (size_t i = 0; i < cells.len; i++) {
        for (size_t j = 0; j < cells.at[i]->parts.len; j++) {
            const Part *part = &cells.at[i]->parts.at[j];
            if (str_eq(part->model, S("closed")) && part->think_s >= 0) {
                users += (double)part->users;
                think += part->think_s;
                parts++;
            }
        }
    }
    // Several workloads at once do not share one cycle.
    if (parts == 0 || parts != (double)cells.len) {
        return;
    }
    Hist *hist = scope_times(report, scope, MEASURE_TRANSACTION, (Str){"", 0});
    Outcomes outcomes = scope_outcomes(report, scope, MEASURE_TRANSACTION, (Str){"", 0});
    double rate = (double)(outcomes.ok + outcomes.failed) / scope_window(report, scope);
    double busy = rate * (think / parts + hist_mean(hist) / 1e6);
    double away = 100 * (busy / (users / parts) - 1);
    table_text(table, scope_label(report, scope->configuration));
    table_text(table, scope_title(report, scope));
    table_number(table, users / parts);
    table_number(table, rate);
    table_number(table, think / parts);
    table_number(table, hist_mean(hist) / 1000);
    table_number(table, busy);
    table_number(table, away);
    table_text(table,
               fabs(away) > LAW_TOLERANCE ? S("warning: driver or window wrong") : S("right"));
    hist_free(hist);
}

static void add_laws(Report *report, Section *section)
{
    Table *table = section_table(section, "load", S("Does the load add up?"));

    table_column(table, "Configuration", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Run", ROLE_KEY, UNIT_COUNT)->may_be_empty = true;
    table_column(table, "Users", ROLE_VALUE, UNIT_COUNT);
    table_column(table, "Throughput", ROLE_VALUE, UNIT_PER_S);
    table_column(table, "Mean pause", ROLE_VALUE, UNIT_S);
    table_column(table, "Mean response", ROLE_VALUE, UNIT_MS);
    table_column(table, "Users at work", ROLE_VALUE, UNIT_COUNT);
    table_column(table, "Deviation", ROLE_DELTA_PCT, UNIT_PERCENT);
    table_column(table, "Outcome", ROLE_VERDICT, UNIT_COUNT);
    for (size_t i = 0; i < report->scopes.len; i++) {
        for (size_t j = 0; j < report->result->configurations.len; j++) {
            Scope at = scope_with(&report->scopes.at[i], report->result->configurations.at[j].name);
            add_law(report, table, &at);
        }
    }
    table->why_empty = S("no closed workload whose pauses are known ran alone");
    table->note =
        S("Users must equal throughput x (pause + response) within 5 % (utilisation law).");
}

typedef struct {
    const Cell *cell;
    const SlowTransaction *is;
} Slow;

static int by_slowness(const void *a, const void *b)
{
    const Slow *x = a, *y = b;
    return x->is->ms != y->is->ms ? (x->is->ms < y->is->ms) - (x->is->ms > y->is->ms)
                                  : str_cmp(x->cell->id, y->cell->id);
}

static Str longest_requests(const SlowTransaction *slow)
{
    StrList texts = {0};
    double last = INFINITY;

    for (int shown = 0; shown < 3; shown++) {
        const SlowRequest *most = NULL;
        for (size_t i = 0; i < slow->requests.len; i++) {
            const SlowRequest *request = &slow->requests.at[i];
            if (request->ms < last && (!most || request->ms > most->ms)) {
                most = request;
            }
        }
        if (!most) {
            break;
        }
        last = most->ms;
        str_list_add(&texts, str_fmt(STR_FMT " " STR_FMT, STR_ARG(most->name),
                                     STR_ARG(show_quantity(most->ms, UNIT_MS))));
    }
    return str_join(texts.at, texts.len, S("; "));
}

static Str nearby(const Result *result, const Cell *cell, double at_s)
{
    StrList texts = {0};
    double at_ms = (double)cell->window_at + at_s * 1000;

    for (size_t i = 0; i < result->annotations.len; i++) {
        const Annotation *note = &result->annotations.at[i];
        // Every cell is reset and its server started: that explains nothing.
        bool is_usual = str_eq(note->kind, S("start")) || str_eq(note->kind, S("stop")) ||
                        str_eq(note->kind, S("reset"));
        if (!is_usual && fabs((double)note->at - at_ms) <= NEAR_S * 1000 &&
            (note->cell.len == 0 || str_eq(note->cell, cell->id))) {
            str_list_add(&texts,
                         str_fmt(STR_FMT ": " STR_FMT, STR_ARG(note->kind), STR_ARG(note->text)));
        }
    }
    return str_join(texts.at, texts.len, S("; "));
}

static void add_slowest(Report *report, Section *section)
{
    const Result *result = report->result;
    Table *table = section_table(section, "slowest", S("The ten slowest transactions"));
    size_t n = 0;

    for (size_t i = 0; i < result->cells.len; i++) {
        n += result->cells.at[i].slowest.len;
    }
    Slow *all = NEW_ARRAY(Slow, n + 1);
    n = 0;
    for (size_t i = 0; i < result->cells.len; i++) {
        const Cell *cell = &result->cells.at[i];
        for (size_t j = 0; j < cell->slowest.len && cell->state == CELL_DONE; j++) {
            const SlowTransaction *slow = &cell->slowest.at[j];
            if (slow->at_s + slow->ms / 1000 >= 0) { // else it belongs to the warm-up
                all[n++] = (Slow){cell, slow};
            }
        }
    }
    sort_array(all, n, sizeof *all, by_slowness);
    table_column(table, "Transaction", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Cell", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Time", ROLE_VALUE, UNIT_MS);
    table_column(table, "At second of the window", ROLE_VALUE, UNIT_S);
    table_column(table, "Its longest requests", ROLE_TEXT, UNIT_COUNT)->may_be_empty = true;
    table_column(table, "Trace", ROLE_TEXT, UNIT_COUNT)->may_be_empty = true;
    table_column(table, "What happened near it", ROLE_TEXT, UNIT_COUNT)->may_be_empty = true;
    for (size_t i = 0; i < n && i < SLOWEST_SHOWN; i++) {
        table_text(table, all[i].is->name);
        table_text(table, all[i].cell->id);
        table_number(table, all[i].is->ms);
        table_number(table, round(all[i].is->at_s * 10) / 10);
        table_text(table, longest_requests(all[i].is));
        table_text(table, all[i].is->trace);
        table_text(table, nearby(result, all[i].cell, all[i].is->at_s));
    }
    table->why_empty = S("the result names none");
}

static StrList job_workloads(const Result *result)
{
    StrList names = {0};

    for (size_t i = 0; i < result->cells.len; i++) {
        for (size_t j = 0; j < result->cells.at[i].jobs.len; j++) {
            if (!str_list_has(&names, result->cells.at[i].jobs.at[j].workload)) {
                str_list_add(&names, result->cells.at[i].jobs.at[j].workload);
            }
        }
    }
    return names;
}

void report_results(Report *report)
{
    Section *section = doc_section(report->doc, "results", "Results");

    add_results_table(report, section);
    for (size_t i = 0; i < report->scopes.len; i++) {
        const Scope *scope = &report->scopes.at[i];
        StrList names = scope_names(report, scope, MEASURE_TRANSACTION);
        if (cells_of(report->result, scope).len == 0) {
            continue; // the table of test runs says why
        }
        // Sixteen runs would be a hundred plots: then the table, and plots over the users.
        for (size_t j = 0; j < names.len && report->scopes.len <= 4; j++) {
            chart_over_time(report, section, scope, names.at[j]);
            chart_distribution(report, section, scope, names.at[j]);
            chart_blocks(report, section, scope, names.at[j]);
        }
        if (report->scopes.len <= 4) {
            chart_throughput(report, section, scope);
        }
        add_requests(report, section, scope);
    }
    report_capacity(report, section);
    chart_users(report, section);
    if (job_workloads(report->result).len > 0) {
        report_jobs(report, section);
    }
    report_waiting(report, section);
    add_slowest(report, section);
    add_laws(report, section);
}
