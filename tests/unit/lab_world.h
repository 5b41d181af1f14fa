// Results of experiments that never ran: every figure is drawn from known distributions, so that
// the statistics and the report can be held against what is true.
#pragma once

#include "bench/plan/actor.h"
#include "bench/result.h"

#include <math.h>

enum {
    WORLD_CONFIGURATIONS_MAX = 4,
};

typedef struct {
    uint64_t seed;
    int configurations, blocks;
    double window_s, per_s;                    // transactions a second
    double slower[WORLD_CONFIGURATIONS_MAX];   // factor of times; 0 = 1
    double hungrier[WORLD_CONFIGURATIONS_MAX]; // factor of CPU and memory; 0 = 1
    double block_spread, cell_spread;          // of the level of times, natural logarithm
    bool has_requests;
    double failing; // share of transactions
    int jobs;       // imports within the window
    double drift;   // growth of a job's time per job
} World;

static const struct {
    const char *name;
    double ms, share; // median, share of transactions
    int requests;
} world_transactions[] = {{"check-out", 38, 0.57, 39}, {"check-in", 22, 0.43, 24}};

static const char *const world_requests[] = {"POST /circulation/check-out-by-barcode",
                                             "GET /circulation/loans", "OPTIONS /users"};

static const struct {
    const char *name;
    double cpu, mib;
} world_modules[] = {
    {"mod-circulation", 0.21, 11},        {"mod-inventory-storage", 0.17, 18},
    {"mod-circulation-storage", 0.12, 9}, {"mod-users", 0.09, 6},
    {"mod-authtoken", 0.05, 3},           {"mod-feesfines", 0.04, 2},
    {"mod-configuration", 0.02, 1},       {"mod-notes", 0.004, 1},
};

static inline double world_factor(double factor)
{
    return factor > 0 ? factor : 1;
}

static inline double world_spread(Rng *rng, double spread)
{
    return exp(spread * rng_gauss(rng));
}

// Times of one measure in one cell, by second, and all of them.
static inline Measure world_measure(Rng *rng, MeasureKind kind, const char *name, double ms,
                                    double per_s, double window_s, double failing)
{
    Measure measure = {.kind = kind, .workload = S("cico"), .name = str_of(name)};
    Hist *all = hist_new(RESULT_DIGITS, RESULT_LONGEST_US);
    Hist *failed = hist_new(RESULT_DIGITS, RESULT_LONGEST_US);
    Hist *second = hist_new(RESULT_DIGITS, RESULT_LONGEST_US);
    int64_t lost = 0;

    measure.slices.at = NEW_ARRAY(Slice, (size_t)window_s + 3);
    for (int s = -2; s < window_s; s++) {
        Slice *slice = &measure.slices.at[measure.slices.len++];
        double level = 1 + (s < 0 ? 0.6 : 0) + 0.04 * rng_gauss(rng);
        hist_reset(second);
        slice->second = s;
        int64_t n = (int64_t)floor(per_s + sqrt(per_s) * rng_gauss(rng) * 0.5 + rng_unit(rng));
        for (int64_t i = 0; i < n; i++) {
            int64_t us = (int64_t)(1000 * ms * level * world_spread(rng, 0.28));
            if (rng_unit(rng) < failing) {
                slice->failed++;
                if (s >= 0) {
                    hist_record(failed, us / 8);
                    lost++;
                }
            } else {
                hist_record(second, us);
            }
        }
        slice->ok = hist_pack(second);
        if (s >= 0) {
            hist_merge(all, second);
        }
    }
    measure.ok = hist_pack(all);
    measure.failed = lost ? hist_pack(failed) : (Str){0};
    measure.bytes_in = hist_count(all) * 2100;
    measure.bytes_out = hist_count(all) * 300;
    if (lost > 0) {
        measure.errors.at = NEW(Counted);
        measure.errors.at[0] = (Counted){S("status 500"), lost};
        measure.errors.len = 1;
    }
    hist_free(all);
    hist_free(failed);
    hist_free(second);
    return measure;
}

static inline void world_series(Cell *cell, Rng *rng, SeriesGroup group, const char *subject,
                                const char *name, Unit unit, bool is_counter, double level)
{
    Series *series = &cell->series.at[cell->series.len++];
    double sum = 3 * level;

    *series = (Series){.group = group,
                       .subject = str_of(subject),
                       .name = str_of(name),
                       .unit = unit,
                       .is_counter = is_counter};
    series->values.at = NEW_ARRAY(double, cell->ticks.len);
    for (; series->values.len < cell->ticks.len; series->values.len++) {
        double now = level * (1 + 0.05 * rng_gauss(rng));
        double step = series->values.len > 0 ? cell->ticks.at[series->values.len] -
                                                   cell->ticks.at[series->values.len - 1]
                                             : 0;
        sum += now * step;
        // As the sampler does: microseconds and whole bytes.
        series->values.at[series->values.len] = is_counter           ? round(sum * 1e6) / 1e6
                                                : unit == UNIT_BYTES ? round(now)
                                                                     : now;
    }
}

static inline void world_samples(Cell *cell, Rng *rng, double load, double memory)
{
    double cpu = 0, bytes = 0;

    cell->ticks.at = NEW_ARRAY(double, (size_t)(cell->window_s + 2) * 4 + 2);
    for (double s = -2; s <= cell->window_s + 0.01; s += 0.25) {
        cell->ticks.at[cell->ticks.len++] = s;
    }
    cell->series.at = NEW_ARRAY(Series, 64);
    for (size_t i = 0; i < sizeof world_modules / sizeof *world_modules; i++) {
        const char *name = world_modules[i].name;
        cpu += world_modules[i].cpu;
        bytes += world_modules[i].mib * 1048576;
        world_series(cell, rng, GROUP_MODULE, name, "cpu", UNIT_S, true,
                     world_modules[i].cpu * load);
        world_series(cell, rng, GROUP_MODULE, name, "memory", UNIT_BYTES, false,
                     world_modules[i].mib * 1048576 * memory);
        world_series(cell, rng, GROUP_MODULE, name, "requests", UNIT_COUNT, true,
                     world_modules[i].cpu * 1500);
    }
    world_series(cell, rng, GROUP_PROCESS, "server", "cpu.user", UNIT_S, true, cpu * load * 0.84);
    world_series(cell, rng, GROUP_PROCESS, "server", "cpu.system", UNIT_S, true, cpu * load * 0.2);
    world_series(cell, rng, GROUP_PROCESS, "server", "memory.pss", UNIT_BYTES, false,
                 bytes * memory * 1.06);
    world_series(cell, rng, GROUP_PROCESS, "server", "threads", UNIT_COUNT, false, 24);
    world_series(cell, rng, GROUP_DRIVER, "", "cpu", UNIT_S, true, 0.3);
    world_series(cell, rng, GROUP_HOST, "", "cpu.user", UNIT_S, true, cpu * load + 0.3);
    world_series(cell, rng, GROUP_HOST, "", "cpu.idle", UNIT_S, true, 1.0);
    world_series(cell, rng, GROUP_HOST, "", "cpu.steal", UNIT_S, true, 0.01);
    world_series(cell, rng, GROUP_DATABASE, "sqlite", "statements", UNIT_COUNT, true, 900);
    world_series(cell, rng, GROUP_DATABASE, "sqlite", "time", UNIT_S, true, 0.2);
    world_series(cell, rng, GROUP_DATABASE, "sqlite", "fsync", UNIT_S, true, 0.05);
    world_series(cell, rng, GROUP_DATABASE, "sqlite", "wal.max", UNIT_BYTES, false, 9e6);
    double *limit = NEW_ARRAY(double, cell->ticks.len);
    for (size_t i = 0; i < cell->ticks.len; i++) {
        limit[i] = 268435456;
    }
    cell->series.at[cell->series.len++] = (Series){.group = GROUP_PROCESS,
                                                   .subject = S("server"),
                                                   .name = S("memory.limit"),
                                                   .unit = UNIT_BYTES,
                                                   .values = {limit, cell->ticks.len}};
}

static inline void world_jobs(Cell *cell, Rng *rng, const World *world)
{
    double each = cell->window_s / (world->jobs + 0.5), at = each * 0.3;

    cell->jobs.at = NEW_ARRAY(JobRun, (size_t)world->jobs);
    for (int i = 0; i < world->jobs; i++) {
        double took = each * 0.6 * pow(1 + world->drift, i) * world_spread(rng, 0.004);
        cell->jobs.at[cell->jobs.len++] = (JobRun){.workload = S("import"),
                                                   .number = i + 1,
                                                   .from_s = at,
                                                   .to_s = at + took,
                                                   .state = S("done"),
                                                   .records = 2000};
        at += each;
    }
}

static inline void world_cell(Cell *cell, const World *world, Rng *rng, int number, double block)
{
    double level =
        block * world_factor(world->slower[number]) * world_spread(rng, world->cell_spread);
    double hunger = world_factor(world->hungrier[number]);

    cell->measures.at = NEW_ARRAY(Measure, 8);
    for (size_t i = 0; i < sizeof world_transactions / sizeof *world_transactions; i++) {
        cell->measures.at[cell->measures.len++] = world_measure(
            rng, MEASURE_TRANSACTION, world_transactions[i].name, world_transactions[i].ms * level,
            world->per_s * world_transactions[i].share, world->window_s, world->failing);
    }
    for (size_t i = 0; i < sizeof world_requests / sizeof *world_requests && world->has_requests;
         i++) {
        cell->measures.at[cell->measures.len++] =
            world_measure(rng, MEASURE_REQUEST, world_requests[i], (3.0 - (double)i) * level,
                          world->per_s * (2 + (double)i), world->window_s, world->failing / 30);
    }
    world_samples(cell, rng, block * hunger * world_spread(rng, world->cell_spread), hunger);
    cell->parts.at = NEW(Part);
    cell->parts.len = 1;
    cell->parts.at[0] = (Part){.workload = S("cico"),
                               .plan = S("cico"),
                               .load = S("u20"),
                               .model = S("closed"),
                               .think_model = S("effective"),
                               .think_scale = 0.1,
                               .think_s = 20 / world->per_s - 0.031,
                               .users = 20,
                               .window_s = world->window_s};
    if (world->jobs > 0) {
        world_jobs(cell, rng, world);
    }
    cell->data_checks.at = NEW(DataCheck);
    cell->data_checks.at[0] = (DataCheck){S("open loans = items checked out"), true, 5240, 5240};
    cell->data_checks.len = 1;
    cell->driver_cpu_s = 0.3 * world->window_s;
    cell->driver_busiest = 0.31;
}

static const char *const world_names[] = {"without", "with", "with256", "fourth"};
static const char *const world_labels[] = {"Without monitoring", "With monitoring",
                                           "With monitoring, larger buffer", "Fourth"};

static inline void world_experiment(Result *result, const World *world)
{
    static const char text[] =
        "{\"experiment\":{\"id\":\"perf-920\",\"title\":\"Built-in monitoring and "
        "check-in/check-out\",\"question\":\"Does monitoring slow check-in/check-out?\","
        "\"seed\":1,\"reference\":[\"seed-results/perf-920.csv\",\"seed-results/cpu-qcp1.csv\"]},"
        "\"data\":{\"recipe\":\"small\",\"reset\":\"each-run\"},\"target\":{\"managed\":true},"
        "\"workload\":{\"cico\":{\"file\":\"workloads/cico.json\",\"think_model\":\"effective\","
        "\"think_scale\":0.1}},\"load\":{\"u20\":{\"model\":\"closed\",\"users\":20,\"ramp_s\":1}},"
        "\"run\":{\"main\":{\"workloads\":[{\"workload\":\"cico\",\"load\":\"u20\"}],\"warmup_s\":"
        "2}},\"design\":{\"blocks\":4,\"order\":\"interleaved\",\"restart\":\"each-run\","
        "\"min_blocks\":3,\"min_transactions\":50},\"compare\":["
        "{\"metric\":\"check-out.p50\",\"test\":\"equivalence\",\"margin_pct\":5},"
        "{\"metric\":\"check-out.p95\",\"test\":\"equivalence\",\"margin_pct\":5},"
        "{\"metric\":\"check-in.p50\",\"test\":\"equivalence\",\"margin_pct\":5},"
        "{\"metric\":\"check-in.p95\",\"test\":\"equivalence\",\"margin_pct\":5},"
        "{\"metric\":\"cpu.total\",\"test\":\"equivalence\",\"margin_pct\":5},"
        "{\"metric\":\"memory.mean\",\"test\":\"equivalence\",\"margin_pct\":5}],\"kpi\":["
        "{\"metric\":\"error_rate.transactions\",\"max\":0.001,\"severity\":\"fail\"},"
        "{\"metric\":\"check-out.p95\",\"max_ms\":1226,\"severity\":\"warn\",\"note\":\"FOLIO "
        "reported\"}]}";
    assert_ok(json_parse(str_of(text), &result->experiment));
    json_set_int(result->experiment, "design.blocks", world->blocks);
    assert_ok(json_parse(S("{\"lab\":{\"version\":\"0.1.0\",\"build\":\"1ef5060\",\"flags\":"
                           "\"release\"},\"host\":{\"cpuModel\":\"AMD EPYC\",\"cores\":2,"
                           "\"memoryBytes\":25769803776,\"kernel\":\"6.1.0\",\"distribution\":"
                           "\"Debian 12\"},\"data\":{\"recipe\":\"small\",\"seed\":1}}"),
                         &result->environment));
}

// All blocks hold all configurations, each block in turn forwards and backwards.
static inline Result *world_result(const World *world)
{
    Result *result = NEW(Result);
    Rng rng;

    rng_seed(&rng, world->seed, 7);
    *result = (Result){.schema = RESULT_SCHEMA,
                       .id = S("perf-920-short-20240501T123456Z"),
                       .profile = S("short"),
                       .started_at = 1714566896000,
                       .ended_at = 1714567000000};
    world_experiment(result, world);
    result->configurations.at = NEW_ARRAY(Configuration, (size_t)world->configurations);
    for (int i = 0; i < world->configurations; i++) {
        Configuration *configuration = &result->configurations.at[result->configurations.len++];
        *configuration = (Configuration){.name = str_of(world_names[i]),
                                         .label = str_of(world_labels[i]),
                                         .is_baseline = i == 0,
                                         .options = json_object()};
        json_put(configuration->options, S("observability.level"),
                 json_string(i ? S("full") : S("off")));
        if (i > 0) {
            json_put(configuration->options, S("observability.trace_buffer_mib"),
                     json_int_of(128 * i));
        }
    }
    result->cells.at = NEW_ARRAY(Cell, (size_t)(world->configurations * world->blocks));
    for (int block = 1; block <= world->blocks; block++) {
        double level = world_spread(&rng, world->block_spread);
        for (int place = 0; place < world->configurations; place++) {
            int number = block % 2 ? place : world->configurations - 1 - place;
            Cell *cell = &result->cells.at[result->cells.len++];
            *cell = (Cell){.id = str_fmt("perf-920/main/block%d/%s", block, world_names[number]),
                           .block = block,
                           .place = place + 1,
                           .attempt = 1,
                           .configuration = str_of(world_names[number]),
                           .run = S("main"),
                           .load = S("u20"),
                           .state = CELL_DONE,
                           .window_at = result->started_at + (Time)result->cells.len * 9000,
                           .load_from_s = -2,
                           .planned_s = world->window_s,
                           .window_s = world->window_s};
            world_cell(cell, world, &rng, number, level);
        }
    }
    return result;
}
