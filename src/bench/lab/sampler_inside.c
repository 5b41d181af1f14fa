// What an Octavo server tells about itself on its admin listener: /octavo/metrics (counters per
// module and of the store), /octavo/ops/statements, /octavo/ops/deployment. Another server, or one
// with observability.level=off, tells less or nothing; the lab works without.
#include "sampler.h"

#include "http/client.h"

#include <stdio.h>
#include <string.h>

enum {
    TIMEOUT_MS = 2000,
    STATEMENTS_KEPT = 20,
    NAME_MAX = 96,
};

static bool call(Method method, Str admin_url, const char *path, int status, Str *body)
{
    HttpCall request = {.method = method,
                        .url = str_fmt(STR_FMT "%s", STR_ARG(admin_url), path),
                        .timeout_ms = TIMEOUT_MS};
    HttpAnswer answer = {0};
    Err *err = http_call(&request, &answer);

    *body = answer.body;
    return !err && answer.status == status;
}

static const struct {
    const char *metric;
    Figure figure;
} module_figures[] = {
    {"octavo_module_cpu_seconds_total", {"cpu", UNIT_S, true}},
    {"octavo_module_queue_seconds_total", {"wall.queue", UNIT_S, true}},
    {"octavo_module_handler_seconds_total", {"wall.handler", UNIT_S, true}},
    {"octavo_module_store_seconds_total", {"wall.store", UNIT_S, true}},
    {"octavo_module_alloc_bytes", {"memory", UNIT_BYTES, false}},
    {"octavo_module_requests_total", {"requests", UNIT_COUNT, true}},
    {"octavo_module_calls_total", {"calls", UNIT_COUNT, true}},
    {"octavo_module_errors_total", {"errors", UNIT_COUNT, true}},
    {"octavo_module_in_flight", {"in_flight", UNIT_COUNT, false}},
    {"octavo_module_received_bytes_total", {"bytes.in", UNIT_BYTES, true}},
    {"octavo_module_sent_bytes_total", {"bytes.out", UNIT_BYTES, true}},
};

static const struct {
    const char *metric;
    Figure figure;
} store_figures[] = {
    {"octavo_store_commits_total", {"commits", UNIT_COUNT, true}},
    {"octavo_store_groups_total", {"groups", UNIT_COUNT, true}},
    {"octavo_store_syncs_total", {"syncs", UNIT_COUNT, true}},
    {"octavo_store_rollbacks_total", {"rollbacks", UNIT_COUNT, true}},
    {"octavo_store_checkpoints_total", {"checkpoints", UNIT_COUNT, true}},
    {"octavo_store_wal_bytes_max", {"wal.max", UNIT_BYTES, false}},
    {"db_pool_in_use", {"sessions.active", UNIT_COUNT, false}},
};

// Sums over all statements: db_query_seconds_sum{statement="..."} and _count.
typedef struct {
    double seconds, calls;
    bool is_there;
} Queries;

static void take_module(SampleTable *table, Str metric, Str labels, double value)
{
    char module[NAME_MAX];

    for (size_t i = 0; i < sizeof module_figures / sizeof *module_figures; i++) {
        if (!str_eq_z(metric, module_figures[i].metric)) {
            continue;
        }
        // {module="mod-users"}
        Str name = str_sub(labels, sizeof "module=\"" - 1, labels.len - 1);
        snprintf(module, sizeof module, STR_FMT, STR_ARG(name));
        table_set(table, GROUP_MODULE, module, &module_figures[i].figure, value);
    }
}

static void take_query(Queries *queries, Str metric, double value)
{
    if (str_eq(metric, S("db_query_seconds_sum"))) {
        queries->seconds += value;
        queries->is_there = true;
    } else if (str_eq(metric, S("db_query_seconds_count"))) {
        queries->calls += value;
    }
}

static void take_plain(SampleTable *table, const SamplerOptions *options, Str metric, double value)
{
    static const Figure pending = {"lag", UNIT_COUNT, false};
    static const Figure delivered = {"consumed", UNIT_COUNT, true};

    for (size_t i = 0; options->database && i < sizeof store_figures / sizeof *store_figures; i++) {
        if (str_eq_z(metric, store_figures[i].metric)) {
            table_set(table, GROUP_DATABASE, "sqlite", &store_figures[i].figure, value);
        }
    }
    if (str_eq(metric, S("octavo_outbox_pending"))) {
        table_set(table, GROUP_QUEUE, "outbox", &pending, value);
    } else if (str_eq(metric, S("octavo_outbox_delivered_total"))) {
        table_set(table, GROUP_QUEUE, "outbox", &delivered, value);
    }
}

bool sample_inside(SampleTable *table, const SamplerOptions *options)
{
    static const Figure statements = {"statements", UNIT_COUNT, true};
    static const Figure time = {"time", UNIT_S, true};
    Queries queries = {0};
    Str text, line;

    if (!call(GET, options->admin_url, "/octavo/metrics", 200, &text)) {
        return false;
    }
    while (str_next(&text, '\n', &line)) {
        // NAME VALUE or NAME{LABELS} VALUE; labels may hold anything, the value no blank
        const char *last = memrchr(line.at, ' ', line.len);
        ptrdiff_t brace = str_find_char(line, '{', 0), blank = last ? last - line.at : -1;
        double value = 0;
        if (str_starts(line, S("#")) || blank < 1 ||
            !str_double(str_sub(line, (size_t)blank + 1, line.len), &value)) {
            continue;
        }
        if (brace < 0) {
            take_plain(table, options, str_sub(line, 0, (size_t)blank), value);
            continue;
        }
        Str metric = str_sub(line, 0, (size_t)brace);
        if (options->modules && str_starts(metric, S("octavo_module_"))) {
            take_module(table, metric, str_sub(line, (size_t)brace + 1, (size_t)blank - 1), value);
        }
        take_query(&queries, metric, value);
    }
    if (options->database && queries.is_there) {
        table_set(table, GROUP_DATABASE, "sqlite", &statements, queries.calls);
        table_set(table, GROUP_DATABASE, "sqlite", &time, queries.seconds);
    }
    return true;
}

void statements_reset(Str admin_url)
{
    Str body;

    // Without them the table of statements is empty: nothing to say here.
    (void)call(DELETE, admin_url, "/octavo/ops/statements", 204, &body);
}

void statements_take(Str admin_url, Cell *cell)
{
    Json *json = NULL;
    Str body;

    if (!call(GET, admin_url, "/octavo/ops/statements?limit=20&order=total", 200, &body) ||
        json_parse(body, &json)) {
        return;
    }
    cell->statements.at = arena_alloc_array(arena_current(), STATEMENTS_KEPT, sizeof(Statement));
    JSON_EACH(one, json_get(json, "statements"))
    {
        if (cell->statements.len < STATEMENTS_KEPT) {
            cell->statements.at[cell->statements.len++] =
                (Statement){.shape = json_str(one, "shape"),
                            .route = json_str(one, "route"),
                            .module = json_str(one, "module"),
                            .plan = json_str(one, "lastPlan"),
                            .calls = json_int(one, "calls", 0),
                            .rows = json_int(one, "rows", 0),
                            .total_ms = json_number(one, "totalMs", 0),
                            .max_ms = json_number(one, "maxMs", 0)};
        }
    }
}

Json *deployment_take(Str admin_url)
{
    Json *json = NULL;
    Str body;

    return call(GET, admin_url, "/octavo/ops/deployment", 200, &body) && !json_parse(body, &json)
               ? json
               : NULL;
}
