// Times as FOLIO writes and reads them.
#pragma once

#include "base/str.h"

// Milliseconds since 1970-01-01 00:00 UTC.
typedef int64_t Time;

enum {
    SECOND_MS = 1000,
    MINUTE_MS = 60 * SECOND_MS,
    HOUR_MS = 60 * MINUTE_MS,
};
#define DAY_MS ((Time)24 * HOUR_MS)

// Now, from the system's clock. Handlers use req->now instead.
Time time_now(void);
// Monotonic nanoseconds, for measuring.
int64_t clock_ns(void);

// Any RFC 3339 form and FOLIO's variants: date only, with or without seconds, fraction of any
// length (cut to milliseconds), "Z", "+0000", "+02:00", "+02", no zone (= UTC). False for anything
// else.
bool time_parse(Str text, Time *out);

// 2024-05-01T12:34:56.789+00:00, the form of metadata and of date-time properties (decision 4).
Str time_format(Time time);
// 2024-05-01T12:34:56.789Z, the form of loanDate and returnDate.
Str time_format_z(Time time);
// 2024-05-01T12:34:56.789+0000, the form of instances' statusUpdatedDate.
Str time_format_basic(Time time);
// 2024-05-01 in UTC.
Str date_format(Time time);
// 2024-05-01 as the midnight (UTC) that begins it; false for anything else.
bool date_parse(Str text, Time *out);
