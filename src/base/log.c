// The log: a line is put together on the stack and written in one call, so that lines never mix.
#include "base/log.h"

#include "base/date.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    LINE_MAX_BYTES = 2048,
};

static _Atomic int least_level = LOG_INFO;
static _Atomic bool writes_json;
static _Thread_local Str request_label, tenant_label;

static const char *const level_names[] = {"debug", "info", "warn", "error", "off"};

void log_set(LogLevel level, bool as_json)
{
    least_level = (int)level;
    writes_json = as_json;
}

LogLevel log_level(void)
{
    return (LogLevel)least_level;
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

// A quoted value; what could break the line or the quotes is escaped.
static void line_quoted(Line *line, Str s)
{
    line_char(line, '"');
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.at[i];
        if (c == '"' || c == '\\') {
            line_char(line, '\\');
            line_char(line, (char)c);
        } else if (c < 0x20 || c == 0x7f) {
            line_char(line, ' ');
        } else {
            line_char(line, (char)c);
        }
    }
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

static void line_label(Line *line, const char *name, Str value)
{
    bool as_json = writes_json;

    if (line->len) {
        line_char(line, as_json ? ',' : ' ');
    } else if (as_json) {
        line_char(line, '{');
    }
    if (as_json) {
        line_quoted(line, str_of(name));
    } else {
        for (; *name; name++) {
            line_char(line, *name);
        }
    }
    line_char(line, as_json ? ':' : '=');
    if (as_json || needs_quotes(value)) {
        line_quoted(line, value);
        return;
    }
    for (size_t i = 0; i < value.len; i++) {
        line_char(line, value.at[i]);
    }
}

void log_line(LogLevel level, const char *module, const char *format, ...)
{
    char message[LINE_MAX_BYTES - 256];
    Line line = {.len = 0};
    va_list args;

    if ((int)level < least_level || level >= LOG_OFF) {
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
    line_label(&line, "msg", str_of(message));
    if (writes_json) {
        line.at[line.len++] = '}';
    }
    line.at[line.len++] = '\n';
    if (write(STDERR_FILENO, line.at, line.len) < 0) {
        // Nowhere left to complain to.
    }
}
