// The stack of modules of a thread, and how its CPU is shared out.
//
// The thread's CPU clock costs a microsecond, as much as a hundredth of a small request; the
// monotonic clock costs a twentieth of that. So a connection's thread reads the CPU clock around
// one request of SAMPLE and at the end of every SAMPLE requests. What it used in between is exact;
// it is shared out in proportion to the time modules were at work (waits taken off), and to what
// receiving and sending costs on average, which the readings between two requests tell. Nothing is
// lost and nothing counts twice: the sum over modules is what the threads used.
#include "base/meter.h"

#include "base/arena.h"
#include "base/date.h"
#include "base/die.h"
#include "base/meter_figures.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum {
    STACK_MAX = 16,
    SAMPLE = 64,
    EDGE_FIRST_NS = 20000, // receiving and sending, until it was measured
    MEANS = 16,            // an average forgets after about so many values
};

static const int64_t SETTLE_NS = 1000000000; // figures are not older than that

typedef struct {
    Meter *meter;
    int repeats;        // it called itself: no clock is read
    int visit;          // -1: not kept
    int64_t begun_ns;   // since it is on top
    size_t memory_base; // arena bytes that are not its own
} Frame;

typedef struct {
    bool is_on;
    bool is_exact;   // the CPU clock was read when the work began
    int depth;       // beyond STACK_MAX nothing is recorded
    uint32_t number; // of the work
    uint32_t edges;  // requests received and sent since the last settling
    int64_t cpu_seen, settled_ns;
    int64_t waited_ns;  // by the module on top
    int64_t counted_ns; // to phases, since the work began
    int64_t exact_ns;   // charged since the last settling
    uint64_t touched[METERS_MAX / 64];
    MeterWork work;
    Frame stack[STACK_MAX];
    MeterShare shares[METERS_MAX]; // since the last settling
} Thread;

static _Thread_local Thread thread;

static _Atomic bool switched_on = true;
// Averages, written now and then by whoever measured; a lost update does no harm.
static _Atomic int64_t edge_mean_ns = EDGE_FIRST_NS;
static _Atomic int64_t busy_permille = 1000; // CPU per time at work

void meter_switch(bool on)
{
    switched_on = on;
}

bool meter_is_on(void)
{
    return switched_on;
}

static int64_t cpu_clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void mean_add(_Atomic int64_t *mean, int64_t value)
{
    *mean += (value - *mean) / MEANS;
}

// ---------------------------------------------------------------------------------------------
// Sharing out

static MeterShare *share_of(const Meter *meter)
{
    size_t number = meter_number(meter);

    thread.touched[number / 64] |= (uint64_t)1 << number % 64;
    return &thread.shares[number];
}

static int64_t busy_sum(void)
{
    int64_t sum = 0;

    for (int w = 0; w < METERS_MAX / 64; w++) {
        for (uint64_t bits = thread.touched[w]; bits; bits &= bits - 1) {
            sum += thread.shares[w * 64 + __builtin_ctzll(bits)].busy_ns;
        }
    }
    return sum;
}

// Charges the CPU used since the last time.
static void settle(int64_t cpu, int64_t now_ns)
{
    double used = (double)(cpu - thread.cpu_seen - thread.exact_ns);
    double edge = (double)edge_mean_ns * thread.edges;
    double rate = (double)busy_permille / 1000;
    double weight = edge + (double)busy_sum() * rate;
    double per_weight = weight > 0 && used > 0 ? used / weight : 0;

    for (int w = 0; w < METERS_MAX / 64; w++) {
        for (uint64_t bits = thread.touched[w]; bits; bits &= bits - 1) {
            MeterShare *share = &thread.shares[w * 64 + __builtin_ctzll(bits)];
            share->cpu_ns += (int64_t)((double)share->busy_ns * rate * per_weight);
        }
    }
    share_of(meter_edge())->cpu_ns += (int64_t)(weight > 0 ? edge * per_weight : used);
    figures_add(thread.shares, thread.touched, now_ns);
    thread.edges = 0;
    thread.exact_ns = 0;
    thread.cpu_seen = cpu;
    thread.settled_ns = now_ns;
}

// What was used since the last request ended went into sending its answer and receiving this one.
static void edge_measure(void)
{
    int64_t cpu = cpu_clock_ns(), used = cpu - thread.cpu_seen;

    if (thread.number > 1) {
        mean_add(&edge_mean_ns, used);
    }
    share_of(meter_edge())->cpu_ns += used;
    thread.cpu_seen = cpu;
    thread.edges = 0;
}

static void rate_measure(int64_t cpu)
{
    int64_t busy = busy_sum(), used = cpu - thread.cpu_seen - thread.exact_ns;

    if (busy > 0 && used > 0) {
        int64_t permille = used * 1000 / busy;
        mean_add(&busy_permille, permille < 50 ? 50 : permille > 1500 ? 1500 : permille);
    }
}

// ---------------------------------------------------------------------------------------------
// The stack

// Charges what passed since the module is on top.
static void frame_charge(Frame *frame, int64_t now)
{
    MeterShare *share = share_of(frame->meter);
    int64_t wall = now - frame->begun_ns;

    share->wall_ns += wall;
    share->busy_ns += wall > thread.waited_ns ? wall - thread.waited_ns : 0;
    thread.waited_ns = 0;
    frame->begun_ns = now;
}

static int visit_begin(const Meter *meter, int64_t now)
{
    MeterWork *work = &thread.work;
    size_t i = work->visit_count++;

    if (i >= VISITS_KEPT) {
        return -1;
    }
    int parent = thread.depth ? thread.stack[thread.depth - 1].visit : -1;
    work->visits[i] = (MeterVisit){meter, now, now, parent};
    return (int)i;
}

static void frame_push(Meter *meter, int64_t now)
{
    Frame *frame = &thread.stack[thread.depth];

    *frame = (Frame){.meter = meter, .begun_ns = now, .visit = visit_begin(meter, now)};
    frame->memory_base = arena_used(arena_current());
    thread.depth++;
}

static void frame_pop(int64_t now)
{
    Frame *frame = &thread.stack[--thread.depth];
    MeterShare *share = share_of(frame->meter);
    size_t used = arena_used(arena_current());
    size_t grown = used > frame->memory_base ? used - frame->memory_base : 0;

    frame_charge(frame, now);
    share->memory_bytes = grown > share->memory_bytes ? grown : share->memory_bytes;
    if (frame->visit >= 0) {
        thread.work.visits[frame->visit].ended_ns = now;
    }
    if (thread.depth) {
        Frame *below = &thread.stack[thread.depth - 1];
        below->begun_ns = now;
        below->memory_base += grown;
    }
}

int64_t meter_enter(Meter *meter)
{
    if (!thread.is_on) {
        return 0;
    }
    if (thread.depth >= STACK_MAX) {
        thread.depth++;
        return 0;
    }
    Frame *top = &thread.stack[thread.depth - 1];
    if (!meter || top->meter == meter) {
        top->repeats++;
        return 0;
    }
    int64_t now = clock_ns();
    frame_charge(top, now);
    frame_push(meter, now);
    share_of(meter)->calls++;
    return now;
}

int64_t meter_leave(void)
{
    if (!thread.is_on) {
        return 0;
    }
    if (thread.depth > STACK_MAX) {
        thread.depth--;
        return 0;
    }
    Frame *top = &thread.stack[thread.depth - 1];
    if (top->repeats) {
        top->repeats--;
        return 0;
    }
    int64_t now = clock_ns();
    frame_pop(now);
    return now;
}

void meter_leave_scope(int *unused)
{
    (void)unused;
    meter_leave();
}

// ---------------------------------------------------------------------------------------------
// Work

// A thread of many was last at work some time ago, and what it needs is far away: all of that
// comes together while the first is waited for.
static void expect(void)
{
    enum { LINE = 64, WORK_LINES = 4, STACK_LINES = 3 };

    for (size_t i = 0; i < WORK_LINES; i++) {
        __builtin_prefetch((char *)&thread.work + i * LINE, 1);
    }
    __builtin_prefetch(thread.work.statements, 1);
    for (size_t i = 0; i < STACK_LINES; i++) {
        __builtin_prefetch((char *)thread.stack + i * LINE, 1);
    }
    for (int w = 0; w < METERS_MAX / 64; w++) {
        for (uint64_t bits = thread.touched[w]; bits; bits &= bits - 1) {
            __builtin_prefetch(&thread.shares[w * 64 + __builtin_ctzll(bits)], 1);
        }
    }
}

static void work_begin(Meter *meter, int64_t queued_ns)
{
    MeterWork *work = &thread.work;
    int64_t now = clock_ns();

    // Not the whole struct: only what the counts say is ever read.
    work->route = NULL;
    work->begun_ns = now;
    memset(work->phase_ns, 0, sizeof work->phase_ns);
    work->statement_count = work->visit_count = 0;
    thread.is_on = true;
    thread.depth = 0;
    thread.waited_ns = 0;
    thread.counted_ns = 0;
    frame_push(meter, now);
    if (queued_ns) {
        work->phase_ns[PHASE_QUEUE] = queued_ns;
        share_of(meter)->queue_ns += queued_ns;
        share_of(meter)->wall_ns += queued_ns;
    }
}

void meter_begin(Meter *meter, int64_t queued_ns)
{
    if (!switched_on) {
        return;
    }
    expect();
    thread.number++;
    thread.edges++;
    thread.is_exact = thread.number % SAMPLE == 1;
    if (thread.is_exact) {
        edge_measure();
    }
    work_begin(meter, queued_ns);
}

void meter_begin_alone(Meter *meter)
{
    if (!switched_on) {
        return;
    }
    thread.is_exact = false;
    thread.settled_ns = INT64_MIN / 2;
    work_begin(meter, 0);
}

const MeterWork *meter_end(int64_t now)
{
    if (!thread.is_on) {
        return NULL;
    }
    while (thread.depth) {
        frame_pop(now);
    }
    thread.work.ended_ns = now;
    thread.is_on = false;
    if (thread.is_exact || thread.number % SAMPLE == 0 || now - thread.settled_ns > SETTLE_NS) {
        int64_t cpu = cpu_clock_ns();
        if (thread.is_exact) {
            rate_measure(cpu);
        }
        settle(cpu, now);
    }
    return &thread.work;
}

void meter_thread_end(void)
{
    if (thread.number) {
        thread.edges++; // the last answer was sent, the end was read
        settle(cpu_clock_ns(), clock_ns());
        thread.number = 0;
    }
}

const MeterWork *meter_work(void)
{
    return thread.is_on ? &thread.work : NULL;
}

void meter_route(const char *route)
{
    thread.work.route = route;
}

MeterMark meter_begun(void)
{
    return (MeterMark){thread.is_on ? thread.work.begun_ns : 0, 0};
}

int64_t meter_clock(void)
{
    return thread.is_on ? clock_ns() : 0;
}

MeterMark meter_mark(void)
{
    return (MeterMark){meter_clock(), thread.counted_ns};
}

// The share of the module on top.
static MeterShare *share_on_top(void)
{
    int top = thread.depth > STACK_MAX ? STACK_MAX : thread.depth;

    return share_of(thread.stack[top - 1].meter);
}

static int visit_on_top(void)
{
    int top = thread.depth > STACK_MAX ? STACK_MAX : thread.depth;

    return thread.stack[top - 1].visit;
}

// What no phase inside of it has counted.
static int64_t phase_count(Phase phase, MeterMark begun, int64_t ended_ns)
{
    int64_t ns = ended_ns - begun.ns - (thread.counted_ns - begun.counted_ns);

    thread.counted_ns += ns;
    thread.work.phase_ns[phase] += ns;
    if (phase == PHASE_QUEUE) {
        share_on_top()->queue_ns += ns;
    } else if (phase != PHASE_AUTH) {
        share_on_top()->store_ns += ns;
    }
    return ns;
}

void meter_phase(Phase phase, MeterMark begun, int64_t ended_ns)
{
    if (begun.ns && ended_ns && thread.is_on) {
        phase_count(phase, begun, ended_ns);
    }
}

void meter_rest(int64_t begun_ns)
{
    if (begun_ns && thread.is_on) {
        thread.waited_ns += clock_ns() - begun_ns;
    }
}

void meter_wait(Phase phase, MeterMark begun)
{
    if (begun.ns && thread.is_on) {
        thread.waited_ns += phase_count(phase, begun, clock_ns());
    }
}

int64_t meter_statement(const char *shape, MeterMark begun, int64_t rows)
{
    MeterWork *work = &thread.work;

    if (!begun.ns || !thread.is_on) {
        return 0;
    }
    int64_t ns = phase_count(PHASE_STORE, begun, clock_ns());
    size_t i = work->statement_count++;
    if (i < STATEMENTS_KEPT) {
        work->statements[i] = (MeterStatement){shape, begun.ns, ns, rows, visit_on_top()};
    }
    return ns;
}

int64_t meter_cpu_begin(void)
{
    return switched_on ? cpu_clock_ns() : 0;
}

void meter_cpu_end(Meter *meter, int64_t begun)
{
    if (begun) {
        int64_t used = cpu_clock_ns() - begun;
        share_of(meter)->cpu_ns += used;
        thread.exact_ns += used;
    }
}
