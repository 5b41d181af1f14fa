// Spans on their way to the exporter: chunks of memory that requests append to and the exporter
// takes away whole. When the memory is full, requests go on and their spans are dropped.
#include "observe/internal.h"

#include "base/die.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    CHUNK_BYTES = 256 * 1024,
    TEXT_MAX = 512, // of each text
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // guards everything below
static pthread_cond_t filled;
static SpanChunk *first, *last; // full ones, and the one that is being filled
static SpanChunk *spare;
static size_t used_bytes, limit_bytes;
static bool is_woken;

void span_pool_start(size_t max_bytes)
{
    pthread_condattr_t monotonic;

    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&filled, &monotonic);
    pthread_condattr_destroy(&monotonic);
    limit_bytes = max_bytes;
}

void span_pool_stop(void)
{
    pthread_mutex_lock(&lock);
    for (SpanChunk *chunk = first, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    free(spare);
    first = last = spare = NULL;
    used_bytes = limit_bytes = 0;
    pthread_mutex_unlock(&lock);
    pthread_cond_destroy(&filled);
}

// With the lock held; NULL: the memory is full.
static SpanChunk *chunk_new(size_t size)
{
    SpanChunk *chunk = spare;

    if (used_bytes + size > limit_bytes) {
        return NULL;
    }
    if (chunk && size == CHUNK_BYTES) {
        spare = NULL;
    } else {
        chunk = malloc(sizeof *chunk + size);
        if (!chunk) {
            die("out of memory");
        }
    }
    *chunk = (SpanChunk){.size = size};
    used_bytes += size;
    return chunk;
}

// With the lock held: room for a record, NULL: there is none.
static char *room_take(size_t size)
{
    if (!last || last->size - last->len < size) {
        SpanChunk *chunk = chunk_new(size > CHUNK_BYTES ? size : CHUNK_BYTES);
        if (!chunk) {
            return NULL;
        }
        *(last ? &last->next : &first) = chunk;
        last = chunk;
        if (first != last) {
            pthread_cond_signal(&filled);
        }
    }
    char *at = last->bytes + last->len;
    last->len += size;
    last->count++;
    return at;
}

static char *put(char *to, const void *from, size_t len)
{
    if (len) {
        memcpy(to, from, len);
    }
    return to + len;
}

static uint16_t text_len(Str text)
{
    return (uint16_t)(text.len < TEXT_MAX ? text.len : TEXT_MAX);
}

static size_t at_most(size_t n, size_t max)
{
    return n < max ? n : max;
}

bool span_pool_add(const Observed *request, const MeterWork *work, const TraceContext *trace,
                   bool has_details)
{
    size_t statements = has_details ? at_most(work->statement_count, STATEMENTS_KEPT) : 0;
    size_t visits = has_details ? at_most(work->visit_count, VISITS_KEPT) : 0;
    SpanRecord record = {
        .status = (uint16_t)request->status,
        .statement_count = (uint16_t)statements,
        .visit_count = (uint16_t)visits,
        .path_len = text_len(request->path),
        .tenant_len = text_len(request->tenant),
        .request_id_len = text_len(request->request_id),
        .state_len = text_len(trace->state),
        .has_parent = trace->has_parent,
        .module = request->module,
        .method = request->method,
        .route = request->route,
        .at = request->at,
        .begun_ns = request->begun_ns,
        .ended_ns = request->ended_ns,
        .bytes_out = request->bytes_out,
    };
    memcpy(record.trace_id, trace->trace_id, sizeof record.trace_id);
    memcpy(record.span_id, trace->span_id, sizeof record.span_id);
    memcpy(record.parent_id, trace->parent_id, sizeof record.parent_id);
    for (int i = 0; i < PHASES; i++) {
        record.phase_ms[i] = (float)work->phase_ns[i] / 1e6F;
    }
    size_t size = sizeof record + statements * sizeof *work->statements +
                  visits * sizeof *work->visits + record.path_len + record.tenant_len +
                  record.request_id_len + record.state_len;
    size = (size + 7) & ~(size_t)7;
    record.size = (uint32_t)size;

    pthread_mutex_lock(&lock);
    char *to = room_take(size);
    if (to) {
        to = put(to, &record, sizeof record);
        to = put(to, work->statements, statements * sizeof *work->statements);
        to = put(to, work->visits, visits * sizeof *work->visits);
        to = put(to, request->path.at, record.path_len);
        to = put(to, request->tenant.at, record.tenant_len);
        to = put(to, request->request_id.at, record.request_id_len);
        put(to, trace->state.at, record.state_len);
    }
    pthread_mutex_unlock(&lock);
    return to != NULL;
}

static void wait_until(int64_t until_ns)
{
    struct timespec at = {until_ns / 1000000000, until_ns % 1000000000};

    // Something complete, or the time is over.
    while (first == last && !is_woken && clock_ns() < until_ns) {
        pthread_cond_timedwait(&filled, &lock, &at);
    }
}

SpanChunk *span_pool_take(int64_t wait_ms)
{
    pthread_mutex_lock(&lock);
    wait_until(clock_ns() + wait_ms * 1000000);
    is_woken = false;
    SpanChunk *chunk = first;
    if (chunk) {
        first = chunk->next;
        last = first ? last : NULL;
        chunk->next = NULL;
    }
    pthread_mutex_unlock(&lock);
    return chunk;
}

void span_pool_give(SpanChunk *chunk)
{
    pthread_mutex_lock(&lock);
    used_bytes -= chunk->size;
    SpanChunk *gone = chunk;
    if (!spare && chunk->size == CHUNK_BYTES) {
        spare = chunk;
        gone = NULL;
    }
    pthread_mutex_unlock(&lock);
    free(gone);
}

uint64_t span_pool_drop(void)
{
    uint64_t dropped = 0;

    pthread_mutex_lock(&lock);
    while (first != last) {
        SpanChunk *gone = first;
        first = gone->next;
        dropped += gone->count;
        used_bytes -= gone->size;
        free(gone);
    }
    free(spare);
    spare = NULL;
    pthread_mutex_unlock(&lock);
    return dropped;
}

void span_pool_wake(void)
{
    pthread_mutex_lock(&lock);
    is_woken = true;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
}
