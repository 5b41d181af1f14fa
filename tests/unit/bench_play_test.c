// octavo bench play: exit codes, the result file, what is printed of failures.
#include "test.h"

#include "bench/bench.h"
#include "bench_server.h"

#include "json/json.h"

static TestServer test_server;
static bool is_broken;
static char plan_name[] = "/tmp/bench-play-XXXXXX";

static void answer(const TestRequest *request, TestReply *reply)
{
    (void)request;
    reply->status = is_broken ? 500 : 200;
    strcpy(reply->body, "{\"totalRecords\":1}");
}

static int play(int argc, char **argv)
{
    Arena *before = arena_current();
    int code = bench_play(argc, argv);
    arena_use(before);
    return code;
}

static Str content(const char *name)
{
    static char text[65536];
    FILE *file = fopen(name, "rb");

    assert_non_null(file);
    size_t len = fread(text, 1, sizeof text, file);
    fclose(file);
    return (Str){text, len};
}

static int play_plan(const char *json_name)
{
    char url[64], json[64];

    snprintf(url, sizeof url, "--url=http://127.0.0.1:%d", test_server.port);
    snprintf(json, sizeof json, "%s", json_name);
    char *arguments[] = {plan_name, url,  "--var",      "name=x y",  "--users", "2",
                         "--json",  json, "--timeline", "/dev/null", "--think", "none"};
    return play(12, arguments);
}

static void a_run_without_errors_ends_with_zero_and_a_result(void **state)
{
    char name[80];
    Json *result = NULL;
    (void)state;

    snprintf(name, sizeof name, "%s.json", plan_name);
    assert_int_equal(play_plan(name), 0);
    assert_ok(json_parse(content(name), &result));
    unlink(name);
    assert_str(json_str(result, "plan"), "small");
    assert_int_equal(json_int(result, "users", 0), 2);
    assert_str(json_str(result, "transactions.0.name"), "look");
    // The tables hold those of the steady window: on a busy machine not all of so short a run.
    assert_int_equal(json_int(result, "wholeRun.requests", 0), 6);
    assert_true(json_int(result, "transactions.0.count", 0) > 0);
    assert_true(json_int(result, "allRequests.ok.count", 0) > 0);
    assert_true(json_number(result, "allRequests.ok.p95", 0) > 0);
    assert_true(json_has(result, "driver.cpuS"));
    assert_int_equal(json_int(result, "wholeRun.errors", -1), 0);
}

static void errors_end_with_one(void **state)
{
    char name[80];
    Json *result = NULL;
    (void)state;

    is_broken = true;
    snprintf(name, sizeof name, "%s.json", plan_name);
    assert_int_equal(play_plan(name), 1);
    is_broken = false;
    assert_ok(json_parse(content(name), &result));
    unlink(name);
    assert_int_equal(json_int(result, "wholeRun.errors", 0), 6);
    assert_str(json_str(result, "failures.0.why"), "status 500");
    assert_int_equal(json_int(result, "failures.0.times", 0), 6);
    assert_str(json_str(result, "failures.0.answer"), "{\"totalRecords\":1}");
}

static void wrong_arguments_end_with_three(void **state)
{
    char *wrong[][4] = {
        {"no-such-plan", "--url", "http://127.0.0.1:1", NULL},
        {plan_name, NULL},
        {plan_name, "--url", "http://127.0.0.1:1", "--users"},
        {plan_name, "--url=ftp://", "--think=deep", NULL},
        {plan_name, "--url", "nowhere at all", NULL},
        {plan_name, "--url=http://127.0.0.1:1", "--threads=100", NULL},
        {plan_name, "--url=http://127.0.0.1:1", "--var=x", NULL},
    };
    (void)state;

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int argc = 0;
        while (argc < 4 && wrong[i][argc]) {
            argc++;
        }
        assert_int_equal(play(argc, wrong[i]), 3);
    }
}

// A list of lines that serve once, gone over by two users.
static void write_listed_plan(char *plan, char *list, size_t size)
{
    snprintf(list, size, "%s.csv", plan_name);
    snprintf(plan, size, "%s-listed.json", plan_name);
    FILE *file = fopen(list, "w");
    fputs("a\nb\nc\n", file);
    fclose(file);
    file = fopen(plan, "w");
    fprintf(file,
            "{\"name\":\"listed\",\"iterations\":4,\"data\":[{\"file\":\"%s\",\"columns\":[\"x\"],"
            "\"recycle\":true,\"stop_thread_at_end\":true}],\"loop\":[{\"transaction\":\"look\","
            "\"steps\":[{\"method\":\"GET\",\"path\":\"/${x}\"}]}]}",
            list);
    fclose(file);
}

static Json *play_listed(const char *option)
{
    char plan[80], list[80], url[64], json[80];
    Json *result = NULL;

    write_listed_plan(plan, list, sizeof plan);
    snprintf(url, sizeof url, "--url=http://127.0.0.1:%d", test_server.port);
    snprintf(json, sizeof json, "%s.json", plan_name);
    char *arguments[] = {plan, url, "--users", "2", "--json", json, (char *)option};
    assert_int_equal(play(option ? 7 : 6, arguments), 0);
    assert_ok(json_parse(content(json), &result));
    unlink(json);
    unlink(plan);
    unlink(list);
    return result;
}

static void a_list_that_was_used_again_is_told(void **state)
{
    Json *result = play_listed(NULL);
    (void)state;

    assert_int_equal(json_int(result, "wholeRun.requests", 0), 8);
    assert_int_equal(json_int(result, "lists.0.lines", 0), 3);
    assert_int_equal(json_int(result, "lists.0.taken", 0), 8);
    assert_true(json_number(result, "lists.0.passes", 0) > 2.6);
    assert_true(json_number(result, "lists.0.usedUpAtS", -1) >= 0);
    assert_true(json_flag(result, "lists.0.servesOnce", false));
    assert_false(json_has(result, "usedUp"));
}

static void users_may_end_with_the_list_and_that_is_no_error(void **state)
{
    Json *result = play_listed("--stop-at-end");
    (void)state;

    assert_int_equal(json_int(result, "wholeRun.requests", 0), 3);
    assert_int_equal(json_int(result, "lists.0.taken", 0), 3);
    assert_true(json_flag(result, "usedUp.endedTheRun", false));
    assert_true(str_ends(json_str(result, "usedUp.file"), S(".csv")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_without_errors_ends_with_zero_and_a_result),
        cmocka_unit_test(errors_end_with_one),
        cmocka_unit_test(wrong_arguments_end_with_three),
        cmocka_unit_test(a_list_that_was_used_again_is_told),
        cmocka_unit_test(users_may_end_with_the_list_and_that_is_no_error),
    };
    FILE *plan = fdopen(mkstemp(plan_name), "w");
    fputs("{\"name\":\"small\",\"iterations\":3,\"loop\":[{\"transaction\":\"look\",\"steps\":[{"
          "\"method\":\"GET\",\"path\":\"/a\",\"query\":[[\"q\",\"${name}\"]],\"think_before\":{"
          "\"kind\":\"constant\",\"ms\":5000},\"assert\":[{\"kind\":\"json\",\"path\":"
          "\"$.totalRecords\"}]}]}]}",
          plan);
    fclose(plan);
    test_server_start(&test_server, answer);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    test_server_stop(&test_server);
    unlink(plan_name);
    return failed;
}
