// Health and metrics on their own listener: they answer while everything else waits.
#include "gateway/admin.h"

#include <sys/resource.h>
#include <unistd.h>
#include <stdio.h>

enum {
    METRICS_MAX = 1 << 20,
    MODULES_MAX = 128,
};

static int64_t resident_anonymous_bytes(void)
{
    char line[256];
    long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");

    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "RssAnon: %ld kB", &kib) == 1) {
            break;
        }
    }
    if (file) {
        fclose(file);
    }
    return (int64_t)kib * 1024;
}

static double cpu_seconds(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void metric(Buf *out, const char *name, const char *type, double value)
{
    buf_fmt(out, "# TYPE %s %s\n%s %.17g\n", name, type, name, value);
}

static void module_metrics(Buf *out)
{
    MeterReading *readings = NEW_ARRAY(MeterReading, MODULES_MAX);
    size_t n = meter_read(readings, MODULES_MAX);

    buf_add(out, S("# TYPE octavo_module_cpu_seconds_total counter\n"
                   "# TYPE octavo_module_requests_total counter\n"
                   "# TYPE octavo_module_errors_total counter\n"));
    for (size_t i = 0; i < n && i < MODULES_MAX; i++) {
        const MeterReading *r = &readings[i];
        buf_fmt(out, "octavo_module_cpu_seconds_total{module=\"%s\"} %.9g\n", r->module,
                (double)r->cpu_ns / 1e9);
        buf_fmt(out, "octavo_module_requests_total{module=\"%s\"} %llu\n", r->module,
                (unsigned long long)r->requests);
        buf_fmt(out, "octavo_module_errors_total{module=\"%s\"} %llu\n", r->module,
                (unsigned long long)r->errors);
    }
}

// Events under way: written but not yet with subscribers or Kafka.
static Err *event_metrics(Buf *out, const App *app)
{
    JobsFigures jobs = {0};

    if (!app->scheduler) {
        return NULL;
    }
    TRY(jobs_figures(app->scheduler, &jobs));
    metric(out, "octavo_outbox_pending", "gauge", (double)jobs.pending);
    metric(out, "octavo_outbox_oldest_seconds", "gauge", (double)jobs.oldest_ms / 1000);
    metric(out, "octavo_outbox_delivered_total", "counter", (double)jobs.delivered);
    metric(out, "octavo_outbox_failures_total", "counter", (double)jobs.failures);
    metric(out, "octavo_outbox_dead_letters_total", "counter", (double)jobs.buried);
    if (app->kafka) {
        KafkaFigures kafka = kafka_figures(app->kafka);
        metric(out, "octavo_kafka_up", "gauge", kafka.is_down ? 0 : 1);
        metric(out, "octavo_kafka_messages_total", "counter", (double)kafka.sent);
        metric(out, "octavo_kafka_delivery_errors_total", "counter",
               (double)(kafka.errors + kafka.refused));
    }
    return NULL;
}

static Err *metrics_reply(Req *req, const App *app)
{
    Buf out = buf_new(arena_current(), METRICS_MAX);
    StoreFigures store = store_figures(app->store);

    metric(&out, "process_cpu_seconds_total", "counter", cpu_seconds());
    metric(&out, "process_resident_anonymous_bytes", "gauge", (double)resident_anonymous_bytes());
    metric(&out, "process_start_time_seconds", "gauge", (double)app->started_at / 1000);
    metric(&out, "octavo_store_commits_total", "counter", (double)store.commits);
    metric(&out, "octavo_store_groups_total", "counter", (double)store.groups);
    metric(&out, "octavo_store_syncs_total", "counter", (double)store.syncs);
    metric(&out, "octavo_store_rollbacks_total", "counter", (double)store.rollbacks);
    metric(&out, "octavo_store_checkpoints_total", "counter", (double)store.checkpoints);
    metric(&out, "octavo_store_wal_bytes_max", "gauge", (double)store.wal_bytes_max);
    metric(&out, "octavo_store_readers_open", "gauge", store.readers_open);
    metric(&out, "octavo_store_databases_open", "gauge", store.databases_open);
    TRY(event_metrics(&out, app));
    module_metrics(&out);
    return reply_body(req, 200, "text/plain; version=0.0.4", buf_str(&out));
}

// Ready when the process's own database answers.
static Err *database_works(const App *app)
{
    Tx *tx = NULL;

    TRY(tx_begin(app->own, &(TxOptions){.kind = READ}, &tx));
    tx_rollback(tx);
    return NULL;
}

static Err *ready_reply(Req *req, const App *app)
{
    Err *err = app->own ? database_works(app) : err_text(503, "starting");
    Json *body = json_object(), *check = json_object(), *checks = json_array();

    json_set_str(check, "name", S("database"));
    json_set_bool(check, "ok", !err);
    if (err) {
        json_set_str(check, "message", err->message);
    }
    json_add(checks, check);
    json_set_bool(body, "ready", !err);
    json_set(body, "checks", checks);
    return reply_json(req, err ? 503 : 200, body);
}

static bool is_get(const Req *req, Str path)
{
    return (req->method == GET || req->method == HEAD) && str_eq(req->path, path);
}

static Err *admin_answer(Req *req, const App *app)
{
    if (is_get(req, S("/octavo/health/live")) || is_get(req, S("/admin/health"))) {
        return reply_text(req, 200, S("OK"));
    }
    if (is_get(req, S("/octavo/health/ready"))) {
        return ready_reply(req, app);
    }
    if (is_get(req, S("/octavo/metrics")) || is_get(req, S("/metrics"))) {
        return metrics_reply(req, app);
    }
    return err_text(404, "the admin listener has /octavo/health/live, /octavo/health/ready and "
                         "/octavo/metrics");
}

void admin_handle(Req *req, void *app)
{
    Err *err = admin_answer(req, app);

    if (err) {
        reply_err(req, err);
    }
}

void edge_handle(Req *req, void *app)
{
    (void)app;
    Err *err = is_get(req, S("/admin/health")) ? reply_json_text(req, 200, S("\"OK\""))
                                               : err_text(404, "no edge interface is installed");

    if (err) {
        reply_err(req, err);
    }
}
