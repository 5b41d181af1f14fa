// What it ran on: processes, modules beside FOLIO's, options, host, and what is suspicious in it.
// Source: spec/perf-lab.md 6.
#include "report.h"

#include <math.h>

#define MIB 1048576.0

static const Cell *cell_of(const Report *report, Str configuration)
{
    for (size_t i = 0; i < report->result->cells.len; i++) {
        const Cell *cell = &report->result->cells.at[i];
        if (cell->state == CELL_DONE && str_eq(cell->configuration, configuration)) {
            return cell;
        }
    }
    return NULL;
}

static double bytes_or_none(const Json *doc, const char *path)
{
    return json_has(doc, path) ? json_number(doc, path, 0) : NAN;
}

static void add_process(Table *table, Str label, const Json *process)
{
    table_text(table, json_str(process, "name"));
    table_text(table, label);
    table_text(table, json_scalar_text(json_get(process, "version")));
    table_number(table, json_number(process, "instances", NAN));
    table_text(table, json_scalar_text(json_get(process, "cpus")));
    table_number(table, bytes_or_none(process, "memoryHardBytes"));
    table_number(table, bytes_or_none(process, "memorySoftBytes"));
    table_number(table, json_number(process, "threads", NAN));
}

static void add_processes(Report *report, Section *section)
{
    Table *table = section_table(section, "processes", S("Processes"));

    table_column(table, "Process", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Configuration", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Version", ROLE_TEXT, UNIT_COUNT)->may_be_empty = true;
    table_column(table, "Instances", ROLE_VALUE, UNIT_COUNT)->may_be_empty = true;
    table_column(table, "Processors", ROLE_TEXT, UNIT_COUNT)->may_be_empty = true;
    table_column(table, "Hard limit", ROLE_VALUE, UNIT_BYTES)->may_be_empty = true;
    table_column(table, "Soft limit", ROLE_VALUE, UNIT_BYTES)->may_be_empty = true;
    table_column(table, "Threads", ROLE_VALUE, UNIT_COUNT)->may_be_empty = true;
    for (size_t i = 0; i < report->result->configurations.len; i++) {
        const Configuration *is = &report->result->configurations.at[i];
        const Cell *cell = cell_of(report, is->name);
        JSON_EACH(process, cell ? cell->processes : NULL)
        {
            add_process(table, is->label, process);
        }
    }
    table->why_empty = S("no cell recorded its processes");
    table->note = S("Blank: not known or not set, which is not zero. As each process was after its "
                    "start in the first valid cell.");
}

// mod-users-19.3.1 -> mod-users
static Str name_of_id(Str id)
{
    for (size_t i = id.len; i > 1; i--) {
        bool is_version = id.at[i - 2] == '-' && id.at[i - 1] >= '0' && id.at[i - 1] <= '9';
        if (is_version) {
            return str_sub(id, 0, i - 2);
        }
    }
    return id;
}

// FOLIO's tasks x limit of one module.
typedef struct {
    double tasks, memory, cpus;
} Reserved;

static Reserved reserved_of(Str module)
{
    Str none = {"", 0}, report = S("perf-920");
    double tasks = reference_value(report, none, module, "tasks");

    return (Reserved){tasks, tasks * reference_value(report, none, module, "memory_hard") * MIB,
                      tasks * reference_value(report, none, module, "cpu_reserved")};
}

static void add_reserved(Table *table, Reserved reserved)
{
    table_number(table, reserved.tasks);
    table_number(table, reserved.memory);
    table_number(table, reserved.cpus);
}

static Reserved reserved_all(void)
{
    StrList modules = reference_subjects(S("perf-920"), "tasks");
    Reserved sum = {0};

    for (size_t i = 0; i < modules.len; i++) {
        Reserved one = reserved_of(modules.at[i]);
        sum = (Reserved){sum.tasks + one.tasks, sum.memory + one.memory, sum.cpus + one.cpus};
    }
    return sum;
}

static void module_row(Table *table, const Json *module, Reserved *sum, size_t *interfaces,
                       double *routes)
{
    Str id = json_str(module, "id"), name = name_of_id(id);
    Reserved reserved = reserved_of(name);

    table_text(table, name);
    table_text(table, id);
    table_number(table, (double)json_len(json_get(module, "interfaces")));
    table_number(table, json_number(module, "routes", NAN));
    add_reserved(table, reserved);
    *interfaces += json_len(json_get(module, "interfaces"));
    *routes += json_number(module, "routes", 0);
    if (!isnan(reserved.tasks)) {
        *sum = (Reserved){sum->tasks + reserved.tasks, sum->memory + reserved.memory,
                          sum->cpus + reserved.cpus};
    }
}

static void add_modules(Report *report, Section *section)
{
    Table *table = section_table(section, "deployment", S("Modules, beside FOLIO's deployment"));
    const Configuration *baseline = baseline_of(report->result);
    const Cell *cell = baseline ? cell_of(report, baseline->name) : NULL;
    const Json *modules = cell ? json_get(cell->deployment, "modules") : NULL;
    Reserved all = reserved_all(), sum = {0};
    size_t interfaces = 0;
    double routes = 0;

    table_column(table, "Module", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Announced as", ROLE_TEXT, UNIT_COUNT)->may_be_empty = true;
    table_column(table, "Interfaces", ROLE_VALUE, UNIT_COUNT);
    table_column(table, "Routes", ROLE_VALUE, UNIT_COUNT)->may_be_empty = true;
    table_column(table, "FOLIO reported: tasks", ROLE_PART, UNIT_COUNT)->is_foreign = true;
    table_column(table, "FOLIO reported: hard limits", ROLE_PART, UNIT_BYTES)->is_foreign = true;
    table_column(table, "FOLIO reported: processors", ROLE_PART, UNIT_VCPU)->is_foreign = true;
    table->why_empty = S("no cell recorded the server's deployment");
    if (json_len(modules) == 0) {
        return;
    }
    JSON_EACH(module, modules)
    {
        module_row(table, module, &sum, &interfaces, &routes);
    }
    table_text(table, S("FOLIO modules without a counterpart here"));
    table_text(table, (Str){"", 0});
    table_blank(table);
    table_blank(table);
    add_reserved(table,
                 (Reserved){all.tasks - sum.tasks, all.memory - sum.memory, all.cpus - sum.cpus});
    table_text(table, S("all"));
    table_text(table, S("one process"));
    table_number(table, (double)interfaces);
    table_number(table, routes);
    add_reserved(table, all);
    table->has_total = true;
    table->note =
        S("FOLIO reported: containers x limit of each, in PERF-920 (90 modules). Here all "
          "modules share one process, whose limits stand above.");
}

static const Json *option_of(const Cell *cell, Str name)
{
    JSON_EACH(option, cell ? json_get(cell->deployment, "options") : NULL)
    {
        if (str_eq(json_str(option, "name"), name)) {
            return option;
        }
    }
    return NULL;
}

static Str option_value(const Json *option)
{
    return json_scalar_text(json_get(option, "value"));
}

// Not the default in some configuration.
static bool is_telling(const Report *report, Str name)
{
    for (size_t i = 0; i < report->result->configurations.len; i++) {
        const Json *option =
            option_of(cell_of(report, report->result->configurations.at[i].name), name);
        if (option && !str_eq(json_str(option, "origin"), S("default"))) {
            return true;
        }
    }
    return false;
}

static void add_options(Report *report, Section *section)
{
    Table *table = section_table(section, "options", S("Options that are not at their default"));
    const Result *result = report->result;
    const Configuration *baseline = baseline_of(result);
    const Cell *cell = baseline ? cell_of(report, baseline->name) : NULL;

    table_column(table, "Option", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Default", ROLE_TEXT, UNIT_COUNT)->may_be_empty = true;
    for (size_t i = 0; i < result->configurations.len && i < 20; i++) {
        table_column(table, str_z(scope_label(report, result->configurations.at[i].name)),
                     ROLE_TEXT, UNIT_COUNT)
            ->may_be_empty = true;
    }
    JSON_EACH(option, cell ? json_get(cell->deployment, "options") : NULL)
    {
        Str name = json_str(option, "name");
        if (!is_telling(report, name)) {
            continue;
        }
        table_text(table, name);
        table_text(table, json_scalar_text(json_get(option, "default")));
        for (size_t i = 0; i < result->configurations.len && i < 20; i++) {
            table_text(table, option_value(option_of(
                                  cell_of(report, result->configurations.at[i].name), name)));
        }
    }
    table->why_empty = cell && json_len(json_get(cell->deployment, "options")) > 0
                           ? S("all options are at their default")
                           : S("no cell recorded the server's options");
}

static void add_facts(Table *table, const Json *group, Str prefix)
{
    JSON_EACH(member, group)
    {
        Str name = prefix.len > 0
                       ? str_fmt(STR_FMT ", " STR_FMT, STR_ARG(prefix), STR_ARG(json_key(member)))
                       : json_key(member);
        if (json_is_object(member)) {
            add_facts(table, member, name);
            continue;
        }
        Str text = json_is_array(member) ? json_text(member) : json_scalar_text(member);
        if (str_ends(name, S("Bytes")) && json_is_number(member)) {
            text = show_quantity(json_number(member, "", 0), UNIT_BYTES);
        }
        if (text.len > 0) {
            table_text(table, name);
            table_text(table, text);
        }
    }
}

static void add_store(Report *report, Section *section)
{
    Table *table = section_table(section, "store", S("Database"));
    const Configuration *baseline = baseline_of(report->result);
    const Cell *cell = baseline ? cell_of(report, baseline->name) : NULL;

    table_column(table, "What", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Value", ROLE_TEXT, UNIT_COUNT);
    add_facts(table, cell ? json_get(cell->deployment, "store") : NULL, (Str){"", 0});
    table->why_empty = S("no cell recorded the server's database");
}

static void add_environment(Report *report, Section *section)
{
    Table *table = section_table(section, "environment", S("Host, lab, data"));

    table_column(table, "What", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Value", ROLE_TEXT, UNIT_COUNT);
    add_facts(table, report->result->environment, (Str){"", 0});
    table->why_empty = S("the result describes no environment");
}

static void lint(Section *section, Str label, const char *rule, Str what)
{
    section_finding(section, TONE_WARN, rule,
                    str_fmt(STR_FMT ": " STR_FMT ".", STR_ARG(label), STR_ARG(what)));
}

static double option_number(const Cell *cell, const char *name)
{
    double number = NAN;
    return str_double(option_value(option_of(cell, str_of(name))), &number) ? number : NAN;
}

static Str flags_of(const Cell *cell)
{
    StrList flags = {0};

    JSON_EACH(flag, json_get(cell->deployment, "process.flags"))
    {
        str_list_add(&flags, json_scalar_text(flag));
    }
    return str_join(flags.at, flags.len, S(" "));
}

static void lint_configuration(Section *section, const Configuration *is, const Cell *cell)
{
    Str flags = flags_of(cell);
    Str version = json_str(cell->deployment, "process.version");
    Str level = str_lower(option_value(option_of(cell, S("log.level"))));
    double limit = bytes_or_none(cell->deployment, "process.memoryLimitBytes");
    double cache = option_number(cell, "memory.cache_mib") * MIB;

    if (str_find(flags, S("debug"), 0) >= 0) {
        lint(section, is->label, "6-debug", S("a debug build: its speed says nothing"));
    }
    if (str_find(flags, S("sanitize"), 0) >= 0 || str_find(flags, S("asan"), 0) >= 0 ||
        str_find(flags, S("tsan"), 0) >= 0) {
        lint(section, is->label, "6-sanitizer", S("a build with sanitizers"));
    }
    if (str_find(version, S("SNAPSHOT"), 0) >= 0 || str_ends(version, S("-dirty"))) {
        lint(section, is->label, "6-snapshot", S("not a clean build of a revision"));
    }
    if (str_eq(level, S("debug")) || str_eq(level, S("trace"))) {
        lint(section, is->label, "6-log", str_fmt("log level " STR_FMT, STR_ARG(level)));
    }
    if (cache > limit) {
        lint(section, is->label, "6-memory",
             str_fmt("caches of " STR_FMT " within a limit of " STR_FMT,
                     STR_ARG(show_quantity(cache, UNIT_BYTES)),
                     STR_ARG(show_quantity(limit, UNIT_BYTES))));
    }
}

static void lint_equal(Report *report, Section *section)
{
    const Result *result = report->result;

    for (size_t i = 0; i < result->configurations.len; i++) {
        for (size_t j = i + 1; j < result->configurations.len; j++) {
            const Cell *a = cell_of(report, result->configurations.at[i].name),
                       *b = cell_of(report, result->configurations.at[j].name);
            const Json *x = a ? json_get(a->deployment, "options") : NULL,
                       *y = b ? json_get(b->deployment, "options") : NULL;
            if (json_len(x) > 0 && json_equal(x, y) &&
                str_eq(result->configurations.at[i].memory_limit,
                       result->configurations.at[j].memory_limit) &&
                str_eq(result->configurations.at[i].recipe, result->configurations.at[j].recipe) &&
                str_eq(result->configurations.at[i].cpus, result->configurations.at[j].cpus)) {
                lint(section, result->configurations.at[j].label, "6-equal",
                     str_fmt("runs with the same options as \"" STR_FMT "\"",
                             STR_ARG(result->configurations.at[i].label)));
            }
        }
    }
}

void report_infrastructure(Report *report)
{
    Section *section = doc_section(report->doc, "infrastructure", "Infrastructure");
    Block *before = NULL;

    add_processes(report, section);
    add_modules(report, section);
    add_options(report, section);
    add_store(report, section);
    add_environment(report, section);
    section_heading(section, "What looks suspicious");
    before = section->last;
    for (size_t i = 0; i < report->result->configurations.len; i++) {
        const Configuration *is = &report->result->configurations.at[i];
        const Cell *cell = cell_of(report, is->name);
        if (cell && cell->deployment) {
            lint_configuration(section, is, cell);
        }
    }
    // Two results of one configuration are compared on purpose.
    if (!str_starts(report->result->id, S("compare-"))) {
        lint_equal(report, section);
    }
    if (section->last == before) {
        section_text(section, S("Nothing: no debug or sanitizer build, no verbose log, no cache "
                                "above its limit, no two configurations with equal options."));
    }
}
