// The load driver: runs a plan with virtual users against a server and counts.
//
// Each event loop is one thread with one libcurl multi handle; a virtual user is a small state
// machine on one loop and keeps a connection of its own. Source: spec/workloads.md 15, decision 67.
#pragma once

#include "plan.h"
#include "tally.h"

enum {
    SAMPLES_PER_CLASS = 5,
    SAMPLE_BYTES_MAX = 2048,
};

typedef struct Progress {
    double at_s; // since the begin of the main groups
    double span_s;
    uint64_t users, transactions, requests, errors;
    int64_t p50_us, p95_us; // of the transactions, or of the requests if there are none
    bool is_steady;
} Progress;

typedef struct {
    Str url; // http://127.0.0.1:9130
    uint64_t seed;
    int threads;
    int64_t
        users; // of the plan's only main group, if its file gives a fixed number; 0 = the file's
    double ramp_s;     // < 0: the plan's
    double duration_s; // < 0: the plan's
    double warmup_s;   // more time before counting begins, after all users have started
    double cooldown_s; // how long answers still under way at the end are awaited
    double timeout_s;  // of one request
    double rate;       // open model: passes a second of all users; 0 = closed model
    bool is_poisson;   // their distances are drawn, else constant
    ThinkModel think;
    double think_scale;
    bool without_preflights;
    bool accepts_any_certificate;
    // Called once a second while the main groups run, and at the end with is_last.
    void (*progress)(const Progress *progress, void *context);
    void *context;
} DriverOptions;

// A failure with what was sent and what came; the same one again only counts.
typedef struct {
    uint64_t times;
    Failure failure;
    Str request, why, sent, answer;
    double at_s;
} FailureSample;

typedef struct {
    Tallies steady;                 // of the window
    Tallies whole;                  // of the whole run, setup groups too
    double window_from_s, window_s; // of the steady window, within the main groups' time
    bool is_steady; // false: the run was too short for one, the window is the whole run
    double run_s;
    uint64_t users;
    double cpu_s;     // of the driver's threads during the window
    double busiest;   // share of a core that the busiest loop used during the window
    bool is_limited;  // the driver was the limit: figures do not describe the server
    bool was_stopped; // by on_error stoptest
    FailureSample samples[FAIL_CLASSES * SAMPLES_PER_CLASS];
    size_t sample_len;
    Arena *arena; // of the samples' texts
} RunResult;

// Errors: the server's address is unknown; a setup group failed (its failures are in the result).
WARN_UNUSED Err *driver_run(const Plan *plan, const DriverOptions *options, RunResult *result);
// Gives back what the result holds beside itself.
void run_result_close(RunResult *result);
// Asks a running driver to end as if its time were over; safe in a signal handler.
void driver_stop(void);
