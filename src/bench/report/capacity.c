// Runs in steps: how much load the server takes before a limit is missed, and where more load
// brings nothing any more. Source: spec/perf-lab.md 4.7, 4.8.
#include "bench/lab/experiment.h"
#include "report.h"
#include "plot.h"

#include <math.h>

enum {
    SCRIPT_MAX = 1 << 20,
};
#define GAIN_LEAST 0.05 // of throughput
#define MORE_LOAD  0.5  // for half as much load again
#define BUSY       85.0 // percent

// A run with a stepped load as the experiment names it.
typedef struct {
    Str run;
    const Json *steps;
    bool is_open;
} Staircase;

// One step under one configuration.
typedef struct {
    double asked; // users, or passes a second
    Scope scope;
    double rate, gain, p50_ms, p95_ms, failed; // gain: percent for half as much load again
    double host, server, driver;               // percent busy
    const Kpi *missed;                         // the first limit that does not hold
    bool is_there, is_saturated;
} LoadStep;

typedef struct {
    LoadStep *at;
    size_t len;
} LoadSteps;

static bool find_staircase(const Result *result, const Json *run, Staircase *out)
{
    JSON_EACH(entry, json_get(run, "workloads"))
    {
        const Json *load =
            experiment_member(json_get(result->experiment, "load"), json_str(entry, "load"));
        if (json_len(json_get(load, "steps")) > 0) {
            *out = (Staircase){json_key(run), json_get(load, "steps"),
                               str_eq(json_str(load, "model"), S("open"))};
            return true;
        }
    }
    return false;
}

// The scope of a step; false if no cell of the plan belongs to it.
static bool find_scope(const Report *report, Str run, Str configuration, Scope *out)
{
    for (size_t i = 0; i < report->scopes.len; i++) {
        if (str_eq(report->scopes.at[i].run, run)) {
            *out = scope_with(&report->scopes.at[i], configuration);
            return true;
        }
    }
    return false;
}

bool report_is_later_step(const Report *report, const Scope *scope)
{
    Staircase stairs;

    JSON_EACH(run, json_get(report->result->experiment, "run"))
    {
        if (!find_staircase(report->result, run, &stairs)) {
            continue;
        }
        bool is_first = true;
        JSON_EACH(step, stairs.steps)
        {
            Str name = experiment_step_name(stairs.run, json_number(step, "", 0));
            if (!is_first && str_eq(name, scope->run)) {
                return true;
            }
            is_first = false;
        }
    }
    return false;
}

// Mean over the cells; the lab cannot tell what the host of another server does.
static double busy_share(const Cells *cells, const char *const *names, size_t idle_from, size_t n)
{
    double busy = 0, all = 0;

    for (size_t i = 0; i < cells->len; i++) {
        for (size_t k = 0; k < n; k++) {
            const Series *series = cell_series(cells->at[i], GROUP_HOST, NULL, names[k]);
            double grown = series_growth(cells->at[i], series, 0, cells->at[i]->window_s);
            all += grown;
            busy += k < idle_from ? grown : 0;
        }
    }
    return 100 * busy / all;
}

static void measure_busy(const Report *report, LoadStep *step)
{
    static const char *const host[] = {"cpu.user", "cpu.system", "cpu.steal", "cpu.iowait",
                                       "cpu.idle"};
    Cells cells = cells_of(report->result, &step->scope);
    double cores = json_number(report->result->environment, "host.cores", NAN), used = 0,
           seconds = 0;

    step->host = busy_share(&cells, host, 3, sizeof host / sizeof *host);
    for (size_t i = 0; i < cells.len; i++) {
        used += cell_cpu_s(cells.at[i], 0, cells.at[i]->window_s);
        seconds += cells.at[i]->window_s;
        step->driver = fmax(step->driver, 100 * cells.at[i]->driver_busiest);
    }
    step->server = 100 * used / seconds / cores;
}

static void measure_step(const Report *report, LoadStep *step)
{
    Outcomes outcomes = scope_outcomes(report, &step->scope, MEASURE_TRANSACTION, (Str){"", 0});
    Hist *times = scope_times(report, &step->scope, MEASURE_TRANSACTION, (Str){"", 0});
    double all = (double)(outcomes.ok + outcomes.failed);

    step->is_there = all > 0;
    step->rate = all / scope_window(report, &step->scope);
    step->failed = 100 * (double)outcomes.failed / all;
    step->p50_ms = hist_count(times) > 0 ? (double)hist_percentile(times, 50) / 1000 : NAN;
    step->p95_ms = hist_count(times) > 0 ? (double)hist_percentile(times, 95) / 1000 : NAN;
    hist_free(times);
    measure_busy(report, step);
    for (size_t i = 0; i < report->kpi_len && !step->missed; i++) {
        const Kpi *kpi = &report->kpis[i];
        bool is_of_step = str_eq(kpi->scope.run, step->scope.run) &&
                          str_eq(kpi->scope.configuration, step->scope.configuration);
        step->missed = is_of_step && kpi->state == KPI_MISSED ? kpi : NULL;
    }
}

static LoadSteps measure_steps(const Report *report, const Staircase *stairs, Str configuration)
{
    LoadSteps steps = {.at = NEW_ARRAY(LoadStep, json_len(stairs->steps) + 1)};

    JSON_EACH(number, stairs->steps)
    {
        LoadStep *step = &steps.at[steps.len], *before = steps.len > 0 ? step - 1 : NULL;
        *step = (LoadStep){.asked = json_number(number, "", 0), .gain = NAN};
        Str run = experiment_step_name(stairs->run, step->asked);
        if (!find_scope(report, run, configuration, &step->scope)) {
            continue;
        }
        measure_step(report, step);
        if (!step->is_there) {
            continue;
        }
        if (before) {
            double steepness = log(step->rate / before->rate) / log(step->asked / before->asked);
            step->gain = 100 * (pow(1 + MORE_LOAD, steepness) - 1);
            before->is_saturated = step->gain < 100 * GAIN_LEAST;
        }
        steps.len++;
    }
    return steps;
}

static Str load_text(const Staircase *stairs, double asked)
{
    return str_fmt(STR_FMT " %s", STR_ARG(show_given(asked)),
                   stairs->is_open ? "passes a second" : "users");
}

static Str rate_text(const LoadStep *step)
{
    return show_quantity(step->rate, UNIT_PER_S);
}

// "host processor 97 %, load driver 88 %"
static Str busy_text(const LoadStep *step)
{
    StrList texts = {0};
    const struct {
        const char *name;
        double percent;
    } all[] = {
        {"host processor", step->host}, {"server", step->server}, {"load driver", step->driver}};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i].percent > BUSY) {
            str_list_add(&texts, str_fmt("%s %.0f %%", all[i].name, all[i].percent));
        }
    }
    return texts.len > 0 ? str_join(texts.at, texts.len, S(", "))
                         : S("nothing that was measured, so it waits for something");
}

static void say_saturation(Section *section, const Staircase *stairs, Str label,
                           const LoadSteps *steps)
{
    for (size_t i = 0; i + 1 < steps->len; i++) {
        const LoadStep *step = &steps->at[i], *next = step + 1;
        if (step->is_saturated) {
            section_finding(
                section, TONE_WARN, "4.7-saturated",
                str_fmt("\"" STR_FMT "\", " STR_FMT ": saturated at " STR_FMT ", " STR_FMT
                        "; with " STR_FMT " it is " STR_FMT ". Busy: " STR_FMT ".",
                        STR_ARG(label), STR_ARG(stairs->run),
                        STR_ARG(load_text(stairs, step->asked)), STR_ARG(rate_text(step)),
                        STR_ARG(load_text(stairs, next->asked)), STR_ARG(rate_text(next)),
                        STR_ARG(busy_text(next))));
            return;
        }
    }
    section_finding(section, TONE_GOOD, "4.7-not-saturated",
                    str_fmt("\"" STR_FMT "\", " STR_FMT ": not saturated up to " STR_FMT
                            ", " STR_FMT ".",
                            STR_ARG(label), STR_ARG(stairs->run),
                            STR_ARG(load_text(stairs, steps->at[steps->len - 1].asked)),
                            STR_ARG(rate_text(&steps->at[steps->len - 1]))));
}

static void say_capacity(const Report *report, Section *section, const Staircase *stairs, Str label,
                         const LoadSteps *steps)
{
    size_t held = 0;

    if (report->kpi_len == 0) {
        return;
    }
    while (held < steps->len && !steps->at[held].missed) {
        held++;
    }
    Str upto = held == 0 ? S("its limits do not hold at any step")
                         : str_fmt("all limits hold up to " STR_FMT ", " STR_FMT,
                                   STR_ARG(load_text(stairs, steps->at[held - 1].asked)),
                                   STR_ARG(rate_text(&steps->at[held - 1])));
    Str then =
        held == steps->len
            ? S(": the last step; it may take more")
            : str_fmt("; at " STR_FMT " " STR_FMT " is " STR_FMT ", the limit is " STR_FMT,
                      STR_ARG(load_text(stairs, steps->at[held].asked)),
                      STR_ARG(steps->at[held].missed->metric.name),
                      STR_ARG(kpi_amount(steps->at[held].missed, steps->at[held].missed->value)),
                      STR_ARG(kpi_amount(steps->at[held].missed, steps->at[held].missed->limit)));
    section_finding(section, held == 0 ? TONE_BAD : TONE_GOOD, "4.8-capacity",
                    str_fmt("\"" STR_FMT "\", " STR_FMT ": " STR_FMT STR_FMT ".", STR_ARG(label),
                            STR_ARG(stairs->run), STR_ARG(upto), STR_ARG(then)));
}

void report_capacity_findings(Report *report, Section *section)
{
    Staircase stairs;

    JSON_EACH(run, json_get(report->result->experiment, "run"))
    {
        bool is_stepped = find_staircase(report->result, run, &stairs);
        for (size_t i = 0; i < report->result->configurations.len && is_stepped; i++) {
            Str name = report->result->configurations.at[i].name;
            LoadSteps steps = measure_steps(report, &stairs, name);
            if (steps.len > 0) {
                Str label = scope_label(report, name);
                say_capacity(report, section, &stairs, label, &steps);
                say_saturation(section, &stairs, label, &steps);
            }
        }
    }
}

// ---------------------------------------------------------------------------------------------

static Table *capacity_table(Section *section, const Staircase *stairs)
{
    Table *table =
        section_table(section, str_z(str_fmt("capacity-" STR_FMT, STR_ARG(show_slug(stairs->run)))),
                      str_fmt("Load in steps: " STR_FMT, STR_ARG(stairs->run)));

    table_column(table, stairs->is_open ? "Passes a second" : "Users", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Configuration", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Throughput", ROLE_VALUE, UNIT_PER_S);
    table_column(table, "Gain for half as much again", ROLE_DELTA_PCT, UNIT_PERCENT)->may_be_empty =
        true;
    table_column(table, "Median", ROLE_P50, UNIT_MS)->may_be_empty = true;
    table_column(table, "p95", ROLE_P95, UNIT_MS)->may_be_empty = true;
    table_column(table, "Failed share", ROLE_VALUE, UNIT_PERCENT);
    table_column(table, "Host busy", ROLE_VALUE, UNIT_PERCENT)->may_be_empty = true;
    table_column(table, "Server's part", ROLE_VALUE, UNIT_PERCENT)->may_be_empty = true;
    table_column(table, "Driver busy", ROLE_VALUE, UNIT_PERCENT);
    table_column(table, "Limits", ROLE_VERDICT, UNIT_COUNT);
    table_column(table, "More load", ROLE_TEXT, UNIT_COUNT)->may_be_empty = true;
    table->note = S("Times of all transactions together. Gain: what half as much load again added "
                    "to the throughput since the step before; below 5 % the server is saturated. "
                    "Host busy: all its processors; the server's part is of the same whole.");
    return table;
}

static void add_step(const Report *report, Table *table, const LoadStep *step)
{
    table_text(table, show_given(step->asked));
    table_text(table, scope_label(report, step->scope.configuration));
    table_number(table, step->rate);
    table_number(table, step->gain);
    table_number(table, step->p50_ms);
    table_number(table, step->p95_ms);
    table_number(table, step->failed);
    table_number(table, step->host);
    table_number(table, step->server);
    table_number(table, step->driver);
    table_text(table, step->missed ? str_fmt("missed: " STR_FMT, STR_ARG(step->missed->metric.name))
                                   : S("met"));
    table_text(table, step->is_saturated ? S("brings nothing") : (Str){"", 0});
}

// Ticks where the steps are.
static Str step_ticks(const Json *steps)
{
    StrList ticks = {0};

    JSON_EACH(step, steps)
    {
        str_list_add(&ticks, str_fmt("%g", json_number(step, "", 0)));
    }
    return str_join(ticks.at, ticks.len, S(", "));
}

static void chart_steps(const Report *report, Section *section, const Staircase *stairs)
{
    Plot *plot =
        section_plot(section, str_fmt("capacity-" STR_FMT, STR_ARG(show_slug(stairs->run))),
                     str_fmt("Throughput and p95 by load: " STR_FMT, STR_ARG(stairs->run)));
    Buf buf = buf_new(arena_current(), SCRIPT_MAX), draw = buf_new(arena_current(), SCRIPT_MAX);
    size_t points = 0;

    for (size_t i = 0; i < report->result->configurations.len; i++) {
        Str name = report->result->configurations.at[i].name;
        LoadSteps steps = measure_steps(report, stairs, name);
        buf_fmt(&buf, "$data%zu << END\n", i);
        for (size_t k = 0; k < steps.len; k++, points++) {
            buf_fmt(&buf, "%g %g %g\n", steps.at[k].asked, steps.at[k].rate, steps.at[k].p95_ms);
        }
        buf_add(&buf, S("END\n"));
        Str label = scope_label(report, name);
        buf_fmt(&draw,
                "%s$data%zu using 1:2 with linespoints pointtype 7 pointsize 0.6 linewidth 2 "
                "linecolor %s title " STR_FMT ", $data%zu using 1:3 axes x1y2 with linespoints "
                "pointtype 6 pointsize 0.6 linewidth 1.5 dashtype 2 linecolor %s title " STR_FMT,
                i ? ", " : "", i, plot_colour(i),
                STR_ARG(plot_quoted(str_fmt(STR_FMT ": throughput", STR_ARG(label)))), i,
                plot_colour(i), STR_ARG(plot_quoted(str_fmt(STR_FMT ": p95", STR_ARG(label)))));
    }
    if (points == 0) {
        plot->why_empty = S("no step has a valid cell");
        return;
    }
    buf_fmt(&buf,
            "set border 11 linecolor " PLOT_MUTED "\nset logscale x\nset xtics (" STR_FMT ")\n"
            "set y2tics nomirror textcolor " PLOT_MUTED "\nset yrange [0:*]\nset y2range [0:*]\n"
            "set ylabel 'transactions per second' textcolor " PLOT_MUTED
            "\nset y2label 'p95, ms' textcolor " PLOT_MUTED
            "\nset xlabel '%s' textcolor " PLOT_MUTED
            "\nset offsets graph 0.02, graph 0.02, 0, 0\nplot " STR_FMT "\n",
            STR_ARG(step_ticks(stairs->steps)),
            stairs->is_open ? "passes a second asked for" : "users", STR_ARG(buf_str(&draw)));
    plot->script = buf_str(&buf);
    plot->note = S("Solid: throughput, left scale; dashed: p95, right scale.");
}

void report_capacity(Report *report, Section *section)
{
    Staircase stairs;

    JSON_EACH(run, json_get(report->result->experiment, "run"))
    {
        if (!find_staircase(report->result, run, &stairs)) {
            continue;
        }
        Table *table = capacity_table(section, &stairs);
        for (size_t i = 0; i < report->result->configurations.len; i++) {
            LoadSteps steps =
                measure_steps(report, &stairs, report->result->configurations.at[i].name);
            for (size_t k = 0; k < steps.len; k++) {
                add_step(report, table, &steps.at[k]);
            }
        }
        table->why_empty = S("no step has a valid cell");
        chart_steps(report, section, &stairs);
    }
}
