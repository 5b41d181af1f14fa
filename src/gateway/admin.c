// Health and operation on their own listener: they answer while everything else waits.
#include "gateway/admin.h"

#include "gateway/internal.h"

// Ready when the process's own database answers: a transaction alone may not ask it anything.
static Err *look(Tx *tx, void *context)
{
    int64_t tenants = 0;
    (void)context;
    return tx_count_where(tx, &own_tenants, "1 = 1", NO_ARGS, &tenants);
}

static Err *database_works(const App *app)
{
    return tx_run(app->own, &(TxOptions){.kind = READ}, look, NULL);
}

static Err *ready_reply(Req *req, const App *app)
{
    Err *err = app->own ? database_works(app) : err_text(503, "starting");
    Json *body = json_object(), *check = json_object(), *checks = json_array();

    json_set_str(check, "name", S("database"));
    json_set_bool(check, "ok", !err);
    if (err) {
        json_set_str(check, "message", err->message);
    }
    json_add(checks, check);
    json_set_bool(body, "ready", !err);
    json_set(body, "checks", checks);
    return reply_json(req, err ? 503 : 200, body);
}

static bool is_get(const Req *req, Str path)
{
    return (req->method == GET || req->method == HEAD) && str_eq(req->path, path);
}

// Pages of other sites can make a browser send such a request, but not without saying so.
static bool is_from_a_page(const Req *req)
{
    return req->method != GET && req_header(req, "origin").len;
}

static Err *admin_answer(Req *req, App *app)
{
    if (is_get(req, S("/metrics"))) {
        req->path = S("/octavo/metrics");
    }
    if (is_get(req, S("/octavo/health/live")) || is_get(req, S("/admin/health"))) {
        return reply_text(req, 200, S("OK"));
    }
    if (is_get(req, S("/octavo/health/ready"))) {
        return ready_reply(req, app);
    }
    if (!str_starts(req->path, S("/octavo/")) || !app->own) {
        return err_text(404, "the admin listener has /octavo/health/live, /octavo/health/ready, "
                             "/octavo/metrics and /octavo/ops/");
    }
    if (is_from_a_page(req)) {
        return err_text(403, "the admin listener takes no requests of web pages");
    }
    return operator_serve(req, app);
}

void admin_handle(Req *req, void *app)
{
    Err *err = admin_answer(req, app);

    if (err) {
        reply_err(req, err);
    }
}

void edge_handle(Req *req, void *app)
{
    (void)app;
    Err *err = is_get(req, S("/admin/health")) ? reply_json_text(req, 200, S("\"OK\""))
                                               : err_text(404, "no edge interface is installed");

    if (err) {
        reply_err(req, err);
    }
}
