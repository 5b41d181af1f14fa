// What happens to a loan besides renewal and return: claimed returned, lost, another due date,
// infos. FOLIO: mod-circulation, POST /circulation/loans/{id}/... Source: spec/circulation.md 6.3
// - 6.7.
#include "modules/mod-circulation/loans.h"

static Err *begin(Req *req, LoanWork *work, Json **body)
{
    *work = (LoanWork){.req = req, .tx = req->tx};
    return req_body_object(req, body);
}

static Err *item_refusal(const LoanWork *work, Str text)
{
    return err_422(NO_CODE, text, P("itemId", json_str(work->loan, "itemId")));
}

static Str item_status(const LoanWork *work)
{
    return work->item ? work->item->status : json_str(work->loan, "itemStatus");
}

static void set_item_status(LoanWork *work, Str status)
{
    if (work->item) {
        item_set_status(work->item, status);
    }
}

static bool is_lost_or_claimed(Str status)
{
    return str_eq(status, S("Declared lost")) || str_eq(status, S("Claimed returned")) ||
           str_eq(status, S("Aged to lost"));
}

// --- claimed returned

Err *loan_claim_returned(Req *req)
{
    LoanWork work;
    Json *body = NULL;
    Time claimed_at = 0;

    TRY(begin(req, &work, &body));
    if (!json_time(body, "itemClaimedReturnedDateTime", &claimed_at)) {
        return err_422(NO_CODE, S("Item claimed returned date is a required field"),
                       P_NULL("itemClaimedReturnedDateTime"));
    }
    TRY(loan_work_open(&work, req_param(req, 0)));
    TRY(loan_must_be_open(work.loan));
    loan_set_action(work.loan, "claimedReturned", json_str(body, "comment"));
    json_set_time(work.loan, "claimedReturnedDate", claimed_at);
    set_item_status(&work, S("Claimed returned"));
    TRY(loan_work_save(&work));
    TRY(emit_loan_event(work.tx, "ITEM_CLAIMED_RETURNED", work.loan, NULL));
    TRY(emit_loan_log(work.tx, "Claimed returned", work.loan, work.item, (Str){0}));
    return reply_empty(req, 204);
}

Err *loan_claimed_missing(Req *req)
{
    LoanWork work;
    Json *body = NULL;

    TRY(begin(req, &work, &body));
    Str comment = json_str(body, "comment");
    if (str_is_empty(str_trim(comment))) {
        return err_422(NO_CODE, S("Comment is a required field"), P_NULL("comment"));
    }
    TRY(loan_work_open(&work, req_param(req, 0)));
    TRY(loan_must_be_open(work.loan));
    if (!str_eq(item_status(&work), S("Claimed returned"))) {
        return item_refusal(&work, S("Item is not Claimed returned"));
    }
    loan_close_without_return(&work, "markedMissing", comment);
    set_item_status(&work, S("Missing"));
    TRY(loan_work_save(&work));
    TRY(lost_loan_give_back(&work, (Str){0}, "Cancelled as error"));
    TRY(loan_note_add(&work, "Claimed returned item marked missing"));
    TRY(loan_closed_announce(&work));
    TRY(emit_loan_log(work.tx, "Marked as missing", work.loan, work.item, (Str){0}));
    return reply_empty(req, 204);
}

// --- declared lost

// A loss that costs nothing closes the loan at once. Its history keeps both steps, the first one
// a moment earlier, so that they stand in order.
static Err *close_uncharged(LoanWork *work)
{
    Json *row = json_object();

    json_set_str_if(work->loan, "itemStatus", item_status(work));
    json_set_str(row, "operation", S("U"));
    json_set_time(row, "createdDate", tx_now(work->tx) - 1);
    json_set(row, "loan", json_copy(work->loan));
    TRY(tx_insert(work->tx, &loan_history, row));
    loan_close_without_return(work, "closedLoan", (Str){0});
    set_item_status(work, S("Lost and paid"));
    TRY(loan_work_save(work));
    TRY(loan_closed_announce(work));
    return emit_loan_log(work->tx, "Closed loan", work->loan, work->item, (Str){0});
}

static Err *declare(LoanWork *work, const Json *body, LostCharge *charge)
{
    Str before = item_status(work);

    if (str_eq(before, S("Declared lost"))) {
        return item_refusal(work, S("The item is already declared lost"));
    }
    TRY(lost_charge_prepare(charge));
    if (str_eq(before, S("Aged to lost"))) {
        TRY(lost_loan_give_back(work, charge->service_point_id, "Cancelled item declared lost"));
        json_remove(work->loan, "agedToLostDelayedBilling");
    }
    loan_set_action(work->loan, "declaredLost", json_str(body, "comment"));
    json_set_time(work->loan, "declaredLostDate", charge->lost_at);
    set_item_status(work, S("Declared lost"));
    if (str_eq(before, S("Claimed returned"))) {
        TRY(loan_note_add(work, "Claimed returned item marked declared lost"));
    }
    TRY(emit_loan_event(work->tx, "ITEM_DECLARED_LOST", work->loan, NULL));
    TRY(emit_loan_log(work->tx, "Declared lost", work->loan, work->item, (Str){0}));
    if (!charge->owner) {
        return close_uncharged(work);
    }
    TRY(loan_work_save(work));
    return lost_charge_perform(charge);
}

Err *loan_declare_lost(Req *req)
{
    LoanWork work;
    Json *body = NULL;
    LostCharge charge = {.work = &work, .loss_type = "Declared lost", .lost_at = req->now};

    TRY(begin(req, &work, &body));
    charge.service_point_id = str_lower(json_str(body, "servicePointId"));
    if (str_is_empty(charge.service_point_id)) {
        return err_422(NO_CODE, S("A service point is required for item to be declared lost"),
                       P_NULL("servicePointId"));
    }
    (void)json_time(body, "declaredLostDateTime", &charge.lost_at);
    TRY(loan_work_open(&work, req_param(req, 0)));
    TRY(loan_must_be_open(work.loan));
    TRY(declare(&work, body, &charge));
    return reply_empty(req, 204);
}

// --- another due date

Err *loan_change_due_date(Req *req)
{
    LoanWork work;
    Json *body = NULL;
    Time due_at = 0;

    TRY(begin(req, &work, &body));
    if (!json_time(body, "dueDate", &due_at)) {
        return err_422(NO_CODE, S("A new due date is required in order to change the due date"),
                       P_NULL("dueDate"));
    }
    TRY(loan_work_open(&work, req_param(req, 0)));
    TRY(loan_must_be_open(work.loan));
    if (is_lost_or_claimed(item_status(&work))) {
        return item_refusal(&work, str_fmt("item is " STR_FMT, STR_ARG(item_status(&work))));
    }
    loan_set_action(work.loan, "dueDateChanged", (Str){0});
    json_set_time(work.loan, "dueDate", due_at);
    json_remove(work.loan, "reminders");
    TRY(loan_forget_recall(&work));
    TRY(loan_work_save(&work));
    TRY(loan_due_date_announce(&work));
    TRY(emit_loan_log(work.tx, "Changed due date", work.loan, work.item, (Str){0}));
    NoticeParts notice = {
        .loan = work.loan, .item = work.item, .recipient = work.patron, .now = req->now};
    TRY(notices_send(work.tx, &notice, "Manual due date change"));
    return reply_empty(req, 204);
}

// --- infos

Err *loan_add_info(Req *req)
{
    LoanWork work;
    Json *body = NULL;

    TRY(begin(req, &work, &body));
    Str action = json_str(body, "action"), comment = json_str(body, "actionComment");
    bool for_patron = str_eq(action, S("patronInfoAdded"));
    if ((!for_patron && !str_eq(action, S("staffInfoAdded"))) || str_is_empty(str_trim(comment))) {
        return err_422(NO_CODE,
                       S("An action of type patronInfoAdded or staffInfoAdded, with associated "
                         "actionComment, required in order to add info"),
                       P_NULL("action"));
    }
    TRY(loan_work_open(&work, req_param(req, 0)));
    loan_set_action(work.loan, str_z(action), comment);
    TRY(loan_work_save(&work));
    TRY(emit_loan_log(work.tx, for_patron ? "Patron info added" : "Staff info added", work.loan,
                      work.item, (Str){0}));
    return reply_empty(req, 204);
}
