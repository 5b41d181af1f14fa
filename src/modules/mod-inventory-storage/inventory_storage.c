// What other modules ask of the inventory inside the process.
#include "modules/mod-inventory-storage/inventory_storage.h"

#include "octavo.h"

// ---------------------------------------------------------------------------------------------
// Items

static Err *take_context(const Row *row, void *context)
{
    ItemContext *out = context;

    out->item = json_parse_stored(row_text(row, 0));
    out->holdings = json_parse_stored(row_text(row, 1));
    out->instance = json_parse_stored(row_text(row, 2));
    return NULL;
}

#define CONTEXT_OF                                                                                 \
    "select i.doc, h.doc, n.doc from item i "                                                      \
    "join holdings_record h on h.id = i.holdings_record_id "                                       \
    "join instance n on n.id = h.instance_id where "

// Who writes has the title and the item for themselves: what is lent and who waits for it hang on
// them. The title first, as a request for any copy of it does.
static Err *context_read(Tx *tx, const char *sql, Str value, ItemContext *out)
{
    *out = (ItemContext){0};
    return tx_rows(tx, str_fmt("%s" STR_FMT, sql, STR_ARG(tx_locking(tx, "n, i"))).at,
                   ARGS(A_TEXT(value)), take_context, out);
}

// The case of a barcode does not count; its side column holds lower case.
Err *item_by_barcode(Tx *tx, Str barcode, ItemContext *out)
{
    METER("mod-inventory-storage");
    return context_read(tx, CONTEXT_OF "i.barcode = $1", fold_case(barcode), out);
}

Err *item_by_id(Tx *tx, Str id, ItemContext *out)
{
    METER("mod-inventory-storage");
    *out = (ItemContext){0};
    return uuid_is_uuid_shaped(id) ? context_read(tx, CONTEXT_OF "i.id = $1", str_lower(id), out)
                                   : NULL;
}

Err *items_above(Tx *tx, Json *const *items_read, size_t n, ItemContexts *out)
{
    METER("mod-inventory-storage");
    Docs of_items = {(Json **)items_read, n}, above = {0}, top = {0};

    *out = (ItemContexts){NEW_ARRAY(ItemContext, n ? n : 1), n};
    TRY(tx_get_named(tx, &holdings, &of_items, "holdingsRecordId", &above));
    TRY(tx_get_named(tx, &instances, &above, "instanceId", &top));
    for (size_t i = 0; i < n; i++) {
        ItemContext *one = &out->at[i];
        one->item = items_read[i];
        one->holdings = docs_find(&above, json_str(one->item, "holdingsRecordId"));
        one->instance = docs_find(&top, json_str(one->holdings, "instanceId"));
    }
    return NULL;
}

Err *items_by_ids(Tx *tx, const Str *ids, size_t n, ItemContexts *out)
{
    METER("mod-inventory-storage");
    StrList wanted = {0};
    Json **found = NEW_ARRAY(Json *, n ? n : 1);
    Docs docs = {0};

    for (size_t i = 0; i < n; i++) {
        if (uuid_is_uuid_shaped(ids[i])) {
            str_list_add(&wanted, str_lower(ids[i]));
        }
    }
    TRY(tx_get_many(tx, &items, wanted.at, wanted.len, &docs));
    for (size_t i = 0; i < n; i++) {
        found[i] = docs_find(&docs, ids[i]);
    }
    return items_above(tx, found, n, out);
}

Err *items_of_instance(Tx *tx, Str instance_id, Docs *out)
{
    METER("mod-inventory-storage");
    return tx_where(tx, &items,
                    "holdings_record_id in (select id from holdings_record where instance_id = $1) "
                    "order by id",
                    ARGS(A_TEXT(str_lower(instance_id))), out);
}

Err *item_status_set(Tx *tx, Json *item, Str status)
{
    METER("mod-inventory-storage");
    if (str_eq(json_str(item, "status.name"), status)) {
        return NULL;
    }
    Json *old = json_copy(item);
    json_set_str(item, "status.name", status);
    return tx_change(tx, &items, old, item);
}

Str item_loan_type_id(const Json *item)
{
    Str temporary = json_str(item, "temporaryLoanTypeId");
    return temporary.len ? temporary : json_str(item, "permanentLoanTypeId");
}

// ---------------------------------------------------------------------------------------------
// Locations and reference data

static Err *ref(Tx *tx, const Collection *of, Str id, const Json **out)
{
    *out = NULL;
    return id.len ? tx_ref(tx, of, id, out) : NULL;
}

Err *location_by_id(Tx *tx, Str id, LocationContext *out)
{
    *out = (LocationContext){0};
    TRY(ref(tx, &locations, id, &out->location));
    TRY(ref(tx, &libraries, json_str(out->location, "libraryId"), &out->library));
    TRY(ref(tx, &campuses, json_str(out->location, "campusId"), &out->campus));
    TRY(ref(tx, &institutions, json_str(out->location, "institutionId"), &out->institution));
    return ref(tx, &service_points, json_str(out->location, "primaryServicePoint"),
               &out->primary_service_point);
}

bool location_is_served_by(const Json *location, Str service_point_id)
{
    if (!service_point_id.len) {
        return false;
    }
    if (str_eq(json_str(location, "primaryServicePoint"), service_point_id)) {
        return true;
    }
    JSON_EACH(id, json_get(location, "servicePointIds"))
    {
        if (str_eq(json_scalar_text(id), service_point_id)) {
            return true;
        }
    }
    return false;
}

Err *inventory_name(Tx *tx, const Collection *of, Str id, Str *out)
{
    const Json *record = NULL;

    TRY(ref(tx, of, id, &record));
    *out = json_str(record, "name");
    return NULL;
}
