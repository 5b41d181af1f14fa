// Queues of requests: shown in their order, put in another one.
// FOLIO: mod-circulation, /circulation/requests/queue/... Source: spec/circulation.md 9.9.
#include "modules/mod-circulation/requests.h"

#include "modules/mod-inventory-storage/collections.h"

static Err *reply_queue(Req *req, Json **requests_read, size_t n)
{
    Json *answer = json_object(), *list = json_array();

    TRY(request_representations(req->tx, requests_read, n));
    for (size_t i = 0; i < n; i++) {
        json_add(list, requests_read[i]);
    }
    json_set(answer, "requests", list);
    json_set_int(answer, "totalRecords", (int64_t)n);
    return reply_json(req, 200, answer);
}

Err *queue_get_of_item(Req *req)
{
    Docs docs = {0};

    TRY(requests_open_of_item(req->tx, req_param(req, 0), &docs));
    return reply_queue(req, docs.at, docs.len);
}

Err *queue_get_of_instance(Req *req)
{
    Docs docs = {0};

    TRY(requests_open_of_instance(req->tx, req_param(req, 0), &docs));
    return reply_queue(req, docs.at, docs.len);
}

// --- another order

typedef struct {
    const Queue *queue;
    size_t *place; // of each request of the queue: its new one, from 0
} NewOrder;

static Err *inconsistent(void)
{
    return err_422(NO_CODE, S("There is inconsistency between provided reordered queue and "
                              "existing queue."));
}

// Every number from 1 to n once.
static Err *positions_must_be_whole(const Json *entries)
{
    size_t n = json_len(entries);
    bool *is_taken = NEW_ARRAY(bool, n + 1);

    JSON_EACH(entry, entries)
    {
        int64_t position = json_int(entry, "newPosition", 0);
        if (position < 1 || (size_t)position > n || is_taken[position]) {
            return err_422(NO_CODE, S("Positions must have sequential order."),
                           P_NULL("newPosition"));
        }
        is_taken[position] = true;
    }
    return NULL;
}

static Err *order_read(const Json *entries, NewOrder *order)
{
    size_t n = order->queue->len;
    bool *is_named = NEW_ARRAY(bool, n + 1);

    order->place = NEW_ARRAY(size_t, n + 1);
    if (json_len(entries) != n) {
        return inconsistent();
    }
    JSON_EACH(entry, entries)
    {
        Str id = json_str(entry, "id");
        size_t i = 0;
        while (i < n && !str_eq_nocase(json_str(order->queue->at[i], "id"), id)) {
            i++;
        }
        if (i == n || is_named[i]) {
            return inconsistent();
        }
        is_named[i] = true;
        order->place[i] = (size_t)json_int(entry, "newPosition", 0) - 1;
    }
    return NULL;
}

static bool has_begun(const Json *request)
{
    return !str_eq(json_str(request, "status"), S("Open - Not yet filled"));
}

static Err *first_must_stay(const NewOrder *order)
{
    const Queue *queue = order->queue;

    if (!queue->len || order->place[0] == 0) {
        return NULL;
    }
    if (request_is_of_type(queue->at[0], "Page")) {
        return err_422(NO_CODE, S("Page requests can not be displaced from position 1."));
    }
    if (has_begun(queue->at[0])) {
        return err_422(NO_CODE, S("Requests can not be displaced from position 1 when "
                                  "fulfillment begun."));
    }
    return NULL;
}

// Several copies of a title may be on their way at once.
static Err *begun_must_stay_on_top(const NewOrder *order)
{
    const Queue *queue = order->queue;
    size_t begun = 0;

    for (size_t i = 0; i < queue->len; i++) {
        begun += has_begun(queue->at[i]);
    }
    for (size_t i = 0; i < queue->len; i++) {
        if (has_begun(queue->at[i]) && order->place[i] >= begun) {
            return err_422(NO_CODE, S("Requests can not be displaced from top positions when "
                                      "fulfillment begun."));
        }
    }
    return NULL;
}

static Queue *reordered(const NewOrder *order)
{
    const Queue *old = order->queue;
    Queue *queue = NEW(Queue);

    *queue = *old;
    queue->at = NEW_ARRAY(Json *, old->len + 1);
    queue->stored = NEW_ARRAY(const Json *, old->len + 1);
    for (size_t i = 0; i < old->len; i++) {
        queue->at[order->place[i]] = old->at[i];
        queue->stored[order->place[i]] = old->stored[i];
    }
    return queue;
}

static Err *log_reordering(Tx *tx, const Queue *queue)
{
    Json *payload = json_object(), *list = json_array();

    for (size_t i = 0; i < queue->len; i++) {
        Json *one = json_copy(queue->at[i]);
        json_take(one, "previousPosition", queue->stored[i], "position");
        json_add(list, one);
    }
    json_set(payload, "requests.reordered", list);
    return emit_log_record(tx, "REQUEST_REORDERED_EVENT", payload);
}

static Err *reorder(Req *req, const Queue *queue)
{
    Json *body = NULL;
    NewOrder order = {.queue = queue};

    TRY(req_body_object(req, &body));
    const Json *entries = json_get(body, "reorderedQueue");
    TRY(positions_must_be_whole(entries));
    TRY(order_read(entries, &order));
    TRY(queue->is_of_instance ? begun_must_stay_on_top(&order) : first_must_stay(&order));
    Queue *changed = reordered(&order);
    TRY(queue_renumber(req->tx, changed));
    TRY(log_reordering(req->tx, changed));
    return reply_queue(req, changed->at, changed->len);
}

static Err *feature_must_be(Req *req, bool is_wanted)
{
    const Settings *settings = NULL;

    TRY(settings_read(req->tx, &settings));
    if (settings->tlr_enabled == is_wanted) {
        return NULL;
    }
    return err_422(NO_CODE, settings->tlr_enabled ? S("Refuse to reorder request queue, TLR "
                                                      "feature status is ENABLED.")
                                                  : S("Refuse to reorder request queue, TLR "
                                                      "feature status is DISABLED."));
}

Err *queue_reorder_of_item(Req *req)
{
    ItemView *item = NULL;
    Queue *queue = NULL;
    Str id = req_param(req, 0);

    TRY(feature_must_be(req, false));
    if (uuid_is_uuid_shaped(id)) {
        TRY(item_view_by_id(req->tx, id, &item));
    }
    if (!item) {
        return err_text(404, "Item record with ID \"" STR_FMT "\" cannot be found", STR_ARG(id));
    }
    TRY(queue_of_item(req->tx, item, &queue));
    return reorder(req, queue);
}

Err *queue_reorder_of_instance(Req *req)
{
    Json *instance = NULL;
    Queue *queue = NULL;
    Str id = req_param(req, 0);

    TRY(feature_must_be(req, true));
    TRY(tx_get_locked(req->tx, &instances, id, &instance));
    if (!instance) {
        return err_text(404, "Instance record with ID \"" STR_FMT "\" cannot be found",
                        STR_ARG(id));
    }
    TRY(queue_of_instance(req->tx, id, &queue));
    return reorder(req, queue);
}
