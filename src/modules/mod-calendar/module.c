// mod-calendar: opening hours of service points.
// FOLIO: mod-calendar 3.1. Source: spec/circulation.md 7.5.
#include "modules/mod-calendar/internal.h"

static const Interface provides[] = {
    {"calendar", "5.0"},
    {0},
};

const Module mod_calendar = {
    .name = "mod-calendar",
    .version = "3.1.0",
    .provides = provides,
    .collections = calendar_collections,
};
