// /perms/users: who holds which permissions. FOLIO: mod-permissions. Source: spec/platform.md 3.2.
#include "modules/mod-permissions/internal.h"

#include <string.h>

// ---------------------------------------------------------------------------------------------
// Finding

Err *permission_user_of(Tx *tx, Str user_id, Json **out)
{
    METER("mod-permissions");
    return tx_find(tx, &permission_users, "user_id", str_lower(user_id), out);
}

// The path names the record by its own id, or by the user's with indexField=userId.
static Err *find_user(Req *req, Json **out)
{
    Str id = str_lower(req_param(req, 0));
    *out = NULL;
    if (str_eq(req_query_text(req, "indexField"), S("userId"))) {
        return permission_user_of(req->tx, id, out);
    }
    return uuid_is_uuid_shaped(id) ? tx_get(req->tx, &permission_users, id, out) : NULL;
}

static const char *index_name(const Req *req)
{
    return str_eq(req_query_text(req, "indexField"), S("userId")) ? "userId" : "id";
}

static Err *no_user(const Req *req)
{
    return err_text(404, "No user with %s " STR_FMT, index_name(req), STR_ARG(req_param(req, 0)));
}

static Err *no_user_found(const Req *req)
{
    return err_text(404, "No user found by %s " STR_FMT, index_name(req),
                    STR_ARG(req_param(req, 0)));
}

// ---------------------------------------------------------------------------------------------
// Who may grant

static Err *not_owned(const char *kind, const StrList *names, Str operator_)
{
    return err_text(403,
                    "Cannot add %s permission%s " STR_FMT " not owned by operating user " STR_FMT,
                    kind, names->len > 1 ? "s" : "",
                    STR_ARG(str_join(names->at, names->len, S(", "))), STR_ARG(operator_));
}

// True if a permission is or contains a right of okapi.* that the set lacks. Such rights reach
// beyond the library: a set must not be a way around the right to assign them (decision 11).
static bool gives_okapi(const PermissionGraph *graph, Str name, const PermissionSet *own)
{
    PermissionSet *inside = permission_set_new(graph->names);
    StrList found = {0};

    permission_closure(graph, name, inside);
    permission_set_match(inside, S("okapi.*"), &found);
    for (size_t i = 0; i < found.len; i++) {
        if (!permission_set_has(own, found.at[i])) {
            return true;
        }
    }
    return false;
}

static Err *okapi_may_be_given(const Req *req, const StrList *okapi, const PermissionSet *own)
{
    return !okapi->len || permission_set_has(own, S("perms.users.assign.okapi"))
               ? NULL
               : not_owned("okapi", okapi, req->user_id);
}

// The operating user may grant what he holds himself, and with an assign right also the rest.
// Without an operating user (a tenant that is being set up) everything may be granted.
static Err *may_grant(Req *req, const StrList *names)
{
    const PermissionGraph *graph = NULL;
    const PermissionSet *own = NULL;
    StrList okapi = {0}, immutable = {0}, mutable = {0};

    if (!req->user_id.len) {
        return NULL;
    }
    TRY(permission_graph(req->tx, &graph));
    TRY(permissions_of_user(req->tx, req->user_id, &own));
    for (size_t i = 0; i < names->len; i++) {
        Str name = names->at[i];
        PermissionKind kind = permission_kind(graph, name);
        if (kind == UNDEFINED || permission_set_has(own, name)) {
            continue; // unknown ones get their own error
        }
        bool is_okapi = gives_okapi(graph, name, own);
        str_list_add(is_okapi ? &okapi : kind == MUTABLE ? &mutable : &immutable, name);
    }
    TRY(okapi_may_be_given(req, &okapi, own));
    if (immutable.len && !permission_set_has(own, S("perms.users.assign.immutable"))) {
        return not_owned("immutable", &immutable, req->user_id);
    }
    if (mutable.len && !permission_set_has(own, S("perms.users.assign.mutable"))) {
        return not_owned("mutable", &mutable, req->user_id);
    }
    return NULL;
}

// What stands in `names` and not in `held`, each once.
static StrList added(const StrList *names, const StrList *held)
{
    PermissionNames *seen = permission_names_new();
    StrList result = {0};
    for (size_t i = 0; i < held->len; i++) {
        permission_number(seen, held->at[i]);
    }
    for (size_t i = 0; i < names->len; i++) {
        size_t before = permission_count(seen);
        if (permission_number(seen, names->at[i]) == before) {
            str_list_add(&result, names->at[i]);
        }
    }
    return result;
}

// What a set may get that it does not have.
Err *perms_may_contain(Req *req, const Json *subs, const Json *old_subs)
{
    const PermissionGraph *graph = NULL;
    const PermissionSet *own = NULL;
    StrList okapi = {0}, names = {0}, held = {0};

    if (!req->user_id.len) {
        return NULL;
    }
    TRY(permission_graph(req->tx, &graph));
    TRY(permissions_of_user(req->tx, req->user_id, &own));
    TRY(permission_names_of(subs, &names));
    TRY(permission_names_of(old_subs, &held));
    StrList more = added(&names, &held);
    for (size_t i = 0; i < more.len; i++) {
        if (gives_okapi(graph, more.at[i], own)) {
            str_list_add(&okapi, more.at[i]);
        }
    }
    return okapi_may_be_given(req, &okapi, own);
}

static Err *must_exist(Tx *tx, const StrList *names, Str user_record)
{
    const PermissionGraph *graph = NULL;
    StrList missing = {0};
    TRY(permission_graph(tx, &graph));
    for (size_t i = 0; i < names->len; i++) {
        PermissionKind kind = permission_kind(graph, names->at[i]);
        if (kind == UNDEFINED || kind == DUMMY) {
            str_list_add(&missing, names->at[i]);
        }
    }
    if (!missing.len) {
        return NULL;
    }
    Str list = str_join(missing.at, missing.len, S(","));
    return err_422(NO_CODE,
                   str_fmt("Unable to update derived fields: Attempting to add non-existent "
                           "permissions " STR_FMT " to permission user with id " STR_FMT,
                           STR_ARG(list), STR_ARG(user_record)),
                   P("permissions", user_record));
}

// ---------------------------------------------------------------------------------------------
// Records

Err *permission_names_of(const Json *array, StrList *out)
{
    PermissionNames *seen = permission_names_new();
    JSON_EACH(one, array)
    {
        Str name = json_is_object(one) ? json_str(one, "permissionName") : json_scalar_text(one);
        size_t before = permission_count(seen);
        if (name.len && permission_number(seen, name) == before) {
            str_list_add(out, name);
        }
    }
    return NULL;
}

static void set_names(Json *doc, const StrList *names)
{
    Json *array = json_array();
    for (size_t i = 0; i < names->len; i++) {
        json_add(array, json_string(names->at[i]));
    }
    json_set(doc, "permissions", array);
}

static Err *user_taken(Str user_id)
{
    return err_422(NO_CODE,
                   str_fmt("lower(f_unaccent(jsonb ->> 'userId'::text)) value already exists in "
                           "table permissions_users: " STR_FMT,
                           STR_ARG(user_id)),
                   P("userId", user_id));
}

static Err *create(Req *req, Tx *tx, Json *doc)
{
    StrList names = {0}, none = {0};
    Json *old = NULL;
    Str user_id = str_lower(json_str(doc, "userId"));

    TRY(permission_names_of(json_get(doc, "permissions"), &names));
    if (!json_str(doc, "id").len) {
        json_set_str(doc, "id", uuid_new());
    }
    if (user_id.len) {
        json_set_str(doc, "userId", user_id);
        TRY(permission_user_of(tx, user_id, &old));
        if (old) {
            return user_taken(user_id);
        }
    }
    names = added(&names, &none);
    if (req) {
        TRY(may_grant(req, &names));
    }
    TRY(must_exist(tx, &names, json_str(doc, "id")));
    set_names(doc, &names);
    return tx_insert(tx, &permission_users, doc);
}

Err *permission_user_create(Tx *tx, Str user_id, const StrList *names, Json **out)
{
    METER("mod-permissions");
    Json *doc = json_object();
    json_set_str(doc, "userId", user_id);
    set_names(doc, names);
    TRY(create(NULL, tx, doc));
    *out = doc;
    return NULL;
}

Err *permission_user_delete(Tx *tx, Str user_id)
{
    METER("mod-permissions");
    Json *doc = NULL;
    TRY(permission_user_of(tx, user_id, &doc));
    return doc ? tx_delete(tx, &permission_users, json_str(doc, "id")) : NULL;
}

// ---------------------------------------------------------------------------------------------
// Routes

Err *perm_users_list(Req *req)
{
    ListRequest request;
    List *list = NULL;
    TRY(perms_list_request(req, &permission_users, &request));
    TRY(list_open(req->tx, &permission_users, &request, &list));
    return reply_list(req, &permission_users, list);
}

Err *perm_users_get(Req *req)
{
    Json *doc = NULL;
    TRY(find_user(req, &doc));
    return doc ? reply_json(req, 200, doc) : no_user(req);
}

Err *perm_users_post(Req *req)
{
    Json *doc = NULL;
    TRY(req_body_object(req, &doc));
    TRY(create(req, req->tx, doc));
    return reply_created(req, &permission_users, doc);
}

Err *perm_users_put(Req *req)
{
    Json *doc = NULL, *old = NULL;
    StrList names = {0}, held = {0};
    TRY(req_body_object(req, &doc));
    TRY(find_user(req, &old));
    if (!old) {
        return no_user(req);
    }
    TRY(permission_names_of(json_get(doc, "permissions"), &names));
    TRY(permission_names_of(json_get(old, "permissions"), &held));
    StrList more = added(&names, &held);
    TRY(may_grant(req, &more));
    TRY(must_exist(req->tx, &more, json_str(old, "id")));
    json_take(doc, "id", old, "id");
    if (!json_has(doc, "userId")) {
        json_take(doc, "userId", old, "userId");
    }
    set_names(doc, &names);
    TRY(tx_update(req->tx, &permission_users, doc));
    return reply_json(req, 200, doc);
}

Err *perm_users_delete(Req *req)
{
    Json *doc = NULL;
    TRY(find_user(req, &doc));
    if (!doc) {
        return no_user(req);
    }
    TRY(tx_delete(req->tx, &permission_users, json_str(doc, "id")));
    return reply_empty(req, 204);
}

// ---------------------------------------------------------------------------------------------
// The permissions of one user

static Err *full_records(Tx *tx, const StrList *names, Json *array)
{
    Docs docs = {0};
    TRY(permissions_by_names(tx, names, &docs));
    TRY(permissions_add_grants(tx, &docs));
    for (size_t i = 0; i < docs.len; i++) {
        json_add(array, docs.at[i]);
    }
    return NULL;
}

Err *perm_users_names(Req *req)
{
    Json *doc = NULL, *body = json_object(), *array = json_array();
    const PermissionSet *set = NULL;
    StrList names = {0};
    TRY(find_user(req, &doc));
    if (!doc) {
        return no_user_found(req);
    }
    if (req_query_flag(req, "expanded")) {
        TRY(permissions_of_user(req->tx, json_str(doc, "userId"), &set));
        permission_set_names(set, &names);
    } else {
        TRY(permission_names_of(json_get(doc, "permissions"), &names));
    }
    if (req_query_flag(req, "full")) {
        TRY(full_records(req->tx, &names, array));
    } else {
        for (size_t i = 0; i < names.len; i++) {
            json_add(array, json_string(names.at[i]));
        }
    }
    json_set(body, "permissionNames", array);
    json_set_int(body, "totalRecords", (int64_t)json_len(array));
    return reply_json(req, 200, body);
}

static Err *check_one(Req *req, Str name)
{
    const PermissionGraph *graph = NULL;
    StrList one = {0};
    TRY(permission_graph(req->tx, &graph));
    switch (permission_kind(graph, name)) {
    case UNDEFINED:
        return err_text(400, "Permission by name '" STR_FMT "' does not exist", STR_ARG(name));
    case DUMMY:
        return err_text(400,
                        "'" STR_FMT "' is flagged as a dummy permission and cannot be assigned to "
                        "a user",
                        STR_ARG(name));
    case IMMUTABLE:
    case MUTABLE:
        break;
    }
    str_list_add(&one, name);
    return may_grant(req, &one);
}

Err *perm_users_add(Req *req)
{
    Json *body = NULL, *old = NULL;
    StrList names = {0};
    TRY(req_body_object(req, &body));
    TRY(find_user(req, &old));
    if (!old) {
        return err_text(404, "User with id " STR_FMT " does not exist", STR_ARG(req_param(req, 0)));
    }
    Str name = json_str(body, "permissionName");
    if (!name.len) {
        return err_422(S("jakarta.validation.constraints.NotNull.message"), S("must not be null"),
                       P("permissionName", S("null")));
    }
    TRY(permission_names_of(json_get(old, "permissions"), &names));
    if (str_list_has(&names, name)) {
        return err_422(NO_CODE,
                       str_fmt("User with id " STR_FMT " already has permission " STR_FMT,
                               STR_ARG(req_param(req, 0)), STR_ARG(name)),
                       P("userId", req_param(req, 0)));
    }
    TRY(check_one(req, name));
    Json *doc = json_copy(old);
    str_list_add(&names, name);
    set_names(doc, &names);
    TRY(tx_change(req->tx, &permission_users, old, doc));
    return reply_json(req, 200, body);
}

static void without(StrList *names, Str name)
{
    size_t kept = 0;
    for (size_t i = 0; i < names->len; i++) {
        if (!str_eq(names->at[i], name)) {
            names->at[kept++] = names->at[i];
        }
    }
    names->len = kept;
}

Err *perm_users_remove(Req *req)
{
    Json *old = NULL;
    StrList names = {0};
    Str name = req_param(req, 1);
    TRY(find_user(req, &old));
    if (!old) {
        return err_text(404, "User with id " STR_FMT " does not exist", STR_ARG(req_param(req, 0)));
    }
    TRY(permission_names_of(json_get(old, "permissions"), &names));
    if (!str_list_has(&names, name)) {
        return err_text(400, "User with id " STR_FMT " does not contain " STR_FMT,
                        STR_ARG(req_param(req, 0)), STR_ARG(name));
    }
    Json *doc = json_copy(old);
    without(&names, name);
    set_names(doc, &names);
    TRY(tx_change(req->tx, &permission_users, old, doc));
    return reply_empty(req, 204);
}

// ---------------------------------------------------------------------------------------------
// When permissions come and go

static Err *holders_of(Tx *tx, Str name, Docs *out)
{
    Str quoted = json_text(json_string(name));
    Buf pattern = buf_new(arena_current(), 4 * quoted.len + 16);

    buf_char(&pattern, '%');
    for (size_t i = 0; i < quoted.len; i++) {
        buf_add_z(&pattern, memchr("\\%_", quoted.at[i], 3) ? "\\" : "");
        buf_char(&pattern, quoted.at[i]);
    }
    buf_char(&pattern, '%');
    return tx_where(tx, &permission_users, "permissions like $1 escape '\\'",
                    ARGS(A_TEXT(buf_str(&pattern))), out);
}

Err *perm_users_drop(Tx *tx, Str name)
{
    Docs docs = {0};
    TRY(holders_of(tx, name, &docs));
    for (size_t i = 0; i < docs.len; i++) {
        StrList names = {0};
        Json *doc = json_copy(docs.at[i]);
        TRY(permission_names_of(json_get(doc, "permissions"), &names));
        without(&names, name);
        set_names(doc, &names);
        TRY(tx_change(tx, &permission_users, docs.at[i], doc));
    }
    return NULL;
}

Err *perm_users_also(Tx *tx, Str old_name, Str new_name)
{
    Docs docs = {0};
    TRY(holders_of(tx, old_name, &docs));
    for (size_t i = 0; i < docs.len; i++) {
        StrList names = {0};
        Json *doc = json_copy(docs.at[i]);
        TRY(permission_names_of(json_get(doc, "permissions"), &names));
        if (!str_list_has(&names, new_name)) {
            str_list_add(&names, new_name);
            set_names(doc, &names);
            TRY(tx_change(tx, &permission_users, docs.at[i], doc));
        }
    }
    return NULL;
}
