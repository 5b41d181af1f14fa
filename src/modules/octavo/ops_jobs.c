// Periodic work: GET /octavo/ops/jobs, and to run, pause and resume it. Source:
// spec/native-api.md 2.
#include "modules/octavo/native.h"

// Whose jobs the caller manages: operators of the process all, others those of their library.
static Str tenant_of(const Req *req)
{
    return str_eq(req->tenant_id, S("supertenant")) ? S("") : req->tenant_id;
}

static void set_time(Json *to, const char *name, Time time)
{
    if (time) {
        json_set_time(to, name, time);
    } else {
        json_set(to, name, json_null());
    }
}

static Json *job_json(const TimerState *state)
{
    Json *one = json_object();
    bool has_run = state->last_run != 0;

    json_set_str(one, "name", state->name);
    json_set_str(one, "tenant", state->tenant);
    json_set_str(one, "schedule", state->schedule);
    set_time(one, "lastRun", state->last_run);
    json_set(one, "lastMs", has_run ? json_int_of(state->last_ms) : json_null());
    json_set(one, "lastResult",
             has_run ? json_string(state->has_failed ? S("error") : S("ok")) : json_null());
    set_time(one, "nextRun", state->next_run);
    json_set_bool(one, "paused", state->is_paused);
    return one;
}

Err *jobs_show(Req *req)
{
    TimerState *states = NULL;
    Json *body = json_object(), *jobs = json_array();

    TRY(operators_only(req));
    size_t n = req->app->scheduler ? jobs_timers(req->app->scheduler, tenant_of(req), &states) : 0;
    for (size_t i = 0; i < n; i++) {
        json_add(jobs, job_json(&states[i]));
    }
    json_set(body, "jobs", jobs);
    return reply_json(req, 200, body);
}

static Err *changed(Req *req, bool is_found)
{
    if (!is_found) {
        return err_text(404, "no job " STR_FMT, STR_ARG(req_param(req, 0)));
    }
    return reply_empty(req, 202);
}

Err *jobs_run(Req *req)
{
    Scheduler *scheduler = req->app->scheduler;

    TRY(operators_only(req));
    return changed(req, scheduler && jobs_timer_run(scheduler, tenant_of(req), req_param(req, 0)));
}

static Err *pause(Req *req, bool pauses)
{
    Tenant *const *tenants = &req->tenant;
    size_t n = 1;
    bool is_found = false;

    TRY(operators_only(req));
    if (!tenant_of(req).len) {
        n = tenant_list(req->app, &tenants);
    }
    for (size_t i = 0; i < n; i++) {
        bool is_here = false;
        TRY(tenant_timer_pause(tenants[i], req_param(req, 0), pauses, &is_here));
        is_found = is_found || is_here;
    }
    return changed(req, is_found);
}

Err *jobs_pause(Req *req)
{
    return pause(req, true);
}

Err *jobs_resume(Req *req)
{
    return pause(req, false);
}
