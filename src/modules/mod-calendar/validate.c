// What a calendar must be: all failures at once, as FOLIO's editor of calendars shows them.
// Source: spec/circulation.md 7.5.
#include "modules/mod-calendar/errors.h"

#include "base/sort.h"
#include "modules/mod-calendar/internal.h"

#include <stdlib.h>

// ---------------------------------------------------------------------------------------------
// Overlaps

typedef struct {
    int64_t start, end; // both belong to it
    const Json *of;
} Span;

static int span_order(const void *a, const void *b)
{
    const Span *left = a, *right = b;

    return (left->start > right->start) - (left->start < right->start);
}

static void add_once(Json *list, const Json *value)
{
    JSON_EACH(other, list)
    {
        if (json_equal(other, value)) {
            return;
        }
    }
    json_add(list, json_copy(value));
}

// Adds to `conflicts` what shares a moment with another span.
static void find_overlaps(Span *spans, size_t n, Json *conflicts)
{
    size_t last = 0; // the one that reaches farthest

    sort_array(spans, n, sizeof(Span), span_order);
    for (size_t i = 1; i < n; i++) {
        if (spans[i].start <= spans[last].end) {
            add_once(conflicts, spans[last].of);
            add_once(conflicts, spans[i].of);
        }
        if (spans[i].end > spans[last].end) {
            last = i;
        }
    }
}

static Time date_at(const Json *doc, const char *path)
{
    Time time = 0;

    (void)date_parse(json_str(doc, path), &time);
    return time;
}

static int64_t minute_at(const Json *doc, const char *date, const char *time)
{
    int minute = 0;

    (void)minute_parse(json_str(doc, time), &minute);
    return date_at(doc, date) / MINUTE_MS + minute;
}

// ---------------------------------------------------------------------------------------------
// Texts

static Str date_text(const Json *doc, const char *path)
{
    return date_medium(json_str(doc, path));
}

static Str weekday_short(Str name)
{
    static const char *const names[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    int day = weekday_of(name);

    return day < 0 ? name : str_of(names[day]);
}

static Str normal_opening_text(const Json *hours)
{
    return str_fmt(STR_FMT " " STR_FMT " - " STR_FMT " " STR_FMT,
                   STR_ARG(weekday_short(json_str(hours, "startDay"))),
                   STR_ARG(time_short(json_str(hours, "startTime"))),
                   STR_ARG(weekday_short(json_str(hours, "endDay"))),
                   STR_ARG(time_short(json_str(hours, "endTime"))));
}

static Str exception_opening_text(const Json *opening)
{
    return str_fmt(
        STR_FMT " " STR_FMT " to " STR_FMT " " STR_FMT, STR_ARG(date_text(opening, "startDate")),
        STR_ARG(time_short(json_str(opening, "startTime"))), STR_ARG(date_text(opening, "endDate")),
        STR_ARG(time_short(json_str(opening, "endTime"))));
}

static Str exception_text(const Json *exception)
{
    Str name = json_str(exception, "name");
    Str start = date_text(exception, "startDate"), end = date_text(exception, "endDate");

    if (str_eq(start, end)) {
        return str_fmt("“" STR_FMT "” on " STR_FMT, STR_ARG(name), STR_ARG(start));
    }
    return str_fmt("“" STR_FMT "” from " STR_FMT " to " STR_FMT, STR_ARG(name), STR_ARG(start),
                   STR_ARG(end));
}

// "a", "a and b", "a, b, and c"
static Str list_text(const Json *list, Str (*text)(const Json *))
{
    Buf out = buf_new(arena_current(), 1 << 20);
    size_t n = json_len(list), i = 0;

    JSON_EACH(one, list)
    {
        if (i > 0) {
            buf_add_z(&out, n > 2 ? ", " : " ");
            buf_add_z(&out, i + 1 == n ? "and " : "");
        }
        buf_add(&out, text(one));
        i++;
    }
    return buf_str(&out);
}

static Json *parameter(const char *name, const Json *value)
{
    Json *parameters = json_object();

    json_set(parameters, name, json_copy(value));
    return parameters;
}

static Json *parameters_of(const Json *calendar, const char *const *names)
{
    Json *parameters = json_object();

    for (; *names; names++) {
        json_take(parameters, *names, calendar, *names);
    }
    return parameters;
}

// ---------------------------------------------------------------------------------------------
// Rules

static void check_name(const Json *calendar, CalendarErrors *errors)
{
    if (!str_trim(json_str(calendar, "name")).len) {
        calendar_errors_add(errors, "calendarNoName", S("Please provide a non-empty calendar name"),
                            parameter("name", json_get(calendar, "name")), NULL);
    }
}

static void check_dates(const Json *calendar, CalendarErrors *errors)
{
    static const char *const names[] = {"startDate", "endDate", NULL};

    if (date_at(calendar, "startDate") > date_at(calendar, "endDate")) {
        calendar_errors_add(errors, "calendarInvalidDateRange",
                            str_fmt("Start date (" STR_FMT ") cannot be after end date (" STR_FMT
                                    ")",
                                    STR_ARG(date_text(calendar, "startDate")),
                                    STR_ARG(date_text(calendar, "endDate"))),
                            parameters_of(calendar, names), NULL);
    }
}

static Json *shared_service_points(const Json *calendar, const Json *other)
{
    Json *shared = json_array();

    JSON_EACH(id, json_get(calendar, "assignments"))
    {
        JSON_EACH(theirs, json_get(other, "assignments"))
        {
            if (str_eq_nocase(json_scalar_text(id), json_scalar_text(theirs))) {
                add_once(shared, id);
            }
        }
    }
    return shared;
}

static void add_overlap(const Json *calendar, const Json *other, Json *shared,
                        CalendarErrors *errors)
{
    static const char *const names[] = {"assignments", "startDate", "endDate", NULL};
    Json *data = json_object();

    json_set(data, "conflictingServicePointIds", shared);
    errors->status = 409;
    calendar_errors_add(errors, "calendarDateOverlap",
                        str_fmt("This calendar overlaps with another calendar (“" STR_FMT
                                "” from " STR_FMT " to " STR_FMT ")",
                                STR_ARG(json_str(other, "name")),
                                STR_ARG(date_text(other, "startDate")),
                                STR_ARG(date_text(other, "endDate"))),
                        parameters_of(calendar, names), data);
}

static Err *check_other_calendars(Tx *tx, const Json *calendar, CalendarErrors *errors)
{
    Docs docs = {0};

    TRY(tx_where(
        tx, &calendars, "end_date >= $1 and start_date <= $2 order by start_date",
        ARGS(A_TEXT(json_str(calendar, "startDate")), A_TEXT(json_str(calendar, "endDate"))),
        &docs));
    for (size_t i = 0; i < docs.len; i++) {
        Json *shared = shared_service_points(calendar, docs.at[i]);
        if (json_len(shared) && !str_eq(json_str(docs.at[i], "id"), json_str(calendar, "id"))) {
            add_overlap(calendar, docs.at[i], shared, errors);
        }
    }
    return NULL;
}

static void check_normal_hours(const Json *calendar, CalendarErrors *errors)
{
    const Json *hours = json_get(calendar, "normalHours");
    Span *spans = NEW_ARRAY(Span, json_len(hours) * WEEKDAY_SLICES_MAX + 1);
    Json *conflicts = json_array(), *data = json_object();
    size_t n = 0;

    JSON_EACH(opening, hours)
    {
        WeekdaySlice slices[WEEKDAY_SLICES_MAX];
        size_t count = weekly_opening_slices(opening, slices);
        for (size_t i = 0; i < count; i++) {
            int day = slices[i].weekday * DAY_MINUTES;
            spans[n++] =
                (Span){day + slices[i].opening.start, day + slices[i].opening.end, opening};
        }
    }
    find_overlaps(spans, n, conflicts);
    if (!json_len(conflicts)) {
        return;
    }
    Str list = list_text(conflicts, normal_opening_text);
    json_set(data, "conflicts", conflicts);
    calendar_errors_add(
        errors, "calendarInvalidNormalOpenings",
        str_fmt("The following openings conflict with each other: " STR_FMT, STR_ARG(list)),
        parameter("normalHours", hours), data);
}

static void check_exception_names(const Json *exceptions, CalendarErrors *errors)
{
    JSON_EACH(exception, exceptions)
    {
        if (!str_trim(json_str(exception, "name")).len) {
            calendar_errors_add(errors, "calendarInvalidExceptionName",
                                S("At least one exception is missing a name"),
                                parameter("exceptions", exceptions), NULL);
            return;
        }
    }
}

static Json *range_data(const Json *exception)
{
    return parameter("range", exception);
}

static void check_exception_order(const Json *exceptions, CalendarErrors *errors)
{
    JSON_EACH(exception, exceptions)
    {
        if (date_at(exception, "startDate") > date_at(exception, "endDate")) {
            calendar_errors_add(errors, "calendarInvalidExceptionDateOrder",
                                str_fmt("The start date (" STR_FMT ") is after the end date "
                                        "(" STR_FMT ") for exception “" STR_FMT "”",
                                        STR_ARG(date_text(exception, "startDate")),
                                        STR_ARG(date_text(exception, "endDate")),
                                        STR_ARG(json_str(exception, "name"))),
                                parameter("exceptions", exceptions), range_data(exception));
        }
    }
}

static bool is_within(const Json *inner, const Json *outer)
{
    Time start = date_at(outer, "startDate"), end = date_at(outer, "endDate");
    Time first = date_at(inner, "startDate"), last = date_at(inner, "endDate");

    return start <= first && first <= end && start <= last && last <= end;
}

static void check_exception_bounds(const Json *calendar, CalendarErrors *errors)
{
    const Json *exceptions = json_get(calendar, "exceptions");

    JSON_EACH(exception, exceptions)
    {
        if (!is_within(exception, calendar)) {
            calendar_errors_add(
                errors, "calendarInvalidExceptionDateBoundary",
                str_fmt("The exception “" STR_FMT "” (" STR_FMT " to " STR_FMT
                        ") is not fully enclosed by the calendar's start and end dates (" STR_FMT
                        " to " STR_FMT ")",
                        STR_ARG(json_str(exception, "name")),
                        STR_ARG(date_text(exception, "startDate")),
                        STR_ARG(date_text(exception, "endDate")),
                        STR_ARG(date_text(calendar, "startDate")),
                        STR_ARG(date_text(calendar, "endDate"))),
                parameter("exceptions", exceptions), range_data(exception));
        }
    }
}

static void check_exception_overlaps(const Json *exceptions, CalendarErrors *errors)
{
    Span *spans = NEW_ARRAY(Span, json_len(exceptions) + 1);
    Json *conflicts = json_array(), *data = json_object();
    size_t n = 0;

    JSON_EACH(exception, exceptions)
    {
        spans[n++] =
            (Span){date_at(exception, "startDate"), date_at(exception, "endDate"), exception};
    }
    find_overlaps(spans, n, conflicts);
    if (!json_len(conflicts)) {
        return;
    }
    Str list = list_text(conflicts, exception_text);
    json_set(data, "conflicts", conflicts);
    calendar_errors_add(
        errors, "calendarInvalidExceptions",
        str_fmt("The following exceptions conflict with each other: " STR_FMT, STR_ARG(list)),
        parameter("exceptions", exceptions), data);
}

static void check_opening_bounds(const Json *exceptions, CalendarErrors *errors)
{
    JSON_EACH(exception, exceptions)
    {
        Json *outside = json_array();
        JSON_EACH(opening, json_get(exception, "openings"))
        {
            if (!is_within(opening, exception)) {
                json_add(outside, json_copy(opening));
            }
        }
        if (json_len(outside)) {
            Str list = list_text(outside, exception_opening_text);
            calendar_errors_add(errors, "calendarInvalidExceptionOpeningBoundary",
                                str_fmt("The exception “" STR_FMT
                                        "” has %s outside of the exception's bounds: " STR_FMT,
                                        STR_ARG(json_str(exception, "name")),
                                        json_len(outside) == 1 ? "an opening" : "openings",
                                        STR_ARG(list)),
                                parameter("exceptions", exceptions), NULL);
        }
    }
}

static void check_opening_overlaps(const Json *exceptions, CalendarErrors *errors)
{
    JSON_EACH(exception, exceptions)
    {
        const Json *openings = json_get(exception, "openings");
        Span *spans = NEW_ARRAY(Span, json_len(openings) + 1);
        Json *conflicts = json_array();
        size_t n = 0;
        JSON_EACH(opening, openings)
        {
            spans[n++] = (Span){minute_at(opening, "startDate", "startTime"),
                                minute_at(opening, "endDate", "endTime"), opening};
        }
        find_overlaps(spans, n, conflicts);
        if (json_len(conflicts)) {
            Str list = list_text(conflicts, exception_opening_text);
            calendar_errors_add(errors, "calendarInvalidExceptionOpenings",
                                str_fmt("The following openings within “" STR_FMT
                                        "” conflict with each other: " STR_FMT,
                                        STR_ARG(json_str(exception, "name")), STR_ARG(list)),
                                parameter("exceptions", exceptions), NULL);
        }
    }
}

Err *calendar_validate(Tx *tx, const Json *calendar)
{
    const Json *exceptions = json_get(calendar, "exceptions");
    CalendarErrors errors = {0};

    check_name(calendar, &errors);
    check_dates(calendar, &errors);
    TRY(check_other_calendars(tx, calendar, &errors));
    check_normal_hours(calendar, &errors);
    check_exception_names(exceptions, &errors);
    check_exception_order(exceptions, &errors);
    check_exception_bounds(calendar, &errors);
    check_exception_overlaps(exceptions, &errors);
    check_opening_bounds(exceptions, &errors);
    check_opening_overlaps(exceptions, &errors);
    return calendar_errors_end(&errors, tx_now(tx));
}
