// What the files of jobs/ share.
#pragma once

#include "jobs/jobs.h"

#include <pthread.h>

JobStep job_step_of(Str kind);
Err *bus_deliver(Tx *tx, const Event *events, size_t n);

// Delivers everything that stands in the outbox of a database.
Err *relay_drain(Db *db);
// Runs the jobs of a database that are due; *next is when the next one is (0: none).
Err *jobs_run_due(Db *db, Time now, Time *next);

enum {
    EVENTS_PER_STEP = 500,
    NAME_MAX_LEN = 40,
    TENANTS_MAX = 4096,
};
