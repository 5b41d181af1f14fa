// The trend page: each experiment's metrics by result, regressions flagged by the rules of 4.4.
#include "trend.h"

#include "base/sort.h"

#include "report.h"
#include "pair.h"
#include "plot.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RESULTS_MAX = 1000,
};
#define RESULT_ARENA_MAX ((size_t)4 << 30)

static const char *const metrics[] = {"transaction.p50", "transaction.p95",
                                      "transaction.throughput", "cpu.per_transaction",
                                      "memory.mean"};
enum {
    METRIC_COUNT = sizeof metrics / sizeof *metrics,
};

// What the page keeps of a result: the result itself may be large.
typedef struct {
    Str id, folder, key, title, label;
    Time started_at;
    size_t valid, cells;
    struct {
        double value;
        Interval interval;
        Str change;      // against the result before
        Verdict verdict; // of that
        bool is_compared;
    } of[METRIC_COUNT];
} Point;

static Str key_of(const Result *result)
{
    return str_fmt(STR_FMT " " STR_FMT, STR_ARG(json_str(result->experiment, "experiment.id")),
                   STR_ARG(result->profile));
}

static void read_metric(const Result *result, size_t i, Point *point)
{
    const Configuration *baseline = baseline_of(result);
    Scopes scopes = scopes_of(result, baseline ? baseline->name : (Str){"", 0});
    Metric metric;

    point->of[i].value = NAN;
    point->of[i].interval = (Interval){NAN, NAN};
    if (scopes.len == 0 || metric_parse(str_of(metrics[i]), &metric)) {
        return;
    }
    Samples samples = metric_read(result, &metric, &scopes.at[0]);
    point->of[i].value = stats_pooled(&samples);
    point->of[i].interval = stats_interval(&samples, 1);
}

static void compare_with(const Result *before, const Result *result, Point *point)
{
    Scopes of_a = scopes_of(before, baseline_of(before)->name),
           of_b = scopes_of(result, baseline_of(result)->name);

    for (size_t i = 0; i < METRIC_COUNT && of_a.len > 0 && of_b.len > 0; i++) {
        Metric metric;
        if (metric_parse(str_of(metrics[i]), &metric)) {
            continue;
        }
        Samples a = metric_read(before, &metric, &of_a.at[0]),
                b = metric_read(result, &metric, &of_b.at[0]);
        Comparison is = stats_compare(&a, &b,
                                      &(CompareOptions){.margin = 0.05,
                                                        .alpha = 0.05,
                                                        .min_units = 3,
                                                        .is_higher_better = metric.is_higher_better,
                                                        .seed = 1});
        if (!isnan(is.ratio)) {
            point->of[i].change = show_percent(100 * (is.ratio - 1));
            point->of[i].verdict = is.verdict;
            point->of[i].is_compared = true;
        }
    }
}

static void fill(const Result *result, Point *point)
{
    const Configuration *baseline = baseline_of(result);

    point->id = result->id;
    point->key = key_of(result);
    point->title = json_str(result->experiment, "experiment.title");
    point->label =
        result->label.len > 0 ? result->label : json_str(result->environment, "lab.build");
    point->started_at = result->started_at;
    point->cells = result->cells.len;
    for (size_t i = 0; i < result->cells.len; i++) {
        point->valid += result->cells.at[i].state == CELL_DONE;
    }
    for (size_t i = 0; i < METRIC_COUNT && baseline; i++) {
        read_metric(result, i, point);
    }
}

static int by_name(const void *a, const void *b)
{
    return str_cmp(*(const Str *)a, *(const Str *)b);
}

// Names of folders in the lab's; results carry their time in the name.
static Err *folders_of(const char *lab_dir, StrList *out)
{
    DIR *dir = opendir(lab_dir);

    if (!dir) {
        return errno == ENOENT ? NULL : err_text(500, "%s: %s", lab_dir, strerror(errno));
    }
    for (struct dirent *entry; (entry = readdir(dir)) && out->len < RESULTS_MAX;) {
        const char *path = str_z(str_fmt("%s/%s/result.json", lab_dir, entry->d_name));
        FILE *file = entry->d_name[0] == '.' || strncmp(entry->d_name, "compare-", 8) == 0
                         ? NULL
                         : fopen(path, "rb");
        if (file) {
            fclose(file);
            str_list_add(out, str_copy(arena_current(), str_of(entry->d_name)));
        }
    }
    closedir(dir);
    sort_array(out->at, out->len, sizeof *out->at, by_name);
    return NULL;
}

static void add_row(Table *table, const Point *point)
{
    table_text(table, point->id);
    table_text(table, show_time(point->started_at));
    table_text(table, point->label);
    table_number(table, (double)point->valid);
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        table_number(table, point->of[i].value);
        table_text(table, point->of[i].is_compared
                              ? str_fmt("%s " STR_FMT, verdict_name(point->of[i].verdict),
                                        STR_ARG(point->of[i].change))
                              : (Str){"", 0});
    }
}

static Table *add_experiment(Section *section, const Point *first)
{
    Table *table =
        section_table(section, "trend",
                      str_fmt(STR_FMT ": " STR_FMT, STR_ARG(first->key), STR_ARG(first->title)));

    table_column(table, "Result", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Started", ROLE_TEXT, UNIT_COUNT);
    table_column(table, "Revision", ROLE_TEXT, UNIT_COUNT)->may_be_empty = true;
    table_column(table, "Valid cells", ROLE_VALUE, UNIT_COUNT);
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        Metric metric;
        if (!metric_parse(str_of(metrics[i]), &metric)) {
            table_column(table, metrics[i], ROLE_VALUE, metric.unit)->may_be_empty = true;
            table_column(table, "against the one before", ROLE_VERDICT, UNIT_COUNT)->may_be_empty =
                true;
        }
    }
    table->note = S("The baseline configuration of each result; the first run of the plan.");
    return table;
}

static void add_plot(Section *section, const Point **points, size_t n, size_t metric)
{
    Plot *plot =
        section_plot(section,
                     str_fmt("trend-" STR_FMT "-" STR_FMT, STR_ARG(show_slug(points[0]->key)),
                             STR_ARG(show_slug(str_of(metrics[metric])))),
                     str_fmt(STR_FMT ": %s", STR_ARG(points[0]->key), metrics[metric]));
    Buf buf = buf_new(arena_current(), (size_t)16 << 20);
    size_t shown = 0;

    buf_add(&buf, S("$data << END\n"));
    for (size_t i = 0; i < n; i++) {
        if (!isnan(points[i]->of[metric].value)) {
            bool is_worse =
                points[i]->of[metric].is_compared && points[i]->of[metric].verdict == VERDICT_WORSE;
            double scale = strstr(metrics[metric], "memory") ? 1048576 : 1;
            buf_fmt(&buf, "%zu %g %g %g %d " STR_FMT "\n", i, points[i]->of[metric].value / scale,
                    points[i]->of[metric].interval.low / scale,
                    points[i]->of[metric].interval.high / scale, is_worse,
                    STR_ARG(plot_data_text(str_sub(points[i]->label, 0, 12))));
            shown++;
        }
    }
    buf_add(&buf, S("END\n"));
    if (shown < 2) {
        plot->why_empty = S("fewer than two results have it");
        return;
    }
    buf_fmt(
        &buf,
        "set yrange [0:*]\nset xrange [-0.5:%zu.5]\nset xtics rotate by -30\nunset key\n"
        "set ylabel '%s' textcolor " PLOT_MUTED "\n"
        "plot $data using 1:2:3:4:xtic(6) with yerrorlines linewidth 2 pointtype 7 pointsize "
        "0.6 linecolor %s, $data using 1:($5 > 0 ? $2 : NaN) with points pointtype 7 pointsize 1.1 "
        "linecolor " PLOT_BAD "\n",
        n - 1,
        strstr(metrics[metric], "throughput") ? "per second"
        : strstr(metrics[metric], "memory")   ? "MiB"
                                              : "ms",
        plot_colour(0));
    plot->script = buf_str(&buf);
    plot->note = S("Bars: 95 % interval. Red: worse than the result before.");
}

static void add_key(Doc *doc, const Point *points, size_t n, size_t first)
{
    const Point **same = NEW_ARRAY(const Point *, n);
    size_t len = 0;
    Section *section =
        doc_section(doc, str_z(show_slug(points[first].key)), str_z(points[first].key));
    Table *table = add_experiment(section, &points[first]);

    for (size_t i = first; i < n; i++) {
        if (str_eq(points[i].key, points[first].key)) {
            add_row(table, &points[i]);
            same[len++] = &points[i];
        }
    }
    for (size_t i = 0; i < METRIC_COUNT && len > 1; i++) {
        add_plot(section, same, len, i);
    }
}

// Reads one result after the other; only the last one of each experiment stays in memory.
static size_t read_points(const char *lab_dir, const StrList *folders, Point *points, Doc *doc)
{
    size_t n = 0;
    Str before_key = {0};
    Result *before = NULL;

    for (size_t i = 0; i < folders->len; i++) {
        Result *result = NULL;
        Err *err = result_load(
            str_z(str_fmt("%s/" STR_FMT "/result.json", lab_dir, STR_ARG(folders->at[i]))),
            &result);
        if (err) {
            str_list_add(&doc->plots_missing, err->message);
            continue;
        }
        metric_complete(result);
        points[n].folder = folders->at[i];
        fill(result, &points[n]);
        if (before && str_eq(before_key, points[n].key) && baseline_of(before) &&
            baseline_of(result)) {
            compare_with(before, result, &points[n]);
        }
        before = result;
        before_key = points[n++].key;
    }
    return n;
}

static Err *write_page(const char *lab_dir, Doc *doc)
{
    const char *path = str_z(str_fmt("%s/index.html", lab_dir));

    plots_draw(doc, str_z(str_fmt("%s/plots", lab_dir)));
    Str html = doc_html(doc);
    FILE *file = fopen(path, "wb");
    bool is_written = file && fwrite(html.at, 1, html.len, file) == html.len;
    if (!file || fclose(file) != 0 || !is_written) {
        return err_text(500, "%s: %s", path, strerror(errno));
    }
    return NULL;
}

static Err *write_trend(const char *lab_dir)
{
    StrList folders = {0};

    TRY(folders_of(lab_dir, &folders));
    if (folders.len == 0) {
        return NULL;
    }
    Doc *doc = NEW(Doc);
    Point *points = NEW_ARRAY(Point, folders.len);
    *doc = (Doc){.title = S("Results of the performance lab"),
                 .subtitle = str_fmt("%zu results", folders.len),
                 .id = S("of all results in this folder")};
    size_t n = read_points(lab_dir, &folders, points, doc);
    for (size_t i = 0; i < n; i++) {
        bool is_first = true;
        for (size_t j = 0; j < i; j++) {
            is_first &= !str_eq(points[j].key, points[i].key);
        }
        if (is_first) {
            add_key(doc, points, n, i);
        }
    }
    return write_page(lab_dir, doc);
}

Err *trend_write(const char *lab_dir)
{
    Arena *arena = arena_new(RESULT_ARENA_MAX), *former = arena_use(arena);
    Err *err = write_trend(lab_dir);

    arena_use(former);
    Err *kept = err ? err_text(err->status, STR_FMT, STR_ARG(err->message)) : NULL;
    arena_free(arena);
    return kept;
}
