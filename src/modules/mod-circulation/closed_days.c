// Moves due dates away from closed days and hours. Pure but for closed_days_apply.
// Source: spec/circulation.md 7.4; openings that abut are one, an opening is [start, end).
#include "modules/mod-circulation/closed_days.h"

typedef struct {
    Time start, end;
} Span;

enum {
    SPANS_MAX = 3 * OPENINGS_MAX,
};

Closing closing_of_policy(Str id)
{
    static const struct {
        const char *id;
        Closing closing;
    } known[] = {
        {"END_OF_THE_PREVIOUS_OPEN_DAY", END_OF_PREVIOUS_OPEN_DAY},
        {"END_OF_THE_NEXT_OPEN_DAY", END_OF_NEXT_OPEN_DAY},
        {"CURRENT_DUE_DATE_TIME", KEEP_TIME},
        {"END_OF_THE_CURRENT_SERVICE_POINT_HOURS", END_OF_CURRENT_HOURS},
        {"BEGINNING_OF_THE_NEXT_OPEN_SERVICE_POINT_HOURS", BEGINNING_OF_NEXT_HOURS},
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (str_eq_z(id, known[i].id)) {
            return known[i].closing;
        }
    }
    return KEEP_DATE;
}

Closing closing_of_hold_shelf(Str id)
{
    static const struct {
        const char *id;
        Closing closing;
    } known[] = {
        {"Move_to_the_end_of_the_previous_open_day", END_OF_PREVIOUS_OPEN_DAY},
        {"Move_to_the_end_of_the_next_open_day", END_OF_NEXT_OPEN_DAY},
        {"Keep_the_current_due_date_time", KEEP_TIME},
        {"Move_to_end_of_current_service_point_hours", END_OF_CURRENT_HOURS},
        {"Move_to_beginning_of_next_open_service_point_hours", BEGINNING_OF_NEXT_HOURS},
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (str_eq_z(id, known[i].id)) {
            return known[i].closing;
        }
    }
    return KEEP_DATE;
}

static Err *timetable_absent(const ClosedDays *input)
{
    return err_422(S("CALENDAR_TIMETABLE_ABSENT"),
                   S("Calendar timetable is absent for requested date"),
                   P("requestedDate", time_format_z(input->at)));
}

// A local minute of a date. 24:00 is the last second of the day, as FOLIO writes ends of days.
static Time minute_of(const ClosedDays *input, Time date, int minute)
{
    LocalTime local = zone_local(zone_utc(), date);

    if (minute >= DAY_MINUTES) {
        local.hour = 23;
        local.minute = 59;
        local.second = 59;
    } else {
        local.hour = minute / 60;
        local.minute = minute % 60;
    }
    return zone_time(input->zone, local);
}

static Time end_of_date(const ClosedDays *input, Time date)
{
    return minute_of(input, date, DAY_MINUTES);
}

// The openings of the three days in order, abutting ones joined.
static int join_openings(const ClosedDays *input, const OpenDays *days, Span *spans)
{
    int count = 0;

    for (int day = 0; day < 3; day++) {
        const OpenDay *open = &days->days[day];
        for (int i = 0; i < open->opening_count && open->is_open; i++) {
            Span span = {minute_of(input, open->date, open->openings[i].start),
                         minute_of(input, open->date, open->openings[i].end)};
            // A minute between 23:59 and 00:00 of the next day is no closure.
            if (count && span.start - spans[count - 1].end <= MINUTE_MS) {
                spans[count - 1].end =
                    span.end > spans[count - 1].end ? span.end : spans[count - 1].end;
            } else {
                spans[count++] = span;
            }
        }
    }
    return count;
}

static bool is_within(const Span *spans, int count, Time at)
{
    for (int i = 0; i < count; i++) {
        if (spans[i].start <= at && at < spans[i].end) {
            return true;
        }
    }
    return false;
}

static Err *end_of_open_day(const ClosedDays *input, const OpenDays *days, int other, Time *out)
{
    const OpenDay *day = days->days[1].is_open ? &days->days[1] : &days->days[other];

    if (!day->is_open) {
        return timetable_absent(input);
    }
    *out = end_of_date(input, day->date);
    return NULL;
}

// The end of the opening that is on, else of the next one.
static Err *end_of_current_hours(const ClosedDays *input, const Span *spans, int count, Time *out)
{
    for (int i = 0; i < count; i++) {
        if (input->now < spans[i].end) {
            *out = spans[i].end;
            return NULL;
        }
    }
    return timetable_absent(input);
}

static Err *end_of_previous_hours(const ClosedDays *input, const Span *spans, int count, Time *out)
{
    for (int i = count; i > 0; i--) {
        if (spans[i - 1].end <= input->at) {
            *out = spans[i - 1].end;
            return NULL;
        }
    }
    return timetable_absent(input);
}

static Err *beginning_of_next_hours(const ClosedDays *input, const Span *spans, int count,
                                    Time *out)
{
    if (count == 0) {
        return timetable_absent(input);
    }
    for (int i = 0; i < count; i++) {
        if (spans[i].start <= input->at) {
            continue;
        }
        Time at = spans[i].start;
        if (input->offset.duration > 0) {
            at = zone_add(input->zone, at, input->offset);
        }
        // An offset beyond the opening leads back to the end of the one before.
        if (at > spans[i].end) {
            at = i ? spans[i - 1].end : spans[i].end;
        }
        *out = at;
        return NULL;
    }
    *out = spans[count - 1].end;
    return NULL;
}

static Err *shift_by_hours(const ClosedDays *input, const OpenDays *days, Time *out)
{
    Span spans[SPANS_MAX];
    int count = join_openings(input, days, spans);

    if (is_within(spans, count, input->at)) {
        *out = input->at;
        return NULL;
    }
    switch (input->closing) {
    case END_OF_CURRENT_HOURS:
        return end_of_current_hours(input, spans, count, out);
    case END_OF_PREVIOUS_HOURS:
        return end_of_previous_hours(input, spans, count, out);
    default:
        return beginning_of_next_hours(input, spans, count, out);
    }
}

Err *closed_days_shift(const ClosedDays *input, const OpenDays *days, Time *out)
{
    if (input->closing == KEEP_DATE) {
        *out = zone_end_of_day(input->zone, input->at);
        return NULL;
    }
    if (input->closing == KEEP_TIME) {
        *out = input->at;
        return NULL;
    }
    if (!days->has_calendar) {
        return err_422(S("CALENDAR_OPEN_PERIODS_NOT_FOUND"),
                       S("Calendar open periods are not found"),
                       P("servicePointId", input->service_point_id),
                       P("requestedDate", time_format_z(input->at)));
    }
    if (input->closing == END_OF_PREVIOUS_OPEN_DAY) {
        return end_of_open_day(input, days, 0, out);
    }
    if (input->closing == END_OF_NEXT_OPEN_DAY) {
        return end_of_open_day(input, days, 2, out);
    }
    return shift_by_hours(input, days, out);
}

Err *closed_days_apply(Tx *tx, const ClosedDays *input, Time *out)
{
    OpenDays days = {0};

    if (input->closing != KEEP_DATE && input->closing != KEEP_TIME) {
        LocalTime local = zone_local(input->zone, input->at);
        local.hour = local.minute = local.second = local.ms = 0;
        TRY(open_days_around(tx, input->service_point_id, zone_time(zone_utc(), local), &days));
    }
    return closed_days_shift(input, &days, out);
}

// The part of an opening that lies between two instants. An opening up to 23:59 goes on at 00:00.
static Time open_part(const Zone *zone, Time date, Opening opening, Time from, Time to)
{
    ClosedDays at = {.zone = zone};
    bool is_to_midnight = opening.end >= DAY_MINUTES - 1;
    Time start = minute_of(&at, date, opening.start);
    Time end =
        is_to_midnight ? minute_of(&at, date + DAY_MS, 0) : minute_of(&at, date, opening.end);

    start = start > from ? start : from;
    end = end < to ? end : to;
    return end > start ? end - start : 0;
}

Err *open_minutes_between(Tx *tx, Str service_point_id, const Zone *zone, Time from, Time to,
                          int64_t *out)
{
    enum { YEARS_MAX = 20 };
    LocalTime local = zone_local(zone, from);
    OpenDays days = {0};
    Time open = 0;

    local.hour = local.minute = local.second = local.ms = 0;
    Time date = zone_time(zone_utc(), local);
    for (int i = 0; i < YEARS_MAX * 366 && minute_of(&(ClosedDays){.zone = zone}, date, 0) < to;
         i++, date += DAY_MS) {
        TRY(open_days_around(tx, service_point_id, date, &days));
        const OpenDay *day = &days.days[1];
        for (int k = 0; day->is_open && k < day->opening_count; k++) {
            open += open_part(zone, date, day->openings[k], from, to);
        }
        // Nothing follows a day without open neighbour.
        if (!day->is_open && !days.days[2].is_open) {
            break;
        }
    }
    *out = open / MINUTE_MS;
    return NULL;
}
