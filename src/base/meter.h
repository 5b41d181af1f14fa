// Accounting per FOLIO module: who spends CPU, wall time and memory inside one request.
//
// A thread keeps a small stack of modules. Self time = total minus callees. Source:
// spec/engineering.md 9.9.
#pragma once

#include "base/hist.h"

typedef struct Meter Meter;

// One per module name; lives as long as the process.
Meter *meter_of(const char *module);
void meter_enter(Meter *meter);
void meter_leave(void);
void meter_count(Meter *meter, bool failed, uint64_t bytes_in, uint64_t bytes_out);
// Off: enter and leave read no clock.
void meter_switch(bool on);

typedef struct {
    const char *module;
    uint64_t requests, errors, in_flight, bytes_in, bytes_out;
    int64_t cpu_ns, wall_ns;
    size_t memory_bytes; // high-water of arena bytes charged to it
} MeterReading;

// Copies at most n readings, returns how many there are.
size_t meter_read(MeterReading *readings, size_t n);

// METER(mod_inventory_storage); as the first line of a function that other modules call.
void meter_leave_scope(int *unused);
#define METER(name)                                                                                \
    static Meter *meter_here_;                                                                     \
    if (!meter_here_) {                                                                            \
        meter_here_ = meter_of(name);                                                              \
    }                                                                                              \
    meter_enter(meter_here_);                                                                      \
    __attribute__((cleanup(meter_leave_scope), unused)) int meter_scope_ = 0
