// Accounts: what is owed, and who hears of it when that changes.
// Source: spec/fees-fines.md 1, 2.
#include "modules/mod-feesfines/fees.h"

// Where events of this module go; mod-circulation listens.
#define TOPIC "feesfines.event"

// ---------------------------------------------------------------------------------------------
// Announcing

Err *fee_log(Tx *tx, const char *type, Json *payload)
{
    Json *record = json_object();

    json_set_str(record, "logEventType", str_of(type));
    json_set(record, "payload", payload);
    return tx_emit(tx, "audit.log-record", "LOG_RECORD", uuid_new(), NULL, record);
}

Err *loan_fee_closed(Tx *tx, Str loan_id)
{
    Json *payload = json_object();

    json_set_str(payload, "loanId", loan_id);
    return tx_emit(tx, TOPIC, "LOAN_RELATED_FEE_FINE_CLOSED", loan_id, NULL, payload);
}

static bool is_settled(const Json *account)
{
    return str_eq_nocase(json_str(account, "status.name"), S("Closed")) &&
           money_at(account, "remaining") == 0;
}

Err *account_announce(Tx *tx, const Json *old, const Json *account)
{
    const Json *shown = account ? account : old;
    Json *payload = json_object();

    json_take(payload, "userId", shown, "userId");
    json_take(payload, "feeFineId", shown, "id");
    json_take(payload, "feeFineTypeId", shown, "feeFineId");
    money_set(payload, "balance", account ? money_at(account, "remaining") : 0);
    json_take(payload, "loanId", shown, "loanId");
    TRY(tx_emit(tx, TOPIC, "FEE_FINE_BALANCE_CHANGED", json_str(shown, "id"), NULL, payload));
    if (account && json_has(account, "loanId") && is_settled(account) && old) {
        return loan_fee_closed(tx, json_str(account, "loanId"));
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// What other modules ask

Err *accounts_of_loan(Tx *tx, Str loan_id, Docs *out)
{
    METER("mod-feesfines");
    return tx_where(tx, &accounts, "loan_id = $1 order by created_at, pk",
                    ARGS(A_TEXT(str_lower(loan_id))), out);
}

static Err *ignore_row(const Row *row, void *context)
{
    (void)row, (void)context;
    return NULL;
}

Err *accounts_of_loan_locked(Tx *tx, Str loan_id, Docs *out)
{
    Str lock = tx_locking(tx, "accounts");

    if (lock.len) {
        Str sql = str_fmt("select id from accounts where loan_id = $1 order by id" STR_FMT,
                          STR_ARG(lock));
        TRY(tx_rows(tx, sql.at, ARGS(A_TEXT(str_lower(loan_id))), ignore_row, NULL));
    }
    return accounts_of_loan(tx, loan_id, out);
}

Err *accounts_open_of_loan(Tx *tx, Str loan_id, Docs *out)
{
    METER("mod-feesfines");
    return tx_where(tx, &accounts, "loan_id = $1 and status = 'open' order by created_at, pk",
                    ARGS(A_TEXT(str_lower(loan_id))), out);
}

static LoanDebt *debt_of(const LoanDebts *debts, Str loan_id)
{
    for (size_t i = 0; i < debts->len; i++) {
        if (str_eq_nocase(debts->at[i].loan_id, loan_id)) {
            return &debts->at[i];
        }
    }
    return NULL;
}

Err *loan_debts(Tx *tx, const Str *loan_ids, size_t n, LoanDebts *out)
{
    METER("mod-feesfines");
    Docs open = {0};

    *out = (LoanDebts){NEW_ARRAY(LoanDebt, n + 1), 0};
    TRY(tx_where_in(
        tx, &accounts,
        &(WhereIn){.column = "loan_id", .values = loan_ids, .n = n, .where = "status = 'open'"},
        &open));
    for (size_t i = 0; i < open.len; i++) {
        Str loan_id = json_str(open.at[i], "loanId");
        LoanDebt *debt = debt_of(out, loan_id);
        if (!debt) {
            debt = &out->at[out->len++];
            *debt = (LoanDebt){.loan_id = loan_id};
        }
        debt->remaining += money_at(open.at[i], "remaining");
    }
    return NULL;
}

Money loan_debt_of(const LoanDebts *debts, Str loan_id)
{
    const LoanDebt *debt = debt_of(debts, loan_id);

    return debt ? debt->remaining : 0;
}

static Err *add_remaining(const Row *row, void *context)
{
    *(Money *)context += money_of(row_real(row, 0));
    return NULL;
}

Err *user_balance(Tx *tx, Str user_id, Money *out)
{
    METER("mod-feesfines");
    *out = 0;
    return tx_rows(tx,
                   "select a.remaining from accounts a where a.user_id = $1 "
                   "and a.status = 'open' and not exists (select 1 from loan l "
                   "where l.id = a.loan_id and l.status = 'open' "
                   "and l.item_status = 'claimed returned')",
                   ARGS(A_TEXT(str_lower(user_id))), add_remaining, out);
}
