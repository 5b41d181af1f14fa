// octavo: the program's own interface, enabled for every tenant. Source: spec/native-api.md 1,
// 2, 9.
//
// It also answers the lists of modules that this program does not have and that other apps of the
// front end read on every page (decision 12): they are empty. A module that brings the route itself
// stands before this one in the list of modules and wins.
#include "modules/octavo/native.h"

#include "gateway/admin.h"

// Figures of the whole process are for its operators (spec/native-api.md 2).
Err *operators_only(const Req *req)
{
    if (req->is_operator || str_eq(req->tenant_id, S("supertenant")) ||
        app_flag(req->app, "gateway.tenant_operators", true)) {
        return NULL;
    }
    return err_text(403, "Access for user '" STR_FMT "' (" STR_FMT ") requires tenant supertenant",
                    STR_ARG(req->user_name), STR_ARG(req->user_id));
}

// The same answers as on the admin listener.
static Err *health(Req *req)
{
    admin_handle(req, req->app);
    return NULL;
}

static Err *version(Req *req)
{
    Json *body = json_object();
    json_set_str(body, "version", S(OCTAVO_VERSION));
    json_set_str(body, "build", build_name());
    json_set_str(body, "ui", S("none"));
    return reply_json(req, 200, body);
}

static Err *empty_list(Req *req, const char *key)
{
    return reply_json_text(req, 200, str_fmt("{\"%s\":[],\"totalRecords\":0}", key));
}

static Err *no_titles(Req *req)
{
    return empty_list(req, "titles");
}

static Err *no_pieces(Req *req)
{
    return empty_list(req, "pieces");
}

static Err *no_holding_summaries(Req *req)
{
    return empty_list(req, "holdingSummaries");
}

static Err *no_order_lines(Req *req)
{
    return empty_list(req, "poLines");
}

static Err *no_mappings(Req *req)
{
    return empty_list(req, "mappings");
}

static Err *no_profiles(Req *req)
{
    return empty_list(req, "profiles");
}

static const Route routes[] = {
    {GET, "/octavo/health/live", NONE, health},
    {GET, "/octavo/health/ready", NONE, health},
    {GET, "/octavo/version", NONE, version},
    {GET, "/octavo/metrics", NONE, metrics_show, "octavo.ops.view"},
    {GET, "/octavo/ops/summary", NONE, summary_show, "octavo.ops.view"},
    {GET, "/octavo/ops/deployment", NONE, deployment_show, "octavo.ops.view"},
    {GET, "/octavo/ops/modules", NONE, modules_show, "octavo.ops.view"},
    {GET, "/octavo/ops/statements", NONE, statements_show, "octavo.ops.view"},
    {DELETE, "/octavo/ops/statements", NONE, statements_forget, "octavo.ops.manage"},
    {GET, "/octavo/ops/requests", NONE, requests_show, "octavo.ops.view"},
    {GET, "/octavo/ops/jobs", NONE, jobs_show, "octavo.ops.view"},
    {POST, "/octavo/ops/jobs/{name}/run", NONE, jobs_run, "octavo.ops.manage"},
    {POST, "/octavo/ops/jobs/{name}/pause", NONE, jobs_pause, "octavo.ops.manage"},
    {POST, "/octavo/ops/jobs/{name}/resume", NONE, jobs_resume, "octavo.ops.manage"},
    {GET, "/octavo/ops/loglevel", NONE, loglevel_show, "octavo.ops.view"},
    {PUT, "/octavo/ops/loglevel", NONE, loglevel_set, "octavo.ops.manage"},
    {GET, "/octavo/ops/outbox", READ, outbox_show, "octavo.ops.view"},
    {POST, "/octavo/ops/outbox/{seq}/retry", WRITE, outbox_retry, "octavo.ops.manage"},
    {DELETE, "/octavo/ops/outbox/{seq}", WRITE, outbox_delete_dead, "octavo.ops.manage"},

    {GET, "/orders/titles", NONE, no_titles},
    {GET, "/orders/pieces", NONE, no_pieces},
    {GET, "/orders/holding-summary/{id}", NONE, no_holding_summaries},
    {GET, "/orders/order-lines", NONE, no_order_lines},
    {GET, "/remote-storage/mappings", NONE, no_mappings},
    {GET, "/copycat/profiles", NONE, no_profiles},
    {0},
};

static const Interface provides[] = {
    {"octavo", "1.0", routes},
    {0},
};

const Module octavo_module = {
    .name = "octavo",
    .version = OCTAVO_VERSION,
    .provides = provides,
    .is_in_every_tenant = true,
};
