// Inside of mod-feesfines: hooks of its collections, actions on accounts, routes.
#pragma once

#include "modules/mod-feesfines/feesfines.h"

// ---------------------------------------------------------------------------------------------
// Hooks

// accounts.c
Err *account_announce(Tx *tx, const Json *old, const Json *account);
// blocks.c
Err *manual_block_announce(Tx *tx, const Json *old, const Json *block);
// fee_types.c
Err *feefine_explain(Tx *tx, Conflict kind, const Field *field, Str value, const Json *type);
// fee_policies.c
Err *overdue_policy_check(Tx *tx, const Json *old, Json *policy);
Err *overdue_policy_must_be_unused(Tx *tx, const Json *policy);
Err *overdue_policy_explain(Tx *tx, Conflict kind, const Field *field, Str value,
                            const Json *policy);
Err *lost_policy_check(Tx *tx, const Json *old, Json *policy);
Err *lost_policy_must_be_unused(Tx *tx, const Json *policy);
Err *lost_policy_explain(Tx *tx, Conflict kind, const Field *field, Str value, const Json *policy);

// A LOG_RECORD for the audit log, if anybody wants it.
WARN_UNUSED Err *fee_log(Tx *tx, const char *type, Json *payload); // accounts.c
// Announces that a loan may be resolved: its last open fee or cost record is gone.
WARN_UNUSED Err *loan_fee_closed(Tx *tx, Str loan_id); // accounts.c

// ---------------------------------------------------------------------------------------------
// Amounts of several accounts (split.c)

// Shares of `amount`: evenly, but nobody gets more than their most. The sum of `most` is at least
// `amount`.
void money_split(Money amount, const Money *most, size_t n, Money *shares);

// ---------------------------------------------------------------------------------------------
// Actions on accounts (account_actions.c, account_refund.c)

typedef enum { ACTION_PAY, ACTION_WAIVE, ACTION_TRANSFER, ACTION_REFUND, ACTION_CANCEL } ActionKind;

typedef struct {
    ActionKind kind;
    Json **accounts;     // changed in place
    const Json **stored; // as read
    size_t n;
    Docs history;        // their actions, read for refunds only
    const Json *request; // comments, servicePointId, userName ...
    Json *actions;       // out: array of the actions written
    Money amount;        // as asked; not for cancel
    Money remaining;     // out of action_check: what would remain
} AccountAction;

// Whether the action is allowed; *refusal is FOLIO's sentence or NULL. Fills amount and remaining.
WARN_UNUSED Err *action_check(Tx *tx, AccountAction *action, Str amount, const char **refusal);
// Writes the actions and the accounts of a checked action.
WARN_UNUSED Err *action_perform(Tx *tx, AccountAction *action);

// One action of an account: written after the account was changed in memory.
typedef struct {
    Str type; // "Paid fully"
    Money amount, balance;
    Str information; // transactionInformation
    Str payment_method;
} ActionEntry;

WARN_UNUSED Err *action_write(Tx *tx, AccountAction *action, Json *account,
                              const ActionEntry *entry);

// What of an account's payments can still be given back.
typedef struct {
    Str account; // of the transfer; "patron" for payments
    Money amount;
} Refundable;

typedef struct {
    Refundable *at; // payments first
    size_t len;
    Money total;
} Refundables;

void refundables_of(const Docs *history, Str account_id, Refundables *out);
// Gives `amount` back: credits first, then refunds.
WARN_UNUSED Err *account_refund(Tx *tx, AccountAction *action, Json *account, Money amount);

// ---------------------------------------------------------------------------------------------
// Handlers

Err *accounts_list(Req *req);       // account_routes.c
Err *account_get(Req *req);         // account_routes.c
Err *account_action(Req *req);      // account_routes.c: the action is the last part of the path
Err *feefine_create(Req *req);      // fee_types.c
Err *feefine_put(Req *req);         // fee_types.c
Err *feefine_delete(Req *req);      // fee_types.c
Err *actual_cost_bill(Req *req);    // actual_cost.c
Err *actual_cost_cancel(Req *req);  // actual_cost.c
Err *report_refunds(Req *req);      // report_refund.c
Err *report_cash_drawer(Req *req);  // report_cash.c
Err *report_cash_sources(Req *req); // report_cash.c
Err *report_financial(Req *req);    // report_financial.c
