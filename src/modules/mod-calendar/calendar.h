// mod-calendar inside the process: when service points are open.
// FOLIO: interface calendar 5.0. Source: spec/circulation.md 7.5.
#pragma once

#include "octavo.h"

#include "modules/mod-calendar/collections.h"

extern const Module mod_calendar;

enum {
    DAY_MINUTES = 24 * 60,
    OPENINGS_MAX = 16, // of one day
};

// Minutes since local midnight: [start, end). The whole day is 0 to DAY_MINUTES; an opening that
// goes on the next day ends at 23:59.
typedef struct {
    int start, end;
} Opening;

typedef struct {
    Time date; // the date as midnight UTC
    bool is_open;
    Opening openings[OPENINGS_MAX]; // in order of their start
    int opening_count;
} OpenDay;

// The nearest open day before, the day itself, the nearest open day after. A neighbour that does
// not exist is closed.
typedef struct {
    bool has_calendar; // some calendar is assigned to the service point
    OpenDay days[3];
} OpenDays;

// The days around a local date (as midnight UTC) at a service point. From memory: no statement
// unless a calendar was changed.
WARN_UNUSED Err *open_days_around(Tx *tx, Str service_point_id, Time date, OpenDays *out);
