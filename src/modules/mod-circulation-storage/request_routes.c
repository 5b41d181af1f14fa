// Routes of requests that no collection covers: the old spelling, the batch.
// Source: spec/circulation.md 12.2, spec/decisions.md 15.
#include "modules/mod-circulation-storage/hooks.h"

// Published plans still write "fulfilment".
static void spelling_renew(Json *request)
{
    if (json_has(request, "fulfilmentPreference") && !json_has(request, "fulfillmentPreference")) {
        json_take(request, "fulfillmentPreference", request, "fulfilmentPreference");
    }
    json_remove(request, "fulfilmentPreference");
}

Err *request_create(Req *req)
{
    Json *body = NULL;

    TRY(req_body_object(req, &body));
    spelling_renew(body);
    return collection_create(req);
}

Err *request_put(Req *req)
{
    Json *body = NULL;

    TRY(req_body_object(req, &body));
    spelling_renew(body);
    return collection_put(req);
}

// All are checked before the first is written. A request of the batch that is not stored yet is
// new.
Err *requests_batch(Req *req)
{
    Json *body = NULL;
    size_t n = 0;

    TRY(req_body_object(req, &body));
    const Json *sent = json_get(body, "requests");
    RequestChange *changes = NEW_ARRAY(RequestChange, json_len(sent) + 1);
    JSON_EACH(one, sent)
    {
        Json *request = json_copy(one), *old = NULL;
        spelling_renew(request);
        TRY(properties_check(requests.record, request));
        if (json_has(request, "id")) {
            TRY(tx_get(req->tx, &requests, json_str(request, "id"), &old));
        }
        if (!request_is_open(request)) {
            json_remove(request, "position");
        }
        changes[n++] = (RequestChange){old, request};
    }
    TRY(requests_write(req->tx, changes, n));
    return reply_empty(req, 201);
}
