// The exporter: one thread that sends spans and metrics to a collector by OTLP over HTTP.
//
// Requests never wait for it. What it cannot send in time is dropped and counted: because the
// memory for spans is full, or because the collector refuses it for good.
#include "observe/internal.h"

#include "base/arena.h"
#include "base/die.h"
#include "base/log.h"
#include "http/client.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    BODY_BYTES = 768 * 1024, // collectors take at least a mebibyte
    SPANS_EVERY_MS = 2000,
    METRICS_EVERY_MS = 60 * 1000,
    CALL_TIMEOUT_MS = 10 * 1000,
    ATTEMPTS_MAX = 8,
    BACKOFF_FIRST_MS = 500,
    BACKOFF_MAX_MS = 30 * 1000,
    STOP_TIMEOUT_MS = 2000,
    EXPORTER_ARENA_MAX = 256 << 20,
    STOP_LOOK_MS = 50,
};

typedef struct {
    ObserveOptions options; // texts in `arena`
    OtlpResource resource;
    Str traces_url, metrics_url;
    NameValues headers;
    bool packs;
    Arena *arena; // as long as it runs
    Buf body;     // of a call with spans: the same memory again and again
    pthread_t thread;
    _Atomic bool is_stopping, is_abandoned;
    bool is_running, is_down;
    int64_t metrics_at_ns;
    Meter *meter;
} Exporter;

static Exporter exporter;
static struct {
    _Atomic uint64_t sent, dropped, rejected, failures, bytes;
    _Atomic bool is_down;
} figures;

OtlpFigures otlp_figures(void)
{
    return (OtlpFigures){.is_on = exporter.is_running,
                         .buffer_bytes = exporter.options.buffer_bytes,
                         .is_down = figures.is_down,
                         .sent = figures.sent,
                         .dropped = figures.dropped,
                         .rejected = figures.rejected,
                         .failures = figures.failures,
                         .bytes = figures.bytes};
}

// ---------------------------------------------------------------------------------------------
// One call

typedef enum { SENT, REFUSED, AGAIN } Outcome;

static void note_state(bool is_down, const char *why)
{
    if (is_down != figures.is_down) {
        log_line(is_down ? LOG_WARN : LOG_INFO, "observe", "the collector %s",
                 is_down ? why : "takes spans again");
    }
    figures.is_down = is_down;
}

static bool is_temporary(int status)
{
    return status == 429 || status == 502 || status == 503 || status == 504;
}

// *wait_ms: how long the collector asks to be left alone, 0: it does not say.
static Outcome call_once(Str url, Str body, Str *answer_body, int64_t *wait_ms)
{
    HttpCall call = {.method = POST,
                     .url = url,
                     .headers = exporter.headers,
                     .body = body,
                     .packs = exporter.packs,
                     .timeout_ms = exporter.is_stopping ? STOP_TIMEOUT_MS : CALL_TIMEOUT_MS,
                     .gives_up = &exporter.is_abandoned,
                     .answer_max = 1 << 20};
    HttpAnswer answer = {0};
    int64_t seconds = 0;

    Err *err = http_call(&call, &answer);
    if (err) {
        note_state(true, "does not answer");
        return AGAIN;
    }
    figures.bytes += body.len;
    if (answer.status / 100 == 2) {
        note_state(false, "");
        *answer_body = answer.body;
        return SENT;
    }
    note_state(true, str_z(str_fmt("answers %d", answer.status)));
    if (str_int64(http_answer_header(&answer, "retry-after"), &seconds) && seconds > 0) {
        *wait_ms = seconds * 1000 < BACKOFF_MAX_MS ? seconds * 1000 : BACKOFF_MAX_MS;
    }
    return is_temporary(answer.status) ? AGAIN : REFUSED;
}

static void pause_ms(int64_t ms)
{
    for (int64_t left = ms; left > 0 && !exporter.is_stopping; left -= STOP_LOOK_MS) {
        nanosleep(&(struct timespec){.tv_nsec = STOP_LOOK_MS * 1000000L}, NULL);
    }
}

// Tries again as long as it makes sense.
static Outcome call_collector(Str url, Str body, Str *answer)
{
    int64_t backoff_ms = BACKOFF_FIRST_MS;
    Outcome outcome = AGAIN;

    for (int i = 0; i < ATTEMPTS_MAX && outcome == AGAIN; i++) {
        int64_t wait_ms = 0;
        if (i && exporter.is_stopping) {
            break;
        }
        outcome = call_once(url, body, answer, &wait_ms);
        if (outcome == SENT) {
            break;
        }
        figures.failures++;
        if (outcome == AGAIN && i + 1 < ATTEMPTS_MAX) {
            // Half of it by chance, so that many servers do not come back at once.
            pause_ms(wait_ms ? wait_ms : backoff_ms / 2 + rand() % (backoff_ms / 2 + 1));
            backoff_ms = backoff_ms * 2 < BACKOFF_MAX_MS ? backoff_ms * 2 : BACKOFF_MAX_MS;
        }
    }
    return outcome;
}

// ---------------------------------------------------------------------------------------------
// The thread

static void chunk_send(const SpanChunk *chunk)
{
    for (size_t at = 0; at < chunk->len;) {
        Str answer = {0};
        ArenaMark mark = arena_mark(arena_current());
        buf_clear(&exporter.body);
        size_t spans = otlp_traces(&exporter.resource, chunk, &at, BODY_BYTES, &exporter.body);
        if (call_collector(exporter.traces_url, buf_str(&exporter.body), &answer) == SENT) {
            uint64_t rejected = otlp_rejected(answer);
            rejected = rejected < spans ? rejected : spans;
            figures.sent += spans - rejected;
            figures.rejected += rejected;
        } else {
            figures.dropped += spans;
        }
        arena_release(arena_current(), mark);
    }
}

static void metrics_send(void)
{
    int64_t now = clock_ns();
    Str answer = {0};

    if (now < exporter.metrics_at_ns && !exporter.is_stopping) {
        return;
    }
    exporter.metrics_at_ns = now + METRICS_EVERY_MS * (int64_t)1000000;
    (void)call_collector(exporter.metrics_url,
                         otlp_metrics(&exporter.resource, exporter.options.started_at), &answer);
}

static void *exporter_run(void *unused)
{
    Arena *arena = arena_new(EXPORTER_ARENA_MAX);

    (void)unused;
    arena_use(arena);
    exporter.metrics_at_ns = clock_ns() + METRICS_EVERY_MS * (int64_t)1000000;
    for (bool is_last = false; !is_last;) {
        is_last = exporter.is_stopping;
        SpanChunk *chunk = span_pool_take(is_last ? 0 : SPANS_EVERY_MS);
        meter_begin_alone(exporter.meter);
        meter_route("(exporter)");
        while (chunk && !exporter.is_abandoned) {
            chunk_send(chunk);
            span_pool_give(chunk);
            chunk = is_last ? span_pool_take(0) : NULL;
        }
        if (chunk) {
            span_pool_give(chunk);
        }
        metrics_send();
        arena_reset(arena);
        meter_end(clock_ns());
    }
    arena_free(arena);
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Life

// "name=value,name=value", as OTEL_EXPORTER_OTLP_HEADERS has it; values are percent-encoded.
static Err *headers_read(Str text)
{
    Str pair = {0}, value = {0};

    name_values_add(&exporter.headers, S("Content-Type"), S("application/x-protobuf"));
    while (str_next(&text, ',', &pair)) {
        ptrdiff_t equals = str_find_char(pair, '=', 0);
        if (!str_trim(pair).len) {
            continue;
        }
        if (equals < 1 || !url_decode(str_sub(pair, (size_t)equals + 1, pair.len), false, &value)) {
            return err_text(400, "observability.otlp_headers must be name=value,name=value");
        }
        name_values_add(&exporter.headers, str_trim(str_sub(pair, 0, (size_t)equals)),
                        str_trim(value));
    }
    return NULL;
}

static bool is_local(Str endpoint)
{
    return str_find(endpoint, S("://127."), 0) > 0 ||
           str_find(endpoint, S("://localhost"), 0) > 0 || str_find(endpoint, S("://[::1]"), 0) > 0;
}

static Err *exporter_set_up(const ObserveOptions *options)
{
    char host[256] = "";
    Str endpoint = options->endpoint;

    if (!str_starts(endpoint, S("http://")) && !str_starts(endpoint, S("https://"))) {
        return err_text(400, "observability.otlp_endpoint must begin with http:// or https://");
    }
    while (str_ends(endpoint, S("/"))) {
        endpoint = str_sub(endpoint, 0, endpoint.len - 1);
    }
    (void)gethostname(host, sizeof host - 1);
    exporter.resource = (OtlpResource){
        .service = options->service.len ? options->service : S("octavo"),
        .version = S(OCTAVO_VERSION),
        .instance = str_fmt("%s-%d", host, (int)getpid()),
        .host = str_copy(arena_current(), str_of(host)),
        .pid = getpid(),
    };
    exporter.traces_url = str_fmt(STR_FMT "/v1/traces", STR_ARG(endpoint));
    exporter.metrics_url = str_fmt(STR_FMT "/v1/metrics", STR_ARG(endpoint));
    // Packing costs more than it saves on the way to a collector on the same machine.
    exporter.packs = str_eq(options->compression, S("gzip")) ||
                     (str_eq(options->compression, S("auto")) && !is_local(endpoint));
    return headers_read(str_copy(arena_current(), options->headers));
}

Err *exporter_start(const ObserveOptions *options)
{
    Arena *arena = arena_new(EXPORTER_ARENA_MAX), *former = arena_use(arena);

    exporter = (Exporter){.options = *options, .arena = arena, .meter = meter_of("octavo")};
    exporter.body = otlp_body();
    Err *err = exporter_set_up(options);
    arena_use(former);
    if (err) {
        err = err_text(err->status, STR_FMT, STR_ARG(err->message));
        arena_free(arena);
        return err;
    }
    span_pool_start(options->buffer_bytes);
    if (pthread_create(&exporter.thread, NULL, exporter_run, NULL)) {
        die("no thread for the exporter");
    }
    exporter.is_running = true;
    return NULL;
}

bool exporter_is_on(void)
{
    return exporter.is_running;
}

void exporter_add(const Observed *request, const MeterWork *work, const TraceContext *trace)
{
    // What went fast explains itself; a caller who traces wants to see it all.
    bool has_details = trace->has_parent || request->status >= 500 ||
                       request->ended_ns - request->begun_ns >= exporter.options.detail_ns;

    if (!span_pool_add(request, work, trace, has_details)) {
        figures.dropped++;
    }
}

void exporter_drop(void)
{
    figures.dropped += span_pool_drop();
}

void exporter_stop(void)
{
    int64_t until = clock_ns() + STOP_TIMEOUT_MS * (int64_t)1000000;

    if (!exporter.is_running) {
        return;
    }
    exporter.is_running = false;
    exporter.is_stopping = true;
    span_pool_wake();
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec = until / 1000000000;
    at.tv_nsec = until % 1000000000;
    if (pthread_clockjoin_np(exporter.thread, NULL, CLOCK_MONOTONIC, &at)) {
        exporter.is_abandoned = true;
        pthread_join(exporter.thread, NULL);
    }
    span_pool_stop();
    arena_free(exporter.arena);
}
