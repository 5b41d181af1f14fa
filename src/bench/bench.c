// octavo bench: the subcommands of the performance lab.
#include "bench.h"

#include "bench/data/data.h"
#include "bench/floor/floor.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} commands[] = {
    {"run", bench_run, "run an experiment: all configurations, result and report"},
    {"check", bench_check, "say what is wrong with an experiment file"},
    {"plan", bench_plan, "list the cells of an experiment with the expected time"},
    {"watch", bench_watch, "show what the run at work does"},
    {"note", bench_note, "leave a note in the result of the run at work"},
    {"report", bench_report, "write the reports of stored results anew"},
    {"compare", bench_compare, "compare two stored results"},
    {"play", bench_play, "run one load plan against a server"},
    {"data", bench_data, "make a library by recipe, restore it, check it"},
    {"selfcheck", bench_selfcheck, "measure the load driver itself"},
    {"floor", bench_floor, "measure what one check-out costs at least on this machine"},
    {"list", bench_list, "names of plans and experiments, results that are there"},
};

int bench_main(int argc, char **argv)
{
    const char *name = argc > 0 ? argv[0] : "--help";

    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(name, commands[i].name) == 0) {
            return commands[i].run(argc - 1, argv + 1);
        }
    }
    bool is_help = strcmp(name, "--help") == 0 || strcmp(name, "help") == 0;
    FILE *out = is_help ? stdout : stderr;
    if (!is_help) {
        fprintf(out, "octavo bench: there is no command \"%s\"\n\n", name);
    }
    fprintf(out, "octavo bench COMMAND ...; each has its own --help\n\n");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].help);
    }
    return is_help ? 0 : 3;
}
