// octavo bench floor --database: pgbench runs the statements of a check-out, Octavo checks out, in
// turn on fresh copies of the same library.
#include "floor.h"

#include "bench/data/data.h"
#include "bench/lab/prepared.h"
#include "bench/lab/server.h"

#include "base/sort.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    ROUNDS = 5,
    WARM_UP_S = 1,
};

static const int client_counts[] = {1, 20};

enum { LOADS = sizeof client_counts / sizeof *client_counts };

// One load, all rounds.
typedef struct {
    PgbenchResult picks, bare[ROUNDS], ours[ROUNDS]; // bare: without the price of the picks
} Compared;

typedef struct {
    const FloorPostgres *options;
    PgbenchScript script;
    Str database, copy; // names
    Compared loads[LOADS];
} Comparison;

#define SCHEMA "octavo_diku"

// ---------------------------------------------------------------------------------------------
// pgbench

static Err *copy_begin(const Comparison *comparison)
{
    return postgres_copy(comparison->options->url, comparison->database, comparison->copy);
}

static Err *pgbench_measure(Comparison *comparison, int clients, bool only_picks,
                            PgbenchResult *out)
{
    PgbenchRun run = {.folder = comparison->options->folder,
                      .url = postgres_url(comparison->options->url, comparison->copy),
                      .schema = S(SCHEMA),
                      .clients = clients,
                      .seconds = WARM_UP_S,
                      .only_picks = only_picks};

    TRY(pgbench_run(&comparison->script, &run, out));
    run.seconds = comparison->options->seconds;
    return pgbench_run(&comparison->script, &run, out);
}

static Err *bare_measure(Comparison *comparison, size_t load, int round)
{
    Compared *compared = &comparison->loads[load];
    PgbenchResult *bare = &compared->bare[round];
    Str copy = postgres_url(comparison->options->url, comparison->copy);

    TRY(copy_begin(comparison));
    TRY(postgres_run(copy, S(SCHEMA), pgbench_table(&comparison->script)));
    if (round == 0) {
        TRY(pgbench_measure(comparison, client_counts[load], true, &compared->picks));
        TRY(postgres_run(copy, S(SCHEMA), S("alter sequence octavo_floor_n restart")));
    }
    TRY(pgbench_measure(comparison, client_counts[load], false, bare));
    bare->p50_us -= compared->picks.p50_us;
    bare->per_s = 1 / (1 / bare->per_s - 1 / compared->picks.per_s);
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Octavo

static Err *play_result(Str file, PgbenchResult *out)
{
    Str text;
    Json *root = NULL;

    TRY(file_text(file, &text));
    TRY(json_parse(text, &root));
    JSON_EACH(request, json_get(root, "requests"))
    {
        if (str_starts(json_str(request, "name"), S("check-out"))) {
            out->p50_us = json_number(request, "ok.p50", 0) * 1000;
            out->per_s = json_number(request, "perSecond", 0);
            int64_t errors = json_int(request, "errors", 0);
            return errors ? err_text(500, "%lld check-outs failed: see " STR_FMT, (long long)errors,
                                     STR_ARG(file))
                          : NULL;
        }
    }
    return err_text(500, "nothing was checked out: see " STR_FMT, STR_ARG(file));
}

static Err *play(const Comparison *comparison, const Server *server, int clients,
                 PgbenchResult *out)
{
    Str folder = comparison->options->folder, json = str_fmt(STR_FMT "/play.json", STR_ARG(folder));
    const Str words[] = {S("bench"),
                         S("play"),
                         S("check-out"),
                         S("--url"),
                         server->url,
                         S("--inputs"),
                         comparison->options->inputs,
                         S("--users"),
                         str_fmt("%d", clients),
                         S("--ramp-up"),
                         S("0"),
                         S("--warmup"),
                         str_fmt("%d", WARM_UP_S),
                         S("--duration"),
                         str_fmt("%.0f", comparison->options->seconds + WARM_UP_S),
                         S("--think"),
                         S("none"),
                         S("--json"),
                         json};
    StrList command = {0};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        str_list_add(&command, words[i]);
    }
    Str output = str_fmt(STR_FMT "/play-output", STR_ARG(folder));
    int code = program_run(&command, output);
    if (code != 0) {
        return err_text(500, "the plan check-out ended with code %d: see " STR_FMT, code,
                        STR_ARG(output));
    }
    return play_result(json, out);
}

static Err *ours_measure(Comparison *comparison, size_t load, int round)
{
    const FloorPostgres *options = comparison->options;
    Configuration configuration = {0};
    ServerSpec spec = {.data = options->folder,
                       .configuration = &configuration,
                       .log = str_fmt(STR_FMT "/server-log", STR_ARG(options->folder))};
    Server server;

    TRY(copy_begin(comparison));
    str_list_add(&spec.options, str_fmt("--database=" STR_FMT,
                                        STR_ARG(postgres_url(options->url, comparison->copy))));
    TRY(server_start(&spec, &server));
    Err *err = play(comparison, &server, client_counts[load], &comparison->loads[load].ours[round]);
    Err *stopped = server_stop(&server);
    return err ? err : stopped;
}

// ---------------------------------------------------------------------------------------------
// Both

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static PgbenchResult median(const PgbenchResult *rounds)
{
    double times[ROUNDS], rates[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        times[i] = rounds[i].p50_us;
        rates[i] = rounds[i].per_s;
    }
    sort_array(times, ROUNDS, sizeof *times, compare_numbers);
    sort_array(rates, ROUNDS, sizeof *rates, compare_numbers);
    return (PgbenchResult){times[ROUNDS / 2], rates[ROUNDS / 2]};
}

static Err *report(const Comparison *comparison)
{
    bool is_to_output = comparison->options->json && strcmp(comparison->options->json, "-") == 0;
    FILE *out = is_to_output ? stderr : stdout;
    Json *root = json_object();

    fprintf(out, "%d statements of a check-out in one pipeline; medians of %d rounds\n",
            comparison->script.statements, ROUNDS);
    for (size_t i = 0; i < LOADS; i++) {
        PgbenchResult bare = median(comparison->loads[i].bare);
        PgbenchResult ours = median(comparison->loads[i].ours);
        fprintf(
            out,
            "%2d client%s  pgbench %7.0f us (p50) %7.0f /s   check-out %7.0f us (p50) %7.0f /s  "
            " %.2f x the time, %.2f x the rate\n",
            client_counts[i], client_counts[i] > 1 ? "s" : " ", bare.p50_us, bare.per_s,
            ours.p50_us, ours.per_s, ours.p50_us / bare.p50_us, ours.per_s / bare.per_s);
        Json *load = json_object();
        json_set_int(load, "clients", client_counts[i]);
        json_set_number(load, "pgbench.p50Us", bare.p50_us);
        json_set_number(load, "pgbench.perSecond", bare.per_s);
        json_set_number(load, "checkOut.p50Us", ours.p50_us);
        json_set_number(load, "checkOut.perSecond", ours.per_s);
        json_set(root, str_z(str_fmt("clients%d", client_counts[i])), load);
    }
    return comparison->options->json ? floor_write_json(comparison->options->json, root) : NULL;
}

static Err *compare_all(Comparison *comparison)
{
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t load = 0; load < LOADS; load++) {
            TRY(bare_measure(comparison, load, round));
            TRY(ours_measure(comparison, load, round));
        }
    }
    return report(comparison);
}

Err *floor_compare_postgres(const FloorPostgres *options)
{
    Comparison *comparison = NEW(Comparison);

    *comparison = (Comparison){.options = options};
    TRY(pgbench_script(options->statements, &comparison->script));
    TRY(postgres_database_name(options->url, &comparison->database));
    comparison->copy = str_fmt(STR_FMT "_floor", STR_ARG(comparison->database));
    Err *err = compare_all(comparison);
    Err *dropped = postgres_drop(options->url, comparison->copy);
    return err ? err : dropped;
}
