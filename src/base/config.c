// Options with their origin. Later sources win: default, file, environment, flag.
#include "base/config.h"

#include "base/die.h"

#include <ctype.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    char *value; // NULL: the default stands
    char *origin;
} Setting;

struct Config {
    const Option *options;
    size_t count;
    Setting settings[];
};

Config *config_new(const Option *options)
{
    size_t n = 0;

    while (options[n].name) {
        n++;
    }
    Config *config = calloc(1, sizeof *config + n * sizeof config->settings[0]);
    if (!config) {
        die("out of memory");
    }
    config->options = options;
    config->count = n;
    return config;
}

void config_free(Config *config)
{
    for (size_t i = 0; config && i < config->count; i++) {
        free(config->settings[i].value);
        free(config->settings[i].origin);
    }
    free(config);
}

static bool config_find(const Config *config, Str name, size_t *index)
{
    for (size_t i = 0; i < config->count; i++) {
        if (str_eq_z(name, config->options[i].name)) {
            *index = i;
            return true;
        }
    }
    return false;
}

// An option whose default is a number takes numbers only.
static bool is_fitting(const Option *option, Str value)
{
    int64_t number = 0;

    return !str_int64(str_of(option->fallback), &number) ||
           (str_int64(value, &number) && number >= 0 && number <= INT32_MAX);
}

Err *config_set(Config *config, Str name, Str value, const char *origin)
{
    size_t i = 0;

    if (!config_find(config, name, &i)) {
        return err_text(400, "%s: unknown option '" STR_FMT "'; `octavo config` lists all", origin,
                        STR_ARG(name));
    }
    if (!is_fitting(&config->options[i], value)) {
        return err_text(400, "%s: %s must be a whole number from 0 to %d", origin,
                        config->options[i].name, INT32_MAX);
    }
    free(config->settings[i].value);
    free(config->settings[i].origin);
    config->settings[i].value = strndup(value.at ? value.at : "", value.len);
    config->settings[i].origin = strdup(origin);
    if (!config->settings[i].value || !config->settings[i].origin) {
        die("out of memory");
    }
    return NULL;
}

typedef struct {
    Config *config;
    const char *path;
    Err *err;
} FileRead;

// inih tells the line only when it is built to; the name of the key finds it as well.
static int file_entry(void *context, const char *section, const char *key, const char *value)
{
    FileRead *read = context;
    Str name = *section ? str_fmt("%s.%s", section, key) : str_of(key);

    read->err = config_set(read->config, name, str_of(value), read->path);
    return read->err == NULL;
}

Err *config_read_file(Config *config, const char *path)
{
    FileRead read = {config, path, NULL};
    int line = ini_parse(path, file_entry, &read);

    if (line < 0) {
        return err_text(400, "%s: cannot be read", path);
    }
    if (read.err) {
        return err_text(400, "line %d of " STR_FMT, line, STR_ARG(read.err->message));
    }
    if (line > 0) {
        return err_text(400, "%s: line %d is neither [section] nor key = value", path, line);
    }
    return NULL;
}

Err *config_read_environment(Config *config)
{
    for (size_t i = 0; i < config->count; i++) {
        char variable[128] = "OCTAVO_";
        size_t len = strlen(variable);
        for (const char *c = config->options[i].name; *c && len < sizeof variable - 1; c++) {
            variable[len++] = *c == '.' ? '_' : (char)toupper((unsigned char)*c);
        }
        variable[len] = 0;
        const char *value = getenv(variable);
        if (value) {
            TRY(config_set(config, str_of(config->options[i].name), str_of(value), variable));
        }
    }
    return NULL;
}

Str config_text(const Config *config, const char *name)
{
    size_t i = 0;

    if (!config_find(config, str_of(name), &i)) {
        die("option %s is not declared", name);
    }
    return str_of(config->settings[i].value ? config->settings[i].value
                                            : config->options[i].fallback);
}

int64_t config_int(const Config *config, const char *name)
{
    int64_t value = 0;

    if (!str_int64(config_text(config, name), &value)) {
        die("option %s must be a whole number", name);
    }
    return value;
}

bool config_flag(const Config *config, const char *name)
{
    static const char *const yes[] = {"on", "true", "yes", "1"};
    Str value = config_text(config, name);

    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) {
        if (str_eq_nocase(value, str_of(yes[i]))) {
            return true;
        }
    }
    return false;
}

bool config_at(const Config *config, size_t i, const Option **option, Str *value,
               const char **origin)
{
    if (i >= config->count) {
        return false;
    }
    *option = &config->options[i];
    *value = config_text(config, config->options[i].name);
    *origin = config->settings[i].origin ? config->settings[i].origin : "default";
    return true;
}
