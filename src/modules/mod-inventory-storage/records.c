// Routes of instances, holdings records and items beside those that every collection has: deletion
// by query, long queries, changes of some members, ids of many records.
// Source: spec/inventory.md 1.6, 1.8.
#include "modules/mod-inventory-storage/storage.h"

#include "modules/mod-inventory-storage/properties.h"

Err *item_create(Req *req)
{
    Json *doc = NULL;

    TRY(req_body_object(req, &doc));
    // The date of a new status is the server's; only batches bring their own.
    json_remove(doc, "status.date");
    TRY(tx_insert(req->tx, &items, doc));
    return reply_created(req, &items, doc);
}

// FOLIO's baseline takes holdings records without a source, as its clients of that time send them;
// newer releases do not (decision 1).
static Err *source_check(const Req *req)
{
    if (json_has(req->json, "sourceId") ||
        !str_eq(app_option(req->app, "gateway.interfaces", "baseline"), S("latest"))) {
        return NULL;
    }
    Err *err = rule_error(S("must not be null"), "sourceId", S("null"));
    err->code = S("jakarta.validation.constraints.NotNull.message");
    return err;
}

Err *holdings_create(Req *req)
{
    TRY(source_check(req));
    return collection_create(req);
}

Err *holdings_put(Req *req)
{
    TRY(source_check(req));
    return record_put(req);
}

Err *records_delete(Req *req)
{
    Str query = req_query_text(req, "query");

    if (!str_trim(query).len) {
        return err_text(400, "Expected CQL but query parameter is empty");
    }
    return reply_deleted(req, req->route->collection, query);
}

// As the list, for queries that are longer than a URL.
Err *records_retrieve(Req *req)
{
    const Collection *of = req->route->collection;
    Json *body = NULL;
    List *list = NULL;
    ListRequest request = {0};

    TRY(req_body_object(req, &body));
    TRY(properties_check(&retrieve_entities_record, body));
    request.limit = json_int(body, "limit", 10);
    request.offset = json_int(body, "offset", 0);
    if (json_has(body, "query")) {
        request.query = json_str(body, "query");
    }
    TRY(list_open(req->tx, of, &request, &list));
    return reply_list(req, of, list);
}

// ---------------------------------------------------------------------------------------------
// PATCH of one record: objects merge, null removes, everything else replaces

static Err *patch(Req *req, const Collection *of)
{
    Json *body = NULL, *doc = NULL;
    Str id = str_lower(req_param(req, 0));

    TRY(req_body_object(req, &body));
    if (uuid_is_uuid_shaped(id)) {
        TRY(tx_get(req->tx, of, id, &doc));
    }
    if (!doc) {
        return err_text(404, "Not found");
    }
    json_remove(doc, "_version"); // the client must name it
    json_merge(doc, body);
    json_set_str(doc, "id", id);
    TRY(tx_update(req->tx, of, doc));
    return reply_empty(req, 204);
}

Err *instance_patch(Req *req)
{
    return patch(req, &instances);
}

Err *holdings_patch(Req *req)
{
    static const char *const needed[] = {"sourceId", "instanceId", "permanentLocationId"};

    for (size_t i = 0; i < 3; i++) {
        if (json_is_null(json_get(req->json, needed[i]))) {
            return err_422(S("-1"), str_fmt("'%s' value cannot be null", needed[i]),
                           P(needed[i], S("null")));
        }
    }
    return patch(req, &holdings);
}

// ---------------------------------------------------------------------------------------------
// PATCH of many items: members replace, null removes

static bool is_dropped(Str key)
{
    static const char *const names[] = {"id",
                                        "effectiveShelvingOrder",
                                        "effectiveCallNumberComponents",
                                        "effectiveLocationId",
                                        "materialType",
                                        "permanentLocation",
                                        "temporaryLocation",
                                        "holdingsRecord2",
                                        "metadata"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (str_eq_z(key, names[i])) {
            return true;
        }
    }
    return false;
}

static Err *required_stays(const Json *body)
{
    static const char *const needed[] = {"materialTypeId", "permanentLoanTypeId",
                                         "holdingsRecordId", "status", "status.name"};

    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        if (json_is_null(json_get(body, needed[i]))) {
            return err_422(S("field.required"),
                           str_fmt("Required fields cannot be removed. ItemId: " STR_FMT,
                                   STR_ARG(json_str(body, "id"))),
                           P("field", str_of(needed[i])));
        }
    }
    return NULL;
}

static Err *item_patch_one(Tx *tx, Json *item, const Json *body)
{
    size_t changed = 0;
    Json *above = NULL;

    TRY(required_stays(body));
    JSON_EACH(member, body)
    {
        Str key = json_key(member);
        if (is_dropped(key)) {
            continue;
        }
        changed += !str_eq(key, S("_version"));
        json_put(item, key, json_is_null(member) ? NULL : json_copy(member));
    }
    if (!changed) {
        return NULL;
    }
    if (!json_has(body, "_version")) {
        json_remove(item, "_version");
    }
    if (json_has(body, "holdingsRecordId")) {
        TRY(tx_get(tx, &holdings, json_str(item, "holdingsRecordId"), &above));
        if (!above) {
            return err_text(404, "Holdings not found: " STR_FMT,
                            STR_ARG(json_str(item, "holdingsRecordId")));
        }
    }
    return tx_update(tx, &items, item);
}

static Err *items_missing(const Json *bodies, const Docs *found)
{
    StrList missing = {0};

    JSON_EACH(body, bodies)
    {
        bool is_there = false;
        for (size_t i = 0; i < found->len && !is_there; i++) {
            is_there = str_eq_nocase(json_str(found->at[i], "id"), json_str(body, "id"));
        }
        if (!is_there) {
            str_list_add(&missing, json_str(body, "id"));
        }
    }
    return err_text(404,
                    missing.len == 1 ? "Item not found in database: " STR_FMT
                                     : "Items not found in database: " STR_FMT,
                    STR_ARG(str_join(missing.at, missing.len, S(", "))));
}

Err *items_patch(Req *req)
{
    Json *bodies = NULL;
    StrList ids = {0};
    Docs found = {0};

    TRY(req_body_object(req, &bodies));
    bodies = json_get(bodies, "items");
    if (!json_len(bodies)) {
        return err_text(400, "Expected at least one item to update");
    }
    JSON_EACH(body, bodies)
    {
        Str id = str_lower(json_str(body, "id"));
        if (!str_list_has(&ids, id)) {
            str_list_add(&ids, id);
        }
    }
    TRY(tx_get_many(req->tx, &items, ids.at, ids.len, &found));
    if (found.len < ids.len) {
        return items_missing(bodies, &found);
    }
    JSON_EACH(body, bodies)
    {
        Json *item = NULL;
        TRY(tx_get(req->tx, &items, str_lower(json_str(body, "id")), &item));
        TRY(item_patch_one(req->tx, item, body));
    }
    return reply_empty(req, 204);
}

// ---------------------------------------------------------------------------------------------
// Ids of many records

static Err *only_ids(Tx *tx, Json **records, size_t n, void *context)
{
    (void)tx, (void)context;
    for (size_t i = 0; i < n; i++) {
        Json *out = json_object();
        json_set_str(out, "id", json_str(records[i], "id"));
        records[i] = out;
    }
    return NULL;
}

Err *record_ids(Req *req)
{
    Str type = req_query_text(req, "recordType");
    const Collection *of = str_eq(type, S("HOLDING")) ? &holdings : &instances;
    ListView view = {.list_key = "ids", .has_result_info = false, .enrich = only_ids};
    ListRequest request;
    List *list = NULL;

    if (type.len && !str_eq(type, S("HOLDING")) && !str_eq(type, S("INSTANCE"))) {
        return err_text(400, "'recordType' parameter is incorrect: INSTANCE or HOLDING");
    }
    TRY(list_request_read(req, of, &request));
    TRY(req_query_int(req, "limit", 2147483647, &request.limit));
    TRY(list_open(req->tx, of, &request, &list));
    return reply_view(req, list, &view);
}

// ---------------------------------------------------------------------------------------------
// Items with everything they refer to

static void reference_put(Json *item, const char *member, const char *id_member, const Json *record)
{
    if (record) {
        json_set(item, member, json_copy(record));
    }
    json_remove(item, id_member);
}

static Err *named_put(Tx *tx, Json *item, const char *member, const Collection *of)
{
    const char *id_member = str_z(str_fmt("%sId", member));
    Str id = json_str(item, id_member);
    const Json *record = NULL;

    if (id.len) {
        TRY(tx_ref(tx, of, id, &record));
    }
    reference_put(item, member, id_member, record);
    return NULL;
}

static Err *dereference(Tx *tx, Json **records, size_t n, void *context)
{
    static const struct {
        const char *member;
        const Collection *of;
    } names[] = {
        {"materialType", &material_types},  {"permanentLoanType", &loan_types},
        {"temporaryLoanType", &loan_types}, {"permanentLocation", &locations},
        {"temporaryLocation", &locations},  {"effectiveLocation", &locations},
    };
    ItemContexts contexts = {0};

    (void)context;
    TRY(items_above(tx, records, n, &contexts));
    for (size_t i = 0; i < n; i++) {
        reference_put(records[i], "instanceRecord", "instanceId", contexts.at[i].instance);
        reference_put(records[i], "holdingsRecord", "holdingsRecordId", contexts.at[i].holdings);
        for (size_t m = 0; m < sizeof names / sizeof *names; m++) {
            TRY(named_put(tx, records[i], names[m].member, names[m].of));
        }
    }
    return NULL;
}

Err *dereferenced_list(Req *req)
{
    ListView view = {
        .list_key = "dereferencedItems", .has_result_info = true, .enrich = dereference};
    ListRequest request;
    List *list = NULL;

    TRY(list_request_read(req, &items, &request));
    TRY(list_open(req->tx, &items, &request, &list));
    return reply_view(req, list, &view);
}

Err *dereferenced_get(Req *req)
{
    Json *item = NULL;

    if (uuid_is_uuid_shaped(req_param(req, 0))) {
        TRY(tx_get(req->tx, &items, req_param(req, 0), &item));
    }
    if (!item) {
        return err_text(404, "Not found");
    }
    TRY(dereference(req->tx, &item, 1, NULL));
    return reply_json(req, 200, item);
}
