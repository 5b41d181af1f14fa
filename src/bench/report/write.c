// The files of a report, in the folder of its result.
#include "report.h"

#include "plot.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum {
    FILE_TEXT_MAX = 256 << 20,
};

static Err *write_file(const char *folder, Str name, Str text)
{
    const char *path = str_z(str_fmt("%s/" STR_FMT, folder, STR_ARG(name)));
    FILE *file = fopen(path, "wb");
    bool is_written = file && fwrite(text.at, 1, text.len, file) == text.len;

    if (!file || fclose(file) != 0 || !is_written) {
        return err_text(500, "%s: %s", path, strerror(errno));
    }
    return NULL;
}

static Err *make_folder(const char *path)
{
    return mkdir(path, 0755) == 0 || errno == EEXIST
               ? NULL
               : err_text(500, "%s: %s", path, strerror(errno));
}

static Err *write_tables(const Report *report, const char *folder)
{
    const char *tables = str_z(str_fmt("%s/tables", folder));

    TRY(make_folder(tables));
    for (const Section *section = report->doc->first; section; section = section->next) {
        for (const Block *block = section->first; block; block = block->next) {
            if (block->kind == BLOCK_TABLE && table_rows(block->table) > 0) {
                TRY(write_file(tables, str_fmt(STR_FMT ".csv", STR_ARG(block->table->id)),
                               table_csv(block->table)));
            }
        }
    }
    return NULL;
}

// The long form in which FOLIO's figures are kept: run,run_label,transaction,metric,value,unit.
static void add_long_rows(const Report *report, Buf *buf, const Scope *scope, Str name)
{
    Outcomes outcomes = scope_outcomes(report, scope, MEASURE_TRANSACTION, name);
    Hist *hist = scope_times(report, scope, MEASURE_TRANSACTION, name);
    double window = scope_window(report, scope);
    const struct {
        const char *metric, *unit;
        double value;
    } rows[] = {
        {"transactions", "count", (double)(outcomes.ok + outcomes.failed)},
        {"throughput", "1/s", (double)(outcomes.ok + outcomes.failed) / window},
        {"errors", "count", (double)outcomes.failed},
        {"min", "ms", (double)hist_min(hist) / 1000},
        {"mean", "ms", hist_mean(hist) / 1000},
        {"median", "ms", (double)hist_percentile(hist, 50) / 1000},
        {"p95", "ms", (double)hist_percentile(hist, 95) / 1000},
        {"max", "ms", (double)hist_max(hist) / 1000},
    };
    Str where = scope_title(report, scope), label = scope_label(report, scope->configuration);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (i < 3 || hist_count(hist) > 0) {
            buf_fmt(buf,
                    "\"" STR_FMT "%s" STR_FMT "\",\"" STR_FMT "\",\"" STR_FMT "\",%s,%.10g,%s\n",
                    STR_ARG(scope->configuration), where.len ? " " : "", STR_ARG(where),
                    STR_ARG(label), STR_ARG(name), rows[i].metric, rows[i].value, rows[i].unit);
        }
    }
    hist_free(hist);
}

static Err *write_long(const Report *report, const char *folder)
{
    Buf buf = buf_new(arena_current(), FILE_TEXT_MAX);

    buf_add(&buf, S("run,run_label,transaction,metric,value,unit\n"));
    for (size_t i = 0; i < report->scopes.len; i++) {
        StrList names = scope_names(report, &report->scopes.at[i], MEASURE_TRANSACTION);
        for (size_t j = 0; j < report->result->configurations.len; j++) {
            Scope at = scope_with(&report->scopes.at[i], report->result->configurations.at[j].name);
            for (size_t k = 0; k < names.len && cells_of(report->result, &at).len > 0; k++) {
                add_long_rows(report, &buf, &at, names.at[k]);
            }
        }
    }
    return write_file(str_z(str_fmt("%s/tables", folder)), S("transactions.csv"), buf_str(&buf));
}

static void add_number(Buf *buf, double number)
{
    buf_char(buf, ',');
    if (!isnan(number)) {
        buf_fmt(buf, "%.6g", number);
    }
}

// One line for each second of a cell.
static void add_second(Buf *buf, const Cell *cell, int64_t second)
{
    Hist *hist = hist_new(RESULT_DIGITS, RESULT_LONGEST_US);
    int64_t failed = 0;

    for (size_t i = 0; i < cell->measures.len; i++) {
        const Measure *measure = &cell->measures.at[i];
        for (size_t j = 0; j < measure->slices.len && measure->kind == MEASURE_TRANSACTION; j++) {
            const Slice *slice = &measure->slices.at[j];
            if (slice->second == second) {
                failed += slice->failed;
                // result_parse has seen that it is one.
                if (slice->ok.len > 0 && !hist_merge_packed(hist, slice->ok)) {
                    break;
                }
            }
        }
    }
    bool has_any = hist_count(hist) > 0;
    double from = (double)second, to = fmin(from + 1, cell->window_s);
    buf_fmt(buf, STR_FMT ",%lld,%lld,%lld", STR_ARG(cell->id), (long long)second,
            (long long)hist_count(hist), (long long)failed);
    add_number(buf, has_any ? (double)hist_percentile(hist, 50) / 1000 : NAN);
    add_number(buf, has_any ? (double)hist_percentile(hist, 95) / 1000 : NAN);
    add_number(buf, cell_cpu_s(cell, from, to) / (to - from));
    add_number(buf, series_mean(cell, cell_memory(cell), from, to));
    buf_add(buf, S(",\n"));
    hist_free(hist);
}

static void add_notes(Buf *buf, const Result *result, const Cell *cell)
{
    for (size_t i = 0; i < result->annotations.len; i++) {
        const Annotation *note = &result->annotations.at[i];
        if (!str_eq(note->cell, cell->id)) {
            continue;
        }
        buf_fmt(buf, STR_FMT ",%.3f,,,,,,,\"" STR_FMT ": ", STR_ARG(cell->id),
                (double)(note->at - cell->window_at) / 1000, STR_ARG(note->kind));
        for (size_t j = 0; j < note->text.len; j++) {
            char c = note->text.at[j];
            buf_char(buf, c == '"' ? '\'' : c == '\n' ? ' ' : c);
        }
        buf_add(buf, S("\"\n"));
    }
}

static Err *write_timeline(const Report *report, const char *folder)
{
    Buf buf = buf_new(arena_current(), FILE_TEXT_MAX);

    buf_add(&buf, S("cell,second,good_transactions,failed_transactions,median_ms,p95_ms,cpu_vcpu,"
                    "memory_bytes,annotation\n"));
    for (size_t i = 0; i < report->result->cells.len; i++) {
        const Cell *cell = &report->result->cells.at[i];
        if (cell->state == CELL_PLANNED) {
            continue;
        }
        for (int64_t s = (int64_t)floor(cell->load_from_s); (double)s < cell->window_s; s++) {
            add_second(&buf, cell, s);
        }
        add_notes(&buf, report->result, cell);
    }
    return write_file(folder, S("timeline.csv"), buf_str(&buf));
}

static void add_xml(Buf *buf, Str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (c == '<' || c == '&' || c == '"') {
            buf_add(buf, c == '<' ? S("&lt;") : c == '&' ? S("&amp;") : S("&quot;"));
        } else if ((unsigned char)c >= ' ') {
            buf_char(buf, c);
        }
    }
}

// A test of JUnit: what failed if `failure` is not empty.
static void add_test(Buf *buf, const char *class, Str name, Str failure, Str skipped)
{
    buf_fmt(buf, "  <testcase classname=\"%s\" name=\"", class);
    add_xml(buf, name);
    if (failure.len == 0 && skipped.len == 0) {
        buf_add(buf, S("\"/>\n"));
        return;
    }
    buf_fmt(buf, "\"><%s message=\"", failure.len ? "failure" : "skipped");
    add_xml(buf, failure.len ? failure : skipped);
    buf_add(buf, S("\"/></testcase>\n"));
}

static void add_kpi_tests(const Report *report, Buf *buf)
{
    for (size_t i = 0; i < report->kpi_len; i++) {
        const Kpi *kpi = &report->kpis[i];
        Str name = str_fmt(STR_FMT ", " STR_FMT " " STR_FMT, STR_ARG(kpi->metric.name),
                           STR_ARG(kpi->scope.configuration), STR_ARG(kpi->scope.run));
        Str what = kpi->state == KPI_MET ? (Str){"", 0}
                                         : str_fmt("%s: " STR_FMT ", limit " STR_FMT,
                                                   kpi->state == KPI_MISSED ? "missed" : "no data",
                                                   STR_ARG(show_number(kpi->value)),
                                                   STR_ARG(show_number(kpi->limit)));
        add_test(buf, "threshold", name, kpi->is_warning ? (Str){"", 0} : what,
                 kpi->is_warning ? what : (Str){"", 0});
    }
}

static Err *write_junit(const Report *report, const char *folder)
{
    Buf buf = buf_new(arena_current(), FILE_TEXT_MAX);

    buf_add(&buf, S("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\""));
    add_xml(&buf, report->result->id);
    buf_add(&buf, S("\">\n"));
    for (size_t i = 0; i < report->result->cells.len; i++) {
        const Cell *cell = &report->result->cells.at[i];
        Str reasons = str_join(cell->reasons.at, cell->reasons.len, S("; "));
        add_test(&buf, "cell", cell->id,
                 cell->state == CELL_INVALID ? (reasons.len ? reasons : S("invalid"))
                                             : (Str){"", 0},
                 cell->state == CELL_PLANNED ? S("not done") : (Str){"", 0});
    }
    add_kpi_tests(report, &buf);
    for (size_t i = 0; i < report->compared_len; i++) {
        const Compared *compared = &report->compared[i];
        const char *verdict = verdict_name(compared->is.verdict);
        add_test(&buf, "comparison",
                 str_fmt(STR_FMT ", " STR_FMT " " STR_FMT, STR_ARG(compared->metric.name),
                         STR_ARG(compared->scope.configuration), STR_ARG(compared->scope.run)),
                 (Str){"", 0},
                 compared->is.verdict == VERDICT_EQUIVALENT ? (Str){"", 0} : str_of(verdict));
    }
    for (size_t i = 0; i < report->doc->defects.len; i++) {
        add_test(&buf, "report", str_fmt("check %zu", i + 1), report->doc->defects.at[i],
                 (Str){"", 0});
    }
    buf_add(&buf, S("</testsuite>\n"));
    return write_file(folder, S("junit.xml"), buf_str(&buf));
}

Err *report_write(Report *report, const char *folder)
{
    TRY(make_folder(folder));
    plots_draw(report->doc, str_z(str_fmt("%s/plots", folder)));
    TRY(write_tables(report, folder));
    TRY(write_long(report, folder));
    TRY(write_timeline(report, folder));
    TRY(write_junit(report, folder));
    TRY(write_file(folder, S("report.html"), doc_html(report->doc)));
    return write_file(folder, S("report.md"), doc_markdown(report->doc));
}
