// The log: one line per event on stderr, logfmt or JSON. Never patron data at info level.
#pragma once

#include "base/str.h"

typedef enum { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR, LOG_OFF } LogLevel;

void log_set(LogLevel level, bool as_json);
LogLevel log_level(void);
bool log_is_json(void);
// Levels of modules that differ from the general one; replaces those set before.
typedef struct {
    Str module;
    LogLevel level;
} LogModule;

void log_set_modules(const LogModule *modules, size_t n);
// Those in force, valid for ever.
size_t log_modules(const LogModule **out);
const char *log_level_name(LogLevel level);
bool log_level_of(Str name, LogLevel *out);
// Labels put on every line of the calling thread: request id and tenant. Borrowed until changed.
void log_context(Str request_id, Str tenant);
// log_line(LOG_WARN, "store", "checkpoint waited %d ms", ms)
void log_line(LogLevel level, const char *module, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
