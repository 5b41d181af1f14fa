// Options: defaults, then the file (INI), then the environment (OCTAVO_SECTION_KEY), then flags
// (--section.key=value or --section.key value). Unknown keys are errors with file and line.
#pragma once

#include "base/err.h"

typedef struct {
    const char *name;     // "http.listen"
    const char *fallback; // default as text
    const char *help;     // one line for --help and `octavo config`
    bool is_secret;       // masked when shown
} Option;

typedef struct Config Config;

// All options of the process, {0} at the end.
Config *config_new(const Option *options);
void config_free(Config *config);
Err *config_read_file(Config *config, const char *path) WARN_UNUSED;
Err *config_read_environment(Config *config) WARN_UNUSED;
// Sets one from a flag; the name must be known.
Err *config_set(Config *config, Str name, Str value, const char *origin) WARN_UNUSED;

Str config_text(const Config *config, const char *name);
int64_t config_int(const Config *config, const char *name);
// on, true, yes, 1 / off, false, no, 0
bool config_flag(const Config *config, const char *name);
// Walks the effective values: false behind the last one.
bool config_at(const Config *config, size_t i, const Option **option, Str *value,
               const char **origin);
