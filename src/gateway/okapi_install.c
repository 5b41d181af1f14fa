// Okapi's interface: install, upgrade, and the jobs they leave behind.
#include "gateway/okapi.h"

#include "base/uuid.h"

static bool parameter_is_true(Str parameters, Str name)
{
    Str one, key;
    while (str_next(&parameters, ',', &one)) {
        if (str_next(&one, '=', &key) && str_eq(str_trim(key), name)) {
            return str_eq(str_trim(one), S("true"));
        }
    }
    return false;
}

static InstallOptions read_options(const Req *req)
{
    Str parameters = req_query_text(req, "tenantParameters"), value;
    InstallOptions options = {.simulate = req_query_flag(req, "simulate"),
                              .purge = req_query_flag(req, "purge"),
                              .ignore_errors = req_query_flag(req, "ignoreErrors"),
                              .reinstall = req_query_flag(req, "reinstall"),
                              .reference = parameter_is_true(parameters, S("loadReference")),
                              .sample = parameter_is_true(parameters, S("loadSample"))};
    options.dep_check = !req_query(req, "depCheck", &value) || !str_eq(value, S("false"));
    return options;
}

// {"id","complete","startDate","endDate","modules"}
static Json *job_json(const Req *req, Str id, const Json *done, const Err *err)
{
    Json *job = json_object(), *modules = json_copy(done);
    json_set_str(job, "id", id);
    json_set_bool(job, "complete", true);
    json_set_str(job, "startDate", time_format_z(req->now));
    json_set_str(job, "endDate", time_format_z(time_now()));
    JSON_EACH(module, modules)
    {
        json_set_str(module, "stage", S("done"));
        json_set_str(module, "status", err ? S("failed") : S("idle"));
    }
    if (err && json_first(modules)) {
        json_set_str(json_first(modules), "message", err->message);
    }
    json_set(job, "modules", modules);
    return job;
}

static Err *keep_job(App *app, const Tenant *tenant, Str id, const Json *job)
{
    Json *doc = json_object();
    json_set_str(doc, "jobId", id);
    json_set_str(doc, "tenant", tenant->id);
    json_set(doc, "job", json_copy(job));
    return own_save(app, &own_jobs, "job_id", "jobId", doc);
}

// The whole work is done before the answer, also for async=true: the job is complete at once.
static Err *run_and_reply(Req *req, Tenant *tenant, const Json *wanted)
{
    InstallOptions options = read_options(req);
    Json *done = NULL;
    Str id = uuid_new();
    Err *err = install_run(tenant, wanted, &options, &done);
    if (!req_query_flag(req, "async")) {
        return err ? err : reply_json(req, 200, done);
    }
    Json *job = job_json(req, id, done ? done : json_array(), err);
    TRY(keep_job(req->app, tenant, id, job));
    reply_header(
        req, "location",
        str_fmt("/_/proxy/tenants/" STR_FMT "/install/" STR_FMT, STR_ARG(tenant->id), STR_ARG(id)));
    return reply_json(req, 201, job);
}

Err *okapi_install(Req *req)
{
    Tenant *tenant = NULL;
    TRY(okapi_path_tenant(req, &tenant));
    if (!json_is_array(req->json)) {
        return err_text(400, "Json content error: the body must be an array of modules");
    }
    return run_and_reply(req, tenant, req->json);
}

// Enabled modules of which a newer version is known.
Err *okapi_upgrade(Req *req)
{
    Tenant *tenant = NULL;
    Json *wanted = json_array();
    StrList ids = {0};
    TRY(okapi_path_tenant(req, &tenant));
    if (str_trim(req->body).len) {
        return err_text(400, "The body of an upgrade must be empty");
    }
    tenant_module_ids(tenant, &ids);
    for (size_t i = 0; i < ids.len; i++) {
        Str product, version, newest;
        module_id_split(ids.at[i], &product, &version);
        TRY(descriptor_newest(req->app, product, &newest));
        if (newest.len && !str_eq(newest, ids.at[i])) {
            Json *one = json_object();
            json_set_str(one, "id", newest);
            json_set_str(one, "action", S("enable"));
            json_add(wanted, one);
        }
    }
    return run_and_reply(req, tenant, wanted);
}

// ---------------------------------------------------------------------------------------------
// Jobs

static Err *find_job(const Req *req, Json **out)
{
    Tenant *tenant = NULL;
    Str id = req_param(req, 1);
    TRY(okapi_path_tenant(req, &tenant));
    TRY(own_find(req->app, &own_jobs, "job_id", id, out));
    if (!*out || !str_eq(json_str(*out, "tenant"), tenant->id)) {
        return err_text(404, "Install job " STR_FMT " not found", STR_ARG(id));
    }
    return NULL;
}

Err *okapi_install_get(Req *req)
{
    Json *doc = NULL;
    TRY(find_job(req, &doc));
    return reply_json(req, 200, json_get(doc, "job"));
}

Err *okapi_install_delete(Req *req)
{
    Json *doc = NULL;
    bool found = false;
    TRY(find_job(req, &doc));
    TRY(own_delete(req->app, &own_jobs, "job_id", req_param(req, 1), &found));
    return reply_empty(req, 204);
}

static Err *jobs_of(const Req *req, Docs *out)
{
    Tenant *tenant = NULL;
    size_t n = 0;
    TRY(okapi_path_tenant(req, &tenant));
    TRY(own_all(req->app, &own_jobs, out));
    for (size_t i = 0; i < out->len; i++) {
        if (str_eq(json_str(out->at[i], "tenant"), tenant->id)) {
            out->at[n++] = out->at[i];
        }
    }
    out->len = n;
    return NULL;
}

Err *okapi_install_list(Req *req)
{
    Docs docs = {0};
    Json *array = json_array();
    TRY(jobs_of(req, &docs));
    for (size_t i = 0; i < docs.len; i++) {
        json_add(array, json_copy(json_get(docs.at[i], "job")));
    }
    return reply_json(req, 200, array);
}

Err *okapi_install_delete_all(Req *req)
{
    Docs docs = {0};
    bool found = false;
    TRY(jobs_of(req, &docs));
    for (size_t i = 0; i < docs.len; i++) {
        TRY(own_delete(req->app, &own_jobs, "job_id", json_str(docs.at[i], "jobId"), &found));
    }
    return reply_empty(req, 204);
}
