// Reports for staff: shelves to be cleared, items that travel.
// FOLIO: mod-circulation, GET /circulation/requests-reports, /inventory-reports. Source:
// spec/circulation.md 10.
#include "modules/mod-circulation/requests.h"

#include "modules/list_view.h"
#include "modules/mod-inventory-storage/inventory_storage.h"
#include "modules/mod-users/collections.h"

// --- hold shelf clearance

#define GIVEN_UP "status in ('closed - pickup expired', 'closed - cancelled')"

// Of each item that still lies on the hold shelf although nobody fetches it: the last request that
// was given up.
Err *hold_shelf_clearance(Req *req)
{
    Docs docs = {0};

    TRY(tx_where(req->tx, &requests,
                 "pickup_service_point_id = $1 and " GIVEN_UP
                 " and awaiting_pickup_closed_at is not null and item_id in "
                 "(select id from item where status = 'awaiting pickup') and not exists "
                 "(select 1 from request as other where other.item_id = request.item_id and "
                 "(other.status = 'open - awaiting pickup' or (other." GIVEN_UP " and "
                 "(other.awaiting_pickup_closed_at > request.awaiting_pickup_closed_at or "
                 "(other.awaiting_pickup_closed_at = request.awaiting_pickup_closed_at and "
                 "other.id > request.id))))) order by awaiting_pickup_closed_at, id limit 5000",
                 ARGS(A_TEXT(str_lower(req_param(req, 0)))), &docs));
    TRY(request_representations(req->tx, docs.at, docs.len));
    return reply_docs(req, "requests", &docs);
}

// --- items in transit

typedef struct {
    ItemViews items;
    Docs loans, requests, users;
} Travels;

static Err *travels_read(Tx *tx, Json **records, size_t n, Travels *out)
{
    StrList ids = {0};

    for (size_t i = 0; i < n; i++) {
        str_list_add(&ids, json_str(records[i], "id"));
    }
    TRY(item_views_by_ids(tx, ids.at, ids.len, &out->items));
    TRY(tx_where_in(tx, &loans,
                    &(WhereIn){.column = "item_id",
                               .values = ids.at,
                               .n = ids.len,
                               .where = "status = 'closed' and item_status = 'in transit'"},
                    &out->loans));
    TRY(tx_where_in(tx, &requests,
                    &(WhereIn){.column = "item_id",
                               .values = ids.at,
                               .n = ids.len,
                               .where = "status in ('open - not yet filled', 'open - awaiting "
                                        "pickup', 'open - in transit', 'open - awaiting "
                                        "delivery')"},
                    &out->requests));
    return tx_get_named(tx, &users, &out->requests, "requesterId", &out->users);
}

// The loan whose return sent the item on its way.
static const Json *last_loan(const Docs *all, Str item_id)
{
    const Json *last = NULL;
    Time last_at = 0, at = 0;

    for (size_t i = 0; i < all->len; i++) {
        const Json *loan = all->at[i];
        if (str_eq(json_str(loan, "itemId"), item_id) &&
            (json_time(loan, "systemReturnDate", &at) || json_time(loan, "returnDate", &at)) &&
            (!last || at > last_at)) {
            last = loan;
            last_at = at;
        }
    }
    return last;
}

static const Json *first_request(const Docs *all, Str item_id)
{
    const Json *first = NULL;

    for (size_t i = 0; i < all->len; i++) {
        const Json *request = all->at[i];
        if (str_eq(json_str(request, "itemId"), item_id) &&
            (!first ||
             json_int(request, "position", INT64_MAX) < json_int(first, "position", INT64_MAX))) {
            first = request;
        }
    }
    return first;
}

static Err *add_loan(Tx *tx, Json *out, const Json *loan)
{
    static const char *const taken[] = {"name", "code", "discoveryDisplayName", "shelvingLagTime",
                                        "pickupLocation"};
    const Json *point = NULL;
    Str id = json_str(loan, "checkinServicePointId");

    if (!loan) {
        return NULL;
    }
    Json *shown = json_object();
    json_take(shown, "checkInDateTime", loan, "systemReturnDate");
    json_take(shown, "dueDate", loan, "dueDate");
    if (id.len) {
        TRY(tx_ref(tx, &service_points, id, &point));
    }
    if (point) {
        Json *desk = json_object();
        for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
            json_take(desk, taken[i], point, taken[i]);
        }
        json_set(shown, "checkInServicePoint", desk);
    }
    json_set(out, "loan", shown);
    return NULL;
}

static Err *add_request(Tx *tx, Json *out, const Json *request, const Json *requester)
{
    const Json *point = NULL, *group = NULL;
    Str point_id = json_str(request, "pickupServicePointId");
    Str group_id = json_str(requester, "patronGroup");

    if (!request) {
        return NULL;
    }
    Json *shown = json_object();
    json_take(shown, "requestType", request, "requestType");
    json_take(shown, "requestDate", request, "requestDate");
    json_take(shown, "requestExpirationDate", request, "requestExpirationDate");
    if (point_id.len) {
        TRY(tx_ref(tx, &service_points, point_id, &point));
        json_set_str_if(shown, "requestPickupServicePointName", json_str(point, "name"));
    }
    if (group_id.len) {
        TRY(tx_ref(tx, &groups, group_id, &group));
        json_set_str_if(shown, "requestPatronGroup", json_str(group, "desc"));
    }
    json_take(shown, "tags", request, "tags.tagList");
    json_set(out, "request", shown);
    return NULL;
}

static Err *add_last_check_in(Tx *tx, Json *out, const ItemView *item)
{
    Str id = json_str(item->item, "lastCheckIn.servicePointId");
    const Json *point = NULL;

    json_take(out, "lastCheckIn.dateTime", item->item, "lastCheckIn.dateTime");
    if (id.len) {
        TRY(tx_ref(tx, &service_points, id, &point));
        json_set_str(out, "lastCheckIn.servicePoint.id", id);
        json_set_str_if(out, "lastCheckIn.servicePoint.name", json_str(point, "name"));
    }
    return NULL;
}

static Err *travel_of(Tx *tx, const ItemView *item, const Travels *travels, Json **out)
{
    Json *doc = NULL;
    const Json *request = first_request(&travels->requests, item->id);

    TRY(item_representation(tx, item, &doc));
    if (item->location) {
        json_set_str_if(doc, "location.code", json_str(item->location, "code"));
        json_set_str_if(doc, "location.libraryName", json_str(item->library, "name"));
    }
    json_take(doc, "yearCaption", item->item, "yearCaption");
    json_take(doc, "effectiveCallNumberComponents", item->item, "effectiveCallNumberComponents");
    TRY(add_loan(tx, doc, last_loan(&travels->loans, item->id)));
    TRY(add_request(tx, doc, request,
                    docs_find(&travels->users, json_str(request, "requesterId"))));
    TRY(add_last_check_in(tx, doc, item));
    *out = doc;
    return NULL;
}

static Err *travels_enrich(Tx *tx, Json **records, size_t n, void *context)
{
    Travels travels = {0};

    (void)context;
    TRY(travels_read(tx, records, n, &travels));
    for (size_t i = 0; i < n; i++) {
        const ItemView *item = item_views_find(&travels.items, json_str(records[i], "id"));
        if (item) {
            TRY(travel_of(tx, item, &travels, &records[i]));
        }
    }
    return NULL;
}

// As many as there are: the list streams.
Err *items_in_transit(Req *req)
{
    ListView view = {.list_key = "items", .enrich = travels_enrich};
    ListRequest request = {
        .limit = INT32_MAX, .totals = TOTALS_EXACT, .where = "status = 'in transit'"};
    List *list = NULL;

    TRY(list_open(req->tx, &items, &request, &list));
    return reply_view(req, list, &view);
}
