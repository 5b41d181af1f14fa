// Items as circulation sees them: the record, its relatives, and what clients are shown of it.
// Source: spec/circulation.md 4.2, 5.3, 5.5.
#include "modules/mod-circulation/circulation.h"

#include "modules/mod-inventory-storage/inventory_storage.h"

static Err *view_fill(Tx *tx, const ItemContext *context, ItemView *view)
{
    const Json *item = context->item;
    LocationContext location = {0};

    view->item = context->item;
    view->holding = context->holdings;
    view->instance = context->instance;
    view->id = json_str(item, "id");
    view->barcode = json_str(item, "barcode");
    view->status = json_str(item, "status.name");
    view->holdings_record_id = json_str(item, "holdingsRecordId");
    view->instance_id = json_str(context->holdings, "instanceId");
    view->location_id = json_str(item, "effectiveLocationId");
    view->material_type_id = json_str(item, "materialTypeId");
    view->loan_type_id = item_loan_type_id(item);
    TRY(location_by_id(tx, view->location_id, &location));
    view->location = location.location;
    view->library = location.library;
    view->campus = location.campus;
    view->institution = location.institution;
    TRY(tx_ref(tx, &material_types, view->material_type_id, &view->material_type));
    return tx_ref(tx, &loan_types, view->loan_type_id, &view->loan_type);
}

static Err *view_of(Tx *tx, const ItemContext *context, ItemView **out)
{
    ItemView *view = NULL;

    if (context->item) {
        view = NEW(ItemView);
        TRY(view_fill(tx, context, view));
    }
    *out = view;
    return NULL;
}

Err *item_view_by_barcode(Tx *tx, Str barcode, ItemView **out)
{
    ItemContext context = {0};

    TRY(item_by_barcode(tx, barcode, &context));
    return view_of(tx, &context, out);
}

Err *item_view_by_id(Tx *tx, Str id, ItemView **out)
{
    ItemContext context = {0};

    TRY(item_by_id(tx, id, &context));
    return view_of(tx, &context, out);
}

Err *item_views_by_ids(Tx *tx, const Str *ids, size_t n, ItemViews *out)
{
    ItemContexts contexts = {0};

    *out = (ItemViews){n ? NEW_ARRAY(ItemView, n) : NULL, 0};
    TRY(items_by_ids(tx, ids, n, &contexts));
    for (size_t i = 0; i < contexts.len; i++) {
        if (contexts.at[i].item) {
            TRY(view_fill(tx, &contexts.at[i], &out->at[out->len++]));
        }
    }
    return NULL;
}

Err *item_views_of_instance(Tx *tx, Str instance_id, ItemViews *out)
{
    Docs docs = {0};
    StrList ids = {0};

    TRY(items_of_instance(tx, instance_id, &docs));
    for (size_t i = 0; i < docs.len; i++) {
        str_list_add(&ids, json_str(docs.at[i], "id"));
    }
    return item_views_by_ids(tx, ids.at, ids.len, out);
}

const ItemView *item_views_find(const ItemViews *views, Str id)
{
    for (size_t i = 0; i < views->len; i++) {
        if (str_eq(views->at[i].id, id)) {
            return &views->at[i];
        }
    }
    return NULL;
}

Str item_title(const ItemView *view)
{
    return json_str(view->instance, "title");
}

Str item_primary_service_point(const ItemView *view)
{
    return json_str(view->location, "primaryServicePoint");
}

bool item_is_served_by(const ItemView *view, Str service_point_id)
{
    return view->location && location_is_served_by(view->location, service_point_id);
}

Str item_sentence(const ItemView *view)
{
    return str_fmt(STR_FMT " (" STR_FMT ") (Barcode: " STR_FMT ")", STR_ARG(item_title(view)),
                   STR_ARG(json_str(view->material_type, "name")), STR_ARG(view->barcode));
}

// --- changes

Json *item_change(ItemView *view)
{
    if (!view->stored) {
        view->stored = json_copy(view->item);
    }
    return view->item;
}

void item_set_status(ItemView *view, Str status)
{
    if (!str_eq(view->status, status)) {
        json_set_str(item_change(view), "status.name", status);
        view->status = status;
    }
}

void item_set_destination(ItemView *view, Str service_point_id)
{
    const char *path = "inTransitDestinationServicePointId";

    if (str_eq(json_str(view->item, path), service_point_id)) {
        return;
    }
    json_remove(item_change(view), path);
    json_set_str_if(view->item, path, service_point_id);
}

Err *item_save(Tx *tx, ItemView *view)
{
    if (!view->stored || json_equal(view->stored, view->item)) {
        return NULL;
    }
    TRY(tx_change(tx, &items, view->stored, view->item));
    view->stored = NULL;
    return NULL;
}

// --- representation

static void add_contributors(Json *out, const Json *instance)
{
    Json *names = json_array();
    Str primary = {0};

    JSON_EACH(contributor, json_get(instance, "contributors"))
    {
        Json *one = json_object();
        json_set_str(one, "name", json_str(contributor, "name"));
        json_add(names, one);
        if (json_flag(contributor, "primary", false)) {
            primary = json_str(contributor, "name");
        }
    }
    json_set(out, "contributors", names);
    json_set_str_if(out, "primaryContributor", primary);
}

// The members at `path` of the elements of an array, as a list of texts; left out when empty.
static void add_texts(Json *out, const char *name, const Json *array, const char *path)
{
    Json *texts = json_array();

    JSON_EACH(element, array)
    {
        Str text =
            path && json_is_object(element) ? json_str(element, path) : json_scalar_text(element);
        if (text.len) {
            json_add(texts, json_string(text));
        }
    }
    if (json_len(texts)) {
        json_set(out, name, texts);
    }
}

static void add_title_data(Json *out, const ItemView *view)
{
    const Json *instance = view->instance;

    json_set_str_if(out, "instanceHrid", json_str(instance, "hrid"));
    json_set_str_if(out, "title", item_title(view));
    add_contributors(out, instance);
    add_texts(out, "editions", json_get(instance, "editions"), NULL);
    add_texts(out, "seriesStatements", json_get(instance, "series"), "value");
    add_texts(out, "datesOfPublication", json_get(instance, "publication"), "dateOfPublication");
    add_texts(out, "physicalDescriptions", json_get(instance, "physicalDescriptions"), NULL);
    add_texts(out, "administrativeNotes", json_get(view->item, "administrativeNotes"), NULL);
}

static void add_call_number(Json *out, const ItemView *view)
{
    const Json *components = json_get(view->item, "effectiveCallNumberComponents");

    if (!components) {
        return;
    }
    json_set_str_if(out, "callNumber", json_str(components, "callNumber"));
    Json *parts = json_object();
    json_take(parts, "callNumber", components, "callNumber");
    json_take(parts, "prefix", components, "prefix");
    json_take(parts, "suffix", components, "suffix");
    json_set(out, "callNumberComponents", parts);
}

static Err *add_destination(Tx *tx, Json *out, const ItemView *view)
{
    Str id = json_str(view->item, "inTransitDestinationServicePointId");
    const Json *point = NULL;

    if (str_is_empty(id)) {
        return NULL;
    }
    json_set_str(out, "inTransitDestinationServicePointId", id);
    TRY(tx_ref(tx, &service_points, id, &point));
    if (point) {
        json_set_str(out, "inTransitDestinationServicePoint.id", id);
        json_set_str(out, "inTransitDestinationServicePoint.name", json_str(point, "name"));
    }
    return NULL;
}

Err *item_representation(Tx *tx, const ItemView *view, Json **out)
{
    static const char *const taken[] = {"enumeration", "chronology",      "displaySummary",
                                        "volume",      "accessionNumber", "status"};
    Json *doc = json_object();

    json_set_str(doc, "id", view->id);
    json_set_str_if(doc, "holdingsRecordId", view->holdings_record_id);
    json_set_str_if(doc, "instanceId", view->instance_id);
    json_set_str_if(doc, "barcode", view->barcode);
    add_title_data(doc, view);
    add_call_number(doc, view);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        json_take(doc, taken[i], view->item, taken[i]);
    }
    Str copy = json_str(view->item, "copyNumber");
    json_set_str_if(doc, "copyNumber", copy.len ? copy : json_str(view->holding, "copyNumber"));
    if (view->location) {
        json_set_str(doc, "location.name", json_str(view->location, "name"));
    }
    if (view->material_type) {
        json_set_str(doc, "materialType.name", json_str(view->material_type, "name"));
    }
    TRY(add_destination(tx, doc, view));
    *out = doc;
    return NULL;
}
