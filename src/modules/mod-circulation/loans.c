// Reading loans: lists and one loan, as clients see them.
// FOLIO: mod-circulation, /circulation/loans. Source: spec/circulation.md 4.3.
#include "modules/mod-circulation/circulation.h"

#include "modules/list_view.h"

static Err *loans_enrich(Tx *tx, Json **records, size_t n, void *context)
{
    Json *shown = json_array();
    size_t i = 0;

    (void)context;
    TRY(loan_representations(tx, &(Docs){records, n}, shown));
    JSON_EACH(loan, shown)
    {
        records[i++] = json_copy(loan);
    }
    return NULL;
}

static const ListView loans_view = {.list_key = "loans", .enrich = loans_enrich};

Err *loans_list(Req *req)
{
    ListRequest request;
    List *list = NULL;

    TRY(list_request_read(req, &loans, &request));
    TRY(list_open(req->tx, &loans, &request, &list));
    return reply_view(req, list, &loans_view);
}

Err *loans_get(Req *req)
{
    Json *loan = NULL, *shown = NULL;

    TRY(tx_get(req->tx, &loans, req_param(req, 0), &loan));
    if (!loan) {
        return err_text(404, "loan record with ID \"" STR_FMT "\" cannot be found",
                        STR_ARG(req_param(req, 0)));
    }
    TRY(loan_representation(req->tx, loan, NULL, &shown));
    return reply_json(req, 200, shown);
}
