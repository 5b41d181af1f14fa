// What the files of mod-calendar share.
#pragma once

#include "modules/mod-calendar/calendar.h"

enum {
    MINUTE_LAST = DAY_MINUTES - 1, // FOLIO writes the end of a day as 23:59
};

// One date at a service point as the API shows it.
typedef struct {
    Time date;
    bool is_open, is_all_day, is_exceptional;
    Str exception_name;
    const Opening *openings;
    int opening_count;
} CalendarDay;

// A calendar worked out for reading.
typedef struct CompiledCalendar CompiledCalendar;

typedef struct {
    const CompiledCalendar **at; // in order of their first day
    size_t len;
} Timetable;

// The calendars of a service point; none: len 0.
WARN_UNUSED Err *timetable_of(Tx *tx, Str service_point_id, Timetable *out);
// The date; closed where no calendar says anything. False if it is a plain closed day.
bool timetable_day(const Timetable *timetable, Time date, CalendarDay *out);
// The nearest open day strictly before (step -1) or after (step 1); closed the next day if none.
void timetable_neighbour(const Timetable *timetable, Time date, int step, CalendarDay *out);
// Shortens a range of dates to the days that some calendar covers; start > end: none.
void timetable_clip(const Timetable *timetable, Time *start, Time *end);

// "HH:MM" or "HH:MM:SS" as minutes; false for anything else.
bool minute_parse(Str text, int *out);
// Index of a weekday in capitals, 0 = SUNDAY; -1 for anything else.
int weekday_of(Str name);
// The slices of a weekly opening, one per weekday it touches (two if it goes around the week).
typedef struct {
    int weekday;
    Opening opening;
} WeekdaySlice;
enum { WEEKDAY_SLICES_MAX = 8 };
size_t weekly_opening_slices(const Json *hours, WeekdaySlice slices[WEEKDAY_SLICES_MAX]);

// validate.c: every rule a calendar breaks, as one error. The calendar itself (by id) is no
// overlap.
WARN_UNUSED Err *calendar_validate(Tx *tx, const Json *calendar);

// calendars.c
Err *calendars_list(Req *req);
Err *calendars_post(Req *req);
Err *calendars_get(Req *req);
Err *calendars_put(Req *req);
Err *calendars_delete(Req *req);
Err *calendars_delete_many(Req *req);
// Parameters: 400 invalidParameter.
WARN_UNUSED Err *calendar_int_query(const Req *req, const char *name, int64_t fallback,
                                    int64_t *out);
WARN_UNUSED Err *calendar_date_query(const Req *req, const char *name, bool is_needed, Time *out);

// dates.c
Err *dates_surrounding(Req *req);
Err *dates_all(Req *req);
