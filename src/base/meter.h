// Accounting per FOLIO module: who spends CPU, wall time and memory, inside requests and behind
// them.
//
// A thread works on one thing at a time: a request, a pass of the relay. Between meter_begin and
// meter_end it keeps a stack of modules; self time = total minus callees. Nothing is measured, and
// no clock is read, outside of that or when the meters are off. Source: spec/engineering.md 9.9.
#pragma once

#include "base/str.h"

typedef struct Meter Meter;

// One per module name; lives as long as the process. `module` must be a constant.
Meter *meter_of(const char *module);
const char *meter_module(const Meter *meter);
// Off: no clock is read.
void meter_switch(bool on);
bool meter_is_on(void);

// ---------------------------------------------------------------------------------------------
// Work

typedef enum {
    PHASE_QUEUE,  // waiting for a place among the handlers, for the writer's turn
    PHASE_AUTH,   // token and permissions
    PHASE_STORE,  // statements
    PHASE_COMMIT, // until the data were on the disk
    PHASES,
} Phase;

enum {
    STATEMENTS_KEPT = 64,
    VISITS_KEPT = 32,
};

// One statement of the work.
typedef struct {
    const char *shape;    // lives as long as the process
    int64_t begun_ns, ns; // without statements that its rows' callback ran
    int64_t rows;
    int visit; // made by; -1: not kept
} MeterStatement;

// A stay in a module.
typedef struct {
    const Meter *meter;
    int64_t begun_ns, ended_ns;
    int parent; // visit, -1: none
} MeterVisit;

// What the thread is at. Valid until the thread's next meter_begin.
typedef struct {
    const char *route; // or name of the background work, NULL: not known
    int64_t begun_ns, ended_ns;
    int64_t phase_ns[PHASES];
    size_t statement_count, visit_count; // what is beyond the limits is not kept
    MeterVisit visits[VISITS_KEPT];
    MeterStatement statements[STATEMENTS_KEPT];
} MeterWork;

// Begins with a request in the module; `queued_ns` it has waited already. Connection threads read
// the thread's CPU clock for a few of their requests only and share it out among all: see meter.c.
void meter_begin(Meter *meter, int64_t queued_ns);
// The work, for whoever reports it; NULL if nothing is measured.
const MeterWork *meter_end(int64_t now_ns);
// Background work of a thread of its own: the CPU clock is read at each end, so that waking up for
// it is charged as well.
void meter_begin_alone(Meter *meter);
// The thread ends, or ends being a client's: what it did since the last reading is charged.
void meter_thread_end(void);
// The work of this moment, NULL if nothing is measured.
const MeterWork *meter_work(void);
void meter_route(const char *route);

// Another module goes on for the one on top. Both give the monotonic clock, 0 if it was not read.
int64_t meter_enter(Meter *meter);
int64_t meter_leave(void);

// METER("mod-inventory-storage"); as the first line of a function that other modules call.
void meter_leave_scope(int *unused);
#define METER(name)                                                                                \
    static Meter *_Atomic meter_here_;                                                             \
    if (!meter_here_) {                                                                            \
        meter_here_ = meter_of(name);                                                              \
    }                                                                                              \
    METER_AT(meter_here_)
// The same with a meter at hand; NULL: the module on top goes on.
#define METER_AT(meter)                                                                            \
    meter_enter(meter);                                                                            \
    __attribute__((cleanup(meter_leave_scope), unused)) int meter_scope_ = 0

// The monotonic clock if something is measured, else 0. What began at 0 counts nothing.
int64_t meter_clock(void);
// Where something begins that counts to a phase. Phases inside of others (a statement run for a
// row of another, a wait inside a statement, statements that look for permissions) are taken off
// those, so that all phases together are never more than the whole.
typedef struct {
    int64_t ns;         // the monotonic clock; 0: nothing is measured
    int64_t counted_ns; // to phases, since the work began
} MeterMark;
MeterMark meter_mark(void);
MeterMark meter_begun(void); // where the work began
// Gives what it took.
int64_t meter_statement(const char *shape, MeterMark begun, int64_t rows);
// Time the thread spent waiting for somebody: it used no CPU.
void meter_rest(int64_t begun_ns);
// Time in a phase that the thread spent waiting: it used no CPU.
void meter_wait(Phase phase, MeterMark begun);
// Time in a phase whose CPU counts like any other. Nothing is counted if one of them is 0.
void meter_phase(Phase phase, MeterMark begun, int64_t ended_ns);
// CPU that belongs to a module whoever runs it: the commit of a group, the checkpoints. Give what
// the one returned to the other.
int64_t meter_cpu_begin(void);
void meter_cpu_end(Meter *meter, int64_t begun);

// An HTTP request is over: figures of its route's module.
typedef struct {
    bool failed;
    int64_t ns;
    uint64_t bytes_in, bytes_out;
} MeterRequest;

void meter_request(Meter *meter, const MeterRequest *request, int64_t now_ns);
// One more, or one less, that is not over.
void meter_in_flight(Meter *meter, int change);
// A module's caches hold so much more, or less.
void meter_cache(Meter *meter, ptrdiff_t change);

// ---------------------------------------------------------------------------------------------
// Reading

enum {
    METER_WINDOW_MAX_S = 120,
};

typedef struct {
    const char *module;
    uint64_t requests, errors; // over HTTP
    uint64_t calls;            // by other modules in the process
    uint64_t in_flight, bytes_in, bytes_out;
    int64_t cpu_ns, queue_ns, handler_ns, store_ns;
    int64_t p50_us, p95_us; // -1: no requests
    size_t memory_bytes;    // its caches, and the most that one request took
} MeterReading;

// Figures of the last `window_s` seconds, at most METER_WINDOW_MAX_S; 0: since the start. Copies at
// most n readings, returns how many modules there are. `total` is the sum over all requests.
size_t meter_read(int window_s, MeterReading *readings, size_t n, MeterReading *total);
// CPU of the process in the same window.
int64_t meter_process_cpu_ns(int window_s);
