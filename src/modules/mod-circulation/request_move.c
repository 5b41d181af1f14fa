// Moving a request to another copy of the same title.
// FOLIO: mod-circulation, POST /circulation/requests/{id}/move. Source: spec/circulation.md 9.8.
#include "modules/mod-circulation/requests.h"

typedef struct {
    RequestWork work;
    ItemView *source; // NULL: the request had no item
    Str wanted_type;  // "" = as it is
} Move;

// What the move forbids whatever the rules say.
static Err *check_kind(const Move *move)
{
    const Json *request = move->work.stored;

    if (!request_is_open(request)) {
        return err_422(S("REQUEST_ALREADY_CLOSED"), S("The Request has already been closed"),
                       P("id", json_str(request, "id")));
    }
    if (!request_is_title_level(request)) {
        return NULL;
    }
    if (!move->work.settings->tlr_enabled) {
        return err_422(NO_CODE, S("Can not process TLR - TLR feature is disabled"),
                       P("requestId", json_str(request, "id")));
    }
    if (request_is_of_type(request, "Hold") || str_eq(move->wanted_type, S("Hold"))) {
        return err_422(NO_CODE, S("Not allowed to move from/to Hold TLR"),
                       P("requestId", json_str(request, "id")));
    }
    return NULL;
}

static Err *check_destination(const Move *move, Str item_id)
{
    const RequestWork *work = &move->work;
    Str instance_id = json_str(work->stored, "instanceId");

    if (!work->item) {
        return err_422(NO_CODE, S("Item does not exist"), P("itemId", item_id));
    }
    if (!str_eq(work->item->instance_id, instance_id)) {
        return err_422(NO_CODE, S("Request can only be moved to an item with the same instance ID"),
                       P("itemId", work->item->id), P("instanceId", work->item->instance_id));
    }
    if (move->source && str_eq(move->source->id, work->item->id)) {
        return err_422(S("MOVING_REQUEST_TO_THE_SAME_ITEM"),
                       S("Not allowed to move title level page request to the same item"),
                       P("itemId", work->item->id));
    }
    return NULL;
}

static Err *find(Move *move, Str item_id)
{
    RequestWork *work = &move->work;
    Json *stored = NULL;
    Str source_id;

    TRY(settings_read(work->tx, &work->settings));
    TRY(request_by_id(work->tx, req_param(work->req, 0), &stored));
    work->stored = stored;
    work->request = json_copy(stored);
    TRY(check_kind(move));
    source_id = json_str(stored, "itemId");
    if (source_id.len) {
        TRY(item_view_by_id(work->tx, source_id, &move->source));
    }
    json_set_str(work->request, "itemId", item_id);
    TRY(request_find_parts(work));
    return check_destination(move, item_id);
}

static void choose_type(Move *move)
{
    RequestWork *work = &move->work;

    json_set_str(work->request, "holdingsRecordId", work->item->holdings_record_id);
    if (str_eq(work->item->status, S("Available"))) {
        json_set_str(work->request, "requestType", S("Page"));
    } else {
        json_set_str_if(work->request, "requestType", move->wanted_type);
    }
}

static Err *check(RequestWork *work)
{
    request_check_duplicates(work);
    TRY(request_check_item(work));
    request_check_loans(work);
    return work->refusals;
}

// A queue of the instance keeps its order; with queues of items it goes to the end of the new one,
// before the old one closes up.
static Err *change_queues(Move *move)
{
    RequestWork *work = &move->work;
    Queue *left = NULL;

    request_take_snapshot(work);
    if (work->queue->is_of_instance) {
        TRY(tx_change(work->tx, &requests, work->stored, work->request));
    } else {
        json_remove(work->request, "position");
        queue_add(work->queue, work->request);
        work->queue->stored[work->queue->len - 1] = work->stored;
        TRY(queue_save(work->tx, work->queue));
    }
    if (!move->source) {
        return NULL;
    }
    TRY(queue_of_item(work->tx, move->source, &left));
    TRY(queue_renumber(work->tx, left));
    return request_release_item(work->tx, move->source, left);
}

Err *request_move(Req *req)
{
    Move move = {.work = {.req = req, .tx = req->tx, .operation = REQUEST_MOVE}};
    RequestWork *work = &move.work;
    Json *body = NULL;

    TRY(req_body_object(req, &body));
    Str item_id = str_lower(json_str(body, "destinationItemId"));
    if (str_is_empty(item_id)) {
        return err_422(NO_CODE, S("Move request must have a destination item ID"),
                       P_NULL("destinationItemId"));
    }
    move.wanted_type = json_str(body, "requestType");
    TRY(find(&move, item_id));
    choose_type(&move);
    TRY(check(work));
    TRY(change_queues(&move));
    TRY(request_take_item(work));
    TRY(request_touch_loan(work));
    TRY(request_log(req->tx, "REQUEST_MOVED_EVENT", work->stored, work->request));
    TRY(request_plan_notices(work));
    return request_reply(req, 200, work->request);
}
