// Events: order, exactly one delivery to subscribers, trouble with one event, the sink.
#include "jobs/internal.h"
#include "jobs_world.h"

#include "base/buf.h"

#include <stdatomic.h>

// ---------------------------------------------------------------------------------------------
// A subscriber that writes a note per event and fails where it is told to

static _Atomic int fails_at; // number of the event, 0 = never
static _Atomic int failures, fails_times;

static Err *hear(Tx *tx, const Event *events, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (fails_at && str_eq(events[i].key, str_fmt("%d", fails_at)) &&
            (n > 1 || fails_times == 0 || failures < fails_times)) {
            failures += n == 1;
            return err_text(500, "cannot hear " STR_FMT, STR_ARG(events[i].key));
        }
        TRY(note_add(tx, events[i].key));
    }
    return NULL;
}

static int setup(void **state)
{
    fails_at = failures = fails_times = 0;
    bus_subscribe("test.heard", hear, NULL);
    return world_setup(state);
}

static const char *numbers(int from, int to)
{
    Buf out = buf_new(arena_current(), 1 << 20);

    for (int i = from; i <= to; i++) {
        buf_fmt(&out, "%s%d", i > from ? " " : "", i);
    }
    return str_z(buf_str(&out));
}

static void subscribers_get_events_in_order_and_once(void **state)
{
    World *world = *state;

    emit(world->db, "test.heard", 1, 700);
    assert_ok(jobs_drain(world->scheduler, world->db, 0));
    assert_ok(jobs_drain(world->scheduler, world->db, 0));
    assert_string_equal(notes_of(world->db), numbers(1, 700));
    assert_int_equal(outbox_count(world->db), 0);
}

static void the_relay_wakes_up_when_something_is_committed(void **state)
{
    World *world = *state;

    jobs_begin(world->scheduler);
    for (int i = 0; i < 50; i++) {
        emit(world->db, "test.heard", i + 1, 1);
    }
    assert_soon(outbox_count(world->db) == 0);
    assert_string_equal(notes_of(world->db), numbers(1, 50));
}

static void what_an_earlier_run_left_is_delivered(void **state)
{
    World *world = *state;

    emit(world->db, "test.heard", 1, 3);
    world_close(world);
    world_open(world);
    jobs_begin(world->scheduler);
    assert_soon(outbox_count(world->db) == 0);
    assert_string_equal(notes_of(world->db), "1 2 3");
}

static void stopping_delivers_what_is_written(void **state)
{
    World *world = *state;

    jobs_begin(world->scheduler);
    emit(world->db, "test.heard", 1, 2000);
    jobs_stop(world->scheduler);
    assert_int_equal(outbox_count(world->db), 0);
    assert_string_equal(notes_of(world->db), numbers(1, 2000));
    assert_ok(jobs_new(world->store, &world->scheduler));
}

static void an_event_that_fails_twice_is_delivered_the_third_time(void **state)
{
    World *world = *state;
    RelayState relay = {0};
    RelayPass pass = {.access = &(TenantAccess){0}};
    int errors = 0;

    fails_at = 40;
    fails_times = 2;
    emit(world->db, "test.heard", 1, 100);
    while (!pass.is_last && errors < 10) {
        errors += relay_pass(world->db, &relay, &pass) != NULL;
    }
    assert_int_equal(errors, 2);
    assert_string_equal(notes_of(world->db), numbers(1, 100));
}

static Err *read_dead(Tx *tx, void *context)
{
    return tx_where(tx, &dead_letters, "1 = 1", NO_ARGS, context);
}

static void an_event_that_always_fails_goes_to_the_dead_letters(void **state)
{
    World *world = *state;
    RelayState relay = {0};
    RelayPass pass = {.access = &(TenantAccess){0}};
    Docs dead = {0};
    int errors = 0;

    fails_at = 2;
    emit(world->db, "test.heard", 1, 4);
    while (!pass.is_last && errors < 20) {
        errors += relay_pass(world->db, &relay, &pass) != NULL;
    }
    assert_int_equal(errors, 7);
    assert_string_equal(notes_of(world->db), "1 3 4");
    assert_int_equal(outbox_count(world->db), 0);
    assert_ok(tx_run(world->db, &(TxOptions){.kind = READ}, read_dead, &dead));
    assert_int_equal(dead.len, 1);
    assert_str(json_str(dead.at[0], "key"), "2");
    assert_str(json_str(dead.at[0], "error"), "cannot hear 2");
}

static Err *retry(Tx *tx, void *seq)
{
    return dead_letter_retry(tx, *(int64_t *)seq);
}

static void a_dead_letter_can_be_tried_again(void **state)
{
    World *world = *state;
    Docs dead = {0};

    an_event_that_always_fails_goes_to_the_dead_letters(state);
    fails_at = 0;
    assert_ok(tx_run(world->db, &(TxOptions){.kind = READ}, read_dead, &dead));
    int64_t seq = json_int(dead.at[0], "seq", 0);
    assert_int_equal(seq, 2);
    assert_ok(tx_run(world->db, &(TxOptions){.kind = WRITE}, retry, &seq));
    assert_ok(jobs_drain(world->scheduler, world->db, 0));
    assert_string_equal(notes_of(world->db), "1 3 4 2");
    assert_err(tx_run(world->db, &(TxOptions){.kind = WRITE}, retry, &seq), 404,
               "no dead letter 2");
}

static void a_tenant_in_trouble_does_not_keep_others_waiting(void **state)
{
    World *world = *state;
    Db *other = NULL;

    assert_ok(world_open_tenant(world, S("other"), &other));
    fails_at = 1;
    jobs_begin(world->scheduler);
    emit(world->db, "test.heard", 1, 1);
    assert_soon(failures > 0);
    emit(other, "test.heard", 2, 3);
    assert_soon(outbox_count(other) == 0);
    assert_string_equal(notes_of(other), "2 3 4");
    assert_int_equal(outbox_count(world->db), 1);
}

static void a_dropped_tenant_is_left_alone(void **state)
{
    World *world = *state;
    Db *other = NULL;
    JobsFigures figures = {0};

    assert_ok(world_open_tenant(world, S("other"), &other));
    fails_at = 1;
    jobs_begin(world->scheduler);
    emit(other, "test.heard", 1, 1);
    assert_soon(failures > 0);
    jobs_forget(world->scheduler, S("other"));
    assert_ok(db_drop(world->store, S("other")));
    // The same name again begins anew.
    fails_at = 0;
    assert_ok(world_open_tenant(world, S("other"), &other));
    emit(other, "test.heard", 7, 1);
    assert_soon(outbox_count(other) == 0);
    assert_string_equal(notes_of(other), "7");
    assert_ok(jobs_figures(world->scheduler, &figures));
    assert_int_equal(figures.pending, 0);
}

static bool has_nothing(void *context, Str tenant, const void *owner)
{
    (void)context, (void)tenant, (void)owner;
    return false;
}

static Err *must_not_hear(Tx *tx, const Event *events, size_t n)
{
    (void)tx, (void)events, (void)n;
    return err_text(500, "a module that is not enabled was called");
}

static void modules_that_are_not_enabled_hear_nothing(void **state)
{
    World *world = *state;

    bus_subscribe("test.plain", must_not_hear, "module");
    jobs_access(world->scheduler, &(TenantAccess){.has = has_nothing});
    emit(world->db, "test.plain", 1, 2);
    assert_ok(jobs_drain(world->scheduler, world->db, 0));
    assert_int_equal(outbox_count(world->db), 0);
}

// ---------------------------------------------------------------------------------------------
// The sink

typedef struct {
    pthread_mutex_t lock;
    char keys[1 << 14];
    _Atomic bool is_down, is_interrupted;
    _Atomic int calls;
    const char *refuses;
} TestSink;

static Err *sink_send(void *context, const Event *events, size_t n, Str tenant, Str *refused)
{
    TestSink *sink = context;
    (void)tenant;

    sink->calls++;
    if (sink->is_down) {
        return err_text(503, "down");
    }
    pthread_mutex_lock(&sink->lock);
    for (size_t i = 0; i < n; i++) {
        if (sink->refuses && str_eq_z(events[i].key, sink->refuses)) {
            refused[i] = S("too large");
            continue;
        }
        size_t len = strlen(sink->keys);
        snprintf(sink->keys + len, sizeof sink->keys - len, "%s" STR_FMT, len ? " " : "",
                 STR_ARG(events[i].key));
    }
    pthread_mutex_unlock(&sink->lock);
    return NULL;
}

static void sink_interrupt(void *context)
{
    ((TestSink *)context)->is_interrupted = true;
}

static void sink_set(World *world, TestSink *sink)
{
    *sink = (TestSink){.lock = PTHREAD_MUTEX_INITIALIZER};
    jobs_sink(world->scheduler, &(EventSink){sink, sink_send, sink_interrupt});
}

static void rows_leave_when_subscribers_and_sink_have_them(void **state)
{
    World *world = *state;
    static TestSink sink;

    sink_set(world, &sink);
    jobs_begin(world->scheduler);
    emit(world->db, "test.heard", 1, 600);
    assert_soon(outbox_count(world->db) == 0);
    assert_string_equal(notes_of(world->db), numbers(1, 600));
    assert_string_equal(sink.keys, numbers(1, 600));
}

static void with_the_sink_down_rows_wait_and_subscribers_do_not(void **state)
{
    World *world = *state;
    static TestSink sink;

    sink_set(world, &sink);
    sink.is_down = true;
    jobs_begin(world->scheduler);
    emit(world->db, "test.heard", 1, 5);
    assert_soon(sink.calls > 0 && strlen(notes_of(world->db)) == 9);
    assert_int_equal(outbox_count(world->db), 5);
    jobs_stop(world->scheduler);

    // Another run: the sink gets them, the subscribers do not get them again.
    assert_ok(jobs_new(world->store, &world->scheduler));
    sink_set(world, &sink);
    jobs_begin(world->scheduler);
    assert_soon(outbox_count(world->db) == 0);
    assert_string_equal(sink.keys, "1 2 3 4 5");
    assert_string_equal(notes_of(world->db), "1 2 3 4 5");
}

static void what_the_sink_refuses_does_not_block_the_rest(void **state)
{
    World *world = *state;
    static TestSink sink;
    Docs dead = {0};

    sink_set(world, &sink);
    sink.refuses = "2";
    jobs_begin(world->scheduler);
    emit(world->db, "test.heard", 1, 3);
    assert_soon(outbox_count(world->db) == 0);
    assert_string_equal(sink.keys, "1 3");
    assert_ok(tx_run(world->db, &(TxOptions){.kind = READ}, read_dead, &dead));
    assert_int_equal(dead.len, 1);
    assert_str(json_str(dead.at[0], "reader"), "sink");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, world_teardown)
    const struct CMUnitTest tests[] = {
        CASE(subscribers_get_events_in_order_and_once),
        CASE(the_relay_wakes_up_when_something_is_committed),
        CASE(what_an_earlier_run_left_is_delivered),
        CASE(stopping_delivers_what_is_written),
        CASE(an_event_that_fails_twice_is_delivered_the_third_time),
        CASE(an_event_that_always_fails_goes_to_the_dead_letters),
        CASE(a_dead_letter_can_be_tried_again),
        CASE(a_tenant_in_trouble_does_not_keep_others_waiting),
        CASE(a_dropped_tenant_is_left_alone),
        CASE(rows_leave_when_subscribers_and_sink_have_them),
        CASE(with_the_sink_down_rows_wait_and_subscribers_do_not),
        CASE(what_the_sink_refuses_does_not_block_the_rest),
        CASE(modules_that_are_not_enabled_hear_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
