// When a cron text is due next: minute hour day-of-month month day-of-week, in a time zone.
// Numbers,
// "*", lists, ranges, steps. If both days are restricted, either will do (as cron itself has it).
#include "jobs/internal.h"

#include "base/tz.h"

enum {
    FIELDS = 5,
    DAYS_AHEAD = 5 * 366,
};

typedef struct {
    uint64_t minutes, hours, days, months, weekdays;
    bool any_day, any_weekday;
} Cron;

static bool parse_number(Str text, int low, int high, int *out)
{
    int64_t value = 0;
    bool is_good = text.len && text.at[0] >= '0' && text.at[0] <= '9' && str_int64(text, &value) &&
                   value >= low && value <= high;

    *out = (int)value;
    return is_good;
}

// "*", "5", "1-5", each perhaps with "/2".
static bool parse_item(Str item, int low, int high, uint64_t *bits)
{
    int from = low, to = high, step = 1;
    ptrdiff_t slash = str_find_char(item, '/', 0);

    if (slash >= 0) {
        Str rest = str_sub(item, (size_t)slash + 1, item.len);
        if (!parse_number(rest, 1, high, &step)) {
            return false;
        }
        item = str_sub(item, 0, (size_t)slash);
    }
    if (!str_eq(item, S("*"))) {
        ptrdiff_t dash = str_find_char(item, '-', 0);
        Str first = dash < 0 ? item : str_sub(item, 0, (size_t)dash);
        Str last = dash < 0 ? item : str_sub(item, (size_t)dash + 1, item.len);
        if (!parse_number(first, low, high, &from) || !parse_number(last, low, high, &to)) {
            return false;
        }
        to = dash < 0 && slash >= 0 ? high : to;
    }
    for (int i = from; i <= to; i += step) {
        *bits |= (uint64_t)1 << i;
    }
    return from <= to;
}

static bool parse_field(Str field, int low, int high, uint64_t *bits)
{
    size_t from = 0;

    while (from <= field.len) {
        ptrdiff_t comma = str_find_char(field, ',', from);
        size_t to = comma < 0 ? field.len : (size_t)comma;
        if (!parse_item(str_sub(field, from, to), low, high, bits)) {
            return false;
        }
        from = to + 1;
    }
    return true;
}

static bool split(Str text, Str *fields)
{
    size_t n = 0, at = 0;

    while (at < text.len) {
        size_t from = at;
        while (at < text.len && text.at[at] != ' ') {
            at++;
        }
        if (at > from) {
            if (n == FIELDS) {
                return false;
            }
            fields[n++] = str_sub(text, from, at);
        }
        at++;
    }
    return n == FIELDS;
}

static bool cron_parse(Str text, Cron *cron)
{
    Str fields[FIELDS];

    if (!split(text, fields)) {
        return false;
    }
    bool is_good = parse_field(fields[0], 0, 59, &cron->minutes) &&
                   parse_field(fields[1], 0, 23, &cron->hours) &&
                   parse_field(fields[2], 1, 31, &cron->days) &&
                   parse_field(fields[3], 1, 12, &cron->months) &&
                   parse_field(fields[4], 0, 7, &cron->weekdays);
    cron->any_day = fields[2].at[0] == '*';
    cron->any_weekday = fields[4].at[0] == '*';
    cron->weekdays |= cron->weekdays >> 7 & 1; // 7 is Sunday too
    return is_good;
}

static bool has_bit(uint64_t bits, int n)
{
    return bits >> n & 1;
}

static bool fits_day(const Cron *cron, const LocalTime *day)
{
    bool by_day = has_bit(cron->days, day->day), by_weekday = has_bit(cron->weekdays, day->weekday);

    if (!has_bit(cron->months, day->month)) {
        return false;
    }
    return cron->any_day || cron->any_weekday ? by_day && by_weekday : by_day || by_weekday;
}

// The first fitting time of the day behind `after`, or 0. A time that a clock change skips counts
// as the one after it.
static Time in_day(const Cron *cron, const Zone *zone, LocalTime day, Time after)
{
    for (int i = 0; i < 24 * 60; i++) {
        LocalTime local = {day.year, day.month, day.day, .hour = i / 60, .minute = i % 60};
        if (has_bit(cron->hours, local.hour) && has_bit(cron->minutes, local.minute)) {
            Time time = zone_time(zone, local);
            if (time > after) {
                return time;
            }
        }
    }
    return 0;
}

Time cron_next(const char *text, const char *zone_name, Time after)
{
    const Zone *zone = zone_name ? zone_of(str_of(zone_name), NULL) : zone_utc();
    Cron cron = {0};
    Time day = zone_start_of_day(zone, after);

    if (!text || !cron_parse(str_of(text), &cron)) {
        return 0;
    }
    for (int i = 0; i < DAYS_AHEAD; i++) {
        LocalTime local = zone_local(zone, day);
        Time found = fits_day(&cron, &local) ? in_day(&cron, zone, local, after) : 0;
        if (found) {
            return found;
        }
        day = zone_add(zone, day, (Period){1, DAYS});
    }
    return 0;
}
