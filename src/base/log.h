// The log: one line per event on stderr, logfmt or JSON. Never patron data at info level.
#pragma once

#include "base/str.h"

typedef enum { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR, LOG_OFF } LogLevel;

void log_set(LogLevel level, bool as_json);
LogLevel log_level(void);
bool log_level_of(Str name, LogLevel *out);
// Labels put on every line of the calling thread: request id and tenant. Borrowed until changed.
void log_context(Str request_id, Str tenant);
// log_line(LOG_WARN, "store", "checkpoint waited %d ms", ms)
void log_line(LogLevel level, const char *module, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
