// Publishing: an event is recorded and handed to its receivers in the transaction of the call.
//
// Receivers that are modules of this process get it over the outbox, at least once and in order.
// Those outside have no address that this server would call: that is recorded as REJECTED with the
// reason. Source: spec/platform.md 6.4.
#include "modules/mod-pubsub/internal.h"

#include "modules/mod-pubsub/properties.h"

static Err *record(Req *req, const Json *event, const char *state, Str error)
{
    Json *message = json_object();

    json_take(message, "eventId", event, "id");
    json_take(message, "eventType", event, "eventType");
    json_take(message, "correlationId", event, "eventMetadata.correlationId");
    json_set_str(message, "tenantId", req->tenant_id);
    json_take(message, "createdBy", event, "eventMetadata.createdBy");
    json_take(message, "publishedBy", event, "eventMetadata.publishedBy");
    json_set_time(message, "auditDate", req->now);
    json_set_str(message, "state", str_of(state));
    json_set_str_if(message, "errorMessage", error);
    return tx_insert(req->tx, &audit_messages, message);
}

// Is the receiver, "mod-circulation-24.2.0", a module of this process that is enabled?
static bool is_built_in(const Req *req, Str module_id)
{
    for (size_t i = 0; req->app->modules[i]; i++) {
        const Module *module = req->app->modules[i];
        Str prefix = str_fmt("%s-", module->name);
        if (str_starts(module_id, prefix) && module_id.len > prefix.len &&
            module_id.at[prefix.len] >= '0' && module_id.at[prefix.len] <= '9') {
            return tenant_has_module(req->tenant, module->name);
        }
    }
    return false;
}

static Err *may_publish(Req *req, const Json *event)
{
    Str event_type = json_str(event, "eventType");
    Str module_id = json_str(event, "eventMetadata.publishedBy");
    Json *descriptor = NULL;
    int64_t count = 0;

    TRY(event_type_find(req->tx, event_type, &descriptor));
    if (!descriptor) {
        return err_text(400, "Event type '" STR_FMT "' does not exist", STR_ARG(event_type));
    }
    TRY(tx_count_where(
        req->tx, &messaging_modules,
        "event_type = $1 and module_id = $2 and role = 'PUBLISHER' and is_active = 1",
        ARGS(A_TEXT(event_type), A_TEXT(module_id)), &count));
    if (!count) {
        return err_text(400, STR_FMT " is not registered as PUBLISHER for event type " STR_FMT,
                        STR_ARG(module_id), STR_ARG(event_type));
    }
    return NULL;
}

static Err *hand_out(Req *req, const Json *event)
{
    Docs receivers = {0};

    TRY(tx_where(req->tx, &messaging_modules,
                 "event_type = $1 and role = 'SUBSCRIBER' and is_active = 1 order by module_id",
                 ARGS(A_TEXT(json_str(event, "eventType"))), &receivers));
    if (!receivers.len) {
        return record(req, event, "REJECTED",
                      str_fmt("There is no SUBSCRIBERS registered for event type " STR_FMT,
                              STR_ARG(json_str(event, "eventType"))));
    }
    for (size_t i = 0; i < receivers.len; i++) {
        Str module_id = json_str(receivers.at[i], "moduleId");
        if (is_built_in(req, module_id)) {
            TRY(record(req, event, "DELIVERED", S("")));
            continue;
        }
        TRY(record(req, event, "REJECTED",
                   str_fmt("No address is known for " STR_FMT STR_FMT, STR_ARG(module_id),
                           STR_ARG(json_str(receivers.at[i], "subscriberCallback")))));
    }
    return NULL;
}

static Err *payload_keep(Req *req, const Json *event)
{
    Json *payload = json_object(), *stored = NULL;

    TRY(tx_get(req->tx, &audit_payloads, json_str(event, "id"), &stored));
    json_take(payload, "id", event, "id");
    json_take(payload, "content", event, "eventPayload");
    return stored ? tx_update(req->tx, &audit_payloads, payload)
                  : tx_insert(req->tx, &audit_payloads, payload);
}

Err *event_publish(Req *req)
{
    Json *event = NULL;

    TRY(req_body_object(req, &event));
    TRY(properties_check(&event_body, event));
    TRY(may_publish(req, event));
    TRY(payload_keep(req, event));
    TRY(record(req, event, "CREATED", S("")));
    TRY(tx_emit(req->tx, PUBSUB_TOPIC, str_z(json_str(event, "eventType")), json_str(event, "id"),
                NULL, event));
    TRY(record(req, event, "PUBLISHED", S("")));
    TRY(hand_out(req, event));
    return reply_empty(req, 204);
}

// ---------------------------------------------------------------------------------------------
// What became of events

#define FORMATS "Supported date formats yyyy-MM-dd, yyyy-MM-dd'T'HH:mm:ss, yyyy-MM-dd'T'HH:mm:ssZZ"

// A day alone begins at its midnight and, as an end, lasts until its last second.
static Err *bound_read(Str text, bool is_end, Time *out)
{
    const Time day_ms = 24 * 60 * 60 * 1000;

    if (!time_parse(text, out)) {
        return err_text(400, FORMATS);
    }
    if (is_end && text.len == 10) {
        *out += day_ms - 1;
    }
    return NULL;
}

Err *history_list(Req *req)
{
    Str start = req_query_text(req, "startDate"), end = req_query_text(req, "endDate");
    Time from = 0, to = 0;
    Docs docs = {0};

    if (!start.len || !end.len) {
        return err_text(400, "Start date and End date are required query parameters");
    }
    TRY(bound_read(start, false, &from));
    TRY(bound_read(end, true, &to));
    TRY(tx_where(req->tx, &audit_messages,
                 "audit_date between $1 and $2 and ($3 = '' or event_id = $3) and "
                 "($4 = '' or event_type = $4) and ($5 = '' or correlation_id = $5) "
                 "order by audit_date, id",
                 ARGS(A_INT(from), A_INT(to), A_TEXT(str_lower(req_query_text(req, "eventId"))),
                      A_TEXT(req_query_text(req, "eventType")),
                      A_TEXT(req_query_text(req, "correlationId"))),
                 &docs));
    return reply_docs(req, "auditMessages", &docs);
}

Err *payload_get(Req *req)
{
    Json *stored = NULL, *shown = json_object();

    TRY(tx_get(req->tx, &audit_payloads, str_lower(req_param(req, 0)), &stored));
    if (!stored) {
        return err_text(404, "Couldn't find audit message payload for event " STR_FMT,
                        STR_ARG(req_param(req, 0)));
    }
    json_take(shown, "eventId", stored, "id");
    json_take(shown, "content", stored, "content");
    return reply_json(req, 200, shown);
}
