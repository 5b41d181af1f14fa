// Requests inside of mod-circulation: how they are checked, stored, shown and ordered.
#pragma once

#include "modules/mod-circulation/circulation.h"

// ---------------------------------------------------------------------------------------------
// Reading (requests.c, request_view.c)

// Stored fields (without the search index) plus live data of item, instance, requester, loan,
// pickup service point (spec/circulation.md 9.1), for many requests in few statements. In place.
WARN_UNUSED Err *request_representations(Tx *tx, Json **page, size_t n);

// The request, or 404 text.
WARN_UNUSED Err *request_by_id(Tx *tx, Str id, Json **out);

// ---------------------------------------------------------------------------------------------
// A request on its way through checks to the database (request_work.c)

typedef enum { REQUEST_CREATE, REQUEST_REPLACE, REQUEST_MOVE } RequestOperation;

typedef struct {
    Req *req;
    Tx *tx;
    RequestOperation operation;
    const Settings *settings;
    Overrides overrides;
    Json *request;      // as it will be stored
    const Json *stored; // as read; NULL = a new one
    Err *refusals;      // all that speak against it, in FOLIO's order

    // What it points to; NULL or empty if it does not exist.
    ItemView *item;
    const Json *instance;
    ItemViews items; // of the instance; read for title-level requests only
    Docs loans;      // open loans of those items
    Json *requester, *proxy;
    const Json *pickup; // shared
    Json *loan;         // the item's open one
    Queue *queue;
} RequestWork;

void request_refuse(RequestWork *work, Err *err); // NULL does nothing
bool request_is_title_level(const Json *request);
bool request_is_of_type(const Json *request, const char *type);

// Takes what a client may set from its body. 400 text for an unknown status.
WARN_UNUSED Err *request_read_body(RequestWork *work, const Json *body);
// Reads everything that the request points to.
WARN_UNUSED Err *request_find_parts(RequestWork *work);
// Binds the request to an item: ids, loan, queue.
WARN_UNUSED Err *request_bind_item(RequestWork *work, ItemView *item);
// Writes the stored copies that lists search and sort by (title, names, barcodes ...).
void request_take_snapshot(RequestWork *work);

// ---------------------------------------------------------------------------------------------
// Rules (request_rules.c; 9.4)

// Whether an item of this status may be requested by this type at all.
bool request_status_allows(Str item_status, Str type);
bool request_policy_allows(const Json *policy, Str type);
// The request policy for a patron and an item; shared.
WARN_UNUSED Err *request_policy_of(Tx *tx, const ItemView *item, const Json *patron,
                                   const Json **out);
// Status and policy both.
WARN_UNUSED Err *request_is_possible(Tx *tx, const ItemView *item, const Json *patron, Str type,
                                     bool *out);

// ---------------------------------------------------------------------------------------------
// Checks (request_check.c, request_title.c): they add to work->refusals

void request_check_body(RequestWork *work);               // 9.3 rows 2-8
WARN_UNUSED Err *request_check_people(RequestWork *work); // rows 9-12
void request_check_duplicates(RequestWork *work);         // row 13
WARN_UNUSED Err *request_check_blocks(RequestWork *work); // rows 14, 15
void request_check_loans(RequestWork *work);              // row 18
WARN_UNUSED Err *request_check_item(RequestWork *work);   // rows 16, 17, 19, 20
// Picks the item that a title-level page or recall asks for; refuses where there is none, or where
// a copy on the shelf could be paged instead.
WARN_UNUSED Err *request_choose_item(RequestWork *work);

// ---------------------------------------------------------------------------------------------
// Effects (request_effects.c)

// A page takes an item from the shelf.
WARN_UNUSED Err *request_take_item(RequestWork *work);
// An item that nobody waits for any more goes back to the shelf. `left` is the queue without the
// request.
WARN_UNUSED Err *request_release_item(Tx *tx, ItemView *item, const Queue *left);
// What a recall or hold does to the item's open loan (7.6).
WARN_UNUSED Err *request_touch_loan(RequestWork *work);
WARN_UNUSED Err *request_plan_notices(RequestWork *work);
// Notice to the requester, or their proxy or sponsor.
WARN_UNUSED Err *request_send_notice(RequestWork *work, const char *event);
// LOG_RECORD {"requests": {"original"?, "updated" | "created"}}.
WARN_UNUSED Err *request_log(Tx *tx, const char *type, const Json *old, const Json *request);

// Checks and stores a new request whose body was read (request_create.c): work->refusals if it may
// not be.
WARN_UNUSED Err *request_make(RequestWork *work);
// Status, Location and representation.
WARN_UNUSED Err *request_reply(Req *req, int status, const Json *request);
