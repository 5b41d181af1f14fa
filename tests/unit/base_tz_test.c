// Time zones: clock changes, periods, and agreement with the C library.
#include "test.h"

#include "base/tz.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static const Zone *zone(const char *name)
{
    bool known = false;
    const Zone *found = zone_of(str_of(name), &known);

    assert_true(known);
    return found;
}

static Time at(const char *text)
{
    Time time = 0;

    assert_true(time_parse(str_of(text), &time));
    return time;
}

#define assert_time(time_, text_) assert_str(time_format_z(time_), text_)

static void names_of_the_data_base_are_known_and_others_are_utc(void **state)
{
    bool known = true;
    static const char *const unknown[] = {"", "Mars/Olympus", "GMT+5", "europe/berlin ",
                                          "\xC3\xA9"};

    (void)state;
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        assert_ptr_equal(zone_of(str_of(unknown[i]), &known), zone_utc());
        assert_false(known);
    }
    assert_ptr_equal(zone_of(S("UTC"), NULL), zone_utc());
    assert_ptr_equal(zone("Europe/Berlin"), zone("Europe/Berlin"));
}

static void the_day_has_its_local_bounds(void **state)
{
    (void)state;
    const Zone *new_york = zone("America/New_York");
    assert_time(zone_end_of_day(new_york, at("2026-07-01T15:00:00Z")), "2026-07-02T03:59:59.000Z");
    assert_time(zone_start_of_day(new_york, at("2026-07-01T15:00:00Z")),
                "2026-07-01T04:00:00.000Z");
    // 02:00 in Greenwich is still the day before in New York.
    assert_time(zone_end_of_day(new_york, at("2026-01-02T02:00:00Z")), "2026-01-02T04:59:59.000Z");
    // Days of 23 and 25 hours.
    const Zone *berlin = zone("Europe/Berlin");
    assert_time(zone_end_of_day(berlin, at("2026-03-29T00:00:00Z")), "2026-03-29T21:59:59.000Z");
    assert_time(zone_start_of_day(berlin, at("2026-10-25T20:00:00Z")), "2026-10-24T22:00:00.000Z");
    // Midnight itself was skipped.
    assert_time(zone_start_of_day(zone("America/Sao_Paulo"), at("2018-11-04T12:00:00Z")),
                "2018-11-04T03:00:00.000Z");
}

static void a_skipped_time_moves_forward_and_a_double_one_is_the_earlier(void **state)
{
    LocalTime skipped = {2026, 3, 29, 2, 30, 0, 0, 0}, twice = {2026, 10, 25, 2, 30, 0, 0, 0};

    (void)state;
    assert_time(zone_time(zone("Europe/Berlin"), skipped), "2026-03-29T01:30:00.000Z");
    assert_int_equal(zone_local(zone("Europe/Berlin"), at("2026-03-29T01:30:00Z")).hour, 3);
    assert_time(zone_time(zone("Europe/Berlin"), twice), "2026-10-25T00:30:00.000Z");
    // Half an hour only.
    LocalTime lord_howe = {2026, 10, 4, 2, 15, 0, 0, 0};
    assert_time(zone_time(zone("Australia/Lord_Howe"), lord_howe), "2026-10-03T15:45:00.000Z");
    // A whole day was left out.
    LocalTime samoa = {2011, 12, 30, 12, 0, 0, 0, 0};
    assert_time(zone_time(zone("Pacific/Apia"), samoa), "2011-12-30T22:00:00.000Z");
}

static void local_fields_are_those_of_the_calendar(void **state)
{
    (void)state;
    LocalTime local = zone_local(zone("Asia/Kathmandu"), at("2024-02-28T18:15:01.234Z"));
    assert_int_equal(local.year, 2024);
    assert_int_equal(local.month, 2);
    assert_int_equal(local.day, 29);
    assert_int_equal(local.hour, 0);
    assert_int_equal(local.minute, 0);
    assert_int_equal(local.second, 1);
    assert_int_equal(local.ms, 234);
    assert_int_equal(local.weekday, 4);
    assert_int_equal(zone_local(zone_utc(), -1).year, 1969);
    assert_int_equal(zone_local(zone_utc(), -1).weekday, 3);
    assert_int_equal(zone_local(zone_utc(), INT64_MAX).year, 275760);
    // Fields beyond their range carry over.
    assert_time(zone_time(zone_utc(), (LocalTime){2023, 14, 30, 25, 0, 0, 0, 0}),
                "2024-03-02T01:00:00.000Z");
}

static void rules_go_on_for_ever(void **state)
{
    (void)state;
    const Zone *berlin = zone("Europe/Berlin");
    assert_int_equal(zone_local(berlin, at("2999-07-01T10:00:00Z")).hour, 12);
    assert_int_equal(zone_local(berlin, at("9999-01-01T10:00:00Z")).hour, 11);
}

static void periods_follow_the_calendar(void **state)
{
    const Zone *berlin;

    (void)state;
    berlin = zone("Europe/Berlin");
    // Over the change of clocks: the same local time, but exact hours.
    Time start = at("2026-03-28T10:00:00Z");
    assert_time(zone_add(berlin, start, (Period){1, DAYS}), "2026-03-29T09:00:00.000Z");
    assert_time(zone_add(berlin, start, (Period){2, WEEKS}), "2026-04-11T09:00:00.000Z");
    assert_time(zone_add(berlin, start, (Period){24, HOURS}), "2026-03-29T10:00:00.000Z");
    assert_time(zone_add(berlin, start, (Period){90, MINUTES}), "2026-03-28T11:30:00.000Z");
    assert_time(zone_add(berlin, start, (Period){-1, MONTHS}), "2026-02-28T10:00:00.000Z");
    // Months clip to the last day.
    assert_time(zone_add(zone_utc(), at("2026-01-31T08:00:00Z"), (Period){1, MONTHS}),
                "2026-02-28T08:00:00.000Z");
    assert_time(zone_add(zone_utc(), at("2023-11-30T08:00:00Z"), (Period){3, MONTHS}),
                "2024-02-29T08:00:00.000Z");
    assert_time(zone_add(zone_utc(), at("2026-12-15T08:00:00Z"), (Period){13, MONTHS}),
                "2028-01-15T08:00:00.000Z");
    // Nonsense stays within bounds.
    assert_true(zone_add(berlin, start, (Period){INT64_MAX, MONTHS}) > start);
    assert_true(zone_add(berlin, start, (Period){INT64_MIN, DAYS}) < start);
}

static void periods_have_names_and_fixed_lengths(void **state)
{
    PeriodUnit unit = DAYS;

    (void)state;
    assert_true(period_unit_of(S("Months"), &unit));
    assert_int_equal(unit, MONTHS);
    assert_true(period_unit_of(S("Minutes"), &unit));
    assert_int_equal(unit, MINUTES);
    assert_false(period_unit_of(S("months"), &unit));
    assert_false(period_unit_of(S(""), &unit));
    assert_int_equal(period_ms((Period){2, MONTHS}), 62 * DAY_MS);
    assert_int_equal(period_ms((Period){3, HOURS}), 3 * HOUR_MS);
}

// Zones whose past both data bases tell alike, whatever their age.
static const char *const compared[] = {
    "Europe/Berlin",
    "Europe/London",
    "Europe/Madrid",
    "Europe/Dublin",
    "Europe/Moscow",
    "America/New_York",
    "America/Chicago",
    "America/Denver",
    "America/Los_Angeles",
    "America/St_Johns",
    "America/Sao_Paulo",
    "America/Santiago",
    "America/Argentina/Buenos_Aires",
    "Asia/Tokyo",
    "Asia/Kolkata",
    "Asia/Kathmandu",
    "Asia/Jerusalem",
    "Australia/Sydney",
    "Australia/Lord_Howe",
    "Pacific/Auckland",
    "Pacific/Apia",
    "Africa/Johannesburg",
    "America/Havana",
};

static void check_instant(const Zone *here, Time time)
{
    time_t seconds = (time_t)(time / SECOND_MS);
    struct tm tm;
    LocalTime local = zone_local(here, time);

    localtime_r(&seconds, &tm);
    bool is_same = local.year == tm.tm_year + 1900 && local.month == tm.tm_mon + 1 &&
                   local.day == tm.tm_mday && local.hour == tm.tm_hour &&
                   local.minute == tm.tm_min && local.second == tm.tm_sec &&
                   local.weekday == tm.tm_wday;
    if (!is_same) {
        print_message("%s: " STR_FMT "\n", getenv("TZ"), STR_ARG(time_format_z(time)));
    }
    assert_true(is_same);
    // Back again, or to the earlier of two.
    Time back = zone_time(here, local);
    LocalTime again = zone_local(here, back);
    assert_true(back == time || (back < time && time - back <= 2 * HOUR_MS));
    assert_true(again.day == local.day && again.hour == local.hour && again.minute == local.minute);
}

static void fifty_years_agree_with_the_c_library(void **state)
{
    Time end = at("2026-01-01T00:00:00Z");

    (void)state;
    if (access("/usr/share/zoneinfo/Europe/Berlin", R_OK) != 0) {
        skip_because("the system has no zone files to compare with");
    }
    for (size_t i = 0; i < sizeof compared / sizeof *compared; i++) {
        const Zone *here = zone(compared[i]);
        setenv("TZ", compared[i], 1);
        tzset();
        ArenaMark mark = arena_mark(arena_current());
        for (Time time = at("1976-01-01T00:00:00Z"); time < end; time += 7 * HOUR_MS / 2) {
            check_instant(here, time);
        }
        arena_release(arena_current(), mark);
    }
    unsetenv("TZ");
    tzset();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_the_data_base_are_known_and_others_are_utc),
        cmocka_unit_test(the_day_has_its_local_bounds),
        cmocka_unit_test(a_skipped_time_moves_forward_and_a_double_one_is_the_earlier),
        cmocka_unit_test(local_fields_are_those_of_the_calendar),
        cmocka_unit_test(rules_go_on_for_ever),
        cmocka_unit_test(periods_follow_the_calendar),
        cmocka_unit_test(periods_have_names_and_fixed_lengths),
        cmocka_unit_test(fifty_years_agree_with_the_c_library),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
