// octavo: the command line. One line per command; each explains itself with --help.
#include "base/asset.h"
#include "bench/bench.h"
#include "commands/commands.h"

#include <malloc.h>
#include <stdio.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} commands[] = {
    {"serve", serve_main, "serve FOLIO's interfaces over HTTP"},
    {"bench", bench_main, "performance lab: play plans, make data, measure the floor"},
    {"tenant", tenant_main, "make a library with its first administrator"},
    {"load", load_main, "load records from files or from a dump of FOLIO's database"},
    {"migrate", migrate_main, "bring databases to this program's version, or to another system"},
    {"backup", backup_main, "copy the databases while the server runs"},
    {"routes", routes_main, "list every route with its permission"},
    {"config", config_main, "list every option with its value and where it comes from"},
    {"version", version_main, "print the version"},
};

enum {
    COMMANDS = sizeof commands / sizeof commands[0],
    LARGE_BLOCK = 1024 * 1024,
};

static int help(FILE *to, int code)
{
    fprintf(to, "Octavo, a library services platform that speaks FOLIO's interfaces.\n\n"
                "Usage: octavo COMMAND [OPTIONS]\n\n");
    for (size_t i = 0; i < COMMANDS; i++) {
        fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].help);
    }
    fprintf(to, "\n`octavo COMMAND --help` says more. First steps: README.md.\n");
    return code;
}

int main(int argc, char **argv)
{
    // Many short-lived connection threads: two heaps are enough and waste less.
    mallopt(M_ARENA_MAX, 2);
    // What a huge request needed goes back to the system; else the threshold grows with the first.
    mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK);
    mallopt(M_TRIM_THRESHOLD, 8 * LARGE_BLOCK);
    asset_use(assets_all);
    if (argc < 2) {
        return help(stderr, 2);
    }
    Str name = str_of(argv[1]);
    if (str_eq(name, S("--help")) || str_eq(name, S("-h")) || str_eq(name, S("help"))) {
        return help(stdout, 0);
    }
    if (str_eq(name, S("--version"))) {
        return version_main(0, NULL);
    }
    for (size_t i = 0; i < COMMANDS; i++) {
        if (str_eq_z(name, commands[i].name)) {
            return commands[i].run(argc - 2, argv + 2);
        }
    }
    fprintf(stderr, "octavo: there is no command '%s'\n\n", argv[1]);
    return help(stderr, 2);
}
