// mod-calendar: opening hours of service points.
// FOLIO: mod-calendar 3.1. Source: spec/circulation.md 7.5.
#include "modules/mod-calendar/internal.h"

static const Route routes[] = {
    {GET, "/calendar/calendars", READ, calendars_list, "calendar.endpoint.calendars.get"},
    {POST, "/calendar/calendars", WRITE, calendars_post, "calendar.endpoint.calendars.post",
     .takes_any_body = true},
    {DELETE, "/calendar/calendars", WRITE, calendars_delete_many,
     "calendar.endpoint.calendars.delete"},
    {GET, "/calendar/calendars/{calendarId}", READ, calendars_get,
     "calendar.endpoint.calendars.calendarId.get"},
    {PUT, "/calendar/calendars/{calendarId}", WRITE, calendars_put,
     "calendar.endpoint.calendars.calendarId.put", .takes_any_body = true},
    {DELETE, "/calendar/calendars/{calendarId}", WRITE, calendars_delete,
     "calendar.endpoint.calendars.calendarId.delete"},
    {GET, "/calendar/dates/{servicePointId}/all-openings", READ, dates_all,
     "calendar.endpoint.dates.get",
     .later_permission = "calendar.endpoint.calendars.allOpenings.get"},
    {GET, "/calendar/dates/{servicePointId}/surrounding-openings", READ, dates_surrounding,
     "calendar.endpoint.dates.get",
     .later_permission = "calendar.endpoint.calendars.surroundingOpenings.get"},
    {0},
};

static const Interface provides[] = {
    {"calendar", "5.0", routes},
    {0},
};

const Module mod_calendar = {
    .name = "mod-calendar",
    .version = "3.1.0",
    .provides = provides,
    .collections = calendar_collections,
};
