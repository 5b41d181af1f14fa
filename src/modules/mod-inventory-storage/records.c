// Routes of instances, holdings records and items beside those that every collection has.
// Source: spec/inventory.md 1.6, 1.8.
#include "modules/mod-inventory-storage/storage.h"

Err *item_create(Req *req)
{
    Json *doc = NULL;

    TRY(req_body_object(req, &doc));
    json_remove(doc, "status.date");
    TRY(tx_insert(req->tx, &items, doc));
    return reply_created(req, &items, doc);
}
