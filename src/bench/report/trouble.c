// Errors and annotations.
#include "report.h"

#include <math.h>

enum {
    SAMPLES_SHOWN = 20,
    TEXT_SHOWN = 400,
    ANNOTATIONS_SHOWN = 200,
};
#define DIFFERENT_P 0.05

static StrList error_classes(const Report *report, MeasureKind kind)
{
    StrList classes = {0};

    for (size_t i = 0; i < report->result->cells.len; i++) {
        const Cell *cell = &report->result->cells.at[i];
        for (size_t j = 0; j < cell->measures.len && cell->state == CELL_DONE; j++) {
            const Measure *measure = &cell->measures.at[j];
            for (size_t k = 0; k < measure->errors.len && measure->kind == kind; k++) {
                if (!str_list_has(&classes, measure->errors.at[k].name)) {
                    str_list_add(&classes, measure->errors.at[k].name);
                }
            }
        }
    }
    return classes;
}

static int64_t count_errors(const Report *report, const Scope *scope, MeasureKind kind, Str class)
{
    Cells cells = cells_of(report->result, scope);
    int64_t count = 0;

    for (size_t i = 0; i < cells.len; i++) {
        for (size_t j = 0; j < cells.at[i]->measures.len; j++) {
            const Measure *measure = &cells.at[i]->measures.at[j];
            for (size_t k = 0; k < measure->errors.len && measure->kind == kind; k++) {
                if (str_eq(measure->errors.at[k].name, class)) {
                    count += measure->errors.at[k].count;
                }
            }
        }
    }
    return count;
}

static Str wilson_text(int64_t failed, int64_t all)
{
    Interval interval = stats_wilson(failed, all);
    return str_fmt("[" STR_FMT ", " STR_FMT "] %%", STR_ARG(show_number(100 * interval.low)),
                   STR_ARG(show_number(100 * interval.high)));
}

static void add_rate(const Report *report, Table *table, const Scope *scope, MeasureKind kind)
{
    Scope at_base = scope_with(scope, baseline_of(report->result)->name);
    Outcomes is = scope_outcomes(report, scope, kind, (Str){"", 0}),
             base = scope_outcomes(report, &at_base, kind, (Str){"", 0});
    int64_t all = is.ok + is.failed;

    table_text(table, kind == MEASURE_TRANSACTION ? S("transactions") : S("requests"));
    table_text(table, scope_label(report, scope->configuration));
    table_text(table, scope_title(report, scope));
    table_number(table, (double)all);
    table_number(table, (double)is.failed);
    table_number(table, all > 0 ? 100 * (double)is.failed / (double)all : NAN);
    table_text(table, wilson_text(is.failed, all));
    table_number(table, (double)is.cut);
    if (str_eq(scope->configuration, at_base.configuration)) {
        table_text(table, S("baseline"));
        return;
    }
    double p = stats_proportions_p(base.failed, base.ok + base.failed, is.failed, all);
    bool is_more =
        (double)is.failed * (double)(base.ok + base.failed) > (double)base.failed * (double)all;
    table_text(table, p >= DIFFERENT_P
                          ? str_fmt("no difference shown (p " STR_FMT ")", STR_ARG(show_p(p)))
                          : str_fmt("%s (p " STR_FMT ")", is_more ? "worse" : "better",
                                    STR_ARG(show_p(p))));
}

static void add_rates(Report *report, Section *section)
{
    Table *table = section_table(
        section, "error-rates", S("Failed transactions and failed requests: two different shares"));

    table_column(table, "Of", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Configuration", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Run", ROLE_KEY, UNIT_COUNT)->may_be_empty = true;
    table_column(table, "All", ROLE_COUNT, UNIT_COUNT);
    table_column(table, "Failed", ROLE_FAILED, UNIT_COUNT);
    table_column(table, "Failed share", ROLE_FAILED_SHARE, UNIT_PERCENT)->may_be_empty = true;
    table_column(table, "95 % interval", ROLE_TEXT, UNIT_COUNT);
    table_column(table, "Cut by the end", ROLE_VALUE, UNIT_COUNT);
    table_column(table, "Against the baseline", ROLE_VERDICT, UNIT_COUNT);
    for (size_t i = 0; i < report->scopes.len && baseline_of(report->result); i++) {
        for (int kind = 0; kind < MEASURES; kind++) {
            for (size_t j = 0; j < report->result->configurations.len; j++) {
                Scope at =
                    scope_with(&report->scopes.at[i], report->result->configurations.at[j].name);
                if (cells_of(report->result, &at).len > 0) {
                    add_rate(report, table, &at, (MeasureKind)kind);
                }
            }
        }
    }
    table->why_empty = S("no cell is valid");
    table->note = S("Interval: Wilson. Comparison: two proportions. What the end of a window cut "
                    "off is no error and is counted in no other table.");
}

static void add_classes(Report *report, Section *section)
{
    Table *table = section_table(section, "errors", S("Errors by class"));

    table_column(table, "Class", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Of", ROLE_KEY, UNIT_COUNT);
    for (size_t i = 0; i < report->result->configurations.len && i < 20; i++) {
        table_column(table, str_z(scope_label(report, report->result->configurations.at[i].name)),
                     ROLE_COUNT, UNIT_COUNT);
    }
    for (int kind = 0; kind < MEASURES; kind++) {
        StrList classes = error_classes(report, (MeasureKind)kind);
        for (size_t i = 0; i < classes.len; i++) {
            table_text(table, classes.at[i]);
            table_text(table, kind == MEASURE_TRANSACTION ? S("transactions") : S("requests"));
            for (size_t j = 0; j < report->result->configurations.len && j < 20; j++) {
                int64_t count = 0;
                for (size_t k = 0; k < report->scopes.len; k++) {
                    Scope at = scope_with(&report->scopes.at[k],
                                          report->result->configurations.at[j].name);
                    count += count_errors(report, &at, (MeasureKind)kind, classes.at[i]);
                }
                table_number(table, (double)count);
            }
        }
    }
    table->why_empty = S("nothing failed");
}

static Str shortened(Str text)
{
    return text.len > TEXT_SHOWN ? str_fmt(STR_FMT " ...", STR_ARG(str_sub(text, 0, TEXT_SHOWN)))
                                 : text;
}

static void add_samples(Report *report, Section *section)
{
    Table *table = section_table(section, "error-samples", S("First errors, as they came"));

    table_column(table, "Cell", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Request", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Class", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Times", ROLE_VALUE, UNIT_COUNT);
    table_column(table, "Second", ROLE_VALUE, UNIT_S);
    table_column(table, "Why", ROLE_TEXT, UNIT_COUNT)->may_be_empty = true;
    table_column(table, "Answer", ROLE_TEXT, UNIT_COUNT)->may_be_empty = true;
    for (size_t i = 0; i < report->result->cells.len; i++) {
        const Cell *cell = &report->result->cells.at[i];
        for (size_t j = 0; j < cell->error_samples.len && table_rows(table) < SAMPLES_SHOWN; j++) {
            const ErrorSample *sample = &cell->error_samples.at[j];
            table_text(table, cell->id);
            table_text(table, sample->request);
            table_text(table, sample->error);
            table_number(table, (double)sample->times);
            table_number(table, sample->at_s);
            table_text(table, shortened(sample->why));
            table_text(table, shortened(sample->answer));
        }
    }
    table->why_empty = S("nothing failed");
}

void report_errors(Report *report)
{
    Section *section = doc_section(report->doc, "errors", "Errors");

    add_rates(report, section);
    add_classes(report, section);
    for (size_t i = 0; i < report->scopes.len && report->scopes.len <= 4; i++) {
        chart_errors(report, section, &report->scopes.at[i]);
    }
    add_samples(report, section);
}

void report_annotations(Report *report)
{
    Section *section = doc_section(report->doc, "annotations", "Annotations");
    Table *table = section_table(section, "annotations", S("What happened while it ran"));
    size_t n = report->result->annotations.len;

    table_column(table, "When", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Cell", ROLE_KEY, UNIT_COUNT)->may_be_empty = true;
    table_column(table, "Kind", ROLE_KEY, UNIT_COUNT);
    table_column(table, "What", ROLE_TEXT, UNIT_COUNT);
    table_column(table, "Source", ROLE_TEXT, UNIT_COUNT)->may_be_empty = true;
    for (size_t i = 0; i < n && i < ANNOTATIONS_SHOWN; i++) {
        const Annotation *note = &report->result->annotations.at[i];
        table_text(table, show_time(note->at));
        table_text(table, note->cell);
        table_text(table, note->kind);
        table_text(table, shortened(note->text));
        table_text(table, note->source);
    }
    table->why_empty = S("nothing was noted");
    if (n > ANNOTATIONS_SHOWN) {
        table->note = str_fmt("The first %d of %zu; all are in result.json and timeline.csv.",
                              ANNOTATIONS_SHOWN, n);
    }
}
