// Instances of /inventory: lists, one instance, changes, many at once.
// Source: spec/inventory.md 5, 5.4.
#include "modules/mod-inventory/inventory.h"

#include "modules/mod-inventory-storage/properties.h"

static const ListView instances_view = {.list_key = "instances", .enrich = instances_represent};

Err *inventory_instances_list(Req *req)
{
    ListRequest request;
    List *list = NULL;

    TRY(inventory_list_request(req, &instances, &request));
    TRY(list_open(req->tx, &instances, &request, &list));
    return reply_view(req, list, &instances_view);
}

static Err *instance_find(Req *req, Json **out)
{
    Str id = str_lower(req_param(req, 0));

    *out = NULL;
    if (uuid_is_uuid_shaped(id)) {
        TRY(tx_get(req->tx, &instances, id, out));
    }
    return *out ? NULL : err_text(404, "Instance not found");
}

static Err *shown(Req *req, Json *instance, Json **out)
{
    Json *links = json_object();
    Str path = str_fmt("/inventory/instances/" STR_FMT, STR_ARG(json_str(instance, "id")));

    *out = json_copy(instance);
    TRY(instances_represent(req->tx, out, 1, NULL));
    json_set_str(links, "self",
                 str_fmt(STR_FMT STR_FMT, STR_ARG(req->app->base_url), STR_ARG(path)));
    json_set(*out, "links", links);
    return NULL;
}

Err *inventory_instance_get(Req *req)
{
    Json *instance = NULL, *answer = NULL;

    TRY(instance_find(req, &instance));
    TRY(shown(req, instance, &answer));
    return reply_json(req, 200, answer);
}

// ---------------------------------------------------------------------------------------------
// Writing

static Err *instance_insert(Tx *tx, const Json *body, Json **out)
{
    TRY(instance_body_check(body));
    *out = known_members(&instance_record, body);
    TRY(tx_insert(tx, &instances, *out));
    return instance_links_write(tx, json_str(*out, "id"), body);
}

Err *inventory_instance_create(Req *req)
{
    Json *body = NULL, *instance = NULL, *answer = NULL;

    TRY(req_body_object(req, &body));
    TRY(instance_insert(req->tx, body, &instance));
    TRY(shown(req, instance, &answer));
    reply_header(req, "Location",
                 str_fmt("/inventory/instances/" STR_FMT, STR_ARG(json_str(instance, "id"))));
    return reply_json(req, 201, answer);
}

static Err *instance_store(Req *req, const Json *old, const Json *body)
{
    TRY(instance_body_check(body));
    Json *now = known_members(&instance_record, body);
    json_set_str(now, "id", json_str(old, "id"));
    TRY(instance_change_check(old, now));
    TRY(tx_update(req->tx, &instances, now));
    return NULL;
}

Err *inventory_instance_put(Req *req)
{
    Json *body = NULL, *old = NULL;

    TRY(req_body_object(req, &body));
    TRY(instance_find(req, &old));
    TRY(instance_store(req, old, body));
    TRY(instance_links_write(req->tx, json_str(old, "id"), body));
    return reply_empty(req, 204);
}

// Links that the change does not name stay as they are.
Err *inventory_instance_patch(Req *req)
{
    Json *body = NULL, *old = NULL;

    TRY(req_body_object(req, &body));
    TRY(instance_find(req, &old));
    Json *now = json_copy(old);
    json_remove(now, "_version");
    json_merge(now, body);
    TRY(instance_store(req, old, now));
    if (json_has(body, "parentInstances") || json_has(body, "childInstances") ||
        json_has(body, "precedingTitles") || json_has(body, "succeedingTitles")) {
        Json *all = json_copy(old);
        TRY(instances_represent(req->tx, &all, 1, NULL));
        json_merge(all, body);
        TRY(instance_links_write(req->tx, json_str(old, "id"), all));
    }
    return reply_empty(req, 204);
}

Err *inventory_instance_delete(Req *req)
{
    Err *err = tx_delete(req->tx, &instances, req_param(req, 0));

    if (err) {
        return err->status == 404 ? err_text(404, "Instance not found") : err;
    }
    return reply_empty(req, 204);
}

Err *inventory_instances_delete(Req *req)
{
    Str query;

    if (!req_query(req, "query", &query)) {
        query = S("cql.allRecords=1");
    }
    return reply_deleted(req, &instances, query);
}

Err *inventory_instance_mark_deleted(Req *req)
{
    Json *old = NULL;

    TRY(instance_find(req, &old));
    Json *now = json_copy(old);
    json_set_bool(now, "discoverySuppress", true);
    json_set_bool(now, "staffSuppress", true);
    json_set_bool(now, "deleted", true);
    TRY(tx_change(req->tx, &instances, old, now));
    return reply_empty(req, 204);
}

// ---------------------------------------------------------------------------------------------
// Many at once: each in a transaction of its own, so that one that is wrong spoils no other

typedef struct {
    const Json *body;
    Json *created;
} BatchEntry;

static Err *entry_insert(Tx *tx, void *context)
{
    BatchEntry *entry = context;

    TRY(instance_insert(tx, entry->body, &entry->created));
    return instances_represent(tx, &entry->created, 1, NULL);
}

Err *inventory_instances_batch(Req *req)
{
    Json *body = NULL, *answer = json_object(), *created = json_array(), *errors = json_array();
    TxOptions options = {.kind = WRITE, .is_batch = true, .now = req->now, .user_id = req->user_id};

    TRY(req_body_object(req, &body));
    JSON_EACH(one, json_get(body, "instances"))
    {
        BatchEntry entry = {.body = one};
        Err *err = tx_run(tenant_db(req->tenant), &options, entry_insert, &entry);
        if (err) {
            json_add(errors, json_string(err->message));
        } else {
            json_add(created, entry.created);
        }
    }
    bool is_spoilt = json_len(errors) && !json_len(created);
    json_set_int(answer, "totalRecords", (int64_t)json_len(created));
    json_set(answer, "instances", created);
    json_set(answer, "errorMessages", errors);
    return reply_json(req, is_spoilt ? 500 : 201, answer);
}
