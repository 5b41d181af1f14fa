// Departments, address types, proxies: what they do beyond being stored.
// Source: spec/platform.md 4.2.
#include "modules/mod-users/hooks.h"
#include "modules/mod-users/internal.h"

// ---------------------------------------------------------------------------------------------
// Departments

static Err *count_members(Tx *tx, Str id, int64_t *out)
{
    return tx_count(tx, &users, str_fmt("departments=\"" STR_FMT "\"", STR_ARG(id)), out);
}

Err *department_read(Tx *tx, Json *doc)
{
    int64_t count = 0;

    TRY(count_members(tx, json_str(doc, "id"), &count));
    json_set_int(doc, "usageNumber", count);
    return NULL;
}

Err *department_before_delete(Tx *tx, const Json *doc)
{
    int64_t count = 0;
    Str id = json_str(doc, "id");

    TRY(count_members(tx, id, &count));
    if (count) {
        return err_text(400,
                        "Cannot delete departments.id = " STR_FMT
                        " because id is still referenced from table users.",
                        STR_ARG(id));
    }
    return NULL;
}

Err *department_explain(Tx *tx, Conflict kind, const Field *field, Str value, const Json *doc)
{
    (void)tx, (void)value;
    if (kind == CONFLICT_ID) {
        return users_invalid(S("id"), json_str(doc, "id"),
                             S("Department with this id already exists"));
    }
    if (kind != CONFLICT_UNIQUE || !field) {
        return NULL;
    }
    return users_invalid(str_of(field->path), json_str(doc, field->path),
                         str_fmt("Department with this %s already exists", field->path));
}

// ---------------------------------------------------------------------------------------------
// Proxies

Err *proxy_explain(Tx *tx, Conflict kind, const Field *field, Str value, const Json *doc)
{
    (void)tx, (void)field, (void)value;
    if (kind != CONFLICT_UNIQUE) {
        return NULL;
    }
    return users_invalid(S("proxyFor"), json_str(doc, "id"),
                         S("Proxy relationship already exists"));
}

// ---------------------------------------------------------------------------------------------
// Address types

typedef struct {
    Str id;
    bool is_used;
} Usage;

static Err *is_used(const Row *row, void *context)
{
    (void)row;
    ((Usage *)context)->is_used = true;
    return NULL;
}

// Addresses have no side column: types go so rarely that looking through the users does, outside
// the writer's turn.
static Err *find_usage(Tx *tx, void *context)
{
    Usage *usage = context;

    return tx_rows(
        tx, "select 1 from users where doc like $1 limit 1",
        ARGS(A_TEXT(str_fmt("%%\"addressTypeId\":\"" STR_FMT "\"%%", STR_ARG(usage->id)))), is_used,
        usage);
}

static Err *delete_type(Tx *tx, void *context)
{
    return tx_delete(tx, &address_types, ((Usage *)context)->id);
}

Err *address_types_delete(Req *req)
{
    const TxOptions look = {.kind = READ, .now = req->now};
    const TxOptions change = {.kind = WRITE, .now = req->now, .user_id = req->user_id};
    Usage usage = {.id = str_lower(req_param(req, 0))};

    if (!uuid_is_uuid_shaped(usage.id)) {
        return err_text(404, "Not found");
    }
    TRY(tx_run(tenant_db(req->tenant), &look, find_usage, &usage));
    if (usage.is_used) {
        return err_text(400, "Cannot remove address type '" STR_FMT "' as it is being used",
                        STR_ARG(usage.id));
    }
    TRY(tx_run(tenant_db(req->tenant), &change, delete_type, &usage));
    return reply_empty(req, 204);
}
