// What staff slips may print: the tokens of their templates.
// Source: spec/circulation.md 5.5.
#include "modules/mod-circulation/circulation.h"

#include "base/country.h"
#include "modules/mod-inventory-storage/inventory_storage.h"
#include "modules/mod-users/collections.h"

// Elements of an array joined by "; "; `path` NULL: they are texts themselves.
static Str joined(const Json *array, const char *path)
{
    StrList texts = {0};

    JSON_EACH(element, array)
    {
        Str text =
            path && json_is_object(element) ? json_str(element, path) : json_scalar_text(element);
        if (text.len) {
            str_list_add(&texts, text);
        }
    }
    return str_join(texts.at, texts.len, S("; "));
}

static Str primary_contributor(const Json *instance)
{
    JSON_EACH(contributor, json_get(instance, "contributors"))
    {
        if (json_flag(contributor, "primary", false)) {
            return json_str(contributor, "name");
        }
    }
    return (Str){"", 0};
}

static void add_instance_tokens(Json *out, const ItemView *view)
{
    const Json *instance = view->instance;

    json_set_str(out, "title", item_title(view));
    json_set_str_if(out, "instanceHrid", json_str(instance, "hrid"));
    json_set_str_if(out, "primaryContributor", primary_contributor(instance));
    json_set_str(out, "allContributors", joined(json_get(instance, "contributors"), "name"));
    json_set_str_if(out, "datesOfPublication",
                    joined(json_get(instance, "publication"), "dateOfPublication"));
    json_set_str_if(out, "editions", joined(json_get(instance, "editions"), NULL));
    json_set_str_if(out, "seriesStatements", joined(json_get(instance, "series"), "value"));
    json_set_str_if(out, "physicalDescriptions",
                    joined(json_get(instance, "physicalDescriptions"), NULL));
}

static Err *add_location_tokens(Tx *tx, Json *out, const ItemView *view)
{
    const Json *primary = NULL;
    Str primary_id = item_primary_service_point(view);

    if (!view->location) {
        return NULL;
    }
    json_set_str(out, "effectiveLocationSpecific", json_str(view->location, "name"));
    json_set_str_if(out, "effectiveLocationLibrary", json_str(view->library, "name"));
    json_set_str_if(out, "effectiveLocationCampus", json_str(view->campus, "name"));
    json_set_str_if(out, "effectiveLocationInstitution", json_str(view->institution, "name"));
    json_set_str_if(out, "effectiveLocationDiscoveryDisplayName",
                    json_str(view->location, "discoveryDisplayName"));
    if (primary_id.len) {
        TRY(tx_ref(tx, &service_points, primary_id, &primary));
        json_set_str_if(out, "effectiveLocationPrimaryServicePointName", json_str(primary, "name"));
    }
    return NULL;
}

static Err *point_name(Tx *tx, Json *out, const char *token, Str id)
{
    const Json *point = NULL;

    if (str_is_empty(id)) {
        return NULL;
    }
    TRY(tx_ref(tx, &service_points, id, &point));
    json_set_str_if(out, token, json_str(point, "name"));
    return NULL;
}

static Err *item_tokens(Tx *tx, const SlipParts *parts, Json **out)
{
    static const struct {
        const char *token, *path;
    } taken[] = {
        {"enumeration", "enumeration"},
        {"volume", "volume"},
        {"chronology", "chronology"},
        {"numberOfPieces", "numberOfPieces"},
        {"displaySummary", "displaySummary"},
        {"descriptionOfPieces", "descriptionOfPieces"},
        {"accessionNumber", "accessionNumber"},
        {"callNumber", "effectiveCallNumberComponents.callNumber"},
        {"callNumberPrefix", "effectiveCallNumberComponents.prefix"},
        {"callNumberSuffix", "effectiveCallNumberComponents.suffix"},
        {"shelvingOrder", "effectiveShelvingOrder"},
        {"lastCheckedInDateTime", "lastCheckIn.dateTime"},
    };
    const ItemView *view = parts->item;
    Json *doc = json_object();

    add_instance_tokens(doc, view);
    json_set_str_if(doc, "barcode", view->barcode);
    json_set_str(doc, "status", view->status);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        json_take(doc, taken[i].token, view->item, taken[i].path);
    }
    Str copy = json_str(view->item, "copyNumber");
    json_set_str(doc, "copy", copy.len ? copy : json_str(view->holding, "copyNumber"));
    json_set_str(doc, "yearCaption", joined(json_get(view->item, "yearCaption"), NULL));
    json_set_str_if(doc, "administrativeNotes",
                    joined(json_get(view->item, "administrativeNotes"), NULL));
    json_set_str_if(doc, "materialType", json_str(view->material_type, "name"));
    json_set_str_if(doc, "loanType", json_str(view->loan_type, "name"));
    TRY(add_location_tokens(tx, doc, view));
    TRY(point_name(tx, doc, "fromServicePoint", parts->from_service_point_id));
    TRY(point_name(tx, doc, "toServicePoint", parts->to_service_point_id));
    *out = doc;
    return NULL;
}

static Err *request_tokens(Tx *tx, const Json *request, Json **out)
{
    static const char *const taken[] = {"requestDate", "requestExpirationDate",
                                        "holdShelfExpirationDate", "patronComments"};
    Json *doc = json_object();
    const Json *reason = NULL, *address_type = NULL;
    Str reason_id = json_str(request, "cancellationReasonId");
    Str type_id = json_str(request, "deliveryAddressTypeId");

    json_take(doc, "requestID", request, "id");
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        json_take(doc, taken[i], request, taken[i]);
    }
    json_take(doc, "additionalInfo", request, "cancellationAdditionalInformation");
    TRY(point_name(tx, doc, "servicePointPickup", json_str(request, "pickupServicePointId")));
    if (reason_id.len) {
        TRY(tx_ref(tx, &cancellation_reasons, reason_id, &reason));
        Str shown = json_str(reason, "publicDescription");
        json_set_str_if(doc, "reasonForCancellation", shown.len ? shown : json_str(reason, "name"));
    }
    if (type_id.len) {
        TRY(tx_ref(tx, &address_types, type_id, &address_type));
        json_set_str_if(doc, "deliveryAddressType", json_str(address_type, "addressType"));
    }
    *out = doc;
    return NULL;
}

static const Json *address_of(const Json *user, const char *member, Str type_id)
{
    JSON_EACH(address, json_get(user, "personal.addresses"))
    {
        if (member ? json_flag(address, member, false)
                   : str_eq(json_str(address, "addressTypeId"), type_id)) {
            return address;
        }
    }
    return NULL;
}

static Err *add_primary_address(Tx *tx, Json *out, const Json *user)
{
    const Json *address = address_of(user, "primaryAddress", (Str){0}), *type = NULL;
    Str type_id = json_str(address, "addressTypeId");

    if (!address) {
        return NULL;
    }
    json_take(out, "primaryAddressLine1", address, "addressLine1");
    json_take(out, "primaryAddressLine2", address, "addressLine2");
    json_take(out, "primaryCity", address, "city");
    json_take(out, "primaryStateProvRegion", address, "region");
    json_take(out, "primaryZipPostalCode", address, "postalCode");
    json_set_str_if(out, "primaryCountry", country_name(json_str(address, "countryId")));
    if (type_id.len) {
        TRY(tx_ref(tx, &address_types, type_id, &type));
        json_set_str_if(out, "primaryDeliveryAddressType", json_str(type, "addressType"));
    }
    return NULL;
}

static Err *add_delivery_address(Tx *tx, Json *out, const Json *user, Str type_id)
{
    static const char *const taken[] = {"addressLine1", "addressLine2", "city", "region",
                                        "postalCode"};
    const Json *address = type_id.len ? address_of(user, NULL, type_id) : NULL, *type = NULL;

    if (!address) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        json_take(out, taken[i], address, taken[i]);
    }
    json_set_str_if(out, "countryId", country_name(json_str(address, "countryId")));
    TRY(tx_ref(tx, &address_types, type_id, &type));
    json_set_str_if(out, "addressType", json_str(type, "addressType"));
    return NULL;
}

static Err *department_names(Tx *tx, const Json *user, Str *out)
{
    StrList names = {0};

    JSON_EACH(id, json_get(user, "departments"))
    {
        const Json *department = NULL;
        TRY(tx_ref(tx, &departments, json_scalar_text(id), &department));
        if (department) {
            str_list_add(&names, json_str(department, "name"));
        }
    }
    *out = str_join(names.at, names.len, S("; "));
    return NULL;
}

static Err *requester_tokens(Tx *tx, const SlipParts *parts, Json **out)
{
    const Json *user = parts->requester, *group = NULL;
    Json *doc = json_object();
    Str group_id = json_str(user, "patronGroup"), names = {0};
    Str preferred = json_str(user, "personal.preferredFirstName");

    json_take(doc, "firstName", user, "personal.firstName");
    json_set_str_if(doc, "preferredFirstName",
                    preferred.len ? preferred : json_str(user, "personal.firstName"));
    json_take(doc, "lastName", user, "personal.lastName");
    json_take(doc, "middleName", user, "personal.middleName");
    json_take(doc, "barcode", user, "barcode");
    if (group_id.len) {
        TRY(tx_ref(tx, &groups, group_id, &group));
    }
    json_set_str(doc, "patronGroup", json_str(group, "group"));
    TRY(department_names(tx, user, &names));
    json_set_str(doc, "departments", names);
    TRY(add_primary_address(tx, doc, user));
    TRY(add_delivery_address(tx, doc, user, json_str(parts->request, "deliveryAddressTypeId")));
    *out = doc;
    return NULL;
}

Err *slip_context(Tx *tx, const SlipParts *parts, Time now, Json **out)
{
    Json *context = json_object(), *part = NULL;

    if (parts->item) {
        TRY(item_tokens(tx, parts, &part));
        json_set(context, "item", part);
    }
    if (parts->request) {
        TRY(request_tokens(tx, parts->request, &part));
        json_set(context, "request", part);
    }
    if (parts->requester) {
        TRY(requester_tokens(tx, parts, &part));
        json_set(context, "requester", part);
    }
    json_set_time(context, "currentDateTime", now);
    *out = context;
    return NULL;
}
