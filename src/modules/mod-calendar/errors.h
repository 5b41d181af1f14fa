// Errors of mod-calendar: a shape of their own, with codes and parameters, several in one answer.
// Source: spec/circulation.md 7.5.
#pragma once

#include "octavo.h"

// Failures collected for one answer.
typedef struct {
    int status;   // of the answer; 0 = 400
    Json *errors; // NULL as long as there is none
} CalendarErrors;

// parameters and data may be NULL.
void calendar_errors_add(CalendarErrors *errors, const char *code, Str message, Json *parameters,
                         Json *data);
// NULL if none was added.
Err *calendar_errors_end(const CalendarErrors *errors, Time now);
// 400 invalidParameter, of one parameter or of the body.
Err *calendar_invalid(Time now, Str detail);
// 404 calendarNotFound with the ids that do not exist.
Err *calendar_not_found(Time now, Json *ids);

// As people read them: "Jan 12, 2022", "7:00 AM"; the text itself if it is none.
Str date_medium(Str date);
Str time_short(Str time);
