// What was asked, what was run: overview, summary, recommendations, test runs.
#include "report.h"

#include <math.h>

enum {
    PARTS = 10, // of a window, to see whether it was steady
    PARTS_MIN_S = 10,
    LISTS_MAX = 256,
};
#define STEADY_P      0.01
#define STEADY_CHANGE 0.05

static void fact(Table *table, const char *name, Str value)
{
    if (value.len > 0) {
        table_text(table, str_of(name));
        table_text(table, value);
    }
}

static Str number_of(const Json *doc, const char *path)
{
    return json_has(doc, path) ? show_given(json_number(doc, path, 0)) : (Str){"", 0};
}

static Str think_of(const Result *result)
{
    for (size_t i = 0; i < result->cells.len; i++) {
        for (size_t j = 0; j < result->cells.at[i].parts.len; j++) {
            const Part *part = &result->cells.at[i].parts.at[j];
            if (part->think_model.len > 0) {
                return str_fmt(STR_FMT " think times, factor " STR_FMT, STR_ARG(part->think_model),
                               STR_ARG(show_given(part->think_scale)));
            }
        }
    }
    return (Str){"", 0};
}

static size_t count_cells(const Result *result, CellState state)
{
    size_t n = 0;

    for (size_t i = 0; i < result->cells.len; i++) {
        n += result->cells.at[i].state == state;
    }
    return n;
}

static void add_facts(const Report *report, Section *section)
{
    const Result *result = report->result;
    const Json *host = json_get(result->environment, "host"),
               *lab = json_get(result->environment, "lab");
    Table *table = section_table(section, "overview", S("This experiment"));

    table_column(table, "What", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Value", ROLE_TEXT, UNIT_COUNT);
    fact(table, "Experiment", json_str(result->experiment, "experiment.id"));
    fact(table, "Profile", result->profile.len > 0 ? result->profile : S("full length"));
    fact(table, "Label", result->label);
    fact(table, "From, to",
         str_fmt(STR_FMT ", " STR_FMT, STR_ARG(show_time(result->started_at)),
                 STR_ARG(show_time(result->ended_at))));
    fact(table, "Runs x configurations x blocks",
         str_fmt("%zu x %zu x " STR_FMT " = %zu cells: %zu valid, %zu invalid, %zu not done",
                 report->scopes.len, result->configurations.len,
                 STR_ARG(number_of(result->experiment, "design.blocks")), result->cells.len,
                 count_cells(result, CELL_DONE), count_cells(result, CELL_INVALID),
                 count_cells(result, CELL_PLANNED)));
    fact(table, "Order, restart",
         str_fmt(STR_FMT ", " STR_FMT, STR_ARG(json_str(result->experiment, "design.order")),
                 STR_ARG(json_str(result->experiment, "design.restart"))));
    fact(table, "Data", json_str(result->experiment, "data.recipe"));
    fact(table, "Pauses", think_of(result));
    fact(table, "Octavo",
         str_fmt(STR_FMT " " STR_FMT " " STR_FMT, STR_ARG(json_str(lab, "version")),
                 STR_ARG(json_str(lab, "build")), STR_ARG(json_str(lab, "flags"))));
    fact(table, "Machine",
         str_fmt(STR_FMT ", " STR_FMT " cores, " STR_FMT, STR_ARG(json_str(host, "cpuModel")),
                 STR_ARG(number_of(host, "cores")),
                 STR_ARG(show_quantity(json_number(host, "memoryBytes", 0), UNIT_BYTES))));
    fact(table, "Stopped by hand",
         result->was_stopped ? S("yes: the plan was not finished") : (Str){"", 0});
}

static void add_configurations(const Report *report, Section *section)
{
    const Result *result = report->result;
    Table *table = section_table(section, "configurations", S("Configurations"));

    table_column(table, "Name", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Label", ROLE_TEXT, UNIT_COUNT);
    table_column(table, "Role", ROLE_TEXT, UNIT_COUNT);
    table_column(table, "Options", ROLE_TEXT, UNIT_COUNT);
    table_column(table, "Limits", ROLE_TEXT, UNIT_COUNT)->may_be_empty = true;
    for (size_t i = 0; i < result->configurations.len; i++) {
        const Configuration *is = &result->configurations.at[i];
        StrList options = {0}, limits = {0};
        JSON_EACH(option, is->options)
        {
            str_list_add(&options, str_fmt(STR_FMT " = " STR_FMT, STR_ARG(json_key(option)),
                                           STR_ARG(json_scalar_text(option))));
        }
        if (is->memory_limit.len > 0) {
            str_list_add(&limits, str_fmt("memory " STR_FMT, STR_ARG(is->memory_limit)));
        }
        if (is->cpus.len > 0) {
            str_list_add(&limits, str_fmt("processors " STR_FMT, STR_ARG(is->cpus)));
        }
        table_text(table, is->name);
        table_text(table, is->label);
        table_text(table, is->is_baseline ? S("baseline") : S("compared with it"));
        table_text(table,
                   options.len > 0 ? str_join(options.at, options.len, S("; ")) : S("defaults"));
        table_text(table, str_join(limits.at, limits.len, S("; ")));
    }
    if (result->configurations.len == 0) {
        table->why_empty = S("the result names no configuration");
    }
}

void report_overview(Report *report)
{
    Section *section = doc_section(report->doc, "overview", "Overview");
    Str question = json_str(report->result->experiment, "experiment.question");
    Str comment = json_str(report->result->experiment, "report.comment");

    if (question.len > 0) {
        section_text(section, str_fmt("Question: " STR_FMT, STR_ARG(question)));
    }
    JSON_EACH(warning, json_get(report->result->environment, "warnings"))
    {
        section_finding(section, TONE_WARN, "7-compare",
                        str_fmt(STR_FMT ".", STR_ARG(json_scalar_text(warning))));
    }
    Str busy = json_str(report->result->environment, "host.busy");
    if (busy.len > 0) {
        section_finding(section, TONE_WARN, "3.1-busy", str_fmt(STR_FMT ".", STR_ARG(busy)));
    }
    add_facts(report, section);
    add_configurations(report, section);
    if (comment.len > 0) {
        section_text(section, str_fmt("Comment: " STR_FMT, STR_ARG(comment)));
    }
}

static Str unit_of_repetition(const Compared *compared)
{
    if (compared->is.pairs == 1) {
        return S("one block: the interval is within one run");
    }
    return str_fmt("%zu %s%s", compared->is.pairs, compared->by_job ? "repetition" : "block",
                   compared->is.pairs == 1 ? "" : "s");
}

// "With monitoring: check-out.p95 +1.7 % [-0.9, +4.2] %, equivalent within 5 %".
static Str verdict_sentence(const Report *report, const Compared *compared)
{
    const Comparison *is = &compared->is;
    Str scope = scope_title(report, &compared->scope);
    Str label = scope_label(report, compared->scope.configuration);

    if (isnan(is->ratio)) {
        return str_fmt(STR_FMT "%s" STR_FMT ": " STR_FMT " cannot be compared: no pair of values.",
                       STR_ARG(label), scope.len ? ", " : "", STR_ARG(scope),
                       STR_ARG(compared->metric.name));
    }
    Str needed =
        is->verdict != VERDICT_INCONCLUSIVE || is->units_needed == 0 ? (Str){"", 0}
        : is->units_needed > BLOCKS_USEFUL
            ? str_fmt("; more than %d blocks like these would be needed: the values differ "
                      "too much from block to block, or the difference is the margin",
                      BLOCKS_USEFUL)
            : str_fmt("; about %zu would be needed", is->units_needed);
    return str_fmt(STR_FMT "%s" STR_FMT ": " STR_FMT " " STR_FMT " " STR_FMT ", %s (margin " STR_FMT
                           " %%, " STR_FMT STR_FMT ").",
                   STR_ARG(label), scope.len ? ", " : "", STR_ARG(scope),
                   STR_ARG(compared->metric.name), STR_ARG(show_percent(100 * (is->ratio - 1))),
                   STR_ARG(show_ratios(is->within95)), verdict_name(is->verdict),
                   STR_ARG(show_given(100 * compared->margin)),
                   STR_ARG(unit_of_repetition(compared)), STR_ARG(needed));
}

static Tone tone_of(Verdict verdict)
{
    return verdict == VERDICT_WORSE          ? TONE_BAD
           : verdict == VERDICT_INCONCLUSIVE ? TONE_WARN
                                             : TONE_GOOD;
}

// " (check-out.p95, memory.mean)": which metrics of a configuration got the verdict.
static Str names_of(const Report *report, const Configuration *is, Verdict verdict)
{
    StrList names = {0};

    for (size_t i = 0; i < report->compared_len; i++) {
        const Compared *one = &report->compared[i];
        if (str_eq(one->scope.configuration, is->name) && one->is.verdict == verdict &&
            !str_list_has(&names, one->metric.name)) {
            str_list_add(&names, one->metric.name);
        }
    }
    return str_fmt(" (" STR_FMT ")", STR_ARG(str_join(names.at, names.len, S(", "))));
}

// How many metrics of a configuration got which verdict.
static void add_answer(const Report *report, Section *section, const Configuration *is)
{
    size_t of[VERDICTS] = {0}, all = 0;

    for (size_t i = 0; i < report->compared_len; i++) {
        if (str_eq(report->compared[i].scope.configuration, is->name)) {
            of[report->compared[i].is.verdict]++;
            all++;
        }
    }
    if (all == 0) {
        return;
    }
    StrList parts = {0};
    for (int i = 0; i < VERDICTS; i++) {
        if (of[i] > 0) {
            Str which = i == VERDICT_WORSE || i == VERDICT_BETTER ? names_of(report, is, (Verdict)i)
                                                                  : (Str){"", 0};
            str_list_add(
                &parts, str_fmt("%zu %s" STR_FMT, of[i], verdict_name((Verdict)i), STR_ARG(which)));
        }
    }
    section_finding(section,
                    of[VERDICT_WORSE]          ? TONE_BAD
                    : of[VERDICT_INCONCLUSIVE] ? TONE_WARN
                                               : TONE_GOOD,
                    "4.4-answer",
                    str_fmt("\"" STR_FMT "\" against the baseline, %zu metrics: " STR_FMT ".",
                            STR_ARG(is->label), all,
                            STR_ARG(str_join(parts.at, parts.len, S(", ")))));
}

static void add_verdicts(Report *report, Section *section)
{
    static const char *const rules[] = {"4.4-equivalent", "4.4-small", "4.4-worse", "4.4-better",
                                        "4.4-inconclusive"};

    for (size_t i = 0; i < report->result->configurations.len; i++) {
        add_answer(report, section, &report->result->configurations.at[i]);
    }
    if (report->compared_len > 0) {
        chart_ratios(report, section);
        section_heading(section, "Verdicts");
    }
    for (size_t i = 0; i < report->compared_len; i++) {
        const Compared *compared = &report->compared[i];
        section_finding(section, tone_of(compared->is.verdict), rules[compared->is.verdict],
                        verdict_sentence(report, compared));
    }
}

Str kpi_amount(const Kpi *kpi, double amount)
{
    if (kpi->is_delta) {
        return show_percent(amount);
    }
    if (kpi->metric.kind == METRIC_ERROR_RATE) {
        return str_fmt(STR_FMT " %%", STR_ARG(show_number(100 * amount)));
    }
    return show_quantity(amount, kpi->metric.unit);
}

static Str kpi_measured(const Kpi *kpi)
{
    if (isnan(kpi->value)) {
        return (Str){"", 0};
    }
    return isnan(kpi->bound) ? kpi_amount(kpi, kpi->value)
                             : str_fmt(STR_FMT ", with 95 %% at most " STR_FMT,
                                       STR_ARG(kpi_amount(kpi, kpi->value)),
                                       STR_ARG(kpi_amount(kpi, kpi->bound)));
}

static Str kpi_outcome(const Kpi *kpi)
{
    bool is_proven = isnan(kpi->bound) || kpi->bound <= kpi->limit;

    return kpi->state == KPI_NO_DATA  ? S("no data")
           : kpi->state == KPI_MISSED ? S("missed")
           : is_proven                ? S("met")
                                      : S("met, not proven");
}

static void add_kpis(Report *report, Section *section)
{
    Table *table = section_table(section, "kpis", S("Thresholds"));

    table_column(table, "Metric", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Configuration", ROLE_KEY, UNIT_COUNT);
    if (report->scopes.len > 1) {
        table_column(table, "Run", ROLE_KEY, UNIT_COUNT);
    }
    table_column(table, "Measured", ROLE_TEXT, UNIT_COUNT)->may_be_empty = true;
    table_column(table, "Limit", ROLE_TEXT, UNIT_COUNT);
    table_column(table, "Outcome", ROLE_VERDICT, UNIT_COUNT);
    table_column(table, "If missed", ROLE_TEXT, UNIT_COUNT);
    table_column(table, "Origin of the limit", ROLE_TEXT, UNIT_COUNT)->may_be_empty = true;
    for (size_t i = 0; i < report->kpi_len; i++) {
        const Kpi *kpi = &report->kpis[i];
        table_text(table, kpi->metric.name);
        table_text(table, scope_label(report, kpi->scope.configuration));
        if (report->scopes.len > 1) {
            table_text(table, scope_title(report, &kpi->scope));
        }
        table_text(table, kpi_measured(kpi));
        table_text(table, str_fmt("%s " STR_FMT, kpi->is_least ? "at least" : "at most",
                                  STR_ARG(kpi_amount(kpi, kpi->limit))));
        table_text(table, kpi_outcome(kpi));
        table_text(table, kpi->is_warning ? S("warning") : S("the run fails"));
        table_text(table, kpi->note);
    }
    table->why_empty = S("the experiment sets no threshold");
}

void report_summary(Report *report)
{
    Section *section = doc_section(report->doc, "summary", "Summary");
    size_t valid = count_cells(report->result, CELL_DONE);

    if (valid == 0) {
        section_finding(section, TONE_BAD, "3.4-valid",
                        S("No cell of this experiment is valid: there is nothing to conclude."));
    }
    add_verdicts(report, section);
    if (report->compared_len == 0) {
        section_text(section, why_not_compared(report));
    }
    report_capacity_findings(report, section);
    add_kpis(report, section);
}

static void recommend_kpis(Report *report, Section *section)
{
    for (size_t i = 0; i < report->kpi_len; i++) {
        const Kpi *kpi = &report->kpis[i];
        if (kpi->state == KPI_MISSED && !report_is_later_step(report, &kpi->scope)) {
            section_finding(section, kpi->is_warning ? TONE_WARN : TONE_BAD, "7-threshold",
                            str_fmt(STR_FMT ": " STR_FMT " is " STR_FMT ", the limit is " STR_FMT
                                            ".",
                                    STR_ARG(scope_label(report, kpi->scope.configuration)),
                                    STR_ARG(kpi->metric.name), STR_ARG(kpi_amount(kpi, kpi->value)),
                                    STR_ARG(kpi_amount(kpi, kpi->limit))));
        }
    }
}

// One sentence for each configuration: what it costs, and whether more blocks would help.
static void recommend_configuration(Report *report, Section *section, const Configuration *is)
{
    size_t worse = 0, open = 0, all = 0, needed = 0;

    for (size_t i = 0; i < report->compared_len; i++) {
        const Compared *compared = &report->compared[i];
        if (!str_eq(compared->scope.configuration, is->name)) {
            continue;
        }
        all++;
        worse += compared->is.verdict == VERDICT_WORSE;
        open += compared->is.verdict == VERDICT_INCONCLUSIVE;
        needed = compared->is.units_needed > needed ? compared->is.units_needed : needed;
    }
    if (all == 0) {
        return;
    }
    if (worse > 0) {
        section_finding(section, TONE_BAD, "4.4-worse",
                        str_fmt("\"" STR_FMT "\" is worse than the baseline in %zu of %zu metrics.",
                                STR_ARG(is->label), worse, all));
    } else if (open == 0) {
        section_finding(section, TONE_GOOD, "4.4-all",
                        str_fmt("\"" STR_FMT "\" can be used in place of the baseline: all %zu "
                                "metrics are equivalent or better.",
                                STR_ARG(is->label), all));
    }
    if (open > 0) {
        section_finding(
            section, TONE_WARN, "4.4-inconclusive",
            str_fmt("\"" STR_FMT "\": %zu of %zu metrics have no verdict yet, which is "
                    "no proof of sameness. Repeat with %s.",
                    STR_ARG(is->label), open, all,
                    needed > BLOCKS_USEFUL
                        ? "longer windows"
                        : str_z(str_fmt("about %zu blocks or longer windows", needed))));
    }
}

void report_recommendations(Report *report)
{
    Section *section = doc_section(report->doc, "recommendations", "Recommendations");

    for (size_t i = 0; i < report->result->configurations.len; i++) {
        recommend_configuration(report, section, &report->result->configurations.at[i]);
    }
    recommend_kpis(report, section);
    if (!section->first) {
        section_text(section, S("No rule asks for anything."));
    }
}

// Mann-Kendall over ten parts of the window: p, and the change from the first to the last.
static Str steadiness(const Cell *cell)
{
    double medians[PARTS], counts[PARTS], x[PARTS];
    Hist *part = hist_new(RESULT_DIGITS, RESULT_LONGEST_US);

    if (cell->window_s < PARTS_MIN_S) {
        hist_free(part);
        return S("too short to tell");
    }
    for (int i = 0; i < PARTS; i++) {
        hist_reset(part);
        double from = cell->window_s * i / PARTS, to = cell->window_s * (i + 1) / PARTS;
        for (size_t j = 0; j < cell->measures.len; j++) {
            const Measure *measure = &cell->measures.at[j];
            for (size_t k = 0; k < measure->slices.len && measure->kind == MEASURE_TRANSACTION;
                 k++) {
                double s = (double)measure->slices.at[k].second;
                if (s >= from && s < to && measure->slices.at[k].ok.len > 0 &&
                    !hist_merge_packed(part, measure->slices.at[k].ok)) {
                    break;
                }
            }
        }
        medians[i] = (double)hist_percentile(part, 50);
        counts[i] = (double)hist_count(part);
        x[i] = i;
    }
    hist_free(part);
    Trend time = stats_trend(x, medians, NULL, PARTS), rate = stats_trend(x, counts, NULL, PARTS);
    double time_change = time.slope * (PARTS - 1) / time.middle;
    double rate_change = rate.slope * (PARTS - 1) / rate.middle;
    if (time.p < STEADY_P && fabs(time_change) > STEADY_CHANGE) {
        return str_fmt("not steady: median " STR_FMT, STR_ARG(show_percent(100 * time_change)));
    }
    if (rate.p < STEADY_P && fabs(rate_change) > STEADY_CHANGE) {
        return str_fmt("not steady: throughput " STR_FMT, STR_ARG(show_percent(100 * rate_change)));
    }
    return S("steady");
}

static Str checks_of(const Cell *cell)
{
    for (size_t i = 0; i < cell->data_checks.len; i++) {
        const DataCheck *check = &cell->data_checks.at[i];
        if (!check->is_right) {
            return str_fmt("wrong: " STR_FMT " (" STR_FMT ", not " STR_FMT ")",
                           STR_ARG(check->name), STR_ARG(show_count(check->found)),
                           STR_ARG(show_count(check->expected)));
        }
    }
    return cell->data_checks.len > 0 ? S("right") : S("not checked");
}

static void add_test_run(Table *table, const Cell *cell)
{
    static const char *const states[] = {"planned, not done", "done", "invalid"};
    Outcomes outcomes = cell_outcomes(cell, MEASURE_TRANSACTION, (Str){"", 0});
    bool has_run = cell->state != CELL_PLANNED;

    table_text(table, cell->id);
    table_number(table, (double)cell->block);
    table_number(table, (double)cell->place);
    table_text(table, cell->attempt > 1
                          ? str_fmt("%s, attempt %d", states[cell->state], (int)cell->attempt)
                          : str_of(states[cell->state]));
    table_number(table, cell->planned_s);
    table_number(table, has_run ? cell->window_s : NAN);
    table_number(table, has_run ? (double)outcomes.ok : NAN);
    table_number(table, has_run ? (double)outcomes.failed : NAN);
    table_text(table, has_run ? steadiness(cell) : (Str){"", 0});
    table_text(table, has_run ? checks_of(cell) : (Str){"", 0});
    table_number(table, has_run ? 100 * cell->driver_busiest : NAN);
    table_text(table, str_join(cell->reasons.at, cell->reasons.len, S("; ")));
}

// What the cells made of one list of a plan.
typedef struct {
    const DataList *list;
    int64_t taken;         // most by one cell
    double passes;         // most
    size_t cells, used_up; // how many there are, how many came to its end
    double least_s;        // when the first of them did
} ListUse;

static ListUse *use_of(ListUse *uses, size_t *len, size_t most, const DataList *list)
{
    for (size_t i = 0; i < *len; i++) {
        const DataList *one = uses[i].list;
        if (str_eq(one->file, list->file) && str_eq(one->workload, list->workload) &&
            str_eq(one->group, list->group) && one->lines == list->lines) {
            return &uses[i];
        }
    }
    if (*len == most) {
        return NULL;
    }
    uses[*len] = (ListUse){.list = list, .least_s = INFINITY};
    return &uses[(*len)++];
}

static void use_add(ListUse *use, const DataList *list)
{
    double passes = (double)(list->first + list->taken) / (double)list->lines;

    use->cells++;
    use->taken = list->taken > use->taken ? list->taken : use->taken;
    use->passes = fmax(use->passes, passes);
    if (list->is_used_up) {
        use->used_up++;
        use->least_s = fmin(use->least_s, list->used_up_s);
    }
}

static void add_use(Table *table, const ListUse *use)
{
    table_text(table, use->list->file);
    table_text(table, use->list->workload);
    table_number(table, (double)use->list->lines);
    table_number(table, (double)use->taken);
    table_text(table, show_given(round(100 * use->passes) / 100));
    table_text(table, use->list->serves_once ? S("once") : S("again and again"));
    table_text(table, use->used_up == 0
                          ? S("never")
                          : str_fmt("in %zu of %zu cells, first in second " STR_FMT, use->used_up,
                                    use->cells, STR_ARG(show_number(use->least_s))));
}

// A list of one line is a constant.
static void add_lists(Report *report, Section *section)
{
    ListUse *uses = NEW_ARRAY(ListUse, LISTS_MAX);
    size_t len = 0;
    Table *table = section_table(section, "lists", S("Data files of the plans"));

    table_column(table, "File", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Workload", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Lines", ROLE_COUNT, UNIT_COUNT);
    table_column(table, "Taken in a cell, most", ROLE_VALUE, UNIT_COUNT);
    table_column(table, "Passes, most", ROLE_TEXT, UNIT_COUNT);
    table_column(table, "A line serves", ROLE_TEXT, UNIT_COUNT);
    table_column(table, "Used up", ROLE_VERDICT, UNIT_COUNT);
    for (size_t i = 0; i < report->result->cells.len; i++) {
        const Cell *cell = &report->result->cells.at[i];
        for (size_t j = 0; j < cell->lists.len; j++) {
            const DataList *list = &cell->lists.at[j];
            ListUse *use = list->lines > 1 ? use_of(uses, &len, LISTS_MAX, list) : NULL;
            if (use) {
                use_add(use, list);
            }
        }
    }
    for (size_t i = 0; i < len; i++) {
        add_use(table, &uses[i]);
    }
    table->why_empty = S("the plans read none, or the result does not tell");
    table->note =
        S("Users take lines one after another. A cell in which a list that serves once is "
          "used up is invalid. Seconds count from the begin of the window.");
}

void report_test_runs(Report *report)
{
    Section *section = doc_section(report->doc, "test-runs", "Test runs");
    Table *table = section_table(section, "test-runs", S("Cells, in the order of the plan"));

    table_column(table, "Cell", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Block", ROLE_TEXT, UNIT_COUNT);
    table_column(table, "Place", ROLE_TEXT, UNIT_COUNT);
    table_column(table, "State", ROLE_VERDICT, UNIT_COUNT);
    table_column(table, "Planned window", ROLE_VALUE, UNIT_S);
    table_column(table, "Window", ROLE_WINDOW, UNIT_S)->may_be_empty = true;
    table_column(table, "Good transactions", ROLE_VALUE, UNIT_COUNT)->may_be_empty = true;
    table_column(table, "Failed", ROLE_VALUE, UNIT_COUNT)->may_be_empty = true;
    table_column(table, "Steady", ROLE_VERDICT, UNIT_COUNT)->may_be_empty = true;
    table_column(table, "Data afterwards", ROLE_VERDICT, UNIT_COUNT)->may_be_empty = true;
    table_column(table, "Driver", ROLE_VALUE, UNIT_PERCENT)->may_be_empty = true;
    table_column(table, "Reason", ROLE_TEXT, UNIT_COUNT)->may_be_empty = true;
    for (size_t i = 0; i < report->result->cells.len; i++) {
        add_test_run(table, &report->result->cells.at[i]);
    }
    table->why_empty = S("the result holds no cell");
    table->note =
        S("Invalid cells are shown here and counted nowhere else. Driver: share of a core "
          "that its busiest loop used. Good transactions are those of the window.");
    add_lists(report, section);
}
