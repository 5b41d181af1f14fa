// GET /octavo/metrics: figures as Prometheus and OpenMetrics read them.
// Source: spec/interop.md 7.1.
#include "modules/octavo/native.h"

#include "base/memory.h"
#include "observe/observe.h"

enum {
    METRICS_MAX = 16 << 20,
    METERS_SHOWN = 128,
};

typedef struct {
    Buf out;
    bool is_open_metrics;
} Metrics;

// The head of a family. OpenMetrics names a counter without its _total.
static void family(Metrics *metrics, const char *name, const char *type, const char *help)
{
    Str shown = str_of(name);

    if (metrics->is_open_metrics && str_eq_z(S("counter"), type) && str_ends(shown, S("_total"))) {
        shown = str_sub(shown, 0, shown.len - 6);
    }
    buf_fmt(&metrics->out, "# HELP " STR_FMT " %s\n# TYPE " STR_FMT " %s\n", STR_ARG(shown), help,
            STR_ARG(shown), type);
}

static void metric(Metrics *metrics, const char *name, const char *type, const char *help,
                   double value)
{
    family(metrics, name, type, help);
    buf_fmt(&metrics->out, "%s %.17g\n", name, value);
}

static void label(Buf *out, const char *name, Str value)
{
    buf_fmt(out, "%s=\"", name);
    for (size_t i = 0; i < value.len; i++) {
        char c = value.at[i];
        if (c == '\n') {
            buf_add(out, S("\\n"));
            continue;
        }
        if (c == '"' || c == '\\') {
            buf_char(out, '\\');
        }
        buf_char(out, c);
    }
    buf_char(out, '"');
}

// ---------------------------------------------------------------------------------------------
// Process, store, events

static void process_metrics(Metrics *metrics, const App *app)
{
    ProcessFacts facts = process_facts();

    metric(metrics, "process_cpu_seconds_total", "counter", "CPU time used.", facts.cpu_s);
    metric(metrics, "process_resident_memory_bytes", "gauge", "Resident memory.",
           (double)facts.rss_bytes);
    metric(metrics, "process_resident_anonymous_bytes", "gauge",
           "Resident memory without mapped files.", (double)facts.anonymous_bytes);
    metric(metrics, "process_open_fds", "gauge", "Open files.", facts.open_files);
    metric(metrics, "process_threads", "gauge", "Threads.", facts.threads);
    metric(metrics, "process_start_time_seconds", "gauge", "Start, in seconds since 1970.",
           (double)app->started_at / 1000);
}

static void memory_metrics(Metrics *metrics)
{
    MemoryFigures memory = memory_figures();

    metric(metrics, "octavo_memory_limit_bytes", "gauge", "What the process may use.",
           (double)memory.limit_bytes);
    metric(metrics, "octavo_memory_short", "gauge",
           "1 while so much is used that caches are given back.", memory.is_short);
    metric(metrics, "octavo_memory_sheds_total", "counter", "Times caches were given back.",
           (double)memory.sheds);
    metric(metrics, "octavo_memory_shed_bytes_total", "counter", "What that brought.",
           (double)memory.shed_bytes);
}

// One line of a family for each replica; values that are not known are left out.
static void replica_metric(Metrics *metrics, const char *name, const StoreFigures *store, size_t i,
                           double value)
{
    buf_fmt(&metrics->out, "%s{", name);
    label(&metrics->out, "replica", str_of(store->replicas[i].name));
    buf_fmt(&metrics->out, "} %.9g\n", value);
}

static void replica_metrics(Metrics *metrics, const StoreFigures *store)
{
    size_t n = (size_t)store->replica_count;

    if (!n) {
        return;
    }
    family(metrics, "octavo_replica_up", "gauge", "1 while the replica may serve reads.");
    for (size_t i = 0; i < n; i++) {
        replica_metric(metrics, "octavo_replica_up", store, i, store->replicas[i].is_up);
    }
    family(metrics, "octavo_replica_lag_seconds", "gauge", "How old the replica's data are.");
    for (size_t i = 0; i < n; i++) {
        if (store->replicas[i].lag_ns >= 0) {
            replica_metric(metrics, "octavo_replica_lag_seconds", store, i,
                           (double)store->replicas[i].lag_ns / 1e9);
        }
    }
    family(metrics, "octavo_replica_reads_total", "counter", "Transactions the replica served.");
    for (size_t i = 0; i < n; i++) {
        replica_metric(metrics, "octavo_replica_reads_total", store, i,
                       (double)store->replicas[i].reads);
    }
    family(metrics, "octavo_replica_fallbacks_total", "counter",
           "Reads meant for the replica that the primary served.");
    for (size_t i = 0; i < n; i++) {
        replica_metric(metrics, "octavo_replica_fallbacks_total", store, i,
                       (double)store->replicas[i].fallbacks);
    }
}

static void store_metrics(Metrics *metrics, const App *app)
{
    StoreFigures store = store_figures(app->store);

    metric(metrics, "octavo_store_commits_total", "counter", "Transactions committed.",
           (double)store.commits);
    metric(metrics, "octavo_store_groups_total", "counter", "Commits of groups.",
           (double)store.groups);
    metric(metrics, "octavo_store_syncs_total", "counter", "Syncs of files.", (double)store.syncs);
    metric(metrics, "octavo_store_rollbacks_total", "counter", "Transactions rolled back.",
           (double)store.rollbacks);
    metric(metrics, "octavo_store_checkpoints_total", "counter", "Checkpoints of the log.",
           (double)store.checkpoints);
    metric(metrics, "octavo_store_wal_bytes_max", "gauge", "Longest log so far.",
           (double)store.wal_bytes_max);
    if (store.replica_count) {
        metric(metrics, "octavo_store_primary_reads_total", "counter",
               "Reading transactions that the primary served.", (double)store.reads);
    }
    replica_metrics(metrics, &store);
    metric(metrics, "octavo_store_readers_open", "gauge", "Open reader connections.",
           store.readers_open);
    metric(metrics, "db_pool_in_use", "gauge", "Reader connections at work.", store.readers_in_use);
    metric(metrics, "octavo_store_databases_open", "gauge", "Open databases.",
           store.databases_open);
    metric(metrics, "octavo_store_record_cache_bytes", "gauge",
           "Cached records, and values made of them.", (double)store.record_bytes);
}

// Events under way: written but not yet with subscribers or Kafka.
static Err *event_metrics(Metrics *metrics, const App *app)
{
    JobsFigures jobs = {0};

    if (!app->scheduler) {
        return NULL;
    }
    TRY(jobs_figures(app->scheduler, &jobs));
    metric(metrics, "octavo_outbox_pending", "gauge", "Events not delivered yet.",
           (double)jobs.pending);
    metric(metrics, "octavo_outbox_oldest_seconds", "gauge", "Age of the oldest of them.",
           (double)jobs.oldest_ms / 1000);
    metric(metrics, "octavo_outbox_delivered_total", "counter", "Events delivered.",
           (double)jobs.delivered);
    metric(metrics, "octavo_outbox_failures_total", "counter", "Deliveries put off.",
           (double)jobs.failures);
    metric(metrics, "octavo_outbox_dead_letters_total", "counter", "Events given up.",
           (double)jobs.buried);
    if (app->kafka) {
        KafkaFigures kafka = kafka_figures(app->kafka);
        metric(metrics, "octavo_kafka_up", "gauge", "1 while Kafka answers.",
               kafka.is_down ? 0 : 1);
        metric(metrics, "octavo_kafka_messages_total", "counter", "Messages sent.",
               (double)kafka.sent);
        metric(metrics, "octavo_kafka_delivery_errors_total", "counter",
               "Messages failed or refused.", (double)(kafka.errors + kafka.refused));
    }
    return NULL;
}

static void otlp_metrics(Metrics *metrics)
{
    OtlpFigures otlp = otlp_figures();

    if (!otlp.is_on) {
        return;
    }
    metric(metrics, "octavo_otlp_up", "gauge", "1 while the collector takes spans.",
           otlp.is_down ? 0 : 1);
    metric(metrics, "octavo_otlp_spans_sent_total", "counter", "Spans sent to the collector.",
           (double)otlp.sent);
    metric(metrics, "octavo_otlp_spans_dropped_total", "counter",
           "Spans given up: no memory left, or no way to send them.", (double)otlp.dropped);
    metric(metrics, "octavo_otlp_spans_rejected_total", "counter",
           "Spans the collector did not take.", (double)otlp.rejected);
    metric(metrics, "octavo_otlp_failures_total", "counter", "Calls that failed.",
           (double)otlp.failures);
    metric(metrics, "octavo_otlp_sent_bytes_total", "counter", "Bytes sent before packing.",
           (double)otlp.bytes);
}

// ---------------------------------------------------------------------------------------------
// Modules

typedef struct {
    const char *name, *type, *help;
    double (*value)(const MeterReading *reading);
} ModuleMetric;

static double cpu_s(const MeterReading *r)
{
    return (double)r->cpu_ns / 1e9;
}

static double queue_s(const MeterReading *r)
{
    return (double)r->queue_ns / 1e9;
}

static double handler_s(const MeterReading *r)
{
    return (double)r->handler_ns / 1e9;
}

static double store_s(const MeterReading *r)
{
    return (double)r->store_ns / 1e9;
}

static double memory_bytes(const MeterReading *r)
{
    return (double)r->memory_bytes;
}

static double requests(const MeterReading *r)
{
    return (double)r->requests;
}

static double calls(const MeterReading *r)
{
    return (double)r->calls;
}

static double errors(const MeterReading *r)
{
    return (double)r->errors;
}

static double in_flight(const MeterReading *r)
{
    return (double)r->in_flight;
}

static double bytes_in(const MeterReading *r)
{
    return (double)r->bytes_in;
}

static double bytes_out(const MeterReading *r)
{
    return (double)r->bytes_out;
}

static const ModuleMetric module_metrics[] = {
    {"octavo_module_cpu_seconds_total", "counter", "CPU time of the module itself.", cpu_s},
    {"octavo_module_queue_seconds_total", "counter", "Time waited for a turn.", queue_s},
    {"octavo_module_handler_seconds_total", "counter", "Time at work.", handler_s},
    {"octavo_module_store_seconds_total", "counter", "Time in statements and commits.", store_s},
    {"octavo_module_alloc_bytes", "gauge", "Caches, and the most one request took.", memory_bytes},
    {"octavo_module_requests_total", "counter", "Requests over HTTP.", requests},
    {"octavo_module_calls_total", "counter", "Calls by other modules.", calls},
    {"octavo_module_errors_total", "counter", "Requests answered with 5xx.", errors},
    {"octavo_module_in_flight", "gauge", "Requests not answered yet.", in_flight},
    {"octavo_module_received_bytes_total", "counter", "Bytes of bodies received.", bytes_in},
    {"octavo_module_sent_bytes_total", "counter", "Bytes of bodies sent.", bytes_out},
};

static void modules_metrics(Metrics *metrics)
{
    MeterReading *readings = NEW_ARRAY(MeterReading, METERS_SHOWN), total;
    size_t n = meter_read(0, readings, METERS_SHOWN, &total);

    for (size_t i = 0; i < sizeof module_metrics / sizeof *module_metrics; i++) {
        const ModuleMetric *one = &module_metrics[i];
        family(metrics, one->name, one->type, one->help);
        for (size_t k = 0; k < n; k++) {
            buf_fmt(&metrics->out, "%s{module=\"%s\"} %.9g\n", one->name, readings[k].module,
                    one->value(&readings[k]));
        }
    }
    metric(metrics, "http_server_active_requests", "gauge", "Requests not answered yet.",
           (double)total.in_flight);
}

// ---------------------------------------------------------------------------------------------
// Routes

static void route_labels(Buf *out, const RouteTimes *times)
{
    label(out, "module", str_of(times->module));
    buf_char(out, ',');
    label(out, "method", str_of(times->method));
    buf_char(out, ',');
    label(out, "route", str_of(times->route));
    buf_fmt(out, ",status=\"%dxx\"", times->status_class);
}

static void route_metrics(Metrics *metrics)
{
    static const char name[] = "http_server_requests_seconds";
    Buf *out = &metrics->out;
    RouteTimes *times = NULL;
    size_t n = route_times_read(&times);

    family(metrics, name, "histogram", "Time from the request line to the answer.");
    for (size_t i = 0; i < n; i++) {
        Buf labels = buf_new(arena_current(), 4096);
        route_labels(&labels, &times[i]);
        Str l = buf_str(&labels);
        uint64_t below = 0;
        for (size_t k = 0; k < ROUTE_BOUNDS; k++) {
            below += times[i].buckets[k];
            buf_fmt(out, "%s_bucket{" STR_FMT ",le=\"%.9g\"} %llu\n", name, STR_ARG(l),
                    (double)route_bounds_us[k] / 1e6, (unsigned long long)below);
        }
        buf_fmt(out, "%s_bucket{" STR_FMT ",le=\"+Inf\"} %llu\n", name, STR_ARG(l),
                (unsigned long long)times[i].count);
        buf_fmt(out, "%s_sum{" STR_FMT "} %.9g\n", name, STR_ARG(l), (double)times[i].sum_us / 1e6);
        buf_fmt(out, "%s_count{" STR_FMT "} %llu\n", name, STR_ARG(l),
                (unsigned long long)times[i].count);
    }
}

static void statement_metrics(Metrics *metrics)
{
    StatementFigures *figures = NULL;
    size_t n = statements_by_name(&figures);

    family(metrics, "db_query_seconds", "summary", "Statements by verb and table.");
    for (size_t i = 0; i < n; i++) {
        Buf name = buf_new(arena_current(), 4096);
        label(&name, "statement", figures[i].shape);
        buf_fmt(&metrics->out, "db_query_seconds_sum{" STR_FMT "} %.9g\n", STR_ARG(buf_str(&name)),
                (double)figures[i].total_ns / 1e9);
        buf_fmt(&metrics->out, "db_query_seconds_count{" STR_FMT "} %lld\n",
                STR_ARG(buf_str(&name)), (long long)figures[i].calls);
    }
}

Err *metrics_show(Req *req)
{
    Metrics metrics = {.out = buf_new(arena_current(), METRICS_MAX)};
    Str accept = req_header(req, "accept");

    TRY(operators_only(req));
    metrics.is_open_metrics = str_find(accept, S("application/openmetrics-text"), 0) >= 0;
    process_metrics(&metrics, req->app);
    memory_metrics(&metrics);
    store_metrics(&metrics, req->app);
    TRY(event_metrics(&metrics, req->app));
    otlp_metrics(&metrics);
    if (meter_is_on()) {
        modules_metrics(&metrics);
        route_metrics(&metrics);
        statement_metrics(&metrics);
    }
    if (metrics.is_open_metrics) {
        buf_add(&metrics.out, S("# EOF\n"));
        return reply_body(req, 200, "application/openmetrics-text; version=1.0.0; charset=utf-8",
                          buf_str(&metrics.out));
    }
    return reply_body(req, 200, "text/plain; version=0.0.4; charset=utf-8", buf_str(&metrics.out));
}
