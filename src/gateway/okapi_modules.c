// Okapi's interface: module descriptors, built in and registered.
#include "gateway/okapi.h"

#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

enum {
    LIST_TEXT_MAX = 64 * 1024 * 1024,
};

// ---------------------------------------------------------------------------------------------
// Lists

static bool is_pre_release(Str id)
{
    Str product, version;
    module_id_split(id, &product, &version);
    return str_find_char(version, '-', 0) >= 0;
}

static bool names_interface(const Json *list, Str wanted)
{
    Str version = wanted, id;
    (void)str_next(&version, '=', &id);
    JSON_EACH(one, list)
    {
        if (str_eq(json_str(one, "id"), id) &&
            (!version.len || interface_fits(json_str(one, "version"), version))) {
            return true;
        }
    }
    return false;
}

static bool passes(const Req *req, const ModuleItem *item)
{
    Str filter = req_query_text(req, "filter"), pre = req_query_text(req, "preRelease");
    Str provide = req_query_text(req, "provide"), require = req_query_text(req, "require");
    Str product, version;

    module_id_split(item->id, &product, &version);
    if (filter.len && !str_eq(filter, product) && !str_eq(filter, item->id)) {
        return false;
    }
    if ((str_eq(pre, S("false")) && is_pre_release(item->id)) ||
        (str_eq(pre, S("only")) && !is_pre_release(item->id))) {
        return false;
    }
    if (!provide.len && !require.len) {
        return true;
    }
    const Json *descriptor =
        item->module ? descriptor_of(req->app, item->module) : item->descriptor;
    return (!provide.len || names_interface(json_get(descriptor, "provides"), provide)) &&
           (!require.len || names_interface(json_get(descriptor, "requires"), require));
}

// Only the newest `latest` of each product. `items` is ascending by id.
static bool is_among_latest(const ModuleItem *items, size_t n, size_t at, int64_t latest)
{
    Str product, other, version;
    int64_t newer = 0;
    module_id_split(items[at].id, &product, &version);
    for (size_t i = at + 1; i < n; i++) {
        module_id_split(items[i].id, &other, &version);
        if (!str_eq(product, other)) {
            break;
        }
        newer++;
    }
    return newer < latest;
}

static void write_item(Buf *buf, const Req *req, const ModuleItem *item)
{
    if (req_query_flag(req, "full")) {
        buf_add(buf, item->module ? descriptor_text(req->app, item->module)
                                  : json_text(item->descriptor));
        return;
    }
    Json *json = json_object();
    json_set_str(json, "id", item->id);
    json_set_str_if(json, "name", item->name);
    json_write(buf, json);
}

Err *okapi_reply_modules(Req *req, ModuleItem *items, size_t count)
{
    Buf buf = buf_new(arena_current(), LIST_TEXT_MAX);
    size_t n = 0;
    int64_t latest = 0;
    bool descending = str_eq(req_query_text(req, "order"), S("desc"));
    const char *between = "";

    TRY(req_query_int(req, "latest", INT32_MAX, &latest));
    for (size_t i = 0; i < count; i++) {
        if (passes(req, &items[i])) {
            items[n++] = items[i];
        }
    }
    buf_char(&buf, '[');
    for (size_t i = 0; i < n; i++) {
        size_t at = descending ? n - 1 - i : i;
        if (is_among_latest(items, n, at, latest)) {
            buf_add_z(&buf, between);
            write_item(&buf, req, &items[at]);
            between = ",";
        }
    }
    buf_char(&buf, ']');
    return reply_json_text(req, 200, buf_str(&buf));
}

static int by_id(const void *a, const void *b)
{
    return module_id_cmp(((const ModuleItem *)a)->id, ((const ModuleItem *)b)->id);
}

static Err *all_items(App *app, ModuleItem **out, size_t *count)
{
    const Gateway *gateway = app->gateway;
    Docs stored = {0};
    TRY(own_all(app, &own_descriptors, &stored));
    ModuleItem *items = NEW_ARRAY(ModuleItem, gateway->module_count + stored.len);
    size_t n = 0;
    for (size_t i = 0; i < gateway->module_count; i++) {
        const Module *module = gateway->modules[i];
        items[n++] =
            (ModuleItem){.id = module_id(module), .name = str_of(module->name), .module = module};
    }
    for (size_t i = 0; i < stored.len; i++) {
        const Json *descriptor = json_get(stored.at[i], "descriptor");
        items[n++] = (ModuleItem){.id = json_str(descriptor, "id"),
                                  .name = json_str(descriptor, "name"),
                                  .descriptor = descriptor};
    }
    sort_array(items, n, sizeof *items, by_id);
    *out = items;
    *count = n;
    return NULL;
}

Err *okapi_modules_list(Req *req)
{
    ModuleItem *items = NULL;
    size_t n = 0;
    TRY(all_items(req->app, &items, &n));
    return okapi_reply_modules(req, items, n);
}

// ---------------------------------------------------------------------------------------------
// Registering

static Err *check_descriptor(const Json *descriptor)
{
    Str id = json_str(descriptor, "id"), product, version;
    if (!json_is_object(descriptor)) {
        return err_text(400, "Json content error: a module descriptor must be an object");
    }
    if (!id.len) {
        return err_text(400, "No Id in module");
    }
    module_id_split(id, &product, &version);
    if (!version.len) {
        return err_text(400, "missing semantic version in: " STR_FMT, STR_ARG(id));
    }
    JSON_EACH(set, json_get(descriptor, "permissionSets"))
    {
        if (!json_str(set, "permissionName").len) {
            return err_text(400, "Json content error: a permission set has no permissionName");
        }
    }
    return NULL;
}

// The same content again is fine; another content under a known id is not.
static Err *store_descriptor(Req *req, const Json *descriptor)
{
    Json *old = NULL;
    Str id = json_str(descriptor, "id");
    Str check = req_query_text(req, "check");
    TRY(check_descriptor(descriptor));
    TRY(descriptor_find(req->app, id, &old));
    if (old && module_place(req->app->gateway, id) != SIZE_MAX) {
        return NULL; // built in: ours counts
    }
    if (old && !str_eq(check, S("false")) && !json_equal(old, descriptor)) {
        return err_text(400, "create: module " STR_FMT " exists already", STR_ARG(id));
    }
    Json *doc = json_object();
    json_set_str(doc, "moduleId", id);
    json_set(doc, "descriptor", json_copy(descriptor));
    return own_save(req->app, &own_descriptors, "module_id", "moduleId", doc);
}

Err *okapi_module_create(Req *req)
{
    Json *body = NULL;
    TRY(req_body_object(req, &body));
    TRY(store_descriptor(req, body));
    reply_header(req, "location",
                 str_fmt("/_/proxy/modules/" STR_FMT, STR_ARG(json_str(body, "id"))));
    return reply_json(req, 201, body);
}

Err *okapi_modules_import(Req *req)
{
    if (!json_is_array(req->json)) {
        return err_text(400, "Json content error: the body must be an array of descriptors");
    }
    JSON_EACH(descriptor, req->json)
    {
        TRY(store_descriptor(req, descriptor));
    }
    return reply_empty(req, 204);
}

Err *okapi_module_get(Req *req)
{
    Json *descriptor = NULL;
    TRY(descriptor_find(req->app, req_param(req, 0), &descriptor));
    if (!descriptor) {
        return err_text(404, "Module " STR_FMT " not found", STR_ARG(req_param(req, 0)));
    }
    return reply_json(req, 200, descriptor);
}

static const Tenant *user_of_module(const App *app, Str id)
{
    const TenantList *list = atomic_load(&app->gateway->tenants);
    for (size_t i = 0; i < list->len; i++) {
        if (str_list_has(&tenant_state(list->at[i])->foreign, id)) {
            return list->at[i];
        }
    }
    return NULL;
}

Err *okapi_module_delete(Req *req)
{
    Str id = req_param(req, 0);
    bool found = false;
    if (module_place(req->app->gateway, id) != SIZE_MAX) {
        return err_text(400, "delete: module " STR_FMT " is built in", STR_ARG(id));
    }
    const Tenant *user = user_of_module(req->app, id);
    if (user) {
        return err_text(400, "delete: module " STR_FMT " is used by tenant " STR_FMT, STR_ARG(id),
                        STR_ARG(user->id));
    }
    TRY(own_delete(req->app, &own_descriptors, "module_id", id, &found));
    if (!found) {
        return err_text(404, "Module " STR_FMT " not found", STR_ARG(id));
    }
    return reply_empty(req, 204);
}
