// Loans inside of mod-circulation: a loan with its item, patron and queue while it is changed.
#pragma once

#include "modules/mod-circulation/circulation.h"

typedef struct {
    Req *req;
    Tx *tx;
    Json *loan;
    const Json *stored; // as read; NULL = a new one
    ItemView *item;     // NULL if it is gone
    Json *patron;       // NULL if there is none
    Queue *queue;       // of the item; read by loan_work_read_queue
} LoanWork;

// Reads the loan with item and patron. 404 text.
WARN_UNUSED Err *loan_work_open(LoanWork *work, Str id);
// Item and patron of a loan that is at hand.
WARN_UNUSED Err *loan_work_read_parts(LoanWork *work);
WARN_UNUSED Err *loan_work_read_queue(LoanWork *work);
// 422 "Loan is closed".
WARN_UNUSED Err *loan_must_be_open(const Json *loan);
// The item, then the loan with the status that the item has: its history keeps both.
WARN_UNUSED Err *loan_work_save(LoanWork *work);
// Forgets that a recall moved the due date when none waits any more (6.1, 6.5).
WARN_UNUSED Err *loan_forget_recall(LoanWork *work);
// The due date is another one: event, notices planned anew.
WARN_UNUSED Err *loan_due_date_announce(LoanWork *work);
// Closes without a check-in: status, action, event LOAN_CLOSED is for loan_closed_announce.
void loan_close_without_return(LoanWork *work, const char *action, Str comment);
WARN_UNUSED Err *loan_closed_announce(LoanWork *work);
// A note on the patron for staff.
WARN_UNUSED Err *loan_note_add(LoanWork *work, const char *title);

// When the item was lost: declared by a person, or aged. False if it never was.
bool loan_lost_at(const Json *loan, Time *out);
// Gives back or cancels fees of a loan that was lost (fees-fines.md 4.3), as its policy allows.
WARN_UNUSED Err *lost_loan_give_back(LoanWork *work, Str service_point_id,
                                     const char *cancellation);

// What the lost item fee policy charges at once (lost_fees.c; fees-fines.md 4.2).
typedef struct {
    LoanWork *work;
    const Json *policy; // lost item fee policy; NULL = none
    const Json *owner;  // who is owed; NULL = nothing is charged
    Str location_id;    // permanent one of the item
    Str service_point_id;
    Str source;
    Time lost_at;
    const char *loss_type; // "Declared lost" | "Aged to lost"
} LostCharge;

// Policy, place and owner. 422 if the policy charges and there is nobody to charge for.
WARN_UNUSED Err *lost_charge_prepare(LostCharge *charge);
WARN_UNUSED Err *lost_charge_perform(LostCharge *charge);

// Background work on lost items (age_to_lost.c; spec/circulation.md 15, 17). Runs in transactions
// of its own.
WARN_UNUSED Err *age_to_lost_run(Db *db, Time now);
WARN_UNUSED Err *lost_items_bill_run(Db *db, Time now);
WARN_UNUSED Err *actual_costs_expire_run(Db *db, Time now);
// Closes loans whose lost item fees are all settled.
WARN_UNUSED Err *loan_fees_closed(Tx *tx, const Event *events, size_t n);

Err *loan_fees_closed_post(Req *req);
Err *fee_balance_changed_post(Req *req);
