// What an experiment gave: everything that a report, a comparison or a later tool needs, and its
// form as result.json (docs/lab.md lists every member).
//
// The runner fills a Result and writes it after each cell; the report only reads. Texts and lists
// live in the current arena. Times within a cell are seconds from the begin of its steady window:
// negative ones belong to ramp-up and warm-up. Histograms are packed (hist_pack), in microseconds.
// Source: spec/perf-lab.md 3-7.
#pragma once

#include "base/hist.h"
#include "json/json.h"

enum {
    RESULT_SCHEMA = 1,
    RESULT_DIGITS = 3, // of all histograms
};
#define RESULT_LONGEST_US ((int64_t)3600 * 1000 * 1000)

// The unit is part of the type: nothing is printed without it.
typedef enum {
    UNIT_COUNT,
    UNIT_PER_S,
    UNIT_MS,
    UNIT_S,     // seconds; of a processor: CPU-seconds
    UNIT_VCPU,  // CPU-seconds per second
    UNIT_BYTES, // shown as MiB
    UNIT_PERCENT,
    UNITS,
} Unit;

const char *unit_name(Unit unit);

typedef enum {
    GROUP_PROCESS,  // subject: server, database, kafka: cpu.user, cpu.system, memory.rss ...
    GROUP_MODULE,   // subject: FOLIO's module name: cpu, memory, requests ...
    GROUP_DATABASE, // subject: sqlite or postgres: what its own statistics say
    GROUP_QUEUE,    // subject: topic: produced, consumed, lag
    GROUP_DRIVER,   // the lab's own process
    GROUP_HOST,     // the machine
    GROUP_LOAD,     // users at work, progress of a job
    GROUPS,
} SeriesGroup;

// One value per tick of the cell; NAN = not measured then.
typedef struct {
    double *at;
    size_t len;
} Numbers;

typedef struct {
    SeriesGroup group;
    Str subject, name;
    Unit unit;
    bool is_counter; // only grows: differences count. Else a level at that moment
    Numbers values;
} Series;

typedef struct {
    Str name;
    int64_t count;
} Counted;

// One second of a measure; 0 is the first second of the steady window.
typedef struct {
    int64_t second;
    Str ok; // packed
    int64_t failed;
} Slice;

typedef enum {
    MEASURE_TRANSACTION,
    MEASURE_REQUEST,
    MEASURES,
} MeasureKind;

// A transaction or request type in one cell: what ended within the window.
typedef struct {
    MeasureKind kind;
    Str workload, name;
    Str ok;      // times of those that were right; open model: from the planned arrival
    Str failed;  // times of those that were not
    Str service; // open model: of the right ones from the send on; else empty
    int64_t cut; // by the end of the window: counted nowhere else
    int64_t bytes_in, bytes_out;
    struct {
        Counted *at;
        size_t len;
    } errors; // by class: "connect", "tls", "timeout", "status 404", "assertion", "extract" ...
    struct {
        Slice *at;
        size_t len;
    } slices; // of the window add up to ok; seconds without any are left out
} Measure;

// A workload's share in a cell.
typedef struct {
    Str workload, plan, load, set;
    Str model;       // closed, open, job
    Str think_model; // effective, written, none
    double think_scale;
    double think_s;          // mean pause of one transaction as drawn; < 0 = not known
    int64_t users;           // closed
    double rate;             // open: arrivals per second
    double from_s, window_s; // its own steady window
    Str lag;                 // packed: real minus planned start of requests after a pause
} Part;

// A data file of a plan in one cell: virtual users take its lines one after another.
typedef struct {
    Str workload, file, group;
    int64_t lines;
    int64_t first;    // lines that earlier cells on the same data had taken
    int64_t taken;    // by this cell; going over it again counts on
    bool serves_once; // what a line was used for cannot be done again
    bool is_used_up;
    double used_up_s; // when a line behind the last one was asked for
} DataList;

typedef struct {
    Str workload;
    int64_t number; // 1 = first
    double from_s, to_s;
    Str state; // done, failed, stuck, cut
    bool is_warmup;
    int64_t records, records_failed;
} JobRun;

typedef struct {
    Str name;
    double at_s, ms; // begin after the transaction's
    int64_t status;
} SlowRequest;

typedef struct {
    Str workload, name;
    double at_s, ms;
    Str trace; // the server-side trace id, if any
    struct {
        SlowRequest *at;
        size_t len;
    } requests;
} SlowTransaction;

typedef struct {
    Str workload, request, error; // class as in Measure.errors
    Str why, sent, answer;        // at most 2 kB each
    int64_t times;
    double at_s;
} ErrorSample;

typedef struct {
    Str shape, route, module;
    Str plan; // how the database ran it, a step a line
    int64_t calls, rows;
    double total_ms, max_ms;
} Statement;

typedef struct {
    Str name; // "open loans = items checked out"
    bool is_right;
    int64_t expected, found;
} DataCheck;

typedef struct {
    Time at;
    Str cell; // its id, or empty
    Str kind; // start, stop, restart, oom, crash, reload, checkpoint, data, job, stuck, log ...
    Str text, source;
} Annotation;

typedef enum {
    CELL_PLANNED, // not begun, or begun and not finished
    CELL_DONE,
    CELL_INVALID, // shown, never averaged in
    CELL_STATES,
} CellState;

typedef struct {
    Str id;                        // perf-920/main/block2/with
    int64_t block, place, attempt; // all from 1; place within the block
    Str configuration, run, load;
    CellState state;
    StrList reasons; // why it is invalid or not done
    Time window_at;  // when the steady window began
    double load_from_s, planned_s, window_s;
    struct {
        Part *at;
        size_t len;
    } parts;
    struct {
        DataList *at;
        size_t len;
    } lists;
    struct {
        Measure *at;
        size_t len;
    } measures;
    Numbers ticks; // seconds of the samples
    struct {
        Series *at;
        size_t len;
    } series;
    struct {
        JobRun *at;
        size_t len;
    } jobs;
    struct {
        SlowTransaction *at;
        size_t len;
    } slowest; // ten of each workload
    struct {
        ErrorSample *at;
        size_t len;
    } error_samples;
    struct {
        Statement *at;
        size_t len;
    } statements; // twenty by total time, within the window
    struct {
        DataCheck *at;
        size_t len;
    } data_checks;
    double driver_cpu_s, driver_busiest; // of the window; share of a core of the busiest loop
    bool is_driver_limited;
    Str driver_late;  // packed: how late the driver's loop ran
    Json *deployment; // as GET /octavo/ops/deployment answers, or NULL
    Json *processes;  // [{name, pid, version, cpus, memoryHardBytes, memorySoftBytes, threads ...}]
} Cell;

typedef struct {
    Str name, label;
    bool is_baseline;
    Json *options, *env;
    Str memory_limit, cpus, deployment_note;
    Str recipe; // of its library; empty: that of the experiment
} Configuration;

typedef struct {
    int64_t schema;
    Str id; // perf-920-short-20240501T123456Z
    Str profile, label;
    Time started_at, ended_at;
    bool was_stopped;
    Json *experiment;  // as read, with the profile merged over it
    Json *environment; // {lab: {version, build ...}, host: {...}, target: {...}, data: {...}}
    struct {
        Configuration *at;
        size_t len;
    } configurations;
    struct {
        Cell *at;
        size_t len;
    } cells; // all of the plan, in its order; a repeated one stands behind its invalid attempt
    struct {
        Annotation *at;
        size_t len;
    } annotations;
} Result;

// The text of result.json, in the current arena; equal results give equal bytes.
Str result_text(const Result *result);
// Errors: no JSON, no result, a newer schema, a histogram or series that cannot be read.
WARN_UNUSED Err *result_parse(Str text, Result **out);

// By a temporary file in the same folder, so that a reader never sees half of it.
WARN_UNUSED Err *result_save(const Result *result, const char *path);
WARN_UNUSED Err *result_load(const char *path, Result **out);
