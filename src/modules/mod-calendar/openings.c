// When a service point is open: calendars worked out once, then asked by date.
// Source: spec/circulation.md 7.5.
#include "modules/mod-calendar/internal.h"

#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    Opening openings[OPENINGS_MAX];
    int count;
} DayHours;

typedef struct {
    Str name;
    Time start, end; // dates
    DayHours *days;  // one per date
} CompiledException;

struct CompiledCalendar {
    Time start, end; // dates
    DayHours week[7];
    CompiledException *exceptions; // the last one that covers a date counts
    size_t exception_count;
};

typedef struct {
    Str service_point_id;
    const CompiledCalendar *calendar;
} Assignment;

typedef struct {
    Assignment *at; // by service point, then first day
    size_t len;
    const CompiledCalendar **calendars; // the same order
} Assignments;

// ---------------------------------------------------------------------------------------------
// Reading texts

static bool two_digits(Str text, size_t from, int *out)
{
    if (text.len < from + 2 || text.at[from] < '0' || text.at[from] > '9' ||
        text.at[from + 1] < '0' || text.at[from + 1] > '9') {
        return false;
    }
    *out = (text.at[from] - '0') * 10 + text.at[from + 1] - '0';
    return true;
}

bool minute_parse(Str text, int *out)
{
    int hour = 0, minute = 0, second = 0;

    if ((text.len != 5 && text.len != 8) || !two_digits(text, 0, &hour) || text.at[2] != ':' ||
        !two_digits(text, 3, &minute)) {
        return false;
    }
    if (text.len == 8 && (text.at[5] != ':' || !two_digits(text, 6, &second))) {
        return false;
    }
    *out = hour * 60 + minute;
    return hour < 24 && minute < 60 && second < 60;
}

int weekday_of(Str name)
{
    static const char *const names[] = {"SUNDAY",   "MONDAY", "TUESDAY", "WEDNESDAY",
                                        "THURSDAY", "FRIDAY", "SATURDAY"};

    for (int i = 0; i < 7; i++) {
        if (str_eq_z(name, names[i])) {
            return i;
        }
    }
    return -1;
}

static int minute_at(const Json *hours, const char *path, int fallback)
{
    int minute = fallback;

    return minute_parse(json_str(hours, path), &minute) ? minute : fallback;
}

size_t weekly_opening_slices(const Json *hours, WeekdaySlice slices[WEEKDAY_SLICES_MAX])
{
    int day = weekday_of(json_str(hours, "startDay")), last = weekday_of(json_str(hours, "endDay"));
    int start = minute_at(hours, "startTime", 0), end = minute_at(hours, "endTime", MINUTE_LAST);
    size_t n = 0;

    if (day < 0 || last < 0) {
        return 0;
    }
    // From a time of a weekday to an earlier one of the same: around the whole week.
    bool goes_around = day == last && start > end;
    for (;;) {
        bool is_last = day == last && !(goes_around && n == 0);
        slices[n++] = (WeekdaySlice){day, {start, is_last ? end : MINUTE_LAST}};
        if (is_last || n == WEEKDAY_SLICES_MAX) {
            return n;
        }
        start = 0;
        day = (day + 1) % 7;
    }
}

// ---------------------------------------------------------------------------------------------
// Working out

static int opening_order(const void *a, const void *b)
{
    return ((const Opening *)a)->start - ((const Opening *)b)->start;
}

static void day_add(DayHours *day, Opening opening)
{
    if (day->count < OPENINGS_MAX) {
        day->openings[day->count++] = opening;
    }
}

static void compile_week(CompiledCalendar *calendar, const Json *doc)
{
    WeekdaySlice slices[WEEKDAY_SLICES_MAX];

    JSON_EACH(hours, json_get(doc, "normalHours"))
    {
        size_t n = weekly_opening_slices(hours, slices);
        for (size_t i = 0; i < n; i++) {
            day_add(&calendar->week[slices[i].weekday], slices[i].opening);
        }
    }
    for (int i = 0; i < 7; i++) {
        DayHours *day = &calendar->week[i];
        sort_array(day->openings, (size_t)day->count, sizeof(Opening), opening_order);
    }
}

static void compile_exception_opening(CompiledException *exception, const Json *opening)
{
    Time first = 0, last = 0;

    if (!date_parse(json_str(opening, "startDate"), &first) ||
        !date_parse(json_str(opening, "endDate"), &last)) {
        return;
    }
    for (Time date = exception->start; date <= exception->end; date += DAY_MS) {
        if (date < first || date > last) {
            continue;
        }
        Opening slice = {date == first ? minute_at(opening, "startTime", 0) : 0,
                         date == last ? minute_at(opening, "endTime", MINUTE_LAST) : MINUTE_LAST};
        day_add(&exception->days[(date - exception->start) / DAY_MS], slice);
    }
}

// Clipped to the calendar, so that no date far away costs memory.
static void compile_exception(CompiledCalendar *calendar, const Json *doc)
{
    CompiledException exception = {.name = json_str(doc, "name")};

    if (!date_parse(json_str(doc, "startDate"), &exception.start) ||
        !date_parse(json_str(doc, "endDate"), &exception.end)) {
        return;
    }
    if (exception.start < calendar->start) {
        exception.start = calendar->start;
    }
    if (exception.end > calendar->end) {
        exception.end = calendar->end;
    }
    if (exception.end < exception.start) {
        return;
    }
    size_t n = (size_t)((exception.end - exception.start) / DAY_MS) + 1;
    exception.days = NEW_ARRAY(DayHours, n);
    JSON_EACH(opening, json_get(doc, "openings"))
    {
        compile_exception_opening(&exception, opening);
    }
    for (size_t i = 0; i < n; i++) {
        sort_array(exception.days[i].openings, (size_t)exception.days[i].count, sizeof(Opening),
                   opening_order);
    }
    calendar->exceptions[calendar->exception_count++] = exception;
}

static bool compile_calendar(const Json *doc, CompiledCalendar *calendar)
{
    const Json *exceptions = json_get(doc, "exceptions");

    if (!date_parse(json_str(doc, "startDate"), &calendar->start) ||
        !date_parse(json_str(doc, "endDate"), &calendar->end)) {
        return false;
    }
    compile_week(calendar, doc);
    calendar->exceptions = NEW_ARRAY(CompiledException, json_len(exceptions) + 1);
    JSON_EACH(exception, exceptions)
    {
        compile_exception(calendar, exception);
    }
    return true;
}

static int assignment_order(const void *a, const void *b)
{
    const Assignment *left = a, *right = b;
    int order = str_cmp(left->service_point_id, right->service_point_id);

    if (order) {
        return order;
    }
    return (left->calendar->start > right->calendar->start) -
           (left->calendar->start < right->calendar->start);
}

static void assign(Assignments *all, const Docs *docs, CompiledCalendar *compiled)
{
    for (size_t i = 0; i < docs->len; i++) {
        if (!compile_calendar(docs->at[i], &compiled[i])) {
            continue;
        }
        JSON_EACH(id, json_get(docs->at[i], "assignments"))
        {
            Str text = str_copy(arena_current(), json_scalar_text(id));
            all->at[all->len++] = (Assignment){text, &compiled[i]};
        }
    }
}

static Err *build_assignments(Tx *tx, void **out)
{
    Docs docs = {0};
    Assignments *all = NEW(Assignments);
    size_t count = 0;

    TRY(tx_where(tx, &calendars, "1 = 1", NO_ARGS, &docs));
    for (size_t i = 0; i < docs.len; i++) {
        count += json_len(json_get(docs.at[i], "assignments"));
    }
    all->at = NEW_ARRAY(Assignment, count + 1);
    assign(all, &docs, NEW_ARRAY(CompiledCalendar, docs.len + 1));
    sort_array(all->at, all->len, sizeof(Assignment), assignment_order);
    all->calendars = NEW_ARRAY(const CompiledCalendar *, all->len + 1);
    for (size_t i = 0; i < all->len; i++) {
        all->calendars[i] = all->at[i].calendar;
    }
    *out = all;
    return NULL;
}

static const Collection *const assignment_sources[] = {&calendars, NULL};
static const Derived assignments_derived = {"calendar openings", assignment_sources,
                                            build_assignments};
DERIVED_IS_KNOWN(assignments_derived)

Err *timetable_of(Tx *tx, Str service_point_id, Timetable *out)
{
    const void *value = NULL;
    Str id = str_lower(service_point_id);

    TRY(tx_derived(tx, &assignments_derived, &value));
    const Assignments *all = value;
    size_t low = 0, high = all->len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (str_cmp(all->at[middle].service_point_id, id) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *out = (Timetable){all->calendars + low, 0};
    while (low + out->len < all->len && str_eq(all->at[low + out->len].service_point_id, id)) {
        out->len++;
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Asking

static bool is_all_day(const Opening *openings, int count)
{
    if (count == 0 || openings[0].start != 0 || openings[count - 1].end != MINUTE_LAST) {
        return false;
    }
    for (int i = 1; i < count; i++) {
        if (openings[i - 1].end + 1 != openings[i].start) {
            return false;
        }
    }
    return true;
}

static void take_hours(CalendarDay *day, const DayHours *hours)
{
    day->openings = hours->openings;
    day->opening_count = hours->count;
    day->is_open = hours->count > 0;
    day->is_all_day = !day->is_open || is_all_day(hours->openings, hours->count);
}

static int weekday_at(Time date)
{
    return (int)((date / DAY_MS % 7 + 7 + 4) % 7); // 1970-01-01 was a Thursday
}

static const CompiledException *exception_at(const CompiledCalendar *calendar, Time date)
{
    for (size_t i = calendar->exception_count; i > 0; i--) {
        const CompiledException *exception = &calendar->exceptions[i - 1];
        if (exception->start <= date && date <= exception->end) {
            return exception;
        }
    }
    return NULL;
}

// False: a plain closed day.
static bool calendar_day(const CompiledCalendar *calendar, Time date, CalendarDay *out)
{
    const CompiledException *exception = exception_at(calendar, date);

    *out = (CalendarDay){.date = date, .is_all_day = true};
    if (exception) {
        out->is_exceptional = true;
        out->exception_name = exception->name;
        take_hours(out, &exception->days[(date - exception->start) / DAY_MS]);
        return true;
    }
    take_hours(out, &calendar->week[weekday_at(date)]);
    return out->is_open;
}

bool timetable_day(const Timetable *timetable, Time date, CalendarDay *out)
{
    for (size_t i = 0; i < timetable->len; i++) {
        const CompiledCalendar *calendar = timetable->at[i];
        if (calendar->start <= date && date <= calendar->end) {
            return calendar_day(calendar, date, out);
        }
    }
    *out = (CalendarDay){.date = date, .is_all_day = true};
    return false;
}

// The open day nearest to `from` between it and the end of the calendar in that direction.
static bool nearest_open(const CompiledCalendar *calendar, Time from, int step, CalendarDay *out)
{
    if (step > 0 && from < calendar->start) {
        from = calendar->start;
    }
    if (step < 0 && from > calendar->end) {
        from = calendar->end;
    }
    bool has_week = false;
    for (int i = 0; i < 7; i++) {
        has_week = has_week || calendar->week[i].count > 0;
    }
    // Without weekly hours only exceptions can open: nothing else is walked through.
    for (Time date = from; calendar->start <= date && date <= calendar->end;
         date += step * DAY_MS) {
        if (!has_week && !exception_at(calendar, date)) {
            continue;
        }
        if (calendar_day(calendar, date, out) && out->is_open) {
            return true;
        }
    }
    return false;
}

void timetable_neighbour(const Timetable *timetable, Time date, int step, CalendarDay *out)
{
    Time from = date + step * DAY_MS;

    for (size_t i = 0; i < timetable->len; i++) {
        const CompiledCalendar *calendar = timetable->at[step > 0 ? i : timetable->len - 1 - i];
        if (nearest_open(calendar, from, step, out)) {
            return;
        }
    }
    *out = (CalendarDay){.date = from, .is_all_day = true};
}

void timetable_clip(const Timetable *timetable, Time *start, Time *end)
{
    Time first = INT64_MAX, last = INT64_MIN;

    for (size_t i = 0; i < timetable->len; i++) {
        first = timetable->at[i]->start < first ? timetable->at[i]->start : first;
        last = timetable->at[i]->end > last ? timetable->at[i]->end : last;
    }
    *start = *start > first ? *start : first;
    *end = *end < last ? *end : last;
}

static OpenDay open_day_of(const CalendarDay *day)
{
    OpenDay open = {.date = day->date, .is_open = day->is_open};

    if (day->is_open && day->is_all_day) {
        open.openings[0] = (Opening){0, DAY_MINUTES};
        open.opening_count = 1;
        return open;
    }
    for (int i = 0; i < day->opening_count; i++) {
        open.openings[i] = day->openings[i];
    }
    open.opening_count = day->opening_count;
    return open;
}

Err *open_days_around(Tx *tx, Str service_point_id, Time date, OpenDays *out)
{
    METER("mod-calendar");
    Timetable timetable = {0};
    CalendarDay days[3] = {0};

    TRY(timetable_of(tx, service_point_id, &timetable));
    timetable_neighbour(&timetable, date, -1, &days[0]);
    (void)timetable_day(&timetable, date, &days[1]);
    timetable_neighbour(&timetable, date, 1, &days[2]);
    out->has_calendar = timetable.len > 0;
    for (int i = 0; i < 3; i++) {
        out->days[i] = open_day_of(&days[i]);
    }
    return NULL;
}
