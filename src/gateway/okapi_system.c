// Okapi's interface: version, health, environment, discovery.
//
// All modules live in this process: discovery tells its address for each of them. Addresses that
// scripts register for foreign modules are kept and shown, never called.
#include "gateway/okapi.h"

#include "base/uuid.h"

#include <string.h>

Err *okapi_version(Req *req)
{
    return reply_text(req, 200, S(OKAPI_VERSION));
}

Err *okapi_health(Req *req)
{
    return reply_json(req, 200, json_array());
}

Err *okapi_accept(Req *req)
{
    return reply_empty(req, 204);
}

Err *okapi_accept_empty_list(Req *req)
{
    return reply_json(req, 200, json_array());
}

Err *okapi_nothing_found(Req *req)
{
    Str last = req->param_count ? req->params[req->param_count - 1] : (Str){"", 0};
    return err_text(404, STR_FMT, STR_ARG(last));
}

// ---------------------------------------------------------------------------------------------
// Environment: {"name","value","description"}

static Json *env_json(const Json *doc)
{
    Json *json = json_object();
    json_take(json, "name", doc, "name");
    json_take(json, "value", doc, "value");
    json_take(json, "description", doc, "description");
    return json;
}

Err *okapi_env_list(Req *req)
{
    Docs docs = {0};
    Json *array = json_array();
    TRY(own_all(req->app, &own_env, &docs));
    for (size_t i = 0; i < docs.len; i++) {
        json_add(array, env_json(docs.at[i]));
    }
    return reply_json(req, 200, array);
}

Err *okapi_env_get(Req *req)
{
    Json *doc = NULL;
    TRY(own_find(req->app, &own_env, "name", req_param(req, 0), &doc));
    return doc ? reply_json(req, 200, env_json(doc)) : okapi_nothing_found(req);
}

Err *okapi_env_post(Req *req)
{
    Json *body = NULL;
    TRY(req_body_object(req, &body));
    Str name = json_str(body, "name");
    if (!name.len) {
        return err_text(400, "name missing");
    }
    if (!json_has(body, "value")) {
        return err_text(400, "value missing");
    }
    Json *doc = env_json(body);
    TRY(own_save(req->app, &own_env, "name", "name", doc));
    reply_header(req, "location", str_fmt("/_/env/" STR_FMT, STR_ARG(url_encode(name))));
    return reply_json(req, 201, env_json(body));
}

Err *okapi_env_delete(Req *req)
{
    bool found = false;
    TRY(own_delete(req->app, &own_env, "name", req_param(req, 0), &found));
    return found ? reply_empty(req, 204) : okapi_nothing_found(req);
}

// ---------------------------------------------------------------------------------------------
// Discovery

static Str base_url(const Req *req)
{
    return req->app->base_url.len ? req->app->base_url : S("http://localhost:9130");
}

static Json *instance_json(const Req *req, Str module)
{
    Json *json = json_object();
    json_set_str(json, "srvcId", module);
    json_set_str(json, "instId", str_fmt(STR_FMT "-1", STR_ARG(module)));
    json_set_str(json, "url", base_url(req));
    return json;
}

// All instances, of one module (`service`), or one of it.
static Err *instances(const Req *req, Str service, Str instance, Json **array)
{
    const Gateway *gateway = req->app->gateway;
    Docs stored = {0};
    *array = json_array();
    for (size_t i = 0; i < gateway->module_count; i++) {
        Json *one = instance_json(req, module_id(gateway->modules[i]));
        if ((!service.len || str_eq(service, json_str(one, "srvcId"))) &&
            (!instance.len || str_eq(instance, json_str(one, "instId")))) {
            json_add(*array, one);
        }
    }
    TRY(own_all(req->app, &own_deployments, &stored));
    for (size_t i = 0; i < stored.len; i++) {
        Json *one = json_get(stored.at[i], "deployment");
        if ((!service.len || str_eq(service, json_str(one, "srvcId"))) &&
            (!instance.len || str_eq(instance, json_str(one, "instId")))) {
            json_add(*array, json_copy(one));
        }
    }
    return NULL;
}

Err *okapi_discovery_list(Req *req)
{
    Json *array = NULL;
    TRY(instances(req, (Str){"", 0}, (Str){"", 0}, &array));
    return reply_json(req, 200, array);
}

Err *okapi_discovery_module(Req *req)
{
    Json *array = NULL;
    TRY(instances(req, req_param(req, 0), (Str){"", 0}, &array));
    return reply_json(req, 200, array);
}

Err *okapi_discovery_instance(Req *req)
{
    Json *array = NULL;
    TRY(instances(req, req_param(req, 0), req_param(req, 1), &array));
    return json_len(array) ? reply_json(req, 200, json_first(array)) : okapi_nothing_found(req);
}

static Err *keep_deployment(const Req *req, Json *deployment)
{
    Json *doc = json_object();
    if (module_place(req->app->gateway, json_str(deployment, "srvcId")) != SIZE_MAX) {
        return NULL; // it runs already
    }
    json_set_str(doc, "instId", json_str(deployment, "instId"));
    json_set(doc, "deployment", json_copy(deployment));
    return own_save(req->app, &own_deployments, "inst_id", "instId", doc);
}

Err *okapi_discovery_post(Req *req)
{
    Json *body = NULL;
    TRY(req_body_object(req, &body));
    Str service = json_str(body, "srvcId");
    if (!service.len) {
        return err_text(400, "Needs srvcId");
    }
    if (!json_str(body, "instId").len) {
        json_set_str(body, "instId", uuid_new());
    }
    TRY(keep_deployment(req, body));
    reply_header(req, "location",
                 str_fmt("/_/discovery/modules/" STR_FMT "/" STR_FMT, STR_ARG(service),
                         STR_ARG(json_str(body, "instId"))));
    return reply_json(req, 201, body);
}

Err *okapi_discovery_put(Req *req)
{
    Json *body = NULL;
    TRY(req_body_object(req, &body));
    json_set_str(body, "srvcId", req_param(req, 0));
    json_set_str(body, "instId", req_param(req, 1));
    TRY(keep_deployment(req, body));
    return reply_json(req, 200, body);
}

static Err *delete_deployments(const Req *req, Str service, Str instance)
{
    Docs stored = {0};
    bool found = false;
    TRY(own_all(req->app, &own_deployments, &stored));
    for (size_t i = 0; i < stored.len; i++) {
        const Json *one = json_get(stored.at[i], "deployment");
        if ((!service.len || str_eq(service, json_str(one, "srvcId"))) &&
            (!instance.len || str_eq(instance, json_str(one, "instId")))) {
            TRY(own_delete(req->app, &own_deployments, "inst_id", json_str(one, "instId"), &found));
        }
    }
    return NULL;
}

Err *okapi_discovery_delete(Req *req)
{
    Str instance = req->param_count > 1 ? req_param(req, 1) : (Str){"", 0};
    TRY(delete_deployments(req, req_param(req, 0), instance));
    return reply_empty(req, 204);
}

Err *okapi_discovery_delete_all(Req *req)
{
    TRY(delete_deployments(req, (Str){"", 0}, (Str){"", 0}));
    return reply_empty(req, 204);
}

Err *okapi_discovery_health(Req *req)
{
    Json *array = NULL, *healths = json_array();
    Str service = req->param_count > 0 ? req_param(req, 0) : (Str){"", 0};
    Str instance = req->param_count > 1 ? req_param(req, 1) : (Str){"", 0};
    TRY(instances(req, service, instance, &array));
    JSON_EACH(one, array)
    {
        Json *health = json_object();
        bool is_ours = module_place(req->app->gateway, json_str(one, "srvcId")) != SIZE_MAX;
        json_take(health, "instId", one, "instId");
        json_take(health, "srvcId", one, "srvcId");
        json_set_str(health, "healthMessage", is_ours ? S("OK") : S("Not called"));
        json_set_bool(health, "healthStatus", is_ours);
        json_add(healths, health);
    }
    if (req->param_count < 2) {
        return reply_json(req, 200, healths);
    }
    return json_len(healths) ? reply_json(req, 200, json_first(healths)) : okapi_nothing_found(req);
}

static Json *node_json(const Req *req)
{
    Json *json = json_object();
    json_set_str(json, "nodeId", S("localhost"));
    json_set_str(json, "url", base_url(req));
    return json;
}

Err *okapi_nodes(Req *req)
{
    Json *array = json_array();
    json_add(array, node_json(req));
    return reply_json(req, 200, array);
}

Err *okapi_node(Req *req)
{
    if (!str_eq(req_param(req, 0), S("localhost"))) {
        return okapi_nothing_found(req);
    }
    return reply_json(req, 200, node_json(req));
}
