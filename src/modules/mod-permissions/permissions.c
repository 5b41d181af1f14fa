// /perms/permissions: what can be granted. FOLIO: mod-permissions. Source:
// spec/platform.md 3.1, 3.2.
//
// `childOf` is kept in the records, because clients query it; `grantedTo` is worked out when a
// record is shown.
#include "modules/mod-permissions/internal.h"

#include <string.h>

// ---------------------------------------------------------------------------------------------
// Records

Err *permission_by_name(Tx *tx, Str name, Json **out)
{
    return tx_find(tx, &permissions, "exact_name", name, out);
}

Err *permissions_by_names(Tx *tx, const StrList *names, Docs *out)
{
    *out = (Docs){NEW_ARRAY(Json *, names->len + 1), 0};
    for (size_t i = 0; i < names->len; i++) {
        Json *doc = NULL;
        TRY(permission_by_name(tx, names->at[i], &doc));
        if (doc) {
            out->at[out->len++] = doc;
        }
    }
    return NULL;
}

static bool array_has(const Json *array, Str name)
{
    JSON_EACH(one, array)
    {
        if (str_eq(json_scalar_text(one), name)) {
            return true;
        }
    }
    return false;
}

static Json *array_without(const Json *array, Str name)
{
    Json *kept = json_array();
    JSON_EACH(one, array)
    {
        if (!str_eq(json_scalar_text(one), name)) {
            json_add(kept, json_copy(one));
        }
    }
    return kept;
}

static Err *insert_dummy(Tx *tx, Str name, Str parent)
{
    Json *doc = json_object(), *child_of = json_array();
    json_add(child_of, json_string(parent));
    json_set_str(doc, "permissionName", name);
    json_set(doc, "subPermissions", json_array());
    json_set(doc, "childOf", child_of);
    json_set_bool(doc, "mutable", false);
    json_set_bool(doc, "visible", false);
    json_set_bool(doc, "dummy", true);
    return tx_insert(tx, &permissions, doc);
}

static Err *link_one(Tx *tx, Str name, Str parent)
{
    Json *old = NULL;
    TRY(permission_by_name(tx, name, &old));
    if (!old) {
        return insert_dummy(tx, name, parent);
    }
    if (array_has(json_get(old, "childOf"), parent)) {
        return NULL;
    }
    Json *doc = json_copy(old);
    if (!json_is_array(json_get(doc, "childOf"))) {
        json_set(doc, "childOf", json_array());
    }
    json_add(json_get(doc, "childOf"), json_string(parent));
    return tx_change(tx, &permissions, old, doc);
}

static Err *unlink_one(Tx *tx, Str name, Str parent)
{
    Json *old = NULL;
    TRY(permission_by_name(tx, name, &old));
    if (!old || !array_has(json_get(old, "childOf"), parent)) {
        return NULL;
    }
    Json *doc = json_copy(old);
    json_set(doc, "childOf", array_without(json_get(doc, "childOf"), parent));
    return tx_change(tx, &permissions, old, doc);
}

Err *permission_link(Tx *tx, Str name, const Json *old_subs, const Json *new_subs)
{
    JSON_EACH(sub, new_subs)
    {
        if (!array_has(old_subs, json_scalar_text(sub))) {
            TRY(link_one(tx, json_scalar_text(sub), name));
        }
    }
    JSON_EACH(sub, old_subs)
    {
        if (!array_has(new_subs, json_scalar_text(sub))) {
            TRY(unlink_one(tx, json_scalar_text(sub), name));
        }
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// grantedTo

typedef struct {
    PermissionNames *wanted;
    Json **granted; // arrays, by number of the wanted name
} Grants;

// Columns: id of the permission user, its permissions as JSON text.
static Err *collect_grants(const Row *row, void *context)
{
    Grants *grants = context;
    Str id = str_copy(arena_current(), row_text(row, 0));
    size_t number = 0;
    Json *names = json_parse_stored(row_text(row, 1));
    JSON_EACH(name, names)
    {
        if (permission_find(grants->wanted, json_scalar_text(name), &number)) {
            json_add(grants->granted[number], json_string(id));
        }
    }
    return NULL;
}

Err *permissions_add_grants(Tx *tx, const Docs *docs)
{
    Grants grants = {permission_names_new(), NEW_ARRAY(Json *, docs->len + 1)};
    for (size_t i = 0; i < docs->len; i++) {
        Json *granted = json_array();
        json_set(docs->at[i], "grantedTo", granted);
        grants.granted[permission_number(grants.wanted, json_str(docs->at[i], "permissionName"))] =
            granted;
    }
    if (!docs->len) {
        return NULL;
    }
    return tx_rows(tx, "select id, permissions from permissions_users where permissions <> '[]'",
                   NO_ARGS, collect_grants, &grants);
}

// ---------------------------------------------------------------------------------------------
// Lists

Err *perms_list_request(const Req *req, const Collection *of, ListRequest *out)
{
    Str given;
    TRY(list_request_read(req, of, out));
    if (req_query(req, "length", &given)) {
        TRY(req_query_int(req, "length", out->limit, &out->limit));
    }
    if (req_query(req, "start", &given)) { // counts from 1
        TRY(req_query_int(req, "start", 1, &out->offset));
        out->offset -= out->offset > 0;
    }
    return NULL;
}

static Json *names_array(const StrList *names)
{
    Json *array = json_array();
    for (size_t i = 0; i < names->len; i++) {
        json_add(array, json_string(names->at[i]));
    }
    return array;
}

// expandSubs: the contained permissions as records, one level.
static Err *expand_subs(Tx *tx, Json *doc)
{
    StrList names = {0};
    Docs subs = {0};
    Json *array = json_array();
    TRY(permission_names_of(json_get(doc, "subPermissions"), &names));
    TRY(permissions_by_names(tx, &names, &subs));
    TRY(permissions_add_grants(tx, &subs));
    for (size_t i = 0; i < subs.len; i++) {
        json_add(array, subs.at[i]);
    }
    json_set(doc, "subPermissions", array);
    return NULL;
}

// expanded: all names that the permission contains, itself left out.
static Err *expand_closure(Tx *tx, Json *doc)
{
    const PermissionGraph *graph = NULL;
    StrList names = {0};
    TRY(permission_graph(tx, &graph));
    PermissionSet *set = permission_set_new(graph->names);
    JSON_EACH(sub, json_get(doc, "subPermissions"))
    {
        permission_closure(graph, json_scalar_text(sub), set);
    }
    permission_set_names(set, &names);
    json_set(doc, "subPermissions", names_array(&names));
    return NULL;
}

static Err *expand(Req *req, const Docs *docs)
{
    bool closure = req_query_flag(req, "expanded"), subs = req_query_flag(req, "expandSubs");
    for (size_t i = 0; i < docs->len && (closure || subs); i++) {
        TRY(closure ? expand_closure(req->tx, docs->at[i]) : expand_subs(req->tx, docs->at[i]));
    }
    return NULL;
}

static Err *read_page(List *list, Docs *out)
{
    StrList texts = {0};
    for (;;) {
        Str text;
        TRY(list_next(list, &text));
        if (!text.at) {
            break;
        }
        str_list_add(&texts, str_copy(arena_current(), text));
    }
    *out = (Docs){NEW_ARRAY(Json *, texts.len + 1), texts.len};
    for (size_t i = 0; i < texts.len; i++) {
        out->at[i] = json_parse_stored(texts.at[i]);
    }
    return NULL;
}

Err *perms_list(Req *req)
{
    ListRequest request;
    List *list = NULL;
    Docs docs = {0};
    Json *body = json_object(), *array = json_array();

    TRY(perms_list_request(req, &permissions, &request));
    if (!req_query_flag(req, "includeDummy")) {
        request.where = "(is_dummy is null or is_dummy = 0)";
    }
    TRY(list_open(req->tx, &permissions, &request, &list));
    TRY(read_page(list, &docs));
    TRY(permissions_add_grants(req->tx, &docs));
    TRY(expand(req, &docs));
    for (size_t i = 0; i < docs.len; i++) {
        json_add(array, docs.at[i]);
    }
    json_set(body, "permissions", array);
    if (list_total(list) >= 0) {
        json_set_int(body, "totalRecords", list_total(list));
    }
    return reply_json(req, 200, body);
}

static Err *by_id(Req *req, Json **out)
{
    Str id = str_lower(req_param(req, 0));
    *out = NULL;
    if (uuid_is_uuid_shaped(id)) {
        TRY(tx_get(req->tx, &permissions, id, out));
    }
    return *out ? NULL : err_text(404, "No permission with ID " STR_FMT " exists", STR_ARG(id));
}

static Err *reply_permission(Req *req, int status, Json *doc)
{
    Json *shown = json_copy(doc);
    TRY(permissions_add_grants(req->tx, &(Docs){&shown, 1}));
    return reply_json(req, status, shown);
}

Err *perms_get(Req *req)
{
    Json *doc = NULL;
    TRY(by_id(req, &doc));
    TRY(expand(req, &(Docs){&doc, 1}));
    return reply_permission(req, 200, doc);
}

// ---------------------------------------------------------------------------------------------
// Changes

// Contained permissions given as records count by their names.
static Err *plain_subs(Json *doc)
{
    StrList names = {0};
    TRY(permission_names_of(json_get(doc, "subPermissions"), &names));
    json_set(doc, "subPermissions", names_array(&names));
    return NULL;
}

static Err *subs_must_exist(Tx *tx, const Json *doc, const Json *old)
{
    const PermissionGraph *graph = NULL;
    StrList missing = {0};
    TRY(permission_graph(tx, &graph));
    JSON_EACH(sub, json_get(doc, "subPermissions"))
    {
        Str name = json_scalar_text(sub);
        if (!array_has(json_get(old, "subPermissions"), name) &&
            permission_kind(graph, name) == UNDEFINED &&
            !str_eq(name, json_str(doc, "permissionName"))) {
            str_list_add(&missing, name);
        }
    }
    if (!missing.len) {
        return NULL;
    }
    Str names = str_join(missing.at, missing.len, S(","));
    return err_422(NO_CODE,
                   str_fmt("Unable to update derived fields: Attempting to add non-existent "
                           "permissions " STR_FMT " as sub-permissions to permission " STR_FMT,
                           STR_ARG(names), STR_ARG(json_str(doc, "permissionName"))),
                   P("subPermissions", names));
}

// What the server says, whatever the client sent.
static void set_server_members(Json *doc)
{
    json_set_bool(doc, "mutable", true);
    json_set_bool(doc, "dummy", false);
    json_remove(doc, "grantedTo");
    json_remove(doc, "moduleName");
    json_remove(doc, "moduleVersion");
}

static Err *name_taken(Str name)
{
    return err_422(NO_CODE,
                   str_fmt("Permission with name " STR_FMT " already exists", STR_ARG(name)),
                   P("permissionName", name));
}

Err *perms_post(Req *req)
{
    Json *doc = NULL, *old = NULL;
    TRY(req_body_object(req, &doc));
    if (!json_str(doc, "permissionName").len) {
        json_set_str(doc, "permissionName", uuid_new());
    }
    Str name = json_str(doc, "permissionName");
    TRY(permission_by_name(req->tx, name, &old));
    if (old && !json_flag(old, "dummy", false)) {
        return name_taken(name);
    }
    TRY(plain_subs(doc));
    TRY(subs_must_exist(req->tx, doc, NULL));
    TRY(perms_may_contain(req, json_get(doc, "subPermissions"), NULL));
    set_server_members(doc);
    json_set(doc, "childOf", old ? json_copy(json_get(old, "childOf")) : json_array());
    if (old) { // a name that sets mentioned before it was defined
        TRY(tx_delete(req->tx, &permissions, json_str(old, "id")));
    }
    TRY(tx_insert(req->tx, &permissions, doc));
    TRY(permission_link(req->tx, name, NULL, json_get(doc, "subPermissions")));
    reply_header(req, "location",
                 str_fmt("/perms/permissions/" STR_FMT, STR_ARG(json_str(doc, "id"))));
    return reply_permission(req, 201, doc);
}

Err *perms_put(Req *req)
{
    Json *doc = NULL, *old = NULL;
    TRY(req_body_object(req, &doc));
    TRY(by_id(req, &old));
    Str id = json_str(old, "id"), name = json_str(old, "permissionName");
    if (json_str(doc, "id").len && !str_eq(str_lower(json_str(doc, "id")), id)) {
        return err_text(400, "Invalid id value");
    }
    if (!json_flag(old, "mutable", false)) {
        return err_text(400, "cannot change an immutable permission");
    }
    if (json_has(doc, "permissionName") && !str_eq(json_str(doc, "permissionName"), name)) {
        return err_text(400, "permission name property cannot change");
    }
    json_set_str(doc, "id", id);
    json_set_str(doc, "permissionName", name);
    TRY(plain_subs(doc));
    TRY(subs_must_exist(req->tx, doc, old));
    TRY(perms_may_contain(req, json_get(doc, "subPermissions"), json_get(old, "subPermissions")));
    set_server_members(doc);
    json_set(doc, "childOf", json_copy(json_get(old, "childOf")));
    TRY(tx_update(req->tx, &permissions, doc));
    TRY(permission_link(req->tx, name, json_get(old, "subPermissions"),
                        json_get(doc, "subPermissions")));
    // A set that contains itself: the link above changed its own record.
    TRY(by_id(req, &doc));
    return reply_permission(req, 200, doc);
}

// Takes the name out of every set that contains it.
static Err *leave_parents(Tx *tx, const Json *doc)
{
    Str name = json_str(doc, "permissionName");
    JSON_EACH(parent, json_get(doc, "childOf"))
    {
        Json *old = NULL;
        TRY(permission_by_name(tx, json_scalar_text(parent), &old));
        if (old) {
            Json *changed = json_copy(old);
            json_set(changed, "subPermissions",
                     array_without(json_get(old, "subPermissions"), name));
            TRY(tx_change(tx, &permissions, old, changed));
        }
    }
    return NULL;
}

static Err *remove_permission(Tx *tx, const Json *doc)
{
    Str name = json_str(doc, "permissionName");
    TRY(permission_link(tx, name, json_get(doc, "subPermissions"), NULL));
    TRY(leave_parents(tx, doc));
    TRY(perm_users_drop(tx, name));
    return tx_delete(tx, &permissions, json_str(doc, "id"));
}

Err *perms_delete(Req *req)
{
    Json *doc = NULL;
    TRY(by_id(req, &doc));
    if (!json_flag(doc, "mutable", false)) {
        return err_text(400, "cannot delete an immutable permission");
    }
    TRY(remove_permission(req->tx, doc));
    return reply_empty(req, 204);
}

Err *perms_purge_deprecated(Req *req)
{
    Docs docs = {0};
    Json *body = json_object(), *names = json_array();
    TRY(tx_where(req->tx, &permissions, "is_deprecated = 1", NO_ARGS, &docs));
    for (size_t i = 0; i < docs.len; i++) {
        TRY(remove_permission(req->tx, docs.at[i]));
        json_add(names, json_string(json_str(docs.at[i], "permissionName")));
    }
    json_set(body, "permissionNames", names);
    json_set_int(body, "totalRecords", (int64_t)docs.len);
    return reply_json(req, 200, body);
}
