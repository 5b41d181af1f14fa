// Links between inventory records: bound-with parts, relationships, preceding and succeeding
// titles. Source: spec/inventory.md 2.3.
#include "modules/mod-inventory-storage/storage.h"

#include "modules/mod-inventory-storage/properties.h"

// ---------------------------------------------------------------------------------------------
// Bound-with parts

// An entry of errors[] with the code that the client looks at.
static Err *not_found_422(const char *code, const char *what, Str id)
{
    return err_json(422, str_of(code), str_fmt("%s not found: " STR_FMT, what, STR_ARG(id)),
                    &P("id", id), 1);
}

// The holdings records that the item's parts are to be: the item's own one goes first.
static StrList wanted_holdings(const Json *body, Str own)
{
    StrList wanted = {0};
    bool has_others = false;

    str_list_add(&wanted, own);
    JSON_EACH(content, json_get(body, "boundWithContents"))
    {
        Str id = str_lower(json_str(content, "holdingsRecordId"));
        has_others = has_others || !str_eq(id, own);
        if (!str_list_has(&wanted, id)) {
            str_list_add(&wanted, id);
        }
    }
    return has_others ? wanted : (StrList){0};
}

static Err *holdings_must_exist(Tx *tx, const StrList *ids)
{
    Docs found = {0};

    TRY(tx_get_many(tx, &holdings, ids->at, ids->len, &found));
    for (size_t i = 0; found.len < ids->len && i < ids->len; i++) {
        Json *one = NULL;
        TRY(tx_get(tx, &holdings, ids->at[i], &one));
        if (!one) {
            return not_found_422("holding.not-found", "Holdings", ids->at[i]);
        }
    }
    return NULL;
}

static Err *parts_make_equal(Tx *tx, Str item_id, const StrList *wanted)
{
    Docs parts = {0};
    StrList have = {0};

    TRY(tx_where(tx, &bound_with_parts, "item_id = $1", ARGS(A_TEXT(item_id)), &parts));
    for (size_t i = 0; i < parts.len; i++) {
        Str id = json_str(parts.at[i], "holdingsRecordId");
        if (str_list_has(wanted, id)) {
            str_list_add(&have, id);
        } else {
            TRY(tx_delete(tx, &bound_with_parts, json_str(parts.at[i], "id")));
        }
    }
    for (size_t i = 0; i < wanted->len; i++) {
        if (!str_list_has(&have, wanted->at[i])) {
            Json *part = json_object();
            json_set_str(part, "itemId", item_id);
            json_set_str(part, "holdingsRecordId", wanted->at[i]);
            TRY(tx_insert(tx, &bound_with_parts, part));
        }
    }
    return NULL;
}

Err *bound_withs_put(Req *req)
{
    Json *body = NULL, *item = NULL;

    TRY(req_body_object(req, &body));
    TRY(properties_check(&bound_with_record, body));
    Str item_id = json_str(body, "itemId");
    TRY(tx_get(req->tx, &items, item_id, &item));
    if (!item) {
        return not_found_422("item.not-found", "Item", item_id);
    }
    StrList wanted = wanted_holdings(body, json_str(item, "holdingsRecordId"));
    TRY(holdings_must_exist(req->tx, &wanted));
    TRY(parts_make_equal(req->tx, item_id, &wanted));
    return reply_empty(req, 204);
}

// ---------------------------------------------------------------------------------------------
// Relationships

// Deleting what is not there is fine, as in FOLIO.
Err *instance_relationship_delete(Req *req)
{
    Err *err = collection_delete(req);

    return err && err->status == 404 ? reply_empty(req, 204) : err;
}

// ---------------------------------------------------------------------------------------------
// Preceding and succeeding titles

static Err *title_link_names(const Json *link, Str id)
{
    if (str_eq_nocase(json_str(link, "precedingInstanceId"), id) ||
        str_eq_nocase(json_str(link, "succeedingInstanceId"), id)) {
        return NULL;
    }
    return err_422(S("-1"),
                   str_fmt("The precedingInstanceId or succeedingInstanceId should contain "
                           "instanceId [" STR_FMT "]",
                           STR_ARG(id)),
                   P("precedingInstanceId", json_str(link, "precedingInstanceId")));
}

static Err *title_links_remove(Tx *tx, Str instance_id)
{
    Docs old = {0};

    TRY(tx_where(tx, &title_links, "preceding_instance_id = $1 or succeeding_instance_id = $1",
                 ARGS(A_TEXT(instance_id)), &old));
    for (size_t i = 0; i < old.len; i++) {
        TRY(tx_delete(tx, &title_links, json_str(old.at[i], "id")));
    }
    return NULL;
}

Err *title_links_put(Req *req)
{
    Json *body = NULL;
    Str id = str_lower(req_param(req, 0)), text = {0};

    TRY(req_body_object(req, &body));
    JSON_EACH(link, json_get(body, "precedingSucceedingTitles"))
    {
        TRY(title_link_names(link, id));
    }
    if (uuid_is_uuid_shaped(id)) {
        TRY(tx_get_text(req->tx, &instances, id, &text));
    }
    if (!text.at) {
        return err_text(404, "Instance not found");
    }
    TRY(title_links_remove(req->tx, id));
    JSON_EACH(link, json_get(body, "precedingSucceedingTitles"))
    {
        TRY(tx_insert(req->tx, &title_links, json_copy(link)));
    }
    return reply_empty(req, 204);
}
