// Paying, waiving, transferring, cancelling: what is allowed, and what it leaves behind.
// Source: spec/fees-fines.md 5.
#include "modules/mod-feesfines/fees.h"

static const struct {
    const char *partially, *fully;
} results[] = {
    [ACTION_PAY] = {"Paid partially", "Paid fully"},
    [ACTION_WAIVE] = {"Waived partially", "Waived fully"},
    [ACTION_TRANSFER] = {"Transferred partially", "Transferred fully"},
    [ACTION_REFUND] = {"Refunded partially", "Refunded fully"},
    [ACTION_CANCEL] = {"Cancelled as error", "Cancelled as error"},
};

static bool is_closed(const Json *account)
{
    return str_eq_nocase(json_str(account, "status.name"), S("Closed"));
}

// ---------------------------------------------------------------------------------------------
// Checks

static const char *closed_refusal(const AccountAction *action)
{
    for (size_t i = 0; i < action->n; i++) {
        const Json *account = action->accounts[i];
        // Closed with something left can still be paid, but not be cancelled again.
        if (is_closed(account) &&
            (action->kind == ACTION_CANCEL || money_at(account, "remaining") == 0)) {
            return "Fee/fine is already closed";
        }
    }
    return NULL;
}

static Err *history_read(Tx *tx, AccountAction *action)
{
    Str *ids = NEW_ARRAY(Str, action->n + 1);

    for (size_t i = 0; i < action->n; i++) {
        ids[i] = json_str(action->accounts[i], "id");
    }
    return tx_where_in(tx, &feefine_actions,
                       &(WhereIn){.column = "account_id", .values = ids, .n = action->n},
                       &action->history);
}

// What the action could take or give back at most.
static Err *most_of(Tx *tx, AccountAction *action, Money *out)
{
    *out = 0;
    if (action->kind == ACTION_REFUND) {
        TRY(history_read(tx, action));
    }
    for (size_t i = 0; i < action->n; i++) {
        Refundables refundables = {0};
        if (action->kind == ACTION_REFUND) {
            refundables_of(&action->history, json_str(action->accounts[i], "id"), &refundables);
            *out += refundables.total;
        } else {
            *out += money_at(action->accounts[i], "remaining");
        }
    }
    return NULL;
}

Err *action_check(Tx *tx, AccountAction *action, Str amount, const char **refusal)
{
    Money most = 0;

    *refusal = NULL;
    if (action->kind == ACTION_CANCEL) {
        *refusal = closed_refusal(action);
        return NULL;
    }
    if (!money_parse(amount, &action->amount)) {
        *refusal = "Invalid amount entered";
        return NULL;
    }
    if (action->amount <= 0) {
        *refusal = "Amount must be positive";
        return NULL;
    }
    if (action->kind != ACTION_REFUND) {
        *refusal = closed_refusal(action);
    }
    if (*refusal) {
        return NULL;
    }
    TRY(most_of(tx, action, &most));
    action->remaining = most - action->amount;
    if (action->remaining < 0) {
        *refusal = action->kind == ACTION_REFUND
                       ? "Refund amount must be greater than zero and less than or equal to "
                         "Selected amount"
                       : "Requested amount exceeds remaining amount";
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Writing

static Err *log_action(Tx *tx, const Json *account, const Json *action)
{
    Json *payload = json_object();

    json_take(payload, "amount", action, "amountAction");
    json_take(payload, "source", action, "source");
    json_take(payload, "servicePointId", action, "createdAt");
    json_set_time(payload, "date", tx_now(tx));
    json_take(payload, "action", action, "typeAction");
    json_take(payload, "balance", action, "balance");
    json_take(payload, "paymentMethod", action, "paymentMethod");
    json_take(payload, "comments", action, "comments");
    json_take(payload, "userId", account, "userId");
    json_take(payload, "accountId", account, "id");
    json_take(payload, "feeFineId", account, "feeFineId");
    json_take(payload, "feeFineOwner", account, "feeFineOwner");
    json_take(payload, "itemBarcode", account, "barcode");
    json_take(payload, "itemId", account, "itemId");
    json_take(payload, "loanId", account, "loanId");
    json_take(payload, "type", account, "feeFineType");
    return fee_log(tx, "FEE_FINE", payload);
}

Err *action_write(Tx *tx, AccountAction *action, Json *account, const ActionEntry *entry)
{
    Json *doc = json_object();

    json_set_str(doc, "id", uuid_new());
    json_set_time(doc, "dateAction", tx_now(tx));
    json_set_str(doc, "typeAction", entry->type);
    json_take(doc, "comments", action->request, "comments");
    if (action->kind != ACTION_CANCEL) {
        json_take(doc, "notify", action->request, "notifyPatron");
    }
    money_set(doc, "amountAction", entry->amount);
    money_set(doc, "balance", entry->balance);
    json_set_str_if(doc, "transactionInformation", entry->information);
    json_take(doc, "createdAt", action->request, "servicePointId");
    json_take(doc, "source", action->request, "userName");
    json_set_str_if(doc, "paymentMethod", entry->payment_method);
    json_take(doc, "accountId", account, "id");
    json_take(doc, "userId", account, "userId");
    json_set_str(account, "paymentStatus.name", entry->type);
    money_set(account, "remaining", entry->balance);
    TRY(tx_insert(tx, &feefine_actions, doc));
    TRY(log_action(tx, account, doc));
    json_add(action->actions, doc);
    return NULL;
}

static Err *take_share(Tx *tx, AccountAction *action, Json *account, Money share)
{
    Money left = money_at(account, "remaining") - share;

    json_set_str(account, "status.name", left ? S("Open") : S("Closed"));
    return action_write(
        tx, action, account,
        &(ActionEntry){
            .type = str_of(left ? results[action->kind].partially : results[action->kind].fully),
            .amount = share,
            .balance = left,
            .information = json_str(action->request, "transactionInfo"),
            .payment_method = json_str(action->request, "paymentMethod")});
}

// The action shows the whole fee, as FOLIO's does, whatever was paid of it before.
static Err *cancel_one(Tx *tx, AccountAction *action, Json *account)
{
    Str reason = json_str(action->request, "cancellationReason");

    json_set_str(account, "status.name", S("Closed"));
    return action_write(
        tx, action, account,
        &(ActionEntry){.type = reason.len ? reason : str_of(results[ACTION_CANCEL].fully),
                       .amount = money_at(account, "amount"),
                       .balance = 0});
}

static Err *perform_one(Tx *tx, AccountAction *action, Json *account, Money share)
{
    switch (action->kind) {
    case ACTION_CANCEL:
        return cancel_one(tx, action, account);
    case ACTION_REFUND:
        return account_refund(tx, action, account, share);
    case ACTION_PAY:
    case ACTION_WAIVE:
    case ACTION_TRANSFER:
    default:
        return take_share(tx, action, account, share);
    }
}

static void shares_of(const AccountAction *action, Money *shares)
{
    Money *most = NEW_ARRAY(Money, action->n + 1);

    for (size_t i = 0; i < action->n; i++) {
        Refundables refundables = {0};
        if (action->kind == ACTION_REFUND) {
            refundables_of(&action->history, json_str(action->accounts[i], "id"), &refundables);
            most[i] = refundables.total;
        } else {
            most[i] = money_at(action->accounts[i], "remaining");
        }
    }
    money_split(action->amount, most, action->n, shares);
}

Err *action_perform(Tx *tx, AccountAction *action)
{
    Money *shares = NEW_ARRAY(Money, action->n + 1);

    if (action->kind != ACTION_CANCEL) {
        shares_of(action, shares);
    }
    for (size_t i = 0; i < action->n; i++) {
        if (action->kind != ACTION_CANCEL && shares[i] == 0) {
            continue;
        }
        TRY(perform_one(tx, action, action->accounts[i], shares[i]));
        TRY(tx_change(tx, &accounts, action->stored[i], action->accounts[i]));
    }
    return NULL;
}
