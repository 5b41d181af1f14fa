// Requests and figures as OTLP's protocol buffers. Source: spec/interop.md 7.2.
#include "observe/internal.h"
#include "observe/protobuf.h"

#include "base/arena.h"

#include <stdlib.h>
#include <unistd.h>

enum {
    BODY_MAX = 2000 * 1000, // as far as the length of a message goes
    SPAN_INTERNAL = 1,
    SPAN_SERVER = 2,
    SPAN_CLIENT = 3,
    STATUS_ERROR = 2,
    SUM_CUMULATIVE = 2,
    METERS_SHOWN = 128,
    SHAPE_SHOWN = 300, // bytes of a statement
    REQUEST_ROOM = 2048,
    CHILD_ROOM = 256,
    POINT_ROOM = 1024,
    HEAD_ROOM = 4096,
};

#define SCOPE "octavo"

// ---------------------------------------------------------------------------------------------
// Attributes

typedef struct {
    const char *name;
    size_t len;
} Key;

#define KEY(name) ((Key){"" name, sizeof(name) - 1})

// Key and head of the value; what follows is `len` bytes long.
static void attribute_begin(Pb *to, int field, Key key, size_t len)
{
    pb_key(to, field, WIRE_BYTES);
    pb_varint(to, 1 + pb_varint_len(key.len) + key.len + 1 + pb_varint_len(len) + len);
    pb_bytes(to, 1, (Str){key.name, key.len});
    pb_key(to, 2, WIRE_BYTES);
    pb_varint(to, len);
}

static void attribute(Pb *to, int field, Key key, Str value)
{
    attribute_begin(to, field, key, 1 + pb_varint_len(value.len) + value.len);
    pb_bytes(to, 1, value);
}

static void attribute_int(Pb *to, int field, Key key, uint64_t value)
{
    attribute_begin(to, field, key, 1 + pb_varint_len(value));
    pb_uint(to, 3, value);
}

static void attribute_double(Pb *to, int field, Key key, double value)
{
    attribute_begin(to, field, key, 1 + 8);
    pb_double(to, 4, value);
}

static void resource_write(Pb *to, const OtlpResource *resource)
{
    size_t message = pb_begin(to, 1);

    attribute(to, 1, KEY("service.name"), resource->service);
    attribute(to, 1, KEY("service.version"), resource->version);
    attribute(to, 1, KEY("service.instance.id"), resource->instance);
    attribute(to, 1, KEY("host.name"), resource->host);
    attribute_int(to, 1, KEY("process.pid"), (uint64_t)resource->pid);
    pb_end(to, message);
}

static void scope_write(Pb *to, const OtlpResource *resource)
{
    size_t message = pb_begin(to, 1);

    pb_bytes(to, 1, S(SCOPE));
    pb_bytes(to, 2, resource->version);
    pb_end(to, message);
}

// ---------------------------------------------------------------------------------------------
// Spans

typedef struct {
    Pb *to;
    const SpanRecord *record;
    int64_t epoch_ns; // from the monotonic clock to the time since 1970
    unsigned char visit_ids[VISITS_KEPT][8];
    size_t spans;
} Spans;

// What all spans have: ids, name, kind, times.
typedef struct {
    const unsigned char *id, *parent; // parent NULL: a root
    Str name;
    int kind;
    int64_t begun_ns, ended_ns;
} SpanHead;

static Str record_state(const SpanRecord *record)
{
    const char *texts = record_texts(record);
    return (Str){texts + record->path_len + record->tenant_len + record->request_id_len,
                 record->state_len};
}

static size_t span_begin(Spans *spans, const SpanHead *head)
{
    Pb *to = spans->to;
    size_t span = pb_begin(to, 2);
    Str state = record_state(spans->record);

    pb_bytes(to, 1, (Str){(const char *)spans->record->trace_id, 16});
    pb_bytes(to, 2, (Str){(const char *)head->id, 8});
    if (state.len > 0) {
        pb_bytes(to, 3, state);
    }
    if (head->parent) {
        pb_bytes(to, 4, (Str){(const char *)head->parent, 8});
    }
    pb_bytes(to, 5, head->name);
    pb_uint(to, 6, (uint64_t)head->kind);
    pb_fixed64(to, 7, (uint64_t)(head->begun_ns + spans->epoch_ns));
    pb_fixed64(to, 8, (uint64_t)(head->ended_ns + spans->epoch_ns));
    spans->spans++;
    return span;
}

// "GET /users"; the text lives until the next call.
static Str span_name(const SpanRecord *record, char to[256])
{
    size_t method = strlen(record->method), route = strlen(record->route);

    route = route < 255 - method ? route : 254 - method;
    memcpy(to, record->method, method);
    to[method] = ' ';
    memcpy(to + method + 1, record->route, route);
    return (Str){to, method + 1 + route};
}

static void request_attributes(Pb *to, const SpanRecord *record)
{
    static const Key phases[PHASES] = {{"octavo.queue_ms", 15},
                                       {"octavo.auth_ms", 14},
                                       {"octavo.store_ms", 15},
                                       {"octavo.commit_ms", 16}};
    const char *texts = record_texts(record);
    Str path = {texts, record->path_len}, tenant = {texts + path.len, record->tenant_len};

    attribute(to, 9, KEY("http.request.method"), str_of(record->method));
    attribute(to, 9, KEY("http.route"), str_of(record->route));
    attribute(to, 9, KEY("url.path"), path);
    attribute_int(to, 9, KEY("http.response.status_code"), record->status);
    attribute_int(to, 9, KEY("http.response.body.size"), record->bytes_out);
    attribute(to, 9, KEY("folio.module"), str_of(record->module));
    attribute(to, 9, KEY("folio.tenant"), tenant);
    attribute(to, 9, KEY("folio.request_id"),
              (Str){tenant.at + tenant.len, record->request_id_len});
    for (int i = 0; i < PHASES; i++) {
        if (record->phase_ms[i] > 0) {
            attribute_double(to, 9, phases[i], (double)record->phase_ms[i]);
        }
    }
}

static void request_span(Spans *spans)
{
    const SpanRecord *record = spans->record;
    char name[256];
    SpanHead head = {record->span_id,         record->has_parent ? record->parent_id : NULL,
                     span_name(record, name), SPAN_SERVER,
                     record->begun_ns,        record->ended_ns};

    size_t span = span_begin(spans, &head);
    request_attributes(spans->to, record);
    if (record->status >= 500) {
        size_t status = pb_begin(spans->to, 15);
        pb_uint(spans->to, 3, STATUS_ERROR);
        pb_end(spans->to, status);
    }
    pb_end(spans->to, span);
}

static const unsigned char *visit_id(const Spans *spans, int visit)
{
    // The first visit is the gateway's: its span is the request's.
    return visit > 0 ? spans->visit_ids[visit] : spans->record->span_id;
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
        pb_end(spans->to, span_begin(spans, &head));
    }
}

static void statement_spans(Spans *spans)
{
    const MeterStatement *statements = record_statements(spans->record);

    for (size_t i = 0; i < spans->record->statement_count; i++) {
        const MeterStatement *statement = &statements[i];
        unsigned char id[8];
        trace_span_id(id);
        Str shape = str_sub(str_of(statement->shape), 0, SHAPE_SHOWN);
        ptrdiff_t blank = str_find_char(shape, ' ', 0);
        SpanHead head = {id,
                         visit_id(spans, statement->visit),
                         str_sub(shape, 0, blank > 0 ? (size_t)blank : shape.len),
                         SPAN_CLIENT,
                         statement->begun_ns,
                         statement->begun_ns + statement->ns};
        size_t span = span_begin(spans, &head);
        attribute(spans->to, 9, KEY("db.query.text"), shape);
        pb_end(spans->to, span);
    }
}

static bool record_spans(Spans *spans)
{
    const SpanRecord *record = spans->record;
    size_t room = REQUEST_ROOM + record->path_len + record->tenant_len + record->request_id_len +
                  record->visit_count * (size_t)CHILD_ROOM +
                  record->statement_count * (size_t)(CHILD_ROOM + SHAPE_SHOWN);

    if (!pb_room(spans->to, room)) {
        return false;
    }
    // Milliseconds of the wall clock, nanoseconds of the other: one offset for the whole request.
    spans->epoch_ns = record->at * 1000000 - record->begun_ns;
    request_span(spans);
    visit_spans(spans);
    statement_spans(spans);
    return true;
}

Buf otlp_body(void)
{
    return buf_new(arena_current(), BODY_MAX);
}

size_t otlp_traces(const OtlpResource *resource, const SpanChunk *chunk, size_t *at,
                   size_t max_bytes, Buf *memory)
{
    Pb body = {.buf = *memory, .at = memory->at};
    Spans spans = {.to = &body};

    // Spans take about as much as their records did: memory is asked for once.
    (void)pb_room(&body, HEAD_ROOM + chunk->len - *at);
    size_t message = pb_begin(&body, 1);
    resource_write(&body, resource);
    size_t scope = pb_begin(&body, 2);
    scope_write(&body, resource);
    while (*at < chunk->len && pb_str(&body).len < max_bytes) {
        spans.record = (const SpanRecord *)(chunk->bytes + *at);
        *at += spans.record->size;
        if (!record_spans(&spans)) {
            break;
        }
    }
    pb_end(&body, scope);
    pb_end(&body, message);
    (void)pb_str(&body);
    *memory = body.buf;
    return spans.spans;
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
    Pb *to;
    uint64_t start_ns, now_ns;
} Metrics;

typedef enum { GAUGE = 5, SUM = 7, HISTOGRAM = 9 } MetricKind;

// Room for a point, and its head; false: the body is full.
static bool point_begin(Metrics *metrics, size_t *point)
{
    if (!pb_room(metrics->to, POINT_ROOM)) {
        return false;
    }
    *point = pb_begin(metrics->to, 1);
    pb_fixed64(metrics->to, 2, metrics->start_ns);
    pb_fixed64(metrics->to, 3, metrics->now_ns);
    return true;
}

// A metric with one point, or one per module.
static void metric_write(Metrics *metrics, const char *name, const char *unit, MetricKind kind,
                         const double *values, const MeterReading *modules, size_t n)
{
    Pb *to = metrics->to;
    size_t point = 0;

    if (!pb_room(to, POINT_ROOM)) {
        return;
    }
    size_t metric = pb_begin(to, 2);
    pb_bytes(to, 1, str_of(name));
    pb_bytes(to, 3, str_of(unit));
    size_t data = pb_begin(to, kind);
    if (kind == SUM) {
        pb_uint(to, 2, SUM_CUMULATIVE);
        pb_uint(to, 3, 1); // only grows
    }
    for (size_t i = 0; i < n && point_begin(metrics, &point); i++) {
        pb_double(to, 4, values[i]);
        if (modules) {
            attribute(to, 7, KEY("folio.module"), str_of(modules[i].module));
        }
        pb_end(to, point);
    }
    pb_end(to, data);
    pb_end(to, metric);
}

static double cpu_of(const MeterReading *reading)
{
    return (double)reading->cpu_ns / 1e9;
}

static double requests_of(const MeterReading *reading)
{
    return (double)reading->requests;
}

static double errors_of(const MeterReading *reading)
{
    return (double)reading->errors;
}

static double memory_of(const MeterReading *reading)
{
    return (double)reading->memory_bytes;
}

static void modules_write(Metrics *metrics)
{
    static const struct {
        const char *name, *unit;
        MetricKind kind;
        double (*value)(const MeterReading *reading);
    } shown[] = {
        {"octavo.module.cpu", "s", SUM, cpu_of},
        {"octavo.module.requests", "{request}", SUM, requests_of},
        {"octavo.module.errors", "{request}", SUM, errors_of},
        {"octavo.module.memory", "By", GAUGE, memory_of},
    };
    MeterReading *readings = NEW_ARRAY(MeterReading, METERS_SHOWN), total;
    double *values = NEW_ARRAY(double, METERS_SHOWN);
    size_t n = meter_read(0, readings, METERS_SHOWN, &total);

    for (size_t k = 0; k < sizeof shown / sizeof *shown; k++) {
        for (size_t i = 0; i < n; i++) {
            values[i] = shown[k].value(&readings[i]);
        }
        metric_write(metrics, shown[k].name, shown[k].unit, shown[k].kind, values, readings, n);
    }
}

static void times_point(Pb *to, const RouteTimes *times)
{
    char status_class[4] = {(char)('0' + times->status_class), 'x', 'x', 0};

    pb_fixed64(to, 4, times->count);
    pb_double(to, 5, (double)times->sum_us / 1e6);
    pb_key(to, 6, WIRE_BYTES);
    pb_varint(to, sizeof times->buckets);
    pb_raw(to, times->buckets, sizeof times->buckets);
    pb_key(to, 7, WIRE_BYTES);
    pb_varint(to, ROUTE_BOUNDS * sizeof(double));
    for (size_t k = 0; k < ROUTE_BOUNDS; k++) {
        double bound = (double)route_bounds_us[k] / 1e6;
        pb_raw(to, &bound, sizeof bound);
    }
    attribute(to, 9, KEY("folio.module"), str_of(times->module));
    attribute(to, 9, KEY("http.request.method"), str_of(times->method));
    attribute(to, 9, KEY("http.route"), str_of(times->route));
    attribute(to, 9, KEY("http.response.status_class"), str_of(status_class));
}

static void routes_write(Metrics *metrics)
{
    RouteTimes *times = NULL;
    size_t n = route_times_read(&times), point = 0;

    if (!pb_room(metrics->to, POINT_ROOM)) {
        return;
    }
    size_t metric = pb_begin(metrics->to, 2);
    pb_bytes(metrics->to, 1, S("http.server.request.duration"));
    pb_bytes(metrics->to, 3, S("s"));
    size_t data = pb_begin(metrics->to, HISTOGRAM);
    pb_uint(metrics->to, 2, SUM_CUMULATIVE);
    for (size_t i = 0; i < n && point_begin(metrics, &point); i++) {
        times_point(metrics->to, &times[i]);
        pb_end(metrics->to, point);
    }
    pb_end(metrics->to, data);
    pb_end(metrics->to, metric);
}

Str otlp_metrics(const OtlpResource *resource, Time started_at)
{
    Pb body = {.buf = otlp_body()};
    Metrics metrics = {&body, (uint64_t)started_at * 1000000, (uint64_t)time_now() * 1000000};
    ProcessFacts facts = process_facts();
    double memory = (double)facts.rss_bytes;

    (void)pb_room(&body, HEAD_ROOM);
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
    return pb_str(&body);
}
