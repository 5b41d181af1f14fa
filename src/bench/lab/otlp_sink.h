// A collector for the lab: takes spans and metrics by OTLP over HTTP on a free port of this
// machine, counts them and throws them away.
#pragma once

#include "base/err.h"

typedef struct OtlpSink OtlpSink;

typedef struct {
    uint64_t calls, bytes;
    uint64_t spans;
    uint64_t broken; // bodies that were no OTLP
} OtlpSinkFigures;

WARN_UNUSED Err *otlp_sink_start(OtlpSink **out);
// "http://127.0.0.1:PORT", for observability.otlp_endpoint.
Str otlp_sink_url(const OtlpSink *sink);
OtlpSinkFigures otlp_sink_figures(const OtlpSink *sink);
void otlp_sink_stop(OtlpSink *sink);
