// Holdings records and items as the hierarchy feed shows them: names instead of ids.
// Source: spec/inventory.md 6.1.
#include "modules/mod-inventory-storage/hierarchy.h"

// ---------------------------------------------------------------------------------------------
// Parts that both have

static Err *location_view(Tx *tx, Str id, Json **out)
{
    LocationContext found;

    *out = json_object();
    TRY(location_by_id(tx, id, &found));
    if (!found.location) {
        return NULL;
    }
    Str shown = json_str(found.location, "discoveryDisplayName");
    Str name = json_str(found.location, "name");
    json_set_str(*out, "name", shown.len ? shown : name);
    json_take(*out, "code", found.location, "code");
    json_take(*out, "id", found.location, "id");
    json_take(*out, "isActive", found.location, "isActive");
    json_take(*out, "campusName", found.campus, "name");
    json_take(*out, "libraryName", found.library, "name");
    json_take(*out, "libraryCode", found.library, "code");
    json_take(*out, "institutionName", found.institution, "name");
    json_set_str(*out, "locationName", name);
    return NULL;
}

static Err *location_put(Tx *tx, Json *to, const char *member, Str id)
{
    Json *view = NULL;

    TRY(location_view(tx, id, &view));
    json_set(to, member, view);
    return NULL;
}

static Err *call_number_put(Tx *tx, Json *to, const char *const paths[4], const Json *from)
{
    static const char *const members[] = {"prefix", "suffix", "typeId", "callNumber"};
    Json *view = json_object();
    Str name;

    for (size_t i = 0; i < 4; i++) {
        json_take(view, members[i], from, paths[i]);
    }
    TRY(inventory_name(tx, &call_number_types, json_str(view, "typeId"), &name));
    json_set_str_if(view, "typeName", name);
    json_set(to, "callNumber", view);
    return NULL;
}

static Err *access_put(Tx *tx, Json *to, const Json *from)
{
    Json *views = json_array();

    JSON_EACH(one, json_get(from, "electronicAccess"))
    {
        Json *view = json_copy(one);
        Str name;
        TRY(inventory_name(tx, &electronic_access_relationships, json_str(one, "relationshipId"),
                           &name));
        json_set_str_if(view, "name", name);
        json_add(views, view);
    }
    json_set(to, "electronicAccess", views);
    return NULL;
}

static bool has_equal(const Json *list, const Json *value)
{
    JSON_EACH(one, list)
    {
        if (json_equal(one, value)) {
            return true;
        }
    }
    return false;
}

typedef struct {
    const Collection *types;
    const char *id_member, *name_member;
} NoteKind;

// Notes for staff only stay inside; equal ones are shown once.
static Err *notes_put(Tx *tx, Json *to, const NoteKind *kind, const Json *from)
{
    Json *views = json_array();

    JSON_EACH(note, json_get(from, "notes"))
    {
        Json *view = json_object();
        Str name;
        if (json_flag(note, "staffOnly", false)) {
            continue;
        }
        TRY(inventory_name(tx, kind->types, json_str(note, kind->id_member), &name));
        json_set_str_if(view, kind->name_member, name);
        json_take(view, "note", note, "note");
        if (!has_equal(views, view)) {
            json_add(views, view);
        }
    }
    json_set(to, "notes", views);
    return NULL;
}

static Err *codes_put(Tx *tx, Json *to, const Json *from)
{
    Json *views = json_array();

    JSON_EACH(id, json_get(from, "statisticalCodeIds"))
    {
        const Json *code = NULL;
        Json *view = json_object();
        Str name;
        TRY(tx_ref(tx, &statistical_codes, json_scalar_text(id), &code));
        if (!code) {
            continue;
        }
        TRY(inventory_name(tx, &statistical_code_types, json_str(code, "statisticalCodeTypeId"),
                           &name));
        json_take(view, "id", code, "id");
        json_take(view, "code", code, "code");
        json_take(view, "name", code, "name");
        json_set_str_if(view, "statisticalCodeType", name);
        json_take(view, "source", code, "source");
        json_add(views, view);
    }
    json_set(to, "statisticalCodes", views);
    return NULL;
}

static Err *name_put(Tx *tx, Json *to, const char *member, const Collection *of, Str id)
{
    Str name;

    TRY(inventory_name(tx, of, id, &name));
    json_set_str_if(to, member, name);
    return NULL;
}

static bool is_hidden(const Json *record)
{
    return json_flag(record, "discoverySuppress", false);
}

static void take_all(Json *to, const Json *from, const char *const *members)
{
    for (; *members; members++) {
        json_take(to, *members, from, *members);
    }
}

// ---------------------------------------------------------------------------------------------
// Holdings record, item

static Err *holdings_view(Tx *tx, const Json *instance, const Json *one, Json **out)
{
    static const char *const plain[] = {"formerIds",
                                        "shelvingTitle",
                                        "acquisitionFormat",
                                        "acquisitionMethod",
                                        "receiptStatus",
                                        "retentionPolicy",
                                        "digitizationPolicy",
                                        "copyNumber",
                                        "numberOfItems",
                                        "holdingsStatements",
                                        "holdingsStatementsForIndexes",
                                        "holdingsStatementsForSupplements",
                                        "receivingHistory",
                                        "tags",
                                        NULL};
    static const char *const call_number[] = {"callNumberPrefix", "callNumberSuffix",
                                              "callNumberTypeId", "callNumber"};
    static const NoteKind notes = {&holdings_note_types, "holdingsNoteTypeId",
                                   "holdingsNoteTypeName"};
    Json *view = json_object(), *places = json_object();

    json_take(view, "id", one, "id");
    json_take(view, "hrId", one, "hrid");
    json_set_bool(view, "suppressFromDiscovery", is_hidden(instance) || is_hidden(one));
    TRY(name_put(tx, view, "holdingsType", &holdings_types, json_str(one, "holdingsTypeId")));
    TRY(location_put(tx, places, "permanentLocation", json_str(one, "permanentLocationId")));
    TRY(location_put(tx, places, "temporaryLocation", json_str(one, "temporaryLocationId")));
    TRY(location_put(tx, places, "effectiveLocation", json_str(one, "effectiveLocationId")));
    json_set(view, "location", places);
    TRY(call_number_put(tx, view, call_number, one));
    take_all(view, one, plain);
    TRY(name_put(tx, view, "illPolicy", &ill_policies, json_str(one, "illPolicyId")));
    TRY(access_put(tx, view, one));
    TRY(notes_put(tx, view, &notes, one));
    TRY(codes_put(tx, view, one));
    *out = view;
    return NULL;
}

static Err *item_names_put(Tx *tx, Json *view, const Json *item)
{
    TRY(name_put(tx, view, "itemDamagedStatus", &item_damaged_statuses,
                 json_str(item, "itemDamagedStatusId")));
    TRY(name_put(tx, view, "materialType", &material_types, json_str(item, "materialTypeId")));
    TRY(name_put(tx, view, "permanentLoanType", &loan_types,
                 json_str(item, "permanentLoanTypeId")));
    return name_put(tx, view, "temporaryLoanType", &loan_types,
                    json_str(item, "temporaryLoanTypeId"));
}

static Err *item_view(Tx *tx, const Json *instance, const HeldItem *held, Json **out)
{
    static const char *const plain[] = {"order",
                                        "formerIds",
                                        "accessionNumber",
                                        "barcode",
                                        "copyNumber",
                                        "volume",
                                        "enumeration",
                                        "chronology",
                                        "displaySummary",
                                        "yearCaption",
                                        "itemIdentifier",
                                        "numberOfPieces",
                                        "descriptionOfPieces",
                                        "numberOfMissingPieces",
                                        "missingPieces",
                                        "missingPiecesDate",
                                        "itemDamagedStatusDate",
                                        "tags",
                                        "materialTypeId",
                                        NULL};
    static const char *const call_number[] = {
        "effectiveCallNumberComponents.prefix", "effectiveCallNumberComponents.suffix",
        "effectiveCallNumberComponents.typeId", "effectiveCallNumberComponents.callNumber"};
    static const NoteKind notes = {&item_note_types, "itemNoteTypeId", "itemNoteTypeName"};
    const Json *item = held->item;
    Json *view = json_object(), *places = json_object();

    json_take(view, "id", item, "id");
    json_take(view, "hrId", item, "hrid");
    json_take(view, "holdingsRecordId", held->holdings, "id");
    json_set_bool(view, "suppressFromDiscovery",
                  is_hidden(instance) || is_hidden(held->holdings) || is_hidden(item));
    json_take(view, "status", item, "status.name");
    TRY(location_put(tx, places, "location", json_str(item, "effectiveLocationId")));
    TRY(location_put(tx, places, "permanentLocation", json_str(item, "permanentLocationId")));
    TRY(location_put(tx, places, "temporaryLocation", json_str(item, "temporaryLocationId")));
    json_set(view, "location", places);
    TRY(call_number_put(tx, view, call_number, item));
    take_all(view, item, plain);
    TRY(item_names_put(tx, view, item));
    TRY(access_put(tx, view, item));
    TRY(notes_put(tx, view, &notes, item));
    TRY(codes_put(tx, view, item));
    *out = view;
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Title

static Err *nature_put(Tx *tx, Json *to, const Json *instance)
{
    Json *names = json_array();

    JSON_EACH(id, json_get(instance, "natureOfContentTermIds"))
    {
        Str name;
        TRY(inventory_name(tx, &nature_of_content_terms, json_scalar_text(id), &name));
        Json *text = name.len ? json_string(name) : NULL;
        if (text && !has_equal(names, text)) {
            json_add(names, text);
        }
    }
    json_set(to, "natureOfContent", names);
    return NULL;
}

Err *title_stock_view(Tx *tx, const TitleStock *stock, Json **out)
{
    Json *view = json_object(), *above = json_array(), *below = json_array();
    Str issuance;

    json_take(view, "instanceId", stock->instance, "id");
    json_take(view, "source", stock->instance, "source");
    TRY(inventory_name(tx, &modes_of_issuance, json_str(stock->instance, "modeOfIssuanceId"),
                       &issuance));
    json_set_str(view, "modeOfIssuance", issuance);
    TRY(nature_put(tx, view, stock->instance));
    for (size_t i = 0; i < stock->holdings.len; i++) {
        Json *one = NULL;
        TRY(holdings_view(tx, stock->instance, stock->holdings.at[i], &one));
        json_add(above, one);
    }
    for (size_t i = 0; i < stock->item_count; i++) {
        Json *one = NULL;
        TRY(item_view(tx, stock->instance, &stock->items[i], &one));
        json_add(below, one);
    }
    json_set(view, "holdings", above);
    json_set(view, "items", below);
    *out = view;
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// The form of the OAI-PMH view: lower-case keys, the item's links followed by those of its holdings

static Err *enriched_location(Tx *tx, Json *view, Str id)
{
    Json *place = NULL, *both = json_object();
    LocationContext found;

    TRY(location_view(tx, id, &place));
    TRY(location_by_id(tx, id, &found));
    json_take(place, "institutionId", found.location, "institutionId");
    json_take(place, "campusId", found.location, "campusId");
    json_take(place, "libraryId", found.location, "libraryId");
    json_take(both, "name", place, "name");
    json_set(both, "location", place);
    json_set(view, "location", both);
    return NULL;
}

static bool is_in_use(Tx *tx, Str location_id)
{
    LocationContext found;
    Err *err = location_by_id(tx, location_id, &found);

    return err || !found.location || json_flag(found.location, "isActive", true);
}

static Err *enriched_add(Tx *tx, Json *to, Json *view, const Json *record)
{
    TRY(enriched_location(tx, view, json_str(record, "effectiveLocationId")));
    json_add(to, view);
    return NULL;
}

Err *title_enriched_view(Tx *tx, const TitleStock *stock, Json **out)
{
    Json *fields = json_object(), *above = json_array(), *below = json_array();

    for (size_t i = 0; i < stock->item_count; i++) {
        const HeldItem *held = &stock->items[i];
        Json *view = NULL, *links = json_object();
        if (!is_in_use(tx, json_str(held->item, "effectiveLocationId"))) {
            continue;
        }
        TRY(item_view(tx, stock->instance, held, &view));
        TRY(access_put(tx, links, held->holdings));
        JSON_EACH(link, json_get(links, "electronicAccess"))
        {
            json_add(json_get(view, "electronicAccess"), json_copy(link));
        }
        TRY(enriched_add(tx, below, view, held->item));
    }
    for (size_t i = 0; i < stock->holdings.len; i++) {
        Json *view = NULL;
        TRY(holdings_view(tx, stock->instance, stock->holdings.at[i], &view));
        TRY(enriched_add(tx, above, view, stock->holdings.at[i]));
    }
    json_set(fields, "items", below);
    json_set(fields, "holdings", above);
    *out = json_object();
    json_take(*out, "instanceid", stock->instance, "id");
    json_set(*out, "itemsandholdingsfields", fields);
    return NULL;
}
