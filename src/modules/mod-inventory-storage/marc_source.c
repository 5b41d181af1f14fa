// The MARC record behind an instance, as MARC-in-JSON. Source: spec/inventory.md 1.8.
#include "modules/mod-inventory-storage/storage.h"

static Err *instance_find(Req *req, Json **out)
{
    Str id = str_lower(req_param(req, 0));

    *out = NULL;
    if (uuid_is_uuid_shaped(id)) {
        TRY(tx_get(req->tx, &instances, id, out));
    }
    return *out ? NULL : err_text(404, "Not found");
}

// A null in the document clears the format: see the hook of instances.
static Err *format_set(Tx *tx, Json *instance, Json *format)
{
    Json *old = json_copy(instance);

    json_set(instance, "sourceRecordFormat", format);
    return tx_change(tx, &instances, old, instance);
}

Err *marc_source_get(Req *req)
{
    Str id = str_lower(req_param(req, 0)), text = {0};

    if (uuid_is_uuid_shaped(id)) {
        TRY(tx_get_text(req->tx, &marc_sources, id, &text));
    }
    return text.at ? reply_json_text(req, 200, text) : err_text(404, "Not found");
}

Err *marc_source_put(Req *req)
{
    Json *doc = NULL, *instance = NULL;
    Str stored = {0};

    TRY(req_body_object(req, &doc));
    TRY(instance_find(req, &instance));
    Str id = json_str(instance, "id");
    json_set_str(doc, "id", id);
    TRY(tx_get_text(req->tx, &marc_sources, id, &stored));
    TRY(stored.at ? tx_update(req->tx, &marc_sources, doc)
                  : tx_insert(req->tx, &marc_sources, doc));
    if (!json_has(instance, "sourceRecordFormat")) {
        TRY(format_set(req->tx, instance, json_string(S("MARC-JSON"))));
    }
    return reply_empty(req, 204);
}

Err *marc_source_delete(Req *req)
{
    Json *instance = NULL;
    Str stored = {0};

    TRY(instance_find(req, &instance));
    TRY(tx_get_text(req->tx, &marc_sources, json_str(instance, "id"), &stored));
    if (!stored.at) {
        return err_text(404, "Not found");
    }
    TRY(tx_delete(req->tx, &marc_sources, json_str(instance, "id")));
    if (json_has(instance, "sourceRecordFormat")) {
        TRY(format_set(req->tx, instance, json_null()));
    }
    return reply_empty(req, 204);
}
