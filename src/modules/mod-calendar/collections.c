// Collections of mod-calendar: opening hours.
#include "modules/mod-calendar/collections.h"

#include "modules/mod-calendar/properties.h"

// The routes take parameters instead of CQL and answer errors of their own shape: module.c.
static const Field calendars_fields[] = {
    {"name", "name", TEXT | INDEX},
    {"start_date", "startDate", TEXT | INDEX},
    {"end_date", "endDate", TEXT | INDEX},
    {"assignments", "assignments", TREE | WORDS | NO_COLUMN},
    {0},
};

const Collection calendars = {
    .table = "calendars",
    .record = &calendar_record,
    .fields = calendars_fields,
    .is_cached = true,
};

const Collection *const calendar_collections[] = {
    &calendars,
    NULL,
};
