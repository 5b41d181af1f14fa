// What runs where and how it is set: GET /octavo/ops/deployment, `octavo version --json`.
// Source: spec/native-api.md 2, spec/perf-lab.md 6.
#include "modules/octavo/native.h"

#include "base/memory.h"
#include "observe/observe.h"

#include <sys/types.h>
#include <unistd.h>

enum {
    TENANTS_COUNTED_MAX = 50,
    BUILD_DIGITS = 12,
};

#ifdef OCTAVO_HOOKS
#define BUILD_KIND "debug"
#else
#define BUILD_KIND "release"
#endif

static const char *const build_flags[] = {
    BUILD_KIND,
#ifdef OCTAVO_HOOKS
    "test-hooks",
#endif
#ifdef __SANITIZE_ADDRESS__
    "address-sanitizer",
#endif
#ifdef __SANITIZE_THREAD__
    "thread-sanitizer",
#endif
#ifdef __OPTIMIZE__
    "optimized",
#endif
};

Str build_name(void)
{
    Str id = str_sub(build_id(), 0, BUILD_DIGITS);

    return id.len ? str_fmt(BUILD_KIND "-" STR_FMT, STR_ARG(id)) : S(BUILD_KIND);
}

static Json *listeners_json(const App *app)
{
    Json *list = json_array();

    for (size_t i = 0; i < app->listener_count; i++) {
        const Listener *listener = &app->listeners[i];
        ptrdiff_t colon = -1;
        for (ptrdiff_t at = str_find_char(listener->address, ':', 0); at >= 0;
             at = str_find_char(listener->address, ':', (size_t)at + 1)) {
            colon = at;
        }
        // The port in use: the option may say 0.
        Str host = str_sub(listener->address, 0, colon < 0 ? 0 : (size_t)colon);
        json_add(list, json_string(str_fmt("%s " STR_FMT ":%d", listener->name, STR_ARG(host),
                                           http_port(listener->server))));
    }
    return list;
}

static Json *process_json(const App *app)
{
    ProcessFacts facts = process_facts();
    Json *process = json_object(), *flags = json_array();

    for (size_t i = 0; i < sizeof build_flags / sizeof *build_flags; i++) {
        json_add(flags, json_string(str_of(build_flags[i])));
    }
    json_set_str(process, "version", S(OCTAVO_VERSION));
    json_set_str(process, "build", build_name());
    json_set(process, "flags", flags);
    json_set_int(process, "pid", getpid());
    json_set_time(process, "startedAt", app->started_at ? app->started_at : time_now());
    json_set_int(process, "cpus", facts.cpus);
    if (facts.memory_limit_bytes) {
        json_set_int(process, "memoryLimitBytes", facts.memory_limit_bytes);
    }
    json_set_int(process, "threads", facts.threads);
    json_set(process, "listeners", listeners_json(app));
    json_set_bool(process, "tls", app_option(app, "http.tls_certificate", "").len > 0);
    return process;
}

// ---------------------------------------------------------------------------------------------
// Store

// The tables a library is measured by.
static const char *const main_tables[] = {
    "users", "instance", "holdings_record", "item", "loan", "request", "accounts",
};

enum {
    MAIN_TABLES = sizeof main_tables / sizeof *main_tables,
};

static const Collection *table_named(const Module *module, const char *name)
{
    const Collection *const *table = module->collections;

    while (table && *table && !str_eq_z(str_of((*table)->table), name)) {
        table++;
    }
    return table ? *table : NULL;
}

static Err *tenant_rows(const App *app, Tenant *tenant, int64_t rows[MAIN_TABLES])
{
    Db *db = NULL;
    Tx *tx = NULL;
    Err *err = NULL;

    TRY(tenant_open(tenant, &db));
    TRY(tx_begin(db, &(TxOptions){.kind = READ}, &tx));
    for (const Module *const *module = app->modules; *module && !err; module++) {
        for (size_t i = 0; i < MAIN_TABLES && !err; i++) {
            const Collection *of = table_named(*module, main_tables[i]);
            int64_t count = 0;
            if (of && tenant_has_module(tenant, (*module)->name)) {
                err = tx_count_where(tx, of, "1 = 1", NO_ARGS, &count);
                rows[i] += count;
            }
        }
    }
    tx_rollback(tx);
    return err;
}

// Of all tenants together; {} if there are too many to look into.
static Err *rows_json(const App *app, Json **out)
{
    int64_t rows[MAIN_TABLES] = {0};
    Tenant *const *tenants = NULL;
    size_t n = app->gateway ? tenant_list(app, &tenants) : 0;

    *out = json_object();
    if (n == 0 || n > TENANTS_COUNTED_MAX) {
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        TRY(tenant_rows(app, tenants[i], rows));
    }
    for (size_t i = 0; i < MAIN_TABLES; i++) {
        json_set_int(*out, main_tables[i], rows[i]);
    }
    return NULL;
}

static Json *replicas_json(const App *app)
{
    StoreFigures figures = store_figures(app->store);
    Json *list = json_array();

    for (int i = 0; i < figures.replica_count; i++) {
        Json *one = json_object();
        json_set_str(one, "name", str_of(figures.replicas[i].name));
        json_set_bool(one, "isUp", figures.replicas[i].is_up);
        json_add(list, one);
    }
    return list;
}

static Err *store_json(const App *app, Json **out)
{
    StoreFacts facts = store_facts(app->store);
    Json *store = json_object(), *settings = json_object(), *rows = NULL;

    for (size_t i = 0; facts.settings && facts.settings[i][0]; i++) {
        json_set_str(settings, facts.settings[i][0], str_of(facts.settings[i][1]));
    }
    json_set_str(store, "kind", str_of(facts.kind));
    json_set_str(store, "version", facts.version);
    json_set(store, "settings", settings);
    json_set_int(store, "sizeBytes", facts.size_bytes);
    if (app->store) {
        json_set(store, "replicas", replicas_json(app));
    }
    TRY(rows_json(app, &rows));
    json_set(store, "rows", rows);
    *out = store;
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Options, modules, host

static Str origin_kind(const char *origin)
{
    if (str_eq_z(S("default"), origin) || str_eq_z(S("flag"), origin)) {
        return str_of(origin);
    }
    return str_starts(str_of(origin), S("OCTAVO_")) ? S("env") : S("file");
}

static Json *options_json(const App *app)
{
    Json *options = json_array();
    const Option *option = NULL;
    const char *origin = NULL;
    Str value;

    for (size_t i = 0; app->config && config_at(app->config, i, &option, &value, &origin); i++) {
        Json *one = json_object();
        json_set_str(one, "name", str_of(option->name));
        json_set_str(one, "value", option->is_secret && value.len ? S("***") : value);
        json_set_str(one, "default", str_of(option->fallback));
        json_set_str(one, "origin", origin_kind(origin));
        json_add(options, one);
    }
    return options;
}

static Json *modules_json(const App *app)
{
    Json *modules = json_array();
    const RouteEntry *entries = NULL;
    size_t n = gateway_routes(app->modules, &entries);

    for (const Module *const *module = app->modules; *module; module++) {
        Json *one = json_object(), *interfaces = json_object();
        int64_t routes = 0;
        const Interface *interface = (*module)->provides;
        for (; interface && interface->id; interface++) {
            json_put(interfaces, str_of(interface->id), json_string(str_of(interface->version)));
        }
        for (size_t i = 0; i < n; i++) {
            routes += entries[i].module == *module;
        }
        json_set_str(one, "id", str_fmt("%s-%s", (*module)->name, (*module)->version));
        json_set(one, "interfaces", interfaces);
        json_set_int(one, "routes", routes);
        json_add(modules, one);
    }
    return modules;
}

static Json *host_json(void)
{
    HostFacts facts = host_facts();
    Json *host = json_object();

    json_set_str(host, "cpuModel", facts.cpu_model);
    json_set_int(host, "cores", facts.cores);
    json_set_int(host, "memoryBytes", facts.memory_bytes);
    json_set_str(host, "kernel", facts.kernel);
    json_set_str(host, "distribution", facts.distribution);
    return host;
}

// The budget as it came out of the options and the limits (decision 52).
static Json *memory_json(const App *app)
{
    MemoryFigures memory = memory_figures();
    StoreFigures store = store_figures(app->store);
    Json *shown = json_object();

    json_set_str(shown, "mode", app_option(app, "memory.mode", "fixed"));
    json_set_int(shown, "limitBytes", memory.limit_bytes);
    json_set_int(shown, "shortBytes", memory.short_bytes);
    json_set_int(shown, "pageCacheBytes", store.page_bytes_max);
    json_set_int(shown, "recordCacheBytes", store.record_bytes_max);
    json_set_int(shown, "traceBufferBytes", (int64_t)otlp_figures().buffer_bytes);
    return shown;
}

Err *deployment_of(const App *app, Json **out)
{
    Json *body = json_object(), *store = NULL;

    TRY(store_json(app, &store));
    json_set(body, "process", process_json(app));
    if (app->store) {
        json_set(body, "memory", memory_json(app));
    }
    json_set(body, "store", store);
    json_set(body, "options", options_json(app));
    json_set(body, "modules", modules_json(app));
    json_set(body, "host", host_json());
    *out = body;
    return NULL;
}

Err *deployment_show(Req *req)
{
    Json *body = NULL;

    TRY(operators_only(req));
    TRY(deployment_of(req->app, &body));
    return reply_json(req, 200, body);
}
