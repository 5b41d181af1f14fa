// Module descriptors: made from the tables of built-in modules, stored for foreign ones (front
// ends). Source: spec/platform.md 1.6, 1.8; decisions 2, 3.
#include "gateway/internal.h"

#include "base/asset.h"

#include <ctype.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------
// Ids and versions

void module_id_split(Str id, Str *product, Str *version)
{
    for (size_t i = 0; i + 1 < id.len; i++) {
        if (id.at[i] == '-' && isdigit((unsigned char)id.at[i + 1])) {
            *product = str_sub(id, 0, i);
            *version = str_sub(id, i + 1, id.len);
            return;
        }
    }
    *product = id;
    *version = (Str){"", 0};
}

static int compare_parts(Str a, Str b)
{
    int64_t x = 0, y = 0;
    bool a_number = str_int64(a, &x), b_number = str_int64(b, &y);
    if (a_number && b_number) {
        return (x > y) - (x < y);
    }
    if (a_number != b_number) {
        return a_number ? -1 : 1; // numbers sort before words
    }
    return str_cmp(a, b);
}

static int compare_dotted(Str a, Str b)
{
    Str x, y;
    for (;;) {
        bool more_a = str_next(&a, '.', &x), more_b = str_next(&b, '.', &y);
        if (!more_a || !more_b) {
            return (int)more_a - (int)more_b;
        }
        int order = compare_parts(x, y);
        if (order) {
            return order;
        }
    }
}

// Semantic versions: a pre-release ("-SNAPSHOT.12") comes before its release.
static int compare_versions(Str a, Str b)
{
    Str a_main, b_main;
    (void)str_next(&a, '-', &a_main);
    (void)str_next(&b, '-', &b_main);
    int order = compare_dotted(a_main, b_main);
    if (order) {
        return order;
    }
    bool a_is_pre = a.at != NULL, b_is_pre = b.at != NULL;
    if (a_is_pre != b_is_pre) {
        return a_is_pre ? -1 : 1;
    }
    return a_is_pre ? compare_dotted(a, b) : 0;
}

int module_id_cmp(Str a, Str b)
{
    Str a_product, b_product, a_version, b_version;
    module_id_split(a, &a_product, &a_version);
    module_id_split(b, &b_product, &b_version);
    int order = str_cmp(a_product, b_product);
    return order ? order : compare_versions(a_version, b_version);
}

static bool fits_one(Str have, Str need)
{
    Str have_major, need_major;
    (void)str_next(&have, '.', &have_major);
    (void)str_next(&need, '.', &need_major);
    return str_eq(have_major, need_major) && compare_dotted(have, need) >= 0;
}

bool interface_fits(Str have, Str required)
{
    Str one;
    while (str_next(&required, ' ', &one)) {
        if (one.len && fits_one(have, one)) {
            return true;
        }
    }
    return false;
}

// ---------------------------------------------------------------------------------------------
// Permissions

Str permission_display_name(Str name)
{
    Buf buf = buf_new(arena_current(), 4096);
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i];
        if (i == 0) {
            buf_char(&buf, (char)toupper((unsigned char)c));
        } else if (c == '.') {
            buf_add_z(&buf, ": ");
        } else {
            buf_char(&buf, c == '-' || c == '_' ? ' ' : c);
        }
    }
    return buf_str(&buf);
}

typedef struct {
    Json *sets;
    PermissionNames *seen;
} SetsBuilder;

static void add_set(SetsBuilder *builder, Str name, Str subs)
{
    size_t before = permission_count(builder->seen);
    if (!name.len || str_find_char(name, '*', 0) >= 0 ||
        permission_number(builder->seen, name) < before) {
        return;
    }
    Json *set = json_object();
    json_set_str(set, "permissionName", name);
    json_set_str(set, "displayName", permission_display_name(name));
    Str sub;
    Json *array = NULL;
    while (str_next(&subs, ',', &sub)) {
        if (sub.len) {
            array = array ? array : json_array();
            json_add(array, json_string(sub));
        }
    }
    json_set(set, "subPermissions", array);
    json_set_bool(set, "visible", false);
    json_add(builder->sets, set);
}

static void add_sets(SetsBuilder *builder, const StrList *names)
{
    for (size_t i = 0; i < names->len; i++) {
        add_set(builder, names->at[i], (Str){NULL, 0});
    }
}

// The names of the routes, and the sets of refdata/<module>/permission-sets.tsv.
static Json *permission_sets(const Gateway *gateway, const Module *module, size_t place)
{
    SetsBuilder builder = {json_array(), permission_names_new()};
    const CompiledRoute *const *routes = NULL;
    size_t n = gateway->routes ? route_table_entries(gateway->routes, &routes) : 0;
    Str file = {0}, line, name;

    asset_find(str_z(str_fmt("refdata/%s/permission-sets.tsv", module->name)), &file);
    while (str_next(&file, '\n', &line)) {
        if (str_next(&line, '\t', &name)) {
            add_set(&builder, name, line);
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (routes[i]->module == place) {
            add_sets(&builder, &routes[i]->required);
            add_sets(&builder, &routes[i]->later);
            add_sets(&builder, &routes[i]->desired);
        }
    }
    return builder.sets;
}

static void strings_of(const Json *array, StrList *out)
{
    JSON_EACH(one, array)
    {
        str_list_add(out, json_scalar_text(one));
    }
}

void definitions_of(const Json *descriptor, PermissionDefinitions *out)
{
    const Json *sets = json_get(descriptor, "permissionSets");
    size_t n = json_len(sets), i = 0;
    PermissionDefinition *at = NEW_ARRAY(PermissionDefinition, n ? n : 1);

    *out = (PermissionDefinitions){0};
    module_id_split(json_str(descriptor, "id"), &out->module_name, &out->module_version);
    JSON_EACH(set, sets)
    {
        at[i].name = json_str(set, "permissionName");
        at[i].display_name = json_str(set, "displayName");
        at[i].description = json_str(set, "description");
        at[i].is_visible = json_flag(set, "visible", false);
        strings_of(json_get(set, "subPermissions"), &at[i].sub_permissions);
        strings_of(json_get(set, "replaces"), &at[i].replaces);
        i++;
    }
    out->at = at;
    out->len = n;
}

// ---------------------------------------------------------------------------------------------
// Built-in modules

static Json *names_array(const StrList *names)
{
    Json *array = json_array();
    for (size_t i = 0; i < names->len; i++) {
        json_add(array, json_string(names->at[i]));
    }
    return array;
}

static Json *handler_of(const CompiledRoute *compiled)
{
    Json *handler = json_object(), *methods = json_array();
    json_add(methods, json_string(str_of(method_name(compiled->entry.route->method))));
    json_set(handler, "methods", methods);
    json_set_str(handler, "pathPattern", str_of(compiled->entry.route->path));
    json_set(handler, "permissionsRequired", names_array(&compiled->required));
    if (compiled->desired.len) {
        json_set(handler, "permissionsDesired", names_array(&compiled->desired));
    }
    return handler;
}

static bool announces_latest(const App *app)
{
    return str_eq(app_option(app, "gateway.interfaces", "baseline"), S("latest"));
}

static Json *interface_json(const App *app, const Interface *interface)
{
    const char *version =
        interface->latest && announces_latest(app) ? interface->latest : interface->version;
    const CompiledRoute *const *routes = NULL;
    size_t n = route_table_entries(app->gateway->routes, &routes);
    Json *json = json_object(), *handlers = json_array();

    json_set_str(json, "id", str_of(interface->id));
    json_set_str(json, "version", str_of(version));
    if (interface->type) {
        json_set_str(json, "interfaceType", str_of(interface->type));
    }
    for (size_t i = 0; i < n; i++) {
        if (routes[i]->entry.interface == interface) {
            json_add(handlers, handler_of(routes[i]));
        }
    }
    json_set(json, "handlers", handlers);
    return json;
}

// "3" + "minute" as Okapi writes a period; every_s is a whole number of the unit.
static void add_delay(Json *handler, int every_s)
{
    static const struct {
        int seconds;
        const char *unit;
    } units[] = {{86400, "day"}, {3600, "hour"}, {60, "minute"}, {1, "second"}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (every_s % units[i].seconds == 0) {
            json_set_str(handler, "unit", str_of(units[i].unit));
            json_set_str(handler, "delay", str_fmt("%d", every_s / units[i].seconds));
            return;
        }
    }
}

Json *timer_entry(const Timer *timer)
{
    Json *entry = json_object(), *methods = json_array();
    json_add(methods, json_string(S("POST")));
    json_set(entry, "methods", methods);
    json_set_str(entry, "pathPattern", str_of(timer->path ? timer->path : timer->name));
    json_set(entry, "permissionsRequired", json_array());
    if (timer->cron) {
        Json *schedule = json_object();
        json_set_str(schedule, "cron", str_of(timer->cron));
        json_set_str(schedule, "zone", str_of(timer->zone ? timer->zone : "UTC"));
        json_set(entry, "schedule", schedule);
    } else {
        add_delay(entry, timer->every_s);
    }
    return entry;
}

static Json *timers_interface(const Module *module)
{
    Json *json = json_object(), *handlers = json_array();
    json_set_str(json, "id", S("_timer"));
    json_set_str(json, "version", S("1.0"));
    json_set_str(json, "interfaceType", S("system"));
    for (const Timer *timer = module->timers; timer && timer->name; timer++) {
        json_add(handlers, timer_entry(timer));
    }
    json_set(json, "handlers", handlers);
    return json;
}

static Json *requirements(const char *const *names)
{
    Json *array = json_array();
    for (; names && *names; names++) {
        Str version = str_of(*names), id;
        (void)str_next(&version, ' ', &id);
        Json *one = json_object();
        json_set_str(one, "id", id);
        json_set_str(one, "version", version);
        json_add(array, one);
    }
    return array;
}

Json *descriptor_of(const App *app, const Module *module)
{
    const Gateway *gateway = app->gateway;
    Json *json = json_object(), *provides = json_array();

    json_set_str(json, "id", module_id(module));
    json_set_str(json, "name", str_of(module->name));
    json_set(json, "requires", requirements(module->requires));
    for (const Interface *one = module->provides; one && one->id; one++) {
        json_add(provides, interface_json(app, one));
    }
    if (module->timers && module->timers->name) {
        json_add(provides, timers_interface(module));
    }
    json_set(json, "provides", provides);
    json_set(json, "permissionSets",
             permission_sets(gateway, module, module_place(gateway, str_of(module->name))));
    return json;
}

// ---------------------------------------------------------------------------------------------
// All known modules

Err *descriptor_find(App *app, Str id, Json **out)
{
    size_t place = module_place(app->gateway, id);
    Json *stored = NULL;
    *out = NULL;
    if (place != SIZE_MAX && str_eq(id, module_id(app->gateway->modules[place]))) {
        *out = descriptor_of(app, app->gateway->modules[place]);
        return NULL;
    }
    TRY(own_find(app, &own_descriptors, "module_id", id, &stored));
    if (stored) {
        *out = json_get(stored, "descriptor");
    }
    return NULL;
}

// Made once for the life of the process: front ends ask for all of them on every page load.
Str descriptor_text(App *app, const Module *module)
{
    Gateway *gateway = app->gateway;
    Str *kept = &gateway->descriptor_texts[module_place(gateway, str_of(module->name))];
    pthread_mutex_lock(&gateway->lock);
    Str text = *kept;
    pthread_mutex_unlock(&gateway->lock);
    if (text.at) {
        return text;
    }
    text = json_text(descriptor_of(app, module));
    pthread_mutex_lock(&gateway->lock);
    if (!kept->at) {
        *kept = str_copy(gateway->arena, text);
    }
    pthread_mutex_unlock(&gateway->lock);
    return text;
}

Err *descriptor_newest(App *app, Str id_or_product, Str *id)
{
    Docs stored = {0};
    size_t place = module_place(app->gateway, id_or_product);
    *id = (Str){"", 0};
    if (place != SIZE_MAX) {
        *id = module_id(app->gateway->modules[place]);
        return NULL;
    }
    TRY(own_all(app, &own_descriptors, &stored));
    for (size_t i = 0; i < stored.len; i++) {
        Str known = json_str(stored.at[i], "moduleId"), product, version;
        module_id_split(known, &product, &version);
        bool fits = str_eq(known, id_or_product) || str_eq(product, id_or_product);
        if (fits && (!id->len || module_id_cmp(known, *id) > 0)) {
            *id = known;
        }
    }
    return NULL;
}
