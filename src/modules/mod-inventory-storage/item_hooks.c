// Items on their way into the store: effective values, order, status date. Source:
// spec/inventory.md 3.3, 3.4, 4.
#include "modules/mod-inventory-storage/storage.h"

#include "modules/mod-inventory-storage/shelving_order.h"

static const char *const item_lists[] = {"administrativeNotes", "statisticalCodeIds", "formerIds",
                                         "yearCaption",         "tags.tagList",       NULL};

static const RecordRules item_rules = {HRID_ITEMS, item_lists};

// ---------------------------------------------------------------------------------------------
// Effective values

static Str first_of(const Json *item, const char *item_path, const Json *above,
                    const char *above_path)
{
    Str own = json_str(item, item_path);
    return str_trim(own).len ? own : json_str(above, above_path);
}

static void location_compute(Json *item, const Json *above)
{
    Str own = first_of(item, "temporaryLocationId", item, "permanentLocationId");
    Str inherited = first_of(above, "temporaryLocationId", above, "permanentLocationId");

    json_set_str_if(item, "effectiveLocationId", own.len ? own : inherited);
}

// Each member by itself: the item's number may stand beside the prefix of the holdings.
static void call_number_compute(Json *item, const Json *above)
{
    static const char *const paths[][3] = {
        {"callNumber", "itemLevelCallNumber", "callNumber"},
        {"prefix", "itemLevelCallNumberPrefix", "callNumberPrefix"},
        {"suffix", "itemLevelCallNumberSuffix", "callNumberSuffix"},
        {"typeId", "itemLevelCallNumberTypeId", "callNumberTypeId"},
    };
    Json *parts = json_object();

    for (size_t i = 0; i < 4; i++) {
        Str value = first_of(item, paths[i][1], above, paths[i][2]);
        if (str_trim(value).len) {
            json_set_str(parts, paths[i][0], value);
        }
    }
    json_set(item, "effectiveCallNumberComponents", parts);
}

static void shelving_compute(Json *item)
{
    const Json *parts = json_get(item, "effectiveCallNumberComponents");
    CallNumber number = {
        .call_number = json_str(parts, "callNumber"),
        .type_id = json_str(parts, "typeId"),
        .suffix = json_str(parts, "suffix"),
        .following = {json_str(item, "volume"), json_str(item, "enumeration"),
                      json_str(item, "chronology"), json_str(item, "copyNumber")},
    };
    Str key = shelving_order(&number);

    json_remove(item, "effectiveShelvingOrder");
    json_set_str_if(item, "effectiveShelvingOrder", key);
}

void item_compute(Json *item, const Json *above)
{
    location_compute(item, above);
    call_number_compute(item, above);
    shelving_compute(item);
}

// Whether what the effective values are made of is the same as before.
static bool has_same_sources(const Json *old, const Json *doc)
{
    static const char *const paths[] = {
        "holdingsRecordId",
        "permanentLocationId",
        "temporaryLocationId",
        "itemLevelCallNumber",
        "itemLevelCallNumberPrefix",
        "itemLevelCallNumberSuffix",
        "itemLevelCallNumberTypeId",
        "volume",
        "enumeration",
        "chronology",
        "copyNumber",
    };

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        if (!str_eq(json_str(old, paths[i]), json_str(doc, paths[i]))) {
            return false;
        }
    }
    return true;
}

static Err *holdings_missing(const Json *old, Str id)
{
    if (old) {
        return err_text(400, "holdingsRecordId not found: " STR_FMT, STR_ARG(id));
    }
    return rule_error(S("Holdings record does not exist"), "holdingsRecordId", id);
}

// A client's record comes without computed members: they are taken from the stored one or made
// anew. A change of ours brings them along; when their sources are the same they count as made.
static Err *effective_values_set(Tx *tx, const Json *old, Json *doc)
{
    static const char *const computed[] = {"effectiveLocationId", "effectiveCallNumberComponents",
                                           "effectiveShelvingOrder"};
    Json *above = NULL;

    if (old && has_same_sources(old, doc)) {
        if (!json_has(doc, "effectiveLocationId")) {
            for (size_t i = 0; i < 3; i++) {
                json_take(doc, computed[i], old, computed[i]);
            }
        }
        return NULL;
    }
    TRY(tx_get(tx, &holdings, json_str(doc, "holdingsRecordId"), &above));
    if (!above) {
        return holdings_missing(old, json_str(doc, "holdingsRecordId"));
    }
    item_compute(doc, above);
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Order, status, notes

static Err *take_int(const Row *row, void *context)
{
    *(int64_t *)context = row_is_null(row, 0) ? 0 : row_int(row, 0);
    return NULL;
}

Err *item_order_next(Tx *tx, Str holdings_id, int64_t *out)
{
    int64_t last = 0;

    TRY(tx_rows(tx, "select max(order_number) from item where holdings_record_id = $1",
                ARGS(A_TEXT(holdings_id)), take_int, &last));
    *out = last + 1;
    return NULL;
}

static Err *order_set(Tx *tx, const Json *old, Json *doc)
{
    bool is_moved =
        old && !str_eq(json_str(old, "holdingsRecordId"), json_str(doc, "holdingsRecordId"));
    int64_t order = 0;

    if (json_has(doc, "order") && !is_moved) {
        return NULL;
    }
    if (old && !is_moved) {
        json_take(doc, "order", old, "order");
        return NULL;
    }
    TRY(item_order_next(tx, json_str(doc, "holdingsRecordId"), &order));
    json_set_int(doc, "order", order);
    return NULL;
}

// A new record keeps a date that came with it (batches); the routes for single ones drop it.
static void status_date_set(Tx *tx, const Json *old, Json *doc)
{
    if (old && str_eq(json_str(old, "status.name"), json_str(doc, "status.name"))) {
        json_remove(doc, "status.date");
        json_take(doc, "status.date", old, "status.date");
    } else if (old || !json_has(doc, "status.date")) {
        json_set_time(doc, "status.date", tx_now(tx));
    }
}

static void circulation_notes_number(Json *doc)
{
    JSON_EACH(note, json_get(doc, "circulationNotes"))
    {
        if (!json_str(note, "id").len) {
            json_set_str(note, "id", uuid_new());
        }
    }
}

Err *item_before_write(Tx *tx, const Json *old, Json *doc)
{
    TRY(record_rules_apply(tx, &item_rules, old, doc));
    TRY(effective_values_set(tx, old, doc));
    TRY(order_set(tx, old, doc));
    status_date_set(tx, old, doc);
    circulation_notes_number(doc);
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Events, conflicts, deletion

static Err *instance_of(Tx *tx, Str holdings_id, Str *out)
{
    Json *above = NULL;

    TRY(tx_get(tx, &holdings, holdings_id, &above));
    *out = json_str(above, "instanceId");
    return NULL;
}

Err *item_event_key(Tx *tx, const Json *doc, Str *key)
{
    return instance_of(tx, json_str(doc, "holdingsRecordId"), key);
}

Err *bound_with_event_key(Tx *tx, const Json *doc, Str *key)
{
    return instance_of(tx, json_str(doc, "holdingsRecordId"), key);
}

// Readers of item and part events find the title without asking back.
Err *item_event_view(Tx *tx, const Json *doc, const Json **out)
{
    Json *view = json_copy(doc);
    Str instance_id;

    TRY(instance_of(tx, json_str(doc, "holdingsRecordId"), &instance_id));
    json_set_str_if(view, "instanceId", instance_id);
    *out = view;
    return NULL;
}

// The texts of PUT and POST differ. A record that is stored anew has version 1.
Err *item_explain(Tx *tx, Conflict kind, const Field *field, Str value, const Json *doc)
{
    if (kind == CONFLICT_MISSING_REFERENCE && json_int(doc, "_version", 1) > 1) {
        return err_text(400, "Cannot set item %s = " STR_FMT " because it does not exist in %s.id.",
                        field->path, STR_ARG(value), field->references->table);
    }
    return hrid_explain(tx, &items, kind, field, value);
}

Err *item_after_write(Tx *tx, const Json *old, const Json *doc)
{
    return doc ? NULL : deleted_note(tx, &deleted_items, old);
}
