// A request for a title by a client that does not care for which copy or by which type.
// FOLIO: mod-circulation, POST /circulation/requests/instances. Source: spec/circulation.md 9.10.
#include "modules/mod-circulation/requests.h"

#include "base/sort.h"

#include <stdlib.h>

static const char *const types[] = {"Page", "Recall", "Hold"};

enum { TYPES = sizeof types / sizeof *types };

typedef struct {
    const ItemView *item;
    bool is_available, is_served_here;
    size_t queue_length;
    Time due_at;
} Candidate;

typedef struct {
    Req *req;
    const Json *body;
    Err *refusals;
    Json *made;
} Attempt;

static Err *must_have(const Json *body, const char *member, const char *what)
{
    return json_has(body, member)
               ? NULL
               : err_422(NO_CODE, str_fmt("Request must have %s", what), P_NULL(member));
}

static Err *check_body(const Json *body)
{
    TRY(must_have(body, "requestDate", "a request date"));
    TRY(must_have(body, "requesterId", "a requester id"));
    TRY(must_have(body, "instanceId", "an instance id"));
    return must_have(body, "pickupServicePointId", "a pickup service point id");
}

// Nothing is written when a request is refused: the next way can be tried.
static Err *attempt(Attempt *try, const char *type, const ItemView *item)
{
    RequestWork work = {.req = try->req, .tx = try->req->tx, .operation = REQUEST_CREATE};
    Json *body = json_copy(try->body);

    json_set_str(body, "requestType", str_of(type));
    json_set_str(body, "requestLevel", item ? S("Item") : S("Title"));
    if (!json_has(body, "fulfillmentPreference")) {
        json_set_str(body, "fulfillmentPreference", S("Hold Shelf"));
    }
    if (item) {
        json_set_str(body, "itemId", item->id);
        json_set_str(body, "holdingsRecordId", item->holdings_record_id);
    }
    TRY(request_read_body(&work, body));
    Err *err = request_make(&work);
    if (err && (err->status != 422 || err != work.refusals)) {
        return err;
    }
    if (err) {
        try->refusals = err_join(try->refusals, err);
    } else {
        try->made = work.request;
    }
    return NULL;
}

// --- with requests for items only

static int rank(const void *a, const void *b)
{
    const Candidate *left = a, *right = b;

    if (left->is_available != right->is_available) {
        return left->is_available ? -1 : 1;
    }
    if (left->is_available && left->is_served_here != right->is_served_here) {
        return left->is_served_here ? -1 : 1;
    }
    if (left->queue_length != right->queue_length) {
        return left->queue_length < right->queue_length ? -1 : 1;
    }
    if (left->due_at != right->due_at) {
        return left->due_at < right->due_at ? -1 : 1;
    }
    return (int)right->is_served_here - (int)left->is_served_here;
}

static size_t queue_length(const Docs *open, Str item_id)
{
    size_t length = 0;

    for (size_t i = 0; i < open->len; i++) {
        length += str_eq(json_str(open->at[i], "itemId"), item_id);
    }
    return length;
}

static Time due_at(const Docs *open_loans, Str item_id)
{
    Time at = 0;

    for (size_t i = 0; i < open_loans->len; i++) {
        if (str_eq(json_str(open_loans->at[i], "itemId"), item_id) &&
            json_time(open_loans->at[i], "dueDate", &at)) {
            return at;
        }
    }
    return INT64_MAX;
}

static Err *candidates_find(const Attempt *try, const ItemViews *items, Candidate *out)
{
    Docs waiting = {0}, lent = {0};
    StrList ids = {0};
    Str pickup = str_lower(json_str(try->body, "pickupServicePointId"));

    for (size_t i = 0; i < items->len; i++) {
        str_list_add(&ids, items->at[i].id);
    }
    TRY(requests_open_of_instance(try->req->tx, json_str(try->body, "instanceId"), &waiting));
    TRY(loans_open_of_items(try->req->tx, ids.at, ids.len, &lent));
    for (size_t i = 0; i < items->len; i++) {
        const ItemView *item = &items->at[i];
        out[i] = (Candidate){.item = item,
                             .is_available = str_eq(item->status, S("Available")),
                             .is_served_here = item_is_served_by(item, pickup),
                             .queue_length = queue_length(&waiting, item->id),
                             .due_at = due_at(&lent, item->id)};
    }
    sort_array(out, items->len, sizeof *out, rank);
    return NULL;
}

static Err *attempt_items(Attempt *try)
{
    ItemViews items = {0};

    TRY(item_views_of_instance(try->req->tx, json_str(try->body, "instanceId"), &items));
    if (!items.len) {
        return err_422(NO_CODE, S("There are no items for this instance"), P("items", S("empty")));
    }
    Candidate *candidates = NEW_ARRAY(Candidate, items.len);
    TRY(candidates_find(try, &items, candidates));
    for (size_t i = 0; i < items.len && !try->made; i++) {
        for (size_t t = 0; t < TYPES && !try->made; t++) {
            TRY(attempt(try, types[t], candidates[i].item));
        }
    }
    return NULL;
}

Err *requests_create_for_instance(Req *req)
{
    Attempt try = {.req = req};
    const Settings *settings = NULL;
    Json *body = NULL;

    TRY(req_body_object(req, &body));
    TRY(check_body(body));
    json_remove(body, "itemId");
    json_remove(body, "holdingsRecordId");
    try.body = body;
    TRY(settings_read(req->tx, &settings));
    if (settings->tlr_enabled) {
        for (size_t t = 0; t < TYPES && !try.made; t++) {
            TRY(attempt(&try, types[t], NULL));
        }
    } else {
        TRY(attempt_items(&try));
    }
    return try.made ? request_reply(req, 201, try.made) : try.refusals;
}
