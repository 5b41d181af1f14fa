// Accounting per module: readings are summed in atomics, the stack of modules is the thread's own.
#include "base/meter.h"

#include "base/arena.h"
#include "base/date.h"
#include "base/die.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    STACK_MAX = 16,
    METERS_MAX = 128,
};

struct Meter {
    const char *module;
    _Atomic uint64_t requests, errors, in_flight, bytes_in, bytes_out;
    _Atomic int64_t cpu_ns, wall_ns;
    _Atomic size_t memory_bytes;
};

typedef struct {
    Meter *meter;
    int64_t cpu_begun, wall_begun; // since this module was last on top
    size_t memory_begun;
} Frame;

static pthread_mutex_t meters_lock = PTHREAD_MUTEX_INITIALIZER; // guards adding to meters
static Meter *meters[METERS_MAX];
static _Atomic size_t meter_count_;
static _Atomic bool switched_on = true;

static _Thread_local Frame stack[STACK_MAX];
static _Thread_local int depth;

Meter *meter_of(const char *module)
{
    pthread_mutex_lock(&meters_lock);
    for (size_t i = 0; i < meter_count_; i++) {
        if (strcmp(meters[i]->module, module) == 0) {
            pthread_mutex_unlock(&meters_lock);
            return meters[i];
        }
    }
    if (meter_count_ == METERS_MAX) {
        die("more than %d modules", METERS_MAX);
    }
    Meter *meter = calloc(1, sizeof *meter);
    if (!meter) {
        die("out of memory");
    }
    meter->module = module;
    meters[meter_count_++] = meter;
    pthread_mutex_unlock(&meters_lock);
    return meter;
}

static int64_t cpu_clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// Charges what passed since the frame was last on top, and starts it again.
static void frame_charge(Frame *frame, int64_t cpu, int64_t wall)
{
    frame->meter->cpu_ns += cpu - frame->cpu_begun;
    frame->meter->wall_ns += wall - frame->wall_begun;
    frame->cpu_begun = cpu;
    frame->wall_begun = wall;
}

void meter_enter(Meter *meter)
{
    if (depth >= STACK_MAX) {
        depth++;
        return;
    }
    Frame *frame = &stack[depth];
    frame->meter = switched_on ? meter : NULL;
    if (frame->meter) {
        // A module calling itself changes nothing: no clock is read.
        if (depth > 0 && stack[depth - 1].meter == meter) {
            frame->meter = NULL;
        } else {
            int64_t cpu = cpu_clock_ns(), wall = clock_ns();
            if (depth > 0 && stack[depth - 1].meter) {
                frame_charge(&stack[depth - 1], cpu, wall);
            }
            frame->cpu_begun = cpu;
            frame->wall_begun = wall;
            frame->memory_begun = arena_used(arena_current());
            meter->in_flight++;
        }
    }
    depth++;
}

void meter_leave(void)
{
    if (depth == 0) {
        return;
    }
    if (--depth >= STACK_MAX) {
        return;
    }
    Frame *frame = &stack[depth];
    if (!frame->meter) {
        return;
    }
    int64_t cpu = cpu_clock_ns(), wall = clock_ns();
    frame_charge(frame, cpu, wall);
    frame->meter->in_flight--;
    size_t used = arena_used(arena_current());
    size_t grown = used > frame->memory_begun ? used - frame->memory_begun : 0;
    if (grown > frame->meter->memory_bytes) {
        frame->meter->memory_bytes = grown;
    }
    if (depth > 0 && stack[depth - 1].meter) {
        stack[depth - 1].cpu_begun = cpu;
        stack[depth - 1].wall_begun = wall;
    }
}

void meter_leave_scope(int *unused)
{
    (void)unused;
    meter_leave();
}

void meter_count(Meter *meter, bool failed, uint64_t bytes_in, uint64_t bytes_out)
{
    meter->requests++;
    meter->errors += failed;
    meter->bytes_in += bytes_in;
    meter->bytes_out += bytes_out;
}

void meter_switch(bool on)
{
    switched_on = on;
}

size_t meter_read(MeterReading *readings, size_t n)
{
    size_t count = meter_count_;

    for (size_t i = 0; i < count && i < n; i++) {
        const Meter *meter = meters[i];
        readings[i] = (MeterReading){meter->module,    meter->requests, meter->errors,
                                     meter->in_flight, meter->bytes_in, meter->bytes_out,
                                     meter->cpu_ns,    meter->wall_ns,  meter->memory_bytes};
    }
    return count;
}
