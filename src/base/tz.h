// Time zones by IANA name, several in one process (ICU behind it). The rules are as new as ICU's
// data; newer ones come in through the environment variable ICU_TIMEZONE_FILES_DIR, read by ICU.
#pragma once

#include "base/date.h"

typedef struct Zone Zone;

// Calendar fields of an instant in a zone. weekday: 0 = Sunday.
typedef struct {
    int year, month, day; // month 1..12
    int hour, minute, second, ms;
    int weekday;
} LocalTime;

typedef enum { MINUTES, HOURS, DAYS, WEEKS, MONTHS } PeriodUnit;

typedef struct {
    int64_t duration;
    PeriodUnit unit;
} Period;

// Never NULL. An unknown or empty name gives UTC; `known`, if not NULL, says whether it was a name.
// Zones live as long as the process.
const Zone *zone_of(Str name, bool *known);
const Zone *zone_utc(void);

LocalTime zone_local(const Zone *zone, Time time);
// A local time that a clock change skips moves forward, one that occurs twice means the earlier.
Time zone_time(const Zone *zone, LocalTime local);
// 00:00:00.000 and 23:59:59.000 of the local day that `time` falls on.
Time zone_start_of_day(const Zone *zone, Time time);
Time zone_end_of_day(const Zone *zone, Time time);
// Adds a period by the calendar of the zone; months clip to the last day (31 January + 1 month =
// 28 February). Minutes and hours are exact.
Time zone_add(const Zone *zone, Time time, Period period);
// "Months", "Weeks", "Days", "Hours", "Minutes" as FOLIO's intervalId; false for anything else.
bool period_unit_of(Str interval_id, PeriodUnit *out);
// A period as milliseconds the way FOLIO counts where it needs a fixed length: a month has 31 days.
int64_t period_ms(Period period);
