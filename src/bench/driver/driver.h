// The load driver: runs a plan with virtual users against a server and counts.
//
// Each event loop is one thread with one libcurl multi handle; a virtual user is a small state
// machine on one loop and keeps a connection of its own. Source: spec/workloads.md 15, decision 67.
#pragma once

#include "bench/plan/plan.h"
#include "tally.h"

enum {
    SAMPLES_PER_CLASS = 5,
    SAMPLE_BYTES_MAX = 2048,
    SLOW_MAX = 10,       // transactions kept with their requests
    SLOW_STEPS_MAX = 64, // of one of them; further ones are left out
};

typedef struct Progress {
    double at_s; // since the begin of the main groups
    double span_s;
    uint64_t users, transactions, requests, errors;
    int64_t p50_us, p95_us; // of the transactions, or of the requests if there are none
    const Feed *used_up;    // a list whose lines serve once and that has come to its end; or NULL
    bool is_steady;
} Progress;

// What was counted in about a second; of the steady window whole seconds, but for the last one.
typedef struct {
    const Tallies *counts;
    int64_t from_ns, to_ns; // clock_ns
    uint64_t users;         // at work at its end
    bool is_steady;
} Second;

typedef struct {
    Str url; // http://127.0.0.1:9130
    uint64_t seed;
    int threads;
    int64_t
        users; // of the plan's only main group, if its file gives a fixed number; 0 = the file's
    double ramp_s;     // < 0: the plan's
    double duration_s; // < 0: the plan's
    double warmup_s;   // more time before counting begins, after all users have started
    double steady_s;   // > 0: the run ends when the steady window is that long, duration_s is void
    double patience_s; // with steady_s: how long a late steady window is waited for
    double cooldown_s; // how long answers still under way at the end are awaited
    double timeout_s;  // of one request
    double rate;       // open model: passes a second of all users; 0 = closed model
    bool is_poisson;   // their distances are drawn, else constant
    ThinkModel think;
    double think_scale;
    bool without_preflights;
    bool accepts_any_certificate;
    // Called once a second while the main groups run, and at the end.
    void (*progress)(const Progress *progress, void *context);
    void (*second)(const Second *second, void *context);
    void (*steady)(void *context); // the steady window begins
    void *context;
    // Plans that run beside each other begin their steady windows together: how many of them are
    // not ready yet. NULL = this one is alone.
    _Atomic int *not_ready;
    const _Atomic bool *cancel; // true: ends as if its time were over; NULL = nobody does
} DriverOptions;

// A failure with what was sent and what came; the same one again only counts.
typedef struct {
    uint64_t times;
    Failure failure;
    Str request, why, sent, answer;
    double at_s;
} FailureSample;

typedef struct {
    const Request *request;
    int64_t begin_ns, time_us;
    long status;
} SlowStep;

// A transaction with its requests.
typedef struct {
    uint32_t transaction; // its number
    int64_t begin_ns, time_us;
    SlowStep steps[SLOW_STEPS_MAX];
    size_t step_len;
} Slow;

typedef struct {
    Tallies steady;                 // of the window
    Tallies whole;                  // of the whole run, setup groups too
    double window_from_s, window_s; // of the steady window, within the main groups' time
    bool is_steady;         // false: the run was too short for one, the window is the whole run
    int64_t window_from_ns; // clock_ns
    double run_s;
    uint64_t users;
    double cpu_s;     // of the driver's threads during the window
    double busiest;   // share of a core that the busiest loop used during the window
    bool is_limited;  // the driver was the limit: figures do not describe the server
    int64_t late_us;  // how late its loop ran, by the percentile that is_limited was judged by
    bool was_stopped; // by on_error stoptest
    // The list that ended users first, and when: the steady window of a plan with one main group
    // ends there. NULL = none did.
    const Feed *used_up;
    double used_up_s;     // within the main groups' time
    bool has_ended_early; // nobody was left
    int64_t begin_ns;     // of the main groups
    FailureSample samples[FAIL_CLASSES * SAMPLES_PER_CLASS];
    size_t sample_len;
    Slow slowest[SLOW_MAX]; // right ones of the window, the slowest first
    size_t slow_len;
    Arena *arena; // of the samples' texts
} RunResult;

// Errors: the server's address is unknown; a setup group failed (its failures are in the result).
WARN_UNUSED Err *driver_run(const Plan *plan, const DriverOptions *options, RunResult *result);
// Gives back what the result holds beside itself.
void run_result_close(RunResult *result);
// Asks a running driver to end as if its time were over; safe in a signal handler.
void driver_stop(void);
