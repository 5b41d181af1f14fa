// The text of the circulation rules, and circulation settings.
// Source: spec/circulation.md 11, 12.3.
#include "modules/mod-circulation-storage/hooks.h"

// ---------------------------------------------------------------------------------------------
// Rules: one record

static Err *rules_record(Tx *tx, Json **out)
{
    Docs docs = {0};

    TRY(tx_where(tx, &circulation_rules, "1 = 1 order by pk limit 1", NO_ARGS, &docs));
    *out = docs.len ? docs.at[0] : NULL;
    return NULL;
}

Err *circulation_rules_text(Tx *tx, Str *out)
{
    Json *record = NULL;

    TRY(rules_record(tx, &record));
    *out = json_str(record, "rulesAsText");
    return NULL;
}

Err *circulation_rules_store(Tx *tx, Str text)
{
    Json *record = NULL, *doc = json_object();

    TRY(rules_record(tx, &record));
    json_set_str(doc, "rulesAsText", text);
    if (!record) {
        return tx_insert(tx, &circulation_rules, doc);
    }
    json_take(doc, "id", record, "id");
    return tx_change(tx, &circulation_rules, record, doc);
}

Err *rules_storage_get(Req *req)
{
    Json *record = NULL;

    TRY(rules_record(req->tx, &record));
    return record ? reply_json(req, 200, record) : err_text(500, "circulationRulesList.size() = 0");
}

Err *rules_storage_put(Req *req)
{
    Json *body = NULL;

    TRY(req_body_object(req, &body));
    TRY(properties_check(circulation_rules.record, body));
    TRY(circulation_rules_store(req->tx, json_str(body, "rulesAsText")));
    return reply_empty(req, 204);
}

// ---------------------------------------------------------------------------------------------
// Settings

static Err *setting_of(Tx *tx, Str name, Json **out)
{
    return tx_find(tx, &circulation_settings, "name", name, out);
}

// A name that exists gets the new value; the client sees its own record either way.
Err *setting_create(Req *req)
{
    Json *body = NULL, *stored = NULL;

    TRY(req_body_object(req, &body));
    TRY(properties_check(circulation_settings.record, body));
    TRY(setting_of(req->tx, json_str(body, "name"), &stored));
    if (!stored) {
        return collection_create(req);
    }
    Json *changed = json_copy(stored);
    json_take(changed, "value", body, "value");
    TRY(tx_change(req->tx, &circulation_settings, stored, changed));
    return reply_created(req, &circulation_settings, body);
}
