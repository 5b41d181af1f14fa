// What speaks against a request: its body, the people, the item, the policy. All of it is told at
// once, in FOLIO's order. Source: spec/circulation.md 9.3.
#include "modules/mod-circulation/requests.h"

static ErrParam param(const char *key, Str value)
{
    return value.len ? P(key, value) : P_NULL(key);
}

static Str of(const RequestWork *work, const char *member)
{
    return json_str(work->request, member);
}

// --- the body (rows 2 to 8)

static void check_level(RequestWork *work)
{
    Str level = of(work, "requestLevel");
    bool tlr = work->settings->tlr_enabled;

    if (str_eq(level, S("Item")) || (tlr && str_eq(level, S("Title")))) {
        return;
    }
    request_refuse(work, err_422(S("REQUEST_LEVEL_IS_NOT_ALLOWED"),
                                 tlr ? S("Request level must be one of the following: \"Item\", "
                                         "\"Title\"")
                                     : S("Request level must be one of the following: \"Item\""),
                                 param("requestLevel", level)));
}

static void check_fulfillment(RequestWork *work)
{
    Str preference = of(work, "fulfillmentPreference");

    if (!str_eq(preference, S("Hold Shelf")) && !str_eq(preference, S("Delivery"))) {
        request_refuse(work, err_422(S("FULFILLMENT_PREFERENCE_IS_NOT_ALLOWED"),
                                     S("Fulfillment preference must be one of the following: "
                                       "\"Hold Shelf\", \"Delivery\""),
                                     param("fulfillmentPreference", preference)));
    }
}

static void check_ids(RequestWork *work)
{
    bool is_title_level = request_is_title_level(work->request);
    bool has_item = json_has(work->request, "itemId");

    if (!json_has(work->request, "instanceId")) {
        request_refuse(work, err_422(NO_CODE, S("Cannot create a request with no instance ID"),
                                     P_NULL("instanceId")));
    }
    if (!is_title_level && !has_item) {
        request_refuse(work,
                       err_422(NO_CODE, S("Cannot create an item level request with no item ID"),
                               P_NULL("itemId")));
    }
    if (has_item && !json_has(work->request, "holdingsRecordId")) {
        request_refuse(work, err_422(NO_CODE,
                                     S("Cannot create a request with item ID but no holdings "
                                       "record ID"),
                                     P_NULL("holdingsRecordId")));
    }
    if (is_title_level && !has_item && work->operation == REQUEST_REPLACE &&
        request_is_of_type(work->request, "Page")) {
        request_refuse(work, err_422(S("CANNOT_CREATE_PAGE_TLR_WITHOUT_ITEM_ID"),
                                     S("Cannot create a title level page request for this "
                                       "instance ID with no item ID"),
                                     param("instanceId", of(work, "instanceId"))));
    }
}

void request_check_body(RequestWork *work)
{
    check_level(work);
    check_fulfillment(work);
    check_ids(work);
    if (!json_has(work->request, "requestDate")) {
        request_refuse(work, err_422(NO_CODE, S("Cannot create a request with no requestDate"),
                                     P_NULL("requestDate")));
    }
    if (!work->instance && json_has(work->request, "instanceId")) {
        request_refuse(work, err_422(NO_CODE, S("Instance does not exist"),
                                     P("instanceId", of(work, "instanceId"))));
    }
}

// --- people and the place of pickup (rows 9 to 12)

static Err *check_proxy(RequestWork *work)
{
    Str sponsor = of(work, "requesterId"), proxy = of(work, "proxyUserId");
    bool is_valid = false;

    if (str_is_empty(proxy)) {
        return NULL;
    }
    if (str_eq(sponsor, proxy)) {
        request_refuse(work,
                       err_422(S("USER_CANNOT_BE_PROXY_FOR_THEMSELVES"),
                               S("User cannot be proxy for themselves"), P("proxyUserId", proxy)));
        return NULL;
    }
    TRY(proxy_is_valid(work->tx, sponsor, proxy, work->req->now, &is_valid));
    if (!is_valid) {
        request_refuse(work,
                       err_422(NO_CODE, S("proxyUserId is not valid"), P("proxyUserId", proxy)));
    }
    return NULL;
}

static void check_pickup(RequestWork *work)
{
    Str pickup = of(work, "pickupServicePointId");

    if (str_is_empty(pickup)) {
        if (str_eq(of(work, "fulfillmentPreference"), S("Hold Shelf"))) {
            request_refuse(work, err_422(S("HOLD_SHELF_REQUESTS_REQUIRE_PICKUP_SERVICE_POINT"),
                                         S("Hold shelf fulfillment requests require a Pickup "
                                           "service point"),
                                         param("id", of(work, "id"))));
        }
        return;
    }
    if (!work->pickup) {
        request_refuse(work, err_422(NO_CODE, S("Pickup service point does not exist"),
                                     P("pickupServicePointId", pickup)));
    } else if (!json_flag(work->pickup, "pickupLocation", false)) {
        request_refuse(work, err_422(S("SERVICE_POINT_IS_NOT_PICKUP_LOCATION"),
                                     S("Service point is not a pickup location"),
                                     P("pickupServicePointId", pickup)));
    }
}

static void check_requester(RequestWork *work)
{
    if (!work->requester) {
        request_refuse(work, err_422(NO_CODE,
                                     S("A valid user and patron group are required. User is null"),
                                     P_NULL("userId")));
        return;
    }
    if (!json_has(work->requester, "patronGroup")) {
        request_refuse(work, err_422(NO_CODE,
                                     S("A valid patron group is required. PatronGroup ID is null"),
                                     P_NULL("PatronGroupId")));
    }
    if (!patron_is_active(work->requester, work->req->now)) {
        request_refuse(work, err_422(NO_CODE, S("Inactive users cannot make requests"),
                                     P("requesterId", of(work, "requesterId")),
                                     param("itemId", of(work, "itemId"))));
    }
}

Err *request_check_people(RequestWork *work)
{
    TRY(check_proxy(work));
    check_pickup(work);
    check_requester(work);
    return NULL;
}

// --- what the requester has already (rows 13, 18)

static Err *duplicate_refusal(const RequestWork *work, const Json *other)
{
    Str requester = of(work, "requesterId");

    if (!request_is_title_level(work->request)) {
        return err_422(S("ITEM_ALREADY_REQUESTED"),
                       S("This requester already has an open request for this item"),
                       P("requesterId", requester), P("itemId", of(work, "itemId")),
                       P("requestId", json_str(other, "id")));
    }
    if (request_is_title_level(other)) {
        return err_422(S("INSTANCE_ALREADY_REQUESTED"),
                       S("This requester already has an open request for this instance"),
                       P("requesterId", requester), P("instanceId", of(work, "instanceId")),
                       P("requestId", json_str(other, "id")));
    }
    return err_422(S("ITEM_OF_THIS_INSTANCE_ALREADY_REQUESTED"),
                   S("This requester already has an open request for one of the instance's items"),
                   P("requesterId", requester), P("instanceId", of(work, "instanceId")),
                   P("itemId", json_str(other, "itemId")), P("requestId", json_str(other, "id")));
}

void request_check_duplicates(RequestWork *work)
{
    bool is_title_level = request_is_title_level(work->request);

    for (size_t i = 0; i < work->queue->len; i++) {
        const Json *other = work->queue->at[i];
        bool is_same = is_title_level || str_eq(json_str(other, "itemId"), of(work, "itemId"));
        if (is_same && str_eq(json_str(other, "requesterId"), of(work, "requesterId")) &&
            !str_eq(json_str(other, "id"), of(work, "id"))) {
            request_refuse(work, duplicate_refusal(work, other));
            return;
        }
    }
}

void request_check_loans(RequestWork *work)
{
    Str user = of(work, "requesterId");

    if (!request_is_title_level(work->request)) {
        if (work->loan && str_eq(json_str(work->loan, "userId"), user)) {
            request_refuse(work, err_422(S("REQUESTER_ALREADY_HAS_THIS_ITEM_ON_LOAN"),
                                         S("This requester already has this item on loan"),
                                         P("itemId", of(work, "itemId")), P("userId", user),
                                         P("loanId", json_str(work->loan, "id"))));
        }
        return;
    }
    for (size_t i = 0; i < work->loans.len; i++) {
        const Json *loan = work->loans.at[i];
        if (str_eq(json_str(loan, "userId"), user)) {
            request_refuse(work, err_422(S("REQUESTER_ALREADY_HAS_LOAN_FOR_ONE_OF_INSTANCES_ITEMS"),
                                         S("This requester already has a loan for one of the "
                                           "instance's items"),
                                         P("userId", user), P("itemId", json_str(loan, "itemId")),
                                         P("loanId", json_str(loan, "id"))));
            return;
        }
    }
}

// --- blocks (rows 14, 15)

Err *request_check_blocks(RequestWork *work)
{
    Err *blocks = NULL;

    if (work->overrides.patron) {
        request_refuse(work,
                       override_permission_check(work->req, "patronBlock", OVERRIDE_PATRON_BLOCK));
        return NULL;
    }
    if (work->requester) {
        TRY(patron_blocks(work->req, work->requester, BLOCK_REQUESTS, &blocks));
        request_refuse(work, blocks);
    }
    return NULL;
}

// --- item and policy (rows 16, 17, 19, 20)

static void refuse_type(RequestWork *work, bool for_title)
{
    Str type = of(work, "requestType");

    request_refuse(work, err_422(for_title ? S("REQUEST_NOT_ALLOWED_FOR_PATRON_TITLE_COMBINATION")
                                           : S("REQUEST_NOT_ALLOWED_FOR_PATRON_ITEM_COMBINATION"),
                                 str_fmt(STR_FMT " requests are not allowed for this patron and %s "
                                                 "combination",
                                         STR_ARG(type), for_title ? "title" : "item"),
                                 for_title ? P("requesterId", of(work, "requesterId"))
                                           : P("requestType", type),
                                 for_title ? P("instanceId", of(work, "instanceId"))
                                           : P("itemId", of(work, "itemId"))));
}

// A policy may name the service points where its requests are picked up.
static void check_policy_pickup(RequestWork *work, const Json *policy)
{
    Str pickup = of(work, "pickupServicePointId"), type = of(work, "requestType");
    const Json *points =
        json_get(policy, str_z(str_fmt("allowedServicePoints." STR_FMT, STR_ARG(type))));

    if (!points || str_is_empty(pickup)) {
        return;
    }
    JSON_EACH(point, points)
    {
        if (str_eq_nocase(json_scalar_text(point), pickup)) {
            return;
        }
    }
    request_refuse(work, err_422(S("REQUEST_PICKUP_SERVICE_POINT_IS_NOT_ALLOWED"),
                                 S("One or more Pickup locations are no longer available"),
                                 P("pickupServicePointId", pickup), P("requestType", type),
                                 P("requestPolicyId", json_str(policy, "id"))));
}

// A hold on a title waits for any copy; only where the library wants it some copy must be allowed.
static Err *check_title_hold(RequestWork *work)
{
    bool is_allowed = false;

    if (!work->settings->tlr_hold_follows_rules || !json_has(work->requester, "patronGroup")) {
        return NULL;
    }
    for (size_t i = 0; i < work->items.len && !is_allowed; i++) {
        const Json *policy = NULL;
        TRY(request_policy_of(work->tx, &work->items.at[i], work->requester, &policy));
        is_allowed = request_policy_allows(policy, S("Hold"));
    }
    if (!is_allowed) {
        refuse_type(work, true);
    }
    return NULL;
}

Err *request_check_item(RequestWork *work)
{
    const Json *policy = NULL;
    Str type = of(work, "requestType");

    if (request_is_title_level(work->request) && !json_has(work->request, "itemId")) {
        return request_is_of_type(work->request, "Hold") && !work->refusals ? check_title_hold(work)
                                                                            : NULL;
    }
    if (!work->item) {
        if (json_has(work->request, "itemId")) {
            request_refuse(
                work, err_422(NO_CODE, S("Item does not exist"), P("itemId", of(work, "itemId"))));
        }
        return NULL;
    }
    // An open request that is edited stays allowed whatever happened to its item meanwhile.
    if (work->operation != REQUEST_REPLACE && !request_status_allows(work->item->status, type)) {
        refuse_type(work, false);
        return NULL;
    }
    if (!json_has(work->requester, "patronGroup")) {
        return NULL;
    }
    TRY(request_policy_of(work->tx, work->item, work->requester, &policy));
    if (!request_policy_allows(policy, type)) {
        refuse_type(work, false);
    } else {
        check_policy_pickup(work, policy);
    }
    return NULL;
}
