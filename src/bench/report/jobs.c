// Jobs: their runs by repetition, signed differences, and whether they drift.
// Source: spec/perf-lab.md 4.6.
#include "report.h"

#include <math.h>

enum {
    REPETITIONS_MAX = 200,
};
#define DRIFT_PCT 1.0 // more per repetition is a finding

// All runs of one workload in one configuration, in order, with a number for each stretch between
// restarts.
typedef struct {
    const JobRun *at[REPETITIONS_MAX];
    int piece[REPETITIONS_MAX];
    size_t len;
} Runs;

static bool is_cut(const Annotation *note)
{
    return str_eq(note->kind, S("restart")) || str_eq(note->kind, S("crash")) ||
           str_eq(note->kind, S("oom"));
}

static int cuts_before(const Result *result, const Cell *cell, double at_s)
{
    int cuts = 0;

    for (size_t i = 0; i < result->annotations.len; i++) {
        const Annotation *note = &result->annotations.at[i];
        if (is_cut(note) && str_eq(note->cell, cell->id) &&
            (double)(note->at - cell->window_at) < at_s * 1000) {
            cuts++;
        }
    }
    return cuts;
}

static Runs runs_of(const Report *report, const Scope *scope, Str workload)
{
    Cells cells = cells_of(report->result, scope);
    Runs runs = {.len = 0};

    for (size_t i = 0; i < cells.len; i++) {
        for (size_t j = 0; j < cells.at[i]->jobs.len && runs.len < REPETITIONS_MAX; j++) {
            const JobRun *job = &cells.at[i]->jobs.at[j];
            if (str_eq(job->workload, workload)) {
                // Each cell starts anew, too.
                runs.piece[runs.len] =
                    (int)i * 1000 + cuts_before(report->result, cells.at[i], job->from_s);
                runs.at[runs.len++] = job;
            }
        }
    }
    return runs;
}

static double duration_of(const Runs *runs, size_t i)
{
    return i < runs->len ? runs->at[i]->to_s - runs->at[i]->from_s : NAN;
}

static Str remark_of(const Runs *runs, size_t i)
{
    const JobRun *job = runs->at[i];
    StrList remarks = {0};

    if (!str_eq(job->state, S("done"))) {
        str_list_add(&remarks, job->state);
    }
    if (job->is_warmup) {
        str_list_add(&remarks, S("warm-up, not counted"));
    }
    if (i > 0 && runs->piece[i] != runs->piece[i - 1]) {
        str_list_add(&remarks, S("after a restart"));
    }
    if (job->records_failed > 0) {
        str_list_add(&remarks,
                     str_fmt(STR_FMT " records failed", STR_ARG(show_count(job->records_failed))));
    }
    return str_join(remarks.at, remarks.len, S("; "));
}

static void add_repetition(const Report *report, Table *table, const Scope *scope, size_t i,
                           const Runs *all)
{
    StrList remarks = {0};

    table_text(table, show_count((int64_t)i + 1));
    for (size_t j = 0; j < report->result->configurations.len; j++) {
        double value = duration_of(&all[j], i), base = duration_of(&all[0], i);
        table_number(table, value);
        if (j > 0) {
            table_number(table, value - base);
            table_number(table, 100 * (value / base - 1));
        }
        Scope at = scope_with(scope, report->result->configurations.at[j].name);
        table_number(table, reference_value(report->reference, reference_run(report, &at),
                                            S("import"), str_z(str_fmt("duration %zu", i + 1))));
        Str remark = i < all[j].len ? remark_of(&all[j], i) : (Str){"", 0};
        if (remark.len > 0) {
            str_list_add(&remarks,
                         str_fmt(STR_FMT ": " STR_FMT,
                                 STR_ARG(scope_label(report, at.configuration)), STR_ARG(remark)));
        }
    }
    table_text(table, str_join(remarks.at, remarks.len, S("; ")));
}

static void duration_columns(const Report *report, Table *table)
{
    table_column(table, "Repetition", ROLE_KEY, UNIT_COUNT);
    for (size_t i = 0; i < report->result->configurations.len && i < 4; i++) {
        Str label = scope_label(report, report->result->configurations.at[i].name);
        table_column(table, str_z(label), ROLE_VALUE, UNIT_S)->is_duration = true;
        if (i > 0) {
            Column *delta = table_column(table, "\xCE\x94", ROLE_DELTA, UNIT_S);
            delta->is_duration = delta->may_be_empty = true;
            table_column(table, "\xCE\x94", ROLE_DELTA_PCT, UNIT_PERCENT)->may_be_empty = true;
        }
        Column *foreign = table_column(table, "FOLIO reported", ROLE_VALUE, UNIT_S);
        foreign->is_duration = foreign->is_foreign = foreign->may_be_empty = true;
    }
    table_column(table, "Remarks", ROLE_TEXT, UNIT_COUNT)->may_be_empty = true;
}

// Runs that count for a trend: done, and not the warm-up.
static Trend trend_of(const Runs *runs)
{
    double x[REPETITIONS_MAX], y[REPETITIONS_MAX];
    int piece[REPETITIONS_MAX];
    size_t n = 0;

    for (size_t i = 0; i < runs->len; i++) {
        if (!runs->at[i]->is_warmup && str_eq(runs->at[i]->state, S("done"))) {
            x[n] = (double)runs->at[i]->number;
            y[n] = duration_of(runs, i);
            piece[n++] = runs->piece[i];
        }
    }
    return stats_trend(x, y, piece, n);
}

double job_line(const Report *report, const Scope *scope, Str workload, double *level)
{
    Runs runs = runs_of(report, scope, workload);
    Trend trend = trend_of(&runs);
    double *rests = NEW_ARRAY(double, runs.len + 1);
    size_t n = 0;

    for (size_t i = 0; i < runs.len; i++) {
        if (runs.piece[i] != runs.piece[0]) {
            return NAN; // a restart: two lines of one slope
        }
        if (!runs.at[i]->is_warmup && str_eq(runs.at[i]->state, S("done"))) {
            rests[n++] = duration_of(&runs, i) - trend.slope * (double)runs.at[i]->number;
        }
    }
    *level = stats_median(rests, n);
    return n < 3 ? NAN : trend.slope;
}

static void add_trend(const Report *report, Section *section, Str configuration, Str workload,
                      const Runs *runs)
{
    Trend trend = trend_of(runs);
    Str who = str_fmt(STR_FMT ", " STR_FMT, STR_ARG(scope_label(report, configuration)),
                      STR_ARG(workload));

    if (isnan(trend.slope) || trend.n < 3) {
        section_finding(
            section, TONE_PLAIN, "4.6-few",
            str_fmt(STR_FMT ": %zu runs say nothing about a trend.", STR_ARG(who), trend.n));
        return;
    }
    double share = 100 * trend.slope / trend.middle;
    bool grows = trend.interval.low > 0 && share > DRIFT_PCT;
    bool falls = trend.interval.high < 0 && share < -DRIFT_PCT;
    Str amount =
        str_fmt(STR_FMT " s per repetition [" STR_FMT ", " STR_FMT "] (" STR_FMT
                        "), Mann-Kendall p " STR_FMT,
                STR_ARG(show_signed(trend.slope)), STR_ARG(show_signed(trend.interval.low)),
                STR_ARG(show_signed(trend.interval.high)), STR_ARG(show_percent(share)),
                STR_ARG(show_p(trend.p)));
    section_finding(section, grows ? TONE_BAD : TONE_GOOD, grows ? "4.6-degrades" : "4.6-steady",
                    str_fmt(STR_FMT ": %s, " STR_FMT ".", STR_ARG(who),
                            grows   ? "degrades"
                            : falls ? "becomes faster"
                                    : "no drift of more than 1 % per repetition",
                            STR_ARG(amount)));
}

static void add_workload(Report *report, Section *section, const Scope *scope, Str workload)
{
    const Result *result = report->result;
    Runs *all = NEW_ARRAY(Runs, result->configurations.len + 1);
    size_t longest = 0;
    Str where = scope_title(report, scope);

    for (size_t i = 0; i < result->configurations.len; i++) {
        Scope at = scope_with(scope, result->configurations.at[i].name);
        all[i] = runs_of(report, &at, workload);
        longest = all[i].len > longest ? all[i].len : longest;
    }
    if (longest == 0) {
        return;
    }
    Table *table =
        section_table(section, str_z(str_fmt("jobs-" STR_FMT, STR_ARG(show_slug(workload)))),
                      str_fmt("Runs of " STR_FMT "%s" STR_FMT, STR_ARG(workload),
                              where.len ? ": " : "", STR_ARG(where)));
    duration_columns(report, table);
    for (size_t i = 0; i < longest && result->configurations.len <= 4; i++) {
        add_repetition(report, table, scope, i, all);
    }
    table->why_empty = S("more than four configurations: see result.json");
    table->note = S("\xCE\x94: against the baseline's run of the same number; a minus is faster. "
                    "FOLIO reported: 100,000 records each, on other hardware.");
    for (size_t i = 0; i < result->configurations.len; i++) {
        add_trend(report, section, result->configurations.at[i].name, workload, &all[i]);
    }
    chart_jobs(report, section, scope, workload);
}

void report_jobs(Report *report, Section *section)
{
    StrList seen = {0};

    section_heading(section, "Jobs");
    for (size_t i = 0; i < report->result->cells.len; i++) {
        const Cell *cell = &report->result->cells.at[i];
        for (size_t j = 0; j < cell->jobs.len; j++) {
            Str workload = cell->jobs.at[j].workload;
            if (str_list_has(&seen, workload)) {
                continue;
            }
            str_list_add(&seen, workload);
            for (size_t k = 0; k < report->scopes.len; k++) {
                add_workload(report, section, &report->scopes.at[k], workload);
            }
        }
    }
}
