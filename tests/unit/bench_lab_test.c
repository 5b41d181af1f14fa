// Parts of the lab: the sampler from outside and inside, the order of cells.
#include "test.h"

#include "base/date.h"

#include "bench/lab/experiment.h"
#include "bench/lab/sampler.h"
#include "bench_server.h"

#include <math.h>

static TestServer test_server;
static const char *metrics; // what it answers; NULL = 404

static void answer(const TestRequest *request, TestReply *reply)
{
    if (!metrics || strcmp(request->target, "/octavo/metrics") != 0) {
        reply->status = 404;
        return;
    }
    strcpy(reply->body, metrics);
}

static SamplerOptions options_of(void)
{
    return (SamplerOptions){.interval_s = 0.02, .modules = true, .database = true, .host = true};
}

static void sample_for_a_while(const SamplerOptions *options, Cell *cell)
{
    Sampler *sampler = sampler_start(options);
    int64_t begun_ns = clock_ns();

    usleep(400000);
    sampler_begin(sampler);
    usleep(400000);
    sampler_stop(sampler);
    sampler_fill(sampler, begun_ns, cell);
    sampler_free(sampler);
}

static const Series *series_of(const Cell *cell, SeriesGroup group, const char *subject,
                               const char *name)
{
    for (size_t i = 0; i < cell->series.len; i++) {
        const Series *series = &cell->series.at[i];
        if (series->group == group && str_eq_z(series->subject, subject) &&
            str_eq_z(series->name, name)) {
            return series;
        }
    }
    return NULL;
}

static void a_process_is_watched_from_outside(void **state)
{
    SamplerOptions options = options_of();
    Cell cell = {0};
    (void)state;

    options.pid = getpid();
    sample_for_a_while(&options, &cell);
    assert_true(cell.ticks.len >= 3);
    for (size_t i = 1; i < cell.ticks.len; i++) {
        assert_true(cell.ticks.at[i] > cell.ticks.at[i - 1]);
    }
    static const char *const names[] = {"cpu.user",    "cpu.system", "memory.rss", "memory.pss",
                                        "memory.peak", "threads",    "files",      "faults.minor"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const Series *series = series_of(&cell, GROUP_PROCESS, "server", names[i]);
        assert_non_null(series);
        assert_int_equal(series->values.len, cell.ticks.len);
        assert_false(isnan(series->values.at[0]));
        for (size_t k = 1; series->is_counter && k < series->values.len; k++) {
            assert_true(series->values.at[k] >= series->values.at[k - 1]);
        }
    }
    assert_non_null(series_of(&cell, GROUP_DRIVER, "", "cpu"));
    assert_non_null(series_of(&cell, GROUP_HOST, "", "cpu.idle"));
}

static void a_process_that_has_ended_leaves_gaps(void **state)
{
    SamplerOptions options = options_of();
    Cell cell = {0};
    (void)state;

    options.pid = 1 << 30;
    sample_for_a_while(&options, &cell);
    assert_true(cell.ticks.len >= 3);
    assert_null(series_of(&cell, GROUP_PROCESS, "server", "cpu.user"));
}

static void modules_and_store_are_read_from_inside(void **state)
{
    SamplerOptions options = options_of();
    Cell cell = {0};
    (void)state;

    metrics = "# HELP octavo_module_cpu_seconds_total CPU.\n"
              "octavo_module_cpu_seconds_total{module=\"mod-users\"} 1.5\n"
              "octavo_module_cpu_seconds_total{module=\"mod-notes\"} 0\n"
              "octavo_module_requests_total{module=\"mod-users\"} 7\n"
              "octavo_store_commits_total 12\n"
              "db_query_seconds_sum{statement=\"select loan\"} 0.25\n"
              "db_query_seconds_count{statement=\"select loan\"} 4\n"
              "db_query_seconds_sum{statement=\"a } b\"} 0.5\n"
              "db_query_seconds_count{statement=\"a } b\"} 2\n"
              "something_else{x=\"y\"} 3\nnonsense\n";
    options.admin_url = str_fmt("http://127.0.0.1:%d", test_server.port);
    sample_for_a_while(&options, &cell);
    metrics = NULL;
    const Series *cpu = series_of(&cell, GROUP_MODULE, "mod-users", "cpu");
    const Series *calls = series_of(&cell, GROUP_DATABASE, "sqlite", "statements");
    assert_non_null(cpu);
    assert_true(cpu->is_counter && cpu->unit == UNIT_S);
    assert_true(cpu->values.at[0] == 1.5);
    assert_true(cpu->values.at[cpu->values.len - 1] == 1.5);
    assert_non_null(series_of(&cell, GROUP_MODULE, "mod-users", "requests"));
    assert_null(series_of(&cell, GROUP_MODULE, "mod-notes", "cpu")); // did nothing
    assert_non_null(calls);
    assert_true(calls->values.at[calls->values.len - 1] == 6);
    assert_non_null(series_of(&cell, GROUP_DATABASE, "sqlite", "commits"));
    assert_null(series_of(&cell, GROUP_MODULE, "y", "cpu"));
}

static void a_server_that_tells_nothing_is_left_alone(void **state)
{
    SamplerOptions options = options_of();
    Cell cell = {0};
    int before = atomic_load(&test_server.requests);
    (void)state;

    options.admin_url = str_fmt("http://127.0.0.1:%d", test_server.port);
    sample_for_a_while(&options, &cell);
    // At the begin, at the begin of the window, at the end; and the statistics of statements.
    assert_true(atomic_load(&test_server.requests) - before <= 5);
    assert_null(deployment_take(options.admin_url));
    statements_take(options.admin_url, &cell);
    assert_int_equal(cell.statements.len, 0);
}

// ---------------------------------------------------------------------------------------------

static const char small[] =
    "{\"experiment\":{\"id\":\"x\",\"seed\":%d},\"data\":{\"recipe\":\"tiny\"},\"configuration\":{"
    "\"a\":{\"baseline\":true},\"b\":{\"options\":{\"n\":1}},\"c\":{\"options\":{\"n\":2}},"
    "\"d\":{\"options\":{\"n\":3}}},\"workload\":{\"w\":{\"file\":\"workloads/cico.json\"}},"
    "\"load\":{\"u\":{}},\"run\":{\"r\":{\"workloads\":[{\"workload\":\"w\",\"load\":\"u\"}],"
    "\"steady_s\":1},\"s\":{\"workloads\":[{\"workload\":\"w\",\"load\":\"u\"}],\"steady_s\":1,"
    "\"configurations\":[\"a\"]}},\"design\":{\"blocks\":6,\"order\":\"random\"}}";

static CellPlan plan_of(int seed)
{
    Experiment *experiment = NULL;

    assert_ok(experiment_read(str_fmt(small, seed), S(""), &experiment));
    return experiment_cells(experiment);
}

static void a_random_order_repeats_by_its_seed_and_holds_every_cell_once(void **state)
{
    CellPlan first = plan_of(1), again = plan_of(1), other = plan_of(2);
    bool differs = false, varies = false;
    (void)state;

    assert_int_equal(first.len, 6 * 5); // run s has one configuration only
    for (size_t i = 0; i < first.len; i++) {
        assert_true(str_eq(first.at[i].id, again.at[i].id));
        differs = differs || !str_eq(first.at[i].id, other.at[i].id);
        varies = varies ||
                 first.at[i].configuration->name.at[0] != first.at[i % 5].configuration->name.at[0];
        for (size_t k = 0; k < i; k++) {
            assert_false(str_eq(first.at[i].id, first.at[k].id));
        }
    }
    assert_true(differs && varies);
}

static void sizes_are_read_with_their_units(void **state)
{
    int64_t bytes = 0;
    (void)state;

    assert_true(experiment_bytes(S("2GiB"), &bytes));
    assert_int_equal(bytes, (int64_t)2 << 30);
    assert_true(experiment_bytes(S("512 MiB"), &bytes));
    assert_int_equal(bytes, 512 << 20);
    assert_true(experiment_bytes(S("1000"), &bytes));
    assert_int_equal(bytes, 1000);
    const Str wrong[] = {S("2GB"), S("GiB"), S("-1MiB"), S("0"), S(""), S("99999999999TiB")};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(experiment_bytes(wrong[i], &bytes));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_is_watched_from_outside),
        cmocka_unit_test(a_process_that_has_ended_leaves_gaps),
        cmocka_unit_test(modules_and_store_are_read_from_inside),
        cmocka_unit_test(a_server_that_tells_nothing_is_left_alone),
        cmocka_unit_test(a_random_order_repeats_by_its_seed_and_holds_every_cell_once),
        cmocka_unit_test(sizes_are_read_with_their_units),
    };
    test_server_start(&test_server, answer);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    test_server_stop(&test_server);
    return failed;
}
