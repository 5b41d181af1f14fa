// A user with group, permissions, proxies and service points in one answer.
// Source: spec/platform.md 2.4.
#include "modules/mod-users-bl/internal.h"

#include "modules/mod-inventory-storage/collections.h"
#include "modules/mod-permissions/permissions.h"
#include "modules/mod-users/users.h"

Err *bl_read(Req *req, Err *(*work)(Tx *tx, void *context), void *context)
{
    const TxOptions options = {.kind = READ, .now = req->now, .user_id = req->user_id};

    return tx_run(tenant_db(req->tenant), &options, work, context);
}

// ---------------------------------------------------------------------------------------------
// What to include

static void include_name(Include *include, Str name)
{
    if (str_eq(name, S("groups"))) {
        include->groups = true;
    } else if (str_eq(name, S("perms"))) {
        include->permissions = true;
    } else if (str_eq(name, S("proxiesfor"))) {
        include->proxies = true;
    } else if (str_eq(name, S("servicepoints"))) {
        include->service_points = true;
    } else if (str_eq(name, S("expanded_perms"))) {
        include->permissions = include->expands_permissions = true;
    }
}

// `include` may be repeated, or hold several names with commas.
Include include_read(const Req *req)
{
    Include include = {0};
    bool is_named = false;

    for (size_t i = 0; i < req->query.len; i++) {
        Str rest = req->query.at[i].value, name;
        if (!str_eq_z(req->query.at[i].name, "include")) {
            continue;
        }
        while (str_next(&rest, ',', &name)) {
            include_name(&include, str_trim(name));
            is_named = true;
        }
    }
    if (!is_named) {
        include.groups = include.permissions = include.service_points = true;
    }
    if (req_query_flag(req, "expandPermissions") || req_query_flag(req, "fullPermissions")) {
        include.permissions = include.expands_permissions = true;
    }
    return include;
}

// ---------------------------------------------------------------------------------------------
// Parts

static void write_member(Buf *out, const char *name, const Json *value)
{
    buf_fmt(out, ",\"%s\":", name);
    json_write(out, value);
}

static Err *write_group(Tx *tx, const Json *user, Buf *out)
{
    const Json *group = NULL;

    TRY(tx_ref(tx, &groups, json_str(user, "patronGroup"), &group));
    if (group) {
        write_member(out, "patronGroup", group);
    }
    return NULL;
}

static Err *write_permissions(Tx *tx, const Json *user, bool expands, Buf *out)
{
    Str id = json_str(user, "id"), text = S("[]");
    Json *record = NULL;

    TRY(permission_user_of(tx, id, &record));
    if (record && expands) {
        TRY(permissions_text(tx, id, &text));
    } else if (record && json_has(record, "permissions")) {
        text = json_text(json_get(record, "permissions"));
    }
    buf_add_z(out, ",\"permissions\":{");
    if (record) {
        buf_fmt(out, "\"id\":\"" STR_FMT "\",\"userId\":\"" STR_FMT "\",",
                STR_ARG(json_str(record, "id")), STR_ARG(id));
    }
    buf_add_z(out, "\"permissions\":");
    buf_add(out, text);
    buf_char(out, '}');
    return NULL;
}

static Err *write_proxies(Tx *tx, const Json *user, Buf *out)
{
    Docs docs = {0};
    Json *list = json_array();

    TRY(tx_where(tx, &proxies, "user_id = $1 order by id", ARGS(A_TEXT(json_str(user, "id"))),
                 &docs));
    for (size_t i = 0; i < docs.len; i++) {
        json_add(list, docs.at[i]);
    }
    if (docs.len) {
        write_member(out, "proxiesFor", list);
    }
    return NULL;
}

static Err *add_service_point(Tx *tx, Str id, Json *list)
{
    const Json *point = NULL;

    TRY(tx_ref(tx, &service_points, id, &point));
    if (point) {
        json_add(list, json_copy(point));
    }
    return NULL;
}

static Err *write_service_points(Tx *tx, const Json *user, Buf *out)
{
    Json *assigned = NULL, *list = json_array();

    TRY(tx_find(tx, &service_points_users, "user_id", json_str(user, "id"), &assigned));
    if (!assigned) {
        return NULL;
    }
    Str first = json_str(assigned, "defaultServicePointId");
    bool has_first = false;
    JSON_EACH(id, json_get(assigned, "servicePointsIds"))
    {
        has_first = has_first || str_eq(json_scalar_text(id), first);
        TRY(add_service_point(tx, json_scalar_text(id), list));
    }
    if (first.len && !has_first) {
        TRY(add_service_point(tx, first, list));
    }
    json_set(assigned, "servicePoints", list);
    write_member(out, "servicePointsUser", assigned);
    return NULL;
}

Err *composite_write(const Req *req, Tx *tx, const Json *user, const Include *include, Buf *out)
{
    buf_add_z(out, "{\"user\":");
    json_write(out, user);
    if (include->groups) {
        TRY(write_group(tx, user, out));
    }
    if (include->permissions && tenant_has_module(req->tenant, "mod-permissions")) {
        TRY(write_permissions(tx, user, include->expands_permissions, out));
    }
    if (include->proxies) {
        TRY(write_proxies(tx, user, out));
    }
    if (include->service_points && tenant_has_module(req->tenant, "mod-inventory-storage")) {
        TRY(write_service_points(tx, user, out));
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Routes

static Err *reply_composite(Req *req, const Json *user)
{
    Include include = include_read(req);
    Buf out = buf_new(arena_current(), COMPOSITE_MAX);

    TRY(composite_write(req, req->tx, user, &include, &out));
    buf_char(&out, '}');
    return reply_json_text(req, 200, buf_str(&out));
}

static Err *unknown_name(Str name)
{
    return err_text(404, "No record found for query '/users?query=username==\"" STR_FMT "\"'",
                    STR_ARG(name));
}

Err *bl_users_by_id(Req *req)
{
    Json *user = NULL;

    TRY(user_by_id(req->tx, req_param(req, 0), &user));
    if (!user) {
        return err_text(404, "User with id '" STR_FMT "' not found", STR_ARG(req_param(req, 0)));
    }
    return reply_composite(req, user);
}

Err *bl_users_by_name(Req *req)
{
    Json *user = NULL;

    TRY(user_by_name(req->tx, req_param(req, 0), &user));
    return user ? reply_composite(req, user) : unknown_name(req_param(req, 0));
}

Err *bl_users_self(Req *req)
{
    Json *user = NULL;

    if (!req->user_id.len && !req->user_name.len) {
        return err_text(400, "Token missing: it names the user");
    }
    if (req->user_id.len) {
        TRY(user_by_id(req->tx, req->user_id, &user));
    } else {
        TRY(user_by_name(req->tx, req->user_name, &user));
    }
    return user ? reply_composite(req, user) : unknown_name(req->user_name);
}

Err *bl_users_list(Req *req)
{
    ListRequest request;
    List *list = NULL;
    Include include = include_read(req);
    Buf out = buf_new(arena_current(), COMPOSITE_MAX);
    int64_t count = 0;

    TRY(list_request_read(req, &users, &request));
    TRY(list_open(req->tx, &users, &request, &list));
    buf_add_z(&out, "{\"compositeUsers\":[");
    for (;;) {
        Str text;
        TRY(list_next(list, &text));
        if (!text.at) {
            break;
        }
        buf_add_z(&out, count++ ? "," : "");
        TRY(composite_write(req, req->tx, json_parse_stored(text), &include, &out));
        buf_char(&out, '}');
    }
    buf_fmt(&out, "],\"totalResults\":%lld,\"recordCount\":%lld}", (long long)list_total(list),
            (long long)count);
    return out.overflowed ? err_text(413, "The answer is too large; ask for fewer records")
                          : reply_json_text(req, 200, buf_str(&out));
}
