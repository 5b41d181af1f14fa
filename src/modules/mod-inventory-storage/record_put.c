// PUT of instances, holdings records and items. A library may ask that a PUT which changes nothing
// leaves the record alone (setting inventory.optimize-updates.enabled). Source: spec/inventory.md
// 2.3.
#include "modules/mod-inventory-storage/storage.h"

#define OPTIMIZE_SETTING_ID S("0c9f5d4e-6f0b-4c55-8d54-4f7d3a2b9c11")

static Err *leaves_equal_alone(Tx *tx, bool *out)
{
    const Json *setting = NULL;

    TRY(tx_ref(tx, &inventory_settings, OPTIMIZE_SETTING_ID, &setting));
    *out = str_eq(json_str(setting, "value"), S("true"));
    return NULL;
}

// Without what the server sets: it does not count as a change.
static Json *bare(const Json *record)
{
    static const char *const made[] = {"metadata",
                                       "effectiveLocationId",
                                       "effectiveCallNumberComponents",
                                       "effectiveShelvingOrder",
                                       "status.date",
                                       "statusUpdatedDate",
                                       "sourceRecordFormat"};
    Json *copy = json_copy(record);

    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        json_remove(copy, made[i]);
    }
    return copy;
}

static Err *changes_nothing(Req *req, const Collection *of, bool *out)
{
    Json *old = NULL, *now = NULL;
    Str id = str_lower(req_param(req, 0));

    *out = false;
    if (!uuid_is_uuid_shaped(id)) {
        return NULL;
    }
    TRY(req_body_object(req, &now));
    TRY(tx_get(req->tx, of, id, &old));
    if (!old) {
        return NULL;
    }
    now = json_copy(now);
    json_set_str(now, "id", id);
    TRY(properties_check(of->record, now));
    if (!json_has(now, "order")) {
        json_take(now, "order", old, "order");
    }
    *out = json_equal(bare(old), bare(now));
    return NULL;
}

Err *record_put(Req *req)
{
    bool is_asked = false, is_equal = false;

    TRY(leaves_equal_alone(req->tx, &is_asked));
    if (is_asked) {
        TRY(changes_nothing(req, req->route->collection, &is_equal));
    }
    return is_equal ? reply_empty(req, 204) : collection_put(req);
}
