// What other modules ask of fees and fines inside the process: what is owed, manual blocks,
// charging. FOLIO: mod-feesfines. Source: spec/fees-fines.md 1-5, 7.
#pragma once

#include "octavo.h"

#include "modules/mod-feesfines/collections.h"

extern const Module mod_feesfines;

// Hundredths.
typedef int64_t Money;

// The automatic fee/fine types; their ids are the same in every tenant.
#define FEE_OVERDUE         "9523cb96-e752-40c2-89da-60f3961a488d"
#define FEE_REPLACEMENT     "d20df2fb-45fd-4184-b238-0d25747ffdd9"
#define FEE_LOST_ITEM       "cf238f9f-7018-47b7-b815-bb2db798e19f"
#define FEE_LOST_PROCESSING "c7dede15-aa48-45ed-860b-f996540180e0"
#define FEE_LOST_ACTUAL     "73785370-d3bd-4d92-942d-ae2268e02ded"
#define FEE_REMINDER        "6b830703-f828-4e38-a0bb-ee81deacbd03"

// ---------------------------------------------------------------------------------------------
// Money (money.c)

// "5", "5.00", "5.005" (half to even); false for anything that is no decimal number.
bool money_parse(Str text, Money *out);
Str money_text(Money money); // "5.00"
Money money_of(double amount);
Money money_at(const Json *doc, const char *path);
void money_set(Json *doc, const char *path, Money money); // as a JSON number

// ---------------------------------------------------------------------------------------------
// Accounts (accounts.c)

WARN_UNUSED Err *accounts_of_loan(Tx *tx, Str loan_id, Docs *out);
// To change them: nobody else does meanwhile.
WARN_UNUSED Err *accounts_of_loan_locked(Tx *tx, Str loan_id, Docs *out);
WARN_UNUSED Err *accounts_open_of_loan(Tx *tx, Str loan_id, Docs *out);

// What remains to be paid, per loan; loans without open account are left out.
typedef struct {
    Str loan_id;
    Money remaining;
} LoanDebt;

typedef struct {
    LoanDebt *at;
    size_t len;
} LoanDebts;

// One statement for up to 100 loans.
WARN_UNUSED Err *loan_debts(Tx *tx, const Str *loan_ids, size_t n, LoanDebts *out);
Money loan_debt_of(const LoanDebts *debts, Str loan_id); // 0 if none

// What all open accounts of a patron sum up to, without those of loans that are claimed returned.
// One statement.
WARN_UNUSED Err *user_balance(Tx *tx, Str user_id, Money *out);

// ---------------------------------------------------------------------------------------------
// Policies: shared records; *out NULL if there is none.

WARN_UNUSED Err *overdue_fine_policy_by_id(Tx *tx, Str id, const Json **out);
WARN_UNUSED Err *lost_item_fee_policy_by_id(Tx *tx, Str id, const Json **out);
// The owner whose service points include this one; *out NULL if none. From memory.
WARN_UNUSED Err *fee_owner_of_service_point(Tx *tx, Str service_point_id, const Json **out);

// ---------------------------------------------------------------------------------------------
// Manual blocks (blocks.c)

// All blocks of a patron, by creation. One statement.
WARN_UNUSED Err *manual_blocks_of_user(Tx *tx, Str user_id, Docs *out);
// In force: no expiry, or one that is later than `now`.
bool manual_block_is_in_force(const Json *block, Time now);

// ---------------------------------------------------------------------------------------------
// Charging (charge.c, overdue.c)

// What a fee is charged for. Shown texts may be "".
typedef struct {
    const char *type_id; // FEE_...
    Str owner_id;        // see fee_owner_of_service_point
    Money amount;
    const Json *loan;            // its id, user, item, due and return date, policies are taken over
    const Json *item;            // stored item: barcode, status, call number, material type
    const Json *instance;        // title, contributors; may be NULL
    Str location, material_type; // names
    Str source;                  // "Last, First" of the staff member, or "System"
    Str service_point_id;        // where it happened; "" = none
} FeeCharge;

// Writes the account and its first action. *account NULL if the tenant has no such type or owner.
WARN_UNUSED Err *fee_charge(Tx *tx, const FeeCharge *charge, Json **account);

// The overdue fine by policy (fees-fines.md 3.3). 0 = none.
typedef struct {
    const Json *policy;      // overdue fine policy
    int64_t overdue_minutes; // whole minutes: clock minutes, or those inside opening hours
    int64_t grace_minutes;   // of the loan policy; 0 = none
    bool is_recalled;        // the loan's dueDateChangedByRecall
} OverdueFine;

Money overdue_fine_amount(const OverdueFine *fine);
// True: clock minutes count; false: minutes of opening hours.
bool overdue_fine_counts_closed(const Json *policy);
bool overdue_fine_is_forgiven_at_renewal(const Json *policy);

// Gives back what was paid or transferred and cancels the rest of the loan's newest lost item fees
// (fees-fines.md 4.3), if the lost policy's refund interval allows it.
typedef struct {
    const Json *loan;
    const Json *policy; // lost item fee policy
    Time lost_at, now;
    const char *cancellation; // "Cancelled item returned" | "... renewed" | "... declared lost"
    Str source, service_point_id;
} LostFeeRefund;

// *refunded: an account was touched.
WARN_UNUSED Err *lost_fees_refund(Tx *tx, const LostFeeRefund *refund, bool *refunded);
