// The sums behind base/meter.h: since the start, and per second of the last two minutes. Only for
// src/base/meter*.c.
#pragma once

#include "base/meter.h"

enum {
    METERS_MAX = 128,
};

// What a thread has to add for one module: a line of the processor's cache.
typedef struct {
    _Alignas(64) int64_t cpu_ns, busy_ns, wall_ns, queue_ns, store_ns;
    uint64_t calls;
    size_t memory_bytes;
} MeterShare;

struct Meter {
    _Alignas(64) const char *module;
    _Atomic uint64_t in_flight;
    _Atomic size_t cache_bytes;
    struct MeterFigures *figures;
};

extern Meter meters[METERS_MAX];

// Told by its place alone: nothing is read.
static inline size_t meter_number(const Meter *meter)
{
    return (size_t)(meter - meters);
}

// The pseudo-module of receiving and sending: in FOLIO that is the gateway's work.
Meter *meter_edge(void);
// Adds the shares of the modules whose bits are set, and empties both.
void figures_add(MeterShare shares[METERS_MAX], uint64_t touched[METERS_MAX / 64], int64_t now_ns);
