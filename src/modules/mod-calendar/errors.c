// Errors of mod-calendar. Source: spec/circulation.md 7.5.
#include "modules/mod-calendar/errors.h"

#include "modules/mod-calendar/internal.h"

void calendar_errors_add(CalendarErrors *errors, const char *code, Str message, Json *parameters,
                         Json *data)
{
    Json *error = json_object();

    json_set_str(error, "code", str_of(code));
    json_set_str(error, "message", message);
    json_set(error, "parameters", parameters ? parameters : json_object());
    if (data) {
        json_set(error, "data", data);
    }
    if (!errors->errors) {
        errors->errors = json_array();
    }
    json_add(errors->errors, error);
}

Err *calendar_errors_end(const CalendarErrors *errors, Time now)
{
    Json *body = json_object();
    int status = errors->status ? errors->status : 400;

    if (!errors->errors) {
        return NULL;
    }
    json_set_str(body, "timestamp", time_format_z(now));
    json_set_int(body, "status", status);
    json_set(body, "errors", errors->errors);
    return err_body(status, json_text(body));
}

Err *calendar_invalid(Time now, Str detail)
{
    CalendarErrors errors = {0};

    calendar_errors_add(
        &errors, "invalidParameter",
        str_fmt("One of the parameters was the incorrect type: " STR_FMT, STR_ARG(detail)), NULL,
        NULL);
    return calendar_errors_end(&errors, now);
}

Err *calendar_not_found(Time now, Json *ids)
{
    CalendarErrors errors = {.status = 404};
    Json *data = json_object(), *parameters = json_object();

    json_set(parameters, "query", json_copy(ids));
    json_set(data, "notFound", ids);
    calendar_errors_add(&errors, "calendarNotFound",
                        S("No calendar was found with the specified query"), parameters, data);
    return calendar_errors_end(&errors, now);
}

Str date_medium(Str date)
{
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    Time time = 0;

    if (!date_parse(date, &time)) {
        return date;
    }
    LocalTime local = zone_local(zone_utc(), time);
    return str_fmt("%s %d, %d", months[local.month - 1], local.day, local.year);
}

Str time_short(Str time)
{
    int minute = 0;

    if (!minute_parse(time, &minute)) {
        return time;
    }
    int hour = minute / 60;
    return str_fmt("%d:%02d %s", hour % 12 ? hour % 12 : 12, minute % 60, hour < 12 ? "AM" : "PM");
}
