// Plots of times: over the window, as a distribution, by block; ratios; jobs; users.
#include "report.h"

#include "plot.h"

#include <math.h>

enum {
    SCRIPT_MAX = 16 << 20,
    POINTS_MOST = 150, // over a window
    NOTES_MOST = 12,
};

static Buf script_new(void)
{
    return buf_new(arena_current(), SCRIPT_MAX);
}

static Scope scope_at(const Report *report, const Scope *scope, size_t i)
{
    return scope_with(scope, report->result->configurations.at[i].name);
}

Str chart_label(const Report *report, size_t i)
{
    return plot_quoted(scope_label(report, report->result->configurations.at[i].name));
}

Str chart_title(const Report *report, const Scope *scope, Str title)
{
    Str where = scope_title(report, scope);
    return where.len > 0 ? str_fmt(STR_FMT ": " STR_FMT, STR_ARG(title), STR_ARG(where)) : title;
}

Str chart_id(const Report *report, const Scope *scope, const char *kind, Str what)
{
    Str where = show_slug(scope_title(report, scope));
    return str_fmt("%s%s" STR_FMT "%s" STR_FMT, kind, what.len ? "-" : "", STR_ARG(show_slug(what)),
                   where.len ? "-" : "", STR_ARG(where));
}

typedef struct {
    double from, to; // seconds around the begin of the steady window
} Span;

// Of all cells of a run.
static Span span_of(const Report *report, const Scope *scope)
{
    Span span = {0};

    for (size_t i = 0; i < report->result->cells.len; i++) {
        const Cell *cell = &report->result->cells.at[i];
        if (cell->state == CELL_DONE && str_eq(cell->run, scope->run)) {
            span.from = fmin(span.from, cell->load_from_s);
            span.to = fmax(span.to, cell->window_s);
        }
    }
    return span;
}

static int step_of(double window_s)
{
    int step = (int)ceil(window_s / POINTS_MOST);
    return step < 1 ? 1 : step;
}

// What one configuration did between two seconds, over all its blocks.
typedef struct {
    Hist *hist;
    int64_t ok, failed;
    double cells;
} Moment;

static Moment moment_of(const Report *report, const Scope *scope, Str name, int from, int to)
{
    Cells cells = cells_of(report->result, scope);
    Moment moment = {.hist = hist_new(RESULT_DIGITS, RESULT_LONGEST_US),
                     .cells = (double)cells.len};

    for (size_t i = 0; i < cells.len; i++) {
        for (size_t j = 0; j < cells.at[i]->measures.len; j++) {
            const Measure *measure = &cells.at[i]->measures.at[j];
            bool is_meant = measure->kind == MEASURE_TRANSACTION &&
                            (name.len == 0 || str_eq(measure->name, name));
            for (size_t k = 0; k < measure->slices.len && is_meant; k++) {
                const Slice *slice = &measure->slices.at[k];
                if (slice->second < from || slice->second >= to) {
                    continue;
                }
                moment.failed += slice->failed;
                if (slice->ok.len > 0 && hist_merge_packed(moment.hist, slice->ok)) {
                    moment.ok += hist_packed_count(slice->ok);
                }
            }
        }
    }
    return moment;
}

// A block of gnuplot data: $data<number>.
static void begin_data(Buf *buf, size_t number)
{
    buf_fmt(buf, "$data%zu << END\n", number);
}

static void end_data(Buf *buf)
{
    buf_add(buf, S("END\n"));
}

// The warm-up is grey, what happened is a line with its name.
static void add_window(const Report *report, const Scope *scope, Buf *buf)
{
    Span span = span_of(report, scope);
    int shown = 0;

    if (span.from < 0) {
        buf_fmt(buf,
                "set object 1 rectangle from %g, graph 0 to 0, graph 1 behind fillcolor " PLOT_LINE
                " fillstyle solid 0.45 noborder\n"
                "set label 'warm-up' at %g, graph 0.05 left offset 0.5,0 textcolor " PLOT_MUTED
                "\n",
                span.from, span.from);
    }
    buf_fmt(buf,
            "set xrange [%g:%g]\nset xlabel 'seconds of the window' textcolor " PLOT_MUTED "\n",
            span.from, span.to);
    for (size_t i = 0; i < report->result->annotations.len && shown < NOTES_MOST; i++) {
        const Annotation *note = &report->result->annotations.at[i];
        for (size_t j = 0; j < report->result->cells.len; j++) {
            const Cell *cell = &report->result->cells.at[j];
            double at = (double)(note->at - cell->window_at) / 1000;
            if (str_eq(cell->id, note->cell) && str_eq(cell->run, scope->run) &&
                cell->state == CELL_DONE && at >= span.from && at <= span.to &&
                !str_eq(note->kind, S("start")) && !str_eq(note->kind, S("stop")) &&
                !str_eq(note->kind, S("reset"))) {
                buf_fmt(buf,
                        "set arrow from %g, graph 0 to %g, graph 1 nohead linecolor " PLOT_WARN
                        " dashtype 3\n"
                        "set label " STR_FMT " at %g, graph 0.02 rotate by 90 left offset 0.7,0 "
                        "textcolor " PLOT_WARN "\n",
                        at, at, STR_ARG(plot_quoted(note->kind)), at);
                shown++;
            }
        }
    }
}

// The rest of a plot command: one line for each configuration.
static void draw_lines(const Report *report, Buf *buf)
{
    for (size_t i = 0; i < report->result->configurations.len; i++) {
        buf_fmt(buf, "%s$data%zu using 1:2 with lines linewidth 2 linecolor %s title " STR_FMT,
                i ? ", " : "", i, plot_colour(i), STR_ARG(chart_label(report, i)));
    }
    buf_char(buf, '\n');
}

void chart_over_time(Report *report, Section *section, const Scope *scope, Str transaction)
{
    Plot *plot = section_plot(
        section, chart_id(report, scope, "times", transaction),
        chart_title(report, scope,
                    str_fmt(STR_FMT ": median and p95 over the window", STR_ARG(transaction))));
    Span span = span_of(report, scope);
    int step = step_of(span.to), points = 0;
    Buf buf = script_new();

    for (size_t i = 0; i < report->result->configurations.len; i++) {
        Scope at = scope_at(report, scope, i);
        begin_data(&buf, i);
        for (int s = (int)span.from; s < span.to; s += step) {
            Moment moment = moment_of(report, &at, transaction, s, s + step);
            if (moment.ok > 0) {
                buf_fmt(&buf, "%g %g %g\n", s + step / 2.0,
                        (double)hist_percentile(moment.hist, 50) / 1000,
                        (double)hist_percentile(moment.hist, 95) / 1000);
                points++;
            }
            hist_free(moment.hist);
        }
        end_data(&buf);
    }
    if (points == 0) {
        plot->why_empty = S("no second of a valid cell holds this transaction");
        return;
    }
    add_window(report, scope, &buf);
    buf_add_z(&buf, "set ylabel 'ms' textcolor " PLOT_MUTED "\nset yrange [0:*]\nplot ");
    for (size_t i = 0; i < report->result->configurations.len; i++) {
        buf_fmt(&buf,
                "%s$data%zu using 1:2 with lines linewidth 2 linecolor %s title " STR_FMT
                ", $data%zu using 1:3 with lines linewidth 1.5 dashtype 2 linecolor %s notitle",
                i ? ", " : "", i, plot_colour(i), STR_ARG(chart_label(report, i)), i,
                plot_colour(i));
    }
    buf_char(&buf, '\n');
    plot->script = buf_str(&buf);
    plot->note = str_fmt("Solid: median, dashed: p95; all blocks together, %d s each point.", step);
}

void chart_throughput(Report *report, Section *section, const Scope *scope)
{
    Plot *plot = section_plot(section, chart_id(report, scope, "throughput", (Str){"", 0}),
                              chart_title(report, scope, S("Throughput over the window")));
    Span span = span_of(report, scope);
    int step = step_of(span.to), points = 0;
    Buf buf = script_new();

    for (size_t i = 0; i < report->result->configurations.len; i++) {
        Scope at = scope_at(report, scope, i);
        begin_data(&buf, i);
        // The last second is not whole.
        for (int s = (int)span.from; s + step <= span.to + 1e-9; s += step) {
            Moment moment = moment_of(report, &at, (Str){"", 0}, s, s + step);
            if (moment.cells > 0) {
                buf_fmt(&buf, "%g %g\n", s + step / 2.0,
                        (double)(moment.ok + moment.failed) / moment.cells / step);
                points++;
            }
            hist_free(moment.hist);
        }
        end_data(&buf);
    }
    if (points == 0) {
        plot->why_empty = S("no valid cell has a whole second");
        return;
    }
    add_window(report, scope, &buf);
    buf_add_z(&buf, "set ylabel 'transactions per second' textcolor " PLOT_MUTED
                    "\nset yrange [0:*]\nplot ");
    draw_lines(report, &buf);
    plot->script = buf_str(&buf);
    plot->note = S("Mean over the blocks; right and failed transactions.");
}

// 1, 2, 5 of each power of ten.
static Str ticks_between(double low, double high)
{
    static const int steps[] = {1, 2, 5};
    StrList ticks = {0};

    for (double power = pow(10, floor(log10(low > 0 ? low : 1))); power <= high; power *= 10) {
        for (int i = 0; i < 3; i++) {
            if (steps[i] * power >= low && steps[i] * power <= high) {
                str_list_add(&ticks, str_fmt("%g", steps[i] * power));
            }
        }
    }
    return str_join(ticks.at, ticks.len, S(", "));
}

static void add_nines(Buf *buf, const Hist *hist)
{
    static const double percents[] = {0,  10,    20,   25,    30,   40,    50,    60,    70,
                                      75, 80,    85,   90,    92.5, 95,    96,    97,    98,
                                      99, 99.25, 99.5, 99.75, 99.9, 99.95, 99.99, 99.999};
    double n = (double)hist_count(hist);

    for (size_t i = 0; i < sizeof percents / sizeof *percents && n > 0; i++) {
        // Beyond, a single value would be drawn as a percentile.
        if ((100 - percents[i]) / 100 * n >= 1) {
            buf_fmt(buf, "%.10g %g\n", 100 / (100 - percents[i]),
                    (double)hist_percentile(hist, percents[i]) / 1000);
        }
    }
    if (n > 0) {
        buf_fmt(buf, "%.10g %g\n", n, (double)hist_max(hist) / 1000);
    }
}

// Nines on a logarithmic scale: the tail is as wide as the middle.
void chart_distribution(Report *report, Section *section, const Scope *scope, Str transaction)
{
    Plot *plot = section_plot(
        section, chart_id(report, scope, "distribution", transaction),
        chart_title(report, scope,
                    str_fmt(STR_FMT ": share of transactions up to a time", STR_ARG(transaction))));
    Buf buf = script_new();
    int64_t most = 0;
    double lowest = INFINITY, highest = 0;

    for (size_t i = 0; i < report->result->configurations.len; i++) {
        Scope at = scope_at(report, scope, i);
        Hist *hist = scope_times(report, &at, MEASURE_TRANSACTION, transaction);
        int64_t n = hist_count(hist);
        lowest = n > 0 ? fmin(lowest, fmax((double)hist_min(hist), 1) / 1000) : lowest;
        highest = fmax(highest, (double)hist_max(hist) / 1000);
        begin_data(&buf, i);
        add_nines(&buf, hist);
        end_data(&buf);
        most = n > most ? n : most;
        hist_free(hist);
    }
    if (most == 0) {
        plot->why_empty = S("no valid cell holds this transaction");
        return;
    }
    buf_fmt(&buf,
            "set logscale xy\nset xrange [1:%lld]\nset yrange [%g:%g]\nset ytics (" STR_FMT ")\n"
            "set xtics ('0 %%%%' 1, '50 %%%%' 2, '75 %%%%' 4, '90 %%%%' 10, '95 %%%%' 20, "
            "'99 %%%%' 100, '99.9 %%%%' 1000, '99.99 %%%%' 10000, '99.999 %%%%' 100000)\n"
            "set grid xtics ytics linecolor " PLOT_LINE " linetype 1 linewidth 1\n"
            "set xlabel 'share of transactions, the right end is the slowest' textcolor " PLOT_MUTED
            "\nset ylabel 'ms, logarithmic' textcolor " PLOT_MUTED "\nset key top left\nplot ",
            (long long)most, lowest * 0.8, highest * 1.2,
            STR_ARG(ticks_between(lowest * 0.8, highest * 1.2)));
    draw_lines(report, &buf);
    plot->script = buf_str(&buf);
}

// p5, p25, median, p75, p95 of a cell in ms; its p95, 0 without any value.
static double add_box(Buf *buf, const Cell *cell, Str transaction, double place)
{
    static const double percents[5] = {5, 25, 50, 75, 95};
    Hist *hist = cell_times(cell, MEASURE_TRANSACTION, transaction);
    double last = 0;

    if (hist_count(hist) > 0) {
        buf_fmt(buf, "%g", place);
    }
    for (int i = 0; i < 5 && hist_count(hist) > 0; i++) {
        last = (double)hist_percentile(hist, percents[i]) / 1000;
        buf_fmt(buf, " %g", last);
    }
    buf_char(buf, '\n');
    hist_free(hist);
    return last;
}

void chart_blocks(Report *report, Section *section, const Scope *scope, Str transaction)
{
    Plot *plot = section_plot(
        section, chart_id(report, scope, "blocks", transaction),
        chart_title(report, scope, str_fmt(STR_FMT ": times by block", STR_ARG(transaction))));
    size_t configurations = report->result->configurations.len;
    double width = 0.8 / (double)(configurations ? configurations : 1), highest = 0;
    Buf buf = script_new();
    int64_t blocks = 0;

    for (size_t i = 0; i < configurations; i++) {
        Scope at = scope_at(report, scope, i);
        Cells cells = cells_of(report->result, &at);
        begin_data(&buf, i);
        for (size_t j = 0; j < cells.len; j++) {
            double place = (double)cells.at[j]->block - 0.4 + ((double)i + 0.5) * width;
            highest = fmax(highest, add_box(&buf, cells.at[j], transaction, place));
            blocks = cells.at[j]->block > blocks ? cells.at[j]->block : blocks;
        }
        end_data(&buf);
    }
    if (highest == 0) {
        plot->why_empty = S("no valid cell holds this transaction");
        return;
    }
    buf_fmt(&buf,
            "set boxwidth %g absolute\nset xrange [0.4:%g]\nset yrange [0:%g]\nset xtics 1\n"
            "set xlabel 'block' textcolor " PLOT_MUTED "\nset ylabel 'ms' textcolor " PLOT_MUTED
            "\nset style fill solid 0.35 border\nplot ",
            width * 0.7, (double)blocks + 0.6, highest * 1.08);
    for (size_t i = 0; i < configurations; i++) {
        buf_fmt(&buf,
                "%s$data%zu using 1:3:2:6:5 with candlesticks whiskerbars 0.5 linewidth 1.5 "
                "linecolor %s title " STR_FMT ", $data%zu using 1:4:4:4:4 with candlesticks "
                "linewidth 3 linecolor %s notitle",
                i ? ", " : "", i, plot_colour(i), STR_ARG(chart_label(report, i)), i,
                plot_colour(i));
    }
    buf_char(&buf, '\n');
    plot->script = buf_str(&buf);
    plot->note =
        S("Box: middle half with its median; whiskers: p5 and p95. A level that moves from "
          "block to block for all configurations is the machine's, not theirs.");
}
