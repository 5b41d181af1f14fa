// Resource utilisation: processor and memory of the server by module, processes, driver, host; and
// the database.
#include "report.h"

#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

enum {
    CONFIGURATIONS_SHOWN = 4,
    STATEMENTS_SHOWN = 20,
};
#define NAMED_SHARE 0.01 // modules below this share of the processor are put together
#define OTHER_SHARE 0.10 // more that no module accounts for is a finding
#define MIB         1048576.0

typedef struct {
    Str name;
    double of[CONFIGURATIONS_SHOWN]; // CPU-seconds, or mean bytes
    double rank;                     // of the first configuration that was measured
} Module;

typedef struct {
    Module *at;
    size_t len;
    double total[CONFIGURATIONS_SHOWN]; // of the process
    size_t columns;
} Modules;

static Module *module_of(Modules *modules, Str name, size_t most)
{
    for (size_t i = 0; i < modules->len; i++) {
        if (str_eq(modules->at[i].name, name)) {
            return &modules->at[i];
        }
    }
    if (modules->len == most) {
        return NULL;
    }
    modules->at[modules->len] = (Module){.name = name};
    return &modules->at[modules->len++];
}

static void add_cell(Modules *modules, const Cell *cell, size_t column, const char *series_name,
                     size_t most, double share)
{
    bool is_cpu = str_eq_z(S("cpu"), series_name);

    for (size_t i = 0; i < cell->series.len; i++) {
        const Series *series = &cell->series.at[i];
        if (series->group != GROUP_MODULE || !str_eq_z(series->name, series_name)) {
            continue;
        }
        double value = is_cpu ? series_growth(cell, series, 0, cell->window_s)
                              : series_mean(cell, series, 0, cell->window_s) * share;
        Module *module = module_of(modules, series->subject, most);
        if (module && !isnan(value)) {
            module->of[column] += value;
        }
    }
    modules->total[column] += is_cpu
                                  ? cell_cpu_s(cell, 0, cell->window_s)
                                  : series_mean(cell, cell_memory(cell), 0, cell->window_s) * share;
}

static int by_rank(const void *a, const void *b)
{
    const Module *x = a, *y = b;
    return x->rank != y->rank ? (x->rank < y->rank) - (x->rank > y->rank)
                              : str_cmp(x->name, y->name);
}

static Modules read_modules(const Report *report, const Scope *scope, const char *series)
{
    Modules modules = {.columns = report->result->configurations.len};
    size_t most = 512;

    modules.at = NEW_ARRAY(Module, most);
    if (modules.columns > CONFIGURATIONS_SHOWN) {
        modules.columns = CONFIGURATIONS_SHOWN;
    }
    for (size_t i = 0; i < modules.columns; i++) {
        Scope at = scope_with(scope, report->result->configurations.at[i].name);
        Cells cells = cells_of(report->result, &at);
        for (size_t j = 0; j < cells.len; j++) {
            add_cell(&modules, cells.at[j], i, series, most, 1.0 / (double)cells.len);
        }
    }
    // The configuration that measures modules may not be the first.
    for (size_t i = 0; i < modules.len; i++) {
        Module *module = &modules.at[i];
        for (size_t j = 0; j < modules.columns && module->rank == 0; j++) {
            module->rank = module->of[j];
        }
    }
    sort_array(modules.at, modules.len, sizeof *modules.at, by_rank);
    return modules;
}

static bool is_measured(const Modules *modules, size_t column)
{
    for (size_t i = 0; i < modules->len; i++) {
        if (modules->at[i].of[column] > 0) {
            return true;
        }
    }
    return false;
}

// Below one per cent in every configuration.
static bool is_small(const Modules *modules, const Module *module)
{
    for (size_t i = 0; i < modules->columns; i++) {
        if (module->of[i] > NAMED_SHARE * modules->total[i]) {
            return false;
        }
    }
    return true;
}

static void module_columns(const Report *report, Table *table, const Modules *modules, Unit unit)
{
    table_column(table, "Module", ROLE_KEY, UNIT_COUNT);
    for (size_t i = 0; i < modules->columns; i++) {
        Str label = scope_label(report, report->result->configurations.at[i].name);
        table_column(table, str_z(label), ROLE_PART, unit)->may_be_empty = true;
        table_column(table, "Share", ROLE_VALUE, UNIT_PERCENT)->may_be_empty = true;
    }
    Column *foreign =
        table_column(table, "FOLIO reported", ROLE_VALUE, unit == UNIT_S ? UNIT_VCPU : UNIT_BYTES);
    foreign->is_foreign = foreign->may_be_empty = true;
}

static void add_row(Table *table, const Modules *modules, Str name, const double *values,
                    double foreign)
{
    table_text(table, name);
    for (size_t i = 0; i < modules->columns; i++) {
        bool has_any = is_measured(modules, i);
        table_number(table, has_any ? values[i] : NAN);
        table_number(table, has_any ? 100 * values[i] / modules->total[i] : NAN);
    }
    table_number(table, foreign);
}

// Named modules, the small ones together, what nobody accounts for, and the process.
static void add_modules(const Report *report, Table *table, const Modules *modules)
{
    double small[CONFIGURATIONS_SHOWN] = {0}, other[CONFIGURATIONS_SHOWN] = {0};
    size_t small_len = 0;
    bool is_cpu = table->columns[1].unit == UNIT_S;

    for (size_t i = 0; i < modules->columns; i++) {
        other[i] = modules->total[i];
    }
    for (size_t i = 0; i < modules->len; i++) {
        const Module *module = &modules->at[i];
        for (size_t j = 0; j < modules->columns; j++) {
            other[j] -= module->of[j];
            small[j] += is_small(modules, module) ? module->of[j] : 0;
        }
        if (is_small(modules, module)) {
            small_len++;
            continue;
        }
        double foreign =
            is_cpu ? reference_value(report->reference, S("1"), module->name, "cpu") : NAN;
        add_row(table, modules, module->name, module->of, foreign);
    }
    if (small_len > 0) {
        add_row(table, modules,
                str_fmt("%zu module%s below 1 %%", small_len, small_len == 1 ? "" : "s"), small,
                NAN);
    }
    add_row(table, modules, S("other (no module's)"), other, NAN);
    add_row(table, modules, S("server process"), modules->total, NAN);
    table->has_total = true;
}

// Of the processor all should have an owner; most memory of one process has none.
static void find_unaccounted(Report *report, Section *section, const Modules *modules)
{
    for (size_t i = 0; i < modules->columns; i++) {
        double sum = 0;
        for (size_t j = 0; j < modules->len; j++) {
            sum += modules->at[j].of[i];
        }
        double share = sum / modules->total[i];
        if (sum > 0 && fabs(1 - share) > OTHER_SHARE) {
            Str label = scope_label(report, report->result->configurations.at[i].name);
            section_finding(section, TONE_WARN, "5-other",
                            str_fmt(STR_FMT ": modules account for " STR_FMT
                                            " %% of the server's CPU-seconds.",
                                    STR_ARG(label), STR_ARG(show_number(100 * share))));
        }
    }
}

static void add_module_table(Report *report, Section *section, const Scope *scope,
                             const char *series)
{
    bool is_cpu = str_eq_z(S("cpu"), series);
    Modules modules = read_modules(report, scope, series);
    Str where = scope_title(report, scope);
    Table *table = section_table(section,
                                 str_z(str_fmt("modules-%s%s" STR_FMT, series, where.len ? "-" : "",
                                               STR_ARG(show_slug(where)))),
                                 str_fmt("%s%s" STR_FMT,
                                         is_cpu ? "Processor by module: CPU-seconds of the windows"
                                                : "Memory by module: mean over the windows",
                                         where.len ? ": " : "", STR_ARG(where)));

    module_columns(report, table, &modules, is_cpu ? UNIT_S : UNIT_BYTES);
    if (modules.len == 0) {
        table->why_empty = S("no module was measured: the server's accounting was off, or the "
                             "target gives none");
        return;
    }
    add_modules(report, table, &modules);
    table->note =
        is_cpu
            ? S("Ranked by CPU-seconds. Share: of the server process. A configuration without "
                "accounting has no figures. FOLIO reported: vCPU = percent of the reservation x "
                "reservation x tasks, run 1, on other hardware under other load.")
            : S("A module's own: what its caches hold, and the most that one request took. All "
                "modules share one process, and with it most of its memory: page caches of "
                "connections, stacks, buffers, the allocator; that is \"other\". Pages of mapped "
                "files belong to the system and are not counted. FOLIO's memory figures repeat "
                "its processor figures and are left out.");
    if (is_cpu) {
        find_unaccounted(report, section, &modules);
    }
    chart_modules(report, section, scope, series);
}

// The mean over the cells of a scope of what `read` gives.
typedef double (*ReadCell)(const Cell *cell);

static double mean_of(const Report *report, const Scope *scope, ReadCell read)
{
    Cells cells = cells_of(report->result, scope);
    double sum = 0;
    size_t n = 0;

    for (size_t i = 0; i < cells.len; i++) {
        double value = read(cells.at[i]);
        if (!isnan(value)) {
            sum += value;
            n++;
        }
    }
    return n ? sum / (double)n : NAN;
}

static double per_window(const Cell *cell, SeriesGroup group, const char *subject, const char *name)
{
    return series_growth(cell, cell_series(cell, group, subject, name), 0, cell->window_s) /
           cell->window_s;
}

static double level_of(const Cell *cell, SeriesGroup group, const char *subject, const char *name)
{
    return series_mean(cell, cell_series(cell, group, subject, name), 0, cell->window_s);
}

static double threads(const Cell *cell)
{
    return level_of(cell, GROUP_PROCESS, "server", "threads");
}

static double files(const Cell *cell)
{
    return level_of(cell, GROUP_PROCESS, "server", "files");
}

static double written(const Cell *cell)
{
    return per_window(cell, GROUP_PROCESS, "server", "io.written");
}

static double throttled(const Cell *cell)
{
    return 100 * per_window(cell, GROUP_PROCESS, "server", "throttled");
}

static double driver_cpu(const Cell *cell)
{
    return cell->driver_cpu_s / cell->window_s;
}

static double driver_busiest(const Cell *cell)
{
    return 100 * cell->driver_busiest;
}

static double driver_late(const Cell *cell)
{
    Hist *hist = hist_new(RESULT_DIGITS, RESULT_LONGEST_US);
    bool has_any = cell->driver_late.len > 0 && hist_merge_packed(hist, cell->driver_late);
    double late = has_any ? (double)hist_percentile(hist, 99) / 1000 : NAN;

    hist_free(hist);
    return late;
}

static double host_share(const Cell *cell, const char *name)
{
    static const char *const kinds[] = {"cpu.user", "cpu.system", "cpu.iowait", "cpu.steal",
                                        "cpu.idle"};
    double sum = 0, wanted = per_window(cell, GROUP_HOST, NULL, name);

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        double one = per_window(cell, GROUP_HOST, NULL, kinds[i]);
        sum += isnan(one) ? 0 : one;
    }
    return 100 * wanted / sum;
}

static double host_idle(const Cell *cell)
{
    return host_share(cell, "cpu.idle");
}

static double host_steal(const Cell *cell)
{
    return host_share(cell, "cpu.steal");
}

static double statements(const Cell *cell)
{
    return per_window(cell, GROUP_DATABASE, NULL, "statements");
}

static double database_time(const Cell *cell)
{
    return per_window(cell, GROUP_DATABASE, NULL, "time");
}

static double sync_time(const Cell *cell)
{
    return per_window(cell, GROUP_DATABASE, NULL, "fsync");
}

static double wal_most(const Cell *cell)
{
    return series_max(cell, cell_series(cell, GROUP_DATABASE, NULL, "wal.max"), 0, cell->window_s);
}

static double commits(const Cell *cell)
{
    return per_window(cell, GROUP_DATABASE, NULL, "commits");
}

static double syncs(const Cell *cell)
{
    return per_window(cell, GROUP_DATABASE, NULL, "syncs");
}

static double cache_hits(const Cell *cell)
{
    double hits = per_window(cell, GROUP_DATABASE, NULL, "cache.hits");
    double misses = per_window(cell, GROUP_DATABASE, NULL, "cache.misses");
    return 100 * hits / (hits + misses);
}

// A figure of a table by configuration: a metric by name, or read from each cell.
typedef struct {
    const char *title, *metric;
    ReadCell read;
    Unit unit;
} Figure;

static void add_figures(Report *report, Section *section, const char *id, const char *title,
                        const Figure *figures)
{
    Table *table = section_table(section, id, str_of(title));
    size_t configurations = report->result->configurations.len;

    table_column(table, "Configuration", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Run", ROLE_KEY, UNIT_COUNT)->may_be_empty = true;
    for (const Figure *figure = figures; figure->title; figure++) {
        table_column(table, figure->title, ROLE_VALUE, figure->unit)->may_be_empty = true;
    }
    for (size_t i = 0; i < report->scopes.len; i++) {
        for (size_t j = 0; j < configurations; j++) {
            Scope at = scope_with(&report->scopes.at[i], report->result->configurations.at[j].name);
            if (cells_of(report->result, &at).len == 0) {
                continue;
            }
            table_text(table, scope_label(report, at.configuration));
            table_text(table, scope_title(report, &at));
            for (const Figure *figure = figures; figure->title; figure++) {
                table_number(table, figure->metric ? metric_value(report, figure->metric, &at)
                                                   : mean_of(report, &at, figure->read));
            }
        }
    }
    table->why_empty = S("no cell is valid");
}

// What the cells' figure of memory is, in words.
static const char *memory_source(const Result *result)
{
    static const char *const sources[][2] = {
        {"memory.anonymous", "its own (anonymous) memory, without pages of files"},
        {"memory.pss", "its proportional set size, with its share of common pages"},
        {"memory.cgroup", "that of its control group"},
        {"memory.rss", "its resident memory, with pages of files"}};

    for (size_t i = 0; i < result->cells.len; i++) {
        const Series *series = cell_memory(&result->cells.at[i]);
        for (size_t k = 0; series && k < sizeof sources / sizeof *sources; k++) {
            if (str_eq_z(series->name, sources[k][0])) {
                return sources[k][1];
            }
        }
    }
    return "";
}

void report_resources(Report *report)
{
    static const Figure server[] = {{"Processor", "cpu.total", NULL, UNIT_VCPU},
                                    {"CPU per transaction", "cpu.per_transaction", NULL, UNIT_MS},
                                    {"Memory, mean", "memory.mean", NULL, UNIT_BYTES},
                                    {"Memory, most", "memory.peak", NULL, UNIT_BYTES},
                                    {"Most of the limit", "memory.peak_pct", NULL, UNIT_PERCENT},
                                    {"Threads", NULL, threads, UNIT_COUNT},
                                    {"Open files", NULL, files, UNIT_COUNT},
                                    {"Written per second", NULL, written, UNIT_BYTES},
                                    {"Throttled", NULL, throttled, UNIT_PERCENT},
                                    {0}};
    static const Figure machine[] = {{"Driver", NULL, driver_cpu, UNIT_VCPU},
                                     {"Driver's busiest loop", NULL, driver_busiest, UNIT_PERCENT},
                                     {"Driver late, p99", NULL, driver_late, UNIT_MS},
                                     {"Host idle", NULL, host_idle, UNIT_PERCENT},
                                     {"Host stolen", NULL, host_steal, UNIT_PERCENT},
                                     {0}};
    Section *section = doc_section(report->doc, "resources", "Resource utilisation");

    add_figures(report, section, "server", "Server process", server);
    const char *source = memory_source(report->result);
    if (*source) {
        section_text(section, str_fmt("Memory of the server is %s in all cells; averages cover the "
                                      "steady windows only.",
                                      source));
    }
    for (size_t i = 0; i < report->scopes.len && report->scopes.len <= 4; i++) {
        add_module_table(report, section, &report->scopes.at[i], "cpu");
        add_module_table(report, section, &report->scopes.at[i], "memory");
    }
    add_figures(report, section, "machine", "Load driver and host", machine);
}

static int by_total(const void *a, const void *b)
{
    const Statement *x = a, *y = b;
    return x->total_ms != y->total_ms ? (x->total_ms < y->total_ms) - (x->total_ms > y->total_ms)
                                      : str_cmp(x->shape, y->shape);
}

static size_t merge_statements(const Result *result, Statement *into, size_t most)
{
    size_t n = 0;

    for (size_t i = 0; i < result->cells.len; i++) {
        const Cell *cell = &result->cells.at[i];
        for (size_t j = 0; j < cell->statements.len && cell->state == CELL_DONE; j++) {
            const Statement *one = &cell->statements.at[j];
            size_t at = 0;
            while (at < n &&
                   !(str_eq(into[at].shape, one->shape) && str_eq(into[at].route, one->route))) {
                at++;
            }
            if (at == most) {
                continue;
            }
            if (at == n) {
                into[n++] = (Statement){.shape = one->shape,
                                        .route = one->route,
                                        .module = one->module,
                                        .plan = one->plan};
            }
            into[at].calls += one->calls;
            into[at].rows += one->rows;
            into[at].total_ms += one->total_ms;
            into[at].max_ms = fmax(into[at].max_ms, one->max_ms);
        }
    }
    return n;
}

// A line for each step becomes one line.
static Str plan_text(Str plan)
{
    StrList steps = {0};
    Str step;

    while (str_next(&plan, '\n', &step)) {
        str_list_add(&steps, str_trim(step));
    }
    return str_join(steps.at, steps.len, S("; "));
}

// Beside the figures they would be a column of single words.
static void add_plans(Section *section, const Statement *all, size_t n)
{
    Table *table = section_table(section, "plans", S("How the database runs them"));
    StrList shown = {0}; // a statement may stand for several routes

    table_column(table, "Statement", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Plan", ROLE_TEXT, UNIT_COUNT);
    for (size_t i = 0; i < n && i < STATEMENTS_SHOWN; i++) {
        if (all[i].plan.len > 0 && !str_list_has(&shown, all[i].shape)) {
            str_list_add(&shown, all[i].shape);
            table_text(table, all[i].shape);
            table_text(table, plan_text(all[i].plan));
        }
    }
    table->why_empty = S("the server told no plan");
    table->note = S("SEARCH goes by an index, SCAN reads all of a table, USE TEMP B-TREE sorts.");
}

static void add_statements(Report *report, Section *section)
{
    Table *table = section_table(section, "statements", S("Statements with the most time"));
    size_t most = 1024;
    Statement *all = NEW_ARRAY(Statement, most);
    size_t n = merge_statements(report->result, all, most);

    sort_array(all, n, sizeof *all, by_total);
    table_column(table, "Statement", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Module", ROLE_KEY, UNIT_COUNT)->may_be_empty = true;
    table_column(table, "Route", ROLE_KEY, UNIT_COUNT)->may_be_empty = true;
    table_column(table, "Calls", ROLE_VALUE, UNIT_COUNT);
    table_column(table, "Total", ROLE_VALUE, UNIT_MS);
    table_column(table, "Mean", ROLE_VALUE, UNIT_MS);
    table_column(table, "Max", ROLE_VALUE, UNIT_MS);
    table_column(table, "Rows", ROLE_VALUE, UNIT_COUNT);
    for (size_t i = 0; i < n && i < STATEMENTS_SHOWN; i++) {
        table_text(table, all[i].shape);
        table_text(table, all[i].module);
        table_text(table, all[i].route);
        table_number(table, (double)all[i].calls);
        table_number(table, all[i].total_ms);
        table_number(table, all[i].calls ? all[i].total_ms / (double)all[i].calls : NAN);
        table_number(table, all[i].max_ms);
        table_number(table, (double)all[i].rows);
    }
    table->why_empty = S("statements were not recorded in any cell (observability off, or the "
                         "target gives none)");
    table->note = S("Shapes only, never values; all valid cells together.");
    add_plans(section, all, n);
}

void report_database(Report *report)
{
    static const Figure counters[] = {{"Statements", NULL, statements, UNIT_PER_S},
                                      {"Time in statements", NULL, database_time, UNIT_VCPU},
                                      {"Commits", NULL, commits, UNIT_PER_S},
                                      {"Syncs", NULL, syncs, UNIT_PER_S},
                                      {"Time in syncs", NULL, sync_time, UNIT_VCPU},
                                      {"Pages from the cache", NULL, cache_hits, UNIT_PERCENT},
                                      {"Log file, most", NULL, wal_most, UNIT_BYTES},
                                      {0}};
    Section *section = doc_section(report->doc, "database", "Database");

    add_figures(report, section, "database", "Database, by configuration", counters);
    add_statements(report, section);
}
