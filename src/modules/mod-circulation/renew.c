// Renewing a loan, by the rules or over them.
// FOLIO: mod-circulation, POST /circulation/renew-by-barcode, renew-by-id. Source:
// spec/circulation.md 6.1, 6.2, 7.3.
#include "modules/mod-circulation/loans.h"

#include "modules/mod-circulation/check_in.h"
#include "modules/mod-feesfines/feesfines.h"
#include "modules/mod-users/users.h"

#define DUE_DATE_BLOCK "renewalDueDateRequiredBlock"
#define RENEWAL_BLOCK  "renewalBlock"

// How the two routes name what they ask for.
typedef struct {
    const char *item_key, *item_what, *item_code;
    const char *user_key, *user_what, *user_code;
    bool is_by_barcode;
} Form;

static const Form by_barcode = {
    "itemBarcode", "an item barcode", "RENEWAL_REQUEST_ITEM_BARCODE_REQUIRED",
    "userBarcode", "a user barcode",  "RENEWAL_REQUEST_USER_BARCODE_REQUIRED",
    true};
static const Form by_id = {"itemId", "an item ID", "", "userId", "a user ID", "", false};

typedef struct {
    LoanWork loan;
    const Form *form;
    Str item_key, user_key; // as sent
    Str service_point_id;
    Overrides overrides;
    RuleMatch rules;
    const Json *policy; // loan policy
    const Json *recall; // open for this item, or NULL
    bool has_hold;      // the first request for this item is a hold
    Time due_at;        // the present one
    DueDate next;       // the new one
    Err *refusals;
} Renewal;

static void refuse(Renewal *renewal, Err *err)
{
    renewal->refusals = err_join(renewal->refusals, err);
}

static const Req *req_of(const Renewal *renewal)
{
    return renewal->loan.req;
}

// --- the request

static Err *must_be_given(Str value, const char *what, const char *key, const char *code)
{
    if (value.len) {
        return NULL;
    }
    return err_422(str_of(code), str_fmt("Renewal request must have %s", what), P_NULL(key));
}

static Err *read_body(Renewal *renewal)
{
    const Form *form = renewal->form;
    Json *body = NULL;

    TRY(req_body_object(renewal->loan.req, &body));
    renewal->item_key = json_str(body, form->item_key);
    renewal->user_key = json_str(body, form->user_key);
    renewal->service_point_id = str_lower(json_str(body, "servicePointId"));
    overrides_read(body, "overrideBlocks", &renewal->overrides);
    TRY(must_be_given(renewal->item_key, form->item_what, form->item_key, form->item_code));
    return must_be_given(renewal->user_key, form->user_what, form->user_key, form->user_code);
}

static Err *find_item(Renewal *renewal)
{
    LoanWork *work = &renewal->loan;
    Str key = renewal->item_key;

    if (renewal->form->is_by_barcode) {
        TRY(item_view_by_barcode(work->tx, key, &work->item));
    } else if (uuid_is_uuid_shaped(key)) {
        TRY(item_view_by_id(work->tx, str_lower(key), &work->item));
    }
    if (work->item) {
        return NULL;
    }
    return err_422(renewal->form->is_by_barcode ? S("ITEM_BARCODE_NOT_FOUND") : NO_CODE,
                   str_fmt("No item with %s " STR_FMT " exists",
                           renewal->form->is_by_barcode ? "barcode" : "ID", STR_ARG(key)),
                   P(renewal->form->item_key, key));
}

static Err *find_user(Renewal *renewal)
{
    LoanWork *work = &renewal->loan;
    Str key = renewal->user_key;

    TRY(renewal->form->is_by_barcode ? user_by_barcode(work->tx, key, &work->patron)
                                     : user_by_id(work->tx, key, &work->patron));
    return work->patron ? NULL
                        : err_422(S("USER_NOT_FOUND"), S("user is not found"),
                                  P(renewal->form->user_key, key));
}

static Err *find_loan(Renewal *renewal)
{
    LoanWork *work = &renewal->loan;

    TRY(find_item(renewal));
    TRY(loan_open_of_item(work->tx, work->item->id, &work->loan));
    if (!work->loan) {
        return err_422(NO_CODE, str_fmt("No open loan for item " STR_FMT, STR_ARG(work->item->id)),
                       P(renewal->form->item_key, renewal->item_key));
    }
    work->stored = json_copy(work->loan);
    TRY(find_user(renewal));
    if (!str_eq(json_str(work->loan, "userId"), json_str(work->patron, "id"))) {
        return err_422(S("ITEM_CHECKED_OUT_TO_DIFFERENT_USER"),
                       S("Cannot renew item checked out to different user"),
                       P(renewal->form->user_key, renewal->user_key));
    }
    return NULL;
}

// --- what the rules and the queue say

// The request that this item would serve next, those bound to other copies left out.
static bool first_is_hold(const Queue *queue, const ItemView *item)
{
    for (size_t i = 0; i < queue->len; i++) {
        const Json *request = queue->at[i];
        if (!json_has(request, "itemId") || str_eq(json_str(request, "itemId"), item->id)) {
            return str_eq(json_str(request, "requestType"), S("Hold"));
        }
    }
    return false;
}

static Err *find_state(Renewal *renewal)
{
    LoanWork *work = &renewal->loan;

    TRY(rules_match_item(work->tx, work->item, work->patron, &renewal->rules));
    TRY(loan_policy_by_id(work->tx, renewal->rules.policy_ids[POLICY_LOAN], &renewal->policy));
    TRY(loan_work_read_queue(work));
    renewal->recall = queue_recall_of(work->queue, work->item);
    renewal->has_hold = first_is_hold(work->queue, work->item);
    (void)json_time(work->loan, "dueDate", &renewal->due_at);
    return NULL;
}

static DueDateInput due_date_input(const Renewal *renewal)
{
    const LoanWork *work = &renewal->loan;
    DueDateInput input = {.policy = renewal->policy,
                          .patron = work->patron,
                          .service_point_id = json_str(work->loan, "checkoutServicePointId"),
                          .now = work->req->now,
                          .has_pending_hold = renewal->has_hold,
                          .current_due_at = renewal->due_at};

    (void)json_time(work->loan, "loanDate", &input.loan_date);
    return input;
}

// --- refusals that concern the patron

static Err *check_patron(Renewal *renewal)
{
    const LoanWork *work = &renewal->loan;
    Err *blocks = NULL;

    if (!json_has(work->patron, "active")) {
        refuse(renewal, err_422(S("USER_STATUS_CANNOT_BE_DETERMINED"),
                                S("Cannot determine if user is active."),
                                P(renewal->form->user_key, renewal->user_key)));
    } else if (!patron_is_active(work->patron, work->req->now)) {
        refuse(renewal, err_422(S("USER_IS_INACTIVE_OR_EXPIRED"),
                                S("Cannot renew loan when user is inactive or expired"),
                                P("reason", S("User is inactive."))));
    }
    if (renewal->overrides.patron) {
        refuse(renewal, override_permission_check(work->req, "patronBlock", OVERRIDE_PATRON_BLOCK));
        return NULL;
    }
    TRY(patron_blocks(work->req, work->patron, BLOCK_RENEWALS, &blocks));
    refuse(renewal, blocks);
    return NULL;
}

static Err *check_reminders(Renewal *renewal)
{
    const Json *policy = NULL;
    const LoanWork *work = &renewal->loan;
    Str id = json_str(work->loan, "overdueFinePolicyId");

    if (!json_has(work->loan, "reminders.lastFeeBilled") || !uuid_is_uuid_shaped(id)) {
        return NULL;
    }
    TRY(overdue_fine_policy_by_id(work->tx, id, &policy));
    if (json_get(policy, "reminderFeesPolicy") &&
        !json_flag(policy, "reminderFeesPolicy.allowRenewalOfItemsWithReminderFees", true)) {
        Err *err = err_422(S("RENEWAL_BLOCKED_BY_REMINDER_FEES"),
                           S("Renewals not allowed for loans with reminders."),
                           P("loanId", json_str(work->loan, "id")));
        refuse(renewal, err_overridable(work->req, err, RENEWAL_BLOCK, OVERRIDE_RENEWAL));
    }
    return NULL;
}

// --- refusals by policy and state (6.1 step 11)

static Err *policy_error(const Renewal *renewal, const char *message, const char *code)
{
    return err_422(str_of(code), str_of(message),
                   P("loanPolicyId", json_str(renewal->policy, "id")),
                   P("loanPolicyName", json_str(renewal->policy, "name")));
}

static void refuse_by_policy(Renewal *renewal, const char *message, const char *code,
                             const char *block)
{
    refuse(renewal, err_overridable(req_of(renewal), policy_error(renewal, message, code), block,
                                    OVERRIDE_RENEWAL));
}

static bool limit_is_reached(const Renewal *renewal)
{
    return json_flag(renewal->policy, "renewable", false) &&
           !json_flag(renewal->policy, "renewalsPolicy.unlimited", false) &&
           json_int(renewal->loan.loan, "renewalCount", 0) >=
               json_int(renewal->policy, "renewalsPolicy.numberAllowed", 0);
}

static bool is_lost(const Renewal *renewal)
{
    Str status = renewal->loan.item->status;

    return str_eq(status, S("Declared lost")) || str_eq(status, S("Aged to lost"));
}

static void check_recall(Renewal *renewal)
{
    if (renewal->recall) {
        Err *err = err_422(S("RENEWAL_BLOCKED_BY_RECALL"),
                           S("items cannot be renewed when there is an active recall request"),
                           P("requestId", json_str(renewal->recall, "id")));
        refuse(renewal, err_overridable(req_of(renewal), err, RENEWAL_BLOCK, OVERRIDE_RENEWAL));
    }
}

static void check_lost(Renewal *renewal)
{
    const ItemView *item = renewal->loan.item;

    if (is_lost(renewal)) {
        bool is_declared = str_eq(item->status, S("Declared lost"));
        Err *err =
            err_422(is_declared ? S("ITEM_DECLARED_LOST_NOT_RENEWABLE")
                                : S("ITEM_AGED_TO_LOST_NOT_RENEWABLE"),
                    str_fmt("item is " STR_FMT, STR_ARG(item->status)), P("itemId", item->id));
        refuse(renewal, err_overridable(req_of(renewal), err, RENEWAL_BLOCK, OVERRIDE_RENEWAL));
    }
}

static void check_hold(Renewal *renewal)
{
    const Json *policy = renewal->policy;

    if (!renewal->has_hold) {
        return;
    }
    if (!json_flag(policy, "requestManagement.holds.renewItemsWithRequest", false)) {
        refuse_by_policy(renewal,
                         "Items with this loan policy cannot be renewed when there is an active, "
                         "pending hold request",
                         "RENEWAL_BLOCKED_BY_HOLD_REQUEST", DUE_DATE_BLOCK);
        return;
    }
    if (!loan_policy_is_fixed(policy)) {
        return;
    }
    if (json_has(policy, "requestManagement.holds.alternateRenewalLoanPeriod")) {
        refuse_by_policy(renewal,
                         "Item's loan policy has fixed profile but alternative renewal period for "
                         "holds is specified",
                         "FIXED_LOAN_POLICY_HAS_ALTERNATE_RENEWAL_PERIOD_FOR_HOLDS",
                         DUE_DATE_BLOCK);
    } else if (json_flag(policy, "renewalsPolicy.differentPeriod", false) &&
               json_has(policy, "renewalsPolicy.period")) {
        refuse_by_policy(renewal,
                         "Item's loan policy has fixed profile but renewal period is specified",
                         "FIXED_LOAN_POLICY_HAS_RENEWAL_PERIOD", DUE_DATE_BLOCK);
    }
}

// The new date; what makes it impossible is one more refusal.
static Err *check_due_date(Renewal *renewal)
{
    DueDateInput input = due_date_input(renewal);
    Err *err = due_date_at_renewal(renewal->loan.tx, &input, &renewal->next);

    if (err && err->status != 422) {
        return err;
    }
    if (err) {
        refuse(renewal, err_overridable(req_of(renewal), err, DUE_DATE_BLOCK, OVERRIDE_RENEWAL));
    } else if (renewal->next.at <= renewal->due_at) {
        refuse_by_policy(renewal, "renewal would not change the due date",
                         "RENEWAL_WOULD_NOT_CHANGE_DUE_DATE", DUE_DATE_BLOCK);
    }
    return NULL;
}

static Err *check_by_rules(Renewal *renewal)
{
    const Json *policy = renewal->policy;
    const ItemView *item = renewal->loan.item;
    bool is_loanable = json_flag(policy, "loanable", false);

    TRY(check_reminders(renewal));
    if (!is_loanable) {
        refuse_by_policy(renewal, "item is not loanable", "ITEM_NOT_LOANABLE", DUE_DATE_BLOCK);
    }
    check_recall(renewal);
    check_lost(renewal);
    if (limit_is_reached(renewal)) {
        refuse_by_policy(renewal, "loan at maximum renewal number", "LOAN_RENEWAL_LIMIT_REACHED",
                         RENEWAL_BLOCK);
    }
    if (!json_flag(policy, "renewable", false)) {
        refuse_by_policy(renewal, "loan is not renewable", "LOAN_NOT_RENEWABLE", DUE_DATE_BLOCK);
    }
    check_hold(renewal);
    if (str_eq(item->status, S("Claimed returned"))) {
        refuse(renewal, err_422(S("ITEM_CLAIMED_RETURNED_NOT_RENEWABLE"),
                                S("item is Claimed returned"), P("itemId", item->id)));
    }
    return is_loanable ? check_due_date(renewal) : NULL;
}

// --- over the rules (6.2)

static Err *date_is_needed(const char *message, const char *code)
{
    return err_422(str_of(code), str_of(message), P("dueDate", S("null")));
}

static Err *unchanged(const Renewal *renewal)
{
    return policy_error(renewal, "renewal would not change the due date",
                        "RENEWAL_WOULD_NOT_CHANGE_DUE_DATE");
}

static Err *nothing_to_override(const Renewal *renewal)
{
    return policy_error(
        renewal,
        "Override renewal does not match any of expected cases: item is not loanable, item is not "
        "renewable, reached number of renewals limit,renewal date falls outside of the date ranges "
        "in the loan policy, items cannot be renewed when there is an active recall request, item "
        "is Declared lost, item is Aged to lost, renewal would not change the due date, loan has "
        "reminder fees",
        "OVERRIDE_RENEWAL_NOT_ALLOWED_FOR_CURRENT_LOAN");
}

// The date of the policy, holds and closed days aside; the staff's where it leads nowhere.
static Err *choose_overridden_date(Renewal *renewal, bool has_given, Time given)
{
    const Json *policy = renewal->policy;
    DueDateInput input = due_date_input(renewal);
    Time proposed = 0;
    Err *err = NULL;

    if (json_flag(policy, "loanable", false) && json_flag(policy, "renewable", false)) {
        err = due_date_of_renewal_raw(renewal->loan.tx, &input, &proposed);
        if (err && err->status != 422) {
            return err;
        }
        if (!err && proposed <= renewal->due_at && !has_given) {
            return date_is_needed("New due date is required when renewal would not change the due "
                                  "date",
                                  "OVERRIDE_RENEWAL_DUE_DATE_REQUIRED_WHEN_DUE_DATE_UNCHANGED");
        }
        if (!err && proposed > renewal->due_at && !limit_is_reached(renewal) && !renewal->recall &&
            !is_lost(renewal) && !json_has(renewal->loan.loan, "reminders")) {
            return nothing_to_override(renewal);
        }
        if (!err) {
            renewal->next.at = proposed > renewal->due_at ? proposed : given;
            return renewal->next.at > renewal->due_at ? NULL : unchanged(renewal);
        }
    }
    if (!has_given) {
        return date_is_needed("New due date must be specified when due date calculation fails",
                              "OVERRIDE_RENEWAL_DUE_DATE_REQUIRED");
    }
    renewal->next.at = given;
    return given > renewal->due_at ? NULL : unchanged(renewal);
}

static Err *check_override(Renewal *renewal)
{
    const char *block = renewal->overrides.renewal ? RENEWAL_BLOCK : DUE_DATE_BLOCK;
    const Json *date = json_get(renewal->overrides.blocks, DUE_DATE_BLOCK ".dueDate");
    Time given = 0;
    bool has_given = date && time_parse(json_scalar_text(date), &given);

    refuse(renewal, override_permission_check(req_of(renewal), block, OVERRIDE_RENEWAL));
    if (str_is_empty(str_trim(renewal->overrides.comment))) {
        refuse(renewal,
               err_422(S("OVERRIDE_RENEWAL_COMMENT_REQUIRED"),
                       S("Override renewal request must have a comment"), P_NULL("comment")));
    }
    if (str_eq(renewal->loan.item->status, S("Claimed returned"))) {
        refuse(renewal,
               err_422(S("ITEM_CLAIMED_RETURNED_NOT_RENEWABLE"), S("item is Claimed returned"),
                       P("itemId", renewal->loan.item->id)));
    }
    return renewal->refusals ? NULL : choose_overridden_date(renewal, has_given, given);
}

// --- effects

static void set_policy_id(Json *loan, const char *member, Str id)
{
    if (uuid_is_uuid_shaped(id)) {
        json_set_str(loan, member, str_lower(id));
    }
}

static Err *lost_item_found(Renewal *renewal)
{
    LoanWork *work = &renewal->loan;
    bool was_lost = is_lost(renewal);

    item_set_status(work->item, S("Checked out"));
    if (json_has(work->loan, "agedToLostDelayedBilling")) {
        json_remove(work->loan, "agedToLostDelayedBilling.lostItemHasBeenBilled");
        json_remove(work->loan, "agedToLostDelayedBilling.dateLostItemShouldBeBilled");
    }
    return was_lost ? lost_loan_give_back(work, renewal->service_point_id, "Cancelled item renewed")
                    : NULL;
}

static Err *extend(Renewal *renewal, bool is_override)
{
    LoanWork *work = &renewal->loan;
    Json *loan = work->loan;

    set_policy_id(loan, "loanPolicyId", renewal->rules.policy_ids[POLICY_LOAN]);
    set_policy_id(loan, "overdueFinePolicyId", renewal->rules.policy_ids[POLICY_OVERDUE]);
    set_policy_id(loan, "lostItemPolicyId", renewal->rules.policy_ids[POLICY_LOST]);
    json_set_time(loan, "dueDate", renewal->next.at);
    json_remove(loan, "dueDateChangedByNearExpireUser");
    if (renewal->next.is_cut_by_patron_expiry) {
        json_set_bool(loan, "dueDateChangedByNearExpireUser", true);
    }
    loan_set_action(loan, is_override ? "renewedThroughOverride" : "renewed",
                    is_override ? renewal->overrides.comment : (Str){0});
    json_set_int(loan, "renewalCount", json_int(loan, "renewalCount", 0) + 1);
    json_remove(loan, "reminders");
    if (!renewal->recall) {
        json_remove(loan, "dueDateChangedByRecall");
    }
    if (renewal->overrides.renewal || renewal->overrides.renewal_due_date) {
        TRY(lost_item_found(renewal));
    }
    return loan_work_save(work);
}

// For the time that the loan was overdue before it was renewed.
static Err *charge_overdue(const Renewal *renewal, bool *changed)
{
    const LoanWork *work = &renewal->loan;
    const Json *policy = NULL;
    Str id = json_str(work->stored, "overdueFinePolicyId");
    ReturnedItem returned = {.req = work->req,
                             .loan = work->stored,
                             .item = work->item,
                             .service_point_id = renewal->service_point_id,
                             .returned_at = work->req->now};

    if (renewal->due_at >= work->req->now || !uuid_is_uuid_shaped(id)) {
        return NULL;
    }
    TRY(overdue_fine_policy_by_id(work->tx, id, &policy));
    return policy && !overdue_fine_is_forgiven_at_renewal(policy)
               ? returned_item_charge_overdue(&returned, changed)
               : NULL;
}

static Err *tell_others(Renewal *renewal, bool is_override)
{
    LoanWork *work = &renewal->loan;
    NoticeParts notice = {
        .loan = work->loan, .item = work->item, .recipient = work->patron, .now = work->req->now};

    TRY(loan_due_date_announce(work));
    TRY(emit_loan_log(work->tx, is_override ? "Renewed through override" : "Renewed", work->loan,
                      work->item, (Str){0}));
    return notices_send(work->tx, &notice, "Renewed");
}

static Err *renew(Req *req, const Form *form)
{
    Renewal renewal = {.loan = {.req = req, .tx = req->tx}, .form = form};
    Json *shown = NULL;
    bool has_charged = false;

    TRY(read_body(&renewal));
    TRY(find_loan(&renewal));
    TRY(find_state(&renewal));
    TRY(check_patron(&renewal));
    if (renewal.overrides.renewal || renewal.overrides.renewal_due_date) {
        TRY(check_override(&renewal));
    } else {
        TRY(check_by_rules(&renewal));
    }
    TRY(renewal.refusals);
    bool is_override = overrides_any(&renewal.overrides);
    TRY(extend(&renewal, is_override));
    TRY(charge_overdue(&renewal, &has_charged));
    TRY(tell_others(&renewal, is_override));
    LoanParts parts = {.item = renewal.loan.item, .patron = renewal.loan.patron};
    Time due_at = 0;
    TRY(loan_representation(req->tx, renewal.loan.loan, &parts, &shown));
    // FOLIO answers with the date as its circulation wrote it, not as storage shows it.
    if (json_time(shown, "dueDate", &due_at)) {
        json_set_str(shown, "dueDate", time_format_z(due_at));
    }
    reply_header(req, "Location",
                 str_fmt("/circulation/loans/" STR_FMT, STR_ARG(json_str(shown, "id"))));
    return reply_json(req, 200, shown);
}

Err *renew_by_barcode(Req *req)
{
    return renew(req, &by_barcode);
}

Err *renew_by_id(Req *req)
{
    return renew(req, &by_id);
}
