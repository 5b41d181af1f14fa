// A request from its body to the record that is stored: what the client sets, what it points to,
// the copies that lists search by. Source: spec/circulation.md 9.1, 9.3.
#include "modules/mod-circulation/requests.h"

#include "modules/mod-inventory-storage/collections.h"
#include "modules/mod-users/collections.h"

void request_refuse(RequestWork *work, Err *err)
{
    work->refusals = err_join(work->refusals, err);
}

bool request_is_title_level(const Json *request)
{
    return str_eq(json_str(request, "requestLevel"), S("Title"));
}

bool request_is_of_type(const Json *request, const char *type)
{
    return str_eq_z(json_str(request, "requestType"), type);
}

// --- the body

static const char *const id_members[] = {"id",
                                         "requesterId",
                                         "proxyUserId",
                                         "instanceId",
                                         "holdingsRecordId",
                                         "itemId",
                                         "pickupServicePointId",
                                         "deliveryAddressTypeId",
                                         "cancellationReasonId"};

static const char *const members[] = {"requestLevel",
                                      "requestType",
                                      "ecsRequestPhase",
                                      "requestDate",
                                      "patronComments",
                                      "status",
                                      "cancelledByUserId",
                                      "cancellationAdditionalInformation",
                                      "cancelledDate",
                                      "fulfillmentPreference",
                                      "requestExpirationDate",
                                      "holdShelfExpirationDate",
                                      "tags",
                                      "itemLocationCode",
                                      "isDcbReRequestCancellation"};

static Err *status_check(Json *request)
{
    static const char *const known[] = {"Open - Not yet filled", "Open - Awaiting pickup",
                                        "Open - In transit",     "Open - Awaiting delivery",
                                        "Closed - Filled",       "Closed - Cancelled",
                                        "Closed - Unfilled",     "Closed - Pickup expired"};
    Str status = json_str(request, "status");

    if (str_is_empty(status)) {
        json_set_str(request, "status", S("Open - Not yet filled"));
        return NULL;
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (str_eq_z(status, known[i])) {
            return NULL;
        }
    }
    return err_text(400, "Request status must be one of the following: "
                         "\"Open - Not yet filled\", \"Open - Awaiting pickup\", "
                         "\"Open - In transit\", \"Open - Awaiting delivery\", "
                         "\"Closed - Filled\", \"Closed - Cancelled\", \"Closed - Unfilled\", "
                         "\"Closed - Pickup expired\"");
}

// The day that the client means ends at midnight of the library.
static void expire_at_end_of_day(const RequestWork *work)
{
    Time at = 0;

    if (json_time(work->request, "requestExpirationDate", &at)) {
        json_set_time(work->request, "requestExpirationDate",
                      zone_end_of_day(work->settings->zone, at));
    }
}

Err *request_read_body(RequestWork *work, const Json *body)
{
    Json *request = json_object();

    TRY(settings_read(work->tx, &work->settings));
    for (size_t i = 0; i < sizeof id_members / sizeof *id_members; i++) {
        json_set_str_if(request, id_members[i], str_lower(json_str(body, id_members[i])));
    }
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        if (json_has(body, members[i])) {
            json_take(request, members[i], body, members[i]);
        }
    }
    if (!json_has(request, "fulfillmentPreference")) { // decision 15
        json_take(request, "fulfillmentPreference", body, "fulfilmentPreference");
    }
    overrides_read(body, "requestProcessingParameters.overrideBlocks", &work->overrides);
    work->request = request;
    TRY(status_check(request));
    expire_at_end_of_day(work);
    return NULL;
}

// --- what it points to

// Clients of the time before titles could be requested name the item alone.
static void complete_old_form(RequestWork *work)
{
    Json *request = work->request;

    if (json_has(request, "requestLevel") || json_has(request, "instanceId") ||
        json_has(request, "holdingsRecordId")) {
        return;
    }
    json_set_str(request, "requestLevel", S("Item"));
    if (work->item) {
        json_set_str_if(request, "holdingsRecordId", work->item->holdings_record_id);
        json_set_str_if(request, "instanceId", work->item->instance_id);
    }
}

static Err *find_record(Tx *tx, const Collection *of, Str id, Json **out)
{
    *out = NULL;
    return uuid_is_uuid_shaped(id) ? tx_get(tx, of, id, out) : NULL;
}

static Err *find_instance(RequestWork *work)
{
    Str id = json_str(work->request, "instanceId");
    Json *read = NULL;

    if (work->item && str_eq(work->item->instance_id, id)) {
        work->instance = work->item->instance;
        return NULL;
    }
    // Its copies, their loans and its queue are looked at next: they hang on the title.
    if (uuid_is_uuid_shaped(id)) {
        TRY(tx_get_locked(work->tx, &instances, id, &read));
    }
    work->instance = read;
    return NULL;
}

// The copies of the title with their loans.
static Err *find_copies(RequestWork *work)
{
    StrList ids = {0};

    TRY(item_views_of_instance(work->tx, json_str(work->request, "instanceId"), &work->items));
    for (size_t i = 0; i < work->items.len; i++) {
        str_list_add(&ids, work->items.at[i].id);
    }
    return ids.len ? loans_open_of_items(work->tx, ids.at, ids.len, &work->loans) : NULL;
}

static Err *find_queue(Tx *tx, void *context)
{
    RequestWork *work = context;

    if (work->settings->tlr_enabled && work->instance) {
        return queue_of_instance(tx, json_str(work->request, "instanceId"), &work->queue);
    }
    if (work->item) {
        return queue_of_item(tx, work->item, &work->queue);
    }
    work->queue = NEW(Queue);
    return NULL;
}

static Err *find_item(Tx *tx, void *context)
{
    RequestWork *work = context;
    Str id = json_str(work->request, "itemId");

    return uuid_is_uuid_shaped(id) ? item_view_by_id(tx, id, &work->item) : NULL;
}

static Err *find_requester(Tx *tx, void *context)
{
    RequestWork *work = context;

    return find_record(tx, &users, json_str(work->request, "requesterId"), &work->requester);
}

static Err *find_proxy(Tx *tx, void *context)
{
    RequestWork *work = context;

    return find_record(tx, &users, json_str(work->request, "proxyUserId"), &work->proxy);
}

static Err *find_pickup(Tx *tx, void *context)
{
    RequestWork *work = context;
    Str id = json_str(work->request, "pickupServicePointId");

    return uuid_is_uuid_shaped(id) ? tx_ref(tx, &service_points, id, &work->pickup) : NULL;
}

static Err *find_loan(Tx *tx, void *context)
{
    RequestWork *work = context;

    return work->item ? loan_open_of_item(tx, work->item->id, &work->loan) : NULL;
}

// What the ids in the body name is one round trip, what stands against the request another one.
Err *request_find_parts(RequestWork *work)
{
    const Read named[] = {
        {find_item, work}, {find_requester, work}, {find_proxy, work}, {find_pickup, work}};
    const Read state[] = {{find_loan, work}, {find_queue, work}};

    TRY(tx_together(work->tx, named, 4));
    complete_old_form(work);
    TRY(find_instance(work));
    TRY(tx_together(work->tx, state, 2));
    return request_is_title_level(work->request) && work->instance ? find_copies(work) : NULL;
}

Err *request_bind_item(RequestWork *work, ItemView *item)
{
    work->item = item;
    json_set_str(work->request, "itemId", item->id);
    json_set_str(work->request, "holdingsRecordId", item->holdings_record_id);
    TRY(loan_open_of_item(work->tx, item->id, &work->loan));
    return find_queue(work->tx, work);
}

// --- stored copies

static void snapshot_person(Json *request, const char *member, const Json *user)
{
    static const char *const names[] = {"firstName", "lastName", "middleName"};
    Json *person = json_object();

    json_remove(request, member);
    if (!user) {
        return;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        json_take(person, names[i], json_get(user, "personal"), names[i]);
    }
    json_take(person, "barcode", user, "barcode");
    json_set(request, member, person);
}

static void snapshot_instance(Json *request, const Json *instance)
{
    Json *shown = json_object(), *identifiers = json_array();

    json_remove(request, "instance");
    if (!instance) {
        return;
    }
    json_take(shown, "title", instance, "title");
    JSON_EACH(one, json_get(instance, "identifiers"))
    {
        if (json_has(one, "value") && json_has(one, "identifierTypeId")) {
            Json *identifier = json_object();
            json_take(identifier, "value", one, "value");
            json_take(identifier, "identifierTypeId", one, "identifierTypeId");
            json_add(identifiers, identifier);
        }
    }
    json_set(shown, "identifiers", identifiers);
    json_set(request, "instance", shown);
}

static void snapshot_item(Json *request, const ItemView *item)
{
    json_remove(request, "item");
    if (!item) {
        return;
    }
    const Json *number = json_get(item->item, "effectiveCallNumberComponents");
    json_set(request, "item", json_object());
    json_set_str_if(request, "item.barcode", item->barcode);
    json_set_str_if(request, "item.itemEffectiveLocationId", item->location_id);
    json_set_str_if(request, "item.itemEffectiveLocationName", json_str(item->location, "name"));
    json_set_str_if(request, "item.retrievalServicePointId", item_primary_service_point(item));
    json_take(request, "searchIndex.callNumberComponents.callNumber", number, "callNumber");
    json_take(request, "searchIndex.callNumberComponents.prefix", number, "prefix");
    json_take(request, "searchIndex.callNumberComponents.suffix", number, "suffix");
    json_take(request, "searchIndex.shelvingOrder", item->item, "effectiveShelvingOrder");
}

void request_take_snapshot(RequestWork *work)
{
    Json *request = work->request;

    json_remove(request, "searchIndex");
    if (work->item) { // the item knows where it belongs; clients may send anything
        json_set_str(request, "holdingsRecordId", work->item->holdings_record_id);
    }
    snapshot_item(request, work->item);
    snapshot_instance(request, work->instance);
    snapshot_person(request, "requester", work->requester);
    snapshot_person(request, "proxy", work->proxy);
    json_set_str_if(request, "searchIndex.pickupServicePointName", json_str(work->pickup, "name"));
}
