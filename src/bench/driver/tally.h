// What is counted while a plan runs: times by histogram, failures by class.
#pragma once

#include "base/hist.h"
#include "bench/plan/plan.h"

typedef enum {
    FAIL_NONE = -1,
    FAIL_CONNECT,
    FAIL_TLS,
    FAIL_TIMEOUT,
    FAIL_STATUS,
    FAIL_ASSERTION,
    FAIL_EXTRACT,
    FAIL_CLASSES,
} Failure;

const char *failure_name(Failure failure);

enum {
    STATUSES_MAX = 12, // different ones of failed answers; more are counted with the last
};

typedef struct {
    long status;
    uint64_t times;
} StatusCount;

typedef struct {
    Hist *ok, *failed; // microseconds; made with the first value
    Hist *service;     // open model: of the right ones from their real begin on
    uint64_t failures[FAIL_CLASSES];
    StatusCount statuses[STATUSES_MAX]; // what FAIL_STATUS consists of
    uint64_t cut;                       // by the end of the run
    uint64_t misses;                    // extractors that found nothing and have no default
    uint64_t bytes_in, bytes_out;
} Tally;

void tally_add(Tally *tally, int64_t time_us, Failure failure);
void tally_add_service(Tally *tally, int64_t time_us);
void tally_add_status(Tally *tally, long status, uint64_t times);
void tally_merge(Tally *into, const Tally *from);
void tally_reset(Tally *tally);
void tally_free(Tally *tally);
uint64_t tally_failed(const Tally *tally);
uint64_t tally_count(const Tally *tally); // with the failed ones

// All of one event loop, or of a run.
typedef struct {
    Tally *requests, *transactions;
    size_t request_len, transaction_len;
    Tally all_requests, all_transactions;
    Tally connects;     // time to connect, with TLS
    Tally lag;          // real minus planned begin after a pause
    Tally heartbeat;    // how late the loop runs when it has nothing to wait for
    uint64_t cut;       // requests and transactions cut by the end, not counted elsewhere
    uint64_t unserved;  // open model: arrivals for which no user was free in time
    uint64_t exhausted; // users that ended because their data was used up
    double paused_s;    // think times and pauses, as drawn
} Tallies;

void tallies_open(Tallies *tallies, const Plan *plan);
void tallies_merge(Tallies *into, const Tallies *from);
void tallies_reset(Tallies *tallies);
void tallies_close(Tallies *tallies);
