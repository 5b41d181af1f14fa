// Who may read from a replica, and how old its data may be for him.
#include "test.h"

#include "gateway/readers.h"
#include "base/arena.h"

static const Time start = 1800000000000;
static const Time later = 1800000000000 + 10 * SECOND_MS;

static Readers *readers;

static int set_up(void **state)
{
    (void)state;
    readers = readers_new();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    readers_free(readers);
    return 0;
}

static int64_t ask(const char *token, Time now)
{
    return readers_ask(readers, str_of(token), now);
}

static void wrote(const char *token, Time now)
{
    readers_wrote(readers, str_of(token), now);
}

static void read_(const char *token, Time now, bool lagged)
{
    readers_read(readers, str_of(token), now, lagged);
}

static void who_is_new_reads_the_newest_for_ten_seconds(void **state)
{
    (void)state;
    assert_int_equal(ask("t", start), 0);
    assert_int_equal(ask("t", later - 1), 0);
    assert_true(ask("t", later) > 0);
}

static void who_wrote_reads_the_newest_for_ten_seconds(void **state)
{
    (void)state;
    ask("t", start);
    wrote("t", later);
    assert_int_equal(ask("t", later), 0);
    assert_int_equal(ask("t", later + 10 * SECOND_MS - 1), 0);
    assert_true(ask("t", later + 10 * SECOND_MS) > 0);
}

static void a_clock_that_goes_back_lets_nobody_read_old_data(void **state)
{
    (void)state;
    ask("t", later);
    assert_int_equal(ask("t", start), 0);
}

static void what_a_token_wrote_must_be_in_what_it_reads(void **state)
{
    (void)state;
    ask("t", start);
    int64_t before = clock_ns();
    wrote("t", start);
    int64_t after = clock_ns(), from = ask("t", later);
    assert_true(from >= before && from <= after);
}

static void who_saw_the_newest_data_does_not_see_older_ones(void **state)
{
    (void)state;
    ask("t", start);
    int64_t before = clock_ns();
    read_("t", later, false);
    assert_true(ask("t", later) >= before);
    // What a replica gave is no reason to wait for newer data.
    int64_t from = ask("t", later);
    read_("t", later, true);
    assert_int_equal(ask("t", later), from);
}

static void who_reads_all_the_time_may_go_back_a_moment_in_the_end(void **state)
{
    (void)state;
    wrote("t", start);
    for (int i = 0; i < 10; i++) {
        read_("t", later + i * SECOND_MS, false);
    }
    int64_t seen = ask("t", later + 9 * SECOND_MS);
    int64_t from = ask("t", later + 10 * SECOND_MS);
    assert_true(from > 0 && from < seen);
    // Never behind what it wrote itself: that was a moment ago by the true clock.
    int64_t least = from;
    wrote("t", later + 10 * SECOND_MS);
    assert_true(ask("t", later + 20 * SECOND_MS) > least);
}

static void calls_of_one_token_at_once_do_not_hold_each_other_back(void **state)
{
    (void)state;
    wrote("t", start);
    for (int i = 0; i < 11; i++) {
        read_("t", later + i * SECOND_MS, false);
    }
    // One of them came to the replica, the next one had begun on the primary before.
    read_("t", later + 11 * SECOND_MS, true);
    int64_t before = clock_ns();
    read_("t", later + 11 * SECOND_MS, false);
    int64_t from = ask("t", later + 11 * SECOND_MS);
    assert_true(from > 0 && from < before);
}

static void tokens_do_not_share_what_is_known(void **state)
{
    (void)state;
    ask("a", start);
    ask("b", start);
    wrote("a", later);
    assert_int_equal(ask("a", later), 0);
    assert_true(ask("b", later) > 0);
}

static void who_is_forgotten_is_new_again(void **state)
{
    (void)state;
    int known = 0;
    for (int i = 0; i < 100 * 1000; i++) {
        ask(str_fmt("token %d", i).at, start);
        arena_reset(arena_current());
    }
    for (int i = 100 * 1000 - 1; i >= 0; i--) {
        known += ask(str_fmt("token %d", i).at, later) > 0;
        arena_reset(arena_current());
    }
    assert_in_range(known, 1, 16384);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(who_is_new_reads_the_newest_for_ten_seconds, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(who_wrote_reads_the_newest_for_ten_seconds, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_clock_that_goes_back_lets_nobody_read_old_data, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_a_token_wrote_must_be_in_what_it_reads, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(who_saw_the_newest_data_does_not_see_older_ones, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(who_reads_all_the_time_may_go_back_a_moment_in_the_end,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(calls_of_one_token_at_once_do_not_hold_each_other_back,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(tokens_do_not_share_what_is_known, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_is_forgotten_is_new_again, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
