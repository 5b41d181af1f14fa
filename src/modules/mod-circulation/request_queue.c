// The request queue: who is served next, and what lending and returning do to it.
// Source: spec/circulation.md 3.2, 5.4, 9.5. Positions are 1..n without gaps after every change.
#include "modules/mod-circulation/circulation.h"

#include "modules/mod-inventory-storage/inventory_storage.h"
#include "modules/mod-users/collections.h"

#include <string.h>

static bool is_type(const Json *request, const char *type)
{
    return str_eq_z(json_str(request, "requestType"), type);
}

static bool is_title_level(const Json *request)
{
    return str_eq(json_str(request, "requestLevel"), S("Title"));
}

static bool is_not_yet_filled(const Json *request)
{
    return str_eq(json_str(request, "status"), S("Open - Not yet filled"));
}

static bool is_for_item(const Json *request, const ItemView *item)
{
    return str_eq(json_str(request, "itemId"), item->id);
}

// --- reading

static Queue *queue_make(const Docs *docs, bool is_of_instance)
{
    Queue *queue = NEW(Queue);

    queue->at = NEW_ARRAY(Json *, docs->len + 1);
    queue->stored = NEW_ARRAY(const Json *, docs->len + 1);
    queue->is_of_instance = is_of_instance;
    for (size_t i = 0; i < docs->len; i++) {
        // Switched off, the feature leaves title-level requests out of sight.
        if (is_of_instance || !is_title_level(docs->at[i])) {
            queue->at[queue->len] = docs->at[i];
            queue->stored[queue->len++] = json_copy(docs->at[i]);
        }
    }
    return queue;
}

Err *queue_of_instance(Tx *tx, Str instance_id, Queue **out)
{
    Docs docs = {0};

    TRY(requests_open_of_instance(tx, instance_id, &docs));
    *out = queue_make(&docs, true);
    return NULL;
}

Err *queue_of_item(Tx *tx, const ItemView *item, Queue **out)
{
    const Settings *settings = NULL;
    Docs docs = {0};

    TRY(settings_read(tx, &settings));
    if (settings->tlr_enabled && item->instance_id.len) {
        return queue_of_instance(tx, item->instance_id, out);
    }
    TRY(requests_open_of_item(tx, item->id, &docs));
    *out = queue_make(&docs, false);
    return NULL;
}

// --- asking

// Whether the requester may have this item by this type of request: their request policy allows
// the type, their loan policy lends.
static Err *suits_requester(Tx *tx, const Json *request, const ItemView *item, bool *out)
{
    Json *requester = NULL;
    const Json *request_policy = NULL, *loan_policy = NULL;
    RuleMatch match;

    *out = false;
    TRY(tx_get(tx, &users, json_str(request, "requesterId"), &requester));
    if (!json_has(requester, "patronGroup")) {
        return NULL;
    }
    TRY(rules_match_item(tx, item, requester, &match));
    TRY(request_policy_by_id(tx, match.policy_ids[POLICY_REQUEST], &request_policy));
    TRY(loan_policy_by_id(tx, match.policy_ids[POLICY_LOAN], &loan_policy));
    if (!json_flag(loan_policy, "loanable", false)) {
        return NULL;
    }
    JSON_EACH(type, json_get(request_policy, "requestTypes"))
    {
        *out |= str_eq(json_scalar_text(type), json_str(request, "requestType"));
    }
    return NULL;
}

// Title-level requests are served by any item of the instance unless they are bound to one. A
// recall is bound, but a copy that comes in may serve it before its own does.
static bool may_serve(const Queue *queue, const Json *request, bool is_return)
{
    if (!queue->is_of_instance || !is_title_level(request)) {
        return false;
    }
    if (is_type(request, "Recall")) {
        return is_return && is_not_yet_filled(request);
    }
    return !json_has(request, "itemId");
}

Err *queue_first_fulfillable(Tx *tx, const Queue *queue, const ItemView *item, bool is_return,
                             Json **out)
{
    *out = NULL;
    for (size_t i = 0; i < queue->len; i++) {
        Json *request = queue->at[i];
        bool is_suitable = is_for_item(request, item);
        if (!is_suitable && may_serve(queue, request, is_return)) {
            TRY(suits_requester(tx, request, item, &is_suitable));
        }
        if (is_suitable) {
            *out = request;
            return NULL;
        }
    }
    return NULL;
}

bool queue_has_pending_hold(const Queue *queue, const ItemView *item)
{
    for (size_t i = 0; i < queue->len; i++) {
        const Json *request = queue->at[i];
        if (is_type(request, "Hold") && is_not_yet_filled(request) &&
            (!json_has(request, "itemId") || is_for_item(request, item))) {
            return true;
        }
    }
    return false;
}

Json *queue_recall_of(const Queue *queue, const ItemView *item)
{
    for (size_t i = 0; i < queue->len; i++) {
        if (is_type(queue->at[i], "Recall") && is_for_item(queue->at[i], item) &&
            request_is_open(queue->at[i])) {
            return queue->at[i];
        }
    }
    return NULL;
}

// --- changing

// Open requests count from 1 in their order; closed ones have no place.
static void renumber(Queue *queue)
{
    int64_t position = 0;

    for (size_t i = 0; i < queue->len; i++) {
        if (!request_is_open(queue->at[i])) {
            json_remove(queue->at[i], "position");
        } else {
            json_set_int(queue->at[i], "position", ++position);
        }
    }
}

static size_t index_of(const Queue *queue, const Json *request)
{
    size_t i = 0;

    while (i < queue->len && queue->at[i] != request) {
        i++;
    }
    return i;
}

// Moves the request at `from` forward to `to`.
static void move_up(Queue *queue, size_t from, size_t to)
{
    Json *request = queue->at[from];
    const Json *stored = queue->stored[from];

    memmove(&queue->at[to + 1], &queue->at[to], (from - to) * sizeof *queue->at);
    memmove(&queue->stored[to + 1], &queue->stored[to], (from - to) * sizeof *queue->stored);
    queue->at[to] = request;
    queue->stored[to] = stored;
}

void queue_fill(Queue *queue, Json *request)
{
    json_set_str(request, "status", S("Closed - Filled"));
    renumber(queue);
}

void queue_add(Queue *queue, Json *request)
{
    Json **at = NEW_ARRAY(Json *, queue->len + 1);
    const Json **stored = NEW_ARRAY(const Json *, queue->len + 1);

    if (queue->len) {
        memcpy(at, queue->at, queue->len * sizeof *at);
        memcpy(stored, queue->stored, queue->len * sizeof *stored);
    }
    at[queue->len] = request;
    queue->at = at;
    queue->stored = stored;
    queue->len++;
    renumber(queue);
}

// Requests whose fulfilment has begun stand before all others.
static void move_behind_begun(Queue *queue, const Json *request)
{
    size_t from = index_of(queue, request), to = 0;

    while (to < from && !is_not_yet_filled(queue->at[to])) {
        to++;
    }
    if (from < queue->len && to < from) {
        move_up(queue, from, to);
    }
}

// A title-level request takes the item that will serve it.
static void bind_item(Json *request, const ItemView *item)
{
    if (is_for_item(request, item)) {
        return;
    }
    json_set_str(request, "itemId", item->id);
    json_set_str(request, "holdingsRecordId", item->holdings_record_id);
    json_set_str_if(request, "item.barcode", item->barcode);
    json_set_str_if(request, "item.itemEffectiveLocationId", item->location_id);
    json_set_str_if(request, "item.itemEffectiveLocationName", json_str(item->location, "name"));
}

static Err *await_pickup(Tx *tx, Json *request, Str service_point_id)
{
    const Json *point = NULL;
    Time expires_at = 0;

    json_set_str(request, "status", S("Open - Awaiting pickup"));
    if (json_has(request, "holdShelfExpirationDate")) {
        return NULL;
    }
    TRY(tx_ref(tx, &service_points, service_point_id, &point));
    TRY(hold_shelf_expiry(tx, point, tx_now(tx), &expires_at));
    if (expires_at) {
        json_set_time(request, "holdShelfExpirationDate", expires_at);
    }
    return NULL;
}

Err *queue_begin_fulfilment(Tx *tx, Queue *queue, Json *request, const ItemView *item,
                            Str service_point_id)
{
    Str pickup = json_str(request, "pickupServicePointId");

    move_behind_begun(queue, request);
    if (str_eq(json_str(request, "fulfillmentPreference"), S("Delivery"))) {
        json_set_str(request, "status", S("Open - Awaiting delivery"));
    } else if (str_eq(pickup, service_point_id)) {
        TRY(await_pickup(tx, request, service_point_id));
    } else {
        json_set_str(request, "status", S("Open - In transit"));
        json_remove(request, "holdShelfExpirationDate");
    }
    bind_item(request, item);
    renumber(queue);
    return NULL;
}

Err *queue_renumber(Tx *tx, Queue *queue)
{
    renumber(queue);
    return queue_save(tx, queue);
}

Err *queue_save(Tx *tx, Queue *queue)
{
    RequestChange *changes = NEW_ARRAY(RequestChange, queue->len + 1);

    for (size_t i = 0; i < queue->len; i++) {
        changes[i] = (RequestChange){queue->stored[i], queue->at[i]};
    }
    return requests_write(tx, changes, queue->len);
}
