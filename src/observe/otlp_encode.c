// Requests and figures as OTLP's protocol buffers. Source: spec/interop.md 7.2.
#include "observe/internal.h"
#include "observe/protobuf.h"

#include "base/arena.h"

#include <stdlib.h>
#include <unistd.h>

enum {
    BODY_MAX = 64 << 20,
    SPAN_INTERNAL = 1,
    SPAN_SERVER = 2,
    SPAN_CLIENT = 3,
    STATUS_ERROR = 2,
    SUM_CUMULATIVE = 2,
    METERS_SHOWN = 128,
    FLAGS_SAMPLED = 1,
};

#define SCOPE "octavo"

// ---------------------------------------------------------------------------------------------
// Attributes

static void attribute(Buf *to, int field, const char *key, Str value)
{
    size_t pair = pb_begin(to, field);
    pb_bytes(to, 1, str_of(key));
    size_t any = pb_begin(to, 2);
    pb_bytes(to, 1, value);
    pb_end(to, any);
    pb_end(to, pair);
}

static void attribute_int(Buf *to, int field, const char *key, int64_t value)
{
    size_t pair = pb_begin(to, field);
    pb_bytes(to, 1, str_of(key));
    size_t any = pb_begin(to, 2);
    pb_uint(to, 3, (uint64_t)value);
    pb_end(to, any);
    pb_end(to, pair);
}

static void attribute_double(Buf *to, int field, const char *key, double value)
{
    size_t pair = pb_begin(to, field);
    pb_bytes(to, 1, str_of(key));
    size_t any = pb_begin(to, 2);
    pb_double(to, 4, value);
    pb_end(to, any);
    pb_end(to, pair);
}

static void resource_write(Buf *to, const OtlpResource *resource)
{
    size_t message = pb_begin(to, 1);

    attribute(to, 1, "service.name", resource->service);
    attribute(to, 1, "service.version", resource->version);
    attribute(to, 1, "service.instance.id", resource->instance);
    attribute(to, 1, "host.name", resource->host);
    attribute_int(to, 1, "process.pid", resource->pid);
    pb_end(to, message);
}

static void scope_write(Buf *to, const OtlpResource *resource)
{
    size_t message = pb_begin(to, 1);

    pb_bytes(to, 1, S(SCOPE));
    pb_bytes(to, 2, resource->version);
    pb_end(to, message);
}

// ---------------------------------------------------------------------------------------------
// Spans

typedef struct {
    Buf *to;
    const SpanRecord *record;
    int64_t epoch_ns; // from the monotonic clock to the time since 1970
    unsigned char visit_ids[VISITS_KEPT][8];
    size_t spans;
} Spans;

static uint64_t unix_ns(const Spans *spans, int64_t monotonic_ns)
{
    return (uint64_t)(monotonic_ns + spans->epoch_ns);
}

// What all spans have: ids, name, kind, times.
typedef struct {
    const unsigned char *id, *parent; // parent NULL: a root
    Str name;
    int kind;
    int64_t begun_ns, ended_ns;
} SpanHead;

static size_t span_begin(Spans *spans, const SpanHead *head)
{
    Buf *to = spans->to;
    size_t span = pb_begin(to, 2);

    pb_bytes(to, 1, (Str){(const char *)spans->record->trace.trace_id, 16});
    pb_bytes(to, 2, (Str){(const char *)head->id, 8});
    if (head->parent) {
        pb_bytes(to, 4, (Str){(const char *)head->parent, 8});
    }
    pb_bytes(to, 5, head->name);
    pb_uint(to, 6, (uint64_t)head->kind);
    pb_fixed64(to, 7, unix_ns(spans, head->begun_ns));
    pb_fixed64(to, 8, unix_ns(spans, head->ended_ns));
    spans->spans++;
    return span;
}

static void request_span(Spans *spans)
{
    static const char *const phases[PHASES] = {"octavo.queue_ms", "octavo.auth_ms",
                                               "octavo.store_ms", "octavo.commit_ms"};
    const SpanRecord *record = spans->record;
    const TraceContext *trace = &record->trace;
    const char *texts = record_texts(record);
    Buf *to = spans->to;
    SpanHead head = {trace->span_id,
                     trace->has_parent ? trace->parent_id : NULL,
                     str_fmt("%s %s", record->method, record->route),
                     SPAN_SERVER,
                     record->begun_ns,
                     record->ended_ns};

    size_t span = span_begin(spans, &head);
    attribute(to, 9, "http.request.method", str_of(record->method));
    attribute(to, 9, "http.route", str_of(record->route));
    attribute(to, 9, "url.path", (Str){texts, record->path_len});
    attribute_int(to, 9, "http.response.status_code", record->status);
    attribute_int(to, 9, "http.response.body.size", (int64_t)record->bytes_out);
    attribute(to, 9, "folio.module", str_of(record->module));
    attribute(to, 9, "folio.tenant", (Str){texts + record->path_len, record->tenant_len});
    attribute(to, 9, "folio.request_id",
              (Str){texts + record->path_len + record->tenant_len, record->request_id_len});
    for (int i = 0; i < PHASES; i++) {
        if (record->phase_ns[i]) {
            attribute_double(to, 9, phases[i], (double)record->phase_ns[i] / 1e6);
        }
    }
    if (record->status >= 500) {
        size_t status = pb_begin(to, 15);
        pb_uint(to, 3, STATUS_ERROR);
        pb_end(to, status);
    }
    pb_end(to, span);
}

static const unsigned char *visit_id(const Spans *spans, int visit)
{
    // The first visit is the gateway's: its span is the request's.
    return visit > 0 ? spans->visit_ids[visit] : spans->record->trace.span_id;
}

static void visit_spans(Spans *spans)
{
    const MeterVisit *visits = record_visits(spans->record);

    for (int i = 1; i < spans->record->visit_count; i++) {
        trace_span_id(spans->visit_ids[i]);
        Str module = str_of(meter_module(visits[i].meter));
        SpanHead head = {spans->visit_ids[i],
                         visit_id(spans, visits[i].parent),
                         module,
                         SPAN_INTERNAL,
                         visits[i].begun_ns,
                         visits[i].ended_ns};
        size_t span = span_begin(spans, &head);
        attribute(spans->to, 9, "folio.module", module);
        pb_end(spans->to, span);
    }
}

static void statement_spans(Spans *spans)
{
    const MeterStatement *statements = record_statements(spans->record);

    for (size_t i = 0; i < spans->record->statement_count; i++) {
        const MeterStatement *statement = &statements[i];
        unsigned char id[8];
        trace_span_id(id);
        Str shape = str_of(statement->shape), rest = shape, verb = {0};
        (void)str_next(&rest, ' ', &verb);
        SpanHead head = {id,
                         visit_id(spans, statement->visit),
                         verb,
                         SPAN_CLIENT,
                         statement->begun_ns,
                         statement->begun_ns + statement->ns};
        size_t span = span_begin(spans, &head);
        attribute(spans->to, 9, "db.query.text", shape);
        pb_end(spans->to, span);
    }
}

static void record_spans(Spans *spans)
{
    // Milliseconds of the wall clock, nanoseconds of the other: one offset for the whole request.
    spans->epoch_ns = spans->record->at * 1000000 - spans->record->begun_ns;
    request_span(spans);
    visit_spans(spans);
    statement_spans(spans);
}

Str otlp_traces(const OtlpResource *resource, const SpanChunk *chunk, size_t *at, size_t max_bytes,
                size_t *count)
{
    Buf body = buf_new(arena_current(), BODY_MAX);
    Spans spans = {.to = &body};

    (void)buf_room(&body, max_bytes + max_bytes / 4);
    size_t message = pb_begin(&body, 1);
    resource_write(&body, resource);
    size_t scope = pb_begin(&body, 2);
    scope_write(&body, resource);
    while (*at < chunk->len && body.len < max_bytes) {
        spans.record = (const SpanRecord *)(chunk->bytes + *at);
        *at += spans.record->size;
        record_spans(&spans);
    }
    pb_end(&body, scope);
    pb_end(&body, message);
    *count = spans.spans;
    return buf_str(&body);
}

// ---------------------------------------------------------------------------------------------
// The collector's answer: {1: {1: rejected, 2: message}}

static bool varint_read(Str *from, uint64_t *out)
{
    *out = 0;
    for (int shift = 0; shift < 64 && from->len; shift += 7) {
        unsigned char byte = (unsigned char)from->at[0];
        *from = str_sub(*from, 1, from->len);
        *out |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            return true;
        }
    }
    return false;
}

uint64_t otlp_rejected(Str answer)
{
    uint64_t key = 0, len = 0, rejected = 0;

    if (!varint_read(&answer, &key) || key != (1 << 3 | WIRE_BYTES) ||
        !varint_read(&answer, &len) || !varint_read(&answer, &key) ||
        key != (1 << 3 | WIRE_VARINT) || !varint_read(&answer, &rejected)) {
        return 0;
    }
    return rejected;
}

// ---------------------------------------------------------------------------------------------
// Metrics

typedef struct {
    Buf *to;
    uint64_t start_ns, now_ns;
} Metrics;

typedef enum { GAUGE = 5, SUM = 7 } MetricKind;

// A metric with one point, or one per module.
static void metric_write(Metrics *metrics, const char *name, const char *unit, MetricKind kind,
                         const double *values, const MeterReading *modules, size_t n)
{
    Buf *to = metrics->to;
    size_t metric = pb_begin(to, 2);

    pb_bytes(to, 1, str_of(name));
    pb_bytes(to, 3, str_of(unit));
    size_t data = pb_begin(to, kind);
    for (size_t i = 0; i < n; i++) {
        size_t point = pb_begin(to, 1);
        pb_fixed64(to, 2, metrics->start_ns);
        pb_fixed64(to, 3, metrics->now_ns);
        pb_double(to, 4, values[i]);
        if (modules) {
            attribute(to, 7, "folio.module", str_of(modules[i].module));
        }
        pb_end(to, point);
    }
    if (kind == SUM) {
        pb_uint(to, 2, SUM_CUMULATIVE);
        pb_uint(to, 3, 1); // only grows
    }
    pb_end(to, data);
    pb_end(to, metric);
}

static void modules_write(Metrics *metrics)
{
    MeterReading *readings = NEW_ARRAY(MeterReading, METERS_SHOWN), total;
    double *values = NEW_ARRAY(double, METERS_SHOWN);
    size_t n = meter_read(0, readings, METERS_SHOWN, &total);

    for (size_t i = 0; i < n; i++) {
        values[i] = (double)readings[i].cpu_ns / 1e9;
    }
    metric_write(metrics, "octavo.module.cpu", "s", SUM, values, readings, n);
    for (size_t i = 0; i < n; i++) {
        values[i] = (double)readings[i].requests;
    }
    metric_write(metrics, "octavo.module.requests", "{request}", SUM, values, readings, n);
    for (size_t i = 0; i < n; i++) {
        values[i] = (double)readings[i].errors;
    }
    metric_write(metrics, "octavo.module.errors", "{request}", SUM, values, readings, n);
    for (size_t i = 0; i < n; i++) {
        values[i] = (double)readings[i].memory_bytes;
    }
    metric_write(metrics, "octavo.module.memory", "By", GAUGE, values, readings, n);
}

static void times_points(Metrics *metrics, const RouteTimes *times, size_t n)
{
    Buf *to = metrics->to;

    for (size_t i = 0; i < n; i++) {
        size_t point = pb_begin(to, 1);
        pb_fixed64(to, 2, metrics->start_ns);
        pb_fixed64(to, 3, metrics->now_ns);
        pb_fixed64(to, 4, times[i].count);
        pb_double(to, 5, (double)times[i].sum_us / 1e6);
        size_t buckets = pb_begin(to, 6);
        for (size_t k = 0; k <= ROUTE_BOUNDS; k++) {
            buf_add(to, (Str){(const char *)&times[i].buckets[k], 8});
        }
        pb_end(to, buckets);
        size_t bounds = pb_begin(to, 7);
        for (size_t k = 0; k < ROUTE_BOUNDS; k++) {
            double bound = (double)route_bounds_us[k] / 1e6;
            buf_add(to, (Str){(const char *)&bound, 8});
        }
        pb_end(to, bounds);
        attribute(to, 9, "folio.module", str_of(times[i].module));
        attribute(to, 9, "http.request.method", str_of(times[i].method));
        attribute(to, 9, "http.route", str_of(times[i].route));
        attribute(to, 9, "http.response.status_class", str_fmt("%dxx", times[i].status_class));
        pb_end(to, point);
    }
}

static void routes_write(Metrics *metrics)
{
    RouteTimes *times = NULL;
    size_t n = route_times_read(&times);
    size_t metric = pb_begin(metrics->to, 2);

    pb_bytes(metrics->to, 1, S("http.server.request.duration"));
    pb_bytes(metrics->to, 3, S("s"));
    size_t data = pb_begin(metrics->to, 9);
    times_points(metrics, times, n);
    pb_uint(metrics->to, 2, SUM_CUMULATIVE);
    pb_end(metrics->to, data);
    pb_end(metrics->to, metric);
}

Str otlp_metrics(const OtlpResource *resource, Time started_at)
{
    Buf body = buf_new(arena_current(), BODY_MAX);
    Metrics metrics = {&body, (uint64_t)started_at * 1000000, (uint64_t)time_now() * 1000000};
    ProcessFacts facts = process_facts();
    double memory = (double)facts.rss_bytes;

    size_t message = pb_begin(&body, 1);
    resource_write(&body, resource);
    size_t scope = pb_begin(&body, 2);
    scope_write(&body, resource);
    metric_write(&metrics, "process.cpu.time", "s", SUM, &facts.cpu_s, NULL, 1);
    metric_write(&metrics, "process.memory.usage", "By", GAUGE, &memory, NULL, 1);
    modules_write(&metrics);
    routes_write(&metrics);
    pb_end(&body, scope);
    pb_end(&body, message);
    return buf_str(&body);
}
