// How the process does: GET /octavo/ops/summary, /octavo/ops/modules, /octavo/ops/requests.
// Source: spec/native-api.md 2.
#include "modules/octavo/native.h"

#include "base/memory.h"
#include "observe/observe.h"

enum {
    METERS_SHOWN = 128,
    WINDOW_S = 60,
    OUTBOX_OLD_S = 60,
    OUTBOX_STUCK_S = 600,
    SLOW_MS = 500,
    SLOW_SHOWN = 50,
};

static double seconds_of(int64_t ns)
{
    return (double)ns / 1e9;
}

// ---------------------------------------------------------------------------------------------
// Modules

static void set_percentile(Json *to, const char *name, int64_t us)
{
    if (us < 0) {
        json_set(to, name, json_null());
    } else {
        json_set_number(to, name, (double)us / 1000);
    }
}

static Json *module_json(const MeterReading *reading)
{
    Json *one = json_object(), *wall = json_object();

    json_set_str(one, "name", str_of(reading->module));
    json_set_int(one, "requests", (int64_t)reading->requests);
    json_set_int(one, "errors", (int64_t)reading->errors);
    json_set_int(one, "inFlight", (int64_t)reading->in_flight);
    json_set_number(one, "cpuS", seconds_of(reading->cpu_ns));
    json_set_number(wall, "queue", seconds_of(reading->queue_ns));
    json_set_number(wall, "handler", seconds_of(reading->handler_ns));
    json_set_number(wall, "store", seconds_of(reading->store_ns));
    json_set(one, "wallS", wall);
    set_percentile(one, "p50Ms", reading->p50_us);
    set_percentile(one, "p95Ms", reading->p95_us);
    json_set_int(one, "memoryBytes", (int64_t)reading->memory_bytes);
    json_set_int(one, "bytesIn", (int64_t)reading->bytes_in);
    json_set_int(one, "bytesOut", (int64_t)reading->bytes_out);
    return one;
}

static Json *pair_json(int64_t cpu_ns, const char *memory, int64_t bytes)
{
    Json *one = json_object();

    json_set_number(one, "cpuS", seconds_of(cpu_ns > 0 ? cpu_ns : 0));
    json_set_int(one, memory, bytes > 0 ? bytes : 0);
    return one;
}

Err *modules_show(Req *req)
{
    MeterReading *readings = NEW_ARRAY(MeterReading, METERS_SHOWN), total;
    Json *body = json_object(), *modules = json_array();
    int64_t window_s = WINDOW_S, memory = 0;

    TRY(operators_only(req));
    TRY(req_query_int(req, "window", WINDOW_S, &window_s));
    window_s = window_s > METER_WINDOW_MAX_S ? METER_WINDOW_MAX_S : window_s;
    size_t n = meter_read((int)window_s, readings, METERS_SHOWN, &total);
    int64_t process_ns = meter_process_cpu_ns((int)window_s);
    ProcessFacts facts = process_facts();
    for (size_t i = 0; i < n; i++) {
        json_add(modules, module_json(&readings[i]));
        memory += (int64_t)readings[i].memory_bytes;
    }
    json_set_int(body, "windowS", window_s);
    json_set(body, "modules", modules);
    json_set(body, "other",
             pair_json(process_ns - total.cpu_ns, "memoryBytes", facts.rss_bytes - memory));
    json_set(body, "process", pair_json(process_ns, "rssBytes", facts.rss_bytes));
    return reply_json(req, 200, body);
}

// ---------------------------------------------------------------------------------------------
// Summary

typedef struct {
    const App *app;
    Json *body, *reasons;
    bool is_bad;
} Summary;

static void note(Summary *summary, bool is_bad, Str reason)
{
    json_add(summary->reasons, json_string(reason));
    summary->is_bad = summary->is_bad || is_bad;
}

static void summarize_requests(Summary *summary)
{
    MeterReading *readings = NEW_ARRAY(MeterReading, METERS_SHOWN), total;
    Json *requests = json_object(), *cpu = json_object();
    ProcessFacts facts = process_facts();

    meter_read(WINDOW_S, readings, METERS_SHOWN, &total);
    double count = (double)total.requests;
    double rate = count > 0 ? (double)total.errors / count : 0;
    json_set_number(requests, "perS", count / WINDOW_S);
    set_percentile(requests, "p50Ms", total.p50_us);
    set_percentile(requests, "p95Ms", total.p95_us);
    json_set_number(requests, "errorRate", rate);
    json_set(summary->body, "requests", requests);
    if (rate >= 0.01) {
        note(summary, rate >= 0.1,
             str_fmt("%.1f %% of the last minute's requests failed", rate * 100));
    }
    json_set_number(cpu, "vcpu", seconds_of(meter_process_cpu_ns(WINDOW_S)) / WINDOW_S);
    json_set_int(cpu, "limit", facts.cpus);
    json_set(summary->body, "cpu", cpu);

    Json *memory = json_object();
    MemoryFigures figures = memory_figures();
    json_set_int(memory, "rssBytes", facts.rss_bytes);
    json_set_int(memory, "usedBytes", figures.used_bytes);
    if (figures.limit_bytes) {
        json_set_int(memory, "limitBytes", figures.limit_bytes);
    }
    if (figures.is_short) {
        note(summary, false, S("memory is short: caches are given back"));
    }
    json_set(summary->body, "memory", memory);
}

static Err *summarize_outbox(Summary *summary)
{
    const App *app = summary->app;
    JobsFigures jobs = {0};
    Json *outbox = json_object();

    if (app->scheduler) {
        TRY(jobs_figures(app->scheduler, &jobs));
    }
    json_set_int(outbox, "pending", jobs.pending);
    json_set_int(outbox, "oldestS", jobs.oldest_ms / SECOND_MS);
    json_set(summary->body, "outbox", outbox);
    if (jobs.oldest_ms > OUTBOX_OLD_S * SECOND_MS) {
        note(summary, jobs.oldest_ms > OUTBOX_STUCK_S * SECOND_MS,
             str_fmt("events wait since %lld s", (long long)(jobs.oldest_ms / SECOND_MS)));
    }
    if (jobs.buried) {
        note(summary, false,
             str_fmt("%llu events could not be delivered since the start",
                     (unsigned long long)jobs.buried));
    }
    if (app->kafka && kafka_figures(app->kafka).is_down) {
        note(summary, false, S("Kafka cannot be reached"));
    }
    return NULL;
}

// The lag of the one that is farthest behind.
static void summarize_replicas(Summary *summary, Json *store)
{
    StoreFigures figures = store_figures(summary->app->store);
    int64_t lag_ns = -1;

    for (int i = 0; i < figures.replica_count; i++) {
        int64_t one_ns = figures.replicas[i].lag_ns;
        lag_ns = one_ns > lag_ns ? one_ns : lag_ns;
        if (!figures.replicas[i].is_up) {
            note(summary, false,
                 str_fmt("the replica %s serves no reads", figures.replicas[i].name));
        } else if (figures.replicas[i].is_late) {
            note(summary, false,
                 str_fmt("the replica %s is %lld s behind", figures.replicas[i].name,
                         (long long)(one_ns / 1000000000)));
        }
    }
    if (lag_ns >= 0) {
        json_set_int(store, "replicaLagMs", lag_ns / 1000000);
    }
}

static void summarize_store(Summary *summary)
{
    StoreFacts facts = store_facts(summary->app->store);
    Json *store = json_object();

    json_set_str(store, "kind", str_of(facts.kind));
    json_set_int(store, "sizeBytes", facts.size_bytes);
    summarize_replicas(summary, store);
    json_set(summary->body, "store", store);
}

Err *summary_show(Req *req)
{
    const App *app = req->app;
    Summary summary = {app, json_object(), json_array(), false};
    Tenant *const *tenants = NULL;
    int64_t connections = 0;

    TRY(operators_only(req));
    json_set_time(summary.body, "startedAt", app->started_at);
    json_set_int(summary.body, "uptimeS", (time_now() - app->started_at) / SECOND_MS);
    json_set_int(summary.body, "tenants", (int64_t)tenant_list(app, &tenants));
    summarize_store(&summary);
    summarize_requests(&summary);
    for (size_t i = 0; i < app->listener_count; i++) {
        connections += http_connections(app->listeners[i].server);
    }
    json_set_int(summary.body, "connections", connections);
    TRY(summarize_outbox(&summary));
    const char *state = summary.is_bad ? "bad" : json_first(summary.reasons) ? "warn" : "ok";
    json_set_str(summary.body, "state", str_of(state));
    json_set(summary.body, "reasons", summary.reasons);
    return reply_json(req, 200, summary.body);
}

// ---------------------------------------------------------------------------------------------
// Slow requests

static Json *request_json(const SlowRequest *request)
{
    static const char *const phases[PHASES] = {"queue", "auth", "store", "commit"};
    Json *one = json_object(), *shown = json_object(), *statements = json_array();

    for (int i = 0; i < PHASES; i++) {
        json_set_number(shown, phases[i], (double)request->phase_ns[i] / 1e6);
    }
    for (size_t i = 0; i < request->statement_count; i++) {
        Json *statement = json_object();
        json_set_str(statement, "shape", request->statements[i].shape);
        json_set_number(statement, "ms", (double)request->statements[i].ns / 1e6);
        json_add(statements, statement);
    }
    json_set_time(one, "at", request->at);
    json_set_str(one, "requestId", request->request_id);
    json_set_str(one, "tenant", request->tenant);
    json_set_str(one, "method", str_of(request->method));
    json_set_str(one, "route", str_of(request->route));
    json_set_int(one, "status", request->status);
    json_set_number(one, "ms", (double)request->ns / 1e6);
    json_set(one, "phases", shown);
    json_set(one, "statements", statements);
    return one;
}

Err *requests_show(Req *req)
{
    int64_t min_ms = SLOW_MS, limit = SLOW_SHOWN;
    SlowRequest *slow = NULL;
    Json *body = json_object(), *requests = json_array();

    TRY(operators_only(req));
    TRY(req_query_int(req, "minMs", SLOW_MS, &min_ms));
    TRY(req_query_int(req, "limit", SLOW_SHOWN, &limit));
    size_t n = slow_requests_read(min_ms, (size_t)limit, &slow);
    for (size_t i = 0; i < n; i++) {
        json_add(requests, request_json(&slow[i]));
    }
    json_set(body, "requests", requests);
    return reply_json(req, 200, body);
}
