// Reference records with rules of their own: records that belong to the system, settings.
// Source: spec/inventory.md 2.1, 2.3.
#include "modules/mod-inventory-storage/storage.h"

static Err *stored(Req *req, const Json **out)
{
    *out = NULL;
    if (!uuid_is_uuid_shaped(req_param(req, 0))) {
        return NULL;
    }
    return tx_ref(req->tx, req->route->collection, str_lower(req_param(req, 0)), out);
}

static bool is_from(const Json *record, Str source)
{
    return str_eq(json_str(record, "source"), source);
}

// ---------------------------------------------------------------------------------------------
// Call number types, holdings sources

static Err *not_of_the_system(Req *req)
{
    const Json *record = NULL;

    TRY(stored(req, &record));
    return is_from(record, S("system"))
               ? err_text(400, "System call number type couldn't be updated/deleted")
               : NULL;
}

Err *call_number_type_put(Req *req)
{
    TRY(not_of_the_system(req));
    return collection_put(req);
}

Err *call_number_type_delete(Req *req)
{
    TRY(not_of_the_system(req));
    return collection_delete(req);
}

Err *holdings_source_delete(Req *req)
{
    const Json *record = NULL;

    TRY(stored(req, &record));
    if (!record) {
        return err_text(404, "Entity with id '" STR_FMT "' not found for deletion",
                        STR_ARG(req_param(req, 0)));
    }
    if (is_from(record, S("folio"))) {
        return err_text(400, "Holdings Records Sources with source of folio can not be deleted");
    }
    return collection_delete(req);
}

// ---------------------------------------------------------------------------------------------
// Subject types and sources

static Err *illegal(Str text, Str source)
{
    return rule_error(text, "source", source);
}

Err *subject_record_create(Req *req)
{
    Str source = json_str(req->json, "source");

    if (str_eq(source, S("folio"))) {
        return illegal(S("Illegal operation: Source field cannot be set to folio"), source);
    }
    if (str_eq(source, S("consortium"))) {
        return illegal(S("Illegal operation: Source consortium cannot be applied at non-consortium "
                         "tenant"),
                       source);
    }
    return collection_create(req);
}

Err *subject_record_put(Req *req)
{
    const Json *record = NULL;
    Str source = json_str(req->json, "source");

    TRY(stored(req, &record));
    if (is_from(record, S("folio"))) {
        return illegal(S("Illegal operation: Source folio cannot be updated"), source);
    }
    if (record && !is_from(record, source)) {
        return illegal(S("Illegal operation: Source field cannot be updated at non-consortium "
                         "tenant"),
                       source);
    }
    return collection_put(req);
}

static Err *take_flag(const Row *row, void *context)
{
    (void)row;
    *(bool *)context = true;
    return NULL;
}

// Subjects stand inside of instances without an index: the delete of a subject type or source,
// which hardly ever happens, looks through them before it asks for the right to write.
Err *subject_record_delete(Req *req)
{
    bool is_type = req->route->collection == &subject_types;
    Str id = str_lower(req_param(req, 0));
    bool is_used = false;
    Tx *tx = NULL;

    if (uuid_is_uuid_shaped(id)) {
        Str part =
            str_fmt("%%\"%s\":\"" STR_FMT "\"%%", is_type ? "typeId" : "sourceId", STR_ARG(id));
        TRY(tx_begin(tenant_db(req->tenant), &(TxOptions){.kind = READ, .now = req->now}, &tx));
        Err *err = tx_rows(tx, "select 1 from instance where doc like $1 limit 1",
                           ARGS(A_TEXT(part)), take_flag, &is_used);
        tx_rollback(tx);
        TRY(err);
    }
    if (is_used) {
        const char *table = req->route->collection->table;
        return err_text(400,
                        "Cannot delete %s.id = " STR_FMT
                        " because id is still referenced from table instance_%s.",
                        table, STR_ARG(id), table);
    }
    TRY(tx_begin(tenant_db(req->tenant),
                 &(TxOptions){.kind = WRITE, .now = req->now, .user_id = req->user_id}, &tx));
    Err *err = tx_delete(tx, req->route->collection, id);
    if (err) {
        tx_rollback(tx);
        return err;
    }
    TRY(tx_commit(tx));
    return reply_empty(req, 204);
}

// ---------------------------------------------------------------------------------------------
// Date types and settings: fixed records of which one member may change

Err *instance_date_type_patch(Req *req)
{
    Json *body = NULL, *doc = NULL;
    Str id = str_lower(req_param(req, 0));

    TRY(req_body_object(req, &body));
    if (uuid_is_uuid_shaped(id)) {
        TRY(tx_get(req->tx, &instance_date_types, id, &doc));
    }
    if (!doc) {
        return err_text(404, "Not found");
    }
    Json *old = json_copy(doc);
    json_set_str_if(doc, "name", json_str(body, "name"));
    TRY(tx_change(req->tx, &instance_date_types, old, doc));
    return reply_empty(req, 204);
}

static Err *setting_find(Req *req, Json **out)
{
    TRY(tx_find(req->tx, &inventory_settings, "key_name", req_param(req, 0), out));
    return *out ? NULL : err_text(404, "Setting not found: " STR_FMT, STR_ARG(req_param(req, 0)));
}

Err *setting_get(Req *req)
{
    Json *setting = NULL;

    TRY(setting_find(req, &setting));
    return reply_json(req, 200, setting);
}

static bool value_fits(Str type, const Json *value)
{
    if (str_eq(type, S("BOOLEAN"))) {
        return json_is_bool(value);
    }
    return str_eq(type, S("INTEGER")) ? json_is_number(value) : json_is_string(value);
}

Err *setting_patch(Req *req)
{
    Json *body = NULL, *setting = NULL;

    TRY(req_body_object(req, &body));
    TRY(setting_find(req, &setting));
    const Json *value = json_get(body, "value");
    Str type = json_str(setting, "type");
    if (!value_fits(type, value)) {
        return rule_error(str_fmt("Setting value should be a " STR_FMT, STR_ARG(str_lower(type))),
                          "value", json_scalar_text(value));
    }
    Json *old = json_copy(setting);
    json_set_str(setting, "value", json_scalar_text(value));
    TRY(tx_change(req->tx, &inventory_settings, old, setting));
    return reply_empty(req, 204);
}

// ---------------------------------------------------------------------------------------------
// Settings of human-readable ids

Err *hrid_settings_get(Req *req)
{
    Json *settings = NULL;

    TRY(tx_get(req->tx, &hrid_settings, HRID_SETTINGS_ID, &settings));
    if (!settings) {
        return err_text(404, "Not found");
    }
    for (size_t i = 0; i < HRID_COUNTERS; i++) {
        Json *part = json_get(settings, hrid_counters[i].member);
        int64_t given = 0;
        TRY(tx_sequence_last(req->tx, hrid_counters[i].sequence, &given));
        json_set_int(part, "currentNumber", json_int(part, "startNumber", 1) + given - 1);
    }
    return reply_json(req, 200, settings);
}

// All three counters begin anew, also those whose part did not change.
Err *hrid_settings_put(Req *req)
{
    Json *doc = NULL, *old = NULL;

    TRY(req_body_object(req, &doc));
    json_set_str(doc, "id", HRID_SETTINGS_ID);
    TRY(tx_get(req->tx, &hrid_settings, HRID_SETTINGS_ID, &old));
    TRY(old ? tx_update(req->tx, &hrid_settings, doc) : tx_insert(req->tx, &hrid_settings, doc));
    for (size_t i = 0; i < HRID_COUNTERS; i++) {
        TRY(tx_sequence_restart(req->tx, hrid_counters[i].sequence));
    }
    return reply_empty(req, 204);
}
