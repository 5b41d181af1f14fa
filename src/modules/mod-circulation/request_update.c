// Changing, cancelling and deleting requests.
// FOLIO: mod-circulation, PUT and DELETE /circulation/requests/{id}. Source: spec/circulation.md
// 9.6, 9.7.
#include "modules/mod-circulation/requests.h"

// --- changing

static Err *queue_left_by(Tx *tx, const Json *request, ItemView *item, Queue **out)
{
    const Settings *settings = NULL;

    TRY(settings_read(tx, &settings));
    if (settings->tlr_enabled) {
        return queue_of_instance(tx, json_str(request, "instanceId"), out);
    }
    if (item) {
        return queue_of_item(tx, item, out);
    }
    *out = NEW(Queue);
    return NULL;
}

static void must_be_open(RequestWork *work)
{
    if (!request_is_open(work->stored)) {
        request_refuse(work, err_422(S("REQUEST_ALREADY_CLOSED"),
                                     S("The Request has already been closed"),
                                     P("id", json_str(work->stored, "id"))));
    }
}

static void comments_must_stay(RequestWork *work)
{
    Str before = json_str(work->stored, "patronComments");

    if (!str_eq(before, json_str(work->request, "patronComments"))) {
        request_refuse(work, err_422(NO_CODE, S("Patron comments are not allowed to change"),
                                     P("existingPatronComments", before)));
    }
}

// Who closes a request needs no right to make it.
static Err *check(RequestWork *work)
{
    if (request_is_open(work->request)) {
        request_check_body(work);
        TRY(request_check_people(work));
        TRY(request_check_item(work));
    }
    must_be_open(work);
    comments_must_stay(work);
    return work->refusals;
}

// What the server alone sets stays; a client's position may be stale.
static void keep_own_members(RequestWork *work)
{
    static const char *const kept[] = {"position", "metadata", "printDetails",
                                       "awaitingPickupRequestClosedDate"};

    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        json_remove(work->request, kept[i]);
        json_take(work->request, kept[i], work->stored, kept[i]);
    }
}

static Err *tell_others(RequestWork *work)
{
    TRY(request_log(work->tx, "REQUEST_UPDATED_EVENT", work->stored, work->request));
    if (str_eq(json_str(work->request, "status"), S("Closed - Cancelled"))) {
        TRY(request_send_notice(work, "Request cancellation"));
    }
    return request_plan_notices(work);
}

// Others move up, the item goes back to its shelf if nobody else waits for it.
static Err *leave_queue(RequestWork *work)
{
    TRY(queue_left_by(work->tx, work->stored, work->item, &work->queue));
    TRY(queue_renumber(work->tx, work->queue));
    return request_release_item(work->tx, work->item, work->queue);
}

static Err *replace(RequestWork *work)
{
    TRY(request_find_parts(work));
    TRY(check(work));
    keep_own_members(work);
    if (work->item) { // it says which holdings record is meant, whatever the client sends
        json_set_str_if(work->request, "holdingsRecordId", work->item->holdings_record_id);
    }
    request_take_snapshot(work);
    TRY(tx_update(work->tx, &requests, work->request));
    if (request_is_open(work->request)) {
        TRY(request_take_item(work));
    } else {
        TRY(leave_queue(work));
    }
    return tell_others(work);
}

Err *requests_put(Req *req)
{
    RequestWork work = {.req = req, .tx = req->tx, .operation = REQUEST_REPLACE};
    Json *body = NULL, *stored = NULL;

    TRY(req_body_object(req, &body));
    TRY(request_read_body(&work, body));
    json_set_str(work.request, "id", str_lower(req_param(req, 0)));
    TRY(tx_get_locked(req->tx, &requests, req_param(req, 0), &stored));
    if (stored) {
        work.stored = stored;
        TRY(replace(&work));
    } else {
        work.operation = REQUEST_CREATE;
        TRY(request_make(&work));
    }
    return reply_empty(req, 204);
}

// --- deleting

Err *requests_delete(Req *req)
{
    Json *request = NULL;
    ItemView *item = NULL;
    Queue *queue = NULL;

    TRY(request_by_id(req->tx, req_param(req, 0), &request));
    if (json_has(request, "itemId")) {
        TRY(item_view_by_id(req->tx, json_str(request, "itemId"), &item));
    }
    TRY(tx_delete(req->tx, &requests, json_str(request, "id")));
    TRY(scheduled_notices_drop_of_request(req->tx, json_str(request, "id")));
    TRY(queue_left_by(req->tx, request, item, &queue));
    TRY(queue_renumber(req->tx, queue));
    TRY(request_release_item(req->tx, item, queue));
    return reply_empty(req, 204);
}

Err *requests_delete_all(Req *req)
{
    return reply_deleted(req, &requests, S("cql.allRecords=1"));
}
