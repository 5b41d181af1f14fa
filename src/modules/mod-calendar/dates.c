// Dates over HTTP: when a service point is open. Source: spec/circulation.md 7.5.
#include "modules/mod-calendar/errors.h"
#include "modules/mod-calendar/internal.h"

static Str minute_text(int minute)
{
    return str_fmt("%02d:%02d:00", minute / 60, minute % 60);
}

static Json *day_json(const CalendarDay *day)
{
    Json *json = json_object(), *openings = json_array();

    json_set_str(json, "date", date_format(day->date));
    json_set_bool(json, "allDay", day->is_all_day);
    json_set_bool(json, "open", day->is_open);
    json_set_bool(json, "exceptional", day->is_exceptional);
    if (day->is_exceptional) {
        json_set_str(json, "exceptionName", day->exception_name);
    }
    for (int i = 0; i < day->opening_count; i++) {
        Json *opening = json_object();
        json_set_str(opening, "startTime", minute_text(day->openings[i].start));
        json_set_str(opening, "endTime", minute_text(day->openings[i].end));
        json_add(openings, opening);
    }
    json_set(json, "openings", openings);
    return json;
}

static Err *read_timetable(Req *req, Timetable *out)
{
    Str id = req_param(req, 0);

    if (!uuid_is_uuid_shaped(id)) {
        return calendar_invalid(req->now, str_fmt("Invalid UUID string: " STR_FMT, STR_ARG(id)));
    }
    return timetable_of(req->tx, id, out);
}

Err *dates_surrounding(Req *req)
{
    Timetable timetable = {0};
    CalendarDay days[3];
    Time date = 0;
    Json *body = json_object(), *openings = json_array();

    TRY(calendar_date_query(req, "date", true, &date));
    TRY(read_timetable(req, &timetable));
    timetable_neighbour(&timetable, date, -1, &days[0]);
    (void)timetable_day(&timetable, date, &days[1]);
    timetable_neighbour(&timetable, date, 1, &days[2]);
    for (int i = 0; i < 3; i++) {
        json_add(openings, day_json(&days[i]));
    }
    json_set(body, "openings", openings);
    return reply_json(req, 200, body);
}

typedef struct {
    Time start, end;
    bool includes_closed;
    int64_t offset, limit;
} Range;

static Err *read_range(const Req *req, Range *range)
{
    Str closed = req_query_text(req, "includeClosed");

    TRY(calendar_date_query(req, "startDate", true, &range->start));
    TRY(calendar_date_query(req, "endDate", true, &range->end));
    TRY(calendar_int_query(req, "offset", 0, &range->offset));
    TRY(calendar_int_query(req, "limit", 10, &range->limit));
    if (closed.len && !str_eq_nocase(closed, S("true")) && !str_eq_nocase(closed, S("false"))) {
        return calendar_invalid(req->now, str_fmt("includeClosed: " STR_FMT, STR_ARG(closed)));
    }
    range->includes_closed = str_eq_nocase(closed, S("true"));
    return NULL;
}

// Days that say something, from `offset` on at most `limit`; *total: how many there are.
static Json *range_days(const Timetable *timetable, const Range *range, int64_t *total)
{
    Json *days = json_array();
    Time start = range->start, end = range->end;
    int64_t n = 0;

    if (range->includes_closed) { // every day counts: only the wanted ones are looked at
        *total = end < start ? 0 : (end - start) / DAY_MS + 1;
        n = range->offset;
        start += range->offset * DAY_MS;
        end = start + range->limit * DAY_MS - DAY_MS < end ? start + (range->limit - 1) * DAY_MS
                                                           : end;
    } else {
        timetable_clip(timetable, &start, &end);
    }
    for (Time date = start; date <= end; date += DAY_MS) {
        CalendarDay day;
        if (!timetable_day(timetable, date, &day) && !range->includes_closed) {
            continue;
        }
        if (n >= range->offset && n - range->offset < range->limit) {
            json_add(days, day_json(&day));
        }
        n++;
    }
    if (!range->includes_closed) {
        *total = n;
    }
    return days;
}

Err *dates_all(Req *req)
{
    Timetable timetable = {0};
    Range range = {0};
    int64_t total = 0;
    Json *body = json_object();

    TRY(read_range(req, &range));
    TRY(read_timetable(req, &timetable));
    json_set(body, "dates", range_days(&timetable, &range, &total));
    json_set_int(body, "totalRecords", total);
    return reply_json(req, 200, body);
}
