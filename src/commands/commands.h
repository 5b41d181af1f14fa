// The subcommands of the program: one function each, given the words behind its name.
#pragma once

#include "octavo.h"

// Every option of the process with its default (`octavo config` lists them).
extern const Option process_options[];

// What a command was called with: options that are not the process's own.
typedef struct {
    Config *config;
    Str data;      // --data
    StrList words; // everything that is no option
} CommandLine;

// One option that only this command knows: "--tenant".
typedef struct {
    const char *name; // without the dashes
    const char *help;
    Str *value;   // filled
    bool is_flag; // takes no value; filled with "on"
} CommandOption;

// Reads options in both forms (--name value, --name=value), the configuration file (--config, or
// octavo.conf in the data directory), the environment. Prints help and exits 0 on --help; prints
// what is wrong and exits 2 on a bad line.
CommandLine command_line(int argc, char **argv, const char *usage, const CommandOption *own);

// Prints an Err for a person; returns the exit code 1.
int command_fail(const Err *err);

// Opens the store of the command line (data directory or database URL) and the gateway on it; with
// `background` events are delivered and timers run.
WARN_UNUSED Err *command_open(const CommandLine *line, bool background, App *app);
void command_close(App *app);

int serve_main(int argc, char **argv);
int tenant_main(int argc, char **argv);
int load_main(int argc, char **argv);
int migrate_main(int argc, char **argv);
int backup_main(int argc, char **argv);
int routes_main(int argc, char **argv);
int config_main(int argc, char **argv);
int version_main(int argc, char **argv);
