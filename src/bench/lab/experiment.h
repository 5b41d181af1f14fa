// An experiment: what is compared, under which load, how often. Read from a JSON file, strictly.
// Format: docs/lab.md; source: spec/perf-lab.md 2.
#pragma once

#include "bench/plan/plan.h"
#include "bench/result.h"

// A named load plan with its own settings.
typedef struct {
    Str name;
    Str file;        // built-in plan ("workloads/cico.json") or a path
    Json *variables; // name -> text
    ThinkModel think;
    double think_scale, timeout_s;
    bool has_preflights;
} Workload;

typedef struct {
    Str name;
    bool is_open, is_poisson;
    int64_t users; // open: at most so many at once
    double ramp_s;
    double rate;   // open: passes a second
    Numbers steps; // of users or rate: the run is repeated with each; empty = one run
} Load;

// A workload within a run.
typedef struct {
    const Workload *workload;
    const Load *load;
    Str set; // named data set
    double start_offset_s;
} RunWorkload;

typedef struct {
    Str name;
    RunWorkload *workloads;
    size_t workload_len;
    StrList configurations; // names; empty = all
    double warmup_s;        // from the begin on, with the ramp-up
    double steady_s, cooldown_s;
} RunPlan;

typedef enum { EVERY_RUN, EVERY_BLOCK, NEVER } Rhythm;
typedef enum { ORDER_INTERLEAVED, ORDER_RANDOM, ORDER_SEQUENTIAL } Order;

typedef struct {
    Str id, title;
    uint64_t seed;
    Json *json; // with the profile merged over it
    Str profile;

    struct {
        Str recipe, inputs; // inputs: folder of the plans' data files, for targets of others
        uint64_t seed;
        Rhythm reset;
    } data;
    struct {
        Str url;       // empty: the lab starts and stops the server
        Str admin_url; // of a server at `url` that is Octavo: figures from inside; else empty
        Str cpuset;
        Str memory_limit;
        bool has_otlp_sink;
    } target;
    struct {
        int64_t blocks, min_blocks, min_transactions;
        Order order;
        Rhythm restart;
        double time_limit_s; // 0 = none
    } design;
    struct {
        double interval_s;
        bool modules, database, host;
    } sample;
    StrList formats; // of the report
    Configuration *configurations;
    size_t configuration_len;
    Workload *workloads;
    size_t workload_len;
    Load *loads;
    size_t load_len;
    RunPlan *runs;
    size_t run_len;
} Experiment;

// A cell of the plan: one configuration under one run's load, once.
typedef struct {
    Str id; // perf-920/block2/with/main
    int64_t block, place;
    const Configuration *configuration;
    const RunPlan *run;
    double expected_s;
} PlannedCell;

typedef struct {
    PlannedCell *at;
    size_t len;
    double expected_s;
} CellPlan;

// Reads a built-in experiment by its name, or a file. Everything is in the current arena.
// Errors: 400 with one line for each problem, each with its path.
WARN_UNUSED Err *experiment_open(const char *name_or_file, Str profile, Experiment **out);
WARN_UNUSED Err *experiment_read(Str text, Str profile, Experiment **out);
// Names of the profiles in the file.
WARN_UNUSED Err *experiment_profiles(const char *name_or_file, StrList *out);
// A server that is not the lab's has one configuration only: the baseline is kept.
void experiment_use_url(Experiment *experiment, Str url);
// What the file asks for and this program cannot do: such an experiment is checked and planned, but
// not run. Errors: 400 with a line for each.
WARN_UNUSED Err *experiment_can_run(const Experiment *experiment);
const Configuration *experiment_baseline(const Experiment *experiment);
// A run whose load has steps becomes one run for each, named by experiment_step_name ("main-20"):
// reading does it.
void experiment_unfold_steps(Experiment *experiment);
Str experiment_step_name(Str run, double step);
// The cells in the order they are run.
CellPlan experiment_cells(const Experiment *experiment);

// The load plan of a workload, read with its variables and those of the options.
WARN_UNUSED Err *workload_plan(const Workload *workload, const PlanOptions *options, Plan **out);
// "1 h 50 min", "95 s".
Str experiment_duration(double seconds);

// Checks the keys and kinds of values against the format (experiment_keys.c). Problems are added.
void experiment_check_keys(const Json *json, StrList *problems);
// The member of that name, which may hold dots; NULL if there is none.
Json *experiment_member(const Json *object, Str name);
// "2GiB", "512 MiB", "1000000" in bytes; false for anything else.
bool experiment_bytes(Str text, int64_t *out);
