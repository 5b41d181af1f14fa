// What a report must satisfy before anybody reads it: the errors of three published reports, as
// rules. Source: spec/perf-lab.md 1, 7.
#include "report.h"

#include <math.h>

#define WINDOW_TOLERANCE 0.01 // count / throughput against the stated window
#define SHARE_TOLERANCE  0.05 // failed / all against the stated share
#define SUM_TOLERANCE    0.05 // parts against their total
#define COPY_SHARE       0.80 // equal values of two columns

static void defect(StrList *defects, const Table *table, Str what)
{
    str_list_add(defects,
                 str_fmt("Table \"" STR_FMT "\": " STR_FMT, STR_ARG(table->title), STR_ARG(what)));
}

// The number of the row's column with the role, within the same origin.
static double number_of(const Table *table, size_t row, Role role, bool is_foreign)
{
    for (size_t i = 0; i < table->column_len; i++) {
        if (table->columns[i].role == role && table->columns[i].is_foreign == is_foreign) {
            return table_at(table, row, i)->number;
        }
    }
    return NAN;
}

static Str row_name(const Table *table, size_t row)
{
    StrList names = {0};

    for (size_t i = 0; i < table->column_len; i++) {
        if (table->columns[i].role == ROLE_KEY) {
            str_list_add(&names, table_show(table, row, i));
        }
    }
    return str_join(names.at, names.len, S(", "));
}

static void check_order(const Table *table, size_t row, bool is_foreign, StrList *defects)
{
    static const Role rising[] = {ROLE_MIN, ROLE_P50, ROLE_P75,  ROLE_P90,
                                  ROLE_P95, ROLE_P99, ROLE_P999, ROLE_MAX};
    double before = NAN;

    for (size_t i = 0; i < sizeof rising / sizeof *rising; i++) {
        double value = number_of(table, row, rising[i], is_foreign);
        if (value < before) {
            defect(defects, table,
                   str_fmt(STR_FMT ": percentiles do not rise (" STR_FMT " after " STR_FMT ").",
                           STR_ARG(row_name(table, row)), STR_ARG(show_number(value)),
                           STR_ARG(show_number(before))));
        }
        before = isnan(value) ? before : value;
    }
    double mean = number_of(table, row, ROLE_MEAN, is_foreign);
    double least = number_of(table, row, ROLE_MIN, is_foreign);
    double most = number_of(table, row, ROLE_MAX, is_foreign);
    double p95 = number_of(table, row, ROLE_P95, is_foreign);
    double p99 = number_of(table, row, ROLE_P99, is_foreign);
    if (mean < least || mean > most) {
        defect(defects, table,
               str_fmt(STR_FMT ": the mean lies outside the smallest and largest value.",
                       STR_ARG(row_name(table, row))));
    } else if (mean > p99 || (isnan(p99) && mean > p95)) {
        // For the mean to pass p95, the last twentieth would have to be many times as long.
        defect(defects, table,
               str_fmt(STR_FMT ": the mean (" STR_FMT ") lies above the %s percentile (" STR_FMT
                               ").",
                       STR_ARG(row_name(table, row)), STR_ARG(show_number(mean)),
                       isnan(p99) ? "95th" : "99th", STR_ARG(show_number(isnan(p99) ? p95 : p99))));
    }
}

static void check_rates(const Table *table, size_t row, bool is_foreign, StrList *defects)
{
    double count = number_of(table, row, ROLE_COUNT, is_foreign);
    double rate = number_of(table, row, ROLE_THROUGHPUT, is_foreign);
    double window = number_of(table, row, ROLE_WINDOW, is_foreign);
    double failed = number_of(table, row, ROLE_FAILED, is_foreign);
    double share = number_of(table, row, ROLE_FAILED_SHARE, is_foreign);

    if (count > 0 && rate > 0 && fabs(count / rate / window - 1) > WINDOW_TOLERANCE) {
        defect(defects, table,
               str_fmt(STR_FMT ": count and throughput mean a window of " STR_FMT
                               " s, the table says " STR_FMT " s.",
                       STR_ARG(row_name(table, row)), STR_ARG(show_number(count / rate)),
                       STR_ARG(show_number(window))));
    }
    if (failed > count) {
        defect(defects, table,
               str_fmt(STR_FMT ": more failed than there were.", STR_ARG(row_name(table, row))));
    }
    double computed = 100 * failed / count;
    if (count > 0 && fabs(share - computed) > SHARE_TOLERANCE * fmax(computed, 0.001)) {
        defect(defects, table,
               str_fmt(STR_FMT ": " STR_FMT " of " STR_FMT " failed, that is " STR_FMT
                               " %%, not " STR_FMT " %%.",
                       STR_ARG(row_name(table, row)), STR_ARG(show_number(failed)),
                       STR_ARG(show_count(count_of(count))), STR_ARG(show_number(computed)),
                       STR_ARG(show_number(share))));
    }
}

static void check_empty(const Table *table, size_t column, StrList *defects)
{
    if (column_is_blank(table, column) && !table->columns[column].may_be_empty) {
        defect(
            defects, table,
            str_fmt("the column \"" STR_FMT "\" is empty.", STR_ARG(table->columns[column].title)));
    }
}

// Two metrics with the same figures in most rows are one metric shown twice.
static void check_copy(const Table *table, size_t a, size_t b, StrList *defects)
{
    size_t equal = 0, both = 0, distinct = 0;

    for (size_t row = 0; row < table_rows(table); row++) {
        double x = table_at(table, row, a)->number, y = table_at(table, row, b)->number;
        if (isnan(x) || isnan(y) || x == 0) {
            continue;
        }
        both++;
        equal += x == y;
        distinct += row > 0 && x != table_at(table, row - 1, a)->number;
    }
    if (both >= 4 && distinct >= 3 && (double)equal > COPY_SHARE * (double)both) {
        defect(defects, table,
               str_fmt("the columns \"" STR_FMT "\" and \"" STR_FMT
                       "\" hold the same figures (%zu of %zu).",
                       STR_ARG(table->columns[a].title), STR_ARG(table->columns[b].title), equal,
                       both));
    }
}

static bool is_measured(const Column *column)
{
    return column->role == ROLE_VALUE || column->role == ROLE_PART;
}

static void check_total(const Table *table, size_t column, StrList *defects)
{
    size_t rows = table_rows(table);
    double sum = 0;

    if (!table->has_total || rows < 2 || table->columns[column].role != ROLE_PART) {
        return;
    }
    for (size_t row = 0; row + 1 < rows; row++) {
        double value = table_at(table, row, column)->number;
        sum += isnan(value) ? 0 : value;
    }
    double total = table_at(table, rows - 1, column)->number;
    if (fabs(sum - total) > SUM_TOLERANCE * fabs(total)) {
        defect(defects, table,
               str_fmt("the rows of \"" STR_FMT "\" add up to " STR_FMT ", the total says " STR_FMT
                       ".",
                       STR_ARG(table->columns[column].title), STR_ARG(show_number(sum)),
                       STR_ARG(show_number(total))));
    }
}

void report_check_table(const Table *table, StrList *defects)
{
    for (size_t row = 0; row < table_rows(table); row++) {
        for (int foreign = 0; foreign < 2; foreign++) {
            check_order(table, row, foreign, defects);
            check_rates(table, row, foreign, defects);
        }
    }
    for (size_t column = 0; column < table->column_len && table_rows(table) > 0; column++) {
        check_empty(table, column, defects);
        check_total(table, column, defects);
        for (size_t other = column + 1; other < table->column_len; other++) {
            if (is_measured(&table->columns[column]) && is_measured(&table->columns[other]) &&
                table->columns[column].unit == table->columns[other].unit) {
                check_copy(table, column, other, defects);
            }
        }
    }
    if (table_rows(table) == 0 && table->why_empty.len == 0) {
        defect(defects, table, S("it has no rows and no reason for it."));
    }
}

static void check_block(const Block *block, StrList *defects)
{
    if (block->kind == BLOCK_TABLE) {
        report_check_table(block->table, defects);
    } else if (block->kind == BLOCK_PLOT && block->plot->script.len == 0 &&
               block->plot->why_empty.len == 0) {
        str_list_add(defects, str_fmt("Plot \"" STR_FMT "\" has neither data nor a reason.",
                                      STR_ARG(block->plot->title)));
    } else if (block->kind == BLOCK_TEXT && block->text.len == 0) {
        str_list_add(defects, S("A paragraph is empty."));
    }
}

// What the seconds add up to is what the whole says; transactions are not counted twice.
static void check_cell(const Cell *cell, StrList *defects)
{
    for (size_t i = 0; i < cell->measures.len; i++) {
        const Measure *measure = &cell->measures.at[i];
        int64_t ok = 0;
        for (size_t j = 0; j < measure->slices.len; j++) {
            ok +=
                measure->slices.at[j].second >= 0 ? hist_packed_count(measure->slices.at[j].ok) : 0;
        }
        if (measure->slices.len > 0 && ok != hist_packed_count(measure->ok)) {
            str_list_add(defects,
                         str_fmt("Cell " STR_FMT ", " STR_FMT ": the seconds hold " STR_FMT
                                 " values, the whole " STR_FMT ".",
                                 STR_ARG(cell->id), STR_ARG(measure->name), STR_ARG(show_count(ok)),
                                 STR_ARG(show_count(hist_packed_count(measure->ok)))));
        }
        int64_t errors = 0;
        for (size_t j = 0; j < measure->errors.len; j++) {
            errors += measure->errors.at[j].count;
        }
        if (errors != hist_packed_count(measure->failed)) {
            str_list_add(defects,
                         str_fmt("Cell " STR_FMT ", " STR_FMT ": errors by class add up to " STR_FMT
                                 ", " STR_FMT " failed.",
                                 STR_ARG(cell->id), STR_ARG(measure->name),
                                 STR_ARG(show_count(errors)),
                                 STR_ARG(show_count(hist_packed_count(measure->failed)))));
        }
    }
}

void report_check_doc(const Report *report)
{
    StrList *defects = &report->doc->defects;

    for (const Section *section = report->doc->first; section; section = section->next) {
        if (!section->first) {
            str_list_add(defects, str_fmt("Section \"" STR_FMT "\" is not finished.",
                                          STR_ARG(section->title)));
        }
        for (const Block *block = section->first; block; block = block->next) {
            check_block(block, defects);
        }
    }
    for (size_t i = 0; i < report->result->cells.len; i++) {
        if (report->result->cells.at[i].state == CELL_DONE) {
            check_cell(&report->result->cells.at[i], defects);
        }
    }
}
