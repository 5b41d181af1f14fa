// Items of /inventory: lists, one item, changes with the checks clients rely on.
// Source: spec/inventory.md 5, 5.1.
#include "modules/mod-inventory/inventory.h"

#include "modules/mod-inventory-storage/properties.h"
#include "modules/mod-users/users.h"

enum {
    BY_HOLDINGS_LIMIT = 200,
    BY_HOLDINGS_MAX = 10000,
    PARTS_MAX = 100000,
};

static const ListView items_view = {.list_key = "items", .enrich = items_represent};

// ---------------------------------------------------------------------------------------------
// Reading

static Err *list_reply(Req *req, const ListRequest *request)
{
    List *list = NULL;

    TRY(list_open(req->tx, &items, request, &list));
    return reply_view(req, list, &items_view);
}

Err *inventory_items_list(Req *req)
{
    ListRequest request;

    TRY(inventory_list_request(req, &items, &request));
    return list_reply(req, &request);
}

Err *inventory_items_retrieve(Req *req)
{
    Json *body = NULL;

    TRY(req_body_object(req, &body));
    TRY(properties_check(&retrieve_entities_record, body));
    ListRequest request = {.limit = json_int(body, "limit", 10),
                           .offset = json_int(body, "offset", 0)};
    if (json_has(body, "query")) {
        request.query = json_str(body, "query");
    }
    return list_reply(req, &request);
}

static Err *item_find(Req *req, Json **out)
{
    Str id = str_lower(req_param(req, 0));

    *out = NULL;
    if (uuid_is_uuid_shaped(id)) {
        TRY(tx_get(req->tx, &items, id, out));
    }
    return *out ? NULL : err_text(404, "Not Found");
}

Err *inventory_item_get(Req *req)
{
    ItemContext found;

    TRY(item_by_id(req->tx, req_param(req, 0), &found));
    if (!found.item) {
        return err_text(404, "Not Found");
    }
    TRY(item_represent(req->tx, &found));
    return reply_json(req, 200, found.item);
}

// ---------------------------------------------------------------------------------------------
// Items of a holdings record, those bound with it included

// Cuts off " sortby order", which the front end adds.
static Str sort_of_query(Str *query)
{
    ptrdiff_t at = str_find(str_lower(*query), S(" sortby "), 0);
    Str sort = at < 0 ? S("") : str_sub(*query, (size_t)at, query->len);

    *query = str_sub(*query, 0, query->len - sort.len);
    return sort;
}

static Err *holdings_of_query(Str query, Str *out)
{
    Str rest = str_trim(query), name = S("holdingsRecordId");

    if (str_starts(rest, name)) {
        rest = str_trim(str_sub(rest, name.len, rest.len));
        size_t equals = str_starts(rest, S("==")) ? 2 : str_starts(rest, S("=")) ? 1 : 0;
        rest = equals ? str_trim(str_sub(rest, equals, rest.len)) : (Str){0};
        if (rest.len >= 2 && rest.at[0] == '"' && rest.at[rest.len - 1] == '"') {
            rest = str_sub(rest, 1, rest.len - 1);
        }
        if (uuid_is_uuid_shaped(rest)) {
            *out = str_lower(rest);
            return NULL;
        }
    }
    return err_text(400, "CQL query needs to be of the form holdingsRecordId==<UUID>: " STR_FMT,
                    STR_ARG(query));
}

static Err *part_ids(Tx *tx, Str holdings_id, StrList *out)
{
    Docs parts = {0};

    TRY(tx_where(tx, &bound_with_parts, "holdings_record_id = $1", ARGS(A_TEXT(holdings_id)),
                 &parts));
    for (size_t i = 0; i < parts.len; i++) {
        str_list_add(out, json_str(parts.at[i], "itemId"));
    }
    return NULL;
}

static Str by_holdings_cql(Str holdings_id, const StrList *parts, Str relations)
{
    Str bound = cql_any_of("id", parts->at, parts->len);
    bool only_bound = str_starts(relations, S("onlyBoundWiths"));

    if (!only_bound) {
        return str_fmt("holdingsRecordId==\"" STR_FMT "\"%s" STR_FMT, STR_ARG(holdings_id),
                       bound.len ? " or " : "", STR_ARG(bound));
    }
    if (!bound.len) {
        return (Str){0};
    }
    return str_eq(relations, S("onlyBoundWithsSkipDirectlyLinkedItem"))
               ? str_fmt(STR_FMT " not holdingsRecordId==\"" STR_FMT "\"", STR_ARG(bound),
                         STR_ARG(holdings_id))
               : bound;
}

Err *inventory_items_by_holdings(Req *req)
{
    Str holdings_id;
    StrList parts = {0};
    ListRequest request;

    TRY(inventory_list_request(req, &items, &request));
    Str sort = sort_of_query(&request.query);
    TRY(holdings_of_query(request.query, &holdings_id));
    TRY(req_query_int(req, "limit", BY_HOLDINGS_LIMIT, &request.limit));
    request.limit = request.limit > BY_HOLDINGS_MAX ? BY_HOLDINGS_MAX : request.limit;
    TRY(part_ids(req->tx, holdings_id, &parts));
    request.query = by_holdings_cql(holdings_id, &parts, req_query_text(req, "relations"));
    if (!request.query.at) {
        return reply_json_text(req, 200, S("{\"items\":[],\"totalRecords\":0}"));
    }
    request.query = str_fmt(STR_FMT STR_FMT, STR_ARG(request.query), STR_ARG(sort));
    return list_reply(req, &request);
}

// ---------------------------------------------------------------------------------------------
// Items of several tenants: without a consortium only those of the caller's own are to be seen

Err *inventory_tenant_items(Req *req)
{
    Json *body = NULL, *answer = json_object(), *found = json_array();
    StrList ids = {0};
    Docs docs = {0};

    TRY(req_body_object(req, &body));
    JSON_EACH(pair, json_get(body, "tenantItemPairs"))
    {
        Str id = json_str(pair, "itemId");
        if (str_eq(json_str(pair, "tenantId"), req->tenant_id) && uuid_is_uuid_shaped(id)) {
            str_list_add(&ids, id);
        }
    }
    TRY(tx_get_many(req->tx, &items, ids.at, ids.len, &docs));
    for (size_t i = 0; i < docs.len; i++) {
        Json *one = json_object();
        json_set(one, "item", docs.at[i]);
        json_set_str(one, "tenantId", req->tenant_id);
        json_add(found, one);
    }
    json_set_int(answer, "totalRecords", (int64_t)docs.len);
    json_set(answer, "tenantItems", found);
    return reply_json(req, 200, answer);
}

// ---------------------------------------------------------------------------------------------
// Checks

static Err *status_check(const Json *body)
{
    Str name = json_str(body, "status.name");

    if (!str_trim(name).len) {
        return err_422(NO_CODE, S("Status is a required field"), P_NULL("status"));
    }
    const Property *status = property_find(&item_record, "status.name");
    for (const char *const *known = status->one_of; *known; known++) {
        if (str_eq_z(name, *known)) {
            return NULL;
        }
    }
    return inventory_error(S("Undefined status specified"), "status.name", name);
}

static Err *barcode_check(Tx *tx, const Json *item)
{
    Str barcode = json_str(item, "barcode");
    Json *other = NULL;

    if (!barcode.len) {
        return NULL;
    }
    TRY(tx_find(tx, &items, "barcode", barcode, &other));
    if (!other || str_eq_nocase(json_str(other, "id"), json_str(item, "id"))) {
        return NULL;
    }
    return err_text(400, "Barcode must be unique, " STR_FMT " is already assigned to another item",
                    STR_ARG(barcode));
}

static Err *change_check(const Json *old, const Json *item)
{
    if (!str_eq(json_str(old, "hrid"), json_str(item, "hrid"))) {
        return inventory_error(S("HRID can not be updated"), "hrid", json_str(item, "hrid"));
    }
    if (str_eq(json_str(old, "status.name"), S("Claimed returned")) &&
        str_eq(json_str(item, "status.name"), S("Missing"))) {
        return inventory_error(S("Claimed returned item cannot be marked as missing"),
                               "status.name", S("Missing"));
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Circulation notes say who wrote them, and when

static const Json *note_by_id(const Json *item, Str id)
{
    JSON_EACH(note, json_get(item, "circulationNotes"))
    {
        if (id.len && str_eq(json_str(note, "id"), id)) {
            return note;
        }
    }
    return NULL;
}

static Err *author_read(Req *req, Json **author)
{
    Json *user = NULL;

    if (*author) {
        return NULL;
    }
    TRY(user_by_id(req->tx, req->user_id, &user));
    *author = json_object();
    json_set_str_if(*author, "id", req->user_id);
    json_take(*author, "personal.lastName", user, "personal.lastName");
    json_take(*author, "personal.firstName", user, "personal.firstName");
    return NULL;
}

static Err *circulation_notes_sign(Req *req, const Json *old, Json *item)
{
    Json *author = NULL;

    JSON_EACH(note, json_get(item, "circulationNotes"))
    {
        const Json *before = note_by_id(old, json_str(note, "id"));
        if (before && str_eq(json_str(before, "note"), json_str(note, "note")) &&
            str_eq(json_str(before, "noteType"), json_str(note, "noteType")) &&
            json_flag(before, "staffOnly", false) == json_flag(note, "staffOnly", false)) {
            continue;
        }
        if (req->user_id.len && tenant_has_module(req->tenant, "mod-users")) {
            TRY(author_read(req, &author));
            json_set(note, "source", json_copy(author));
        }
        json_set_time(note, "date", req->now);
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Writing

Err *inventory_item_create(Req *req)
{
    Json *body = NULL;
    ItemContexts shown = {0};

    TRY(req_body_object(req, &body));
    Json *item = item_from_body(body);
    TRY(status_check(body));
    TRY(barcode_check(req->tx, item));
    TRY(circulation_notes_sign(req, NULL, item));
    json_remove(item, "status.date");
    TRY(tx_insert(req->tx, &items, item));
    TRY(items_above(req->tx, &item, 1, &shown));
    TRY(item_represent(req->tx, &shown.at[0]));
    reply_header(req, "Location",
                 str_fmt("/inventory/items/" STR_FMT, STR_ARG(json_str(item, "id"))));
    return reply_json(req, 201, item);
}

static Err *item_store(Req *req, const Json *old, Json *item)
{
    json_set_str(item, "id", json_str(old, "id"));
    if (!str_eq(json_str(old, "barcode"), json_str(item, "barcode"))) {
        TRY(barcode_check(req->tx, item));
    }
    TRY(change_check(old, item));
    TRY(circulation_notes_sign(req, old, item));
    TRY(tx_update(req->tx, &items, item));
    return reply_empty(req, 204);
}

Err *inventory_item_put(Req *req)
{
    Json *body = NULL, *old = NULL;

    TRY(req_body_object(req, &body));
    TRY(status_check(body));
    TRY(item_find(req, &old));
    return item_store(req, old, item_from_body(body));
}

Err *inventory_item_patch(Req *req)
{
    Json *body = NULL, *old = NULL;

    TRY(req_body_object(req, &body));
    TRY(item_find(req, &old));
    Json *item = json_copy(old);
    json_remove(item, "_version");
    json_merge(item, item_from_body(body));
    TRY(status_check(item));
    return item_store(req, old, item);
}

Err *inventory_item_delete(Req *req)
{
    Err *err = tx_delete(req->tx, &items, req_param(req, 0));

    if (err) {
        return err->status == 404 ? err_text(404, "Not Found") : err;
    }
    return reply_empty(req, 204);
}

Err *inventory_items_delete(Req *req)
{
    Str query;

    if (!req_query(req, "query", &query)) {
        query = S("cql.allRecords=1");
    }
    return reply_deleted(req, &items, query);
}
