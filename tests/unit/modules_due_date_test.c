// What closed days and hours do to due dates. Source: spec/circulation.md 7.4, 19.2.
#include "test.h"

#include "modules/mod-circulation/closed_days.h"

static Time at(const char *text)
{
    Time time = 0;

    if (!time_parse(str_of(text), &time)) {
        fail_msg("no time: %s", text);
    }
    return time;
}

static OpenDay open_day(const char *date, int start_hour, int end_hour)
{
    OpenDay day = {.is_open = true, .opening_count = 1};

    (void)date_parse(str_of(date), &day.date);
    day.openings[0] = (Opening){start_hour * 60, end_hour * 60};
    return day;
}

static OpenDay closed_day(const char *date)
{
    OpenDay day = {0};

    (void)date_parse(str_of(date), &day.date);
    return day;
}

// Saturday 4 July 2026 open, Sunday closed, Monday open, in Berlin (+02:00).
static OpenDays weekend(void)
{
    return (OpenDays){.has_calendar = true,
                      .days = {open_day("2026-07-04", 9, 18), closed_day("2026-07-05"),
                               open_day("2026-07-06", 9, 18)}};
}

static ClosedDays berlin(Closing closing, const char *due)
{
    return (ClosedDays){
        .closing = closing, .zone = zone_of(S("Europe/Berlin"), NULL), .at = at(due)};
}

static Str shifted(const ClosedDays *input, const OpenDays *days)
{
    Time out = 0;
    Err *err = closed_days_shift(input, days, &out);

    return err ? err->code : time_format_z(out);
}

static void a_kept_date_ends_with_its_local_day(void **state)
{
    ClosedDays input = berlin(KEEP_DATE, "2026-07-05T10:00:00Z");
    OpenDays none = {0};

    (void)state;
    assert_str(shifted(&input, &none), "2026-07-05T21:59:59.000Z");
}

static void a_loan_over_the_change_of_clocks_ends_at_local_midnight(void **state)
{
    ClosedDays input = {.closing = KEEP_DATE,
                        .zone = zone_of(S("America/New_York"), NULL),
                        .at = at("2026-03-09T01:00:00Z")};
    OpenDays none = {0};

    (void)state;
    assert_str(shifted(&input, &none), "2026-03-09T03:59:59.000Z");
}

static void a_closed_sunday_moves_to_the_end_of_monday_or_saturday(void **state)
{
    OpenDays days = weekend();
    ClosedDays next = berlin(END_OF_NEXT_OPEN_DAY, "2026-07-05T10:00:00Z");
    ClosedDays previous = berlin(END_OF_PREVIOUS_OPEN_DAY, "2026-07-05T10:00:00Z");

    (void)state;
    assert_str(shifted(&next, &days), "2026-07-06T21:59:59.000Z");
    assert_str(shifted(&previous, &days), "2026-07-04T21:59:59.000Z");
}

static void an_open_day_stays(void **state)
{
    OpenDays days = weekend();
    ClosedDays next = berlin(END_OF_NEXT_OPEN_DAY, "2026-07-05T10:00:00Z");

    (void)state;
    days.days[1] = open_day("2026-07-05", 9, 12);
    assert_str(shifted(&next, &days), "2026-07-05T21:59:59.000Z");
}

static void hours_move_to_the_beginning_of_the_next_opening_plus_an_offset(void **state)
{
    OpenDays days = weekend();
    ClosedDays input = berlin(BEGINNING_OF_NEXT_HOURS, "2026-07-05T10:00:00Z");

    (void)state;
    assert_str(shifted(&input, &days), "2026-07-06T07:00:00.000Z");
    input.offset = (Period){1, HOURS};
    assert_str(shifted(&input, &days), "2026-07-06T08:00:00.000Z");
    input.offset = (Period){10, HOURS};
    assert_str(shifted(&input, &days), "2026-07-04T16:00:00.000Z");
}

static void a_time_inside_an_opening_stays(void **state)
{
    OpenDays days = weekend();
    ClosedDays input = berlin(BEGINNING_OF_NEXT_HOURS, "2026-07-06T07:00:00Z");

    (void)state;
    assert_str(shifted(&input, &days), "2026-07-06T07:00:00.000Z");
    input.closing = END_OF_CURRENT_HOURS;
    assert_str(shifted(&input, &days), "2026-07-06T07:00:00.000Z");
}

static void the_current_opening_ends_the_loan_else_the_next_one(void **state)
{
    OpenDays days = weekend();
    ClosedDays input = berlin(END_OF_CURRENT_HOURS, "2026-07-05T10:00:00Z");

    (void)state;
    input.now = at("2026-07-04T15:00:00Z");
    assert_str(shifted(&input, &days), "2026-07-04T16:00:00.000Z");
    input.now = at("2026-07-04T17:00:00Z");
    assert_str(shifted(&input, &days), "2026-07-06T16:00:00.000Z");
}

static void openings_that_abut_at_midnight_are_one(void **state)
{
    OpenDays days = weekend();
    ClosedDays input = berlin(END_OF_CURRENT_HOURS, "2026-07-06T20:00:00Z");

    (void)state;
    days.days[0] = open_day("2026-07-04", 20, 24);
    days.days[0].openings[0].end = DAY_MINUTES - 1;
    days.days[1] = open_day("2026-07-05", 0, 24);
    days.days[2] = open_day("2026-07-06", 0, 3);
    input.now = at("2026-07-04T19:00:00Z");
    assert_str(shifted(&input, &days), "2026-07-06T01:00:00.000Z");
}

static void a_service_point_without_calendar_or_open_neighbour_is_refused(void **state)
{
    OpenDays days = weekend(), none = {0};
    ClosedDays next = berlin(END_OF_NEXT_OPEN_DAY, "2026-07-05T10:00:00Z");

    (void)state;
    assert_str(shifted(&next, &none), "CALENDAR_OPEN_PERIODS_NOT_FOUND");
    days.days[2] = closed_day("2026-07-06");
    assert_str(shifted(&next, &days), "CALENDAR_TIMETABLE_ABSENT");
}

static void what_a_patrons_expiry_cuts_ends_with_the_opening_before(void **state)
{
    OpenDays days = weekend();
    ClosedDays input = berlin(END_OF_PREVIOUS_HOURS, "2026-07-05T10:00:00Z");

    (void)state;
    assert_str(shifted(&input, &days), "2026-07-04T16:00:00.000Z");
}

static void strategies_have_their_names_in_policies_and_hold_shelves(void **state)
{
    (void)state;
    assert_int_equal(closing_of_policy(S("END_OF_THE_NEXT_OPEN_DAY")), END_OF_NEXT_OPEN_DAY);
    assert_int_equal(closing_of_policy(S("anything")), KEEP_DATE);
    assert_int_equal(closing_of_hold_shelf(S("Keep_the_current_due_date_time")), KEEP_TIME);
    assert_int_equal(closing_of_hold_shelf(S("Move_to_beginning_of_next_open_service_point_hours")),
                     BEGINNING_OF_NEXT_HOURS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kept_date_ends_with_its_local_day),
        cmocka_unit_test(a_loan_over_the_change_of_clocks_ends_at_local_midnight),
        cmocka_unit_test(a_closed_sunday_moves_to_the_end_of_monday_or_saturday),
        cmocka_unit_test(an_open_day_stays),
        cmocka_unit_test(hours_move_to_the_beginning_of_the_next_opening_plus_an_offset),
        cmocka_unit_test(a_time_inside_an_opening_stays),
        cmocka_unit_test(the_current_opening_ends_the_loan_else_the_next_one),
        cmocka_unit_test(openings_that_abut_at_midnight_are_one),
        cmocka_unit_test(a_service_point_without_calendar_or_open_neighbour_is_refused),
        cmocka_unit_test(what_a_patrons_expiry_cuts_ends_with_the_opening_before),
        cmocka_unit_test(strategies_have_their_names_in_policies_and_hold_shelves),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
