// What closed days do to a due date: the strategies of loan policies and hold shelves.
// Source: spec/circulation.md 7.4, 5.4.
#pragma once

#include "modules/mod-calendar/calendar.h"
#include "modules/mod-circulation/circulation.h"

typedef enum {
    KEEP_DATE, // 23:59:59 of the day
    END_OF_PREVIOUS_OPEN_DAY,
    END_OF_NEXT_OPEN_DAY,
    KEEP_TIME, // unchanged
    END_OF_CURRENT_HOURS,
    BEGINNING_OF_NEXT_HOURS,
    END_OF_PREVIOUS_HOURS, // only for what a patron's expiry cuts
} Closing;

// closedLibraryDueDateManagementId of a loan policy; anything unknown keeps the date.
Closing closing_of_policy(Str id);
// holdShelfClosedLibraryDateManagement of a service point.
Closing closing_of_hold_shelf(Str id);

typedef struct {
    Closing closing;
    const Zone *zone;
    Time at;       // the date to be treated
    Time now;      // END_OF_CURRENT_HOURS asks whether it is open now
    Period offset; // BEGINNING_OF_NEXT_HOURS: added to the beginning; duration 0 = none
    Str service_point_id;
} ClosedDays;

// The treated date, from the days around `at`. 422 CALENDAR_TIMETABLE_ABSENT,
// CALENDAR_OPEN_PERIODS_NOT_FOUND.
WARN_UNUSED Err *closed_days_shift(const ClosedDays *input, const OpenDays *days, Time *out);
// The same, reading the calendar if the strategy needs it.
WARN_UNUSED Err *closed_days_apply(Tx *tx, const ClosedDays *input, Time *out);

// Minutes between two instants in which the service point was open. Without a calendar: none.
WARN_UNUSED Err *open_minutes_between(Tx *tx, Str service_point_id, const Zone *zone, Time from,
                                      Time to, int64_t *out);
