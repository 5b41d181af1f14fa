// Loans written as whole records: imports create them, staff clients replace and delete them.
// FOLIO: mod-circulation, POST, PUT, DELETE /circulation/loans. Source: spec/circulation.md 4.4.
#include "modules/mod-circulation/loans.h"

#include "modules/mod-inventory-storage/collections.h"

static Str of(const LoanWork *work, const char *path)
{
    return json_str(work->loan, path);
}

static bool is_open(const Json *loan)
{
    return str_eq(json_str(loan, "status.name"), S("Open"));
}

// --- the body

// Only what storage keeps; names of patrons, titles and the like come back from clients and are
// dropped, as is what the server alone says.
static Json *stored_members(const Json *body)
{
    static const char *const kept[] = {"id",
                                       "userId",
                                       "proxyUserId",
                                       "itemId",
                                       "itemEffectiveLocationIdAtCheckOut",
                                       "status",
                                       "forUseAtLocation",
                                       "loanDate",
                                       "dueDate",
                                       "returnDate",
                                       "systemReturnDate",
                                       "action",
                                       "actionComment",
                                       "renewalCount",
                                       "loanPolicyId",
                                       "checkoutServicePointId",
                                       "checkinServicePointId",
                                       "patronGroupIdAtCheckout",
                                       "dueDateChangedByRecall",
                                       "dueDateChangedByHold",
                                       "dueDateChangedByNearExpireUser",
                                       "isDcb",
                                       "declaredLostDate",
                                       "claimedReturnedDate",
                                       "overdueFinePolicyId",
                                       "lostItemPolicyId",
                                       "agedToLostDelayedBilling",
                                       "reminders"};
    Json *loan = json_object();

    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        if (json_has(body, kept[i])) {
            json_take(loan, kept[i], body, kept[i]);
        }
    }
    return loan;
}

static void lower_ids(Json *loan)
{
    static const char *const ids[] = {"id",
                                      "userId",
                                      "proxyUserId",
                                      "itemId",
                                      "checkoutServicePointId",
                                      "checkinServicePointId",
                                      "loanPolicyId",
                                      "overdueFinePolicyId",
                                      "lostItemPolicyId",
                                      "itemEffectiveLocationIdAtCheckOut"};

    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        Str id = json_str(loan, ids[i]);
        if (id.len) {
            json_set_str(loan, ids[i], str_lower(id));
        }
    }
}

static Err *read_body(LoanWork *work)
{
    Json *body = NULL;

    TRY(req_body_object(work->req, &body));
    work->loan = stored_members(body);
    lower_ids(work->loan);
    return NULL;
}

// --- checks, in FOLIO's order; the first failure is told

static Err *check_status(const LoanWork *work)
{
    Str status = of(work, "status.name");

    if (!str_eq(status, S("Open")) && !str_eq(status, S("Closed"))) {
        return err_422(NO_CODE, S("Loan status must be \"Open\" or \"Closed\""),
                       P("status", status));
    }
    if (str_eq(status, S("Open")) && str_is_empty(of(work, "userId"))) {
        return err_422(NO_CODE, S("Open loan must have a user ID"), P_NULL("userId"));
    }
    return NULL;
}

static Err *check_service_point(const LoanWork *work, const char *member, Str message)
{
    Str id = of(work, member);
    const Json *point = NULL;

    if (uuid_is_uuid_shaped(id)) {
        TRY(tx_ref(work->tx, &service_points, id, &point));
    }
    return point || str_is_empty(id) ? NULL : err_422(NO_CODE, message, P(member, id));
}

static Err *check_service_points(const LoanWork *work)
{
    TRY(check_service_point(work, "checkinServicePointId",
                            S("Check In Service Point does not exist")));
    return check_service_point(work, "checkoutServicePointId",
                               S("Check Out Service Point does not exist"));
}

static Err *check_item_exists(const LoanWork *work)
{
    Str id = of(work, "itemId");

    return work->item ? NULL
                      : err_422(NO_CODE,
                                str_fmt("No item with ID " STR_FMT " could be found", STR_ARG(id)),
                                P("itemId", id));
}

static Err *check_item_is_free(const LoanWork *work)
{
    const ItemView *item = work->item;

    if (!is_open(work->loan)) {
        return NULL;
    }
    if (str_eq(item->status, S("Checked out"))) {
        return err_422(NO_CODE, S("Item is already checked out"), P("itemId", item->id));
    }
    if (str_eq(item->status, S("Missing"))) {
        return err_422(NO_CODE,
                       str_fmt(STR_FMT " has the item status Missing and cannot be checked out",
                               STR_ARG(item_sentence(item))),
                       P("itemId", item->id));
    }
    return NULL;
}

static Err *check_proxy(const LoanWork *work)
{
    Str proxy = of(work, "proxyUserId");
    bool is_valid = false;

    if (str_is_empty(proxy)) {
        return NULL;
    }
    TRY(proxy_is_valid(work->tx, of(work, "userId"), proxy, work->req->now, &is_valid));
    return is_valid ? NULL
                    : err_422(NO_CODE, S("proxyUserId is not valid"), P("proxyUserId", proxy));
}

static Err *check_queue(LoanWork *work, Json **first)
{
    TRY(loan_work_read_queue(work));
    TRY(queue_first_fulfillable(work->tx, work->queue, work->item, false, first));
    if (!*first || !is_open(work->loan) ||
        str_eq(json_str(*first, "requesterId"), of(work, "userId"))) {
        return NULL;
    }
    Str text = str_fmt(STR_FMT " (Barcode: " STR_FMT ") cannot be checked out to user " STR_FMT
                               " because it has been requested by another patron",
                       STR_ARG(item_title(work->item)), STR_ARG(work->item->barcode),
                       STR_ARG(patron_name(work->patron)));
    return err_422(NO_CODE, text, P("userId", of(work, "userId")));
}

// --- creating

static void set_policy_id(Json *loan, const char *member, Str id, bool always)
{
    if (uuid_is_uuid_shaped(id) && (always || !json_has(loan, member))) {
        json_set_str(loan, member, str_lower(id));
    }
}

static Err *take_policies(LoanWork *work)
{
    RuleMatch match;
    const Json *policy = NULL;
    Json *loan = work->loan;

    if (!work->patron) {
        return NULL;
    }
    TRY(rules_match_item(work->tx, work->item, work->patron, &match));
    TRY(loan_policy_by_id(work->tx, match.policy_ids[POLICY_LOAN], &policy));
    set_policy_id(loan, "loanPolicyId", match.policy_ids[POLICY_LOAN], true);
    set_policy_id(loan, "overdueFinePolicyId", match.policy_ids[POLICY_OVERDUE], false);
    set_policy_id(loan, "lostItemPolicyId", match.policy_ids[POLICY_LOST], false);
    if (!json_has(loan, "action")) {
        json_set_str(loan, "action", S("checkedout"));
    }
    json_set_str_if(loan, "patronGroupIdAtCheckout", json_str(work->patron, "patronGroup"));
    if (!json_has(loan, "itemEffectiveLocationIdAtCheckOut")) {
        json_set_str_if(loan, "itemEffectiveLocationIdAtCheckOut", work->item->location_id);
    }
    return NULL;
}

// A recall that waits shortens a loan of its item from the beginning.
static Err *honour_recall(LoanWork *work)
{
    DueDateInput input = {.service_point_id = of(work, "checkoutServicePointId"),
                          .now = work->req->now};
    Time due_at = 0;

    if (!queue_recall_of(work->queue, work->item) ||
        !json_time(work->loan, "dueDate", &input.current_due_at) ||
        !json_time(work->loan, "loanDate", &input.loan_date)) {
        return NULL;
    }
    TRY(loan_policy_by_id(work->tx, of(work, "loanPolicyId"), &input.policy));
    TRY(due_date_recalled(work->tx, &input, &due_at));
    if (due_at != input.current_due_at) {
        json_set_time(work->loan, "dueDate", due_at);
        json_set_bool(work->loan, "dueDateChangedByRecall", true);
    }
    return NULL;
}

static Err *lend(LoanWork *work, Json *first)
{
    if (!is_open(work->loan)) {
        return NULL;
    }
    if (first) {
        queue_fill(work->queue, first);
        TRY(scheduled_notices_drop_of_request(work->tx, json_str(first, "id")));
        TRY(queue_save(work->tx, work->queue));
    }
    item_set_status(work->item, S("Checked out"));
    item_set_destination(work->item, (Str){0});
    return honour_recall(work);
}

static Err *create(LoanWork *work)
{
    Json *first = NULL;

    TRY(check_status(work));
    TRY(check_service_points(work));
    TRY(loan_work_read_parts(work));
    TRY(check_item_exists(work));
    TRY(check_item_is_free(work));
    TRY(check_proxy(work));
    TRY(check_queue(work, &first));
    TRY(take_policies(work));
    TRY(lend(work, first));
    return loan_work_save(work);
}

Err *loans_create(Req *req)
{
    LoanWork work = {.req = req, .tx = req->tx};
    Json *shown = NULL;

    TRY(read_body(&work));
    TRY(create(&work));
    LoanParts parts = {.item = work.item, .patron = work.patron};
    TRY(loan_representation(req->tx, work.loan, &parts, &shown));
    reply_header(req, "Location",
                 str_fmt("/circulation/loans/" STR_FMT, STR_ARG(json_str(shown, "id"))));
    return reply_json(req, 201, shown);
}

// --- replacing

static bool due_date_differs(const LoanWork *work)
{
    Time before = 0, after = 0;
    bool had = json_time(work->stored, "dueDate", &before);
    bool has = json_time(work->loan, "dueDate", &after);

    return work->stored && (had != has || before != after);
}

static bool keeps_status(Str status)
{
    return str_eq(status, S("Declared lost")) || str_eq(status, S("Claimed returned")) ||
           str_eq(status, S("Aged to lost"));
}

static Err *check_change(const LoanWork *work)
{
    const ItemView *item = work->item;

    TRY(check_status(work));
    TRY(check_service_points(work));
    if (!is_open(work->loan) && str_is_empty(of(work, "checkinServicePointId"))) {
        return err_422(NO_CODE, S("A Closed loan must have a Checkin Service Point"),
                       P_NULL("checkinServicePointId"));
    }
    TRY(check_item_exists(work));
    if (keeps_status(item->status) && due_date_differs(work)) {
        return err_422(NO_CODE, str_fmt("item is " STR_FMT, STR_ARG(item->status)),
                       P("itemId", item->id));
    }
    return check_proxy(work);
}

// A loan that is closed this way sends its item to the next requester, or to its shelf.
static Err *send_item_on(LoanWork *work)
{
    Json *first = NULL;
    Str desk = of(work, "checkinServicePointId");

    TRY(queue_first_fulfillable(work->tx, work->queue, work->item, true, &first));
    if (!first) {
        item_set_status(work->item, S("Available"));
        item_set_destination(work->item, (Str){0});
        return NULL;
    }
    TRY(queue_begin_fulfilment(work->tx, work->queue, first, work->item, desk));
    // "Open - Awaiting pickup" of the request is "Awaiting pickup" of the item.
    Str status = json_str(first, "status");
    item_set_status(work->item, str_sub(status, S("Open - ").len, status.len));
    item_set_destination(work->item, str_eq(status, S("Open - In transit"))
                                         ? json_str(first, "pickupServicePointId")
                                         : (Str){0});
    return queue_save(work->tx, work->queue);
}

static Err *update_item(LoanWork *work)
{
    TRY(loan_work_read_queue(work));
    if (is_open(work->loan)) {
        if (!keeps_status(work->item->status)) {
            item_set_status(work->item, S("Checked out"));
        }
        return loan_forget_recall(work);
    }
    return is_open(work->stored) ? send_item_on(work) : NULL;
}

static Err *announce(LoanWork *work)
{
    NoticeParts notice = {
        .loan = work->loan, .item = work->item, .recipient = work->patron, .now = work->req->now};

    if (!is_open(work->loan)) {
        return is_open(work->stored) ? loan_closed_announce(work) : NULL;
    }
    if (!due_date_differs(work)) {
        return NULL;
    }
    TRY(loan_due_date_announce(work));
    return notices_send(work->tx, &notice, "Manual due date change");
}

static Err *replace(LoanWork *work)
{
    TRY(loan_work_read_parts(work));
    TRY(check_change(work));
    if (!json_has(work->loan, "patronGroupIdAtCheckout")) {
        json_take(work->loan, "patronGroupIdAtCheckout", work->stored, "patronGroupIdAtCheckout");
    }
    if (!json_has(work->loan, "agedToLostDelayedBilling")) {
        json_take(work->loan, "agedToLostDelayedBilling", work->stored, "agedToLostDelayedBilling");
    }
    TRY(update_item(work));
    TRY(item_save(work->tx, work->item));
    json_set_str_if(work->loan, "itemStatus", work->item->status);
    TRY(tx_update(work->tx, &loans, work->loan));
    return announce(work);
}

Err *loans_put(Req *req)
{
    LoanWork work = {.req = req, .tx = req->tx};
    Json *stored = NULL;

    TRY(read_body(&work));
    json_set_str(work.loan, "id", str_lower(req_param(req, 0)));
    TRY(tx_get_locked(req->tx, &loans, req_param(req, 0), &stored));
    work.stored = stored;
    TRY(stored ? replace(&work) : create(&work));
    return reply_empty(req, 204);
}

// --- deleting

Err *loans_delete(Req *req)
{
    LoanWork work = {.req = req, .tx = req->tx};

    TRY(loan_work_open(&work, req_param(req, 0)));
    TRY(scheduled_notices_drop_of_loan(req->tx, json_str(work.loan, "id"), NULL));
    TRY(tx_delete(req->tx, &loans, json_str(work.loan, "id")));
    return reply_empty(req, 204);
}

Err *loans_delete_all(Req *req)
{
    return reply_deleted(req, &loans, S("cql.allRecords=1"));
}
