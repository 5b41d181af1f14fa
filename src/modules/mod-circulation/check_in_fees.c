// Money matters of an item that comes back: fees of lost items, the overdue fine.
// Source: spec/fees-fines.md 3, 4.3.
#include "modules/mod-circulation/check_in.h"

#include "modules/mod-circulation/closed_days.h"
#include "modules/mod-circulation/loans.h"
#include "modules/mod-feesfines/feesfines.h"

static bool is_lost_status(Str status)
{
    return str_eq(status, S("Declared lost")) || str_eq(status, S("Aged to lost")) ||
           str_eq(status, S("Lost and paid"));
}

static Err *lost_fees(const ReturnedItem *returned, bool *changed)
{
    Tx *tx = returned->req->tx;
    Json *last = NULL;
    const Json *loan = returned->loan, *policy = NULL;
    LostFeeRefund refund = {.now = returned->req->now,
                            .cancellation = "Cancelled item returned",
                            .service_point_id = returned->service_point_id};

    if (!loan) {
        TRY(loan_newest_of_item(tx, returned->item->id, &last));
        loan = last;
    }
    if (!loan) {
        return err_422(NO_CODE,
                       S("Item is lost however there is no aged to lost nor declared lost loan "
                         "found"),
                       P("itemId", returned->item->id));
    }
    if (!loan_lost_at(loan, &refund.lost_at)) {
        return err_422(NO_CODE,
                       S("Last loan for lost item is neither aged to lost nor declared lost"),
                       P("loanId", json_str(loan, "id")));
    }
    TRY(lost_item_fee_policy_by_id(tx, json_str(loan, "lostItemPolicyId"), &policy));
    if (!policy) {
        return NULL;
    }
    refund.loan = loan;
    refund.policy = policy;
    TRY(staff_name(returned->req, &refund.source));
    return lost_fees_refund(tx, &refund, changed);
}

// A lost item is fined for its delay only where the lost policy says so; one that the library
// found on its own shelves never is.
static Err *may_be_fined(const ReturnedItem *returned, bool *out)
{
    const Json *policy = NULL;

    *out = !str_eq(returned->resolution, S("Found by library"));
    if (*out && is_lost_status(returned->prior_status)) {
        TRY(lost_item_fee_policy_by_id(returned->req->tx,
                                       json_str(returned->loan, "lostItemPolicyId"), &policy));
        *out = str_eq(json_str(policy, "lostItemReturned"), S("Charge"));
    }
    return NULL;
}

// Minutes that count: of the clock, or those in which the item's home was open.
static Err *overdue_minutes(const ReturnedItem *returned, const Json *policy, Time due_at,
                            int64_t *out)
{
    const Settings *settings = NULL;
    Str point = item_primary_service_point(returned->item);

    if (overdue_fine_counts_closed(policy) || str_is_empty(point)) {
        *out = (returned->returned_at - due_at) / MINUTE_MS;
        return NULL;
    }
    TRY(settings_read(returned->req->tx, &settings));
    return open_minutes_between(returned->req->tx, point, settings->zone, due_at,
                                returned->returned_at, out);
}

static Err *grace_minutes(const ReturnedItem *returned, const Json *policy, bool is_recalled,
                          int64_t *out)
{
    Period grace = {0};
    bool exists = false;

    *out = 0;
    if (is_recalled && json_flag(policy, "gracePeriodRecall", false)) {
        return NULL; // recalled loans get none by this policy
    }
    TRY(loan_grace_period(returned->req->tx, json_str(returned->loan, "loanPolicyId"), is_recalled,
                          &grace, &exists));
    *out = exists ? period_ms(grace) / MINUTE_MS : 0;
    return NULL;
}

static Err *fine_charge(const ReturnedItem *returned, Money amount, bool *changed)
{
    Tx *tx = returned->req->tx;
    const Json *owner = NULL;
    Json *account = NULL;
    const ItemView *item = returned->item;
    FeeCharge charge = {.type_id = FEE_OVERDUE,
                        .amount = amount,
                        .loan = returned->loan,
                        .item = item->item,
                        .instance = item->instance,
                        .location = json_str(item->location, "name"),
                        .material_type = json_str(item->material_type, "name"),
                        .service_point_id = returned->service_point_id};

    TRY(fee_owner_of_service_point(tx, item_primary_service_point(item), &owner));
    if (!owner) {
        return NULL;
    }
    charge.owner_id = json_str(owner, "id");
    TRY(staff_name(returned->req, &charge.source));
    *changed = true;
    return fee_charge(tx, &charge, &account);
}

Err *returned_item_charge_overdue(const ReturnedItem *returned, bool *changed)
{
    const Json *policy = NULL;
    Time due_at = 0;
    bool may_be = false;
    OverdueFine fine = {0};

    if (!json_has(returned->loan, "userId") || !json_time(returned->loan, "dueDate", &due_at) ||
        returned->returned_at - due_at < MINUTE_MS) {
        return NULL;
    }
    TRY(overdue_fine_policy_by_id(returned->req->tx,
                                  json_str(returned->loan, "overdueFinePolicyId"), &policy));
    if (!policy) {
        return NULL;
    }
    TRY(may_be_fined(returned, &may_be));
    if (!may_be) {
        return NULL;
    }
    fine.policy = policy;
    fine.is_recalled = json_flag(returned->loan, "dueDateChangedByRecall", false);
    TRY(overdue_minutes(returned, policy, due_at, &fine.overdue_minutes));
    TRY(grace_minutes(returned, policy, fine.is_recalled, &fine.grace_minutes));
    Money amount = overdue_fine_amount(&fine);
    return amount > 0 ? fine_charge(returned, amount, changed) : NULL;
}

Err *returned_item_settle_fees(const ReturnedItem *returned, bool *changed)
{
    *changed = false;
    if (is_lost_status(returned->prior_status)) {
        TRY(lost_fees(returned, changed));
    }
    return returned->loan ? returned_item_charge_overdue(returned, changed) : NULL;
}
