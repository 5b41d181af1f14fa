// Inside of mod-inventory-storage: hooks of its collections, handlers of its routes, what they
// share.
#pragma once

#include "modules/mod-inventory-storage/inventory_storage.h"
#include "modules/list_view.h"
#include "octavo.h"

// ---------------------------------------------------------------------------------------------
// Rules that instances, holdings and items share. Source: spec/inventory.md 3.4.

typedef enum { HRID_INSTANCES, HRID_HOLDINGS, HRID_ITEMS } HridKind;

typedef struct {
    HridKind hrid;
    const char *const *lists; // paths of lists that are cleaned, NULL at the end
} RecordRules;

// Gives a hrid to a new record and keeps it afterwards, refuses overlong notes and unknown
// statistical codes, cleans lists. `old` is NULL for a new record.
WARN_UNUSED Err *record_rules_apply(Tx *tx, const RecordRules *rules, const Json *old, Json *doc);
// The HRID message for a hrid that is taken; NULL for other conflicts.
Err *hrid_explain(Tx *tx, const Collection *of, Conflict kind, const Field *field, Str value);

// Human-readable ids for all of the records that have none, in one statement for their numbers.
WARN_UNUSED Err *hrids_assign(Tx *tx, HridKind kind, Json *const *docs, size_t n);

// ---------------------------------------------------------------------------------------------
// Computed fields of items. Source: spec/inventory.md 4.1-4.4.

// Effective location, call number and shelving order from the item and its holdings record.
void item_compute(Json *item, const Json *above);
// The next free position among the items of a holdings record.
WARN_UNUSED Err *item_order_next(Tx *tx, Str holdings_id, int64_t *out);

// ---------------------------------------------------------------------------------------------
// Hooks

Err *instance_before_write(Tx *tx, const Json *old, Json *doc);
Err *instance_after_write(Tx *tx, const Json *old, const Json *doc);
Err *instance_explain(Tx *tx, Conflict kind, const Field *field, Str value, const Json *doc);
Err *holdings_before_write(Tx *tx, const Json *old, Json *doc);
Err *holdings_after_write(Tx *tx, const Json *old, const Json *doc);
Err *holdings_event_key(Tx *tx, const Json *doc, Str *key);
Err *holdings_explain(Tx *tx, Conflict kind, const Field *field, Str value, const Json *doc);
Err *item_before_write(Tx *tx, const Json *old, Json *doc);
Err *item_after_write(Tx *tx, const Json *old, const Json *doc);
Err *item_event_key(Tx *tx, const Json *doc, Str *key);
Err *item_event_view(Tx *tx, const Json *doc, const Json **out);
Err *item_explain(Tx *tx, Conflict kind, const Field *field, Str value, const Json *doc);
Err *bound_with_event_key(Tx *tx, const Json *doc, Str *key);
Err *title_link_before_write(Tx *tx, const Json *old, Json *doc);
Err *location_before_write(Tx *tx, const Json *old, Json *doc);
Err *service_point_before_write(Tx *tx, const Json *old, Json *doc);
Err *service_point_explain(Tx *tx, Conflict kind, const Field *field, Str value, const Json *doc);
Err *statistical_code_before_delete(Tx *tx, const Json *doc);

// 422 in the form of storage routes: type "1", code "-1", one parameter.
Err *rule_error(Str message, const char *key, Str value);

// Keeps what a deleted record was, for the feeds that tell harvesters about deletions.
WARN_UNUSED Err *deleted_note(Tx *tx, const Collection *of, const Json *record);

// ---------------------------------------------------------------------------------------------
// Handlers

Err *item_create(Req *req);
Err *holdings_create(Req *req);
Err *holdings_put(Req *req);
Err *record_put(Req *req);
Err *records_delete(Req *req);
Err *records_retrieve(Req *req);
Err *instance_patch(Req *req);
Err *holdings_patch(Req *req);
Err *items_patch(Req *req);
Err *batch_create(Req *req);
Err *batch_create_unsafe(Req *req);
Err *instances_batch_create(Req *req);
Err *record_ids(Req *req);

Err *call_number_type_put(Req *req);
Err *call_number_type_delete(Req *req);
Err *holdings_source_delete(Req *req);
Err *subject_record_create(Req *req);
Err *subject_record_put(Req *req);
Err *subject_record_delete(Req *req);
Err *instance_date_type_patch(Req *req);
Err *setting_get(Req *req);
Err *setting_patch(Req *req);
Err *hrid_settings_get(Req *req);
Err *hrid_settings_put(Req *req);

Err *units_list(Req *req);
Err *unit_put(Req *req);
Err *locations_list(Req *req);
Err *location_put(Req *req);
Err *shelf_locations_list(Req *req);
Err *shelf_location_get(Req *req);
Err *shelf_location_refuse(Req *req);
Err *service_points_list(Req *req);
Err *service_point_put(Req *req);

Err *bound_withs_put(Req *req);
Err *instance_relationship_delete(Req *req);
Err *title_links_put(Req *req);
Err *marc_source_get(Req *req);
Err *marc_source_put(Req *req);
Err *marc_source_delete(Req *req);

Err *items_and_holdings(Req *req);
Err *enriched_instances(Req *req);
Err *changed_titles(Req *req);
Err *inventory_view_instances(Req *req);
Err *inventory_view_sets(Req *req);

Err *reindex_start(Req *req);
Err *reindex_cancel(Req *req);
Err *iteration_start(Req *req);
Err *iteration_cancel(Req *req);
Err *iteration_get(Req *req);
Err *reindex_step(Tx *tx, Job *job, bool *done);
Err *iteration_step(Tx *tx, Job *job, bool *done);

Err *dereferenced_list(Req *req);
Err *dereferenced_get(Req *req);

// The counters behind the hrids: member of the settings, name of the sequence.
typedef struct {
    const char *member;
    const char *sequence;
} HridCounter;

enum { HRID_COUNTERS = 3 };
extern const HridCounter hrid_counters[HRID_COUNTERS];
#define HRID_SETTINGS_ID S("a501f2a8-5b31-48b2-874d-2191e48db8cd")
