// Accounting per module: nothing is lost, nothing counts twice, off costs nothing.
#include "test.h"

#include "base/date.h"
#include "base/meter.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

static Meter *desk, *stock;

static void work(int n)
{
    for (volatile int i = 0; i < n * 1000; i++) {
    }
}

static MeterReading window_of(const char *module, int window_s)
{
    static MeterReading readings[128];
    MeterReading total;
    size_t n = meter_read(window_s, readings, 128, &total);

    for (size_t i = 0; i < n; i++) {
        if (strcmp(readings[i].module, module) == 0) {
            return readings[i];
        }
    }
    return (MeterReading){.module = NULL};
}

static MeterReading reading_of(const char *module)
{
    return window_of(module, 0);
}

static int64_t cpu_of_all(void)
{
    static MeterReading readings[128];
    MeterReading total;

    meter_read(0, readings, 128, &total);
    return total.cpu_ns;
}

static int64_t thread_cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * (int64_t)1000000000 + now.tv_nsec;
}

// A thread of its own per test: accounting belongs to threads.
static void in_thread(void *(*run)(void *), void *context)
{
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, run, context), 0);
    pthread_join(thread, NULL);
}

static void *call_of_a_module(void *unused)
{
    (void)unused;
    meter_begin_alone(desk);
    meter_enter(stock);
    work(20000);
    meter_leave();
    meter_end(clock_ns());
    return NULL;
}

static void time_spent_in_a_called_module_is_not_the_callers(void **state)
{
    (void)state;
    int64_t desk_ns = reading_of("mod-desk").cpu_ns, stock_ns = reading_of("mod-stock").cpu_ns;

    in_thread(call_of_a_module, NULL);
    desk_ns = reading_of("mod-desk").cpu_ns - desk_ns;
    stock_ns = reading_of("mod-stock").cpu_ns - stock_ns;
    assert_true(stock_ns > 10 * desk_ns);
}

static void *module_that_calls_itself(void *visits)
{
    meter_begin_alone(desk);
    meter_enter(stock);
    meter_enter(stock);
    meter_enter(desk);
    meter_leave();
    meter_leave();
    meter_leave();
    *(size_t *)visits = meter_end(clock_ns())->visit_count;
    return NULL;
}

static void a_module_that_calls_itself_stays_on_top(void **state)
{
    (void)state;
    size_t visits = 0;

    in_thread(module_that_calls_itself, &visits);
    assert_int_equal(visits, 3); // desk, stock, desk
}

static void *many_requests(void *used_ns)
{
    for (int i = 0; i < 100; i++) {
        meter_begin(desk, 0);
        work(100);
        meter_enter(stock);
        work(100);
        meter_leave();
        meter_end(clock_ns());
        work(100); // receiving and sending
    }
    meter_thread_end();
    *(int64_t *)used_ns = thread_cpu_ns();
    return NULL;
}

static void all_cpu_of_a_connection_is_charged_to_some_module(void **state)
{
    (void)state;
    int64_t before = cpu_of_all(), used = 0;

    in_thread(many_requests, &used);
    int64_t charged = cpu_of_all() - before;
    assert_in_range(charged, used / 100 * 95, used);
}

static void *waiting_request(void *unused)
{
    (void)unused;
    struct timespec pause = {0, 20 * 1000000};

    meter_begin_alone(desk);
    meter_enter(stock);
    MeterMark begun = meter_mark();
    nanosleep(&pause, NULL);
    meter_wait(PHASE_QUEUE, begun);
    meter_leave();
    work(20000);
    meter_end(clock_ns());
    return NULL;
}

static void who_waits_for_a_turn_is_not_charged_for_it(void **state)
{
    (void)state;
    MeterReading before = reading_of("mod-stock");

    in_thread(waiting_request, NULL);
    MeterReading after = reading_of("mod-stock");
    assert_true(after.queue_ns - before.queue_ns >= 20 * 1000000);
    assert_true(after.cpu_ns - before.cpu_ns < 5 * 1000000);
}

enum { INNER = STATEMENTS_KEPT + 10 };

// As a request that waits for the writer in a statement while its permissions are looked for, and
// then runs a statement for each row of another.
static void *phases_in_phases(void *out)
{
    MeterWork *copy = out;

    meter_begin_alone(desk);
    MeterMark auth = meter_mark();
    MeterMark outer = meter_mark();
    MeterMark turn = meter_mark();
    work(1000);
    meter_wait(PHASE_QUEUE, turn);
    work(1000);
    meter_statement("outer", outer, 7);
    meter_phase(PHASE_AUTH, auth, clock_ns());
    outer = meter_mark();
    for (int i = 0; i < INNER; i++) {
        MeterMark inner = meter_mark();
        work(1000);
        meter_statement("inner", inner, 1);
    }
    meter_statement("outer", outer, INNER);
    *copy = *meter_end(clock_ns());
    return NULL;
}

static void what_happens_inside_of_a_phase_counts_once(void **state)
{
    (void)state;
    static MeterWork work_done;
    int64_t sum = 0;

    in_thread(phases_in_phases, &work_done);
    for (int i = 0; i < PHASES; i++) {
        assert_true(work_done.phase_ns[i] >= 0);
        sum += work_done.phase_ns[i];
    }
    assert_true(sum <= work_done.ended_ns - work_done.begun_ns);
    assert_int_equal(work_done.statement_count, INNER + 2);
    assert_int_equal(work_done.statements[0].rows, 7);
    assert_true(work_done.statements[0].ns < work_done.phase_ns[PHASE_STORE]);
}

static void *off_request(void *unused)
{
    (void)unused;
    meter_begin(desk, 0);
    assert_null(meter_work());
    assert_int_equal(meter_enter(stock), 0);
    assert_int_equal(meter_clock(), 0);
    meter_statement("shape", meter_mark(), 1);
    meter_leave();
    assert_null(meter_end(clock_ns()));
    return NULL;
}

static void switched_off_nothing_is_measured(void **state)
{
    (void)state;
    int64_t before = cpu_of_all();

    meter_switch(false);
    in_thread(off_request, NULL);
    meter_switch(true);
    assert_int_equal(cpu_of_all(), before);
}

static void percentiles_are_those_of_the_requests_of_the_window(void **state)
{
    (void)state;
    static MeterReading readings[128];
    Meter *meter = meter_of("mod-percentile");
    MeterReading total;
    int64_t now = clock_ns();

    for (int i = 1; i <= 1000; i++) {
        meter_request(meter, &(MeterRequest){.ns = i * (int64_t)1000000, .failed = i == 1000}, now);
    }
    size_t n = meter_read(60, readings, 128, &total);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(readings[i].module, "mod-percentile") == 0) {
            assert_in_range(readings[i].p50_us, 485000, 515000);
            assert_in_range(readings[i].p95_us, 920000, 980000);
            assert_int_equal(readings[i].requests, 1000);
            assert_int_equal(readings[i].errors, 1);
        }
    }
    assert_int_equal(reading_of("mod-desk").p50_us, -1);
}

static void a_window_holds_what_came_since_it_began(void **state)
{
    (void)state;
    static const MeterRequest request = {.ns = 1000, .bytes_in = 7};
    const struct timespec more_than_a_second = {1, 100000000};
    Meter *early = meter_of("mod-early"), *late = meter_of("mod-late");

    meter_request(early, &request, clock_ns());
    nanosleep(&more_than_a_second, NULL);
    assert_int_equal(window_of("mod-early", 1).requests, 0);
    meter_request(late, &request, clock_ns()); // a second begins
    meter_request(late, &request, clock_ns());
    assert_int_equal(window_of("mod-early", 1).bytes_in, 0);
    assert_int_equal(window_of("mod-early", 60).bytes_in, 7);
    assert_int_equal(window_of("mod-late", 60).requests, 2);
    assert_int_equal(window_of("mod-late", 0).bytes_in, 14);
}

static void caches_count_as_memory_of_their_module(void **state)
{
    (void)state;
    meter_cache(meter_of("mod-cached"), 1000);
    meter_cache(meter_of("mod-cached"), 500);
    meter_cache(meter_of("mod-cached"), -1000);
    assert_int_equal(reading_of("mod-cached").memory_bytes, 500);
}

static void *deep_stack(void *statements)
{
    meter_begin_alone(desk);
    for (int i = 0; i < 50; i++) {
        meter_enter(i % 2 ? desk : stock);
        meter_statement("deep", meter_mark(), 0);
    }
    for (int i = 0; i < 50; i++) {
        meter_leave();
    }
    *(size_t *)statements = meter_end(clock_ns())->statement_count;
    return NULL;
}

static void deep_stacks_are_survived(void **state)
{
    (void)state;
    size_t statements = 0;

    in_thread(deep_stack, &statements);
    assert_int_equal(statements, 50);
}

static int meters_make(void **state)
{
    (void)state;
    desk = meter_of("mod-desk");
    stock = meter_of("mod-stock");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_spent_in_a_called_module_is_not_the_callers),
        cmocka_unit_test(a_module_that_calls_itself_stays_on_top),
        cmocka_unit_test(all_cpu_of_a_connection_is_charged_to_some_module),
        cmocka_unit_test(who_waits_for_a_turn_is_not_charged_for_it),
        cmocka_unit_test(what_happens_inside_of_a_phase_counts_once),
        cmocka_unit_test(switched_off_nothing_is_measured),
        cmocka_unit_test(percentiles_are_those_of_the_requests_of_the_window),
        cmocka_unit_test(a_window_holds_what_came_since_it_began),
        cmocka_unit_test(deep_stacks_are_survived),
        cmocka_unit_test(caches_count_as_memory_of_their_module),
    };
    return cmocka_run_group_tests(tests, meters_make, NULL);
}
