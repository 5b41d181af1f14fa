// Tenants in memory: who exists, what is enabled, where the data are.
//
// The list of tenants and the state of each are immutable values behind atomic pointers: a request
// reads them without a lock. Source: spec/platform.md 1.5, decision 51.
#include "gateway/internal.h"

#include "base/log.h"

#include <stdlib.h>
#include <string.h>

enum {
    TENANT_ID_MAX = 31,
};

Db *tenant_db(const Tenant *tenant)
{
    return atomic_load_explicit(&((Tenant *)tenant)->db, memory_order_acquire);
}

bool tenant_has_module(const Tenant *tenant, const char *module)
{
    size_t place = module_place(tenant->app->gateway, str_of(module));
    return place != SIZE_MAX && module_set_has(&tenant_state(tenant)->modules, place);
}

Str module_id(const Module *module)
{
    return str_fmt("%s-%s", module->name, module->version);
}

size_t module_place(const Gateway *gateway, Str id_or_name)
{
    for (size_t i = 0; i < gateway->module_count; i++) {
        const Module *module = gateway->modules[i];
        Str name = str_of(module->name);
        if (str_eq(id_or_name, name)) {
            return i;
        }
        if (id_or_name.len == name.len + 1 + strlen(module->version) &&
            str_starts(id_or_name, name) && id_or_name.at[name.len] == '-' &&
            str_ends(id_or_name, str_of(module->version))) {
            return i;
        }
    }
    return SIZE_MAX;
}

size_t module_tables(const Module *module, const Collection *const **out)
{
    size_t n = 0;
    *out = module->collections;
    while (module->collections && module->collections[n]) {
        n++;
    }
    return n;
}

// ---------------------------------------------------------------------------------------------
// The list

static Tenant *lookup(const TenantList *list, Str id)
{
    size_t low = 0, high = list ? list->len : 0;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = str_cmp(list->at[middle]->id, id);
        if (order == 0) {
            return list->at[middle];
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

Err *tenant_find(App *app, Str id, Tenant **out)
{
    if (atomic_load(&app->gateway->tenants_are_old) || atomic_load(&app->gateway->reads_tenants)) {
        TRY(tenants_refresh(app));
    }
    *out = lookup(atomic_load_explicit(&app->gateway->tenants, memory_order_acquire), id);
    return *out ? NULL : err_text(400, "No such Tenant " STR_FMT, STR_ARG(id));
}

size_t tenant_list(const App *app, Tenant *const **out)
{
    const TenantList *list = atomic_load_explicit(&app->gateway->tenants, memory_order_acquire);

    *out = list ? list->at : NULL;
    return list ? list->len : 0;
}

// A list with one tenant more or less. The caller holds gateway->lock.
static void publish_list(Gateway *gateway, Tenant *added, const Tenant *removed)
{
    const TenantList *old = atomic_load(&gateway->tenants);
    size_t old_len = old ? old->len : 0, n = 0;
    Tenant **at = arena_alloc_array(gateway->arena, old_len + 1, sizeof *at);

    for (size_t i = 0; i < old_len; i++) {
        if (added && str_cmp(added->id, old->at[i]->id) < 0) {
            at[n++] = added;
            added = NULL;
        }
        if (old->at[i] != removed) {
            at[n++] = old->at[i];
        }
    }
    if (added) {
        at[n++] = added;
    }
    TenantList *list = arena_alloc(gateway->arena, sizeof *list);
    *list = (TenantList){at, n};
    atomic_store_explicit(&gateway->tenants, list, memory_order_release);
}

static StrList keep_list(Gateway *gateway, const StrList *list)
{
    StrList kept = {0};
    for (size_t i = 0; i < list->len; i++) {
        str_list_add(&kept, str_copy(gateway->arena, list->at[i]));
    }
    return kept;
}

// A deep copy that lives as long as the gateway. The caller holds gateway->lock.
static const TenantState *keep_state(Gateway *gateway, const TenantState *state)
{
    Arena *former = arena_use(gateway->arena);
    TenantState *kept = NEW(TenantState);
    *kept = *state;
    kept->name = str_copy(gateway->arena, state->name);
    kept->description = str_copy(gateway->arena, state->description);
    kept->timers = str_copy(gateway->arena, state->timers);
    kept->foreign = keep_list(gateway, &state->foreign);
    kept->paused = keep_list(gateway, &state->paused);
    arena_use(former);
    return kept;
}

static Tenant *add_tenant(App *app, Str id, const TenantState *state)
{
    Gateway *gateway = app->gateway;
    pthread_mutex_lock(&gateway->lock);
    Tenant *tenant = arena_alloc(gateway->arena, sizeof *tenant);
    pthread_mutex_init(&tenant->lock, NULL);
    tenant->app = app;
    tenant->id = str_copy(gateway->arena, id);
    atomic_store(&tenant->state, keep_state(gateway, state));
    publish_list(gateway, tenant, NULL);
    pthread_mutex_unlock(&gateway->lock);
    return tenant;
}

// ---------------------------------------------------------------------------------------------
// Stored form: {"tenantId","name","description","modules":[ids],"timers":{},"paused":[names]}

static void add_texts(Json *array, const StrList *texts)
{
    for (size_t i = 0; i < texts->len; i++) {
        json_add(array, json_string(texts->at[i]));
    }
}

static Json *state_doc(const Tenant *tenant, const TenantState *state)
{
    const Gateway *gateway = tenant->app->gateway;
    Json *doc = json_object(), *modules = json_array();
    json_set_str(doc, "tenantId", tenant->id);
    json_set_str(doc, "name", state->name);
    json_set_str_if(doc, "description", state->description);
    for (size_t i = 0; i < gateway->module_count; i++) {
        if (module_set_has(&state->modules, i)) {
            json_add(modules, json_string(module_id(gateway->modules[i])));
        }
    }
    add_texts(modules, &state->foreign);
    json_set(doc, "modules", modules);
    json_set_str_if(doc, "timers", state->timers);
    if (state->paused.len) {
        Json *paused = json_array();
        add_texts(paused, &state->paused);
        json_set(doc, "paused", paused);
    }
    return doc;
}

// A module that was stored under another version (the program is newer now) counts by its name.
static size_t stored_module_place(const Gateway *gateway, Str id)
{
    Str product, version;
    size_t place = module_place(gateway, id);
    if (place != SIZE_MAX) {
        return place;
    }
    module_id_split(id, &product, &version);
    return module_place(gateway, product);
}

static void state_read(const Gateway *gateway, const Json *doc, TenantState *state)
{
    *state = (TenantState){.name = json_str(doc, "name"),
                           .description = json_str(doc, "description"),
                           .timers = json_str(doc, "timers")};
    JSON_EACH(module, json_get(doc, "modules"))
    {
        Str id = json_scalar_text(module);
        size_t place = stored_module_place(gateway, id);
        if (place != SIZE_MAX) {
            module_set_add(&state->modules, place);
        } else {
            str_list_add(&state->foreign, id);
        }
    }
    JSON_EACH(name, json_get(doc, "paused"))
    {
        str_list_add(&state->paused, json_scalar_text(name));
    }
}

static Err *gone(const Tenant *tenant)
{
    return err_text(404, "Tenant " STR_FMT " not found", STR_ARG(tenant->id));
}

Err *tenant_change(Tenant *tenant, const TenantState *state)
{
    App *app = tenant->app;
    if (atomic_load(&tenant->is_gone)) {
        return gone(tenant);
    }
    TRY(own_save(app, &own_tenants, "tenant_id", "tenantId", state_doc(tenant, state)));
    pthread_mutex_lock(&app->gateway->lock);
    atomic_store_explicit(&tenant->state, keep_state(app->gateway, state), memory_order_release);
    pthread_mutex_unlock(&app->gateway->lock);
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Life of a tenant

static Err *migrate_enabled(Tenant *tenant, Db *db)
{
    const Gateway *gateway = tenant->app->gateway;
    const TenantState *state = tenant_state(tenant);
    const Collection *own[] = {&idempotent_answers};
    TRY(db_migrate(db, jobs_collections, JOBS_COLLECTIONS));
    TRY(db_migrate(db, own, 1));
    for (size_t i = 0; i < gateway->module_count; i++) {
        const Collection *const *tables = NULL;
        size_t n = module_tables(gateway->modules[i], &tables);
        if (n && module_set_has(&state->modules, i)) {
            TRY(db_migrate(db, tables, n));
        }
    }
    Err *err = db_mend(db);
    if (err) {
        log_line(LOG_WARN, "gateway",
                 "a batch of " STR_FMT " that broke off is not taken back yet: " STR_FMT,
                 STR_ARG(tenant->id), STR_ARG(err->message));
    }
    return NULL;
}

static Err *open_locked(Tenant *tenant)
{
    Db *db = NULL;
    if (tenant_db(tenant)) {
        return NULL;
    }
    if (atomic_load(&tenant->is_gone)) {
        return gone(tenant);
    }
    TRY(db_open(tenant->app->store, tenant->id, true, &db));
    TRY(migrate_enabled(tenant, db));
    atomic_store_explicit(&tenant->db, db, memory_order_release);
    return NULL;
}

Err *tenant_ready(Tenant *tenant, Db **db)
{
    *db = tenant_db(tenant);
    if (*db) {
        return NULL;
    }
    pthread_mutex_lock(&tenant->lock);
    Err *err = open_locked(tenant);
    pthread_mutex_unlock(&tenant->lock);
    *db = tenant_db(tenant);
    return err;
}

Err *tenant_open(Tenant *tenant, Db **db)
{
    return tenant_ready(tenant, db);
}

Err *tenant_migrate(App *app, Tenant *tenant)
{
    Db *db = NULL;
    (void)app;
    return tenant_ready(tenant, &db);
}

Err *tenant_id_check(Str id)
{
    bool is_good = id.len >= 1 && id.len <= TENANT_ID_MAX && id.at[0] >= 'a' && id.at[0] <= 'z';
    for (size_t i = 0; is_good && i < id.len; i++) {
        is_good = (id.at[i] >= 'a' && id.at[i] <= 'z') || (id.at[i] >= '0' && id.at[i] <= '9');
    }
    // "octavo" is the name of the process-wide database.
    if (is_good && !str_eq(id, S("octavo"))) {
        return NULL;
    }
    return err_text(400,
                    "Invalid tenant id, may only contain a-z and 0-9 and must match "
                    "'[a-z][a-z0-9]{0,30}' but it is " STR_FMT,
                    STR_ARG(id));
}

static Err *drop_locked(App *app, Str id)
{
    Tenant *tenant = NULL;
    bool found = false;
    if (str_eq(id, S(SUPERTENANT))) {
        return err_text(400, "Can not delete the superTenant %s", SUPERTENANT);
    }
    if (tenant_find(app, id, &tenant)) {
        return err_text(404, "Tenant " STR_FMT " not found", STR_ARG(id));
    }
    // Waits for an install that is under way; a later one finds the tenant gone.
    pthread_mutex_lock(&tenant->lock);
    Err *err = own_delete(app, &own_tenants, "tenant_id", id, &found);
    if (err) {
        pthread_mutex_unlock(&tenant->lock);
        return err;
    }
    pthread_mutex_lock(&app->gateway->lock);
    publish_list(app->gateway, NULL, tenant);
    atomic_store(&tenant->is_gone, true);
    pthread_mutex_unlock(&app->gateway->lock);
    pthread_mutex_unlock(&tenant->lock);

    if (app->scheduler) {
        jobs_forget(app->scheduler, id);
    }
    return db_drop(app->store, id);
}

static Err *create_locked(App *app, Str id, Str name, Str description)
{
    const Gateway *gateway = app->gateway;
    Tenant *tenant = NULL;
    TenantState state = {.name = name, .description = description};
    Db *db = NULL;

    if (!tenant_find(app, id, &tenant)) {
        return err_text(400, "Duplicate tenant id " STR_FMT, STR_ARG(id));
    }
    for (size_t i = 0; i < gateway->module_count; i++) {
        if (gateway->modules[i]->is_in_every_tenant) {
            module_set_add(&state.modules, i);
        }
    }
    Tenant draft = {.app = app, .id = id};
    Json *doc = state_doc(&draft, &state);
    bool was_there = false;
    TRY(own_claim(app, &own_tenants, "tenant_id", "tenantId", &doc, &was_there));
    if (was_there) { // made by another process just now
        atomic_store(&app->gateway->tenants_are_old, true);
        return err_text(400, "Duplicate tenant id " STR_FMT, STR_ARG(id));
    }
    // Data of a dropped tenant of the same name that a crash left behind.
    (void)!db_drop(app->store, id);
    tenant = add_tenant(app, id, &state);
    Err *err = tenant_ready(tenant, &db);
    Err *undone = err ? drop_locked(app, id) : NULL;
    if (undone) {
        log_line(LOG_ERROR, "gateway", "what was made of tenant " STR_FMT " stays: " STR_FMT,
                 STR_ARG(id), STR_ARG(undone->message));
    }
    return err;
}

Err *tenant_create(App *app, Str id, Str name, Str description)
{
    TRY(tenant_id_check(id));
    pthread_mutex_lock(&app->gateway->tenants_lock);
    Err *err = create_locked(app, id, name, description);
    pthread_mutex_unlock(&app->gateway->tenants_lock);
    return err;
}

typedef struct {
    Str id;
    Json *doc;
} Adoption;

static Err *entry_read(Tx *tx, void *context)
{
    Adoption *adoption = context;
    return tx_find(tx, &own_tenants, "tenant_id", adoption->id, &adoption->doc);
}

Err *tenant_adopt(App *app, Store *from, Str id)
{
    Adoption adoption = {.id = id};
    Db *own = NULL;

    TRY(db_open(from, S("octavo"), false, &own));
    TRY(tx_run(own, &(TxOptions){.kind = READ}, entry_read, &adoption));
    if (!adoption.doc) {
        return err_text(404, "Tenant " STR_FMT " not found", STR_ARG(id));
    }
    return own_save(app, &own_tenants, "tenant_id", "tenantId", adoption.doc);
}

Err *tenant_drop(App *app, Str id)
{
    pthread_mutex_lock(&app->gateway->tenants_lock);
    Err *err = drop_locked(app, id);
    pthread_mutex_unlock(&app->gateway->tenants_lock);
    return err;
}

// ---------------------------------------------------------------------------------------------
// Timers

// Okapi's unit and delay, as Okapi reads them.
Err *timer_period(const Json *entry, int *seconds)
{
    static const struct {
        const char *unit;
        int64_t ms;
    } units[] = {{"millisecond", 1},
                 {"second", SECOND_MS},
                 {"minute", MINUTE_MS},
                 {"hour", HOUR_MS},
                 {"day", DAY_MS}};
    Str delay = json_has(entry, "delay") ? json_scalar_text(json_get(entry, "delay")) : S("0");
    int64_t unit_ms = json_has(entry, "unit") ? -1 : 0, n = 0;

    *seconds = 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (str_eq_z(json_str(entry, "unit"), units[i].unit)) {
            unit_ms = units[i].ms;
        }
    }
    if (unit_ms < 0) {
        return err_text(400, "unit must be millisecond, second, minute, hour or day");
    }
    if (!str_int64(delay, &n) || n < INT32_MIN || n > INT32_MAX) {
        return err_text(400, "For input string: \"" STR_FMT "\"", STR_ARG(delay));
    }
    int64_t whole = n > 0 ? (n * unit_ms + SECOND_MS - 1) / SECOND_MS : 0;
    *seconds = whole < INT32_MAX ? (int)whole : INT32_MAX;
    return NULL;
}

static const Timer *own_delay(Tenant *tenant, const Timer *timer, const Json *change)
{
    if (!change) {
        return timer;
    }
    Gateway *gateway = tenant->app->gateway;
    pthread_mutex_lock(&gateway->lock);
    Timer *changed = arena_alloc(gateway->arena, sizeof *changed);
    pthread_mutex_unlock(&gateway->lock);
    *changed = *timer;
    (void)!timer_period(change, &changed->every_s); // it was looked at before it was stored
    changed->cron = NULL;
    return changed;
}

static Err *mend(Db *db, Time now)
{
    (void)now;
    return db_mend(db);
}

// Of another node that died in the middle of a batch.
static const Timer mending = {
    .name = "take-back-batches", .every_s = 60, .run = mend, .due = timer_due_in_an_hour};

void tenant_timers_start(Tenant *tenant)
{
    const Gateway *gateway = tenant->app->gateway;
    const TenantState *state = tenant_state(tenant);
    Scheduler *scheduler = tenant->app->scheduler;
    if (!scheduler) {
        return;
    }
    Json *changes = state->timers.len ? json_parse_stored(state->timers) : NULL;
    jobs_timers_clear(scheduler, tenant->id);
    jobs_timer(scheduler, tenant->id, &mending);
    for (size_t i = 0; i < gateway->module_count; i++) {
        const Timer *timer = gateway->modules[i]->timers;
        for (int n = 0; module_set_has(&state->modules, i) && timer && timer->name; timer++, n++) {
            const char *id = str_z(str_fmt("%s_%d", gateway->modules[i]->name, n));
            jobs_timer(scheduler, tenant->id, own_delay(tenant, timer, json_get(changes, id)));
        }
    }
    for (size_t i = 0; i < state->paused.len; i++) {
        jobs_timer_pause(scheduler, tenant->id, state->paused.at[i], true);
    }
}

static Err *pause_keep(Tenant *tenant, Str name, bool pauses)
{
    const TenantState *old = tenant_state(tenant);
    TenantState state = *old;

    state.paused = (StrList){0};
    for (size_t i = 0; i < old->paused.len; i++) {
        if (!str_eq(old->paused.at[i], name)) {
            str_list_add(&state.paused, old->paused.at[i]);
        }
    }
    if (pauses) {
        str_list_add(&state.paused, name);
    }
    return tenant_change(tenant, &state);
}

Err *tenant_timer_pause(Tenant *tenant, Str name, bool pauses, bool *found)
{
    Scheduler *scheduler = tenant->app->scheduler;

    pthread_mutex_lock(&tenant->lock);
    *found = scheduler && jobs_timer_pause(scheduler, tenant->id, name, pauses);
    Err *err = *found ? pause_keep(tenant, name, pauses) : NULL;
    pthread_mutex_unlock(&tenant->lock);
    return err;
}

// ---------------------------------------------------------------------------------------------

static void tenant_read(App *app, const Json *doc)
{
    Str id = json_str(doc, "tenantId");
    Tenant *tenant = lookup(atomic_load(&app->gateway->tenants), id);
    TenantState state;

    state_read(app->gateway, doc, &state);
    if (!tenant) {
        tenant = add_tenant(app, id, &state);
    } else if (json_equal(state_doc(tenant, &state), state_doc(tenant, tenant_state(tenant)))) {
        return;
    } else {
        pthread_mutex_lock(&app->gateway->lock);
        atomic_store_explicit(&tenant->state, keep_state(app->gateway, &state),
                              memory_order_release);
        pthread_mutex_unlock(&app->gateway->lock);
    }
    tenant_timers_start(tenant);
}

static bool is_listed(const Docs *docs, Str id)
{
    for (size_t i = 0; i < docs->len; i++) {
        if (str_eq(json_str(docs->at[i], "tenantId"), id)) {
            return true;
        }
    }
    return false;
}

// Of those that were known before the records were read: a newer one is not among them.
static void tenants_remove(App *app, const TenantList *list, const Docs *docs)
{
    Gateway *gateway = app->gateway;

    for (size_t i = 0; list && i < list->len; i++) {
        Tenant *tenant = list->at[i];
        if (atomic_load(&tenant->is_gone) || is_listed(docs, tenant->id)) {
            continue;
        }
        pthread_mutex_lock(&gateway->lock);
        publish_list(gateway, NULL, tenant);
        atomic_store(&tenant->is_gone, true);
        pthread_mutex_unlock(&gateway->lock);
        if (app->scheduler) {
            jobs_forget(app->scheduler, tenant->id);
        }
    }
}

Err *tenants_refresh(App *app)
{
    const TenantList *before = NULL;
    Docs docs = {0};

    // Who comes second finds everything done.
    pthread_mutex_lock(&app->gateway->refresh_lock);
    Err *err = NULL;
    atomic_store(&app->gateway->reads_tenants, true);
    if (atomic_exchange(&app->gateway->tenants_are_old, false)) {
        before = atomic_load(&app->gateway->tenants);
        err = own_all(app, &own_tenants, &docs);
        for (size_t i = 0; i < docs.len && !err; i++) {
            tenant_read(app, docs.at[i]);
        }
        if (err) {
            atomic_store(&app->gateway->tenants_are_old, true);
        } else {
            tenants_remove(app, before, &docs);
        }
    }
    atomic_store(&app->gateway->reads_tenants, false);
    pthread_mutex_unlock(&app->gateway->refresh_lock);
    return err;
}

Err *tenants_reload(App *app)
{
    atomic_store(&app->gateway->tenants_are_old, true);
    return tenants_refresh(app);
}

static void changed_elsewhere(void *context, Db *db, const Collection *of)
{
    App *app = context;

    if (app->gateway && db == app->own && of == &own_tenants) {
        atomic_store(&app->gateway->tenants_are_old, true);
    }
}

Err *tenants_load(App *app)
{
    Tenant *tenant = NULL;

    store_on_change(app->store, changed_elsewhere, app);
    atomic_store(&app->gateway->tenants_are_old, true);
    TRY(tenants_refresh(app));
    if (!tenant_find(app, S(SUPERTENANT), &tenant)) {
        return NULL;
    }
    Err *err = tenant_create(app, S(SUPERTENANT), S(SUPERTENANT), S("Okapi built-in super tenant"));
    // Another process that starts may have been first.
    return err && tenant_find(app, S(SUPERTENANT), &tenant) ? err : NULL;
}
