// Okapi's interface: tenants, what is enabled for them, their timers.
#include "gateway/okapi.h"

#include "base/uuid.h"

#include <string.h>

Err *okapi_path_tenant(const Req *req, Tenant **out)
{
    Str id = req_param(req, 0);
    if (tenant_find(req->app, id, out)) {
        return err_text(404, "Tenant " STR_FMT " not found", STR_ARG(id));
    }
    return NULL;
}

static Json *tenant_json(const Tenant *tenant)
{
    const TenantState *state = tenant_state(tenant);
    Json *json = json_object();
    json_set_str(json, "id", tenant->id);
    json_set_str(json, "name", state->name);
    json_set_str_if(json, "description", state->description);
    return json;
}

Err *okapi_tenants_list(Req *req)
{
    const TenantList *list = atomic_load(&req->app->gateway->tenants);
    Json *array = json_array();
    for (size_t i = 0; i < list->len; i++) {
        json_add(array, tenant_json(list->at[i]));
    }
    return reply_json(req, 200, array);
}

// "t" and a random id, cut to what a tenant id may be.
static Str random_tenant_id(void)
{
    Str id = uuid_new();
    Buf buf = buf_new(arena_current(), 64);
    buf_char(&buf, 't');
    for (size_t i = 0; i < id.len && buf.len < 31; i++) {
        if (id.at[i] != '-') {
            buf_char(&buf, id.at[i]);
        }
    }
    return buf_str(&buf);
}

Err *okapi_tenant_create(Req *req)
{
    Json *body = NULL;
    Tenant *tenant = NULL;
    TRY(req_body_object(req, &body));
    Str id = json_str(body, "id").len ? json_str(body, "id") : random_tenant_id();
    Str name = json_str(body, "name").len ? json_str(body, "name") : id;
    TRY(tenant_create(req->app, id, name, json_str(body, "description")));
    TRY(tenant_find(req->app, id, &tenant));
    reply_header(req, "location", str_fmt("/_/proxy/tenants/" STR_FMT, STR_ARG(id)));
    return reply_json(req, 201, tenant_json(tenant));
}

Err *okapi_tenant_get(Req *req)
{
    Tenant *tenant = NULL;
    TRY(okapi_path_tenant(req, &tenant));
    return reply_json(req, 200, tenant_json(tenant));
}

Err *okapi_tenant_put(Req *req)
{
    Json *body = NULL;
    Tenant *tenant = NULL;
    TRY(req_body_object(req, &body));
    TRY(okapi_path_tenant(req, &tenant));
    Str id = json_str(body, "id");
    if (id.len && !str_eq(id, tenant->id)) {
        return err_text(400,
                        "The tenant id must not be changed, old='" STR_FMT "', new='" STR_FMT "'",
                        STR_ARG(tenant->id), STR_ARG(id));
    }
    pthread_mutex_lock(&tenant->lock);
    TenantState state = *tenant_state(tenant);
    state.name = json_str(body, "name").len ? json_str(body, "name") : state.name;
    state.description = json_str(body, "description");
    Err *err = tenant_change(tenant, &state);
    pthread_mutex_unlock(&tenant->lock);
    return err ? err : reply_json(req, 200, tenant_json(tenant));
}

Err *okapi_tenant_delete(Req *req)
{
    TRY(tenant_drop(req->app, req_param(req, 0)));
    return reply_empty(req, 204);
}

// ---------------------------------------------------------------------------------------------
// Modules of a tenant

static Err *enabled_descriptors(Req *req, Tenant *tenant, Json **array)
{
    StrList ids = {0};
    tenant_module_ids(tenant, &ids);
    *array = json_array();
    for (size_t i = 0; i < ids.len; i++) {
        Json *descriptor = NULL;
        TRY(descriptor_find(req->app, ids.at[i], &descriptor));
        if (descriptor) {
            json_add(*array, descriptor);
        }
    }
    return NULL;
}

// Ids alone need no descriptors unless something is filtered by what they provide.
static bool wants_descriptors(const Req *req)
{
    return req_query_flag(req, "full") || req_query_text(req, "provide").len ||
           req_query_text(req, "require").len;
}

Err *okapi_tenant_modules(Req *req)
{
    const Gateway *gateway = req->app->gateway;
    Tenant *tenant = NULL;
    StrList ids = {0};
    TRY(okapi_path_tenant(req, &tenant));
    tenant_module_ids(tenant, &ids);
    ModuleItem *items = NEW_ARRAY(ModuleItem, ids.len + 1);
    for (size_t i = 0; i < ids.len; i++) {
        size_t place = module_place(gateway, ids.at[i]);
        Json *descriptor = NULL;
        if (place == SIZE_MAX && wants_descriptors(req)) {
            TRY(descriptor_find(req->app, ids.at[i], &descriptor));
        }
        items[i] = (ModuleItem){.id = ids.at[i],
                                .module = place == SIZE_MAX ? NULL : gateway->modules[place],
                                .descriptor = descriptor};
    }
    return okapi_reply_modules(req, items, ids.len);
}

static bool is_enabled(const Tenant *tenant, Str id)
{
    StrList ids = {0};
    tenant_module_ids(tenant, &ids);
    return str_list_has(&ids, id);
}

static Err *reply_id(Req *req, int status, Str id)
{
    Json *json = json_object();
    json_set_str(json, "id", id);
    return reply_json(req, status, json);
}

Err *okapi_tenant_module_get(Req *req)
{
    Tenant *tenant = NULL;
    TRY(okapi_path_tenant(req, &tenant));
    if (!is_enabled(tenant, req_param(req, 1))) {
        return err_text(404, "Module " STR_FMT " not enabled for tenant " STR_FMT,
                        STR_ARG(req_param(req, 1)), STR_ARG(tenant->id));
    }
    return reply_id(req, 200, req_param(req, 1));
}

static void also_wanted(Json *array, Str id, Str action)
{
    Json *one = json_object();
    json_set_str(one, "id", id);
    json_set_str(one, "action", action);
    json_add(array, one);
}

static Json *wanted(Str id, Str action)
{
    Json *array = json_array();
    also_wanted(array, id, action);
    return array;
}

// `steps`: what else is wanted, before it.
static Err *enable_one(Req *req, Tenant *tenant, Json *steps, Str id)
{
    InstallOptions options = {.dep_check = true};
    Json *done = NULL;
    Str known = {0};
    TRY(descriptor_newest(req->app, id, &known));
    if (!known.len) {
        return err_text(404, "Module " STR_FMT " not found", STR_ARG(id));
    }
    also_wanted(steps, known, S("enable"));
    TRY(install_run(tenant, steps, &options, &done));
    reply_header(req, "location",
                 str_fmt("/_/proxy/tenants/" STR_FMT "/modules/" STR_FMT, STR_ARG(tenant->id),
                         STR_ARG(known)));
    return reply_id(req, 201, known);
}

Err *okapi_tenant_module_enable(Req *req)
{
    Tenant *tenant = NULL;
    Json *body = NULL;
    TRY(req_body_object(req, &body));
    TRY(okapi_path_tenant(req, &tenant));
    return enable_one(req, tenant, json_array(), json_str(body, "id"));
}

// Enables the module of the body in place of the one in the path: one plan, so that the former
// stays if the new one cannot come.
Err *okapi_tenant_module_upgrade(Req *req)
{
    Tenant *tenant = NULL;
    Json *body = NULL, *steps = json_array();
    TRY(req_body_object(req, &body));
    TRY(okapi_path_tenant(req, &tenant));
    Str from = req_param(req, 1), to = json_str(body, "id"), from_product, to_product, version;
    module_id_split(from, &from_product, &version);
    module_id_split(to, &to_product, &version);
    if (!is_enabled(tenant, from)) {
        return err_text(404, "Module " STR_FMT " not enabled for tenant " STR_FMT, STR_ARG(from),
                        STR_ARG(tenant->id));
    }
    if (!str_eq(from_product, to_product)) {
        also_wanted(steps, from, S("disable"));
    }
    return enable_one(req, tenant, steps, to);
}

Err *okapi_tenant_module_disable(Req *req)
{
    Tenant *tenant = NULL;
    Json *done = NULL;
    InstallOptions options = {.purge = req_query_flag(req, "purge")};
    TRY(okapi_path_tenant(req, &tenant));
    if (!is_enabled(tenant, req_param(req, 1))) {
        return err_text(404, "Module " STR_FMT " not enabled for tenant " STR_FMT,
                        STR_ARG(req_param(req, 1)), STR_ARG(tenant->id));
    }
    TRY(install_run(tenant, wanted(req_param(req, 1), S("disable")), &options, &done));
    return reply_empty(req, 204);
}

Err *okapi_tenant_modules_disable_all(Req *req)
{
    Tenant *tenant = NULL;
    Json *done = NULL, *all = json_array();
    StrList ids = {0};
    InstallOptions options = {.purge = req_query_flag(req, "purge")};
    TRY(okapi_path_tenant(req, &tenant));
    tenant_module_ids(tenant, &ids);
    for (size_t i = 0; i < ids.len; i++) {
        also_wanted(all, ids.at[i], S("disable"));
    }
    TRY(install_run(tenant, all, &options, &done));
    return reply_empty(req, 204);
}

// ---------------------------------------------------------------------------------------------
// Interfaces of a tenant

static bool is_of_type(const Json *interface, Str type)
{
    Str own = json_str(interface, "interfaceType");
    return !type.len || str_eq(own.len ? own : S("proxy"), type);
}

static Json *short_interface(const Json *interface)
{
    Json *json = json_object();
    json_take(json, "id", interface, "id");
    json_take(json, "version", interface, "version");
    json_take(json, "interfaceType", interface, "interfaceType");
    return json;
}

Err *okapi_tenant_interfaces(Req *req)
{
    Tenant *tenant = NULL;
    Json *descriptors = NULL, *array = json_array();
    Str type = req_query_text(req, "type");
    bool full = req_query_flag(req, "full");
    TRY(okapi_path_tenant(req, &tenant));
    TRY(enabled_descriptors(req, tenant, &descriptors));
    JSON_EACH(descriptor, descriptors)
    {
        JSON_EACH(interface, json_get(descriptor, "provides"))
        {
            if (is_of_type(interface, type)) {
                json_add(array, full ? json_copy(interface) : short_interface(interface));
            }
        }
    }
    return reply_json(req, 200, array);
}

static bool provides_interface(const Json *descriptor, Str id, Str type)
{
    JSON_EACH(interface, json_get(descriptor, "provides"))
    {
        if (str_eq(json_str(interface, "id"), id) && is_of_type(interface, type)) {
            return true;
        }
    }
    return false;
}

Err *okapi_tenant_interface(Req *req)
{
    Tenant *tenant = NULL;
    Json *descriptors = NULL, *array = json_array();
    Str type = req_query_text(req, "type");
    TRY(okapi_path_tenant(req, &tenant));
    TRY(enabled_descriptors(req, tenant, &descriptors));
    JSON_EACH(descriptor, descriptors)
    {
        if (provides_interface(descriptor, req_param(req, 1), type)) {
            Json *one = json_object();
            json_take(one, "id", descriptor, "id");
            json_add(array, one);
        }
    }
    return reply_json(req, 200, array);
}

// ---------------------------------------------------------------------------------------------
// Timers

static Json *timer_json(const TenantState *state, Str id, const Timer *timer)
{
    Json *json = json_object(), *entry = timer_entry(timer);
    Json *changes = state->timers.len ? json_parse_stored(state->timers) : NULL;
    Json *change = json_get(changes, str_z(id));
    json_take(entry, "unit", change, "unit");
    json_take(entry, "delay", change, "delay");
    json_set_str(json, "id", id);
    json_set_bool(json, "modified", change != NULL);
    json_set(json, "routingEntry", entry);
    return json;
}

// All timers of enabled modules, or the one with that id.
static Json *timers_json(const Tenant *tenant, Str only)
{
    const Gateway *gateway = tenant->app->gateway;
    const TenantState *state = tenant_state(tenant);
    Json *array = json_array();
    for (size_t i = 0; i < gateway->module_count; i++) {
        const Timer *timer = gateway->modules[i]->timers;
        for (int n = 0; module_set_has(&state->modules, i) && timer && timer->name; timer++, n++) {
            Str id = str_fmt("%s_%d", gateway->modules[i]->name, n);
            if (!only.len || str_eq(only, id)) {
                json_add(array, timer_json(state, id, timer));
            }
        }
    }
    return array;
}

static Err *no_timer(const Req *req, Str id)
{
    (void)req;
    return err_text(404, "Timer " STR_FMT " not found", STR_ARG(id));
}

Err *okapi_timers(Req *req)
{
    Tenant *tenant = NULL;
    TRY(okapi_path_tenant(req, &tenant));
    return reply_json(req, 200, timers_json(tenant, (Str){"", 0}));
}

Err *okapi_timer_get(Req *req)
{
    Tenant *tenant = NULL;
    TRY(okapi_path_tenant(req, &tenant));
    Json *found = json_first(timers_json(tenant, req_param(req, 1)));
    return found ? reply_json(req, 200, found) : no_timer(req, req_param(req, 1));
}

static Err *change_timer(Tenant *tenant, Str id, const Json *entry)
{
    TenantState state = *tenant_state(tenant);
    Json *changes = state.timers.len ? json_parse_stored(state.timers) : json_object();
    Json *change = NULL;
    if (json_has(entry, "unit") || json_has(entry, "delay")) {
        change = json_object();
        json_take(change, "unit", entry, "unit");
        if (json_has(entry, "delay")) {
            json_set_str(change, "delay", json_scalar_text(json_get(entry, "delay")));
        }
    }
    json_set(changes, str_z(id), change);
    state.timers = json_len(changes) ? json_text(changes) : (Str){"", 0};
    TRY(tenant_change(tenant, &state));
    tenant_timers_start(tenant);
    return NULL;
}

// The lesser permission reaches the caller's own tenant only.
static Err *timers_must_be_in_reach(const Req *req, const Tenant *tenant)
{
    if (str_eq(tenant->id, req->tenant_id) || req_has_permission(req, OKAPI_TIMERS_PATCH) ||
        str_is_empty(req->user_id)) {
        return NULL;
    }
    return err_text(403, "Access for user '" STR_FMT "' (" STR_FMT ") requires permission: %s",
                    STR_ARG(req->user_name), STR_ARG(req->user_id), OKAPI_TIMERS_PATCH);
}

// No timer of ours goes by a schedule.
static Err *timer_entry_check(const Json *entry)
{
    int seconds = 0;

    if (!json_is_object(entry)) {
        return err_text(400, "Json content error: routingEntry must be an object");
    }
    if (json_has(entry, "schedule")) {
        return err_text(400, "schedule cannot be changed, only unit and delay");
    }
    return timer_period(entry, &seconds);
}

// The body is {"id","routingEntry"}; with the id in the path also the bare routing entry.
Err *okapi_timer_patch(Req *req)
{
    Tenant *tenant = NULL;
    Json *body = NULL;
    TRY(req_body_object(req, &body));
    TRY(okapi_path_tenant(req, &tenant));
    TRY(timers_must_be_in_reach(req, tenant));
    Str id = req->param_count > 1 ? req_param(req, 1) : json_str(body, "id");
    const Json *entry = json_get(body, "routingEntry");
    if (!entry && req->param_count > 1) {
        entry = body;
    }
    if (!id.len || !json_first(timers_json(tenant, id))) {
        return no_timer(req, id);
    }
    TRY(timer_entry_check(entry));
    pthread_mutex_lock(&tenant->lock);
    Err *err = change_timer(tenant, id, entry);
    pthread_mutex_unlock(&tenant->lock);
    return err ? err : reply_empty(req, 204);
}
