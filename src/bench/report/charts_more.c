// Plots of comparisons, resources, errors, jobs and users.
#include "report.h"

#include "base/sort.h"

#include "plot.h"

#include <math.h>
#include <stdlib.h>

enum {
    SCRIPT_MAX = 16 << 20,
    LAYERS_MOST = 8, // stacked modules with a colour of their own
    POINTS_MOST = 150,
    ROW_HEIGHT = 34,
};
#define MIB 1048576.0

static double limited(double percent)
{
    return fmax(-99, fmin(percent, 400));
}

static const char *verdict_colour(Verdict verdict)
{
    return verdict == VERDICT_WORSE          ? PLOT_BAD
           : verdict == VERDICT_INCONCLUSIVE ? PLOT_WARN
                                             : PLOT_GOOD;
}

// One line for each comparison: the ratio, its 95 % interval and the margin behind.
void chart_ratios(Report *report, Section *section)
{
    Plot *plot = section_plot(section, S("ratios"),
                              S("Differences from the baseline with their 95 % intervals"));
    Buf buf = buf_new(arena_current(), SCRIPT_MAX), tics = buf_new(arena_current(), SCRIPT_MAX);
    size_t n = report->compared_len, rows = 0;
    double margin = 100 * report->compared[0].margin, widest = margin * 1.5;

    for (size_t i = 0; i < n; i++) {
        const Compared *compared = &report->compared[i];
        if (isnan(compared->is.within95.low)) {
            continue;
        }
        double low = limited(100 * (compared->is.within95.low - 1)),
               high = limited(100 * (compared->is.within95.high - 1));
        double at = limited(100 * (compared->is.ratio - 1));
        Str scope = scope_title(report, &compared->scope);
        buf_fmt(
            &buf,
            "set arrow from %g,%zu to %g,%zu nohead linewidth 3 linecolor %s front\n"
            "set object circle at %g,%zu size graph 0.007 fillcolor %s fillstyle solid noborder "
            "front\n",
            low, n - i, high, n - i, verdict_colour(compared->is.verdict), at, n - i,
            verdict_colour(compared->is.verdict));
        Str name = str_fmt(STR_FMT ", " STR_FMT "%s" STR_FMT,
                           STR_ARG(scope_label(report, compared->scope.configuration)),
                           STR_ARG(compared->metric.name), scope.len ? ", " : "", STR_ARG(scope));
        buf_fmt(&tics, "%s" STR_FMT " %zu", rows ? ", " : "", STR_ARG(plot_quoted(name)), n - i);
        widest = fmax(widest, 1.1 * fmax(fabs(low), fabs(high)));
        rows++;
    }
    if (rows == 0) {
        plot->why_empty = S("no metric has an interval");
        return;
    }
    buf_fmt(
        &buf,
        "set ytics (" STR_FMT ") nomirror textcolor " PLOT_FG "\nunset key\n"
        "set border 1 linecolor " PLOT_MUTED "\nunset grid\n"
        "set object rectangle from %g, graph 0 to %g, graph 1 behind fillcolor " PLOT_LINE
        " fillstyle solid 0.5 noborder\n"
        "set arrow from 0, graph 0 to 0, graph 1 nohead linecolor " PLOT_MUTED " back\n"
        "set xrange [%g:%g]\nset yrange [0.4:%g]\nset format x '%%+.0f %%%%'\n"
        "set xlabel 'value against the baseline; the grey band is the margin' textcolor " PLOT_MUTED
        "\nplot NaN notitle\n",
        STR_ARG(buf_str(&tics)), 100 * (1 / (1 + margin / 100) - 1), margin, -widest, widest,
        (double)n + 0.6);
    plot->script = buf_str(&buf);
    plot->height = 90 + ROW_HEIGHT * (int)n;
    plot->note = S("Green: equivalent or better; amber: no verdict yet; red: worse.");
}

typedef struct {
    Str name;
    double sum;
} Layer;

static int by_sum(const void *a, const void *b)
{
    const Layer *x = a, *y = b;
    return x->sum != y->sum ? (x->sum < y->sum) - (x->sum > y->sum) : str_cmp(x->name, y->name);
}

// The value of a cell's module between two seconds: vCPU or MiB.
static double module_level(const Cell *cell, const Series *series, double from, double to)
{
    return series->is_counter ? series_growth(cell, series, from, to) / (to - from)
                              : series_mean(cell, series, from, to) / MIB;
}

static Layer *layers_of(const Cells *cells, const char *name, size_t *len)
{
    Layer *layers = NEW_ARRAY(Layer, 512);

    for (size_t i = 0; i < cells->len; i++) {
        for (size_t j = 0; j < cells->at[i]->series.len; j++) {
            const Series *series = &cells->at[i]->series.at[j];
            if (series->group != GROUP_MODULE || !str_eq_z(series->name, name)) {
                continue;
            }
            size_t at = 0;
            while (at < *len && !str_eq(layers[at].name, series->subject)) {
                at++;
            }
            if (at == 511) {
                continue;
            }
            layers[at].name = series->subject;
            *len = at == *len ? at + 1 : *len;
            double level = module_level(cells->at[i], series, 0, cells->at[i]->window_s);
            layers[at].sum += isnan(level) ? 0 : level;
        }
    }
    sort_array(layers, *len, sizeof *layers, by_sum);
    return layers;
}

static double mean_level(const Cells *cells, Str module, const char *name, double from, double to)
{
    double sum = 0;

    for (size_t i = 0; i < cells->len; i++) {
        const Series *series = cell_series(cells->at[i], GROUP_MODULE, str_z(module), name);
        double level = series ? module_level(cells->at[i], series, from, to) : 0;
        sum += isnan(level) ? 0 : level;
    }
    return sum / (double)cells->len;
}

static double process_level(const Cells *cells, bool is_cpu, double from, double to)
{
    double sum = 0;

    for (size_t i = 0; i < cells->len; i++) {
        const Cell *cell = cells->at[i];
        double level = is_cpu ? cell_cpu_s(cell, from, to) / (to - from)
                              : series_mean(cell, cell_memory(cell), from, to) / MIB;
        sum += isnan(level) ? 0 : level;
    }
    return sum / (double)cells->len;
}

// A row per moment: time, running sums of the layers, the rest, the process.
static void add_layers(Buf *buf, const Cells *cells, const Layer *layers, size_t len,
                       const char *name)
{
    double window = 0;

    for (size_t i = 0; i < cells->len; i++) {
        window = fmax(window, cells->at[i]->window_s);
    }
    double step = fmax(1, ceil(window / POINTS_MOST));
    size_t shown = len < LAYERS_MOST ? len : LAYERS_MOST;
    bool is_cpu = str_eq_z(S("cpu"), name);
    buf_add(buf, S("$layers << END\n"));
    for (double s = 0; s + step <= window + 1e-9; s += step) {
        double sum = 0;
        buf_fmt(buf, "%g", s + step / 2);
        for (size_t i = 0; i < len; i++) {
            sum += mean_level(cells, layers[i].name, name, s, s + step);
            if (i < shown) {
                buf_fmt(buf, " %g", sum);
            }
        }
        buf_fmt(buf, " %g %g\n", sum, process_level(cells, is_cpu, s, s + step));
    }
    buf_add(buf, S("END\n"));
}

static void draw_layers(Buf *buf, const Layer *layers, size_t len, const char *unit, double limit)
{
    size_t shown = len < LAYERS_MOST ? len : LAYERS_MOST;

    buf_fmt(buf,
            "set key outside right center vertical Left reverse samplen 1\n"
            "set ylabel '%s' textcolor " PLOT_MUTED "\nset yrange [0:*]\n"
            "set xlabel 'seconds of the window' textcolor " PLOT_MUTED "\nplot ",
            unit);
    buf_fmt(buf,
            "$layers using 1:%zu with lines linewidth 2 linecolor " PLOT_FG
            " title 'server process', ",
            shown + 3);
    if (len > shown) {
        buf_fmt(buf,
                "$layers using 1:%zu:%zu with filledcurves linecolor " PLOT_MUTED
                " title '%zu other modules', ",
                shown + 1, shown + 2, len - shown);
    }
    for (size_t i = shown; i-- > 0;) {
        buf_fmt(buf, "$layers using 1:%s:%zu with filledcurves linecolor %s title " STR_FMT "%s",
                i ? str_z(str_fmt("%zu", i + 1)) : "(0)", i + 2, plot_colour(i),
                STR_ARG(plot_quoted(layers[i].name)), i ? ", " : "");
    }
    if (limit > 0) {
        buf_fmt(buf,
                ", %g with lines linewidth 1.5 dashtype 2 linecolor " PLOT_BAD " title 'limit'",
                limit);
    }
    buf_char(buf, '\n');
}

static void chart_configuration(Report *report, Section *section, const Scope *scope,
                                const char *name)
{
    bool is_cpu = str_eq_z(S("cpu"), name);
    Str label = scope_label(report, scope->configuration);
    Plot *plot = section_plot(
        section, chart_id(report, scope, is_cpu ? "cpu" : "memory", scope->configuration),
        chart_title(
            report, scope,
            str_fmt("%s by module: " STR_FMT, is_cpu ? "Processor" : "Memory", STR_ARG(label))));
    Cells cells = cells_of(report->result, scope);
    size_t len = 0;
    Layer *layers = layers_of(&cells, name, &len);
    Buf buf = buf_new(arena_current(), SCRIPT_MAX);

    if (len == 0 || cells.at[0]->window_s < 2) {
        plot->why_empty = len == 0 ? S("this configuration measures no modules")
                                   : S("the window is shorter than two seconds");
        return;
    }
    double limit =
        series_max(cells.at[0], cell_series(cells.at[0], GROUP_PROCESS, "server", "memory.limit"),
                   -INFINITY, INFINITY);
    double most = process_level(&cells, false, 0, cells.at[0]->window_s);
    bool has_limit = !is_cpu && limit > 0, is_near = has_limit && limit / MIB < 2 * most;
    Str far_limit = has_limit && !is_near ? show_quantity(limit, UNIT_BYTES) : (Str){"", 0};
    add_layers(&buf, &cells, layers, len, name);
    draw_layers(&buf, layers, len, is_cpu ? "vCPU" : "MiB", is_near ? limit / MIB : 0);
    plot->script = buf_str(&buf);
    plot->note = str_fmt("Stacked, mean over the blocks. The line is the whole process; what lies "
                         "between is no module's.%s" STR_FMT "%s",
                         has_limit && !is_near ? " The limit, " : "", STR_ARG(far_limit),
                         has_limit && !is_near ? ", lies far above." : "");
}

void chart_modules(Report *report, Section *section, const Scope *scope, const char *series)
{
    for (size_t i = 0; i < report->result->configurations.len && i < 4; i++) {
        Scope at = scope_with(scope, report->result->configurations.at[i].name);
        if (cells_of(report->result, &at).len > 0) {
            chart_configuration(report, section, &at, series);
        }
    }
}

static int64_t failed_between(const Cells *cells, double from, double to)
{
    int64_t failed = 0;

    for (size_t i = 0; i < cells->len; i++) {
        for (size_t j = 0; j < cells->at[i]->measures.len; j++) {
            const Measure *measure = &cells->at[i]->measures.at[j];
            for (size_t k = 0; k < measure->slices.len && measure->kind == MEASURE_TRANSACTION;
                 k++) {
                double s = (double)measure->slices.at[k].second;
                failed += s >= from && s < to ? measure->slices.at[k].failed : 0;
            }
        }
    }
    return failed;
}

void chart_errors(Report *report, Section *section, const Scope *scope)
{
    Plot *plot = section_plot(section, chart_id(report, scope, "errors", (Str){"", 0}),
                              chart_title(report, scope, S("Failed transactions over the window")));
    size_t configurations = report->result->configurations.len;
    Buf buf = buf_new(arena_current(), SCRIPT_MAX);
    double window = 0;
    int64_t all = 0;

    for (size_t i = 0; i < report->result->cells.len; i++) {
        window = fmax(window, report->result->cells.at[i].window_s);
    }
    double step = fmax(1, ceil(window / POINTS_MOST));
    for (size_t i = 0; i < configurations; i++) {
        Scope at = scope_with(scope, report->result->configurations.at[i].name);
        Cells cells = cells_of(report->result, &at);
        buf_fmt(&buf, "$data%zu << END\n", i);
        for (double s = 0; s < window; s += step) {
            int64_t failed = failed_between(&cells, s, s + step);
            buf_fmt(&buf, "%g %lld\n",
                    s + step * ((double)i + 0.5) / (double)(configurations ? configurations : 1),
                    (long long)failed);
            all += failed;
        }
        buf_add(&buf, S("END\n"));
    }
    if (all == 0) {
        plot->why_empty = S("no transaction failed");
        return;
    }
    buf_fmt(&buf,
            "set boxwidth %g absolute\nset yrange [0:*]\nset xrange [0:%g]\n"
            "set ylabel 'failed, all blocks' textcolor " PLOT_MUTED
            "\nset xlabel 'seconds of the window' textcolor " PLOT_MUTED "\nplot ",
            0.8 * step / (double)configurations, window);
    for (size_t i = 0; i < configurations; i++) {
        buf_fmt(&buf, "%s$data%zu using 1:2 with boxes linecolor %s title " STR_FMT, i ? ", " : "",
                i, plot_colour(i), STR_ARG(chart_label(report, i)));
    }
    buf_char(&buf, '\n');
    plot->script = buf_str(&buf);
}

void chart_jobs(Report *report, Section *section, const Scope *scope, Str workload)
{
    Plot *plot = section_plot(
        section, chart_id(report, scope, "jobs", workload),
        chart_title(report, scope,
                    str_fmt("Duration of " STR_FMT " by repetition", STR_ARG(workload))));
    size_t configurations = report->result->configurations.len, points = 0;
    Buf buf = buf_new(arena_current(), SCRIPT_MAX);

    for (size_t i = 0; i < configurations; i++) {
        Scope at = scope_with(scope, report->result->configurations.at[i].name);
        Cells cells = cells_of(report->result, &at);
        buf_fmt(&buf, "$data%zu << END\n", i);
        for (size_t j = 0; j < cells.len; j++) {
            for (size_t k = 0; k < cells.at[j]->jobs.len; k++) {
                const JobRun *job = &cells.at[j]->jobs.at[k];
                if (str_eq(job->workload, workload)) {
                    buf_fmt(&buf, "%lld %g %d\n", (long long)job->number, job->to_s - job->from_s,
                            !str_eq(job->state, S("done")));
                    points++;
                }
            }
            buf_add(&buf, S("\n"));
        }
        buf_add(&buf, S("END\n"));
    }
    if (points == 0) {
        plot->why_empty = S("no job ran");
        return;
    }
    buf_fmt(&buf,
            "set yrange [0:*]\nset xrange [0.5:*]\nset xtics 1\nset ylabel 'seconds' "
            "textcolor " PLOT_MUTED "\nset xlabel 'repetition' textcolor " PLOT_MUTED "\nplot ");
    for (size_t i = 0; i < configurations; i++) {
        buf_fmt(&buf,
                "%s$data%zu using 1:2 with linespoints pointtype 7 pointsize 0.6 linewidth 2 "
                "linecolor %s title " STR_FMT
                ", $data%zu using 1:($3 > 0 ? $2 : NaN) with points pointtype 2 pointsize 1.4 "
                "linewidth 2 linecolor " PLOT_BAD " notitle",
                i ? ", " : "", i, plot_colour(i), STR_ARG(chart_label(report, i)), i);
        double level = NAN;
        Scope at = scope_with(scope, report->result->configurations.at[i].name);
        double slope = job_line(report, &at, workload, &level);
        if (!isnan(slope)) {
            buf_fmt(&buf, ", %g + %g * x with lines dashtype 3 linecolor %s notitle", level, slope,
                    plot_colour(i));
        }
    }
    buf_char(&buf, '\n');
    plot->script = buf_str(&buf);
    plot->note = S("Dotted: the trend (Theil-Sen), where no restart cuts it. A cross: not finished "
                   "as it should have been.");
}

static int64_t users_of(const Report *report, const Scope *scope)
{
    Cells cells = cells_of(report->result, scope);
    return cells.len > 0 && cells.at[0]->parts.len > 0 ? cells.at[0]->parts.at[0].users : 0;
}

// One point per run: runs differ in what they ask for, so that each is named.
void chart_users(Report *report, Section *section)
{
    const Configuration *baseline = baseline_of(report->result);
    if (report->scopes.len < 2 || !baseline) {
        return;
    }
    Plot *plot = section_plot(section, S("users"), S("Users, throughput and response by run"));
    Buf buf = buf_new(arena_current(), SCRIPT_MAX);
    size_t points = 0;

    buf_add(&buf, S("$data0 << END\n"));
    for (size_t i = 0; i < report->scopes.len; i++) {
        Scope at = scope_with(&report->scopes.at[i], baseline->name);
        Outcomes outcomes = scope_outcomes(report, &at, MEASURE_TRANSACTION, (Str){"", 0});
        double window = scope_window(report, &at);
        Hist *hist = scope_times(report, &at, MEASURE_TRANSACTION, (Str){"", 0});
        if (window > 0 && hist_count(hist) > 0) {
            Str name =
                str_fmt(STR_FMT " (%lld)", STR_ARG(at.run), (long long)users_of(report, &at));
            buf_fmt(&buf, STR_FMT " %g %g\n", STR_ARG(plot_data_text(name)),
                    (double)(outcomes.ok + outcomes.failed) / window,
                    (double)hist_percentile(hist, 95) / 1000);
            points++;
        }
        hist_free(hist);
    }
    buf_add(&buf, S("END\n"));
    if (points == 0) {
        plot->why_empty = S("no run has a valid cell");
        return;
    }
    buf_fmt(&buf,
            "set logscale y\nset logscale y2\nset y2tics nomirror textcolor %s\n"
            "set xtics rotate by -40\nset border 11 linecolor " PLOT_MUTED
            "\nset ylabel 'transactions per second' textcolor %s\nset y2label 'p95, ms' textcolor "
            "%s\nset xrange [-0.6:%zu.6]\n"
            "plot $data0 using 0:2:xtic(1) with points pointtype 7 pointsize 1 linecolor %s title "
            "'throughput', $data0 using 0:3 axes x1y2 with points pointtype 5 pointsize 1 "
            "linecolor %s title 'p95'\n",
            plot_colour(1), plot_colour(0), plot_colour(1), points - 1, plot_colour(0),
            plot_colour(1));
    plot->script = buf_str(&buf);
    plot->note = S("In brackets: users. Both scales are logarithmic. Runs ask for different sets; "
                   "compare those of the same workload and set.");
}
