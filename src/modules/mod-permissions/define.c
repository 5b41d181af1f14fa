// Permissions that modules bring: made real when a module is enabled, deprecated when a newer
// version no longer names them. FOLIO: POST /_/tenantpermissions. Source: spec/platform.md 3.1.
#include "modules/mod-permissions/internal.h"

#include <string.h>

static const char deprecated_prefix[] = "(deprecated) ";

static Json *names_array(const StrList *names)
{
    Json *array = json_array();
    for (size_t i = 0; i < names->len; i++) {
        json_add(array, json_string(names->at[i]));
    }
    return array;
}

static Json *record_of(const PermissionDefinitions *of, const PermissionDefinition *definition)
{
    Json *doc = json_object();
    json_set_str(doc, "permissionName", definition->name);
    json_set_str_if(doc, "displayName", definition->display_name);
    json_set_str_if(doc, "description", definition->description);
    json_set(doc, "tags", json_array());
    json_set(doc, "subPermissions", names_array(&definition->sub_permissions));
    json_set_bool(doc, "mutable", false);
    json_set_bool(doc, "visible", definition->is_visible);
    json_set_bool(doc, "dummy", false);
    json_set_bool(doc, "deprecated", false);
    json_set_str(doc, "moduleName", of->module_name);
    json_set_str(doc, "moduleVersion", of->module_version);
    return doc;
}

// Nothing to write: the record says all this already.
static bool is_same(const Json *old, const Json *doc)
{
    static const char *const members[] = {"displayName", "description", "subPermissions",
                                          "mutable",     "visible",     "dummy",
                                          "deprecated",  "moduleName",  "moduleVersion"};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const Json *a = json_get(old, members[i]), *b = json_get(doc, members[i]);
        if ((a || b) && (!a || !b || !json_equal(a, b))) {
            return false;
        }
    }
    return true;
}

// Which sets of the same module contain a name: known before the records are written, so that most
// of them are written once.
typedef struct {
    PermissionNames *names;
    Json **parents; // arrays of names, by number
    size_t cap;
} Parents;

static Parents parents_of(const PermissionDefinitions *definitions)
{
    Parents parents = {.names = permission_names_new()};
    for (size_t i = 0; i < definitions->len; i++) {
        const StrList *subs = &definitions->at[i].sub_permissions;
        parents.cap += subs->len;
    }
    parents.parents = NEW_ARRAY(Json *, parents.cap + 1);
    for (size_t i = 0; i < definitions->len; i++) {
        const StrList *subs = &definitions->at[i].sub_permissions;
        for (size_t k = 0; k < subs->len; k++) {
            Json **at = &parents.parents[permission_number(parents.names, subs->at[k])];
            *at = *at ? *at : json_array();
            Json *last = json_at(*at, json_len(*at) - 1); // a set may name a permission twice
            if (!last || !str_eq(json_scalar_text(last), definitions->at[i].name)) {
                json_add(*at, json_string(definitions->at[i].name));
            }
        }
    }
    return parents;
}

static Json *child_of(const Parents *parents, Str name)
{
    size_t number = 0;
    bool found = permission_find(parents->names, name, &number);
    return found ? parents->parents[number] : json_array();
}

static Err *write_one(Tx *tx, Json *doc, const Parents *parents, Json **old)
{
    Str name = json_str(doc, "permissionName");
    TRY(permission_by_name(tx, name, old));
    if (!*old) {
        json_set(doc, "childOf", child_of(parents, name));
        return tx_insert(tx, &permissions, doc);
    }
    if (is_same(*old, doc)) {
        return NULL;
    }
    Json *changed = json_copy(*old);
    json_merge(changed, doc);
    return tx_change(tx, &permissions, *old, changed);
}

// Every holder of the old name also gets the new one, users and sets alike.
static Err *take_over(Tx *tx, Str old_name, const PermissionDefinition *definition)
{
    Json *old = NULL;
    TRY(permission_by_name(tx, old_name, &old));
    if (!old) {
        return NULL;
    }
    TRY(perm_users_also(tx, old_name, definition->name));
    JSON_EACH(parent, json_get(old, "childOf"))
    {
        Json *set = NULL;
        TRY(permission_by_name(tx, json_scalar_text(parent), &set));
        if (!set || !json_flag(set, "mutable", false)) {
            continue;
        }
        Json *changed = json_copy(set);
        json_add(json_get(changed, "subPermissions"), json_string(definition->name));
        TRY(tx_change(tx, &permissions, set, changed));
        TRY(permission_link(tx, json_scalar_text(parent), json_get(set, "subPermissions"),
                            json_get(changed, "subPermissions")));
    }
    return NULL;
}

static Err *deprecate(Tx *tx, const Json *old)
{
    Json *doc = json_copy(old);
    if (json_flag(old, "deprecated", false)) {
        return NULL;
    }
    json_set_bool(doc, "deprecated", true);
    json_set_str(doc, "displayName",
                 str_fmt("%s" STR_FMT, deprecated_prefix, STR_ARG(json_str(old, "displayName"))));
    TRY(tx_change(tx, &permissions, old, doc));
    return NULL;
}

static Err *deprecate_missing(Tx *tx, const PermissionDefinitions *definitions)
{
    Docs docs = {0};
    PermissionNames *defined = permission_names_new();
    size_t number = 0;
    for (size_t i = 0; i < definitions->len; i++) {
        permission_number(defined, definitions->at[i].name);
    }
    TRY(tx_where(tx, &permissions, "module_name = $1", ARGS(A_TEXT(fold(definitions->module_name))),
                 &docs));
    for (size_t i = 0; i < docs.len; i++) {
        if (!permission_find(defined, json_str(docs.at[i], "permissionName"), &number)) {
            TRY(deprecate(tx, docs.at[i]));
        }
    }
    return NULL;
}

Err *permissions_define(Tx *tx, const PermissionDefinitions *definitions)
{
    METER("mod-permissions");
    Json **old_subs = NEW_ARRAY(Json *, definitions->len + 1);
    Parents parents = parents_of(definitions);
    for (size_t i = 0; i < definitions->len; i++) {
        Json *old = NULL;
        TRY(write_one(tx, record_of(definitions, &definitions->at[i]), &parents, &old));
        old_subs[i] = json_get(old, "subPermissions");
    }
    // Links come last: a set may contain what the same module defines further down.
    for (size_t i = 0; i < definitions->len; i++) {
        const PermissionDefinition *one = &definitions->at[i];
        TRY(permission_link(tx, one->name, old_subs[i], names_array(&one->sub_permissions)));
        for (size_t k = 0; k < one->replaces.len; k++) {
            TRY(take_over(tx, one->replaces.at[k], one));
        }
    }
    return deprecate_missing(tx, definitions);
}

static Err *add_name(const Row *row, void *context)
{
    str_list_add(context, str_copy(arena_current(), row_text(row, 0)));
    return NULL;
}

Err *permissions_top_level(Tx *tx, StrList *names)
{
    METER("mod-permissions");
    return tx_rows(tx,
                   "select exact_name from permissions where child_of = '[]'"
                   " and (is_dummy is null or is_dummy = 0)",
                   NO_ARGS, add_name, names);
}
