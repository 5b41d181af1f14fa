// mod-inventory: items and instances as staff clients see them, built from storage's records.
#pragma once

#include "modules/list_view.h"
#include "modules/mod-inventory-storage/inventory_storage.h"
#include "octavo.h"

extern const Module mod_inventory;

// 422 in the form of this module: one entry without type and code.
Err *inventory_error(Str message, const char *key, Str value);
// limit and offset of a list; 400 text in this module's words.
WARN_UNUSED Err *inventory_list_request(Req *req, const Collection *of, ListRequest *out);
// Ids as a CQL term: "path==(a or b)". Empty for no ids.
Str cql_any_of(const char *path, const Str *ids, size_t n);
// Members of `from` that records of this type have; everything else is left behind.
Json *known_members(const RecordType *type, const Json *from);
// A tenant without circulation has no requests to put back.
WARN_UNUSED Err *requests_put_back(Req *req, Str item_id);

// Items (item_view.c): from storage records to representations, in place.
Err *items_represent(Tx *tx, Json **records, size_t n, void *context);
// One item with the titles it is bound with; one statement. The item of the context becomes the
// representation.
WARN_UNUSED Err *item_represent(Tx *tx, const ItemContext *context);
// From a client's representation to a storage record.
Json *item_from_body(const Json *body);

// Instances (instance_view.c).
Err *instances_represent(Tx *tx, Json **records, size_t n, void *context);
// Stored relationships and titles become those of the representation.
WARN_UNUSED Err *instance_links_write(Tx *tx, Str instance_id, const Json *body);
// Instances (instance_rules.c).
WARN_UNUSED Err *instance_body_check(const Json *body);
WARN_UNUSED Err *instance_change_check(const Json *old, const Json *now);
WARN_UNUSED Err *holdings_change_check(const Json *old, const Json *now);
Err *blocked_instance_fields(Req *req);
Err *blocked_holdings_fields(Req *req);

// Handlers.
Err *inventory_items_list(Req *req);
Err *inventory_items_retrieve(Req *req);
Err *inventory_items_by_holdings(Req *req);
Err *inventory_tenant_items(Req *req);
Err *inventory_item_get(Req *req);
Err *inventory_item_create(Req *req);
Err *inventory_item_put(Req *req);
Err *inventory_item_patch(Req *req);
Err *inventory_item_delete(Req *req);
Err *inventory_items_delete(Req *req);
Err *inventory_item_mark(Req *req);
Err *inventory_items_move(Req *req);
Err *inventory_holdings_move(Req *req);
Err *inventory_holdings_put(Req *req);
Err *inventory_instances_list(Req *req);
Err *inventory_instance_get(Req *req);
Err *inventory_instance_create(Req *req);
Err *inventory_instance_put(Req *req);
Err *inventory_instance_patch(Req *req);
Err *inventory_instance_delete(Req *req);
Err *inventory_instances_delete(Req *req);
Err *inventory_instance_mark_deleted(Req *req);
Err *inventory_instances_batch(Req *req);
Err *isbn_to_13(Req *req);
Err *isbn_to_10(Req *req);
Err *isbn_validate(Req *req);
