// What other modules ask of the inventory inside the process: items with their titles, locations.
//
// Reads of items join holdings record and instance in one statement; locations, service points and
// types come from memory. The collections themselves (`items`, `loan_types` ...) are in
// collections.h: tx_ref(tx, &service_points, id, &point) costs no statement.
#pragma once

#include "gateway/gateway.h"
#include "modules/mod-inventory-storage/collections.h"

extern const Module mod_inventory_storage;

// ---------------------------------------------------------------------------------------------
// Items

// An item with the holdings record and the instance it belongs to; private copies. All three are
// NULL when there is no such item.
typedef struct {
    Json *item;
    Json *holdings;
    Json *instance;
} ItemContext;

typedef struct {
    ItemContext *at;
    size_t len;
} ItemContexts;

// One statement. The barcode counts whatever its case (decision 17), as it is: no wildcards.
WARN_UNUSED Err *item_by_barcode(Tx *tx, Str barcode, ItemContext *out);
// One statement. What is no UUID finds nothing.
WARN_UNUSED Err *item_by_id(Tx *tx, Str id, ItemContext *out);
// The items with these ids, for pages of loans or requests: three statements whatever their number.
// at[i] belongs to ids[i]; unknown or repeated ids are allowed. Documents of one record are shared
// between the entries: read only.
WARN_UNUSED Err *items_by_ids(Tx *tx, const Str *ids, size_t n, ItemContexts *out);
// The same for items that were read already: two statements.
WARN_UNUSED Err *items_above(Tx *tx, Json *const *items_read, size_t n, ItemContexts *out);
// All items of all holdings of an instance, by id; one statement.
WARN_UNUSED Err *items_of_instance(Tx *tx, Str instance_id, Docs *out);

// Gives the item another status and stores it; the status date is the time of the transaction.
// `item` is the record as read in this transaction and becomes the stored one. Nothing is written
// when it has the status already. To change more members at once (destination, last check-in) use
// tx_change(tx, &items, old, item): the date follows a changed status.name there too.
WARN_UNUSED Err *item_status_set(Tx *tx, Json *item, Str status);

// The loan type that counts: temporary, else permanent.
Str item_loan_type_id(const Json *item);

// ---------------------------------------------------------------------------------------------
// Locations and reference data, from memory: shared, read only, valid in this transaction

// A location with its library, campus, institution and primary service point. Members that are
// not there are NULL, so that a chain of look-ups needs no check.
typedef struct {
    const Json *location;
    const Json *library;
    const Json *campus;
    const Json *institution;
    const Json *primary_service_point;
} LocationContext;

WARN_UNUSED Err *location_by_id(Tx *tx, Str id, LocationContext *out);
// True if the service point is the primary one of the location or one of its list.
bool location_is_served_by(const Json *location, Str service_point_id);
// Member `name` of a record of a cached collection: material type, loan type ...; "" if unknown.
WARN_UNUSED Err *inventory_name(Tx *tx, const Collection *of, Str id, Str *out);
