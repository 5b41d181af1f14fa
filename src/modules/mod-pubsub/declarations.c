// Declarations: which module publishes and which receives a type of event.
// Source: spec/platform.md 6.4.
#include "modules/mod-pubsub/internal.h"

#include "modules/mod-pubsub/properties.h"

// A module that declares itself again replaces what it said of that type.
static Err *declare(Req *req, Str module_id, Str event_type, const char *role, Str callback)
{
    Docs docs = {0};
    Json *doc = json_object();

    json_set_str(doc, "eventType", event_type);
    json_set_str(doc, "moduleId", module_id);
    json_set_str(doc, "tenantId", req->tenant_id);
    json_set_str(doc, "moduleRole", str_of(role));
    json_set_str_if(doc, "subscriberCallback", callback);
    TRY(tx_where(req->tx, &messaging_modules, "event_type = $1 and module_id = $2 and role = $3",
                 ARGS(A_TEXT(event_type), A_TEXT(module_id), A_TEXT(str_of(role))), &docs));
    if (!docs.len) {
        return tx_insert(req->tx, &messaging_modules, doc);
    }
    json_set_str(doc, "id", json_str(docs.at[0], "id"));
    return tx_update(req->tx, &messaging_modules, doc);
}

// ---------------------------------------------------------------------------------------------
// Publishers

static Err *error_of(Str message)
{
    return err_json(400, NO_CODE, message, NULL, 0);
}

static Err *descriptor_check(Tx *tx, const Json *declared)
{
    Str event_type = json_str(declared, "eventType");
    Json *stored = NULL;

    TRY(event_type_find(tx, event_type, &stored));
    if (!stored) {
        return error_of(str_fmt("Event type '" STR_FMT "' does not exist", STR_ARG(event_type)));
    }
    Json *known = event_type_shown(stored);
    if (json_equal(known, declared)) {
        return NULL;
    }
    return error_of(str_fmt("Descriptor of event type '" STR_FMT
                            "' does not match to existing descriptor. To declare publisher should "
                            "use follow descriptor: " STR_FMT,
                            STR_ARG(event_type), STR_ARG(json_text_indented(known))));
}

Err *publisher_declare(Req *req)
{
    Json *body = NULL;
    Err *errors = NULL;

    TRY(req_body_object(req, &body));
    TRY(properties_check(&publisher_body, body));
    JSON_EACH(descriptor, json_get(body, "eventDescriptors"))
    {
        errors = err_join(errors, descriptor_check(req->tx, descriptor));
    }
    TRY(errors);
    JSON_EACH(descriptor, json_get(body, "eventDescriptors"))
    {
        TRY(declare(req, json_str(body, "moduleId"), json_str(descriptor, "eventType"), "PUBLISHER",
                    S("")));
    }
    return reply_empty(req, 201);
}

// ---------------------------------------------------------------------------------------------
// Subscribers

// A subscriber may come before its publisher: the type is made, and marked as temporary.
static Err *type_ensure(Tx *tx, Str event_type)
{
    Json *stored = NULL, *doc = json_object();

    TRY(event_type_find(tx, event_type, &stored));
    if (stored) {
        return NULL;
    }
    json_set_str(doc, "eventType", event_type);
    json_set_int(doc, "eventTTL", 1);
    json_set_bool(doc, "tmp", true);
    return tx_insert(tx, &event_descriptors, doc);
}

Err *subscriber_declare(Req *req)
{
    Json *body = NULL;

    TRY(req_body_object(req, &body));
    TRY(properties_check(&subscriber_body, body));
    JSON_EACH(one, json_get(body, "subscriptionDefinitions"))
    {
        TRY(type_ensure(req->tx, json_str(one, "eventType")));
        TRY(declare(req, json_str(body, "moduleId"), json_str(one, "eventType"), "SUBSCRIBER",
                    json_str(one, "callbackAddress")));
    }
    return reply_empty(req, 201);
}

// ---------------------------------------------------------------------------------------------
// Lists and ends

static Err *list(Req *req, const char *role)
{
    Docs docs = {0};

    TRY(tx_where(req->tx, &messaging_modules, "event_type = $1 and role = $2 order by module_id",
                 ARGS(A_TEXT(req_param(req, 0)), A_TEXT(str_of(role))), &docs));
    return reply_docs(req, "messagingModules", &docs);
}

Err *publishers_list(Req *req)
{
    return list(req, "PUBLISHER");
}

Err *subscribers_list(Req *req)
{
    return list(req, "SUBSCRIBER");
}

static Err *delete_all(Tx *tx, const Docs *docs)
{
    for (size_t i = 0; i < docs->len; i++) {
        TRY(tx_delete(tx, &messaging_modules, json_str(docs->at[i], "id")));
    }
    return NULL;
}

static Err *module_id_of(const Req *req, Str *out)
{
    *out = req_query_text(req, "moduleId");
    return out->len ? NULL : err_text(400, "moduleId query parameter is required");
}

static Err *end(Req *req, const char *role)
{
    Str module_id;
    Docs docs = {0};

    TRY(module_id_of(req, &module_id));
    TRY(tx_where(req->tx, &messaging_modules, "event_type = $1 and module_id = $2 and role = $3",
                 ARGS(A_TEXT(req_param(req, 0)), A_TEXT(module_id), A_TEXT(str_of(role))), &docs));
    TRY(delete_all(req->tx, &docs));
    return reply_empty(req, 204);
}

Err *publishers_delete(Req *req)
{
    return end(req, "PUBLISHER");
}

Err *subscribers_delete(Req *req)
{
    return end(req, "SUBSCRIBER");
}

// All declarations of a module in one role, as a module says good-bye.
Err *messaging_modules_delete(Req *req)
{
    Str module_id, role = req_query_text(req, "moduleRole");
    Docs docs = {0};

    TRY(module_id_of(req, &module_id));
    if (!str_eq_z(role, "PUBLISHER") && !str_eq_z(role, "SUBSCRIBER")) {
        return err_text(400, "moduleRole must be PUBLISHER or SUBSCRIBER");
    }
    TRY(tx_where(req->tx, &messaging_modules, "module_id = $1 and role = $2",
                 ARGS(A_TEXT(module_id), A_TEXT(role)), &docs));
    TRY(delete_all(req->tx, &docs));
    return reply_empty(req, 204);
}
