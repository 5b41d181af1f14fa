// W3C trace context: which trace the thread's work belongs to, here and in other systems.
//
// Source: spec/interop.md 7.3.
#pragma once

#include "base/str.h"

typedef struct {
    unsigned char trace_id[16], span_id[8];
    unsigned char parent_id[8]; // the caller's span
    bool has_parent, is_sampled;
    Str state; // the caller's tracestate, what other systems noted; lives as long as its request
} TraceContext;

enum {
    TRACEPARENT_LEN = 55,
    TRACESTATE_MAX = 512, // longer ones need not be passed on
};

// False for what is no traceparent.
bool traceparent_read(Str text, TraceContext *out);
void traceparent_write(const TraceContext *context, char to[TRACEPARENT_LEN + 1]);

// The request's place in its caller's trace, or a new trace. `percent` of those without caller are
// sampled; a caller decides for its own. A tracestate belongs to its traceparent.
void trace_begin(Str traceparent, Str tracestate, int percent);
// The context of this thread's request, NULL: none.
const TraceContext *trace_current(void);
void trace_end(void);
// Another span of the same trace.
void trace_span_id(unsigned char to[8]);
