// Time zones: the clock changes of a zone are taken from ICU once; afterwards every question is a
// search in a table that nobody changes, without a lock.
#include "base/tz.h"

#include "base/die.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unicode/ucal.h>
#include <unicode/ustring.h>

enum {
    NAME_MAX_LENGTH = 64,
    DAYS_OF_400_YEARS = 146097,
    TABLE_BEGIN_YEAR = 1800,
    TABLE_END_YEAR = 2500,
    MONTH_DAYS_MAX = 31,
};

// Beyond this nothing is a date any more: the year 275760, as in ECMAScript.
#define TIME_LIMIT ((Time)8640000000000000)
#define CYCLE_MS   (DAYS_OF_400_YEARS * DAY_MS)

typedef struct {
    Time at;
    int32_t offset_ms; // from `at` on
} Change;

struct Zone {
    struct Zone *next;
    Str name;
    int32_t first_offset_ms; // before the first change
    size_t count;
    size_t capacity;
    Change *changes;
};

static pthread_mutex_t zones_lock = PTHREAD_MUTEX_INITIALIZER; // guards the list `zones`
static Zone *zones;
static const Zone utc = {.name = {"UTC", 3}};

// Days since 1970-01-01 of a date of the Gregorian calendar, before its introduction too.
static int64_t days_of_date(int64_t year, int64_t month, int64_t day)
{
    // Years begin in March here, so that the leap day is the last one.
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t year_of_era = y - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;

    return era * DAYS_OF_400_YEARS + day_of_era - 719468;
}

static void date_of_days(int64_t days, LocalTime *out)
{
    int64_t z = days + 719468;
    int64_t era = (z >= 0 ? z : z - DAYS_OF_400_YEARS + 1) / DAYS_OF_400_YEARS;
    int64_t day_of_era = z - era * DAYS_OF_400_YEARS;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month = (5 * day_of_year + 2) / 153;

    out->day = (int)(day_of_year - (153 * month + 2) / 5 + 1);
    out->month = (int)(month < 10 ? month + 3 : month - 9);
    out->year = (int)(year_of_era + era * 400 + (out->month <= 2));
    out->weekday = (int)(((days + 4) % 7 + 7) % 7);
}

static int days_of_month(int64_t year, int month)
{
    return (int)(days_of_date(month == 12 ? year + 1 : year, month == 12 ? 1 : month + 1, 1) -
                 days_of_date(year, month, 1));
}

static Time limited(Time time)
{
    if (time > TIME_LIMIT) {
        return TIME_LIMIT;
    }
    return time < -TIME_LIMIT ? -TIME_LIMIT : time;
}

static void zone_add_change(Zone *zone, Time at, int32_t offset_ms)
{
    int32_t before = zone->count ? zone->changes[zone->count - 1].offset_ms : zone->first_offset_ms;

    if (offset_ms == before) {
        return; // only the name or the share of summer time changes
    }
    if (zone->count == zone->capacity) {
        zone->capacity = zone->capacity ? zone->capacity * 2 : 64;
        zone->changes = realloc(zone->changes, zone->capacity * sizeof *zone->changes);
        if (!zone->changes) {
            die("out of memory");
        }
    }
    zone->changes[zone->count++] = (Change){at, offset_ms};
}

static int32_t calendar_offset(UCalendar *calendar, Time at, UErrorCode *error)
{
    ucal_setMillis(calendar, (UDate)at, error);
    return ucal_get(calendar, UCAL_ZONE_OFFSET, error) + ucal_get(calendar, UCAL_DST_OFFSET, error);
}

static void zone_read(Zone *zone, const UChar *name)
{
    UErrorCode error = U_ZERO_ERROR;
    UCalendar *calendar = ucal_open(name, -1, "", UCAL_GREGORIAN, &error);
    Time end = days_of_date(TABLE_END_YEAR, 1, 1) * DAY_MS;
    UDate next = 0;

    zone->first_offset_ms =
        calendar_offset(calendar, days_of_date(TABLE_BEGIN_YEAR, 1, 1) * DAY_MS, &error);
    while (U_SUCCESS(error) &&
           ucal_getTimeZoneTransitionDate(calendar, UCAL_TZ_TRANSITION_NEXT, &next, &error) &&
           next < (UDate)end) {
        int32_t offset_ms = calendar_offset(calendar, (Time)next, &error);
        zone_add_change(zone, (Time)next, offset_ms);
    }
    if (U_FAILURE(error)) {
        die("the time zone " STR_FMT " cannot be read: %s", STR_ARG(zone->name),
            u_errorName(error));
    }
    ucal_close(calendar);
}

// True for names of the IANA data base; offsets like "GMT+5" are none.
static bool name_is_known(Str name, UChar *out)
{
    UErrorCode error = U_ZERO_ERROR;
    UChar canonical[128];
    UBool is_system = false;

    for (size_t i = 0; i < name.len; i++) {
        if (name.at[i] <= ' ' || name.at[i] > '~') {
            return false;
        }
        out[i] = (UChar)name.at[i];
    }
    out[name.len] = 0;
    ucal_getCanonicalTimeZoneID(out, (int32_t)name.len, canonical, 128, &is_system, &error);
    return U_SUCCESS(error) && is_system;
}

static Zone *zone_new(Str name)
{
    UChar id[NAME_MAX_LENGTH + 1];

    if (!name_is_known(name, id)) {
        return NULL;
    }
    Zone *zone = calloc(1, sizeof *zone + name.len);
    if (!zone) {
        die("out of memory");
    }
    memcpy(zone + 1, name.at, name.len);
    zone->name = (Str){(const char *)(zone + 1), name.len};
    zone_read(zone, id);
    return zone;
}

static const Zone *zone_find(Str name)
{
    pthread_mutex_lock(&zones_lock);
    Zone *zone = zones;
    while (zone && !str_eq(zone->name, name)) {
        zone = zone->next;
    }
    if (!zone) {
        zone = zone_new(name);
        if (zone) {
            zone->next = zones;
            zones = zone;
        }
    }
    pthread_mutex_unlock(&zones_lock);
    return zone;
}

const Zone *zone_of(Str name, bool *known)
{
    const Zone *zone = NULL;

    if (str_eq(name, utc.name)) {
        zone = &utc;
    } else if (name.len && name.len <= NAME_MAX_LENGTH) {
        zone = zone_find(name);
    }
    if (known) {
        *known = zone != NULL;
    }
    return zone ? zone : &utc;
}

const Zone *zone_utc(void)
{
    return &utc;
}

static Time zone_offset(const Zone *zone, Time time)
{
    Time end = days_of_date(TABLE_END_YEAR, 1, 1) * DAY_MS;
    size_t from = 0, to = zone->count;

    if (time >= end) {
        // Rules repeat with the calendar, every 400 years.
        time -= ((time - end) / CYCLE_MS + 1) * CYCLE_MS;
    }
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (zone->changes[middle].at <= time) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from ? zone->changes[from - 1].offset_ms : zone->first_offset_ms;
}

LocalTime zone_local(const Zone *zone, Time time)
{
    LocalTime local = {0};

    time = limited(time);
    Time wall = time + zone_offset(zone, time);
    int64_t days = wall / DAY_MS - (wall % DAY_MS < 0);
    int ms = (int)(wall - days * DAY_MS);
    date_of_days(days, &local);
    local.hour = ms / HOUR_MS;
    local.minute = ms / MINUTE_MS % 60;
    local.second = ms / SECOND_MS % 60;
    local.ms = ms % SECOND_MS;
    return local;
}

// The instant at which the clocks of the zone show `wall` (as if that were UTC).
static Time time_of_wall(const Zone *zone, Time wall)
{
    Time before = wall - zone_offset(zone, wall - DAY_MS);
    Time after = wall - zone_offset(zone, wall + DAY_MS);

    if (before == after || before + zone_offset(zone, before) == wall) {
        return before; // also the earlier of two
    }
    // A time that is skipped counts with the offset before the change: it moves by the gap.
    return after + zone_offset(zone, after) == wall ? after : before;
}

Time zone_time(const Zone *zone, LocalTime local)
{
    int64_t months = (int64_t)local.year * 12 + local.month - 1;
    int64_t year = months / 12 - (months % 12 < 0);
    int64_t days = days_of_date(year, months - year * 12 + 1, 1) + local.day - 1;
    Time wall = days * DAY_MS + (Time)local.hour * HOUR_MS + (Time)local.minute * MINUTE_MS +
                (Time)local.second * SECOND_MS + local.ms;

    return time_of_wall(zone, limited(wall));
}

Time zone_start_of_day(const Zone *zone, Time time)
{
    LocalTime local = zone_local(zone, time);

    local.hour = local.minute = local.second = local.ms = 0;
    return zone_time(zone, local);
}

Time zone_end_of_day(const Zone *zone, Time time)
{
    LocalTime local = zone_local(zone, time);

    local.hour = 23;
    local.minute = local.second = 59;
    local.ms = 0;
    return zone_time(zone, local);
}

static Time add_months(const Zone *zone, Time time, int64_t count)
{
    LocalTime local = zone_local(zone, time);
    int64_t months = (int64_t)local.year * 12 + local.month - 1 + count;
    int64_t year = months / 12 - (months % 12 < 0);

    local.year = (int)year;
    local.month = (int)(months - year * 12) + 1;
    int last = days_of_month(local.year, local.month);
    local.day = local.day > last ? last : local.day;
    return zone_time(zone, local);
}

static Time unit_ms(PeriodUnit unit)
{
    static const Time lengths[] = {
        [MINUTES] = MINUTE_MS,
        [HOURS] = HOUR_MS,
        [DAYS] = DAY_MS,
        [WEEKS] = 7 * DAY_MS,
        [MONTHS] = MONTH_DAYS_MAX * DAY_MS,
    };

    return lengths[unit];
}

Time zone_add(const Zone *zone, Time time, Period period)
{
    Time length = period_ms(period);

    time = limited(time);
    // Far out of any calendar nothing is gained by counting days.
    if (length >= TIME_LIMIT || length <= -TIME_LIMIT || period.unit == MINUTES ||
        period.unit == HOURS) {
        return limited(time + length);
    }
    if (period.unit == MONTHS) {
        return limited(add_months(zone, time, period.duration));
    }
    return limited(time_of_wall(zone, limited(time + zone_offset(zone, time) + length)));
}

bool period_unit_of(Str interval_id, PeriodUnit *out)
{
    static const char *const names[] = {
        [MINUTES] = "Minutes", [HOURS] = "Hours",   [DAYS] = "Days",
        [WEEKS] = "Weeks",     [MONTHS] = "Months",
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (str_eq_z(interval_id, names[i])) {
            *out = (PeriodUnit)i;
            return true;
        }
    }
    return false;
}

int64_t period_ms(Period period)
{
    Time length = 0;

    if (__builtin_mul_overflow(period.duration, unit_ms(period.unit), &length)) {
        return period.duration < 0 ? -TIME_LIMIT : TIME_LIMIT;
    }
    return limited(length);
}
