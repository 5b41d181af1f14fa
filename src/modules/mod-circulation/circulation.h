// What the use cases of circulation share: items and patrons as they see them, circulation rules,
// due dates, the request queue, loans as clients see them, notices, events.
// FOLIO: mod-circulation. Source: spec/circulation.md.
//
// Everything here runs in the transaction of the request. Documents live in the current arena.
#pragma once

#include "octavo.h"

#include "modules/mod-circulation-storage/circulation_storage.h"

extern const Module mod_circulation;

// ---------------------------------------------------------------------------------------------
// Items (item_view.c)

// An item with its relatives. Members marked shared are cached records: never change them.
typedef struct {
    Json *item;           // changed by item_set_status and its like, written by item_save
    const Json *stored;   // as read, for item_save; NULL until the first change
    const Json *holding;  // NULL if absent
    const Json *instance; // NULL if absent
    const Json *location; // shared: the effective location, NULL if unknown
    const Json *library, *campus, *institution; // shared, of the location
    const Json *material_type, *loan_type;      // shared; the loan type is the effective one
    Str id, barcode, status, instance_id, holdings_record_id;
    Str location_id, material_type_id, loan_type_id; // effective ones
} ItemView;

typedef struct {
    ItemView *at;
    size_t len;
} ItemViews;

// NULL if there is none. One statement; everything shared comes from memory.
WARN_UNUSED Err *item_view_by_barcode(Tx *tx, Str barcode, ItemView **out);
WARN_UNUSED Err *item_view_by_id(Tx *tx, Str id, ItemView **out);
// Many at once in one statement per 100 ids; unknown ids are left out. In no order.
WARN_UNUSED Err *item_views_by_ids(Tx *tx, const Str *ids, size_t n, ItemViews *out);
// All items of an instance.
WARN_UNUSED Err *item_views_of_instance(Tx *tx, Str instance_id, ItemViews *out);
const ItemView *item_views_find(const ItemViews *views, Str id);

Str item_title(const ItemView *view); // of the instance; "" if unknown
// Service point that the effective location calls its primary one; "" if none.
Str item_primary_service_point(const ItemView *view);
// The primary or any serving service point of the effective location.
bool item_is_served_by(const ItemView *view, Str service_point_id);
// FOLIO's sentence "<title> (<material type>) (Barcode: <barcode>)".
Str item_sentence(const ItemView *view);

// Changes are kept in memory until item_save writes them once. A destination is removed with "".
void item_set_status(ItemView *view, Str status);
void item_set_destination(ItemView *view, Str service_point_id);
Json *item_change(ItemView *view); // the document, to be changed by hand
// Writes the item if it was changed. One statement for the row, one if its words changed.
WARN_UNUSED Err *item_save(Tx *tx, ItemView *view);

// The `item` object of loans and check-in answers (spec/circulation.md 4.2, 5.5).
WARN_UNUSED Err *item_representation(Tx *tx, const ItemView *view, Json **out);

// ---------------------------------------------------------------------------------------------
// Settings (settings.c): one derived value per tenant

typedef struct {
    const Zone *zone; // of the tenant's locale; UTC if unknown
    Str zone_name;
    bool tlr_enabled;
    bool tlr_hold_follows_rules;
    int64_t session_timeout_minutes; // of patron action sessions
    bool print_hold_requests;
    const Json *loan_history; // the anonymisation setting's value, NULL if none
} Settings;

WARN_UNUSED Err *settings_read(Tx *tx, const Settings **out);

// ---------------------------------------------------------------------------------------------
// Circulation rules (rules.c, rules_parse.c, rules_http.c)

typedef struct {
    Str material_type_id, loan_type_id, patron_group_id, location_id;
    Str library_id, campus_id, institution_id; // of the location; "" = unknown: they match nothing
} RuleInput;

typedef enum {
    POLICY_LOAN,
    POLICY_REQUEST,
    POLICY_NOTICE,
    POLICY_OVERDUE,
    POLICY_LOST,
    POLICY_TYPES,
} PolicyType;

typedef struct {
    Str policy_ids[POLICY_TYPES];
    // What the matched line names, those it is nested in included (spec/circulation.md 3.4).
    bool names_material_type, names_loan_type, names_patron_group;
    int line; // 1-based
} RuleMatch;

// The best rule. Errors: 500 text when there are no rules.
WARN_UNUSED Err *rules_match(Tx *tx, const RuleInput *input, RuleMatch *out);
// The input for an item and a patron group; 500 text of 8.3 when something is missing.
WARN_UNUSED Err *rule_input_of(const ItemView *item, const Json *patron, RuleInput *out);
// The best rule for a patron (user record) and an item.
WARN_UNUSED Err *rules_match_item(Tx *tx, const ItemView *item, const Json *patron, RuleMatch *out);

// ---------------------------------------------------------------------------------------------
// Policies (policies.c): shared records

// 500 text "Loan policy <id> could not be found, please check circulation rules" if absent.
WARN_UNUSED Err *loan_policy_by_id(Tx *tx, Str id, const Json **out);
WARN_UNUSED Err *request_policy_by_id(Tx *tx, Str id, const Json **out);
// {duration, intervalId} at `path`; false if absent, unknown or not positive.
bool period_at(const Json *policy, const char *path, Period *out);
// True if the policy's profile is Fixed (any case).
bool loan_policy_is_fixed(const Json *policy);

// ---------------------------------------------------------------------------------------------
// Due dates (due_date.c, closed_days.c; spec/circulation.md 7)

typedef struct {
    const Json *policy;        // loan policy
    const Json *patron;        // user: their expiry cuts the loan; NULL = none
    Str service_point_id;      // of the check-out: its calendar counts
    Time loan_date;            // of the loan
    Time now;                  // of the request
    bool has_pending_hold;     // a not yet filled hold waits for this item (7.2, 7.3)
    Time current_due_at;       // renewals and recalls
    bool is_changed_by_recall; // the loan's dueDateChangedByRecall
} DueDateInput;

typedef struct {
    Time at;
    bool is_cut_by_patron_expiry; // dueDateChangedByNearExpireUser
} DueDate;

// 422 of 7.2 and 7.4.
WARN_UNUSED Err *due_date_at_check_out(Tx *tx, const DueDateInput *input, DueDate *out);
// The renewal's date with schedules, closed days and the patron's expiry. 422 of 7.3, several
// joined.
WARN_UNUSED Err *due_date_at_renewal(Tx *tx, const DueDateInput *input, DueDate *out);
// The renewal's date before closed days and expiry: what an override uses (6.2).
WARN_UNUSED Err *due_date_of_renewal_raw(Tx *tx, const DueDateInput *input, Time *out);
// The date after a recall (7.6); *out == current_due_at when the recall changes nothing.
WARN_UNUSED Err *due_date_recalled(Tx *tx, const DueDateInput *input, Time *out);
// Expiry on the hold shelf of the pickup service point (5.4); 0 = never.
WARN_UNUSED Err *hold_shelf_expiry(Tx *tx, const Json *service_point, Time now, Time *out);

// ---------------------------------------------------------------------------------------------
// Patrons (patrons.c): who may borrow, blocks, overrides

typedef enum { BLOCK_BORROWING, BLOCK_RENEWALS, BLOCK_REQUESTS } BlockedAction;

// `active` and not expired.
bool patron_is_active(const Json *user, Time now);
// "Last, First" from the names there are.
Str patron_name(const Json *user);
// The same of who makes the request; "" if nobody is logged in.
WARN_UNUSED Err *staff_name(Req *req, Str *out);
// 422 USER_IS_BLOCKED_MANUALLY and one USER_IS_BLOCKED_AUTOMATICALLY per block, joined; the errors
// name patronBlock as overridable and what the caller lacks for it.
WARN_UNUSED Err *patron_blocks(Req *req, const Json *user, BlockedAction action, Err **refusals);
// Whether `proxy` may act for `sponsor` (an active proxiesFor record).
WARN_UNUSED Err *proxy_is_valid(Tx *tx, Str sponsor_id, Str proxy_id, Time now, bool *out);

// overrideBlocks of a body (override.c; spec/circulation.md 3.3).
typedef struct {
    const Json *blocks; // NULL: none
    bool patron, item_limit, item_not_loanable, renewal, renewal_due_date;
    Str comment;
} Overrides;

void overrides_read(const Json *body, const char *path, Overrides *out);
bool overrides_any(const Overrides *overrides);
// 422 INSUFFICIENT_OVERRIDE_PERMISSIONS if the caller lacks it, else NULL.
Err *override_permission_check(const Req *req, const char *block, const char *permission);
// Marks an error as one that `block` could lift; the permission if the caller lacks it.
Err *err_overridable(const Req *req, Err *err, const char *block, const char *permission);

#define OVERRIDE_PATRON_BLOCK      "circulation.override-patron-block.post"
#define OVERRIDE_ITEM_LIMIT        "circulation.override-item-limit-block.post"
#define OVERRIDE_ITEM_NOT_LOANABLE "circulation.override-item-not-loanable-block.post"
#define OVERRIDE_RENEWAL           "circulation.override-renewal-block.post"
// True with the newest name or the baseline's (without ".post").
bool may_override(const Req *req, const char *permission);

// ---------------------------------------------------------------------------------------------
// The request queue (request_queue.c; spec/circulation.md 3.2, 5.4, 9.5)

typedef struct Queue Queue;

struct Queue {
    Json **at; // open requests by position; those without one last
    size_t len;
    const Json **stored; // as read, at the same index: what queue_save compares with
    bool is_of_instance; // title-level requests are on: the whole instance's
};

// Open requests of the item, with title-level requests on those of its instance. One statement.
WARN_UNUSED Err *queue_of_item(Tx *tx, const ItemView *item, Queue **out);
WARN_UNUSED Err *queue_of_instance(Tx *tx, Str instance_id, Queue **out);
// The first request that this item fulfils, or NULL: when it is lent (3.2) or returned (5.4). Reads
// requesters only of title-level requests.
WARN_UNUSED Err *queue_first_fulfillable(Tx *tx, const Queue *queue, const ItemView *item,
                                         bool is_return, Json **out);
// A not yet filled hold for this item or without item waits (7.2).
bool queue_has_pending_hold(const Queue *queue, const ItemView *item);
// An open recall for this item, or NULL.
Json *queue_recall_of(const Queue *queue, const ItemView *item);
// Closes the request as filled; the positions behind move up.
void queue_fill(Queue *queue, Json *request);
// What check-in does to the first fulfillable request (5.4): status, expiry, place in the queue.
WARN_UNUSED Err *queue_begin_fulfilment(Tx *tx, Queue *queue, Json *request, const ItemView *item,
                                        Str service_point_id);
void queue_add(Queue *queue, Json *request); // at the end
// Closes gaps and saves.
WARN_UNUSED Err *queue_renumber(Tx *tx, Queue *queue);
// Writes what changed, positions first cleared where they would collide.
WARN_UNUSED Err *queue_save(Tx *tx, Queue *queue);

// ---------------------------------------------------------------------------------------------
// Loans (loan_view.c)

// What is known already, so that it is not read again; all may be NULL.
typedef struct {
    const ItemView *item;
    const Json *patron;
    bool is_owed_known; // nothing is owed on a new loan
    int64_t owed;       // hundredths
} LoanParts;

// The representation of one loan (4.2).
WARN_UNUSED Err *loan_representation(Tx *tx, const Json *loan, const LoanParts *parts, Json **out);
// Of a page of loans in few statements; `out` gets one element per loan, in order.
WARN_UNUSED Err *loan_representations(Tx *tx, const Docs *page, Json *out);
// A service point as loans and requests show it, as a member; nothing if there is none of that id.
WARN_UNUSED Err *service_point_show(Tx *tx, Json *doc, const char *member, Str id);
// Sets action; removes the comment of the former action or sets the new one.
void loan_set_action(Json *loan, const char *action, Str comment);

// ---------------------------------------------------------------------------------------------
// Slips, notices, events

typedef struct {
    const ItemView *item;
    const Json *request;   // NULL: none
    const Json *requester; // user, NULL: none
    Str from_service_point_id, to_service_point_id;
} SlipParts;

// item, request, requester, currentDateTime (slip_context.c; 5.5).
WARN_UNUSED Err *slip_context(Tx *tx, const SlipParts *parts, Time now, Json **out);

// Notices (notices_*.c; 13). The notice policy is found by rules at the moment of sending.
typedef struct {
    const Json *loan; // or
    const Json *request;
    const ItemView *item;
    const Json *recipient; // user
    Time now;
} NoticeParts;

// Deletes the loan's due date notices and plans them anew (only deletes when the loan is closed).
WARN_UNUSED Err *notices_plan_due_date(Tx *tx, const NoticeParts *parts, bool is_new_loan);
// Queues the notices of an event ("Available", "Hold request", "Renewed" ...) to be sent at once.
WARN_UNUSED Err *notices_send(Tx *tx, const NoticeParts *parts, const char *event);
// Plans "Request expiration" and "Hold expiration" notices of a request anew.
WARN_UNUSED Err *notices_plan_request(Tx *tx, const NoticeParts *parts);
// A record of the patron action session, so that the notices of one visit go out together.
WARN_UNUSED Err *session_record(Tx *tx, const Json *loan, const char *action_type, Str session_id);

// Events for other modules (events.c; 14.1): ITEM_CHECKED_OUT, LOAN_CLOSED ... `extra` may be NULL.
WARN_UNUSED Err *emit_loan_event(Tx *tx, const char *type, const Json *loan, const Json *extra);
WARN_UNUSED Err *emit_log_record(Tx *tx, const char *log_event_type, Json *payload);
// A LOG_RECORD of type LOAN.
WARN_UNUSED Err *emit_loan_log(Tx *tx, const char *action, const Json *loan, const ItemView *item,
                               Str description);

// ---------------------------------------------------------------------------------------------
// Handlers

Err *check_out_by_barcode(Req *req);
Err *check_out_dry_run(Req *req);
Err *check_in_by_barcode(Req *req);
Err *loans_list(Req *req);
Err *loans_get(Req *req);
Err *loans_create(Req *req);
Err *loans_put(Req *req);
Err *loans_delete(Req *req);
Err *loans_delete_all(Req *req);
Err *renew_by_barcode(Req *req);
Err *renew_by_id(Req *req);
Err *loan_claim_returned(Req *req);
Err *loan_claimed_missing(Req *req);
Err *loan_declare_lost(Req *req);
Err *loan_change_due_date(Req *req);
Err *loan_add_info(Req *req);
Err *requests_list(Req *req);
Err *requests_get(Req *req);
Err *requests_create(Req *req);
Err *requests_put(Req *req);
Err *requests_delete(Req *req);
Err *requests_delete_all(Req *req);
Err *requests_create_for_instance(Req *req);
Err *request_move(Req *req);
Err *allowed_service_points(Req *req);
Err *queue_get_of_item(Req *req);
Err *queue_get_of_instance(Req *req);
Err *queue_reorder_of_item(Req *req);
Err *queue_reorder_of_instance(Req *req);
Err *pick_slips(Req *req);
Err *search_slips(Req *req);
Err *hold_shelf_clearance(Req *req);
Err *items_in_transit(Req *req);
Err *settings_create(Req *req);
Err *rules_get(Req *req);
Err *rules_put(Req *req);
#define RULES_PATH "/circulation/rules/"
Err *rules_apply(Req *req);
