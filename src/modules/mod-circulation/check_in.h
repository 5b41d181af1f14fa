// Parts of check-in that have files of their own.
#pragma once

#include "modules/mod-circulation/circulation.h"

typedef struct {
    Req *req;
    const Json *loan; // the loan that this check-in closed; NULL = none
    const ItemView *item;
    Str prior_status;     // of the item
    Str resolution;       // of a claimed returned item; "" = none
    Str service_point_id; // of the check-in
    Time returned_at;
} ReturnedItem;

// Gives back fees of lost items and charges the overdue fine. *changed: what is owed is not what it
// was. Source: spec/fees-fines.md 3, 4.3.
WARN_UNUSED Err *returned_item_settle_fees(const ReturnedItem *returned, bool *changed);
// Only the overdue fine: what a renewal charges for the time before it. The loan is the one before.
WARN_UNUSED Err *returned_item_charge_overdue(const ReturnedItem *returned, bool *changed);
