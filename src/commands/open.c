// Opens the store and the gateway for a command, with the memory budget of decision 52.
#include "commands/commands.h"

#include "base/memory.h"
#include "observe/observe.h"
#include "store/faults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    READERS_MAX = 64,
    READ_LIMIT_MS = 10000, // of those who are served; commands take their time
};

// What the process may use: the option's, the control groups' or the machine's limit.
static int64_t limit_bytes(const Config *config)
{
    int64_t group = memory_group_limit(), told = config_int(config, "memory.limit_mib") << 20;
    int64_t limit = group ? group : memory_of_machine();

    return told > 0 && told < limit ? told : limit;
}

// All caches together, spans that wait included (decision 52).
static int64_t cache_bytes(const Config *config)
{
    bool is_percent = str_eq(config_text(config, "memory.mode"), S("percent"));

    return is_percent ? limit_bytes(config) / 100 * config_int(config, "memory.percent")
                      : config_int(config, "memory.cache_mib") << 20;
}

static bool give_store(void *store, bool is_short)
{
    return store_give_back(store, is_short);
}

static bool give_others(void *unused, bool is_short)
{
    (void)unused;
    if (is_short) {
        http_give_back();
        observe_give_back();
    }
    return is_short;
}

static Err *watch_memory(const App *app)
{
    static MemoryGiver givers[2];
    int64_t limit = limit_bytes(app->config);

    givers[0] = (MemoryGiver){give_others, NULL};
    givers[1] = (MemoryGiver){give_store, app->store};
    log_line(LOG_INFO, "memory", "caches have %lld MiB of %lld MiB that the process may use",
             (long long)(cache_bytes(app->config) >> 20), (long long)(limit >> 20));
    return memory_watch(limit, givers, sizeof givers / sizeof *givers);
}

static Err *set_log(const Config *config)
{
    LogLevel level = LOG_INFO;

    if (!log_level_of(config_text(config, "log.level"), &level)) {
        return err_text(400, "log.level must be debug, info, warn, error or off");
    }
    log_set(level, str_eq(config_text(config, "log.format"), S("json")));
    return NULL;
}

static Err *set_meters(const Config *config)
{
    Str level = config_text(config, "observability.level");

    if (!str_eq(level, S("full")) && !str_eq(level, S("off"))) {
        return err_text(400, "observability.level must be full or off");
    }
    meter_switch(str_eq(level, S("full")));
    return NULL;
}

// The option, else what other programs with OpenTelemetry listen to.
static Str option_or(const Config *config, const char *option, const char *variable)
{
    Str value = config_text(config, option);
    const char *text = value.len ? NULL : getenv(variable);

    return text ? str_of(text) : value;
}

static ObserveOptions observe_options(const Config *config)
{
    const char *off = getenv("OTEL_SDK_DISABLED"), *service = getenv("OTEL_SERVICE_NAME");
    ObserveOptions options = {
        .endpoint = option_or(config, "observability.otlp_endpoint", "OTEL_EXPORTER_OTLP_ENDPOINT"),
        .headers = option_or(config, "observability.otlp_headers", "OTEL_EXPORTER_OTLP_HEADERS"),
        .compression = config_text(config, "observability.otlp_compression"),
        .service = str_of(service ? service : ""),
        .sample_percent = (int)config_int(config, "observability.sample_percent"),
        .detail_ns = config_int(config, "observability.detail_ms") * 1000000,
        .started_at = time_now(),
    };

    if (!meter_is_on() || (off && str_eq_z(S("true"), off))) {
        options.endpoint = S("");
    }
    if (options.endpoint.len) {
        int64_t most = cache_bytes(config) / 4;
        int64_t told = config_int(config, "observability.trace_buffer_mib") << 20;
        options.buffer_bytes = (size_t)(told < most ? told : most);
    }
    return options;
}

// With Kafka somebody wants every topic.
static void want_all_topics(const App *app)
{
    for (const Module *const *module = app->modules; *module; module++) {
        const Collection *const *table = (*module)->collections;
        for (; table && *table; table++) {
            if ((*table)->event) {
                store_want_topic(app->store, (*table)->event);
            }
        }
    }
    kafka_want_topics(app->store);
}

static Err *start_kafka(App *app)
{
    const Config *config = app->config;
    Str url = config_text(config, "http.public_url");
    KafkaOptions options = {
        .brokers = config_text(config, "kafka.brokers"),
        .environment = config_text(config, "kafka.environment"),
        .url =
            url.len ? url : str_fmt("http://" STR_FMT, STR_ARG(config_text(config, "http.listen"))),
        .sends_latest = str_eq(config_text(config, "gateway.interfaces"), S("latest")),
    };

    if (!options.brokers.len) {
        return NULL;
    }
    TRY(kafka_start(&options, app->scheduler, &app->kafka));
    want_all_topics(app);
    return NULL;
}

// The disk fails as the option says (decision 41).
static Err *arm_fault(const Config *config, StoreOptions *options)
{
#ifdef OCTAVO_HOOKS
    Str fault = config_text(config, "test.faults"),
        field = config_text(config, "test.next_version");
    if (field.len) {
        store_plays_next_version(field);
    }
    if (fault.len) {
        options->faults = true;
        return faults_arm_text(fault);
    }
#else
    (void)config, (void)options;
#endif
    return NULL;
}

static Err *start_background(App *app, const ObserveOptions *observing)
{
    TRY(observe_start(observing));
    TRY(jobs_new(app->store, &app->scheduler));
    return start_kafka(app);
}

Err *command_open(const CommandLine *line, bool background, App *app)
{
    Str url = config_text(line->config, "database.url");
    Str replicas = background ? config_text(line->config, "database.replica") : S("");

    TRY(set_log(line->config));
    TRY(set_meters(line->config));
    if (!line->data.len && !url.len) {
        return err_text(400, "say where the data are: --data DIR or --database postgres://...");
    }
    if (replicas.len && !url.len) {
        return err_text(400, "database.replica needs database.url: only PostgreSQL has replicas");
    }
    if (line->data.len && mkdir(str_z(line->data), 0750) != 0 &&
        access(str_z(line->data), W_OK) != 0) {
        return err_text(400, "the data directory " STR_FMT " cannot be written",
                        STR_ARG(line->data));
    }
    ObserveOptions observing = observe_options(line->config);
    StoreOptions options = {
        .dir = line->data,
        .url = url,
        .replicas = replicas,
        .cache_bytes = cache_bytes(line->config) - (int64_t)observing.buffer_bytes,
        .readers_max = READERS_MAX,
        .connections = (int)config_int(line->config, "database.connections"),
        .statement_limit_s =
            background ? (int)config_int(line->config, "database.statement_timeout_s") : 0,
        .lock_limit_s = (int)config_int(line->config, "database.lock_timeout_s"),
        .read_limit_ms = background ? READ_LIMIT_MS : 0,
    };
    TRY(arm_fault(line->config, &options));
    *app = (App){.modules = all_modules, .config = line->config, .started_at = time_now()};
    TRY(store_open(&options, &app->store));
    Err *err = background ? start_background(app, &observing) : NULL;
    if (!err) {
        err = gateway_start(app);
    }
    if (!err && background) {
        err = watch_memory(app);
    }
    if (!err && background) {
        jobs_begin(app->scheduler);
    }
    if (err) {
        if (app->scheduler) {
            jobs_stop(app->scheduler);
        }
        kafka_stop(app->kafka);
        observe_stop();
        gateway_stop(app);
        store_close(app->store);
        app->store = NULL;
    }
    return err;
}

void command_close(App *app)
{
    memory_watch_end();
    if (app->scheduler) {
        jobs_stop(app->scheduler);
    }
    kafka_stop(app->kafka);
    observe_stop();
    if (app->store) {
        store_close(app->store);
    }
    gateway_stop(app);
    config_free(app->config);
}
