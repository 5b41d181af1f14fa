// mod-inventory: items and instances as staff clients see them.
// FOLIO: mod-inventory 20.2. Source: spec/inventory.md 5.
#include "modules/mod-inventory/inventory.h"

#define MARK(action)                                                                               \
    {                                                                                              \
        POST, "/inventory/items/{id}/" action, WRITE, inventory_item_mark,                         \
            .permission = "inventory.items.item." action ".post"                                   \
    }

static const Route inventory_routes[] = {
    {GET, "/inventory/items", READ, inventory_items_list,
     .permission = "inventory.items.collection.get"},
    {POST, "/inventory/items/retrieve", READ, inventory_items_retrieve,
     .permission = "inventory.items.retrieve.collection.post"},
    {GET, "/inventory/items-by-holdings-id", READ, inventory_items_by_holdings,
     .permission = "inventory.items.collection.get",
     .later_permission = "inventory.items-by-holdings-id.collection.get"},
    {POST, "/inventory/tenant-items", READ, inventory_tenant_items,
     .permission = "inventory.tenant-items.collection.get"},
    {POST, "/inventory/items", WRITE, inventory_item_create,
     .permission = "inventory.items.item.post"},
    {DELETE, "/inventory/items", NONE, inventory_items_delete,
     .permission = "inventory.items.collection.delete"},
    {GET, "/inventory/items/{id}", READ, inventory_item_get,
     .permission = "inventory.items.item.get"},
    {PUT, "/inventory/items/{id}", WRITE, inventory_item_put,
     .permission = "inventory.items.item.put"},
    {PATCH, "/inventory/items/{id}", WRITE, inventory_item_patch,
     .permission = "inventory.items.item.patch.execute"},
    {DELETE, "/inventory/items/{id}", WRITE, inventory_item_delete,
     .permission = "inventory.items.item.delete"},
    MARK("mark-in-process"),
    MARK("mark-in-process-non-requestable"),
    MARK("mark-intellectual-item"),
    MARK("mark-long-missing"),
    MARK("mark-missing"),
    MARK("mark-restricted"),
    MARK("mark-unavailable"),
    MARK("mark-unknown"),
    MARK("mark-withdrawn"),
    {PUT, "/inventory/holdings/{id}", WRITE, inventory_holdings_put,
     .permission = "inventory.holdings.item.put"},
    {GET, "/inventory/instances", READ, inventory_instances_list,
     .permission = "inventory.instances.collection.get"},
    {POST, "/inventory/instances", WRITE, inventory_instance_create,
     .permission = "inventory.instances.item.post"},
    {DELETE, "/inventory/instances", NONE, inventory_instances_delete,
     .permission = "inventory.instances.collection.delete"},
    {GET, "/inventory/instances/{id}", READ, inventory_instance_get,
     .permission = "inventory.instances.item.get"},
    {PUT, "/inventory/instances/{id}", WRITE, inventory_instance_put,
     .permission = "inventory.instances.item.put"},
    {PATCH, "/inventory/instances/{id}", WRITE, inventory_instance_patch,
     .permission = "inventory.instances.item.patch.execute"},
    {DELETE, "/inventory/instances/{id}", WRITE, inventory_instance_delete,
     .permission = "inventory.instances.item.delete"},
    // FOLIO asks for no permission here; whoever may change an instance may mark it.
    {DELETE, "/inventory/instances/{id}/mark-deleted", WRITE, inventory_instance_mark_deleted,
     .permission = "inventory.instances.item.put"},
    {0},
};

static const Route batch_routes[] = {
    {POST, "/inventory/instances/batch", NONE, inventory_instances_batch,
     .permission = "inventory.instances.batch.post"},
    {0},
};

static const Route config_routes[] = {
    {GET, "/inventory/config/instances/blocked-fields", NONE, blocked_instance_fields,
     .permission = "inventory.config.instances.blocked-fields.get"},
    {GET, "/inventory/config/holdings/blocked-fields", NONE, blocked_holdings_fields,
     .permission = "inventory.config.holdings.blocked-fields.get"},
    {0},
};

static const Route move_routes[] = {
    {POST, "/inventory/items/move", WRITE, inventory_items_move,
     .permission = "inventory.items.move.item.post"},
    {POST, "/inventory/holdings/move", WRITE, inventory_holdings_move,
     .permission = "inventory.holdings.move.item.post"},
    {0},
};

static const Route isbn_routes[] = {
    {GET, "/isbn/convertTo13", NONE, isbn_to_13, .permission = "isbn-utils.convert-to-13.get"},
    {GET, "/isbn/convertTo10", NONE, isbn_to_10, .permission = "isbn-utils.convert-to-10.get"},
    {GET, "/isbn/validator", NONE, isbn_validate, .permission = "isbn-utils.validator.get"},
    {0},
};

static const Interface interfaces[] = {
    {"inventory", "13.1", inventory_routes, .latest = "14.4"},
    {"inventory-batch", "2.0", batch_routes, .latest = "3.0"},
    {"inventory-config", "0.2", config_routes},
    {"inventory-move", "0.3", move_routes},
    {"isbn-utils", "2.0", isbn_routes},
    {"_tenant", "1.2", .type = "system"},
    {0},
};

// What is asked of modules that exist here only in part (authority links, source records) is left
// out: inventory works without them.
static const char *const requires[] = {"item-storage 10.0",
                                       "instance-storage 10.0",
                                       "instance-storage-batch 2.0",
                                       "holdings-storage 6.0",
                                       "material-types 2.0",
                                       "loan-types 2.0",
                                       "locations 3.0",
                                       "instance-types 2.0",
                                       "identifier-types 1.0",
                                       "contributor-name-types 1.0",
                                       "users 16.0",
                                       "bound-with-parts-storage 1.0",
                                       "instance-preceding-succeeding-titles 0.1",
                                       "request-storage 6.0",
                                       NULL};

const Module mod_inventory = {
    .name = "mod-inventory",
    .version = "20.2.0",
    .provides = interfaces,
    .requires = requires,
};
