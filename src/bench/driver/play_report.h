// What a run of one plan prints and writes.
#pragma once

#include "driver.h"

#include <stdio.h>

// The live line; overwritten in place on a terminal, else one line every ten seconds.
typedef struct {
    FILE *out;
    FILE *timeline; // CSV, one line a second; NULL = none
    bool is_terminal;
    double duration_s; // of the run; 0 = unknown
} LiveView;

void report_progress(const Progress *progress, void *view);
// Tables of transactions and requests, the driver's own state, the first failures.
void report_print(FILE *out, const Plan *plan, const DriverOptions *options,
                  const RunResult *result);
// The lists of the plan, before a run.
void report_lists(FILE *out, const Plan *plan);
// The same as JSON: spec/perf-lab.md 4.1. In the current arena.
Str report_json(const Plan *plan, const DriverOptions *options, const RunResult *result);
