// Any text as a time, a date, an id, a number, a zone, a cron: read or refused, and what was read
// is written so that it reads the same.
#include "fuzz.h"

#include "base/date.h"
#include "base/tz.h"
#include "base/uuid.h"
#include "jobs/jobs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Str text = {(const char *)data, size}, line;
    Time time = 0, again = 0;
    int64_t integer = 0;
    double real = 0;
    bool known = false;

    while (text.len) {
        line = line_take(&text);
        if (time_parse(line, &time)) {
            HOLDS(time_parse(time_format(time), &again) && again == time);
            HOLDS(time_parse(time_format_z(time), &again) && again == time);
            HOLDS(time_parse(time_format_basic(time), &again) && again == time);
        }
        if (date_parse(line, &time)) {
            HOLDS(str_eq(date_format(time), line) && time % DAY_MS == 0);
        }
        HOLDS(!uuid_is_valid(line) || uuid_is_uuid_shaped(line));
        if (str_int64(line, &integer)) {
            HOLDS(str_int64(str_fmt("%lld", (long long)integer), &again) && again == integer);
        }
        (void)str_double(line, &real);
        HOLDS(zone_of(line, &known) != NULL);
        Time due = cron_next(str_z(line), "Europe/Berlin", 1800000000123);
        HOLDS(due == 0 || due > 1800000000123);
    }
    arena_reset(arena_current());
    return 0;
}
