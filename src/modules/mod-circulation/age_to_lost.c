// Overdue items age to lost, are billed later, and are settled when everything is paid.
// Source: spec/circulation.md 15, 17. Each loan is a transaction of its own: a broken one is logged
// and left out, the others go on.
#include "modules/mod-circulation/loans.h"

#include "modules/mod-feesfines/feesfines.h"

#include <stdio.h>

enum {
    PAGE = 100,
};

typedef struct {
    Str loan_id;
    Time now;
} OneLoan;

typedef Err *(*LoanStep)(Tx *tx, void *one_loan);

// A request by nobody: what use cases ask of their caller.
static LoanWork work_of(Tx *tx, Req *req, Time now)
{
    *req = (Req){.tx = tx, .now = now, .arena = arena_current()};
    return (LoanWork){.req = req, .tx = tx};
}

static const char *policy_path(const Json *loan, const char *usual, const char *recalled)
{
    return json_flag(loan, "dueDateChangedByRecall", false) ? recalled : usual;
}

// The lost item fee policy of a loan, shared; NULL if there is none.
static Err *policy_of(Tx *tx, const Json *loan, const Json **out)
{
    Str id = json_str(loan, "lostItemPolicyId");

    *out = NULL;
    return uuid_is_uuid_shaped(id) ? lost_item_fee_policy_by_id(tx, id, out) : NULL;
}

// --- running over many loans

// Ids of the next loans for which a condition holds; $1 is the time, $2 the last id.
typedef Err *(*LoanFinder)(Tx *tx, Time now, Str after, Docs *out);

typedef struct {
    LoanFinder find;
    Time now;
    Str after;
    StrList ids;
} Page;

static Err *read_page(Tx *tx, void *context)
{
    Page *page = context;
    Docs docs = {0};

    TRY(page->find(tx, page->now, page->after, &docs));
    for (size_t i = 0; i < docs.len; i++) {
        str_list_add(&page->ids, json_str(docs.at[i], "id"));
    }
    return NULL;
}

static void step_one(Db *db, LoanStep step, OneLoan *one)
{
    TxOptions options = {.kind = WRITE, .is_batch = true, .now = one->now};
    Err *err = tx_run(db, &options, step, one);

    if (err) {
        log_line(LOG_WARN, "mod-circulation", "loan " STR_FMT " was left out: " STR_FMT,
                 STR_ARG(one->loan_id), STR_ARG(err->message));
    }
}

static Err *run_over(Db *db, Time now, LoanFinder find, LoanStep step)
{
    char after[36 + 1] = "";

    for (bool more = true; more;) {
        ArenaMark mark = arena_mark(arena_current());
        Page page = {.find = find, .now = now, .after = str_of(after)};
        TRY(tx_run(db, &(TxOptions){.kind = READ, .now = now}, read_page, &page));
        for (size_t i = 0; i < page.ids.len; i++) {
            step_one(db, step, &(OneLoan){page.ids.at[i], now});
        }
        more = page.ids.len == PAGE;
        if (more) {
            Str last = page.ids.at[PAGE - 1];
            snprintf(after, sizeof after, STR_FMT, STR_ARG(last));
        }
        arena_release(arena_current(), mark);
    }
    return NULL;
}

// --- ageing

static Err *find_overdue(Tx *tx, Time now, Str after, Docs *out)
{
    return tx_where(
        tx, &loans,
        "status = 'open' and due_at < $1 and id > $2 and coalesce(item_status, '') not in "
        "('aged to lost', 'claimed returned', 'declared lost') order by id limit 100",
        ARGS(A_INT(now), A_TEXT(after)), out);
}

static bool may_age(const ItemView *item)
{
    return item && !str_eq(item->status, S("Aged to lost")) &&
           !str_eq(item->status, S("Claimed returned")) &&
           !str_eq(item->status, S("Declared lost"));
}

static bool is_old_enough(const Json *loan, const Json *policy, Time now)
{
    const char *path = policy_path(loan, "itemAgedLostOverdue", "recalledItemAgedLostOverdue");
    Period period;
    Time due_at = 0;

    return period_at(policy, path, &period) && json_time(loan, "dueDate", &due_at) &&
           zone_add(zone_utc(), due_at, period) <= now;
}

static void set_billing(Json *loan, const Json *policy, Time now)
{
    const char *path =
        policy_path(loan, "patronBilledAfterAgedLost", "patronBilledAfterRecalledItemAgedLost");
    Period period;
    Time bill_at = now;

    if (period_at(policy, path, &period)) {
        bill_at = zone_add(zone_utc(), now, period);
    }
    json_set_bool(loan, "agedToLostDelayedBilling.lostItemHasBeenBilled", false);
    json_set_time(loan, "agedToLostDelayedBilling.dateLostItemShouldBeBilled", bill_at);
    json_set_time(loan, "agedToLostDelayedBilling.agedToLostDate", now);
}

static Err *age_one(Tx *tx, void *context)
{
    const OneLoan *one = context;
    const Json *policy = NULL;
    Req req;
    LoanWork work = work_of(tx, &req, one->now);

    TRY(tx_get_locked(tx, &loans, one->loan_id, &work.loan));
    TRY(policy_of(tx, work.loan, &policy));
    if (str_eq(json_str(work.loan, "status.name"), S("Closed")) ||
        !is_old_enough(work.loan, policy, one->now)) {
        return NULL;
    }
    work.stored = json_copy(work.loan);
    TRY(loan_work_read_parts(&work));
    if (!may_age(work.item)) {
        return NULL;
    }
    item_set_status(work.item, S("Aged to lost"));
    loan_set_action(work.loan, "itemAgedToLost", (Str){0});
    set_billing(work.loan, policy, one->now);
    TRY(loan_work_save(&work));
    NoticeParts notice = {
        .loan = work.loan, .item = work.item, .recipient = work.patron, .now = one->now};
    TRY(scheduled_notices_drop_of_loan(tx, one->loan_id, NULL));
    TRY(notices_send(tx, &notice, "Aged to lost"));
    TRY(emit_loan_event(tx, "ITEM_AGED_TO_LOST", work.loan, NULL));
    return emit_loan_log(tx, "Age to lost", work.loan, work.item, (Str){0});
}

Err *age_to_lost_run(Db *db, Time now)
{
    return run_over(db, now, find_overdue, age_one);
}

// --- billing

static Err *find_unbilled(Tx *tx, Time now, Str after, Docs *out)
{
    return tx_where(tx, &loans,
                    "status = 'open' and has_been_billed = 0 and bill_at <= $1 and id > $2 "
                    "order by id limit 100",
                    ARGS(A_INT(now), A_TEXT(after)), out);
}

static Err *close_settled(LoanWork *work)
{
    loan_close_without_return(work, "closedLoan", (Str){0});
    item_set_status(work->item, S("Lost and paid"));
    TRY(loan_work_save(work));
    TRY(loan_closed_announce(work));
    return emit_loan_log(work->tx, "Closed loan", work->loan, work->item, (Str){0});
}

static Err *bill_one(Tx *tx, void *context)
{
    const OneLoan *one = context;
    Req req;
    LoanWork work = work_of(tx, &req, one->now);
    LostCharge charge = {.work = &work, .loss_type = "Aged to lost"};

    TRY(loan_work_open(&work, one->loan_id));
    if (!work.item || !str_eq(work.item->status, S("Aged to lost"))) {
        return NULL;
    }
    (void)json_time(work.loan, "agedToLostDelayedBilling.agedToLostDate", &charge.lost_at);
    TRY(lost_charge_prepare(&charge));
    charge.source = S("System");
    json_set_bool(work.loan, "agedToLostDelayedBilling.lostItemHasBeenBilled", true);
    if (!charge.owner) { // the policy charges nothing
        return close_settled(&work);
    }
    TRY(lost_charge_perform(&charge));
    loan_set_action(work.loan, "", (Str){0});
    return loan_work_save(&work);
}

Err *lost_items_bill_run(Db *db, Time now)
{
    return run_over(db, now, find_unbilled, bill_one);
}

// --- settling

static bool is_lost_fee(const Json *account)
{
    static const char *const types[] = {FEE_LOST_ITEM, FEE_LOST_PROCESSING, FEE_LOST_ACTUAL};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (str_eq_z(json_str(account, "feeFineId"), types[i])) {
            return true;
        }
    }
    return false;
}

// Everything that the loss cost is paid, waived or cancelled, and staff owe no further bill.
static Err *is_settled(Tx *tx, Str loan_id, bool *out)
{
    Docs accounts_found = {0};
    int64_t open_costs = 0, costs = 0;

    *out = false;
    TRY(accounts_of_loan(tx, loan_id, &accounts_found));
    for (size_t i = 0; i < accounts_found.len; i++) {
        if (!is_lost_fee(accounts_found.at[i])) {
            continue;
        }
        if (!str_eq(json_str(accounts_found.at[i], "status.name"), S("Closed"))) {
            *out = false;
            return NULL;
        }
        *out = true;
    }
    TRY(tx_count_where(tx, &actual_cost_records, "loan_id = $1 and status = 'open'",
                       ARGS(A_TEXT(loan_id)), &open_costs));
    if (!*out) { // staff decided against a bill: nothing is owed
        TRY(tx_count_where(tx, &actual_cost_records, "loan_id = $1", ARGS(A_TEXT(loan_id)),
                           &costs));
    }
    *out = (*out || costs > 0) && open_costs == 0;
    return NULL;
}

static Err *settle(Tx *tx, Str loan_id, bool needs_fees)
{
    Req req;
    LoanWork work = work_of(tx, &req, tx_now(tx));
    bool settled = !needs_fees;

    if (!uuid_is_uuid_shaped(loan_id)) {
        return NULL;
    }
    TRY(tx_get_locked(tx, &loans, str_lower(loan_id), &work.loan));
    if (!work.loan || str_eq(json_str(work.loan, "status.name"), S("Closed"))) {
        return NULL;
    }
    work.stored = json_copy(work.loan);
    TRY(loan_work_read_parts(&work));
    if (!work.item || (!str_eq(work.item->status, S("Declared lost")) &&
                       !str_eq(work.item->status, S("Aged to lost")))) {
        return NULL;
    }
    if (needs_fees) {
        TRY(is_settled(tx, str_lower(loan_id), &settled));
    }
    return settled ? close_settled(&work) : NULL;
}

Err *loan_fees_closed(Tx *tx, const Event *events, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (str_eq(events[i].type, S("LOAN_RELATED_FEE_FINE_CLOSED"))) {
            TRY(settle(tx, events[i].key, true));
        }
    }
    return NULL;
}

Err *loan_fees_closed_post(Req *req)
{
    Json *body = NULL;

    TRY(req_body_object(req, &body));
    TRY(settle(req->tx, json_str(body, "loanId"), true));
    return reply_empty(req, 204);
}

// Balances are counted from the accounts themselves: there is nothing to note.
Err *fee_balance_changed_post(Req *req)
{
    return reply_empty(req, 204);
}

// --- what staff never billed

static Err *find_expired_costs(Tx *tx, Time now, Str after, Docs *out)
{
    return tx_where(tx, &actual_cost_records,
                    "status = 'open' and expires_at < $1 and id > $2 order by id limit 100",
                    ARGS(A_INT(now), A_TEXT(after)), out);
}

static Err *expire_cost(Tx *tx, void *context)
{
    const OneLoan *one = context;
    Json *record = NULL;
    Docs accounts_found = {0};

    TRY(tx_get_locked(tx, &actual_cost_records, one->loan_id, &record));
    if (!str_eq(json_str(record, "status"), S("Open"))) {
        return NULL;
    }
    const Json *old = json_copy(record);
    Str loan_id = json_str(old, "loan.id");
    json_set_str(record, "status", S("Expired"));
    TRY(tx_change(tx, &actual_cost_records, old, record));
    TRY(accounts_open_of_loan(tx, loan_id, &accounts_found));
    return accounts_found.len ? NULL : settle(tx, loan_id, false);
}

Err *actual_costs_expire_run(Db *db, Time now)
{
    return run_over(db, now, find_expired_costs, expire_cost);
}
