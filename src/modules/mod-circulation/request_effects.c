// What a request does to others: the item it takes, the loan it shortens, who is told.
// Source: spec/circulation.md 7.6, 9.3, 9.6, 14.1.
#include "modules/mod-circulation/requests.h"

#include "modules/mod-users/collections.h"

// --- the item

Err *request_take_item(RequestWork *work)
{
    if (!work->item || !request_is_open(work->request) ||
        !request_is_of_type(work->request, "Page") || !str_eq(work->item->status, S("Available"))) {
        return NULL;
    }
    item_set_status(work->item, S("Paged"));
    return item_save(work->tx, work->item);
}

Err *request_release_item(Tx *tx, ItemView *item, const Queue *left)
{
    if (!item || !str_eq(item->status, S("Paged"))) {
        return NULL;
    }
    for (size_t i = 0; i < left->len; i++) {
        if (request_is_open(left->at[i]) && str_eq(json_str(left->at[i], "itemId"), item->id)) {
            return NULL;
        }
    }
    item_set_status(item, S("Available"));
    return item_save(tx, item);
}

// --- the loan

static Err *find_borrower(RequestWork *work, Json **out)
{
    *out = NULL;
    return json_has(work->loan, "userId")
               ? tx_get(work->tx, &users, json_str(work->loan, "userId"), out)
               : NULL;
}

static Err *recalled_date(RequestWork *work, bool *is_changed)
{
    Json *loan = work->loan;
    const Json *policy = NULL;
    DueDateInput input = {.service_point_id = json_str(loan, "checkoutServicePointId"),
                          .now = work->req->now,
                          .is_changed_by_recall = json_flag(loan, "dueDateChangedByRecall", false)};
    Time due_at = 0;

    *is_changed = false;
    if (!json_time(loan, "dueDate", &input.current_due_at) ||
        !json_time(loan, "loanDate", &input.loan_date)) {
        return NULL;
    }
    TRY(loan_policy_by_id(work->tx, json_str(loan, "loanPolicyId"), &policy));
    input.policy = policy;
    TRY(due_date_recalled(work->tx, &input, &due_at));
    *is_changed = due_at != input.current_due_at;
    if (*is_changed) {
        json_set_time(loan, "dueDate", due_at);
        json_remove(loan, "reminders");
    }
    // An overdue loan keeps its date but counts as recalled from here on: fines and blocks of
    // recalled items apply.
    if (*is_changed || input.current_due_at < input.now) {
        json_set_bool(loan, "dueDateChangedByRecall", true);
    }
    return NULL;
}

static Err *loan_recall(RequestWork *work, const Json *stored)
{
    Json *loan = work->loan, *borrower = NULL, *extra = json_object();
    bool is_changed = false;

    TRY(recalled_date(work, &is_changed));
    loan_set_action(loan, "recallrequested", (Str){0});
    TRY(tx_change(work->tx, &loans, stored, loan));
    json_take(extra, "dueDate", loan, "dueDate");
    json_set_bool(extra, "dueDateChangedByRecall",
                  json_flag(loan, "dueDateChangedByRecall", false));
    TRY(emit_loan_event(work->tx, "LOAN_DUE_DATE_CHANGED", loan, extra));
    TRY(emit_loan_log(work->tx, "Recall requested", loan, work->item, (Str){0}));
    TRY(find_borrower(work, &borrower));
    NoticeParts notice = {
        .loan = loan, .item = work->item, .recipient = borrower, .now = work->req->now};
    TRY(notices_plan_due_date(work->tx, &notice, false));
    return is_changed ? notices_send(work->tx, &notice, "Item recalled") : NULL;
}

Err *request_touch_loan(RequestWork *work)
{
    if (!work->loan || !work->item || !request_is_open(work->request)) {
        return NULL;
    }
    const Json *stored = json_copy(work->loan);
    json_set_str_if(work->loan, "itemStatus", work->item->status);
    if (request_is_of_type(work->request, "Recall")) {
        return loan_recall(work, stored);
    }
    if (!request_is_of_type(work->request, "Hold")) {
        return NULL;
    }
    loan_set_action(work->loan, "holdrequested", (Str){0});
    return tx_change(work->tx, &loans, stored, work->loan);
}

// --- who is told

Err *request_plan_notices(RequestWork *work)
{
    NoticeParts notice = {.request = work->request,
                          .item = work->item,
                          .recipient = work->requester,
                          .now = work->req->now};

    return notices_plan_request(work->tx, &notice);
}

Err *request_send_notice(RequestWork *work, const char *event)
{
    Docs relations = {0};
    NoticeParts notice = {.request = work->request,
                          .item = work->item,
                          .recipient = work->requester,
                          .now = work->req->now};

    if (work->proxy) {
        TRY(tx_where(work->tx, &proxies, "user_id = $1 and proxy_user_id = $2",
                     ARGS(A_TEXT(json_str(work->request, "requesterId")),
                          A_TEXT(json_str(work->request, "proxyUserId"))),
                     &relations));
    }
    if (relations.len && str_eq(json_str(relations.at[0], "notificationsTo"), S("Proxy"))) {
        notice.recipient = work->proxy;
    }
    return notices_send(work->tx, &notice, event);
}

Err *request_log(Tx *tx, const char *type, const Json *old, const Json *request)
{
    Json *payload = json_object();

    if (old) {
        json_set(payload, "requests.original", json_copy(old));
    }
    json_set(payload, old ? "requests.updated" : "requests.created", json_copy(request));
    return emit_log_record(tx, type, payload);
}
