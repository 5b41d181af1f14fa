// Check-in by barcode: closes the loan, decides where the item goes, begins the next request.
// FOLIO: mod-circulation, POST /circulation/check-in-by-barcode. Source: spec/circulation.md 5.
#include "modules/mod-circulation/check_in.h"

#include "modules/mod-inventory-storage/inventory_storage.h"
#include "modules/mod-users/collections.h"

#include <math.h>

typedef struct {
    Req *req;
    Tx *tx;
    Str item_barcode, service_point_id, session_id;
    Str resolution; // "" = none
    Time check_in_date;

    ItemView *item;
    Str prior_status;
    const Json *stored_loan; // as read
    Json *loan;              // NULL if there was no open one
    Json *patron;            // who had it; NULL without a loan or patron
    int64_t owed;            // on the loan, hundredths
    Queue *queue;
    size_t queue_size;
    Json *request; // the first that the item fulfils, NULL if none
    Str prior_request_status;
    Json *requester;
    bool is_in_house_use;
    bool has_charged; // what is owed on the loan has changed
} CheckIn;

// --- the request

static Err *must_be_given(Str value, const char *what, const char *key)
{
    if (value.len) {
        return NULL;
    }
    return err_422(NO_CODE, str_fmt("Checkin request must have %s", what), P_NULL(key));
}

static Err *read_body(CheckIn *ci)
{
    Json *body = NULL;
    const Json *date = NULL;

    TRY(req_body_object(ci->req, &body));
    ci->item_barcode = json_str(body, "itemBarcode");
    ci->service_point_id = str_lower(json_str(body, "servicePointId"));
    ci->session_id = json_str(body, "sessionId");
    ci->resolution = json_str(body, "claimedReturnedResolution");
    date = json_get(body, "checkInDate");
    TRY(must_be_given(ci->item_barcode, "an item barcode", "itemBarcode"));
    TRY(must_be_given(ci->service_point_id, "a service point id", "servicePointId"));
    TRY(must_be_given(json_is_string(date) ? json_scalar_text(date) : (Str){0}, "an check in date",
                      "checkInDate"));
    if (!time_parse(json_scalar_text(date), &ci->check_in_date)) {
        return err_text(400, "checkInDate is no date and time: " STR_FMT,
                        STR_ARG(json_scalar_text(date)));
    }
    if (ci->resolution.len && !str_eq(ci->resolution, S("Found by library")) &&
        !str_eq(ci->resolution, S("Returned by patron"))) {
        return err_422(NO_CODE, S("Unrecognized value provided for property"),
                       P("claimedReturnedResolution", ci->resolution));
    }
    if (str_is_empty(ci->req->user_id)) {
        return err_422(NO_CODE, S("No logged-in user present"), P_NULL("userId"));
    }
    return NULL;
}

static Err *item_must_be_returnable(const CheckIn *ci)
{
    const ItemView *item = ci->item;

    if (!item) {
        return err_422(
            S("ITEM_BARCODE_NOT_FOUND"),
            str_fmt("No item with barcode " STR_FMT " exists", STR_ARG(ci->item_barcode)),
            P("itemBarcode", ci->item_barcode));
    }
    if (str_eq(item->status, S("Intellectual item"))) {
        return err_422(NO_CODE,
                       str_fmt(STR_FMT " has the item status Intellectual item and cannot be "
                                       "checked in",
                               STR_ARG(item_sentence(item))),
                       P("itemBarcode", ci->item_barcode));
    }
    if (str_eq(item->status, S("Claimed returned")) && str_is_empty(ci->resolution)) {
        return err_422(NO_CODE, S("Item is claimed returned, a resolution is required to check in"),
                       P_NULL("claimedReturnedResolution"));
    }
    return NULL;
}

static Err *take_loan(const Row *row, void *context)
{
    CheckIn *ci = context;

    if (ci->loan) {
        return err_text(500, "More than one open loan for item " STR_FMT, STR_ARG(ci->item->id));
    }
    ci->loan = json_parse_stored(row_text(row, 0));
    ci->stored_loan = json_parse_stored(row_text(row, 0));
    ci->patron = row_is_null(row, 1) ? NULL : json_parse_stored(row_text(row, 1));
    ci->owed = (int64_t)llround(row_real(row, 2) * 100);
    return NULL;
}

// The open loan, its patron and what they owe for it.
static Err *find_loan(Tx *tx, void *context)
{
    CheckIn *ci = context;

    return tx_rows(tx,
                   "select l.doc, u.doc, (select sum(a.remaining) from accounts a "
                   "where a.loan_id = l.id and a.status = 'open') "
                   "from loan l left join users u on u.id = l.user_id "
                   "where l.item_id = $1 and l.status = 'open'",
                   ARGS(A_TEXT(ci->item->id)), take_loan, ci);
}

static Err *take_requester(const Row *row, void *context)
{
    CheckIn *ci = context;

    ci->requester = json_parse_stored(row_text(row, 0));
    return NULL;
}

// Who most likely is served next: read along, in case it is them.
static Err *guess_requester(Tx *tx, void *context)
{
    CheckIn *ci = context;

    return tx_rows(tx,
                   "select u.doc from request r join users u on u.id = r.requester_id "
                   "where r.item_id = $1 and r.status like 'open%' "
                   "order by r.position is null, r.position limit 1",
                   ARGS(A_TEXT(ci->item->id)), take_requester, ci);
}

static Err *find_queue(Tx *tx, void *context)
{
    CheckIn *ci = context;

    return queue_of_item(tx, ci->item, &ci->queue);
}

// What the item leads to: one round trip, but for requests that are not of this item.
static Err *find_state(CheckIn *ci)
{
    const Read reads[] = {{find_loan, ci}, {find_queue, ci}, {guess_requester, ci}};

    TRY(tx_together(ci->tx, reads, 3));
    ci->queue_size = ci->queue->len;
    TRY(queue_first_fulfillable(ci->tx, ci->queue, ci->item, true, &ci->request));
    Str requester_id = json_str(ci->request, "requesterId");
    if (!ci->request) {
        ci->requester = NULL;
    } else if (!str_eq(json_str(ci->requester, "id"), requester_id)) {
        TRY(tx_get(ci->tx, &users, requester_id, &ci->requester));
    }
    return NULL;
}

static Err *request_must_have_pickup(const CheckIn *ci)
{
    if (ci->request && str_eq(json_str(ci->request, "fulfillmentPreference"), S("Hold Shelf")) &&
        !json_has(ci->request, "pickupServicePointId")) {
        return err_422(NO_CODE, S("Failed to check in item due to the highest priority request "
                                  "missing a pickup service point"));
    }
    return NULL;
}

// --- effects

static Err *check_in_record(CheckIn *ci)
{
    Json *record = json_object();

    json_set_time(record, "occurredDateTime", ci->req->now);
    json_set_str(record, "itemId", ci->item->id);
    json_set_str(record, "servicePointId", ci->service_point_id);
    json_set_str(record, "performedByUserId", ci->req->user_id);
    json_set_str_if(record, "itemStatusPriorToCheckIn", ci->prior_status);
    json_set_str_if(record, "itemLocationId", ci->item->location_id);
    json_set_int(record, "requestQueueSize", (int64_t)ci->queue_size);
    return tx_insert(ci->tx, &check_ins, record);
}

static const char *return_action(const CheckIn *ci)
{
    if (str_eq(ci->resolution, S("Found by library"))) {
        return "checkedInFoundByLibrary";
    }
    return ci->resolution.len ? "checkedInReturnedByPatron" : "checkedin";
}

static void loan_close(CheckIn *ci)
{
    Json *loan = ci->loan;

    if (!loan) {
        return;
    }
    json_set_str(loan, "status.name", S("Closed"));
    loan_set_action(loan, return_action(ci), (Str){0});
    json_set_str(loan, "returnDate", time_format_z(ci->check_in_date));
    json_set_time(loan, "systemReturnDate", ci->req->now);
    json_set_str(loan, "checkinServicePointId", ci->service_point_id);
    // An item that comes back before its bill is never charged; the date of ageing stays.
    if (json_has(loan, "agedToLostDelayedBilling")) {
        json_remove(loan, "agedToLostDelayedBilling.lostItemHasBeenBilled");
        json_remove(loan, "agedToLostDelayedBilling.dateLostItemShouldBeBilled");
    }
    if (json_has(loan, "forUseAtLocation")) {
        json_set_str(loan, "forUseAtLocation.status", S("Returned"));
        json_set_time(loan, "forUseAtLocation.statusDate", ci->req->now);
    }
}

static Err *request_begin(CheckIn *ci)
{
    if (!ci->request) {
        return NULL;
    }
    ci->prior_request_status = json_str(ci->request, "status");
    TRY(queue_begin_fulfilment(ci->tx, ci->queue, ci->request, ci->item, ci->service_point_id));
    return queue_save(ci->tx, ci->queue);
}

static void send_to(CheckIn *ci, Str service_point_id)
{
    item_set_status(ci->item, S("In transit"));
    item_set_destination(ci->item, service_point_id);
}

// The item's next status and destination (5.3).
static void item_route(CheckIn *ci)
{
    Str pickup = json_str(ci->request, "pickupServicePointId");
    Str here = ci->service_point_id, next = S("Available");

    if (ci->request && str_eq(json_str(ci->request, "fulfillmentPreference"), S("Delivery"))) {
        next = S("Awaiting delivery");
    } else if (ci->request && !str_eq(pickup, here)) {
        send_to(ci, pickup);
        return;
    } else if (ci->request) {
        next = S("Awaiting pickup");
    } else if (!item_is_served_by(ci->item, here)) {
        send_to(ci, item_primary_service_point(ci->item));
        return;
    }
    item_set_status(ci->item, next);
    item_set_destination(ci->item, (Str){0});
}

static Err *item_store(CheckIn *ci)
{
    Json *item = item_change(ci->item);

    item_route(ci);
    json_set_time(item, "lastCheckIn.dateTime", ci->req->now);
    json_set_str(item, "lastCheckIn.servicePointId", ci->service_point_id);
    json_set_str(item, "lastCheckIn.staffMemberId", ci->req->user_id);
    return item_save(ci->tx, ci->item);
}

static Err *loan_store(CheckIn *ci)
{
    if (!ci->loan) {
        return NULL;
    }
    json_set_str(ci->loan, "itemStatus", ci->item->status);
    TRY(tx_change(ci->tx, &loans, ci->stored_loan, ci->loan));
    if (json_has(ci->loan, "userId")) {
        TRY(session_record(ci->tx, ci->loan, "Check-in", ci->session_id));
    }
    NoticeParts notice = {
        .loan = ci->loan, .item = ci->item, .recipient = ci->patron, .now = ci->req->now};
    return notices_plan_due_date(ci->tx, &notice, false);
}

static Err *requester_told(CheckIn *ci)
{
    Str status = json_str(ci->request, "status");
    NoticeParts notice = {
        .request = ci->request, .item = ci->item, .recipient = ci->requester, .now = ci->req->now};

    if (!ci->request || str_eq(status, ci->prior_request_status)) {
        return NULL;
    }
    if (str_eq(status, S("Open - Awaiting pickup"))) {
        TRY(notices_send(ci->tx, &notice, "Available"));
    }
    return notices_plan_request(ci->tx, &notice);
}

static Err *fees_settled(CheckIn *ci)
{
    ReturnedItem returned = {.req = ci->req,
                             .loan = ci->loan,
                             .item = ci->item,
                             .prior_status = ci->prior_status,
                             .resolution = ci->resolution,
                             .service_point_id = ci->service_point_id,
                             .returned_at = ci->check_in_date};

    return returned_item_settle_fees(&returned, &ci->has_charged);
}

static void log_requests(const CheckIn *ci, Json *log)
{
    Json *list = json_array(), *one = json_object();

    if (ci->request) {
        json_take(one, "id", ci->request, "id");
        json_set_str(one, "oldRequestStatus", ci->prior_request_status);
        json_take(one, "newRequestStatus", ci->request, "status");
        json_take(one, "requestType", ci->request, "requestType");
        json_take(one, "pickUpServicePoint", ci->request, "pickupServicePointId");
        json_take(one, "addressType", ci->request, "deliveryAddressTypeId");
        json_add(list, one);
    }
    json_set(log, "requests", list);
}

static Err *tell_others(CheckIn *ci)
{
    Json *extra = json_object(), *log = json_object();
    const Settings *settings = NULL;

    if (ci->loan) {
        json_take(extra, "returnDate", ci->loan, "returnDate");
        TRY(emit_loan_event(ci->tx, "ITEM_CHECKED_IN", ci->loan, extra));
    }
    TRY(settings_read(ci->tx, &settings));
    json_set_str(log, "servicePointId", ci->service_point_id);
    json_set_str(log, "itemId", ci->item->id);
    json_set_str(log, "itemBarcode", ci->item->barcode);
    json_set_str(log, "itemStatusName", ci->item->status);
    json_set_str_if(log, "destinationServicePoint",
                    json_str(ci->item->item, "inTransitDestinationServicePointId"));
    json_set_str(log, "holdingsRecordId", ci->item->holdings_record_id);
    json_set_str(log, "instanceId", ci->item->instance_id);
    json_take(log, "loanId", ci->loan, "id");
    json_take(log, "userId", ci->loan, "userId");
    json_take(log, "userBarcode", ci->patron, "barcode");
    json_take(log, "dueDate", ci->loan, "dueDate");
    json_take(log, "returnDate", ci->loan, "returnDate");
    json_take(log, "systemReturnDate", ci->loan, "systemReturnDate");
    json_set_bool(log, "isLoanClosed", ci->loan != NULL);
    json_set_str_if(log, "claimedReturnedResolution", ci->resolution);
    json_set_str(log, "zoneId", settings->zone_name);
    log_requests(ci, log);
    return emit_log_record(ci->tx, "CHECK_IN_EVENT", log);
}

// --- the answer

static Err *answer(CheckIn *ci, Json **out)
{
    Json *body = json_object(), *part = NULL;

    if (ci->loan) {
        LoanParts parts = {.item = ci->item,
                           .patron = ci->patron,
                           .is_owed_known = !ci->has_charged,
                           .owed = ci->owed};
        TRY(loan_representation(ci->tx, ci->loan, &parts, &part));
        json_set(body, "loan", part);
    }
    TRY(item_representation(ci->tx, ci->item, &part));
    json_set(body, "item", part);
    SlipParts slip = {.item = ci->item,
                      .request = ci->request,
                      .requester = ci->requester,
                      .from_service_point_id = ci->service_point_id,
                      .to_service_point_id =
                          json_str(ci->item->item, "inTransitDestinationServicePointId")};
    TRY(slip_context(ci->tx, &slip, ci->req->now, &part));
    json_set(body, "staffSlipContext", part);
    json_set_bool(body, "inHouseUse", ci->is_in_house_use);
    *out = body;
    return NULL;
}

Err *check_in_by_barcode(Req *req)
{
    CheckIn ci = {.req = req, .tx = req->tx};
    Json *body = NULL;

    TRY(read_body(&ci));
    TRY(item_view_by_barcode(ci.tx, ci.item_barcode, &ci.item));
    TRY(item_must_be_returnable(&ci));
    TRY(find_state(&ci));
    TRY(request_must_have_pickup(&ci));
    ci.prior_status = ci.item->status;
    // Used inside the library: it stood on its shelf, nobody waits for it, it is at home here.
    ci.is_in_house_use = str_eq(ci.prior_status, S("Available")) && ci.queue_size == 0 &&
                         item_is_served_by(ci.item, ci.service_point_id);
    TRY(check_in_record(&ci));
    loan_close(&ci);
    TRY(request_begin(&ci));
    TRY(item_store(&ci));
    TRY(loan_store(&ci));
    TRY(requester_told(&ci));
    TRY(fees_settled(&ci));
    TRY(tell_others(&ci));
    TRY(answer(&ci, &body));
    return reply_json(req, 200, body);
}
