// When service points are open, as circulation asks it.
#include "module_world.h"

#include "modules/mod-calendar/calendar.h"

#define DESK "8acab042-ce12-4d8f-bbe5-b1abe41d5d01"

static World world;

static int setup(void **state)
{
    (void)state;
    world_open(&world, calendar_collections);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_close(&world);
    return 0;
}

static Time date(const char *text)
{
    Time time = 0;

    assert_true(date_parse(str_of(text), &time));
    return time;
}

static OpenDays around(const char *text)
{
    OpenDays days = {0};
    Tx *tx = world_begin(&world, READ);

    assert_ok(open_days_around(tx, S(DESK), date(text), &days));
    tx_rollback(tx);
    return days;
}

static void add_calendar(void)
{
    world_insert(&world, &calendars,
                 "{'name':'Year','startDate':'2024-01-01','endDate':'2024-12-31',"
                 "'assignments':['" DESK "'],'normalHours':["
                 "{'startDay':'MONDAY','startTime':'13:00','endDay':'MONDAY','endTime':'17:00'},"
                 "{'startDay':'MONDAY','startTime':'09:00','endDay':'MONDAY','endTime':'12:00'},"
                 "{'startDay':'FRIDAY','startTime':'22:00','endDay':'SUNDAY','endTime':'02:00'}],"
                 "'exceptions':[{'name':'Fair','startDate':'2024-07-01','endDate':'2024-07-02',"
                 "'openings':[{'startDate':'2024-07-02','startTime':'10:00',"
                 "'endDate':'2024-07-02','endTime':'11:00'}]}]}");
}

static void without_a_calendar_nothing_is_open(void **state)
{
    (void)state;
    OpenDays days = around("2024-01-10");
    assert_false(days.has_calendar);
    assert_false(days.days[1].is_open);
    assert_int_equal(days.days[0].date, date("2024-01-09"));
    assert_int_equal(days.days[2].date, date("2024-01-11"));
}

static void openings_of_a_day_come_in_order(void **state)
{
    (void)state;
    add_calendar();
    OpenDays days = around("2024-01-08");
    assert_true(days.has_calendar);
    assert_int_equal(days.days[1].opening_count, 2);
    assert_int_equal(days.days[1].openings[0].start, 9 * 60);
    assert_int_equal(days.days[1].openings[1].end, 17 * 60);
}

static void an_opening_over_days_is_cut_and_its_inner_day_is_whole(void **state)
{
    (void)state;
    add_calendar();
    OpenDays days = around("2024-01-06"); // a Saturday
    assert_int_equal(days.days[0].openings[0].start, 22 * 60);
    assert_int_equal(days.days[0].openings[0].end, DAY_MINUTES - 1);
    assert_int_equal(days.days[1].openings[0].start, 0);
    assert_int_equal(days.days[1].openings[0].end, DAY_MINUTES);
    assert_int_equal(days.days[2].openings[0].end, 2 * 60);
}

static void exceptions_replace_weekly_hours(void **state)
{
    (void)state;
    add_calendar();
    OpenDays days = around("2024-07-01"); // a Monday
    assert_false(days.days[1].is_open);
    assert_int_equal(days.days[2].date, date("2024-07-02"));
    assert_int_equal(days.days[2].openings[0].start, 10 * 60);
}

static void a_change_is_seen_at_once_and_nothing_else_is_read(void **state)
{
    (void)state;
    assert_false(around("2024-01-08").days[1].is_open);
    add_calendar();
    assert_true(around("2024-01-08").days[1].is_open);
    Tx *tx = world_begin(&world, READ);
    OpenDays days;
    assert_ok(open_days_around(tx, S(DESK), date("2024-01-08"), &days));
    assert_int_equal(tx_cost(tx).statements, 0);
    tx_rollback(tx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_a_calendar_nothing_is_open, setup, teardown),
        cmocka_unit_test_setup_teardown(openings_of_a_day_come_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(an_opening_over_days_is_cut_and_its_inner_day_is_whole,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(exceptions_replace_weekly_hours, setup, teardown),
        cmocka_unit_test_setup_teardown(a_change_is_seen_at_once_and_nothing_else_is_read, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
