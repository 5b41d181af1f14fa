// Types of events: descriptors kept under their name. Source: spec/platform.md 6.4.
#include "modules/mod-pubsub/internal.h"

#include "modules/mod-pubsub/properties.h"

Err *event_type_find(Tx *tx, Str event_type, Json **out)
{
    return tx_find(tx, &event_descriptors, "event_type", event_type, out);
}

Json *event_type_shown(const Json *descriptor)
{
    Json *shown = json_copy(descriptor);

    json_remove(shown, "id");
    return shown;
}

static Err *body_read(Req *req, Json **out)
{
    TRY(req_body_object(req, out));
    return properties_check(&event_descriptor_body, *out);
}

Err *event_types_list(Req *req)
{
    Docs docs = {0};

    TRY(tx_where(req->tx, &event_descriptors, "1 = 1 order by event_type", NO_ARGS, &docs));
    for (size_t i = 0; i < docs.len; i++) {
        docs.at[i] = event_type_shown(docs.at[i]);
    }
    return reply_docs(req, "eventDescriptors", &docs);
}

// A descriptor may be sent again as long as it says the same: modules do so whenever they are
// enabled. A temporary one, made by a subscriber that came first, gives way.
Err *event_types_post(Req *req)
{
    Json *body = NULL, *stored = NULL;

    TRY(body_read(req, &body));
    Str event_type = json_str(body, "eventType");
    TRY(event_type_find(req->tx, event_type, &stored));
    if (!stored) {
        Json *doc = json_copy(body);
        TRY(tx_insert(req->tx, &event_descriptors, doc));
    } else if (json_flag(stored, "tmp", false)) {
        Json *doc = json_copy(body);
        json_set_str(doc, "id", json_str(stored, "id"));
        TRY(tx_update(req->tx, &event_descriptors, doc));
    } else if (!json_equal(event_type_shown(stored), body)) {
        return err_text(400,
                        "Event descriptor for event type '" STR_FMT
                        "' already exists, but the content is different. Existing event "
                        "descriptor: " STR_FMT,
                        STR_ARG(event_type), STR_ARG(json_text_indented(event_type_shown(stored))));
    }
    reply_header(req, "Location", str_fmt("/pubsub/event-types/" STR_FMT, STR_ARG(event_type)));
    return reply_json(req, 201, body);
}

Err *event_types_get(Req *req)
{
    Json *stored = NULL;

    TRY(event_type_find(req->tx, req_param(req, 0), &stored));
    if (!stored) {
        return err_text(404, "Event Descriptor with event type '" STR_FMT "' was not found",
                        STR_ARG(req_param(req, 0)));
    }
    return reply_json(req, 200, event_type_shown(stored));
}

Err *event_types_put(Req *req)
{
    Json *body = NULL, *stored = NULL;

    TRY(body_read(req, &body));
    TRY(event_type_find(req->tx, json_str(body, "eventType"), &stored));
    if (!stored) {
        return err_text(404, "EventDescriptor with event type name '" STR_FMT "' was not found",
                        STR_ARG(json_str(body, "eventType")));
    }
    Json *doc = json_copy(body);
    json_set_str(doc, "id", json_str(stored, "id"));
    TRY(tx_update(req->tx, &event_descriptors, doc));
    return reply_json(req, 200, body);
}

Err *event_types_delete(Req *req)
{
    Str event_type = req_param(req, 0);
    Json *stored = NULL;
    Docs users = {0};
    StrList names = {0};

    TRY(event_type_find(req->tx, event_type, &stored));
    if (!stored) {
        return err_text(404, "EventDescriptor with event type name '" STR_FMT "' was not found",
                        STR_ARG(event_type));
    }
    TRY(tx_where(req->tx, &messaging_modules, "event_type = $1 order by module_id",
                 ARGS(A_TEXT(event_type)), &users));
    if (users.len) {
        for (size_t i = 0; i < users.len; i++) {
            str_list_add(&names, json_str(users.at[i], "moduleId"));
        }
        Str joined = str_join(names.at, names.len, S(","));
        return err_text(400,
                        "Event type " STR_FMT " cannot be deleted. Modules [" STR_FMT
                        "] are registered as publishers or subscribers for this event type.",
                        STR_ARG(event_type), STR_ARG(joined));
    }
    TRY(tx_delete(req->tx, &event_descriptors, json_str(stored, "id")));
    return reply_empty(req, 204);
}
