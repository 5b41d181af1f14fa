// The load driver against a small server: what is sent, what is counted.
#include "test.h"

#include "base/date.h"
#include "bench/driver/driver.h"
#include "bench_server.h"

enum {
    LOG_MAX = 4000,
    FREEZE_MS = 500,
};

// What the server saw, and how it is to misbehave.
static struct {
    pthread_mutex_t lock; // guards the log
    char log[LOG_MAX][256];
    _Atomic int len;
    _Atomic int fail_every; // the n-th request answers 500
    _Atomic int delay_ms;
    _Atomic bool delays_b; // and nothing else
    _Atomic int freeze_at; // the n-th request begins a time in which nobody is answered
    _Atomic int64_t frozen_until_ns;
} seen = {.lock = PTHREAD_MUTEX_INITIALIZER};

static TestServer test_server;

static void note(const TestRequest *request)
{
    const char *token = strstr(request->head, "X-Okapi-Token: ");
    size_t len = token ? strcspn(token, "\r") : 0;

    pthread_mutex_lock(&seen.lock);
    if (seen.len < LOG_MAX) {
        snprintf(seen.log[seen.len++], sizeof seen.log[0], "%s %.120s %.*s %.80s", request->method,
                 request->target, (int)len, token ? token : "", request->body);
    }
    pthread_mutex_unlock(&seen.lock);
}

static void answer(const TestRequest *request, TestReply *reply)
{
    note(request);
    if (seen.freeze_at && seen.len == seen.freeze_at) {
        seen.frozen_until_ns = clock_ns() + FREEZE_MS * (int64_t)1000000;
    }
    while (clock_ns() < seen.frozen_until_ns) {
        usleep(1000);
    }
    if (seen.delay_ms && !(seen.delays_b && strcmp(request->target, "/b") != 0)) {
        usleep((useconds_t)seen.delay_ms * 1000);
    }
    if (seen.fail_every && seen.len % seen.fail_every == 0) {
        reply->status = 500;
        strcpy(reply->body, "broken \"on\" purpose");
    } else if (strstr(request->target, "/login")) {
        reply->status = 201;
        reply->headers = "x-okapi-token: abc.def\r\n";
        strcpy(reply->body, "{\"user\":{\"id\":\"u1\"}}");
    } else {
        strcpy(reply->body, "{\"items\":[{\"id\":\"i1\"},{\"id\":\"i2\"}],\"totalRecords\":2}");
    }
}

static int times_seen(const char *part)
{
    int count = 0;

    for (int i = 0; i < seen.len; i++) {
        count += strstr(seen.log[i], part) != NULL;
    }
    return count;
}

static DriverOptions options_of(void)
{
    return (DriverOptions){.url = str_fmt("http://127.0.0.1:%d", test_server.port),
                           .seed = 7,
                           .threads = 1,
                           .ramp_s = 0,
                           .duration_s = -1,
                           .cooldown_s = 1,
                           .timeout_s = 5,
                           .think_scale = 1};
}

static const Plan *plan_of(const char *json)
{
    PlanOptions options = {.inputs = S("/tmp")};
    Plan *plan = NULL;

    assert_ok(plan_read(str_of(json), &options, &plan));
    return plan;
}

static RunResult *run(const char *json, const DriverOptions *options)
{
    RunResult *result = NEW(RunResult);

    assert_ok(driver_run(plan_of(json), options, result));
    return result;
}

#define LOGIN                                                                                      \
    "{\"id\":\"login\",\"method\":\"POST\",\"path\":\"/authn/login\",\"body\":\"{}\",\"extract\":" \
    "[{\"var\":\"token\",\"kind\":\"regex\",\"from\":\"headers\",\"regex\":\"x-okapi-token: "      \
    "(.+)\",\"template\":\"$1$\"}],\"assert\":[{\"kind\":\"status\",\"test\":\"equals\","          \
    "\"values\":[\"201\"]}]}"

static void values_flow_from_answers_into_requests(void **state)
{
    DriverOptions options = options_of();
    (void)state;

    RunResult *result =
        run("{\"name\":\"p\",\"headers\":{\"X-Okapi-Token\":\"${token}\"},\"iterations\":2,"
            "\"user_setup\":[" LOGIN "],\"loop\":[{\"choose_branch\":\"0-100\",\"branches\":["
            "\"a\",\"b\"]}],\"transactions\":{\"a\":{\"steps\":[]},\"b\":{\"steps\":["
            "{\"id\":\"get\",\"method\":\"GET\",\"path\":\"/items\",\"query\":[[\"query\","
            "\"barcode==\\\"x y\\\" & ${none}\"]],\"extract\":[{\"var\":\"id\",\"kind\":\"json\","
            "\"path\":\"$.items[*].id\",\"match\":\"2\"}],\"assert\":[{\"kind\":\"json\",\"path\":"
            "\"$.totalRecords\",\"value\":\"^[0-9]\\\\d*$\",\"regex\":true}]},"
            "{\"method\":\"PUT\",\"path\":\"/items/${id} <x>\",\"body\":\"{${id}}\"}]}}}",
            &options);
    assert_int_equal(result->sample_len, 0);
    assert_int_equal(times_seen("POST /authn/login"), 1);
    assert_int_equal(
        times_seen("GET /items?query=barcode%3D%3D%22x+y%22+%26+%24%7Bnone%7D X-Okapi-Token: "
                   "abc.def"),
        2);
    assert_int_equal(times_seen("PUT /items/i2%20%3Cx%3E X-Okapi-Token: abc.def {i2}"), 2);
    assert_int_equal(tally_count(&result->whole.transactions[1]), 2);
    assert_int_equal(tally_count(&result->whole.all_requests), 5);
}

static void a_transaction_is_the_sum_of_its_requests_without_pauses(void **state)
{
    DriverOptions options = options_of();
    (void)state;

    seen.delay_ms = 10;
    RunResult *result =
        run("{\"name\":\"p\",\"iterations\":3,\"loop\":[{\"transaction\":\"t\",\"steps\":["
            "{\"id\":\"a\",\"method\":\"GET\",\"path\":\"/a\"},{\"pause_ms\":400},"
            "{\"id\":\"b\",\"method\":\"GET\",\"path\":\"/b\",\"think_before\":{\"kind\":"
            "\"constant\",\"ms\":400}}]}]}",
            &options);
    const Hist *times = result->whole.transactions[0].ok;
    assert_int_equal(hist_count(times), 3);
    assert_true(hist_min(times) >= 20000 && hist_min(times) < 800000);
    assert_true(result->run_s > 2.4);
}

static void every_user_keeps_one_connection(void **state)
{
    DriverOptions options = options_of();
    int before = atomic_load(&test_server.connections);
    (void)state;

    options.users = 8;
    RunResult *result = run("{\"name\":\"p\",\"iterations\":5,\"loop\":[{\"method\":\"GET\","
                            "\"path\":\"/a\"},{\"pause_ms\":5}]}",
                            &options);
    assert_int_equal(tally_count(&result->whole.all_requests), 40);
    assert_int_equal(atomic_load(&test_server.connections) - before, 8);
}

static void failures_are_counted_by_class_and_shown(void **state)
{
    DriverOptions options = options_of();
    (void)state;

    seen.fail_every = 4;
    RunResult *result =
        run("{\"name\":\"p\",\"iterations\":8,\"loop\":[{\"transaction\":\"t\",\"steps\":[{\"id\":"
            "\"a\",\"method\":\"GET\",\"path\":\"/a\",\"assert\":[{\"kind\":\"json\",\"path\":"
            "\"$.items\"}]}]},{\"id\":\"b\",\"method\":\"GET\",\"path\":\"/b\",\"assert\":[{"
            "\"kind\":\"body\",\"test\":\"contains_text\",\"values\":[\"none\"]}]}]}",
            &options);
    assert_int_equal(result->whole.all_requests.failures[FAIL_STATUS], 4);
    assert_int_equal(result->whole.all_requests.failures[FAIL_ASSERTION], 4);
    assert_int_equal(tally_failed(&result->whole.transactions[0]), 0);
    assert_str(result->samples[0].why, "body contains [\"none\"]");
    assert_int_equal(result->samples[0].times, 4);
    assert_int_equal(result->sample_len, 2);
    assert_str(result->samples[1].why, "status 500");
    assert_str(result->samples[1].answer, "broken \"on\" purpose");
}

static void after_an_error_the_user_logs_in_again_and_begins_the_next_pass(void **state)
{
    DriverOptions options = options_of();
    (void)state;

    seen.fail_every = 3; // the second request of the first pass
    RunResult *result =
        run("{\"name\":\"p\",\"iterations\":2,\"on_error\":\"startnextloop\",\"user_setup\":[" LOGIN
            "],\"loop\":[{\"transaction\":\"t\",\"steps\":[{\"method\":\"GET\",\"path\":\"/a\"},"
            "{\"method\":\"GET\",\"path\":\"/b\"},{\"method\":\"GET\",\"path\":\"/c\"}]}]}",
            &options);
    // login a b!  login a b!
    assert_int_equal(times_seen("login"), 2);
    assert_int_equal(times_seen("/c"), 0);
    assert_int_equal(tally_failed(&result->whole.transactions[0]), 2);
}

static void what_the_end_cuts_is_not_counted(void **state)
{
    DriverOptions options = options_of();
    (void)state;

    seen.delay_ms = 2000;
    seen.delays_b = true;
    options.users = 3;
    options.duration_s = 1.5;
    options.cooldown_s = 30;
    RunResult *result = run("{\"name\":\"p\",\"loop\":[{\"transaction\":\"t\",\"steps\":["
                            "{\"method\":\"GET\",\"path\":\"/a\"},{\"method\":\"GET\",\"path\":"
                            "\"/b\"}]}]}",
                            &options);
    assert_int_equal(tally_count(&result->whole.all_transactions), 0);
    assert_int_equal(tally_count(&result->whole.all_requests), 3);
    assert_int_equal(result->whole.cut, 6); // three requests, three transactions
}

static void a_dead_server_is_a_connect_failure_and_a_slow_one_a_timeout(void **state)
{
    DriverOptions options = options_of();
    const char *plan = "{\"name\":\"p\",\"iterations\":1,\"loop\":[{\"method\":\"GET\",\"path\":"
                       "\"/a\"}]}";
    (void)state;

    seen.delay_ms = 200;
    options.timeout_s = 0.05;
    assert_int_equal(run(plan, &options)->whole.all_requests.failures[FAIL_TIMEOUT], 1);
    options.timeout_s = 30;
    options.url = S("http://127.0.0.1:1");
    assert_int_equal(run(plan, &options)->whole.all_requests.failures[FAIL_CONNECT], 1);
}

static void variables_of_setup_groups_are_properties_of_the_others(void **state)
{
    DriverOptions options = options_of();
    (void)state;

    run("{\"name\":\"p\",\"groups\":[{\"group\":\"in\",\"setup\":true,\"iterations\":1,\"steps\":"
        "[" LOGIN "]},{\"group\":\"g\",\"users\":\"2\",\"iterations\":1,\"steps\":[{\"headers\":{"
        "\"X-Okapi-Token\":\"${__P(token)}\"}},{\"method\":\"GET\",\"path\":\"/a\"}]}]}",
        &options);
    assert_int_equal(times_seen("GET /a X-Okapi-Token: abc.def"), 2);
}

static void loops_lists_conditions_and_fragments_run(void **state)
{
    DriverOptions options = options_of();
    (void)state;

    run("{\"name\":\"p\",\"variables\":{\"files\":\"x-y-z\"},\"fragments\":{\"f\":[{\"method\":"
        "\"GET\",\"path\":\"/f\"}]},\"groups\":[{\"group\":\"g\",\"iterations\":1,\"steps\":["
        "{\"method\":\"GET\",\"path\":\"/items\",\"extract\":[{\"var\":\"ids\",\"kind\":\"json\","
        "\"path\":\"$..id\",\"match\":\"all\"}]},"
        "{\"foreach\":\"ids\",\"as\":\"id\",\"steps\":[{\"method\":\"GET\",\"path\":"
        "\"/one/${id}\"}]},"
        "{\"foreach\":\"files\",\"as\":\"files\",\"from\":1,\"steps\":[{\"method\":\"GET\","
        "\"path\":\"/file/${files}\"}]},"
        "{\"loop\":3,\"steps\":[{\"call\":\"f\"}]},"
        "{\"set\":{\"n\":\"0\"}},"
        "{\"while\":\"${n} == 0\",\"steps\":[{\"method\":\"GET\",\"path\":\"/w\",\"extract\":[{"
        "\"var\":\"n\",\"kind\":\"json\",\"path\":\"$.totalRecords\"}]}]},"
        "{\"if\":\"\\\"${ids_matchNr}\\\" == \\\"2\\\"\",\"steps\":[{\"method\":\"GET\",\"path\":"
        "\"/yes\"}]},"
        "{\"if\":\"${n} > 2\",\"steps\":[{\"method\":\"GET\",\"path\":\"/no\"}]}]}]}",
        &options);
    assert_int_equal(times_seen("/one/i1"), 1);
    assert_int_equal(times_seen("/one/i2"), 1);
    assert_int_equal(times_seen("/file/"), 2);
    assert_int_equal(times_seen("/file/y"), 1);
    assert_int_equal(times_seen("/f "), 3);
    assert_int_equal(times_seen("/w"), 1);
    assert_int_equal(times_seen("/yes"), 1);
    assert_int_equal(times_seen("/no"), 0);
}

static void one_seed_gives_one_sequence_for_every_user(void **state)
{
    DriverOptions options = options_of();
    static char first[60][256];
    const char *plan = "{\"name\":\"p\",\"iterations\":20,\"loop\":[{\"method\":\"GET\",\"path\":"
                       "\"/${__Random(1,1000)}/${uuid()}\"}]}";
    (void)state;

    run(plan, &options);
    assert_int_equal(seen.len, 20);
    memcpy(first, seen.log, sizeof first[0] * 20);
    seen.len = 0;
    run(plan, &options);
    for (int i = 0; i < 20; i++) {
        assert_string_equal(seen.log[i], first[i]);
    }
    seen.len = 0;
    options.seed = 8;
    run(plan, &options);
    assert_string_not_equal(seen.log[0], first[0]);
}

static void think_models_choose_the_pauses(void **state)
{
    DriverOptions options = options_of();
    const char *plan = "{\"name\":\"p\",\"iterations\":1,\"loop\":[{\"method\":\"GET\",\"path\":"
                       "\"/a\",\"think_before\":{\"kind\":\"uniform\",\"offset_ms\":100,"
                       "\"range_ms\":20,\"intended_offset_ms\":3000}},{\"method\":\"OPTIONS\","
                       "\"path\":\"/a\",\"preflight\":true}]}";
    (void)state;

    RunResult *result = run(plan, &options);
    assert_true(result->run_s > 0.1 && result->run_s < 3);
    options.think = THINK_WRITTEN;
    assert_true(run(plan, &options)->run_s > 3);
    options.think = THINK_NONE;
    options.without_preflights = true;
    seen.len = 0;
    assert_true(run(plan, &options)->run_s < 3);
    assert_int_equal(times_seen("OPTIONS"), 0);
}

static void the_steady_window_begins_when_all_users_have_finished_one(void **state)
{
    DriverOptions options = options_of();
    (void)state;

    seen.delay_ms = 5;
    options.users = 4;
    options.ramp_s = 0.3;
    options.duration_s = 2;
    RunResult *result = run("{\"name\":\"p\",\"loop\":[{\"transaction\":\"t\",\"steps\":["
                            "{\"method\":\"GET\",\"path\":\"/a\"}]}]}",
                            &options);
    assert_true(result->is_steady);
    assert_true(result->window_from_s >= 0.3 && result->window_from_s < 2);
    assert_true(tally_count(&result->steady.all_requests) <
                tally_count(&result->whole.all_requests));
}

static int forget(void **state)
{
    (void)state;
    seen.len = seen.fail_every = seen.delay_ms = seen.freeze_at = 0;
    seen.frozen_until_ns = 0;
    seen.delays_b = false;
    return 0;
}

// For what a machine shows that has the time: one that has none for a moment is asked again.
static bool is_so_at_last(bool (*is_so)(void))
{
    for (int attempt = 0; attempt < 10; attempt++) {
        if (is_so()) {
            return true;
        }
        forget(NULL);
    }
    return false;
}

static const char plan_of_one[] =
    "{\"name\":\"p\",\"loop\":[{\"transaction\":\"t\",\"steps\":[{\"method\":"
    "\"GET\",\"path\":\"/a\"}]}]}";

static bool is_the_rate_kept(void)
{
    DriverOptions options = options_of();

    seen.delay_ms = 30; // one user can do 33 a second
    options.rate = 100;
    options.duration_s = 0.5;
    options.users = 20;
    uint64_t count = tally_count(&run(plan_of_one, &options)->whole.all_transactions);
    assert_true(count <= 50);
    return count >= 30;
}

static void the_open_model_keeps_its_rate_and_counts_waiting(void **state)
{
    DriverOptions options = options_of();
    (void)state;

    assert_true(is_so_at_last(is_the_rate_kept));
    seen.delay_ms = 200; // one user can do five a second
    options.rate = 50;
    options.duration_s = 2;
    options.users = 1;
    RunResult *result = run(plan_of_one, &options);
    assert_true(hist_max(result->whole.all_transactions.ok) > 200000);
    assert_true(result->whole.unserved > 50);
}

// A closed loop stops asking while the server is frozen and hides it; planned arrivals do not.
static bool is_a_freeze_seen(void)
{
    DriverOptions options = options_of();

    seen.freeze_at = 20;
    options.rate = 100;
    options.users = 50;
    options.duration_s = 1.5;
    const Hist *times = run(plan_of_one, &options)->whole.transactions[0].ok;
    int64_t waited = hist_count(times) - hist_count_below(times, 200000);
    return waited >= 20; // of some 50 that were planned meanwhile
}

static bool is_a_freeze_hidden(void)
{
    DriverOptions options = options_of();

    seen.freeze_at = 20;
    options.users = 1;
    options.duration_s = 1.5;
    const Hist *times = run(plan_of_one, &options)->whole.transactions[0].ok;
    return hist_max(times) >= 400000 &&
           hist_count_below(times, 200000) > hist_count(times) * 9 / 10;
}

static void a_freeze_is_seen_by_the_open_model_and_hidden_by_the_closed(void **state)
{
    (void)state;
    assert_true(is_so_at_last(is_a_freeze_seen));
    forget(NULL);
    assert_true(is_so_at_last(is_a_freeze_hidden));
}

static void many_users_on_two_loops_stay_small(void **state)
{
    DriverOptions options = options_of();
    (void)state;

    options.users = 200;
    options.threads = 2;
    RunResult *result = run("{\"name\":\"p\",\"iterations\":2,\"loop\":[{\"method\":\"GET\","
                            "\"path\":\"/a\"},{\"pause_ms\":20}]}",
                            &options);
    assert_int_equal(tally_count(&result->whole.all_requests), 400);
    assert_int_equal(result->sample_len, 0);
}

typedef struct {
    Tallies steady;
    int seconds, steady_seconds;
    int64_t from_ns, to_ns;
} Added;

static void add_second(const Second *second, void *context)
{
    Added *added = context;

    added->seconds++;
    if (second->is_steady) {
        added->from_ns = added->steady_seconds++ ? added->from_ns : second->from_ns;
        added->to_ns = second->to_ns;
        tallies_merge(&added->steady, second->counts);
    }
}

static void seconds_of_the_window_add_up_to_it(void **state)
{
    DriverOptions options = options_of();
    Added added = {0};
    const Plan *plan = plan_of("{\"name\":\"p\",\"loop\":[{\"transaction\":\"t\",\"steps\":["
                               "{\"method\":\"GET\",\"path\":\"/a\"},{\"pause_ms\":1}]}]}");
    RunResult *result = NEW(RunResult);
    (void)state;

    seen.fail_every = 10;
    tallies_open(&added.steady, plan);
    options.users = 3;
    options.warmup_s = 0.2;
    options.steady_s = 1.3;
    options.patience_s = 5;
    options.second = add_second;
    options.context = &added;
    assert_ok(driver_run(plan, &options, result));
    assert_true(result->is_steady && result->window_s >= 1.3);
    assert_true(added.steady_seconds >= 2);
    assert_true(added.seconds > added.steady_seconds);
    assert_true(added.from_ns == result->window_from_ns);
    assert_int_equal(hist_count(added.steady.transactions[0].ok),
                     hist_count(result->steady.transactions[0].ok));
    assert_int_equal(tally_failed(&added.steady.requests[0]),
                     tally_failed(&result->steady.requests[0]));
    assert_int_equal(result->steady.requests[0].statuses[0].status, 500);
    assert_int_equal(result->steady.requests[0].statuses[0].times,
                     tally_failed(&result->steady.requests[0]));
    assert_true(result->steady.paused_s > 0);
    tallies_close(&added.steady);
}

static void the_slowest_transactions_are_kept_with_their_requests(void **state)
{
    DriverOptions options = options_of();
    (void)state;

    options.warmup_s = 60; // all of so short a run counts, wherever a steady window might begin
    RunResult *result =
        run("{\"name\":\"p\",\"iterations\":15,\"loop\":[{\"transaction\":\"t\",\"steps\":["
            "{\"id\":\"a\",\"method\":\"GET\",\"path\":\"/a\"},{\"id\":\"b\",\"method\":\"GET\","
            "\"path\":\"/b\"}]}]}",
            &options);
    // Of the steady window, which begins in the middle if the machine is slow.
    const Hist *times = result->steady.transactions[0].ok;
    int64_t count = hist_count(times);
    assert_int_equal(result->slow_len, count < SLOW_MAX ? count : SLOW_MAX);
    assert_int_equal(result->slowest[0].time_us, hist_max(times));
    for (size_t i = 0; i < result->slow_len; i++) {
        const Slow *slow = &result->slowest[i];
        assert_true(i == 0 || slow->time_us <= result->slowest[i - 1].time_us);
        assert_int_equal(slow->step_len, 2);
        assert_int_equal(slow->steps[0].time_us + slow->steps[1].time_us, slow->time_us);
        assert_str(slow->steps[1].request->id, "b");
        assert_int_equal(slow->steps[1].status, 200);
    }
}

// The last users finish what they have begun, and that is no steady load.
static void the_window_ends_with_the_first_user_that_finds_no_line(void **state)
{
    DriverOptions options = options_of();
    Str name = str_fmt("bench-driver-%d.csv", (int)getpid());
    const char *path = str_z(str_fmt("/tmp/" STR_FMT, STR_ARG(name)));
    FILE *list = fopen(path, "w");
    (void)state;

    for (int i = 0; i < 100; i++) {
        fprintf(list, "line-%d\n", i);
    }
    fclose(list);
    options.users = 2;
    options.steady_s = 60;
    options.patience_s = 5;
    RunResult *result = run(
        str_z(str_fmt("{\"name\":\"p\",\"data\":[{\"file\":\"" STR_FMT "\",\"columns\":[\"x\"],"
                      "\"recycle\":false,\"stop_thread_at_end\":true}],\"loop\":[{\"transaction\":"
                      "\"t\",\"steps\":[{\"method\":\"GET\",\"path\":\"/${x}\"},{\"pause_ms\":50}]}"
                      "]}",
                      STR_ARG(name))),
        &options);
    unlink(path);
    assert_true(result->is_steady && result->has_ended_early);
    assert_true(str_eq(result->used_up->file, name));
    assert_int_equal(tally_count(&result->whole.all_requests), 100);
    assert_int_equal(result->whole.exhausted, 2);
    assert_int_equal(tally_failed(&result->whole.all_requests), 0);
    double end_s = result->window_from_s + result->window_s;
    assert_true(end_s >= result->used_up_s && end_s <= result->run_s);
}

static void a_window_that_cannot_begin_is_not_waited_for_for_ever(void **state)
{
    DriverOptions options = options_of();
    (void)state;

    options.steady_s = 30;
    options.patience_s = 0.3;
    RunResult *result = run("{\"name\":\"p\",\"loop\":[{\"transaction\":\"t\",\"steps\":[{"
                            "\"method\":\"GET\",\"path\":\"/a\"},{\"pause_ms\":60000}]}]}",
                            &options);
    assert_false(result->is_steady);
    assert_true(result->run_s < 20);
}

static void a_cancelled_run_ends_at_once(void **state)
{
    static const _Atomic bool cancel = true;
    DriverOptions options = options_of();
    (void)state;

    options.cancel = &cancel;
    options.duration_s = 60;
    RunResult *result =
        run("{\"name\":\"p\",\"loop\":[{\"method\":\"GET\",\"path\":\"/a\"}]}", &options);
    assert_true(result->run_s < 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(values_flow_from_answers_into_requests, forget),
        cmocka_unit_test_setup(a_transaction_is_the_sum_of_its_requests_without_pauses, forget),
        cmocka_unit_test_setup(every_user_keeps_one_connection, forget),
        cmocka_unit_test_setup(failures_are_counted_by_class_and_shown, forget),
        cmocka_unit_test_setup(after_an_error_the_user_logs_in_again_and_begins_the_next_pass,
                               forget),
        cmocka_unit_test_setup(what_the_end_cuts_is_not_counted, forget),
        cmocka_unit_test_setup(a_dead_server_is_a_connect_failure_and_a_slow_one_a_timeout, forget),
        cmocka_unit_test_setup(variables_of_setup_groups_are_properties_of_the_others, forget),
        cmocka_unit_test_setup(loops_lists_conditions_and_fragments_run, forget),
        cmocka_unit_test_setup(one_seed_gives_one_sequence_for_every_user, forget),
        cmocka_unit_test_setup(think_models_choose_the_pauses, forget),
        cmocka_unit_test_setup(the_steady_window_begins_when_all_users_have_finished_one, forget),
        cmocka_unit_test_setup(the_open_model_keeps_its_rate_and_counts_waiting, forget),
        cmocka_unit_test_setup(a_freeze_is_seen_by_the_open_model_and_hidden_by_the_closed, forget),
        cmocka_unit_test_setup(many_users_on_two_loops_stay_small, forget),
        cmocka_unit_test_setup(seconds_of_the_window_add_up_to_it, forget),
        cmocka_unit_test_setup(the_slowest_transactions_are_kept_with_their_requests, forget),
        cmocka_unit_test_setup(the_window_ends_with_the_first_user_that_finds_no_line, forget),
        cmocka_unit_test_setup(a_window_that_cannot_begin_is_not_waited_for_for_ever, forget),
        cmocka_unit_test_setup(a_cancelled_run_ends_at_once, forget),
    };
    test_server_start(&test_server, answer);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    test_server_stop(&test_server);
    return failed;
}
