// octavo bench floor: the disk's sync, the bare transaction, the bare HTTP route, and their sum F.
#include "floor.h"

#include "bench/bench.h"
#include "bench/data/data.h"

#include "base/asset.h"
#include "base/buf.h"
#include "base/date.h"
#include "base/file.h"
#include "base/hist.h"
#include "base/log.h"
#include "json/json.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    OPEN_FOLDERS = 8,
    STATEMENTS_MAX = 16 << 20, // bytes
};

static const char usage[] =
    "octavo bench floor [options]\n"
    "octavo bench floor --database URL --data DIR [options]\n"
    "Measures what one check-out costs at least on this machine: a synced write, its statements\n"
    "on bare SQLite in a real library, a bare HTTP route. F = HTTP + statements.\n\n"
    "  --data DIR         a library of `octavo bench data make`, whose prepared database is "
    "copied;\n"
    "                     without it one of the recipe small is made first\n"
    "  --directory DIR    where the database of the measurement lives (.)\n"
    "  --seconds S        time for each measurement (2)\n"
    "  --statements FILE  another transaction than the built-in one (bench/floor.txt)\n"
    "  --json FILE        write the result there; - is standard output\n\n"
    "With --database=postgres://... and DIR of `octavo bench data make --database`: pgbench runs\n"
    "the statements (bench/floor-postgres.txt) in one pipeline, Octavo checks out, in turn on "
    "copies\n"
    "of the database, with one client and with 20.\n"
    "  --pgbench FILE     only write the script that pgbench runs there\n";

typedef struct {
    const char *data, *database, *folder, *statements, *json, *pgbench;
    double seconds;
} FloorOptions;

Err *floor_measure_sync(const char *folder, double seconds, Floor *floor)
{
    static char page[4096];
    const char *name = str_z(str_fmt("%s/octavo-floor-%d.sync", folder, (int)getpid()));
    int file = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    Hist *times = hist_new(3, (int64_t)60 * 1000000);
    int64_t end = clock_ns() + (int64_t)(seconds * 1e9);
    Err *err = file < 0 ? err_text(500, "%s: %s", name, strerror(errno)) : NULL;

    for (off_t at = 0; !err && clock_ns() < end; at = (at + 4096) % (64 << 20)) {
        int64_t from = clock_ns();
        if (pwrite(file, page, sizeof page, at) != sizeof page || fdatasync(file)) {
            err = err_text(500, "%s: %s", name, strerror(errno));
        }
        hist_record(times, (clock_ns() - from) / 1000);
    }
    if (!err) {
        floor->sync_us = (double)hist_percentile(times, 50);
    }
    hist_free(times);
    if (file >= 0) {
        close(file);
        unlink(name);
    }
    return err;
}

static Err *read_arguments(FloorOptions *options, int argc, char **argv)
{
    double number = 0;

    const struct {
        const char *name, **value;
    } known[] = {{"--directory", &options->folder},
                 {"--data", &options->data},
                 {"--database", &options->database},
                 {"--statements", &options->statements},
                 {"--json", &options->json},
                 {"--pgbench", &options->pgbench},
                 {0}};

    for (int i = 0; i < argc; i += 2) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        size_t k = 0;
        if (!value) {
            return err_text(400, "%s needs a value", name);
        }
        while (known[k].name && strcmp(known[k].name, name) != 0) {
            k++;
        }
        if (known[k].name) {
            *known[k].value = value;
        } else if (!str_double(str_of(value), &number) || number <= 0) {
            return err_text(400, "%s: \"%s\" is no number above 0", name, value);
        } else if (strcmp(name, "--seconds") == 0) {
            options->seconds = number;
        } else {
            return err_text(400, "unknown option %s", name);
        }
    }
    return NULL;
}

static void print(FILE *out, const Floor *f)
{
    fprintf(out, "D    synced write of 4 KB        %9.0f us (median)\n", f->sync_us);
    fprintf(out, "S1   transaction, 1 to a commit  %9.0f us wall (median) %7.0f us CPU %8.0f /s\n",
            f->wall_us[0], f->cpu_us[0], f->per_s[0]);
    fprintf(out,
            "S20  transaction, 20 to a commit %9.0f us wall (median) %7.0f us CPU %8.0f /s  "
            "(group p99 %.1f ms)\n",
            f->wall_us[1], f->cpu_us[1], f->per_s[1], f->group_p99_us[1] / 1000);
    fprintf(out, "H    HTTP echo of 2 KB           %9.0f us wall (median) %7.0f us CPU %8.0f /s\n",
            f->echo_wall_us, f->echo_cpu_us, f->echo_per_s);
    fprintf(out, "F    floor of one check-out      %9.0f us latency       %7.0f us CPU\n",
            f->echo_wall_us + f->wall_us[0], f->echo_cpu_us + f->cpu_us[1]);
}

Err *floor_write_json(const char *name, const Json *root)
{
    FILE *file = strcmp(name, "-") == 0 ? stdout : fopen(name, "wb");

    if (!file || fprintf(file, STR_FMT "\n", STR_ARG(json_text_indented(root))) < 0) {
        return err_text(500, "%s: %s", name, strerror(errno));
    }
    if (file != stdout) {
        fclose(file);
    }
    return NULL;
}

static Err *write_json(const char *name, const Floor *f)
{
    Json *root = json_object();

    json_set_number(root, "syncUs", f->sync_us);
    json_set_number(root, "transaction1.wallUs", f->wall_us[0]);
    json_set_number(root, "transaction1.cpuUs", f->cpu_us[0]);
    json_set_number(root, "transaction1.perSecond", f->per_s[0]);
    json_set_number(root, "transaction20.wallUs", f->wall_us[1]);
    json_set_number(root, "transaction20.cpuUs", f->cpu_us[1]);
    json_set_number(root, "transaction20.perSecond", f->per_s[1]);
    json_set_number(root, "transaction20.groupP99Us", f->group_p99_us[1]);
    json_set_number(root, "echo.wallUs", f->echo_wall_us);
    json_set_number(root, "echo.cpuUs", f->echo_cpu_us);
    json_set_number(root, "echo.perSecond", f->echo_per_s);
    json_set_number(root, "floor.latencyUs", f->echo_wall_us + f->wall_us[0]);
    json_set_number(root, "floor.cpuUs", f->echo_cpu_us + f->cpu_us[1]);
    return floor_write_json(name, root);
}

static int remove_one(const char *name, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    return remove(name);
}

static Err *measure_library(const FloorOptions *options, FloorDatabase *database, Floor *floor)
{
    Str folder = str_fmt("%s/octavo-floor-%d", options->folder, (int)getpid());
    Str file = str_fmt(STR_FMT "/diku.db", STR_ARG(folder));
    Err *err = mkdir(str_z(folder), 0700)
                   ? err_text(500, STR_FMT ": %s", STR_ARG(folder), strerror(errno))
                   : NULL;

    if (!err) {
        err = options->data ? library_copy(str_of(options->data), file)
                            : library_of_recipe(S("small"), folder);
    }
    if (!err) {
        database->file = str_z(file);
        err = floor_measure_database(database, floor);
    }
    (void)nftw(str_z(folder), remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
    return err;
}

static Err *read_statements(const FloorOptions *options, const char *built_in, Str *out)
{
    if (options->statements) {
        return file_read(options->statements, STATEMENTS_MAX, out);
    }
    return asset_find(built_in, out) ? NULL : err_text(500, "%s is not built in", built_in);
}

static Err *compare_postgres(const FloorOptions *options)
{
    FloorPostgres postgres = {.url = str_of(options->database),
                              .inputs = str_fmt("%s/inputs", options->data),
                              .folder =
                                  str_fmt("%s/octavo-floor-%d", options->folder, (int)getpid()),
                              .json = options->json,
                              .seconds = options->seconds};

    TRY(read_statements(options, "bench/floor-postgres.txt", &postgres.statements));
    if (mkdir(str_z(postgres.folder), 0700)) {
        return err_text(500, STR_FMT ": %s", STR_ARG(postgres.folder), strerror(errno));
    }
    TRY(floor_compare_postgres(&postgres)); // its files tell what failed
    (void)nftw(str_z(postgres.folder), remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
    return NULL;
}

static Err *write_pgbench(const FloorOptions *options)
{
    PgbenchScript script;
    Str statements;

    TRY(read_statements(options, "bench/floor-postgres.txt", &statements));
    TRY(pgbench_script(statements, &script));
    FILE *out = strcmp(options->pgbench, "-") == 0 ? stdout : fopen(options->pgbench, "wb");
    if (!out) {
        return err_text(500, "%s: %s", options->pgbench, strerror(errno));
    }
    fprintf(out, "-- Before it: " STR_FMT "\n" STR_FMT, STR_ARG(pgbench_table(&script)),
            STR_ARG(pgbench_text(&script, false)));
    return out != stdout && fclose(out) ? err_text(500, "%s: %s", options->pgbench, strerror(errno))
                                        : NULL;
}

static Err *measure(const FloorOptions *options, Floor *floor)
{
    FILE *out = options->json && strcmp(options->json, "-") == 0 ? stderr : stdout;
    FloorDatabase database = {.seconds = options->seconds};

    if (options->pgbench) {
        return write_pgbench(options);
    }
    if (options->database) {
        return options->data ? compare_postgres(options)
                             : err_text(400, "--database needs --data, the folder with inputs/");
    }
    TRY(read_statements(options, "bench/floor.txt", &database.statements));
    // The echo server is a fork: it comes first, while the process is small.
    TRY(floor_measure_echo(options->seconds, floor));
    TRY(floor_measure_sync(options->folder, options->seconds, floor));
    TRY(measure_library(options, &database, floor));
    print(out, floor);
    return options->json ? write_json(options->json, floor) : NULL;
}

int bench_floor(int argc, char **argv)
{
    FloorOptions options = {.folder = ".", .seconds = 2};
    Floor floor = {0};

    if (argc > 0 && strcmp(argv[0], "--help") == 0) {
        fputs(usage, stdout);
        return 0;
    }
    log_set(LOG_WARN, false);
    arena_use(arena_new((size_t)1 << 30));
    Err *err = read_arguments(&options, argc, argv);
    if (!err) {
        err = measure(&options, &floor);
    }
    if (err) {
        fprintf(stderr, "octavo bench floor: " STR_FMT "\n", STR_ARG(err->message));
        return 3;
    }
    return 0;
}
