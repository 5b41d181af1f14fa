// Times as text: a hand-written reader, because FOLIO's clients send six variants of RFC 3339.
#include "base/date.h"

#include <ctype.h>
#include <time.h>

Time time_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (Time)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// Days since 1970-01-01 of a proleptic Gregorian date (Howard Hinnant's public algorithm).
static int64_t days_from_civil(int64_t y, int m, int d)
{
    y -= m <= 2;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t yoe = y - era * 400;
    int64_t doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    int64_t doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
    return era * 146097 + doe - 719468;
}

static void civil_from_days(int64_t days, int64_t *y, int *m, int *d)
{
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    int64_t doe = days - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    int64_t mp = (5 * doy + 2) / 153;

    *d = (int)(doy - (153 * mp + 2) / 5 + 1);
    *m = (int)(mp < 10 ? mp + 3 : mp - 9);
    *y = yoe + era * 400 + (*m <= 2);
}

static int days_in_month(int64_t year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    if (month == 2 && ((year % 4 == 0 && year % 100 != 0) || year % 400 == 0)) {
        return 29;
    }
    return days[month - 1];
}

// Exactly n digits at the front of *rest.
static bool take_digits(Str *rest, size_t n, int *out)
{
    int value = 0;

    if (rest->len < n) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (!isdigit((unsigned char)rest->at[i])) {
            return false;
        }
        value = value * 10 + (rest->at[i] - '0');
    }
    *out = value;
    *rest = str_sub(*rest, n, rest->len);
    return true;
}

static bool take_char(Str *rest, char c)
{
    if (rest->len == 0 || rest->at[0] != c) {
        return false;
    }
    *rest = str_sub(*rest, 1, rest->len);
    return true;
}

static bool take_date(Str *rest, int64_t *days)
{
    int year = 0, month = 0, day = 0;

    if (!take_digits(rest, 4, &year) || !take_char(rest, '-') || !take_digits(rest, 2, &month) ||
        !take_char(rest, '-') || !take_digits(rest, 2, &day)) {
        return false;
    }
    if (month < 1 || month > 12 || day < 1 || day > days_in_month(year, month)) {
        return false;
    }
    *days = days_from_civil(year, month, day);
    return true;
}

static bool take_fraction(Str *rest, int *ms)
{
    int scale = 100;
    size_t n = 0;

    *ms = 0;
    if (!take_char(rest, '.') && !take_char(rest, ',')) {
        return true;
    }
    for (; n < rest->len && isdigit((unsigned char)rest->at[n]); n++) {
        *ms += (rest->at[n] - '0') * scale;
        scale /= 10;
    }
    *rest = str_sub(*rest, n, rest->len);
    return n > 0;
}

static bool take_time_of_day(Str *rest, int64_t *ms_of_day)
{
    int hour = 0, minute = 0, second = 0, ms = 0;

    if (!take_digits(rest, 2, &hour) || !take_char(rest, ':') || !take_digits(rest, 2, &minute)) {
        return false;
    }
    if (take_char(rest, ':') && (!take_digits(rest, 2, &second) || !take_fraction(rest, &ms))) {
        return false;
    }
    // 60 is a leap second: it counts as the second before it.
    if (hour > 23 || minute > 59 || second > 60) {
        return false;
    }
    *ms_of_day = (int64_t)hour * HOUR_MS + (int64_t)minute * MINUTE_MS +
                 (int64_t)(second == 60 ? 59 : second) * SECOND_MS + ms;
    return true;
}

static bool take_offset(Str *rest, int64_t *offset_ms)
{
    int hour = 0, minute = 0, sign = 1;

    *offset_ms = 0;
    if (rest->len == 0 || take_char(rest, 'Z') || take_char(rest, 'z')) {
        return true;
    }
    if (take_char(rest, '-')) {
        sign = -1;
    } else if (!take_char(rest, '+')) {
        return false;
    }
    if (!take_digits(rest, 2, &hour)) {
        return false;
    }
    if (rest->len) {
        take_char(rest, ':');
        if (!take_digits(rest, 2, &minute)) {
            return false;
        }
    }
    if (hour > 18 || minute > 59) {
        return false;
    }
    *offset_ms = sign * ((int64_t)hour * HOUR_MS + (int64_t)minute * MINUTE_MS);
    return true;
}

// Years are written with four digits: the last evening of 9999 west of Greenwich, which stands for
// "never", must not become the year 0.
static Time writable(Time time)
{
    static const Time first = -62167219200000, last = 253402300799999;

    return time < first ? first : time > last ? last : time;
}

bool time_parse(Str text, Time *out)
{
    int64_t days = 0, ms_of_day = 0, offset_ms = 0;
    Str rest = text;

    if (!take_date(&rest, &days)) {
        return false;
    }
    if (rest.len) {
        if (!take_char(&rest, 'T') && !take_char(&rest, 't') && !take_char(&rest, ' ')) {
            return false;
        }
        if (!take_time_of_day(&rest, &ms_of_day) || !take_offset(&rest, &offset_ms)) {
            return false;
        }
    }
    if (rest.len) {
        return false;
    }
    *out = writable(days * DAY_MS + ms_of_day - offset_ms);
    return true;
}

bool date_parse(Str text, Time *out)
{
    int64_t days = 0;

    if (!take_date(&text, &days) || text.len) {
        return false;
    }
    *out = days * DAY_MS;
    return true;
}

static void put_digits(char *to, int64_t value, int n)
{
    while (n-- > 0) {
        to[n] = (char)('0' + value % 10);
        value /= 10;
    }
}

// Lists write many times: no printf here.
static Str format_with(Time moment, Str zone)
{
    Time time = writable(moment);
    int64_t days = time / DAY_MS, ms = time % DAY_MS, year = 0;
    int month = 0, day = 0;
    char *at = arena_alloc(arena_current(), 24 + zone.len);

    if (ms < 0) {
        ms += DAY_MS;
        days--;
    }
    civil_from_days(days, &year, &month, &day);
    put_digits(at, year < 0 ? 0 : year, 4);
    at[4] = at[7] = '-';
    put_digits(at + 5, month, 2);
    put_digits(at + 8, day, 2);
    at[10] = 'T';
    put_digits(at + 11, ms / HOUR_MS, 2);
    put_digits(at + 14, ms / MINUTE_MS % 60, 2);
    put_digits(at + 17, ms / SECOND_MS % 60, 2);
    at[13] = at[16] = ':';
    at[19] = '.';
    put_digits(at + 20, ms % 1000, 3);
    for (size_t i = 0; i < zone.len; i++) {
        at[23 + i] = zone.at[i];
    }
    return (Str){at, 23 + zone.len};
}

Str time_format(Time time)
{
    return format_with(time, S("+00:00"));
}

Str time_format_z(Time time)
{
    return format_with(time, S("Z"));
}

Str time_format_basic(Time time)
{
    return format_with(time, S("+0000"));
}

Str date_format(Time time)
{
    return str_sub(format_with(time, S("")), 0, 10);
}
