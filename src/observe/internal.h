// What the files of src/observe share.
#pragma once

#include "base/trace.h"
#include "observe/observe.h"

void routes_add(const Observed *request);
// Keeps it if it was slow or failed.
void slow_requests_add(const Observed *request, const MeterWork *work);

// ---------------------------------------------------------------------------------------------
// span_pool.c: requests wait here for the exporter, in bounded memory

// A request as it waits: this, its statements, its visits, its texts one behind the other.
typedef struct {
    uint32_t size; // of all, a multiple of 8
    uint16_t status, statement_count, visit_count;
    uint16_t path_len, tenant_len, request_id_len, state_len;
    bool has_parent;
    unsigned char trace_id[16], span_id[8], parent_id[8];
    float phase_ms[PHASES];
    const char *module, *method, *route;
    Time at;
    int64_t begun_ns, ended_ns;
    uint64_t bytes_out;
} SpanRecord;

typedef struct SpanChunk {
    struct SpanChunk *next;
    size_t len, size;
    size_t count; // of records
    char bytes[];
} SpanChunk;

void span_pool_start(size_t max_bytes);
void span_pool_stop(void);
// With details its modules and statements are spans, too. False: there was no room, nothing was
// kept.
bool span_pool_add(const Observed *request, const MeterWork *work, const TraceContext *trace,
                   bool has_details);
// Waits until a chunk is full, the time has passed or span_pool_wake was called; NULL: nothing
// there. The caller gives it back.
SpanChunk *span_pool_take(int64_t wait_ms);
void span_pool_give(SpanChunk *chunk);
void span_pool_wake(void);
// What waits goes, but for the chunk that is being filled; how many records those were.
uint64_t span_pool_drop(void);

static inline const MeterStatement *record_statements(const SpanRecord *record)
{
    return (const MeterStatement *)(record + 1);
}

static inline const MeterVisit *record_visits(const SpanRecord *record)
{
    return (const MeterVisit *)(record_statements(record) + record->statement_count);
}

static inline const char *record_texts(const SpanRecord *record)
{
    return (const char *)(record_visits(record) + record->visit_count);
}

// ---------------------------------------------------------------------------------------------
// otlp_encode.c: bodies for a collector

typedef struct {
    Str service, version, instance, host;
    int64_t pid;
} OtlpResource;

// Memory for bodies, in the current arena.
Buf otlp_body(void);
// An ExportTraceServiceRequest of the records of a chunk from *at on, about max_bytes long, in the
// body's memory; *at is where the next one begins. How many spans there are in it.
size_t otlp_traces(const OtlpResource *resource, const SpanChunk *chunk, size_t *at,
                   size_t max_bytes, Buf *body);
// Spans that a collector says it did not take (partial success); 0: it took all.
uint64_t otlp_rejected(Str answer);
// An ExportMetricsServiceRequest of the figures of this moment.
Str otlp_metrics(const OtlpResource *resource, Time started_at);

// ---------------------------------------------------------------------------------------------
// exporter.c

WARN_UNUSED Err *exporter_start(const ObserveOptions *options);
void exporter_stop(void);
bool exporter_is_on(void);
void exporter_drop(void); // what waits
void exporter_add(const Observed *request, const MeterWork *work, const TraceContext *trace);
