// What other modules ask of circulation's records inside the process: open loans, request queues,
// history, policies.
// FOLIO: mod-circulation-storage. Source: spec/circulation.md 4.1, 11, 12, 15, 16.
//
// Single records are read and written with tx_get, tx_ref, tx_insert, tx_change on the collections;
// their hooks do what storage does (history rows, lost positions, refusals). Ids are compared in
// lower case.
#pragma once

#include "octavo.h"

#include "modules/mod-circulation-storage/collections.h"

extern const Module mod_circulation_storage;

// ---------------------------------------------------------------------------------------------
// Loans (loans.c, anonymize.c)

// The open loan of an item; *out NULL if none. One statement. The unique key allows no second one.
WARN_UNUSED Err *loan_open_of_item(Tx *tx, Str item_id, Json **out);
// Open loans of several items, in no order. One statement per 100 ids.
WARN_UNUSED Err *loans_open_of_items(Tx *tx, const Str *item_ids, size_t n, Docs *out);
// The loan of an item that was begun last, open or closed; *out NULL if none.
WARN_UNUSED Err *loan_newest_of_item(Tx *tx, Str item_id, Json **out);

// How many items of a kind a patron has (circulation.md 3.4): open loans, claimed returned ones not
// counted. "" = any type. One statement; loan types count as the item's temporary one, else the
// permanent one.
typedef struct {
    Str user_id, material_type_id, loan_type_id;
} LoanCount;

WARN_UNUSED Err *loans_open_count_of_kind(Tx *tx, const LoanCount *of, int64_t *out);

// What patron blocks count, one element per open loan.
typedef struct {
    Str loan_id, loan_policy_id;
    Time due_at; // 0 = none
    bool is_recalled, is_lost, is_claimed_returned;
} OpenLoan;

typedef struct {
    OpenLoan *at;
    size_t len;
} OpenLoans;

// Without parsing documents. One statement.
WARN_UNUSED Err *loans_open_summary(Tx *tx, Str user_id, OpenLoans *out);
// The grace period of a loan by its policy: the alternate one of recalls when the loan was
// recalled. False if there is none. Policies come from memory.
WARN_UNUSED Err *loan_grace_period(Tx *tx, Str loan_policy_id, bool is_recalled, Period *out,
                                   bool *exists);

// Takes the patron out of closed loans and of their history. Open or unknown ones are left alone:
// `refused` gets their ids.
WARN_UNUSED Err *loans_anonymize(Tx *tx, const StrList *loan_ids, StrList *done, StrList *refused);

// The row that stands in the loan's history. The hook of `loans` writes it on each write.
WARN_UNUSED Err *loan_history_add(Tx *tx, const char *operation, const Json *loan);

// ---------------------------------------------------------------------------------------------
// Requests (requests.c)

// "Open - ..." of any kind.
bool request_is_open(const Json *request);
// Open requests by position, those without one last. One statement each.
WARN_UNUSED Err *requests_open_of_item(Tx *tx, Str item_id, Docs *out);
WARN_UNUSED Err *requests_open_of_instance(Tx *tx, Str instance_id, Docs *out);

// A changed request and how it was read; old NULL = a new one.
typedef struct {
    const Json *old;
    Json *now;
} RequestChange;

// Writes requests of a queue so that positions never collide on the way: those that move lose
// theirs first (one statement for all), then each is written. Requests that are equal to `old` are
// skipped.
WARN_UNUSED Err *requests_write(Tx *tx, const RequestChange *changes, size_t n);
// Closes the gap that a request leaves in its queue: positions behind it move up. is_of_instance:
// the queue is the instance's (title-level requests are on).
WARN_UNUSED Err *request_queue_close_gap(Tx *tx, const Json *request, bool is_of_instance);
// Closes requests whose time is over (9.12): at most `max`, number in *n. Queues close up.
WARN_UNUSED Err *requests_expire(Tx *tx, Time now, int max, int *n);

// ---------------------------------------------------------------------------------------------
// Rules, settings, sessions, notices

// The text of the circulation rules; "" if there is none.
WARN_UNUSED Err *circulation_rules_text(Tx *tx, Str *out);
WARN_UNUSED Err *circulation_rules_store(Tx *tx, Str text);
// 400 text if the rules name the policy: for `before_delete` of policies. kind: "loan", "notice"
// ...
WARN_UNUSED Err *policy_must_be_unused(Tx *tx, const Json *policy, const char *kind);
// Deletes the scheduled notices of a loan; of one triggering event if not NULL.
WARN_UNUSED Err *scheduled_notices_drop_of_loan(Tx *tx, Str loan_id, const char *event);
WARN_UNUSED Err *scheduled_notices_drop_of_request(Tx *tx, Str request_id);
