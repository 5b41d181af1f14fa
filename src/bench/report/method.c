// How it was measured and computed, and which files hold what.
#include "report.h"

static void term(Table *table, const char *name, const char *meaning)
{
    table_text(table, str_of(name));
    table_text(table, str_of(meaning));
}

static void measuring_terms(Table *table)
{
    term(table, "Cell",
         "One run of the load against one configuration in one block. Data are reset "
         "and the server is started anew before each, as the design says.");
    term(table, "Window",
         "Begins when all users have finished a transaction and the warm-up is over. Nothing "
         "outside it is counted.");
    term(table, "Time of a transaction",
         "Sum of its requests' times, without pauses. Failed and cut ones are kept apart.");
    term(
        table, "Closed and open model",
        "Closed: a user waits for the answer, the time is what the user sees (service time). Open: "
        "the time counts from the planned arrival.");
    term(table, "Percentile",
         "Smallest recorded value with at least that share of all values at or below it, from "
         "merged histograms with three significant digits.");
    term(table, "Interval of a value",
         "95 %, from 2,000 resamplings of blocks and, within each, of runs of ten seconds (a third "
         "of windows below 30 s).");
}

static void comparing_terms(Table *table)
{
    term(table, "Comparison",
         "Ratio of each block's value to the baseline's in the same block; the median of the "
         "ratios; intervals by the same resampling.");
    term(table, "Equivalent",
         "The 90 % interval of the ratio lies within the margin, which is two "
         "one-sided tests at 5 %.");
    term(table, "Different but small",
         "As equivalent, but the 95 % interval excludes a ratio of 1.");
    term(table, "Worse, better",
         "The 95 % interval excludes 1 and the ratio lies beyond the margin, after Holm's "
         "correction over all comparisons of this report.");
    term(table, "Inconclusive",
         "Everything else. It is no proof of sameness; the blocks needed are estimated from the "
         "spread of the ratios, for a power of 80 %.");
    term(table, "Steady",
         "Median and throughput of ten parts of the window show no trend "
         "(Mann-Kendall, p < 0.01) of more than 5 %.");
    term(table, "Drift of jobs",
         "Theil-Sen slope over repetitions with its 95 % interval; a "
         "restart cuts the series.");
    term(table, "Processor",
         "CPU-seconds, user and system, of the server process; by module from "
         "clocks around the module's code.");
}

void report_methodology(Report *report)
{
    Section *section = doc_section(report->doc, "methodology", "Methodology");
    Table *table = section_table(section, "methodology", S("How the figures came about"));

    table_column(table, "Term", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Meaning", ROLE_TEXT, UNIT_COUNT);
    measuring_terms(table);
    comparing_terms(table);
    if (report->reference.len > 0) {
        term(table, "FOLIO reported",
             "Figures of FOLIO's performance team for the experiment of "
             "the same name, on other hardware.");
    }
}

void report_data_files(Report *report)
{
    static const char *const files[][2] = {
        {"result.json", "everything, histograms included; this report is computed from it alone"},
        {"report.html, report.md", "this report"},
        {"tables/*.csv", "each table in long form, with exact figures"},
        {"timeline.csv", "each second of each cell: counts, times, processor, memory, annotations"},
        {"plots/*.svg", "the plots"},
        {"junit.xml", "thresholds, comparisons and cells as tests, for integration machines"},
    };
    Section *section = doc_section(report->doc, "data-files", "Data files");
    Table *table = section_table(section, "data-files", S("Files beside this one"));

    table_column(table, "File", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Content", ROLE_TEXT, UNIT_COUNT);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        term(table, files[i][0], files[i][1]);
    }
    section_text(section, str_fmt("SHA-256 of the result: " STR_FMT ".", STR_ARG(report->hash)));
}
