// The lab's report: its checks find what is wrong in published tables, its text and tables agree,
// and the same result gives the same bytes.
#include "test.h"

#include "base/asset.h"
#include "bench/report/report.h"
#include "bench/report/pair.h"
#include "bench/report/trend.h"

#include "lab_world.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool has_text(Str text, const char *part)
{
    return str_find(text, str_of(part), 0) >= 0;
}

static bool has_defect(const StrList *defects, const char *part)
{
    for (size_t i = 0; i < defects->len; i++) {
        if (has_text(defects->at[i], part)) {
            return true;
        }
    }
    return false;
}

static World usual(void)
{
    return (World){.seed = 1,
                   .configurations = 3,
                   .blocks = 4,
                   .window_s = 12,
                   .per_s = 40,
                   .has_requests = true,
                   .hungrier = {1, 1.02, 1.02},
                   .block_spread = 0.02,
                   .cell_spread = 0.008};
}

static double folio(const char *report, const char *run, const char *subject, const char *metric)
{
    return reference_value(str_of(report), str_of(run), str_of(subject), metric);
}

// The results table of PERF-920 as it was published: run 1, a window of 4,000 s, 0.04 % errors.
static Table *published_920(void)
{
    static const char *const names[] = {"check-out", "check-in"};
    Table *table = NEW(Table);

    table->title = S("PERF-920");
    table_column(table, "Transaction", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Requests", ROLE_COUNT, UNIT_COUNT);
    table_column(table, "Errors", ROLE_FAILED, UNIT_COUNT);
    table_column(table, "Error rate", ROLE_FAILED_SHARE, UNIT_PERCENT);
    table_column(table, "Throughput", ROLE_THROUGHPUT, UNIT_PER_S);
    table_column(table, "Window", ROLE_WINDOW, UNIT_S);
    table_column(table, "Min", ROLE_MIN, UNIT_MS);
    table_column(table, "Median", ROLE_P50, UNIT_MS);
    table_column(table, "p95", ROLE_P95, UNIT_MS);
    table_column(table, "Max", ROLE_MAX, UNIT_MS);
    for (int i = 0; i < 2; i++) {
        table_text(table, str_of(names[i]));
        table_number(table, folio("perf-920", "1", names[i], "transactions"));
        table_number(table, folio("perf-920", "1", names[i], "errors"));
        table_number(table, 0.04);
        table_number(table, folio("perf-920", "1", names[i], "throughput"));
        table_number(table, 4000);
        table_number(table, folio("perf-920", "1", names[i], "min"));
        table_number(table, folio("perf-920", "1", names[i], "p50"));
        table_number(table, folio("perf-920", "1", names[i], "p95"));
        table_number(table, folio("perf-920", "1", names[i], "max"));
    }
    return table;
}

static void the_error_rate_and_the_window_of_perf_920_are_refuted(void **state)
{
    (void)state;
    StrList defects = {0};

    report_check_table(published_920(), &defects);
    // #3: 36 of 3,159 are 1.14 %; #4: 3,159 / 1.585 = 1,993 s.
    assert_true(
        has_defect(&defects, "check-out: 36.0 of 3,159 failed, that is 1.14 %, not 0.0400"));
    assert_true(has_defect(&defects, "mean a window of 1,993 s, the table says 4,000 s"));
    assert_int_equal(defects.len, 4);
}

static void a_memory_table_copied_from_the_processor_table_is_found(void **state)
{
    (void)state;
    // PERF-920 #12: percent of the reservation; memory as published for the same modules.
    static const struct {
        const char *module;
        double cpu, memory;
    } rows[] = {{"mod-users-b", 46.04, 46.04},
                {"nginx-okapi", 33.77, 33.77},
                {"mod-configuration-b", 29.59, 29.59},
                {"mod-feesfines-b", 27.13, 27.13},
                {"okapi-b", 25.76, 25.76},
                {"mod-authtoken-b", 22.81, 22.81},
                {"mod-permissions-b", 18.43, 18.23},
                {"mod-consortia-b", 20.87, 20.87},
                {"mod-dcb-b", 17.56, 17.56},
                {"mod-audit-b", 15.98, 15.98},
                {"mod-inventory-b", 14.23, 14.23}};
    StrList defects = {0};
    Table *table = NEW(Table);

    table->title = S("Modules");
    table_column(table, "Module", ROLE_KEY, UNIT_COUNT);
    table_column(table, "CPU", ROLE_VALUE, UNIT_PERCENT);
    table_column(table, "Memory", ROLE_VALUE, UNIT_PERCENT);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        table_text(table, str_of(rows[i].module));
        table_number(table, rows[i].cpu);
        table_number(table, rows[i].memory);
    }
    report_check_table(table, &defects);
    assert_int_equal(defects.len, 1);
    assert_true(has_defect(&defects, "\"CPU\" and \"Memory\" hold the same figures (10 of 11)"));
}

static void an_average_above_p95_and_an_empty_delta_in_perf_932_are_found(void **state)
{
    (void)state;
    StrList defects = {0};
    Table *table = NEW(Table);

    table->title = S("edge-rtac");
    table_column(table, "Users", ROLE_KEY, UNIT_COUNT);
    table_column(table, "Average", ROLE_MEAN, UNIT_MS);
    table_column(table, "p95", ROLE_P95, UNIT_MS);
    table_column(table, "Delta", ROLE_DELTA, UNIT_MS);
    static const double rows[][2] = {{800, 972}, {807, 1349}, {63966, 10123}};
    for (size_t i = 0; i < 3; i++) {
        table_text(table, str_fmt("%zu", i + 1));
        table_number(table, rows[i][0]);
        table_number(table, rows[i][1]);
        table_blank(table);
    }
    report_check_table(table, &defects);
    assert_int_equal(defects.len, 2);
    assert_true(
        has_defect(&defects, "3: the mean (63,966) lies above the 95th percentile (10,123)"));
    assert_true(has_defect(&defects, "the column \"Delta\" is empty"));
}

// FOLIO's imports as a result of ours: three configurations, twelve imports, a container replaced.
static Result *folio_893(void)
{
    World world = {.seed = 1, .configurations = 3, .blocks = 1, .window_s = 2, .per_s = 5};
    Result *result = world_result(&world);

    json_set_str(result->experiment, "experiment.id", S("perf-893"));
    json_remove(result->experiment, "compare");
    json_remove(result->experiment, "kpi");
    for (size_t i = 0; i < result->cells.len; i++) {
        Cell *cell = &result->cells.at[i];
        double at = 0;
        cell->jobs.at = NEW_ARRAY(JobRun, 12);
        cell->jobs.len = 0;
        for (int j = 1; j <= 12; j++) {
            double took = folio("perf-893", str_z(str_fmt("%zu", i + 1)), "import",
                                str_z(str_fmt("duration %d", j)));
            if (isnan(took)) {
                break;
            }
            cell->jobs.at[cell->jobs.len++] =
                (JobRun){.workload = S("import"),
                         .number = j,
                         .from_s = at,
                         .to_s = at + took,
                         .state = took > 5000 ? S("stuck") : S("done"),
                         .is_warmup = j == 1,
                         .records = 100000};
            at += took + 300;
        }
    }
    // The third configuration was restarted after the seventh import.
    const Cell *third = &result->cells.at[2];
    result->annotations.at = NEW(Annotation);
    result->annotations.at[0] =
        (Annotation){.at = third->window_at + (Time)(third->jobs.at[6].to_s * 1000) + 1000,
                     .cell = third->id,
                     .kind = S("restart"),
                     .text = S("mod-inventory replaced")};
    result->annotations.len = 1;
    return result;
}

static const Block *block_named(const Report *report, const char *id)
{
    for (const Section *section = report->doc->first; section; section = section->next) {
        for (const Block *block = section->first; block; block = block->next) {
            if (block->kind == BLOCK_TABLE && str_eq_z(block->table->id, id)) {
                return block;
            }
        }
    }
    fail_msg("there is no table %s", id);
    return NULL;
}

static bool has_finding(const Report *report, const char *rule, const char *part)
{
    for (const Section *section = report->doc->first; section; section = section->next) {
        for (const Block *block = section->first; block; block = block->next) {
            if (block->kind == BLOCK_FINDING && str_eq_z(block->rule, rule) &&
                has_text(block->text, part)) {
                return true;
            }
        }
    }
    return false;
}

static void the_deltas_of_perf_893_are_signed_and_its_drift_is_found(void **state)
{
    (void)state;
    Report *report = report_make(folio_893());
    const Table *table = block_named(report, "jobs-import")->table;

    // #1, #2: repetition 2 was faster by 13 s, 5 slower by 3:34, 1 by 12:19.
    assert_str(table_show(table, 1, 4), "\xE2\x88\x92"
                                        "0:00:13");
    assert_str(table_show(table, 4, 4), "+0:03:34");
    assert_str(table_show(table, 0, 4), "+0:12:19");
    assert_str(table_show(table, 3, 4), "\xE2\x88\x92"
                                        "0:01:11");
    // #5: the default percentage drifts, and so does 66 % before the restart.
    assert_true(has_finding(report, "4.6-degrades", "With monitoring, import: degrades, +60.5 s"));
    assert_false(has_finding(report, "4.6-degrades", "Without"));
    assert_true(has_finding(report, "4.6-degrades", "larger buffer, import: degrades"));
    // Ours and FOLIO's are the same here, which no two measurements are: noticed.
    assert_int_equal(report->doc->defects.len, 3);
    assert_true(has_defect(&report->doc->defects, "hold the same figures (8 of 8)"));
}

static void a_sound_result_gives_a_report_without_defects(void **state)
{
    (void)state;
    World world = usual();
    Report *report = report_make(world_result(&world));

    for (size_t i = 0; i < report->doc->defects.len; i++) {
        print_message(STR_FMT "\n", STR_ARG(report->doc->defects.at[i]));
    }
    assert_int_equal(report->doc->defects.len, 0);
    assert_int_equal(report_exit_code(report), REPORT_MET);
    static const char *const order[] = {
        "overview",       "summary",     "recommendations", "test-runs", "results",
        "comparison",     "resources",   "database",        "errors",    "annotations",
        "infrastructure", "methodology", "data-files",      NULL};
    size_t i = 0;
    for (const Section *section = report->doc->first; section; section = section->next, i++) {
        assert_string_equal(str_z(section->id), order[i]);
        assert_non_null(section->first);
    }
    assert_null(order[i]);
}

static void folios_figures_stand_beside_ours_and_are_marked(void **state)
{
    (void)state;
    World world = usual();
    Report *report = report_make(world_result(&world));
    const Table *table = block_named(report, "comparison-times")->table;
    Str html = doc_html(report->doc);

    assert_true(table->columns[11].is_foreign);
    assert_str(table_show(table, 0, 11), "959");
    assert_str(table_show(table, 0, 12), "968");
    assert_str(table_show(table, 0, 13), "+0.9");
    assert_true(has_text(table->note, "other hardware"));
    assert_true(has_text(html, "class=\"number foreign\""));
    // The whole deployment: 90 modules, 176 tasks, 282 GiB, 75.9 vCPU.
    StrList modules = reference_subjects(S("perf-920"), "tasks");
    double tasks = 0;
    for (size_t i = 0; i < modules.len; i++) {
        tasks += reference_value(S("perf-920"), S(""), modules.at[i], "tasks");
    }
    assert_int_equal(modules.len, 90);
    assert_true(tasks == 176);
}

static void modules_and_other_add_up_to_the_process(void **state)
{
    (void)state;
    World world = usual();
    Result *result = world_result(&world);
    const Table *table = block_named(report_make(result), "modules-cpu")->table;
    size_t last = table_rows(table) - 1;
    double sum = 0;

    assert_str(table_at(table, 0, 0)->text, "mod-circulation");
    assert_str(table_at(table, last - 1, 0)->text, "other (no module's)");
    for (size_t row = 0; row < last; row++) {
        sum += table_at(table, row, 1)->number;
    }
    assert_true(fabs(sum / table_at(table, last, 1)->number - 1) < 1e-9);
    // FOLIO's mod-users: 46.04 % of 0.125 vCPU in each of two tasks.
    for (size_t row = 0; row < last; row++) {
        if (str_eq(table_at(table, row, 0)->text, S("mod-users"))) {
            assert_true(fabs(table_at(table, row, 7)->number - 0.1151) < 1e-4);
        }
    }
    // Half of what the process used belongs to nobody: said so.
    for (size_t i = 0; i < result->cells.len; i++) {
        for (size_t j = 0; j < result->cells.at[i].series.len; j++) {
            Series *series = &result->cells.at[i].series.at[j];
            for (size_t k = 0; k < series->values.len && str_eq(series->name, S("cpu.user")) &&
                               series->group == GROUP_PROCESS;
                 k++) {
                series->values.at[k] *= 2;
            }
        }
    }
    assert_true(has_finding(report_make(result), "5-other", "modules account for"));
}

static void a_statement_stands_with_its_plan_once(void **state)
{
    static Statement statements[] = {
        {.shape = {"select a", 8}, .route = {"/a", 2}, .plan = {"SCAN a\n  SORT", 13}, .calls = 2},
        {.shape = {"select a", 8}, .route = {"/b", 2}, .plan = {"SCAN a\n  SORT", 13}, .calls = 1},
        {.shape = {"insert", 6}, .route = {"/a", 2}, .calls = 1}};
    (void)state;
    World world = usual();
    Result *result = world_result(&world);

    result->cells.at[0].statements.at = statements;
    result->cells.at[0].statements.len = 3;
    Report *report = report_make(result);
    assert_int_equal(table_rows(block_named(report, "statements")->table), 3);
    const Table *plans = block_named(report, "plans")->table;
    assert_int_equal(table_rows(plans), 1);
    assert_str(table_at(plans, 0, 1)->text, "SCAN a; SORT");
}

static void lists_show_how_much_of_them_was_used(void **state)
{
    static DataList lists[] = {
        {.workload = {"desk", 4}, .file = {"desk.csv", 8}, .lines = 1, .taken = 900},
        {.workload = {"desk", 4},
         .file = {"items.csv", 9},
         .lines = 400,
         .taken = 400,
         .serves_once = true,
         .is_used_up = true,
         .used_up_s = 3.5}};
    (void)state;
    World world = usual();
    Result *result = world_result(&world);

    result->cells.at[0].lists.at = lists;
    result->cells.at[0].lists.len = 2;
    const Table *table = block_named(report_make(result), "lists")->table;
    assert_int_equal(table_rows(table), 1); // a list of one line is a constant
    assert_str(table_at(table, 0, 0)->text, "items.csv");
    assert_str(table_at(table, 0, 6)->text, "in 1 of 1 cells, first in second 3.50");
}

static void what_was_not_begun_is_not_compared(void **state)
{
    (void)state;
    World world = usual();
    Result *result = world_result(&world);

    for (size_t i = 0; i < result->cells.len; i++) {
        Cell *cell = &result->cells.at[i];
        bool is_base = str_eq(cell->configuration, baseline_of(result)->name);
        cell->state = is_base ? CELL_DONE : CELL_PLANNED;
    }
    Report *report = report_make(result);
    assert_int_equal(report->compared_len, 0);
    assert_int_equal(report->doc->defects.len, 0);
    // Begun and invalid: no pair, and no empty column either.
    for (size_t i = 0; i < result->cells.len; i++) {
        Cell *cell = &result->cells.at[i];
        cell->state = cell->state == CELL_PLANNED ? CELL_INVALID : cell->state;
    }
    report = report_make(result);
    assert_true(report->compared_len > 0);
    assert_int_equal(report->doc->defects.len, 0);
}

static void the_answer_names_what_is_worse_and_a_busy_machine_is_told(void **state)
{
    (void)state;
    World world = usual();
    world.hungrier[1] = 1.5;
    Result *result = world_result(&world);

    result->environment = result->environment ? result->environment : json_object();
    json_set_str(result->environment, "host.busy", S("other programs use 40 % of this machine"));
    Report *report = report_make(result);
    assert_true(has_finding(report, "3.1-busy", "40 %"));
    assert_true(has_finding(report, "4.4-answer", "worse ("));
}

static void an_invalid_cell_is_shown_and_never_averaged_in(void **state)
{
    (void)state;
    World world = usual();
    Result *result = world_result(&world);
    Cell *cell = &result->cells.at[0];

    cell->state = CELL_INVALID;
    str_list_add(&cell->reasons, S("the server was restarted"));
    Report *report = report_make(result);
    const Table *runs = block_named(report, "test-runs")->table;
    assert_str(table_at(runs, 0, 3)->text, "invalid");
    assert_str(table_at(runs, 0, 11)->text, "the server was restarted");
    assert_int_equal(report->compared[0].is.pairs, 3);
    assert_int_equal(report_exit_code(report), REPORT_INVALID);
    // Repeated with success: the position is filled.
    Cell *more = NEW_ARRAY(Cell, result->cells.len + 1);
    memcpy(more, result->cells.at, result->cells.len * sizeof *more);
    more[result->cells.len] = more[0];
    more[result->cells.len].state = CELL_DONE;
    more[result->cells.len].attempt = 2;
    result->cells.at = more;
    result->cells.len++;
    report = report_make(result);
    assert_int_equal(report_exit_code(report), REPORT_MET);
    assert_int_equal(report->compared[0].is.pairs, 4);
}

static void a_missed_threshold_fails_the_run_and_a_warning_does_not(void **state)
{
    (void)state;
    World world = usual();

    world.failing = 0.02;
    assert_int_equal(report_exit_code(report_make(world_result(&world))), REPORT_KPI_MISSED);
    world.failing = 0;
    Result *result = world_result(&world);
    json_set_number(json_at(json_get(result->experiment, "kpi"), 1), "max_ms", 1);
    Report *report = report_make(result);
    assert_int_equal(report_exit_code(report), REPORT_MET);
    assert_true(has_finding(report, "7-threshold", "check-out.p95"));
}

static void a_threshold_without_a_figure_is_a_defect(void **state)
{
    (void)state;
    World world = usual();
    Result *result = world_result(&world);

    json_set_str(json_at(json_get(result->experiment, "kpi"), 0), "metric", S("renewal.p95"));
    Report *report = report_make(result);
    assert_true(has_defect(&report->doc->defects, "renewal.p95 has no figure"));
    assert_int_equal(report_exit_code(report), REPORT_INVALID);
    assert_true(has_text(doc_html(report->doc), "class=\"banner bad\""));
}

static void seconds_that_do_not_add_up_are_a_defect(void **state)
{
    (void)state;
    World world = usual();
    Result *result = world_result(&world);

    result->cells.at[1].measures.at[0].slices.at[5].ok = (Str){"", 0};
    assert_true(has_defect(&report_make(result)->doc->defects, "the seconds hold"));
}

static void the_same_result_gives_the_same_bytes(void **state)
{
    (void)state;
    World world = usual();
    Str text = result_text(world_result(&world)), html[2], markdown[2];

    for (int i = 0; i < 2; i++) {
        Result *result = NULL;
        assert_ok(result_parse(text, &result));
        Report *report = report_make(result);
        html[i] = doc_html(report->doc);
        markdown[i] = doc_markdown(report->doc);
    }
    assert_true(str_eq(html[0], html[1]));
    assert_true(str_eq(markdown[0], markdown[1]));
}

static void requests_of_a_plan_without_transactions_are_reported(void **state)
{
    (void)state;
    World world = usual();
    Result *result = world_result(&world);

    for (size_t i = 0; i < result->cells.len; i++) {
        for (size_t j = 0; j < result->cells.at[i].measures.len; j++) {
            result->cells.at[i].measures.at[j].kind = MEASURE_REQUEST;
        }
    }
    Report *report = report_make(result);
    const Table *table = block_named(report, "results")->table;
    assert_int_equal(report->doc->defects.len, 0);
    assert_str(table_at(table, 0, 0)->text, "check-out");
    assert_int_equal(table_rows(table), 15);
    assert_true(report->compared[0].is.pairs == 4);
    metric_complete(result); // once is enough
    assert_int_equal(result->cells.at[0].measures.len, 10);
}

static void what_is_suspicious_in_a_deployment_is_said(void **state)
{
    (void)state;
    World world = usual();
    Result *result = world_result(&world);

    for (size_t i = 0; i < result->cells.len; i++) {
        assert_ok(json_parse(S("{\"process\":{\"version\":\"0.1.0\",\"flags\":[\"debug\","
                               "\"optimized\"],\"memoryLimitBytes\":67108864},\"options\":["
                               "{\"name\":\"memory.cache_mib\",\"value\":\"96\",\"default\":\"96\","
                               "\"origin\":\"default\"}],\"modules\":[{\"id\":\"mod-users-19.3.1\","
                               "\"interfaces\":{\"users\":\"16.5\"},\"routes\":9}]}"),
                             &result->cells.at[i].deployment));
    }
    Report *report = report_make(result);
    assert_true(has_finding(report, "6-debug", "Without monitoring: a debug build"));
    assert_true(has_finding(report, "6-memory", "caches of 96.0 MiB within a limit of 64.0 MiB"));
    assert_true(has_finding(report, "6-equal", "same options as \"Without monitoring\""));
    // mod-users: two tasks of 1,024 MiB; everything: 282 GiB.
    const Table *table = block_named(report, "deployment")->table;
    assert_str(table_show(table, 0, 4), "2");
    assert_str(table_show(table, 0, 5), "2,048");
    assert_str(table_show(table, 2, 4), "176");
    assert_str(table_show(table, 2, 5), "288,356");
    assert_int_equal(report->doc->defects.len, 0);
}

static void a_number_beyond_all_counts_is_shown_as_the_largest(void **state)
{
    (void)state;
    assert_int_equal(count_of(12.9), 12);
    assert_int_equal(count_of(-12.9), -12);
    assert_int_equal(count_of(NAN), 0);
    assert_int_equal(count_of(1e300), 9000000000000000000);
    assert_int_equal(count_of(-INFINITY), -9000000000000000000);
    assert_str(show_quantity(INFINITY, UNIT_COUNT), "9,000,000,000,000,000,000");
    assert_str(show_quantity(-1e19, UNIT_COUNT), "\xE2\x88\x92"
                                                 "9,000,000,000,000,000,000");
}

static void numbers_carry_three_digits_a_sign_and_their_unit(void **state)
{
    (void)state;
    assert_str(show_number(1226.4), "1,226");
    assert_str(show_number(12.345), "12.3");
    assert_str(show_number(0.053149), "0.0531");
    assert_str(show_number(9.996), "10.0");
    assert_str(show_number(0), "0");
    assert_str(show_number(-1234567), "\xE2\x88\x92"
                                      "1,234,567");
    assert_str(show_count(123201), "123,201");
    assert_str(show_percent(1.66), "+1.7 %");
    assert_str(show_percent(-0.02), "\xC2\xB1"
                                    "0.0 %");
    assert_str(show_quantity(959, UNIT_MS), "959 ms");
    assert_str(show_quantity(14834, UNIT_MS), "14.8 s");
    assert_str(show_quantity(268435456, UNIT_BYTES), "256 MiB");
    assert_str(show_duration(3910), "1:05:10");
    assert_str(show_ratios((Interval){0.991, 1.042}), "[\xE2\x88\x92"
                                                      "0.9, +4.2] %");
    Table *table = NEW(Table);
    table_column(table, "p95", ROLE_VALUE, UNIT_MS);
    table_number(table, 487);
    assert_str(column_head(table, 0), "p95 (ms)");
    table_number(table, 12570);
    assert_str(column_head(table, 0), "p95 (s)");
    assert_str(table_show(table, 0, 0), "0.487");
}

static void two_results_are_compared_with_a_warning_for_what_differs(void **state)
{
    (void)state;
    World world = usual();
    Result *a = world_result(&world), *both = NULL;
    StrList warnings = {0};

    world.slower[0] = 1.3;
    world.seed = 9;
    Result *b = world_result(&world);
    b->id = S("later");
    json_set_int(b->environment, "host.cores", 8);
    b->cells.at[0].parts.at[0].think_scale = 1;
    assert_ok(pair_results(a, b, (Str){"", 0}, &both, &warnings));
    assert_int_equal(warnings.len, 2);
    assert_str(warnings.at[0], "cores of the host differs: 2 and 8");
    Report *report = report_make(both);
    assert_int_equal(report->doc->defects.len, 0);
    assert_int_equal(report->compared[0].is.verdict, VERDICT_WORSE);
    assert_true(has_finding(report, "7-compare", "cores of the host differs"));
    assert_err(pair_results(a, b, S("none"), &both, &warnings), 400,
               "perf-920-short-20240501T123456Z has no configuration none");
}

static Str read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = arena_alloc(arena_current(), 8 << 20);
    size_t len = fread(text, 1, 8 << 20, file);
    fclose(file);
    return (Str){text, len};
}

static const char *temporary_folder(void)
{
    char *path = arena_alloc(arena_current(), 64);
    strcpy(path, "/tmp/octavo-report-XXXXXX");
    assert_non_null(mkdtemp(path));
    return path;
}

static void remove_folder(const char *folder)
{
    assert_int_equal(system(str_z(str_fmt("rm -rf %s", folder))), 0);
}

static void every_file_of_a_report_is_written(void **state)
{
    (void)state;
    World world = usual();
    const char *folder = temporary_folder();

    world.failing = 0.01;
    Result *result = world_result(&world);
    assert_ok(result_save(result, str_z(str_fmt("%s/result.json", folder))));
    Report *report = report_make(result);
    assert_ok(report_write(report, folder));
    Str html = read_file(str_z(str_fmt("%s/report.html", folder)));
    Str csv = read_file(str_z(str_fmt("%s/tables/transactions.csv", folder)));
    Str junit = read_file(str_z(str_fmt("%s/junit.xml", folder)));
    Str timeline = read_file(str_z(str_fmt("%s/timeline.csv", folder)));
    assert_true(str_starts(csv, S("run,run_label,transaction,metric,value,unit\n\"without\",")));
    assert_true(has_text(junit, "<failure message=\"missed: "));
    assert_true(has_text(timeline, "perf-920/main/block1/without,0,"));
    assert_true(has_text(html, "prefers-color-scheme: dark"));
    assert_false(has_text(html, "<script"));
    assert_false(has_text(html, "http-equiv"));
    (void)read_file(str_z(str_fmt("%s/report.md", folder)));
    if (report->doc->plots_missing.len > 0) {
        remove_folder(folder);
        skip_because("gnuplot is not installed: no plots");
    }
    assert_true(has_text(html, "<svg viewBox"));
    assert_true(has_text(html, "var(--c1)"));
    assert_false(has_text(html, "rgb(")); // every colour follows the page
    remove_folder(folder);
}

static bool has_gnuplot(void)
{
    return system("gnuplot --version >/dev/null 2>&1") == 0;
}

static void plots_of_many_runs_and_of_jobs_are_drawn(void **state)
{
    (void)state;
    World world = usual();
    const char *folder = temporary_folder();

    world.jobs = 4;
    Result *result = world_result(&world);
    for (size_t i = 0; i < result->cells.len; i++) {
        Cell *cell = &result->cells.at[i];
        cell->run = str_fmt("t%d \"x\" 'y'", (int)cell->block % 2);
    }
    Report *report = report_make(result);
    assert_ok(report_write(report, folder));
    bool is_drawn = report->doc->plots_missing.len == 0;
    bool has_users = access(str_z(str_fmt("%s/plots/users.svg", folder)), R_OK) == 0;
    remove_folder(folder);
    if (!has_gnuplot()) {
        skip_because("gnuplot is not installed");
    }
    assert_true(is_drawn && has_users);
}

static void a_regression_is_flagged_on_the_page_of_all_results(void **state)
{
    (void)state;
    World world = usual();
    const char *lab = temporary_folder();

    world.configurations = 1;
    for (int i = 1; i <= 3; i++) {
        world.seed = (uint64_t)i;
        world.slower[0] = i == 3 ? 1.25 : 1;
        Result *result = world_result(&world);
        result->id = str_fmt("perf-920-short-2024050%dT000000Z", i);
        assert_ok(result_parse(result_text(result), &result));
        const char *folder = str_z(str_fmt("%s/" STR_FMT, lab, STR_ARG(result->id)));
        assert_int_equal(mkdir(folder, 0755), 0);
        assert_ok(result_save(result, str_z(str_fmt("%s/result.json", folder))));
    }
    assert_ok(trend_write(lab));
    Str page = read_file(str_z(str_fmt("%s/index.html", lab)));
    remove_folder(lab);
    assert_true(has_text(page, "perf-920-short-20240503T000000Z"));
    assert_true(has_text(page, "<span class=\"verdict bad\">worse +2"));
    assert_false(has_text(page, "gnuplot failed"));
}

static void without_gnuplot_the_report_says_so_and_keeps_its_tables(void **state)
{
    (void)state;
    World world = usual();
    const char *folder = temporary_folder(), *path = str_z(str_of(getenv("PATH")));

    setenv("PATH", "/nonexistent", 1);
    Report *report = report_make(world_result(&world));
    Err *err = report_write(report, folder);
    setenv("PATH", path, 1);
    assert_ok(err);
    Str html = read_file(str_z(str_fmt("%s/report.html", folder)));
    assert_true(has_text(html, "The program gnuplot is not installed"));
    assert_true(has_text(html, "<td class=\"number\">"));
    assert_false(has_text(html, "<svg"));
    assert_int_equal(report_exit_code(report), REPORT_MET);
    remove_folder(folder);
}

static void a_result_without_any_cell_is_reported_as_such(void **state)
{
    (void)state;
    World world = usual();
    Result *result = world_result(&world);

    result->cells.len = 0;
    Report *report = report_make(result);
    assert_int_equal(report_exit_code(report), REPORT_INVALID);
    assert_true(has_finding(report, "3.4-valid", "nothing to conclude"));
    (void)doc_html(report->doc);
}

// A limit on what something may cost is judged block by block against the baseline.
static void a_limit_of_a_change_says_whether_it_is_proven(void **state)
{
    (void)state;
    World world = usual();
    Json *kpis = NULL;

    world.configurations = 2;
    world.blocks = 8;
    Result *result = world_result(&world);
    assert_ok(json_parse(S("[{\"metric\":\"cpu.total\",\"max_delta_pct\":5}]"), &kpis));
    json_set(result->experiment, "kpi", kpis);
    Report *report = report_make(result);
    const Table *table = block_named(report, "kpis")->table;
    assert_int_equal(table_rows(table), 1); // the baseline is not held against itself
    assert_true(has_text(table_at(table, 0, 2)->text, "with 95 % at most +"));
    assert_str(table_at(table, 0, 4)->text, "met");
    // Two per cent more: a limit just above holds as it seems, one below is missed.
    json_set_number(json_at(json_get(result->experiment, "kpi"), 0), "max_delta_pct",
                    report->kpis[0].value + 0.1);
    assert_str(table_at(block_named(report_make(result), "kpis")->table, 0, 4)->text,
               "met, not proven");
    json_set_number(json_at(json_get(result->experiment, "kpi"), 0), "max_delta_pct", 0.5);
    report = report_make(result);
    assert_str(table_at(block_named(report, "kpis")->table, 0, 4)->text, "missed");
    assert_int_equal(report_exit_code(report), REPORT_KPI_MISSED);
}

// Ten, twenty and forty users; the last step brings no throughput and three times the time.
static Result *in_steps(void)
{
    static const int users[] = {10, 20, 40};
    static const double per_s[] = {20, 39, 40};
    World world = usual();
    Result *result = NULL;

    world.blocks = 3;
    world.configurations = 1;
    for (int i = 0; i < 3; i++) {
        world.per_s = per_s[i];
        world.slower[0] = i == 2 ? 3 : 1;
        Result *step = world_result(&world);
        for (size_t k = 0; k < step->cells.len; k++) {
            Cell *cell = &step->cells.at[k];
            cell->run = str_fmt("main-%d", users[i]);
            cell->load = str_fmt("u-%d", users[i]);
            cell->id =
                str_fmt("perf-920/block%d/without/" STR_FMT, (int)cell->block, STR_ARG(cell->run));
            cell->parts.at[0].users = users[i];
        }
        Cell *cells = NEW_ARRAY(Cell, 16);
        size_t before = result ? result->cells.len : 0;
        if (result) {
            memcpy(cells, result->cells.at, before * sizeof *cells);
        }
        memcpy(cells + before, step->cells.at, step->cells.len * sizeof *cells);
        result = step;
        result->cells.at = cells;
        result->cells.len += before;
    }
    Json *load = NULL;
    assert_ok(json_parse(S("{\"model\":\"closed\",\"steps\":[10,20,40]}"), &load));
    json_set(result->experiment, "load.u20", load);
    return result;
}

static void steps_end_with_what_the_server_can_take(void **state)
{
    (void)state;
    Result *result = in_steps();
    Json *kpis = NULL;

    assert_ok(json_parse(S("[{\"metric\":\"transaction.p95\",\"max_ms\":100}]"), &kpis));
    json_set(result->experiment, "kpi", kpis);
    Report *report = report_make(result);
    assert_int_equal(report->doc->defects.len, 0);
    assert_true(has_finding(report, "4.8-capacity", "all limits hold up to 20 users"));
    assert_true(has_finding(report, "4.8-capacity", "at 40 users transaction.p95 is"));
    assert_true(has_finding(report, "4.7-saturated", "saturated at 20 users"));
    assert_int_equal(table_rows(block_named(report, "capacity-main")->table), 3);
    // A later step may miss a limit: that is what is sought. The first one may not.
    assert_int_equal(report_exit_code(report), REPORT_MET);
    json_set_number(json_at(json_get(result->experiment, "kpi"), 0), "max_ms", 1);
    report = report_make(result);
    assert_true(has_finding(report, "4.8-capacity", "do not hold at any step"));
    assert_int_equal(report_exit_code(report), REPORT_KPI_MISSED);
}

// A closed user that waited for a second has not asked for anything meanwhile.
static void what_a_stall_hides_stands_beside_the_service_time(void **state)
{
    (void)state;
    World world = usual();
    Result *result = world_result(&world);
    Hist *stalled = hist_new(RESULT_DIGITS, RESULT_LONGEST_US);

    for (size_t i = 0; i < result->cells.len; i++) {
        Measure *measure = &result->cells.at[i].measures.at[0];
        hist_reset(stalled);
        assert_true(hist_merge_packed(stalled, measure->ok));
        for (int k = 0; k < 2; k++) {
            hist_record(stalled, 20000000);
        }
        measure->ok = hist_pack(stalled);
        measure->slices.len = 0;
    }
    hist_free(stalled);
    const Table *table = block_named(report_make(result), "waiting")->table;
    assert_str(table_at(table, 0, 3)->text, "service");
    assert_true(has_text(table_at(table, 1, 3)->text, "corrected, a pass each"));
    assert_true(table_at(table, 0, 5)->number < 100);  // p95 of what was measured
    assert_true(table_at(table, 1, 5)->number > 1000); // and of what would have been asked
}

// Reports are large: each test has an arena of its own.
static int open_arena(void **state)
{
    *state = arena_use(arena_new((size_t)1 << 30));
    return 0;
}

static int close_arena(void **state)
{
    arena_free(arena_use(*state));
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_arena, close_arena)

int main(void)
{
    asset_use(assets_all);
    const struct CMUnitTest tests[] = {
        TEST(the_error_rate_and_the_window_of_perf_920_are_refuted),
        TEST(a_memory_table_copied_from_the_processor_table_is_found),
        TEST(an_average_above_p95_and_an_empty_delta_in_perf_932_are_found),
        TEST(the_deltas_of_perf_893_are_signed_and_its_drift_is_found),
        TEST(a_sound_result_gives_a_report_without_defects),
        TEST(folios_figures_stand_beside_ours_and_are_marked),
        TEST(modules_and_other_add_up_to_the_process),
        TEST(a_statement_stands_with_its_plan_once),
        TEST(lists_show_how_much_of_them_was_used),
        TEST(what_was_not_begun_is_not_compared),
        TEST(the_answer_names_what_is_worse_and_a_busy_machine_is_told),
        TEST(an_invalid_cell_is_shown_and_never_averaged_in),
        TEST(a_missed_threshold_fails_the_run_and_a_warning_does_not),
        TEST(a_threshold_without_a_figure_is_a_defect),
        TEST(seconds_that_do_not_add_up_are_a_defect),
        TEST(the_same_result_gives_the_same_bytes),
        TEST(requests_of_a_plan_without_transactions_are_reported),
        TEST(what_is_suspicious_in_a_deployment_is_said),
        TEST(a_number_beyond_all_counts_is_shown_as_the_largest),
        TEST(numbers_carry_three_digits_a_sign_and_their_unit),
        TEST(two_results_are_compared_with_a_warning_for_what_differs),
        TEST(every_file_of_a_report_is_written),
        TEST(plots_of_many_runs_and_of_jobs_are_drawn),
        TEST(a_regression_is_flagged_on_the_page_of_all_results),
        TEST(without_gnuplot_the_report_says_so_and_keeps_its_tables),
        TEST(a_result_without_any_cell_is_reported_as_such),
        TEST(a_limit_of_a_change_says_whether_it_is_proven),
        TEST(steps_end_with_what_the_server_can_take),
        TEST(what_a_stall_hides_stands_beside_the_service_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
