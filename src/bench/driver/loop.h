// One event loop and its virtual users: what loop.c, user.c and transfer.c share.
#pragma once

#include "answer.h"
#include "bytes_pool.h"
#include "driver.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdatomic.h>

typedef struct Loop Loop;

// Lines of the headers a user sent last with a set: kept while their text stays the same.
typedef struct {
    Bytes *text;
    struct curl_slist *lines;
} HeaderLines;

typedef struct {
    uint32_t number;
    int64_t time_us; // sum of its requests
    uint32_t requests;
    Failure failure; // the first
    long status;     // of that one
} OpenTransaction;

typedef struct User {
    Actor actor;
    Loop *loop;
    const Group *group;
    int64_t end_ns;     // of its group
    int64_t iterations; // passes it may still begin; < 0: no limit
    uint32_t at;        // the next step of the program
    int64_t counters[COUNTERS_MAX];
    OpenTransaction open[TRANSACTION_DEPTH_MAX];
    size_t open_len;
    Slow trail; // of the outermost
    bool needs_login, has_paused, has_finished_one, is_over;
    bool has_arrival; // open model: may begin a pass
    int64_t due_ns;   // when it goes on, while it is in the heap
    int64_t late_us;  // open model: begin of the pass behind its planned arrival
    size_t heap_at;   // 0: not in the heap
    struct User *next_idle;

    CURL *easy;
    struct curl_slist *resolve;
    const char *method; // what the handle is set to
    bool has_body;
    const Request *request; // under way
    Bytes *body, *answer, *headers;
    HeaderLines *header_lines; // by header set
    int64_t *pace_due_ns;      // by throughput timer
    size_t *feed_next;         // by data file
} User;

// A run as all loops see it.
typedef struct Run {
    const Plan *plan;
    const DriverOptions *options;
    Str base_path;   // of the URL
    Str host_header; // "host:port"
    Str address, port;
    bool is_tls;
    bool is_setup;                          // setup groups are running
    int64_t begin_ns;                       // of the groups that are running
    _Atomic bool stop;                      // no user begins anything more
    _Atomic bool is_aborted;                // by on_error stoptest
    _Atomic(const Feed *) used_up;          // the first list that ended a user
    _Atomic uint32_t running, finished_one; // users
    uint32_t user_count;
    pthread_mutex_t lock; // guards the samples
    RunResult *result;
    Arena *arena; // of the samples
} Run;

struct Loop {
    Run *run;
    CURLM *multi;
    pthread_t thread;
    User *users;
    size_t user_len;
    User **heap; // by due_ns; [0] is unused
    size_t heap_len;
    size_t in_flight;
    BytesPool pool;
    Arena *arena; // emptied after each step
    Rng rng;      // arrivals
    int64_t next_arrival_ns;
    User *idle;             // waiting for an arrival
    int64_t *late_arrivals; // that found no idle user: a ring, the oldest at late_from
    size_t late_from, late_len;
    pthread_mutex_t lock; // guards the counts below
    Tallies *tallies;     // of the running second: one of the two halves
    Tallies halves[2];
    Slow slowest[SLOW_MAX];
    size_t slow_len;
    _Atomic int64_t cpu_ns; // used by the thread so far
};

// Work until something has to be waited for (user.c).
void user_open(User *user, uint32_t number);
void user_close(User *user);
void user_go_on(User *user);
// The answer of the request under way is complete.
void user_finish_request(User *user, CURLcode code);

// One HTTP request (transfer.c).
void transfer_open(User *user);
void transfer_close(User *user);
void transfer_begin(User *user, const Request *request);
// Gives the buffers back.
void transfer_end(User *user);

// The loop (loop.c).
void loop_wait(User *user, int64_t until_ns);
// Users with their group, number and due_ns set; the thread begins at once.
void loop_start(Run *run, Loop *loop, User *users, size_t user_len);
void loop_join(Loop *loop);
// After its counts have been read.
void loop_close(Loop *loop);
bool loop_is_over(const User *user, int64_t now_ns);

// The open model (arrival.c): passes begin when they are planned, whoever is free.
void arrival_open(Loop *loop);
void arrival_close(Loop *loop);
// Hands the planned arrivals up to now to idle users.
void arrival_go_on(Loop *loop, int64_t now_ns);
// Takes an arrival that waits, or parks the user among the idle ones and answers false.
bool arrival_take(User *user);

// Counting (count.c).
// The counts of the running second, locked until count_end.
Tallies *count_begin(Loop *loop);
void count_end(Loop *loop);
// Takes the counts of the second that ends; they are the caller's until the next call.
Tallies *count_swap(Loop *loop);
void count_request(User *user, const Request *request, int64_t time_us, Failure failure);
// Adds one to the slowest if it is among them.
void count_slow(Slow *slowest, size_t *len, const Slow *slow);
void count_transaction(User *user, const OpenTransaction *transaction);
void count_failure(User *user, const Request *request, Failure failure, Str why);
