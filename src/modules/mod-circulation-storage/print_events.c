// Print events: who printed the slip of which request, and how often.
// Source: spec/circulation.md 11.
#include "modules/mod-circulation-storage/hooks.h"

#include "modules/mod-circulation-storage/properties.h"

typedef struct {
    Str request_id;
    int64_t count;
    const Json *newest; // NULL: never printed
} Printed;

static Err *events_of(Tx *tx, const Json *request_ids, StrList *ids, Docs *out)
{
    JSON_EACH(id, request_ids)
    {
        str_list_add(ids, str_lower(json_scalar_text(id)));
    }
    return tx_where_in(tx, &print_events,
                       &(WhereIn){.column = "request_id", .values = ids->at, .n = ids->len}, out);
}

static Printed printed_of(const Docs *events, Str request_id)
{
    Printed printed = {.request_id = request_id};
    Time newest = INT64_MIN, at = 0;

    for (size_t i = 0; i < events->len; i++) {
        if (!str_eq_nocase(json_str(events->at[i], "requestId"), request_id)) {
            continue;
        }
        printed.count++;
        if (json_time(events->at[i], "printEventDate", &at) && at > newest) {
            newest = at;
            printed.newest = events->at[i];
        }
    }
    return printed;
}

static Err *event_add(Tx *tx, const Json *body, Str request_id)
{
    Json *event = json_object();

    json_set_str(event, "requestId", request_id);
    json_take(event, "requesterId", body, "requesterId");
    json_take(event, "requesterName", body, "requesterName");
    json_take(event, "printEventDate", body, "printEventDate");
    return tx_insert(tx, &print_events, event);
}

// The request shows how often it was printed and by whom last.
static Err *request_note(Tx *tx, const Json *body, const Printed *printed)
{
    Json *request = NULL;

    TRY(tx_get(tx, &requests, printed->request_id, &request));
    if (!request) {
        return NULL;
    }
    Json *old = json_copy(request), *details = json_object();
    json_set_int(details, "printCount", printed->count);
    json_take(details, "requesterId", body, "requesterId");
    json_set_bool(details, "isPrinted", true);
    json_take(details, "printEventDate", body, "printEventDate");
    json_set(request, "printDetails", details);
    return tx_change(tx, &requests, old, request);
}

Err *print_events_create(Req *req)
{
    Json *body = NULL;
    StrList ids = {0};
    Docs events = {0};

    TRY(req_body_object(req, &body));
    TRY(properties_check(&print_events_request_record, body));
    JSON_EACH(id, json_get(body, "requestIds"))
    {
        TRY(event_add(req->tx, body, json_scalar_text(id)));
    }
    TRY(events_of(req->tx, json_get(body, "requestIds"), &ids, &events));
    for (size_t i = 0; i < ids.len; i++) {
        Printed printed = printed_of(&events, ids.at[i]);
        TRY(request_note(req->tx, body, &printed));
    }
    return reply_empty(req, 201);
}

Err *print_events_status(Req *req)
{
    Json *body = NULL, *answer = json_object(), *array = json_array();
    StrList ids = {0};
    Docs events = {0};

    TRY(req_body_object(req, &body));
    TRY(properties_check(&print_events_status_record, body));
    TRY(events_of(req->tx, json_get(body, "requestIds"), &ids, &events));
    for (size_t i = 0; i < ids.len; i++) {
        Printed printed = printed_of(&events, ids.at[i]);
        if (!printed.newest) {
            continue;
        }
        Json *one = json_object();
        json_set_str(one, "requestId", printed.request_id);
        json_take(one, "requesterId", printed.newest, "requesterId");
        json_take(one, "requesterName", printed.newest, "requesterName");
        json_set_int(one, "count", printed.count);
        json_take(one, "printEventDate", printed.newest, "printEventDate");
        json_add(array, one);
    }
    json_set_int(answer, "totalRecords", (int64_t)json_len(array));
    json_set(answer, "printEventsStatusResponses", array);
    return reply_json(req, 200, answer);
}
