// Routes of the interface circulation: the desk, loans, requests.
// Source: spec/circulation.md 2.1.
#include "modules/mod-circulation/routes.h"

#define REQUESTS "/circulation/requests"
#define MAY      "circulation.requests."

const Route circulation_routes[] = {
    {POST, "/circulation/check-in-by-barcode", WRITE, check_in_by_barcode,
     .permission = "circulation.check-in-by-barcode.post", .is_idempotent = true,
     .locks_rows = true},
    {POST, "/circulation/check-out-by-barcode", WRITE, check_out_by_barcode,
     .permission = "circulation.check-out-by-barcode.post",
     .desired = "circulation.override-patron-block circulation.override-item-limit-block "
                "circulation.override-item-not-loanable-block "
                "circulation.override-patron-block.post "
                "circulation.override-item-limit-block.post "
                "circulation.override-item-not-loanable-block.post",
     .is_idempotent = true, .locks_rows = true},
    {POST, "/circulation/check-out-by-barcode-dry-run", READ, check_out_dry_run,
     .permission = "circulation.check-out-by-barcode-dry-run.post",
     .desired = "circulation.override-patron-block.post "
                "circulation.override-item-limit-block.post "
                "circulation.override-item-not-loanable-block.post"},
    {POST, "/circulation/renew-by-barcode", WRITE, renew_by_barcode,
     .permission = "circulation.renew-by-barcode.post",
     .desired = "circulation.override-patron-block circulation.override-renewal-block "
                "circulation.override-patron-block.post circulation.override-renewal-block.post",
     .is_idempotent = true, .locks_rows = true},
    {POST, "/circulation/renew-by-id", WRITE, renew_by_id,
     .permission = "circulation.renew-by-id.post",
     .desired = "circulation.override-patron-block circulation.override-renewal-block "
                "circulation.override-patron-block.post circulation.override-renewal-block.post",
     .is_idempotent = true, .locks_rows = true},
    {GET, "/circulation/loans", READ, loans_list, .permission = "circulation.loans.collection.get"},
    {GET, "/circulation/loans/{id}", READ, loans_get, .permission = "circulation.loans.item.get"},
    {POST, "/circulation/loans", WRITE, loans_create, .permission = "circulation.loans.item.post"},
    {PUT, "/circulation/loans/{id}", WRITE, loans_put, .permission = "circulation.loans.item.put"},
    {DELETE, "/circulation/loans/{id}", WRITE, loans_delete,
     .permission = "circulation.loans.item.delete"},
    {DELETE, "/circulation/loans", NONE, loans_delete_all,
     .permission = "circulation.loans.collection.delete"},
    {GET, REQUESTS, READ, requests_list, .permission = MAY "collection.get"},
    {POST, REQUESTS, WRITE, requests_create, .permission = MAY "item.post",
     .desired = "circulation.override-patron-block circulation.override-patron-block.post",
     .is_idempotent = true, .locks_rows = true},
    {DELETE, REQUESTS, NONE, requests_delete_all, .permission = MAY "collection.delete"},
    {GET, REQUESTS "/{id}", READ, requests_get, .permission = MAY "item.get"},
    {PUT, REQUESTS "/{id}", WRITE, requests_put, .permission = MAY "item.put"},
    {DELETE, REQUESTS "/{id}", WRITE, requests_delete, .permission = MAY "item.delete"},
    {POST, REQUESTS "/instances", WRITE, requests_create_for_instance,
     .permission = MAY "instances.item.post", .is_idempotent = true},
    {GET, REQUESTS "/queue/item/{id}", READ, queue_get_of_item,
     .permission = MAY "queue.collection.get", .later_permission = MAY "queue-item.collection.get"},
    {GET, REQUESTS "/queue/instance/{id}", READ, queue_get_of_instance,
     .permission = MAY "queue.collection.get",
     .later_permission = MAY "queue-instance.collection.get"},
    {POST, REQUESTS "/queue/item/{id}/reorder", WRITE, queue_reorder_of_item,
     .permission = MAY "queue.reorder.collection.post",
     .later_permission = MAY "queue.item-reorder.collection.post", .locks_rows = true},
    {POST, REQUESTS "/queue/instance/{id}/reorder", WRITE, queue_reorder_of_instance,
     .permission = MAY "queue.reorder.collection.post",
     .later_permission = MAY "queue.instance-reorder.collection.post", .locks_rows = true},
    {0},
};
