// What operators see of requests: times per route, the slow and the failed ones, spans for a
// collector. The gateway reports every request when it is over; nothing here waits.
//
// Source: spec/native-api.md 2, spec/interop.md 7.
#pragma once

#include "base/date.h"
#include "base/err.h"
#include "base/meter.h"
#include "http/http.h"

typedef struct {
    Str endpoint;        // of the collector, "http://host:4318"; "" = spans go nowhere
    Str headers;         // "api-key=...,name=value"
    Str compression;     // "gzip", "none", "auto": gzip unless it is on this machine
    Str service;         // "" = octavo
    size_t buffer_bytes; // for spans that wait
    int sample_percent;  // of requests without a caller's decision
    int64_t detail_ns;   // requests that took so long show modules and statements
    Time started_at;
} ObserveOptions;

// Errors: 400 text for an option that is wrong. Figures are kept without it.
WARN_UNUSED Err *observe_start(const ObserveOptions *options);
// Sends what is there, for at most two seconds.
void observe_stop(void);

// Memory is short: spans that wait are dropped.
void observe_give_back(void);

typedef struct {
    bool is_on, is_down;
    uint64_t sent;     // spans
    uint64_t dropped;  // spans (of a request whose spans found no room: one)
    uint64_t rejected; // spans the collector took the batch without
    uint64_t failures; // calls
    uint64_t bytes;
    size_t buffer_bytes; // what waiting spans may take
} OtlpFigures;

OtlpFigures otlp_figures(void);

// A request begins, on its thread: its trace.
void observe_begin(const Req *req);

enum {
    STATUS_CLASSES = 5,
};

// What is counted for a route: a place in whatever describes it, empty at first.
typedef struct {
    struct RouteCounts *_Atomic classes[STATUS_CLASSES]; // made when an answer is of the class
} RouteFigures;

// The route of a request that has begun.
void route_expect(RouteFigures *figures);

// A request that is over. Texts are borrowed; module, method and route are constants.
typedef struct {
    RouteFigures *figures; // NULL: no route
    const char *module, *method, *route;
    Str path, tenant, request_id;
    int status;
    Time at;
    int64_t begun_ns, ended_ns; // monotonic
    uint64_t bytes_in, bytes_out;
} Observed;

void observe_request(const Observed *request, const MeterWork *work);

// ---------------------------------------------------------------------------------------------
// Times per route (routes.c)

enum {
    ROUTE_BOUNDS = 14,
};

// Upper bounds of the histogram's buckets in microseconds, ascending; a last one has no bound.
extern const int64_t route_bounds_us[ROUTE_BOUNDS];

typedef struct {
    const char *module, *method, *route;
    int status_class; // 2 = 2xx
    uint64_t count;
    int64_t sum_us;
    uint64_t buckets[ROUTE_BOUNDS + 1]; // not cumulative
} RouteTimes;

// All that were used, in the current arena.
size_t route_times_read(RouteTimes **out);

// ---------------------------------------------------------------------------------------------
// Slow and failed requests (requests.c)

typedef struct {
    Str shape;
    int64_t ns;
} SlowStatement;

typedef struct {
    Time at;
    Str request_id, tenant;
    const char *method, *route;
    int status;
    int64_t ns;
    int64_t phase_ns[PHASES];
    SlowStatement *statements; // the longest first
    size_t statement_count;
} SlowRequest;

// The last ones that took at least min_ms or failed, newest first, in the current arena.
size_t slow_requests_read(int64_t min_ms, size_t limit, SlowRequest **out);

// ---------------------------------------------------------------------------------------------
// The process and its machine (process.c)

typedef struct {
    double cpu_s;
    int64_t rss_bytes;          // resident
    int64_t anonymous_bytes;    // of it not shared with files (decision 52)
    int64_t memory_limit_bytes; // of its control groups; 0: none
    int threads, open_files;
    int cpus; // it may run on
} ProcessFacts;

ProcessFacts process_facts(void);

typedef struct {
    Str cpu_model, kernel, distribution;
    int cores;
    int64_t memory_bytes;
} HostFacts;

HostFacts host_facts(void);
// Tells this program from any other: the linker's number of the build; "" if it has none.
Str build_id(void);
