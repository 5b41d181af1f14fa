// The log: a line is put together on the stack and written in one call, so that lines never mix.
#include "base/log.h"

#include "base/date.h"
#include "base/die.h"
#include "base/trace.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LINE_MAX_BYTES = 2048,
    LABEL_MAX = 300,
    CHARACTER_MAX = 4,
    TEXT_TAIL = 8, // what ends a value and the line
};

typedef struct Modules {
    const struct Modules *former;
    size_t len;
    LogModule at[];
} Modules;

static _Atomic int general_level = LOG_INFO;
static _Atomic int least_level = LOG_INFO; // of the general one and of all modules
// Former ones are kept: a line may be looking at them. Levels change rarely.
static _Atomic(const Modules *) modules;
static _Atomic bool writes_json;
static _Thread_local Str request_label, tenant_label;

static const char *const level_names[] = {"debug", "info", "warn", "error", "off"};

static void least_find(void)
{
    const Modules *list = modules;
    int least = general_level;

    for (size_t i = 0; list && i < list->len; i++) {
        least = (int)list->at[i].level < least ? (int)list->at[i].level : least;
    }
    least_level = least;
}

void log_set(LogLevel level, bool as_json)
{
    general_level = (int)level;
    writes_json = as_json;
    least_find();
}

LogLevel log_level(void)
{
    return (LogLevel)general_level;
}

bool log_is_json(void)
{
    return writes_json;
}

void log_set_modules(const LogModule *given, size_t n)
{
    size_t bytes = 0;

    for (size_t i = 0; i < n; i++) {
        bytes += given[i].module.len;
    }
    Modules *list = malloc(sizeof *list + n * sizeof *list->at + bytes);
    if (!list) {
        die("out of memory");
    }
    char *text = (char *)(list->at + n);
    list->former = modules;
    list->len = n;
    for (size_t i = 0; i < n; i++) {
        list->at[i] = (LogModule){{text, given[i].module.len}, given[i].level};
        memcpy(text, given[i].module.at, given[i].module.len);
        text += given[i].module.len;
    }
    modules = list;
    least_find();
}

size_t log_modules(const LogModule **out)
{
    const Modules *list = modules;

    *out = list ? list->at : NULL;
    return list ? list->len : 0;
}

const char *log_level_name(LogLevel level)
{
    return level_names[level];
}

static bool is_wanted(LogLevel level, const char *module)
{
    const Modules *list = modules;

    if ((int)level < least_level || level >= LOG_OFF) {
        return false;
    }
    for (size_t i = 0; list && i < list->len; i++) {
        if (str_eq_z(list->at[i].module, module)) {
            return level >= list->at[i].level;
        }
    }
    return (int)level >= general_level;
}

bool log_level_of(Str name, LogLevel *out)
{
    for (int i = LOG_DEBUG; i <= LOG_OFF; i++) {
        if (str_eq_z(name, level_names[i])) {
            *out = (LogLevel)i;
            return true;
        }
    }
    return false;
}

void log_context(Str request_id, Str tenant)
{
    request_label = request_id;
    tenant_label = tenant;
}

typedef struct {
    char at[LINE_MAX_BYTES];
    size_t len;
} Line;

static void line_char(Line *line, char c)
{
    if (line->len < sizeof line->at - 2) {
        line->at[line->len++] = c;
    }
}

// Up to `max` bytes of a text, no character in part and none that would break the line.
static void line_text(Line *line, Str s, size_t max)
{
    const char *at = s.at, *end = s.at + s.len;
    size_t last = sizeof line->at - TEXT_TAIL, stop = line->len + max;

    stop = stop < last ? stop : last;
    while (at < end && line->len + CHARACTER_MAX <= stop) {
        size_t len = utf8_char_len(at, end);
        unsigned char c = (unsigned char)*at;
        if (c == '"' || c == '\\') {
            line_char(line, '\\');
        }
        if (len < 2) {
            line_char(line, c < 0x20 || c == 0x7f ? ' ' : len ? (char)c : '?');
            at++;
            continue;
        }
        for (const char *next = at + len; at < next; at++) {
            line_char(line, *at);
        }
    }
}

static void line_quoted(Line *line, Str s, size_t max)
{
    line_char(line, '"');
    line_text(line, s, max);
    line_char(line, '"');
}

static bool needs_quotes(Str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.at[i] <= ' ' || s.at[i] == '"' || s.at[i] == '=' || s.at[i] == '\\') {
            return true;
        }
    }
    return s.len == 0;
}

static void line_label_within(Line *line, const char *name, Str value, size_t max)
{
    bool as_json = writes_json;

    if (line->len) {
        line_char(line, as_json ? ',' : ' ');
    } else if (as_json) {
        line_char(line, '{');
    }
    if (as_json) {
        line_quoted(line, str_of(name), max);
    } else {
        for (; *name; name++) {
            line_char(line, *name);
        }
    }
    line_char(line, as_json ? ':' : '=');
    if (as_json || needs_quotes(value)) {
        line_quoted(line, value, max);
        return;
    }
    line_text(line, value, max); // nothing in it is escaped
}

static void line_label(Line *line, const char *name, Str value)
{
    line_label_within(line, name, value, LABEL_MAX);
}

// "trace" and "span", so that a line is found from the collector's side.
static void line_trace(Line *line)
{
    const TraceContext *trace = trace_current();
    char text[TRACEPARENT_LEN + 1];

    if (!trace || !trace->is_sampled) {
        return;
    }
    traceparent_write(trace, text);
    line_label(line, "trace", (Str){text + 3, 32});
    line_label(line, "span", (Str){text + 36, 16});
}

void log_line(LogLevel level, const char *module, const char *format, ...)
{
    char message[LINE_MAX_BYTES - 256];
    Line line = {.len = 0};
    va_list args;

    if (!is_wanted(level, module)) {
        return;
    }
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);

    ArenaMark mark = arena_mark(arena_current());
    line_label(&line, "ts", time_format_z(time_now()));
    arena_release(arena_current(), mark);
    line_label(&line, "level", str_of(level_names[level]));
    line_label(&line, "mod", str_of(module));
    if (request_label.len) {
        line_label(&line, "req", request_label);
    }
    if (tenant_label.len) {
        line_label(&line, "tenant", tenant_label);
    }
    line_trace(&line);
    line_label_within(&line, "msg", str_of(message), sizeof message);
    if (writes_json) {
        line.at[line.len++] = '}';
    }
    line.at[line.len++] = '\n';
    if (write(STDERR_FILENO, line.at, line.len) < 0) {
        // Nowhere left to complain to.
    }
}
