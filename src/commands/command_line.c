// Reads command lines the same way for every subcommand.
#include "commands/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void print_help(const char *usage, const CommandOption *own)
{
    printf("Usage: octavo %s\n", usage);
    if (own && own->name) {
        printf("\n");
    }
    for (; own && own->name; own++) {
        printf("  --%-24s %s\n", own->name, own->help);
    }
    printf("\nAny option of the process works too: --section.key VALUE (see `octavo config`),\n"
           "OCTAVO_SECTION_KEY in the environment, or a line in octavo.conf (--config FILE).\n");
}

static _Noreturn void bad_line(const char *usage, const char *what, Str word)
{
    fprintf(stderr, "octavo: %s: " STR_FMT "\nUsage: octavo %s\nTry --help.\n", what, STR_ARG(word),
            usage);
    exit(2);
}

static const CommandOption *own_option(const CommandOption *own, Str name)
{
    for (; own && own->name; own++) {
        if (str_eq_z(name, own->name)) {
            return own;
        }
    }
    return NULL;
}

typedef struct {
    int argc;
    char **argv;
    int at;
    const char *usage;
} Words;

// The value of --name=value or of the next word.
static Str option_value(Words *words, Str word, ptrdiff_t equals)
{
    if (equals >= 0) {
        return str_sub(word, (size_t)equals + 1, word.len);
    }
    if (words->at + 1 >= words->argc) {
        bad_line(words->usage, "this needs a value", word);
    }
    return str_of(words->argv[++words->at]);
}

static bool is_file(Str path)
{
    return access(str_z(path), R_OK) == 0;
}

static Err *read_config(CommandLine *line, Str file)
{
    if (file.len) {
        TRY(config_read_file(line->config, str_z(file)));
    } else if (line->data.len && is_file(str_fmt(STR_FMT "/octavo.conf", STR_ARG(line->data)))) {
        TRY(config_read_file(line->config,
                             str_z(str_fmt(STR_FMT "/octavo.conf", STR_ARG(line->data)))));
    }
    return config_read_environment(line->config);
}

CommandLine command_line(int argc, char **argv, const char *usage, const CommandOption *own)
{
    CommandLine line = {.config = config_new(process_options)};
    Words words = {argc, argv, 0, usage};
    NameValues flags = {0};
    Str file = {0};

    for (; words.at < argc; words.at++) {
        Str word = str_of(argv[words.at]);
        if (str_eq(word, S("--help")) || str_eq(word, S("-h"))) {
            print_help(usage, own);
            exit(0);
        }
        if (!str_starts(word, S("--"))) {
            str_list_add(&line.words, word);
            continue;
        }
        ptrdiff_t equals = str_find_char(word, '=', 0);
        Str name = str_sub(word, 2, equals < 0 ? word.len : (size_t)equals);
        const CommandOption *option = own_option(own, name);
        if (option) {
            *option->value = option->is_flag ? S("on") : option_value(&words, word, equals);
        } else if (str_eq(name, S("data"))) {
            line.data = option_value(&words, word, equals);
        } else if (str_eq(name, S("config"))) {
            file = option_value(&words, word, equals);
        } else if (str_eq(name, S("database"))) {
            name_values_add(&flags, S("database.url"), option_value(&words, word, equals));
        } else if (str_find_char(name, '.', 0) > 0) {
            name_values_add(&flags, name, option_value(&words, word, equals));
        } else {
            bad_line(usage, "unknown option", word);
        }
    }
    Err *err = read_config(&line, file);
    for (size_t i = 0; !err && i < flags.len; i++) {
        err = config_set(line.config, flags.at[i].name, flags.at[i].value, "flag");
    }
    if (err) {
        exit(command_fail(err) + 1);
    }
    return line;
}

int command_fail(const Err *err)
{
    for (; err; err = err->next) {
        fprintf(stderr, "octavo: " STR_FMT "\n", STR_ARG(err->message));
    }
    return 1;
}
