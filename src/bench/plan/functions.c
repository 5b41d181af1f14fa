// The functions of plan texts: ids, times, draws, files.
#include "functions.h"

#include "plan.h"

#include "base/date.h"

#include <ctype.h>
#include <time.h>

// From the user's own stream, so that runs with one seed send the same ids.
static void write_uuid(const Str *args, int n, Actor *actor, Buf *buf)
{
    uint64_t a = rng_next(&actor->rng), b = rng_next(&actor->rng);

    (void)args;
    (void)n;
    a = (a & ~(uint64_t)0xF000) | 0x4000;
    b = (b & ~((uint64_t)3 << 62)) | (uint64_t)2 << 62;
    buf_fmt(buf, "%08x-%04x-%04x-%04x-%012llx", (unsigned)(a >> 32), (unsigned)(a >> 16 & 0xFFFF),
            (unsigned)(a & 0xFFFF), (unsigned)(b >> 48), (unsigned long long)(b & 0xFFFFFFFFFFFFu));
}

static void write_now_iso(const Str *args, int n, Actor *actor, Buf *buf)
{
    (void)args;
    (void)n;
    (void)actor;
    buf_add(buf, time_format_z(time_now()));
}

static void write_now_ms(const Str *args, int n, Actor *actor, Buf *buf)
{
    (void)args;
    (void)n;
    (void)actor;
    buf_fmt(buf, "%lld", (long long)time_now());
}

static void write_file(const Str *args, int n, Actor *actor, Buf *buf)
{
    (void)n;
    Str content = {0};
    if (!plan_file(actor->plan, args[0], &content)) {
        buf_add(buf, content);
    }
}

// ${substring(text,from,to)}: bytes, as the dates and codes of plans need it.
static void write_substring(const Str *args, int n, Actor *actor, Buf *buf)
{
    int64_t from = 0, to = (int64_t)args[0].len;

    (void)actor;
    (void)str_int64(str_trim(args[1]), &from);
    if (n > 2) {
        (void)str_int64(str_trim(args[2]), &to);
    }
    if (from >= 0 && to >= from) {
        buf_add(buf, str_sub(args[0], (size_t)from, (size_t)to));
    }
}

static void write_property(const Str *args, int n, Actor *actor, Buf *buf)
{
    Str value = {0};
    if (!plan_property(actor->plan, args[0], &value) && n > 1) {
        value = args[n - 1];
    }
    buf_add(buf, value);
}

static void write_variable(const Str *args, int n, Actor *actor, Buf *buf)
{
    uint32_t number = 0;
    Str value = n > 1 ? args[1] : args[0];
    if (symbol_find(plan_symbols(actor->plan), args[0], &number)) {
        Str found = {0};
        value = vars_get(actor->vars, number, &found) ? found : value;
    }
    buf_add(buf, value);
}

static void write_thread(const Str *args, int n, Actor *actor, Buf *buf)
{
    (void)args;
    (void)n;
    buf_fmt(buf, "%u", actor->number + 1);
}

static void write_random(const Str *args, int n, Actor *actor, Buf *buf)
{
    int64_t low = 0, high = 0;
    (void)n;
    (void)str_int64(str_trim(args[0]), &low);
    (void)str_int64(str_trim(args[1]), &high);
    buf_fmt(buf, "%lld", (long long)rng_between(&actor->rng, low, high));
}

static void write_random_string(const Str *args, int n, Actor *actor, Buf *buf)
{
    Str chars = n > 1 && args[1].len > 0 ? args[1] : S("abcdefghijklmnopqrstuvwxyz");
    int64_t count = 0;
    (void)str_int64(str_trim(args[0]), &count);
    for (int64_t i = 0; i < count && i < 100000; i++) {
        buf_char(buf, chars.at[rng_between(&actor->rng, 0, (int64_t)chars.len - 1)]);
    }
}

// One run of the same letter of a Java date format.
static void write_time_field(Buf *buf, char letter, int width, const struct tm *tm, int ms)
{
    switch (letter) {
    case 'y':
        buf_fmt(buf, "%0*d", width, width == 2 ? tm->tm_year % 100 : tm->tm_year + 1900);
        break;
    case 'M':
        buf_fmt(buf, "%0*d", width, tm->tm_mon + 1);
        break;
    case 'd':
        buf_fmt(buf, "%0*d", width, tm->tm_mday);
        break;
    case 'H':
        buf_fmt(buf, "%0*d", width, tm->tm_hour);
        break;
    case 'h':
        buf_fmt(buf, "%0*d", width, tm->tm_hour % 12 ? tm->tm_hour % 12 : 12);
        break;
    case 'm':
        buf_fmt(buf, "%0*d", width, tm->tm_min);
        break;
    case 's':
        buf_fmt(buf, "%0*d", width, tm->tm_sec);
        break;
    case 'S':
        buf_fmt(buf, "%0*d", width, ms);
        break;
    case 'X':
        buf_char(buf, 'Z');
        break;
    case 'Z':
        buf_add_z(buf, "+0000");
        break;
    default:
        break;
    }
}

// ${__time(format)}: Java's letters, in UTC; without a format milliseconds since 1970.
static void write_time(const Str *args, int n, Actor *actor, Buf *buf)
{
    Time now = time_now();
    time_t seconds = (time_t)(now / SECOND_MS);
    struct tm tm;

    if (n == 0 || args[0].len == 0) {
        write_now_ms(args, n, actor, buf);
        return;
    }
    gmtime_r(&seconds, &tm);
    bool is_quoted = false;
    for (size_t i = 0; i < args[0].len; i++) {
        char c = args[0].at[i];
        if (c == '\'') {
            is_quoted = !is_quoted;
        } else if (is_quoted || !isalpha((unsigned char)c)) {
            buf_char(buf, c);
        } else {
            size_t first = i;
            while (i + 1 < args[0].len && args[0].at[i + 1] == c) {
                i++;
            }
            write_time_field(buf, c, (int)(i - first + 1), &tm, (int)(now % SECOND_MS));
        }
    }
}

static const Function functions[] = {
    {"uuid", 0, 0, -1, write_uuid},           {"now_iso", 0, 0, -1, write_now_iso},
    {"now_ms", 0, 0, -1, write_now_ms},       {"file", 1, 1, -1, write_file},
    {"substring", 2, 3, -1, write_substring}, {"__UUID", 0, 0, -1, write_uuid},
    {"__P", 1, 2, -1, write_property},        {"__property", 1, 3, 1, write_property},
    {"__V", 1, 2, -1, write_variable},        {"__threadNum", 0, 0, -1, write_thread},
    {"__Random", 2, 3, 2, write_random},      {"__RandomString", 1, 3, 2, write_random_string},
    {"__time", 0, 2, 1, write_time},          {"__FileToString", 1, 3, 2, write_file},
};

const Function *function_of(Str name)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (str_eq_z(name, functions[i].name)) {
            return &functions[i];
        }
    }
    return NULL;
}
