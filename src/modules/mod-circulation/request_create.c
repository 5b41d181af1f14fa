// New requests: checked, put at the end of their queue, stored.
// FOLIO: mod-circulation, POST /circulation/requests. Source: spec/circulation.md 9.3.
#include "modules/mod-circulation/requests.h"

static Err *check(RequestWork *work)
{
    bool is_title_level = request_is_title_level(work->request);

    request_check_body(work);
    TRY(request_check_people(work));
    request_check_duplicates(work);
    TRY(request_check_blocks(work));
    if (is_title_level && !work->refusals) {
        TRY(request_choose_item(work));
    }
    TRY(request_check_item(work));
    request_check_loans(work);
    return work->refusals;
}

static const char *confirmation_of(const Json *request)
{
    return request_is_of_type(request, "Page")   ? "Paging request"
           : request_is_of_type(request, "Hold") ? "Hold request"
                                                 : "Recall request";
}

Err *request_make(RequestWork *work)
{
    Json *request = work->request;

    TRY(request_find_parts(work));
    TRY(check(work));
    if (!json_has(request, "id")) {
        json_set_str(request, "id", uuid_new());
    }
    request_take_snapshot(work);
    TRY(request_take_item(work));
    if (request_is_open(request)) {
        queue_add(work->queue, request);
        TRY(queue_save(work->tx, work->queue));
    } else {
        TRY(tx_insert(work->tx, &requests, request));
    }
    TRY(request_touch_loan(work));
    TRY(request_log(work->tx,
                    overrides_any(&work->overrides) ? "REQUEST_CREATED_THROUGH_OVERRIDE_EVENT"
                                                    : "REQUEST_CREATED_EVENT",
                    NULL, request));
    TRY(request_send_notice(work, confirmation_of(request)));
    return request_plan_notices(work);
}

Err *request_reply(Req *req, int status, const Json *request)
{
    Json *shown = json_copy(request);

    TRY(request_representations(req->tx, &shown, 1));
    if (status == 201) {
        reply_header(req, "Location",
                     str_fmt("/circulation/requests/" STR_FMT, STR_ARG(json_str(request, "id"))));
    }
    return reply_json(req, status, shown);
}

Err *requests_create(Req *req)
{
    RequestWork work = {.req = req, .tx = req->tx, .operation = REQUEST_CREATE};
    Json *body = NULL;

    TRY(req_body_object(req, &body));
    TRY(request_read_body(&work, body));
    TRY(request_make(&work));
    return request_reply(req, 201, work.request);
}
