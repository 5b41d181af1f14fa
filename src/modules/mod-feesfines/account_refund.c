// Giving back what was paid or transferred, and what a lost item that came back cost.
// Source: spec/fees-fines.md 4.3, 5.2.
#include "modules/mod-feesfines/fees.h"

#include "modules/mod-circulation-storage/collections.h"

enum {
    SAME_CHARGE_MS = 60 * SECOND_MS, // both fees of one lost item are charged within this time
};

#define REFUNDED_TO "Refunded to "
#define PATRON      "patron"

// ---------------------------------------------------------------------------------------------
// What can be given back

static bool is_type(const Json *action, const char *verb)
{
    return str_starts(json_str(action, "typeAction"), str_of(verb));
}

static Refundable *refundable_to(Refundables *out, Str account)
{
    for (size_t i = 0; i < out->len; i++) {
        if (str_eq(out->at[i].account, account)) {
            return &out->at[i];
        }
    }
    out->at[out->len] = (Refundable){.account = account};
    return &out->at[out->len++];
}

void refundables_of(const Docs *history, Str account_id, Refundables *out)
{
    *out = (Refundables){.at = NEW_ARRAY(Refundable, history->len + 1)};
    (void)refundable_to(out, S(PATRON)); // payments are given back first
    for (size_t i = 0; i < history->len; i++) {
        const Json *action = history->at[i];
        Money amount = money_at(action, "amountAction");
        Str information = json_str(action, "transactionInformation");
        if (!str_eq_nocase(json_str(action, "accountId"), account_id)) {
            continue;
        }
        if (is_type(action, "Paid ")) {
            refundable_to(out, S(PATRON))->amount += amount;
        } else if (is_type(action, "Transferred ")) {
            refundable_to(out, json_str(action, "paymentMethod"))->amount += amount;
        } else if (is_type(action, "Refunded ")) {
            Str to = str_sub(information, sizeof REFUNDED_TO - 1, information.len);
            refundable_to(out, to.len ? to : S(PATRON))->amount -= amount;
        }
    }
    for (size_t i = 0; i < out->len; i++) {
        out->at[i].amount = out->at[i].amount > 0 ? out->at[i].amount : 0;
        out->total += out->at[i].amount;
    }
}

// ---------------------------------------------------------------------------------------------
// Giving it back

typedef struct {
    const Refundables *refundables;
    const Money *shares; // of each refundable
    bool is_full[2];     // payments, transfers: nothing is left of that kind
} Refund;

static void refund_plan(const Refundables *refundables, Money amount, Refund *refund)
{
    Money *shares = NEW_ARRAY(Money, refundables->len + 1);
    Money *most = NEW_ARRAY(Money, refundables->len + 1);
    Money left[2] = {0, 0};

    shares[0] = refundables->at[0].amount < amount ? refundables->at[0].amount : amount;
    for (size_t i = 1; i < refundables->len; i++) {
        most[i - 1] = refundables->at[i].amount;
    }
    money_split(amount - shares[0], most, refundables->len - 1, shares + 1);
    for (size_t i = 0; i < refundables->len; i++) {
        left[i > 0] += refundables->at[i].amount - shares[i];
    }
    *refund = (Refund){refundables, shares, {left[0] == 0, left[1] == 0}};
}

// A credit leaves the balance, a refund makes the fee owed again.
static Err *write_half(Tx *tx, AccountAction *action, Json *account, const Refund *refund,
                       bool is_credit)
{
    for (size_t i = 0; i < refund->refundables->len; i++) {
        const Refundable *to = &refund->refundables->at[i];
        bool is_full = refund->is_full[i > 0];
        if (refund->shares[i] == 0) {
            continue;
        }
        Money balance = money_at(account, "remaining") + (is_credit ? 0 : refund->shares[i]);
        ActionEntry entry = {
            .type = str_fmt("%s %s", is_credit ? "Credited" : "Refunded",
                            is_full ? "fully" : "partially"),
            .amount = refund->shares[i],
            .balance = balance,
            .information =
                str_fmt("%s" STR_FMT, is_credit ? "Refund to " : REFUNDED_TO, STR_ARG(to->account)),
            .payment_method = json_str(action->request, "paymentMethod"),
        };
        TRY(action_write(tx, action, account, &entry));
    }
    return NULL;
}

Err *account_refund(Tx *tx, AccountAction *action, Json *account, Money amount)
{
    Refundables refundables = {0};
    Refund refund = {0};

    refundables_of(&action->history, json_str(account, "id"), &refundables);
    refund_plan(&refundables, amount, &refund);
    TRY(write_half(tx, action, account, &refund, true));
    TRY(write_half(tx, action, account, &refund, false));
    json_set_str(account, "status.name", S("Open"));
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Fees of a lost item that came back

static int64_t years_or_period_ms(const Json *period)
{
    Period parsed = {.duration = json_int(period, "duration", 0)};
    Str interval = json_str(period, "intervalId");

    if (str_eq_nocase(interval, S("Years"))) {
        return parsed.duration * 365 * DAY_MS;
    }
    return period_unit_of(interval, &parsed.unit) ? period_ms(parsed) : 0;
}

static bool interval_allows(const LostFeeRefund *refund)
{
    int64_t limit = years_or_period_ms(json_get(refund->policy, "feesFinesShallRefunded"));

    return limit == 0 || refund->now <= refund->lost_at + limit;
}

static bool is_cancelled(const Json *account)
{
    return str_starts(json_str(account, "paymentStatus.name"), S("Cancelled"));
}

// The newest account of one of the types that was not cancelled; NULL if none.
static Json *newest_of(const Docs *all, const char *type, const char *other)
{
    Json *found = NULL;

    for (size_t i = 0; i < all->len; i++) { // by creation
        Str id = json_str(all->at[i], "feeFineId");
        if ((str_eq_z(id, type) || str_eq_z(id, other)) && !is_cancelled(all->at[i])) {
            found = all->at[i];
        }
    }
    return found;
}

static Time created_at(const Json *account)
{
    Time at = 0;

    (void)json_time(account, "metadata.createdDate", &at);
    return at;
}

// The accounts that are undone; at most two.
static size_t accounts_to_undo(const LostFeeRefund *refund, const Docs *all, Json **out)
{
    Json *lost = newest_of(all, FEE_LOST_ITEM, FEE_LOST_ACTUAL);
    Json *processing = newest_of(all, FEE_LOST_PROCESSING, FEE_LOST_PROCESSING);
    size_t n = 0;

    if (lost) {
        out[n++] = lost;
    }
    if (processing && json_flag(refund->policy, "returnedLostItemProcessingFee", false)) {
        Time distance = lost ? created_at(processing) - created_at(lost) : 0;
        if (distance <= SAME_CHARGE_MS && distance >= -(Time)SAME_CHARGE_MS) {
            out[n++] = processing;
        }
    }
    return n;
}

static Json *staff_request(const LostFeeRefund *refund)
{
    Json *request = json_object();

    json_set_str_if(request, "servicePointId", refund->service_point_id);
    json_set_str_if(request, "userName", refund->source);
    json_set_str(request, "paymentMethod", S("Lost item found"));
    json_set_bool(request, "notifyPatron", false);
    json_set_str(request, "cancellationReason", str_of(refund->cancellation));
    return request;
}

static Err *undo(Tx *tx, const LostFeeRefund *refund, Json *account)
{
    const Json *stored = json_copy(account);
    Refundables refundables = {0};
    AccountAction action = {
        .kind = ACTION_REFUND,
        .accounts = &account,
        .stored = &stored,
        .n = 1,
        .request = staff_request(refund),
        .actions = json_array(),
    };

    TRY(tx_where(tx, &feefine_actions, "account_id = $1", ARGS(A_TEXT(json_str(account, "id"))),
                 &action.history));
    refundables_of(&action.history, json_str(account, "id"), &refundables);
    if (refundables.total > 0) {
        TRY(account_refund(tx, &action, account, refundables.total));
    }
    action.kind = ACTION_CANCEL;
    return action_perform(tx, &action);
}

static Err *cost_records_cancel(Tx *tx, Str loan_id, bool *changed)
{
    Docs records = {0};

    Str lock = tx_locking(tx, "actual_cost_record");
    Str where = str_fmt("loan_id = $1 and status = 'open' order by id" STR_FMT, STR_ARG(lock));
    TRY(tx_where(tx, &actual_cost_records, where.at, ARGS(A_TEXT(str_lower(loan_id))), &records));
    for (size_t i = 0; i < records.len; i++) {
        Json *old = json_copy(records.at[i]);
        json_set_str(records.at[i], "status", S("Cancelled"));
        TRY(tx_change(tx, &actual_cost_records, old, records.at[i]));
        *changed = true;
    }
    return NULL;
}

Err *lost_fees_refund(Tx *tx, const LostFeeRefund *refund, bool *refunded)
{
    METER("mod-feesfines");
    Docs all = {0};
    Json *undone[2];

    *refunded = false;
    if (!interval_allows(refund)) {
        return NULL;
    }
    TRY(accounts_of_loan_locked(tx, json_str(refund->loan, "id"), &all));
    size_t n = accounts_to_undo(refund, &all, undone);
    for (size_t i = 0; i < n; i++) {
        TRY(undo(tx, refund, undone[i]));
        *refunded = true;
    }
    return cost_records_cancel(tx, json_str(refund->loan, "id"), refunded);
}
