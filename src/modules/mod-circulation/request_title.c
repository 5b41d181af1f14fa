// Title-level requests: which copy a page takes from the shelf, which loan a recall shortens.
// Source: spec/circulation.md 9.3.
#include "modules/mod-circulation/requests.h"

// How near a copy stands to the pickup service point; 0 is nearest.
static int distance(const ItemView *item, Str service_point_id, const ItemViews *copies)
{
    const ItemView *near = NULL;

    if (item_is_served_by(item, service_point_id)) {
        return 0;
    }
    // The service point's own library is known by a copy that it serves.
    for (size_t i = 0; i < copies->len && !near; i++) {
        near = item_is_served_by(&copies->at[i], service_point_id) ? &copies->at[i] : NULL;
    }
    if (!near || !item->location) {
        return 4;
    }
    return item->library && item->library == near->library               ? 1
           : item->campus && item->campus == near->campus                ? 2
           : item->institution && item->institution == near->institution ? 3
                                                                         : 4;
}

// A copy on the shelf that the requester may page, the nearest to where they fetch it.
static Err *nearest_pageable(RequestWork *work, ItemView **out)
{
    Str pickup = json_str(work->request, "pickupServicePointId");
    int best = 0;

    *out = NULL;
    if (!json_has(work->requester, "patronGroup")) {
        return NULL;
    }
    for (size_t i = 0; i < work->items.len; i++) {
        ItemView *item = &work->items.at[i];
        bool is_possible = false;
        if (!str_eq(item->status, S("Available"))) {
            continue;
        }
        TRY(request_is_possible(work->tx, item, work->requester, S("Page"), &is_possible));
        int far = distance(item, pickup, &work->items);
        if (is_possible && (!*out || far < best)) {
            *out = item;
            best = far;
        }
    }
    return NULL;
}

static const Json *loan_of(const RequestWork *work, const ItemView *item)
{
    for (size_t i = 0; i < work->loans.len; i++) {
        if (str_eq(json_str(work->loans.at[i], "itemId"), item->id)) {
            return work->loans.at[i];
        }
    }
    return NULL;
}

static int recall_count(const RequestWork *work, const ItemView *item)
{
    int count = 0;

    for (size_t i = 0; i < work->queue->len; i++) {
        const Json *other = work->queue->at[i];
        count += request_is_of_type(other, "Recall") && str_eq(json_str(other, "itemId"), item->id);
    }
    return count;
}

// What makes a copy better for a recall: lent, few recalls, due soon.
typedef struct {
    bool is_lent;
    int recalls;
    Time due_at;
} RecallRank;

static RecallRank rank_of(const RequestWork *work, const ItemView *item)
{
    const Json *loan = loan_of(work, item);
    RecallRank rank = {.is_lent = loan != NULL, .recalls = recall_count(work, item)};

    if (!json_time(loan, "dueDate", &rank.due_at)) {
        rank.due_at = INT64_MAX;
    }
    return rank;
}

static bool is_better(RecallRank a, RecallRank b)
{
    if (a.is_lent != b.is_lent) {
        return a.is_lent;
    }
    return a.recalls != b.recalls ? a.recalls < b.recalls : a.due_at < b.due_at;
}

static ItemView *best_recallable(RequestWork *work)
{
    ItemView *best = NULL;
    RecallRank best_rank = {0};

    for (size_t i = 0; i < work->items.len; i++) {
        ItemView *item = &work->items.at[i];
        if (!request_status_allows(item->status, S("Recall"))) {
            continue;
        }
        RecallRank rank = rank_of(work, item);
        if (!best || is_better(rank, best_rank)) {
            best = item;
            best_rank = rank;
        }
    }
    return best;
}

static Err *choose_for_page(RequestWork *work, ItemView *pageable)
{
    if (!pageable) {
        request_refuse(work, err_422(NO_CODE,
                                     S("Cannot create page TLR for this instance ID - no pageable "
                                       "available items found"),
                                     P("instanceId", json_str(work->request, "instanceId"))));
        return NULL;
    }
    return request_bind_item(work, pageable);
}

static Err *choose_for_recall(RequestWork *work)
{
    ItemView *item = best_recallable(work);

    if (!item) {
        request_refuse(
            work, err_422(NO_CODE, S("Request has no loan or recallable item"), P_NULL("itemId")));
        return NULL;
    }
    return request_bind_item(work, item);
}

Err *request_choose_item(RequestWork *work)
{
    ItemView *pageable = NULL;

    TRY(nearest_pageable(work, &pageable));
    if (request_is_of_type(work->request, "Page")) {
        return json_has(work->request, "itemId") ? NULL : choose_for_page(work, pageable);
    }
    if (pageable) {
        request_refuse(
            work,
            err_422(S("HOLD_AND_RECALL_TLR_NOT_ALLOWED_PAGEABLE_AVAILABLE_ITEM_FOUND"),
                    S("Hold/Recall title level request not allowed: pageable available item found "
                      "for instance"),
                    P("itemId", pageable->id),
                    P("instanceId", json_str(work->request, "instanceId"))));
        return NULL;
    }
    if (request_is_of_type(work->request, "Recall")) {
        return choose_for_recall(work);
    }
    // A hold waits for any copy.
    json_remove(work->request, "itemId");
    json_remove(work->request, "holdingsRecordId");
    work->item = NULL;
    work->loan = NULL;
    return NULL;
}
