// Where a request could be picked up, per type of request.
// FOLIO: mod-circulation, GET /circulation/requests/allowed-service-points. Source:
// spec/circulation.md 9.11.
#include "modules/mod-circulation/requests.h"

#include "base/sort.h"

#include "modules/mod-inventory-storage/collections.h"
#include "modules/mod-users/collections.h"

#include <stdlib.h>

enum { TYPES = 3 };

static const char *const types[TYPES] = {"Page", "Hold", "Recall"};

typedef struct {
    Req *req;
    Tx *tx;
    Str operation, requester_id, group_id, instance_id, item_id, request_id;
    const Settings *settings;
    Json *request;           // of replace and move
    Json *requester;         // the user, or a stand-in with the patron group
    ItemViews items;         // that the request could be for
    Docs points;             // all pickup locations, by name
    bool *is_allowed[TYPES]; // per type and point
    bool has_any_type[TYPES];
} Points;

// --- parameters

static void add_fault(StrList *faults, const char *name, Str value)
{
    if (value.len && !uuid_is_uuid_shaped(value)) {
        str_list_add(faults,
                     str_fmt("%s ID is not a valid UUID: " STR_FMT ".", name, STR_ARG(value)));
    }
}

static bool combination_is_valid(const Points *points)
{
    bool has_who = points->requester_id.len || points->group_id.len;
    bool has_request = points->request_id.len > 0;
    bool has_item = points->item_id.len > 0, has_instance = points->instance_id.len > 0;

    if (str_eq(points->operation, S("create"))) {
        return has_who && has_item != has_instance && !has_request;
    }
    if (str_eq(points->operation, S("replace"))) {
        return has_request && !has_who && !has_item && !has_instance;
    }
    return str_eq(points->operation, S("move")) && has_request && has_item && !has_who &&
           !has_instance;
}

static Err *read_parameters(Points *points)
{
    const Req *req = points->req;
    StrList faults = {0};

    points->operation = str_lower(req_query_text(req, "operation"));
    points->requester_id = str_lower(req_query_text(req, "requesterId"));
    points->group_id = str_lower(req_query_text(req, "patronGroupId"));
    points->instance_id = str_lower(req_query_text(req, "instanceId"));
    points->item_id = str_lower(req_query_text(req, "itemId"));
    points->request_id = str_lower(req_query_text(req, "requestId"));
    add_fault(&faults, "Requester", points->requester_id);
    add_fault(&faults, "Patron Group", points->group_id);
    add_fault(&faults, "Instance", points->instance_id);
    add_fault(&faults, "Item", points->item_id);
    add_fault(&faults, "Request", points->request_id);
    if (!combination_is_valid(points)) {
        str_list_add(&faults, S("Invalid combination of query parameters"));
    }
    if (!faults.len) {
        return NULL;
    }
    return err_text(400, STR_FMT, STR_ARG(str_join(faults.at, faults.len, S(" "))));
}

// --- what it is about

static Err *unknown(const char *what, const char *key, Str id)
{
    return err_422(NO_CODE, str_fmt("%s with ID " STR_FMT " was not found", what, STR_ARG(id)),
                   P(key, id));
}

static Err *find_request(Points *points)
{
    if (str_is_empty(points->request_id)) {
        return NULL;
    }
    TRY(tx_get(points->tx, &requests, points->request_id, &points->request));
    if (!points->request) {
        return unknown("Request", "requestId", points->request_id);
    }
    points->requester_id = json_str(points->request, "requesterId");
    if (str_is_empty(points->item_id)) {
        points->item_id = json_str(points->request, "itemId");
    }
    if (str_is_empty(points->item_id)) {
        points->instance_id = json_str(points->request, "instanceId");
    }
    return NULL;
}

static Err *find_requester(Points *points)
{
    if (points->requester_id.len) {
        TRY(tx_get(points->tx, &users, points->requester_id, &points->requester));
        if (!points->requester) {
            return unknown("User", "userId", points->requester_id);
        }
    } else {
        points->requester = json_object();
    }
    json_set_str_if(points->requester, "patronGroup", points->group_id);
    return NULL;
}

static Err *find_items(Points *points)
{
    Json *instance = NULL;
    ItemView *item = NULL;

    if (points->item_id.len) {
        TRY(item_view_by_id(points->tx, points->item_id, &item));
        if (!item) {
            return unknown("Item", "itemId", points->item_id);
        }
        points->items = (ItemViews){item, 1};
        return NULL;
    }
    TRY(tx_get(points->tx, &instances, points->instance_id, &instance));
    if (!instance) {
        return unknown("Instance", "instanceId", points->instance_id);
    }
    return item_views_of_instance(points->tx, points->instance_id, &points->items);
}

static int by_name(const void *a, const void *b)
{
    return str_cmp(json_str(*(Json *const *)a, "name"), json_str(*(Json *const *)b, "name"));
}

static Err *find_points(Points *points)
{
    Docs *all = &points->points;

    TRY(tx_where(points->tx, &service_points, "is_pickup_location = 1", NO_ARGS, all));
    if (all->len) {
        sort_array(all->at, all->len, sizeof *all->at, by_name);
    }
    for (size_t t = 0; t < TYPES; t++) {
        points->is_allowed[t] = NEW_ARRAY(bool, all->len + 1);
    }
    return NULL;
}

// --- what is allowed

static bool is_named(const Json *ids, Str id)
{
    JSON_EACH(one, ids)
    {
        if (str_eq_nocase(json_scalar_text(one), id)) {
            return true;
        }
    }
    return false;
}

static void allow(Points *points, size_t type, const Json *policy)
{
    const Json *named = json_get(policy, str_z(str_fmt("allowedServicePoints.%s", types[type])));

    for (size_t i = 0; i < points->points.len; i++) {
        if (!named || is_named(named, json_str(points->points.at[i], "id"))) {
            points->is_allowed[type][i] = true;
            points->has_any_type[type] = true;
        }
    }
}

// Editing keeps the type whatever the item's status is by now.
static bool type_is_possible(const Points *points, const ItemView *item, const char *type)
{
    if (str_eq(points->operation, S("replace"))) {
        return request_is_of_type(points->request, type);
    }
    return request_status_allows(item->status, str_of(type));
}

static Err *allow_for_item(Points *points, const ItemView *item)
{
    const Json *policy = NULL;

    TRY(request_policy_of(points->tx, item, points->requester, &policy));
    for (size_t t = 0; t < TYPES; t++) {
        if (type_is_possible(points, item, types[t]) &&
            request_policy_allows(policy, str_of(types[t]))) {
            allow(points, t, policy);
        }
    }
    return NULL;
}

static Err *allow_all(Points *points)
{
    bool is_free_hold = points->settings->tlr_enabled && points->instance_id.len &&
                        !points->settings->tlr_hold_follows_rules && !points->items.len;

    for (size_t i = 0; i < points->items.len; i++) {
        TRY(allow_for_item(points, &points->items.at[i]));
    }
    // A title without copies can be waited for.
    if (is_free_hold) {
        allow(points, 1, NULL);
    }
    return NULL;
}

// The baseline shows id and name alone; its clients compare whole objects.
static Json *shown(const Points *points)
{
    Json *answer = json_object();

    for (size_t t = 0; t < TYPES; t++) {
        Json *list = json_array();
        for (size_t i = 0; i < points->points.len; i++) {
            if (points->is_allowed[t][i]) {
                Json *point = json_object();
                json_take(point, "id", points->points.at[i], "id");
                json_take(point, "name", points->points.at[i], "name");
                json_add(list, point);
            }
        }
        if (points->has_any_type[t]) {
            json_set(answer, types[t], list);
        }
    }
    return answer;
}

Err *allowed_service_points(Req *req)
{
    Points points = {.req = req, .tx = req->tx};

    TRY(read_parameters(&points));
    TRY(settings_read(req->tx, &points.settings));
    TRY(find_request(&points));
    TRY(find_requester(&points));
    TRY(find_items(&points));
    TRY(find_points(&points));
    TRY(allow_all(&points));
    return reply_json(req, 200, shown(&points));
}
