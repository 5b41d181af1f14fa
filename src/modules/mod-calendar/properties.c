// Shapes of the records of mod-calendar.
#include "modules/mod-calendar/properties.h"

static const char *const weekdays[] = {"SUNDAY",   "MONDAY", "TUESDAY",  "WEDNESDAY",
                                       "THURSDAY", "FRIDAY", "SATURDAY", NULL};

static const Property normal_hours[] = {
    {"calendarId", ID},
    {"startDay", STRING, REQUIRED, .one_of = weekdays},
    {"startTime", STRING, REQUIRED},
    {"endDay", STRING, REQUIRED, .one_of = weekdays},
    {"endTime", STRING, REQUIRED},
    {0},
};

static const Property openings[] = {
    {"exceptionId", ID},         {"startDate", DATE, REQUIRED}, {"startTime", STRING, REQUIRED},
    {"endDate", DATE, REQUIRED}, {"endTime", STRING, REQUIRED}, {0},
};

static const Property exceptions[] = {
    {"calendarId", ID},
    {"name", STRING, REQUIRED},
    {"startDate", DATE, REQUIRED},
    {"endDate", DATE, REQUIRED},
    {"openings", OBJECT, REQUIRED | ARRAY, .of = openings},
    {0},
};

static const Property calendar[] = {
    {"id", ID},
    {"name", STRING, REQUIRED},
    {"startDate", DATE, REQUIRED},
    {"endDate", DATE, REQUIRED},
    {"assignments", ID, REQUIRED | ARRAY},
    {"normalHours", OBJECT, REQUIRED | ARRAY, .of = normal_hours},
    {"exceptions", OBJECT, REQUIRED | ARRAY, .of = exceptions},
    {"metadata", METADATA},
    {0},
};

const RecordType calendar_record = {"Calendar", .properties = calendar};
