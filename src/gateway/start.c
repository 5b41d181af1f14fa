// Starts and stops the gateway.
#include "gateway/internal.h"
#include "gateway/readers.h"
#include "gateway/token_cache.h"

#include "base/die.h"

#include <string.h>

enum {
    GATEWAY_ARENA_MAX = 256 * 1024 * 1024,
};

// Okapi's own module first, then the program's.
static size_t list_modules(const Module *const *given, const Module ***out)
{
    size_t n = 1;
    while (given && given[n - 1]) {
        n++;
    }
    if (n > MODULES_MAX) {
        die("more than %d modules", MODULES_MAX);
    }
    *out = NEW_ARRAY(const Module *, n);
    (*out)[0] = &okapi_module;
    for (size_t i = 1; i < n; i++) {
        (*out)[i] = given[i - 1];
    }
    return n;
}

static void find_services(Gateway *gateway)
{
    gateway->users_place = gateway->permissions_place = SIZE_MAX;
    gateway->authtoken_place = module_place(gateway, S("mod-authtoken"));
    for (size_t i = 0; i < gateway->module_count; i++) {
        const Module *module = gateway->modules[i];
        if (module->user_state) {
            gateway->users = module;
            gateway->users_place = i;
        }
        if (module->user_permissions && module->permissions_define) {
            gateway->permissions = module;
            gateway->permissions_place = i;
        }
    }
}

static void announce(const Gateway *gateway, const App *app)
{
    for (size_t i = 0; i < gateway->module_count; i++) {
        const Collection *const *tables = NULL;
        size_t n = module_tables(gateway->modules[i], &tables);
        store_charge(tables, n, gateway->modules[i]->name);
        const struct Subscription *sub = gateway->modules[i]->subscribes;
        for (; app->scheduler && sub && sub->topic; sub++) {
            store_want_topic(app->store, sub->topic);
            bus_subscribe(sub->topic, sub->subscriber, gateway->modules[i]);
        }
        const struct JobKind *kind = gateway->modules[i]->jobs;
        for (; app->scheduler && kind && kind->kind; kind++) {
            job_kind(kind->kind, kind->step);
        }
    }
}

static Err *background_open(void *app, Str name, Db **db)
{
    Tenant *tenant = NULL;
    TRY(tenant_find(app, name, &tenant));
    return tenant_ready(tenant, db);
}

static bool background_has(void *app, Str name, const void *module)
{
    Tenant *tenant = NULL;
    return !tenant_find(app, name, &tenant) &&
           tenant_has_module(tenant, ((const Module *)module)->name);
}

Err *gateway_start(App *app)
{
    Arena *arena = arena_new(GATEWAY_ARENA_MAX);
    Arena *former = arena_use(arena);
    Gateway *gateway = NEW(Gateway);

    gateway->arena = arena;
    pthread_mutex_init(&gateway->lock, NULL);
    pthread_mutex_init(&gateway->refresh_lock, NULL);
    pthread_mutex_init(&gateway->tenants_lock, NULL);
    gateway->module_count = list_modules(app->modules, &gateway->modules);
    gateway->descriptor_texts = NEW_ARRAY(Str, gateway->module_count);
    gateway->meter = meter_of(okapi_module.name);
    gateway->auth_meter = meter_of("mod-authtoken");
    find_services(gateway);
    gateway->routes = route_table_new(gateway->modules, gateway->module_count);
    gateway->tokens = token_cache_new();
    gateway->readers = store_has_replicas(app->store) ? readers_new() : NULL;
    atomic_store(&gateway->tenants, NEW(TenantList));
    arena_use(former);

    app->gateway = gateway;
    app->started_at = app->started_at ? app->started_at : time_now();
    announce(gateway, app);
    if (app->scheduler) {
        jobs_access(app->scheduler, &(TenantAccess){app, background_open, background_has});
    }
    TRY(own_open(app));
    TRY(keys_load(app));
    return tenants_load(app);
}

void gateway_stop(App *app)
{
    if (!app->gateway) {
        return;
    }
    Arena *arena = app->gateway->arena;
    token_cache_free(app->gateway->tokens);
    readers_free(app->gateway->readers);
    app->gateway = NULL;
    arena_free(arena);
}

void gateway_register(const Module *const *modules)
{
    const Collection *own[] = {&idempotent_answers};

    own_register();
    store_register(jobs_collections, JOBS_COLLECTIONS);
    store_register(own, 1);
    for (size_t i = 0; modules[i]; i++) {
        const Collection *const *tables = NULL;
        size_t n = module_tables(modules[i], &tables);
        store_register(tables, n);
    }
}

size_t gateway_routes(const Module *const *modules, const RouteEntry **out)
{
    const Module **list = NULL;
    const CompiledRoute *const *routes = NULL;
    size_t count = list_modules(modules, &list);
    size_t n = route_table_entries(route_table_new(list, count), &routes);
    RouteEntry *entries = NEW_ARRAY(RouteEntry, n);
    for (size_t i = 0; i < n; i++) {
        entries[i] = routes[i]->entry;
    }
    *out = entries;
    return n;
}
