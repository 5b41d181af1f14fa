// Comparison: every configuration against the baseline, FOLIO's figures beside.
#include "report.h"

#include <math.h>

// FOLIO's own figure for the metric; its names of statistics are ours.
static double foreign_value(const Report *report, const Metric *metric, const Scope *scope)
{
    ptrdiff_t dot = str_find_char(metric->name, '.', 0);

    if (metric->kind > METRIC_THROUGHPUT || dot < 0 || metric->during != DURING_ALL) {
        return NAN;
    }
    Str subject = str_eq(report->reference, S("perf-932")) ? (Str){"", 0} : metric->subject;
    return reference_value(report->reference, reference_run(report, scope), subject,
                           str_z(str_sub(metric->name, (size_t)dot + 1, metric->name.len)));
}

Str why_not_compared(const Report *report)
{
    return json_len(json_get(report->result->experiment, "compare")) > 0
               ? S("No configuration ran beside the baseline: there is nothing to compare.")
               : S("The experiment compares no configurations.");
}

static bool has_pair(const Compared *compared)
{
    return !isnan(compared->is.ratio);
}

static void comparison_columns(Table *table, Unit unit)
{
    table_column(table, "Metric", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Configuration", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Run", ROLE_KEY, UNIT_COUNT)->may_be_empty = true;
    table_column(table, "Baseline", ROLE_VALUE, unit);
    table_column(table, "Value", ROLE_VALUE, unit);
    table_column(table, "\xCE\x94", ROLE_DELTA, unit);
    table_column(table, "\xCE\x94 of blocks", ROLE_DELTA_PCT, UNIT_PERCENT);
    table_column(table, "95 % interval", ROLE_TEXT, UNIT_COUNT)->may_be_empty = true;
    table_column(table, "Verdict", ROLE_VERDICT, UNIT_COUNT);
    table_column(table, "Blocks", ROLE_VALUE, UNIT_COUNT);
    table_column(table, "Needed", ROLE_VALUE, UNIT_COUNT)->may_be_empty = true;
    static const char *const foreign[] = {"FOLIO reported: baseline", "FOLIO reported: value"};
    for (int i = 0; i < 2; i++) {
        Column *column = table_column(table, foreign[i], ROLE_VALUE, unit);
        column->is_foreign = column->may_be_empty = true;
    }
    Column *delta = table_column(table, "FOLIO reported: \xCE\x94", ROLE_DELTA_PCT, UNIT_PERCENT);
    delta->is_foreign = delta->may_be_empty = true;
}

static void add_compared(const Report *report, Table *table, const Compared *compared)
{
    const Configuration *baseline = baseline_of(report->result);
    Scope at_base = scope_with(&compared->scope, baseline->name);
    double base = foreign_value(report, &compared->metric, &at_base);
    double value = foreign_value(report, &compared->metric, &compared->scope);

    table_text(table, compared->metric.name);
    table_text(table, scope_label(report, compared->scope.configuration));
    table_text(table, scope_title(report, &compared->scope));
    table_number(table, compared->base);
    table_number(table, compared->value);
    table_number(table, compared->value - compared->base);
    table_number(table, 100 * (compared->is.ratio - 1));
    table_text(table, show_ratios(compared->is.within95));
    table_text(table, str_of(verdict_name(compared->is.verdict)));
    table_number(table, (double)compared->is.pairs);
    if (compared->is.units_needed > BLOCKS_USEFUL) {
        table_text(table, str_fmt("> %d", BLOCKS_USEFUL));
    } else {
        table_number(table, compared->is.units_needed ? (double)compared->is.units_needed : NAN);
    }
    table_number(table, base);
    table_number(table, value);
    table_number(table, 100 * (value / base - 1));
}

// One unit for each table.
static void add_unit(Report *report, Section *section, Unit unit)
{
    static const char *const titles[] = {[UNIT_COUNT] = "Shares and counts",
                                         [UNIT_PER_S] = "Throughput",
                                         [UNIT_MS] = "Times",
                                         [UNIT_S] = "Durations",
                                         [UNIT_VCPU] = "Processor",
                                         [UNIT_BYTES] = "Memory",
                                         [UNIT_PERCENT] = "Shares of a limit"};
    Table *table = NULL;

    for (size_t i = 0; i < report->compared_len; i++) {
        if (report->compared[i].metric.unit != unit) {
            continue;
        }
        if (!table) {
            table =
                section_table(section,
                              str_z(str_fmt("comparison-" STR_FMT,
                                            STR_ARG(show_slug(str_lower(str_of(titles[unit])))))),
                              str_of(titles[unit]));
            comparison_columns(table, unit);
            table->why_empty = S("no block holds both values");
        }
        if (has_pair(&report->compared[i])) {
            add_compared(report, table, &report->compared[i]);
        }
    }
    if (table) {
        table->note = str_fmt(
            "\xCE\x94: of all blocks together. \xCE\x94 of blocks: the median of the ratios block "
            "by "
            "block, by which the verdict goes; where blocks differ much the two may have different "
            "signs.%s",
            report->reference.len > 0 ? " FOLIO reported: measured by others on other hardware "
                                        "with other data; to be read "
                                        "beside, never against, our figures."
                                      : "");
    }
}

static void add_evidence(Report *report, Section *section)
{
    Table *table = section_table(section, "evidence", S("Evidence behind the verdicts"));

    table_column(table, "Metric", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Configuration", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Run", ROLE_KEY, UNIT_COUNT)->may_be_empty = true;
    table_column(table, "90 % interval", ROLE_TEXT, UNIT_COUNT)->may_be_empty = true;
    table_column(table, "p of a difference (Holm)", ROLE_TEXT, UNIT_COUNT);
    table_column(table, "p against equivalence", ROLE_TEXT, UNIT_COUNT);
    table_column(table, "Mann-Whitney p", ROLE_TEXT, UNIT_COUNT)->may_be_empty = true;
    table_column(table, "Hodges-Lehmann shift", ROLE_TEXT, UNIT_COUNT)->may_be_empty = true;
    table_column(table, "Probability of being larger", ROLE_TEXT, UNIT_COUNT)->may_be_empty = true;
    for (size_t i = 0; i < report->compared_len; i++) {
        const Compared *compared = &report->compared[i];
        const RankTest *ranks = &compared->is.ranks;
        if (!has_pair(compared)) {
            continue;
        }
        table_text(table, compared->metric.name);
        table_text(table, scope_label(report, compared->scope.configuration));
        table_text(table, scope_title(report, &compared->scope));
        table_text(table, show_ratios(compared->is.within90));
        table_text(table, show_p(compared->is.difference_p));
        table_text(table, show_p(compared->is.equivalence_p));
        table_text(table, show_p(ranks->p));
        table_text(table, isnan(ranks->shift) ? (Str){"", 0}
                                              : show_quantity(ranks->shift, compared->metric.unit));
        table_text(table, show_number(ranks->superiority));
    }
    table->why_empty = S("no block holds both values");
    table->note =
        S("Intervals and p values come from 2,000 resamplings of blocks and, within them, "
          "of runs of seconds. Equivalent: the 90 % interval lies within the margin. The "
          "rank test compares the blocks' values and needs four of each.");
}

void report_comparison(Report *report)
{
    Section *section = doc_section(report->doc, "comparison", "Comparison");

    if (report->compared_len == 0) {
        section_text(section, why_not_compared(report));
        return;
    }
    section_text(section,
                 str_fmt("Baseline: " STR_FMT ". Differences are signed: value minus baseline.",
                         STR_ARG(scope_label(report, baseline_of(report->result)->name))));
    for (int unit = 0; unit < UNITS; unit++) {
        add_unit(report, section, (Unit)unit);
    }
    add_evidence(report, section);
}
