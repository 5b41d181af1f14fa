// Reading requests: lists, one request, the queue of an item or a title.
// FOLIO: mod-circulation, /circulation/requests. Source: spec/circulation.md 9.2, 9.9.
#include "modules/mod-circulation/requests.h"

#include "modules/list_view.h"

static Err *requests_enrich(Tx *tx, Json **records, size_t n, void *context)
{
    (void)context;
    return request_representations(tx, records, n);
}

static const ListView requests_view = {.list_key = "requests", .enrich = requests_enrich};

Err *requests_list(Req *req)
{
    ListRequest request;
    List *list = NULL;

    TRY(list_request_read(req, &requests, &request));
    TRY(list_open(req->tx, &requests, &request, &list));
    return reply_view(req, list, &requests_view);
}

Err *request_by_id(Tx *tx, Str id, Json **out)
{
    TRY(tx_get(tx, &requests, id, out));
    if (!*out) {
        return err_text(404, "requests record with ID \"" STR_FMT "\" cannot be found",
                        STR_ARG(id));
    }
    return NULL;
}

Err *requests_get(Req *req)
{
    Json *request = NULL;

    TRY(request_by_id(req->tx, req_param(req, 0), &request));
    TRY(request_representations(req->tx, &request, 1));
    return reply_json(req, 200, request);
}
