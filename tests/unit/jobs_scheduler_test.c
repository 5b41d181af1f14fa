// Durable jobs and timers.
#include "jobs/internal.h"
#include "jobs_world.h"

#include <stdatomic.h>

#define NOON ((Time)1767265200000) // 2026-01-01T11:00:00Z

static _Atomic int fails_times;

// Counts from doc.at to doc.to, one a step.
static Err *count_step(Tx *tx, Job *job, bool *done)
{
    int64_t at = json_int(job->doc, "at", 0);

    TRY(note_add(tx, str_fmt("%lld", (long long)at)));
    if (fails_times > 0 && at == 3) {
        fails_times--;
        json_set_int(job->doc, "at", 99); // is forgotten with the transaction
        return err_text(500, "not now");
    }
    json_set_int(job->doc, "at", at + 1);
    *done = at + 1 > json_int(job->doc, "to", 0);
    return NULL;
}

typedef struct {
    Time due_at;
    int to;
} Order;

static Err *enqueue(Tx *tx, void *context)
{
    const Order *order = context;
    Json *doc = json_object();

    json_set_int(doc, "at", 1);
    json_set_int(doc, "to", order->to);
    return job_enqueue_at(tx, "test-count", order->due_at, doc);
}

static void order(Db *db, Time due_at, int to)
{
    assert_ok(tx_run(db, &(TxOptions){.kind = WRITE}, enqueue, &(Order){due_at, to}));
}

static Err *read_jobs(Tx *tx, void *docs)
{
    return tx_where(tx, &jobs_table, "1 = 1", NO_ARGS, docs);
}

static Docs jobs_left(Db *db)
{
    Docs docs = {0};

    assert_ok(tx_run(db, &(TxOptions){.kind = READ}, read_jobs, &docs));
    return docs;
}

static int setup(void **state)
{
    fails_times = 0;
    job_kind("test-count", count_step);
    return world_setup(state);
}

static void a_job_runs_step_by_step_and_is_gone(void **state)
{
    World *world = *state;

    order(world->db, NOON, 120); // more than one slice
    assert_ok(jobs_drain(world->scheduler, world->db, NOON));
    assert_int_equal(jobs_left(world->db).len, 0);
    assert_true(strlen(notes_of(world->db)) > 300);
}

static void a_job_waits_until_it_is_due(void **state)
{
    World *world = *state;

    order(world->db, NOON + 1, 2);
    assert_ok(jobs_drain(world->scheduler, world->db, NOON));
    assert_string_equal(notes_of(world->db), "");
    assert_ok(jobs_drain(world->scheduler, world->db, NOON + 1));
    assert_string_equal(notes_of(world->db), "1 2");
}

static void a_failed_step_leaves_nothing_and_runs_again_later(void **state)
{
    World *world = *state;

    fails_times = 2;
    order(world->db, NOON, 4);
    assert_ok(jobs_drain(world->scheduler, world->db, NOON));
    assert_string_equal(notes_of(world->db), "1 2");
    assert_ok(jobs_drain(world->scheduler, world->db, NOON + 999));
    assert_int_equal(fails_times, 1);
    assert_ok(jobs_drain(world->scheduler, world->db, NOON + 1000));
    assert_int_equal(fails_times, 0);
    assert_ok(jobs_drain(world->scheduler, world->db, NOON + 2999));
    assert_string_equal(notes_of(world->db), "1 2");
    assert_ok(jobs_drain(world->scheduler, world->db, NOON + 3000));
    assert_string_equal(notes_of(world->db), "1 2 3 4");
}

static void a_job_that_always_fails_is_given_up_and_kept(void **state)
{
    World *world = *state;

    fails_times = 1000;
    order(world->db, NOON, 4);
    for (int i = 0; i < 30; i++) {
        assert_ok(jobs_drain(world->scheduler, world->db, NOON + i * HOUR_MS));
    }
    assert_int_equal(fails_times, 980);
    assert_int_equal(jobs_left(world->db).len, 1);
    assert_str(json_str(jobs_left(world->db).at[0], "error"), "not now");
}

static void a_job_for_now_does_not_wait_for_a_look(void **state)
{
    World *world = *state;

    jobs_begin(world->scheduler);
    usleep(100000); // the first look is over
    order(world->db, time_now(), 3);
    assert_soon(strcmp(notes_of(world->db), "1 2 3") == 0);
    assert_int_equal(outbox_count(world->db), 0);
}

static void a_job_of_an_earlier_run_is_found(void **state)
{
    World *world = *state;

    order(world->db, time_now(), 3);
    world_close(world);
    world_open(world);
    jobs_begin(world->scheduler);
    assert_soon(strcmp(notes_of(world->db), "1 2 3") == 0);
}

static bool is_closed(const void *world)
{
    return store_figures(((const World *)world)->store).databases_open == 0;
}

// Whether it is so, and is so after each of so many milliseconds.
static bool stays(bool (*is_so)(const void *), const void *context, int ms)
{
    for (int i = 0; i < ms / 20; i++) {
        if (!is_so(context)) {
            return false;
        }
        usleep(20000);
    }
    return is_so(context);
}

static void idle_tenants_are_not_opened(void **state)
{
    World *world = *state;

    if (!test_is_embedded()) {
        skip_because("only SQLite has files to close; unit tests run on it too");
    }
    order(world->db, time_now() + HOUR_MS, 3);
    jobs_begin(world->scheduler);
    // Files close after 100 ms without use here. After the first look, which may come late, nothing
    // opens them again.
    assert_soon(stays(is_closed, world, 600));
}

// ---------------------------------------------------------------------------------------------
// Timers

static _Atomic int runs, running, overlaps;

static Err *tick(Db *db, Time now)
{
    (void)db, (void)now;
    overlaps += running++ > 0;
    usleep(50000);
    running--;
    runs++;
    return runs == 1 ? err_text(500, "the first time fails") : NULL;
}

static bool runs_are(const void *count)
{
    return runs == *(const int *)count;
}

static void a_timer_runs_again_after_an_error_and_never_overlaps(void **state)
{
    World *world = *state;

    runs = overlaps = 0;
    jobs_timer(world->scheduler, S("diku"), &(Timer){"tick", .every_s = 1, .run = tick});
    jobs_begin(world->scheduler);
    assert_soon(runs >= 3);
    assert_int_equal(overlaps, 0);
    jobs_timers_clear(world->scheduler, S("diku"));
    // One that has begun may end; then there are no more.
    int before = runs;
    assert_soon(stays(runs_are, &before, 1200) || ((before = runs), false));
}

static Err *tock(Db *db, Time now)
{
    Docs docs = {0};

    (void)now;
    runs++;
    return tx_run(db, &(TxOptions){.kind = READ}, read_jobs, &docs);
}

static _Atomic Time due_in;

static Err *tock_due(Db *db, Time now, Time *at)
{
    (void)db;
    *at = now + due_in;
    return NULL;
}

static void a_timer_rests_while_nothing_changes_and_the_files_close(void **state)
{
    World *world = *state;

    if (!test_is_embedded()) {
        skip_because("timers rest only where one process owns the data; on PostgreSQL they run");
    }
    runs = 0;
    due_in = HOUR_MS;
    jobs_timer(world->scheduler, S("diku"),
               &(Timer){"tock", .every_s = 1, .run = tock, .due = tock_due});
    jobs_begin(world->scheduler);
    assert_soon(runs == 1);
    assert_soon(store_figures(world->store).databases_open == 0);
    usleep(1500000);
    assert_int_equal(runs, 1);
    assert_int_equal(store_figures(world->store).databases_open, 0);
    // A change ends the rest; so does the time that the timer named.
    due_in = SECOND_MS / 2;
    order(world->db, time_now() + HOUR_MS, 3);
    assert_soon(runs >= 3);
}

static void a_timer_without_period_never_runs(void **state)
{
    World *world = *state;

    runs = 0;
    jobs_timer(world->scheduler, S("diku"), &(Timer){"tick", .run = tick});
    jobs_timer(world->scheduler, S("diku"), &(Timer){"bad", .run = tick, .cron = "at noon"});
    jobs_begin(world->scheduler);
    usleep(200000);
    assert_int_equal(runs, 0);
}

#define assert_cron(text, zone, after, expected)                                                   \
    do {                                                                                           \
        Time after_ = 0;                                                                           \
        assert_true(time_parse(S(after), &after_));                                                \
        assert_str(time_format_z(cron_next(text, zone, after_)), expected);                        \
    } while (0)

static void cron_texts_give_the_next_time(void **state)
{
    (void)state;
    assert_cron("0 2 * * *", NULL, "2026-01-01T01:59:59Z", "2026-01-01T02:00:00.000Z");
    assert_cron("0 2 * * *", NULL, "2026-01-01T02:00:00Z", "2026-01-02T02:00:00.000Z");
    assert_cron("1 0 * * *", "CET", "2026-01-01T00:00:00Z", "2026-01-01T23:01:00.000Z");
    assert_cron("*/20 8-9 * * 1-5", NULL, "2026-01-02T09:41:00Z", "2026-01-05T08:00:00.000Z");
    assert_cron("5,35 * * * *", NULL, "2026-01-02T09:05:00Z", "2026-01-02T09:35:00.000Z");
    assert_cron("0 0 29 2 *", NULL, "2026-01-01T00:00:00Z", "2028-02-29T00:00:00.000Z");
    assert_cron("0 12 1 * 7", NULL, "2026-01-02T00:00:00Z", "2026-01-04T12:00:00.000Z");
    // 02:30 does not exist in Berlin on that day.
    assert_cron("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T01:30:00.000Z");
}

static void cron_texts_that_are_none_give_no_time(void **state)
{
    static const char *const bad[] = {
        "",          "* * * *",     "60 * * * *",  "* 24 * * *", "* * 0 * *",  "5-1 * * * *",
        "x * * * *", "* * * * * *", "*/0 * * * *", "1, * * * *", "0 0 31 2 *", "1- * * * *"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(cron_next(bad[i], NULL, NOON), 0);
    }
    assert_int_equal(cron_next(NULL, NULL, NOON), 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, world_teardown)
    const struct CMUnitTest tests[] = {
        CASE(a_job_runs_step_by_step_and_is_gone),
        CASE(a_job_waits_until_it_is_due),
        CASE(a_failed_step_leaves_nothing_and_runs_again_later),
        CASE(a_job_that_always_fails_is_given_up_and_kept),
        CASE(a_job_for_now_does_not_wait_for_a_look),
        CASE(a_job_of_an_earlier_run_is_found),
        CASE(idle_tenants_are_not_opened),
        CASE(a_timer_runs_again_after_an_error_and_never_overlaps),
        CASE(a_timer_rests_while_nothing_changes_and_the_files_close),
        CASE(a_timer_without_period_never_runs),
        cmocka_unit_test(cron_texts_give_the_next_time),
        cmocka_unit_test(cron_texts_that_are_none_give_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
