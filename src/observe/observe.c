// A request that is over goes to everybody who keeps something of it.
#include "observe/internal.h"

static int sample_percent;

Err *observe_start(const ObserveOptions *options)
{
    sample_percent = options->sample_percent;
    return options->endpoint.len ? exporter_start(options) : NULL;
}

void observe_stop(void)
{
    exporter_stop();
}

void observe_give_back(void)
{
    if (exporter_is_on()) {
        exporter_drop();
    }
}

void observe_begin(const Req *req)
{
    if (exporter_is_on()) {
        trace_begin(req_header(req, "traceparent"), req_header(req, "tracestate"), sample_percent);
    }
}

void observe_request(const Observed *request, const MeterWork *work)
{
    const TraceContext *trace = trace_current();

    routes_add(request);
    slow_requests_add(request, work);
    // What failed is always worth a look.
    if (trace && (trace->is_sampled || request->status >= 500)) {
        exporter_add(request, work, trace);
    }
    trace_end();
}
