// Collections of mod-calendar.
#pragma once

#include "store/store.h"

extern const Collection calendars;

// All of the module, NULL at the end.
extern const Collection *const calendar_collections[];
