// The life of a request: tenant, route, token, permissions, body, transaction, handler, answer.
// Source: spec/engineering.md 9.3, spec/platform.md 1.1.
#include "gateway/internal.h"
#include "gateway/readers.h"

#include "base/log.h"
#include "observe/observe.h"

#include <string.h>

enum {
    REQUEST_ID_MAX = 200,
};

// What the request leaves behind for the log.
typedef struct {
    Caller caller;
    const CompiledRoute *route;
    TxCost cost;
    bool lagged;       // a replica served it
    bool needs_newest; // it did not go well there
    int64_t ended_ns;  // monotonic
} Handling;

// ---------------------------------------------------------------------------------------------
// Before the route

// "004711/users"; a client's own id stays in front: "client;004711/users".
static Str make_request_id(const Req *req)
{
    Gateway *gateway = req->app->gateway;
    Str rest = str_sub(req->path, 1, SIZE_MAX), first = {"", 0};
    unsigned number = atomic_fetch_add(&gateway->request_number, 1) % 1000000;
    Str client = req_header(req, "x-okapi-request-id");

    (void)str_next(&rest, '/', &first);
    first = str_sub(first, 0, 64);
    if (!client.len || client.len > REQUEST_ID_MAX || !str_is_utf8(client)) {
        return str_fmt("%06u/" STR_FMT, number, STR_ARG(first));
    }
    return str_fmt(STR_FMT ";%06u/" STR_FMT, STR_ARG(client), number, STR_ARG(first));
}

// Headers that only modules of FOLIO exchange among themselves (spec/platform.md 1.2).
static void strip_internal_headers(Req *req)
{
    static const char *const internal[] = {
        "x-okapi-additional-token",
        "x-okapi-module-tokens",
        "x-okapi-module-permissions",
        "x-okapi-permissions-required",
        "x-okapi-permissions-desired",
        "x-okapi-extra-permissions",
        "x-okapi-filter",
        "x-okapi-auth-result",
        "x-okapi-stop",
        "x-okapi-permissions",
    };
    size_t kept = 0;
    for (size_t i = 0; i < req->headers.len; i++) {
        bool drop = false;
        Str name = req->headers.at[i].name;
        if (name.len > 8 && str_eq_nocase(str_sub(name, 0, 8), S("x-okapi-"))) {
            for (size_t n = 0; n < sizeof internal / sizeof *internal && !drop; n++) {
                drop = str_eq_nocase(name, str_of(internal[n]));
            }
        }
        if (!drop) {
            req->headers.at[kept++] = req->headers.at[i];
        }
    }
    req->headers.len = kept;
}

// /_/invoke/tenant/{id}/rest: the tenant stands in the path.
static void unwrap_invoke(Req *req)
{
    Str prefix = S("/_/invoke/tenant/");
    if (!str_starts(req->path, prefix)) {
        return;
    }
    ptrdiff_t end = str_find_char(req->path, '/', prefix.len);
    if (end > (ptrdiff_t)prefix.len) {
        req->tenant_id = str_sub(req->path, prefix.len, (size_t)end);
        req->path = str_sub(req->path, (size_t)end, SIZE_MAX);
    }
}

#ifdef OCTAVO_HOOKS
static bool hooks_are_on(const Req *req)
{
    return req->is_loopback && app_flag(req->app, "test.hooks", false);
}

// Tests set the clock of a request (decision 59).
static void hooks_before(Req *req)
{
    Time now = 0;
    if (hooks_are_on(req) && time_parse(req_header(req, "x-octavo-now"), &now)) {
        req->now = now;
    }
}

static void hooks_after(Req *req, const Handling *handling)
{
    if (!hooks_are_on(req)) {
        return;
    }
    reply_header(req, "x-octavo-statements", str_fmt("%d", handling->cost.statements));
    reply_header(req, "x-octavo-round-trips", str_fmt("%d", handling->cost.round_trips));
    reply_header(req, "x-octavo-events", str_fmt("%d", handling->cost.events));
    reply_header(req, "x-octavo-rows", str_fmt("%d", handling->cost.rows_read));
    reply_header(req, "x-octavo-database", handling->lagged ? S("replica") : S("primary"));
}
#else
static void hooks_before(Req *req)
{
    (void)req;
}

static void hooks_after(Req *req, const Handling *handling)
{
    (void)req, (void)handling;
}
#endif

// ---------------------------------------------------------------------------------------------
// Route and body

static Err *find_route(Req *req, const CompiledRoute **out)
{
    const Gateway *gateway = req->app->gateway;
    const TenantState *state = tenant_state(req->tenant);
    Str wanted = req_header(req, "x-okapi-module-id");
    RouteMatch match;
    RouteQuery query = {.method = req->method == HEAD ? GET : req->method,
                        .path = req->path,
                        .enabled = &state->modules,
                        .provider = wanted.len ? module_place(gateway, wanted) : SIZE_MAX};

    if (!route_find(gateway->routes, &query, &match)) {
        return err_text(404, "No suitable module found for path " STR_FMT " for tenant " STR_FMT,
                        STR_ARG(req->path), STR_ARG(req->tenant_id));
    }
    if (match.rival) {
        return err_text(500, "Multiple modules %s, %s provide interface %s",
                        str_z(module_id(match.route->entry.module)),
                        str_z(module_id(match.rival->entry.module)),
                        match.route->entry.interface->id);
    }
    for (size_t i = 0; i < match.param_count; i++) {
        if (!url_decode(match.params[i], false, &req->params[i])) {
            return err_text(400, "The path holds a NUL byte or is no valid UTF-8");
        }
    }
    req->param_count = match.param_count;
    req->route = match.route->entry.route;
    *out = match.route;
    return NULL;
}

static bool is_json_type(Str type)
{
    Str first = type;
    if (!type.len) {
        return true;
    }
    (void)str_next(&type, ';', &first);
    first = str_trim(first);
    return str_eq_nocase(first, S("application/json")) || str_ends(first, S("+json"));
}

static Err *parse_body(Req *req)
{
    Str type = req_header(req, "content-type");
    if (!req->has_body || req->route->takes_any_body || !str_trim(req->body).len) {
        return NULL;
    }
    if (!is_json_type(type)) {
        return err_text(
            400, "Content-type header must be [\"application/json\"] but it is \"" STR_FMT "\"",
            STR_ARG(type));
    }
    return json_parse(req->body, &req->json);
}

Err *req_body_object(const Req *req, Json **out)
{
    if (!req->json) {
        return err_text(400, "Json content error: the request has no body");
    }
    if (!json_is_object(req->json)) {
        return err_text(400, "Json content error: the body must be an object");
    }
    *out = req->json;
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Transaction and handler

// Of the caller, if it may read from a replica.
static void may_lag(const Req *req, const Handling *handling, TxOptions *options)
{
    Readers *readers = req->app->gateway->readers;

    if (readers && handling->caller.is_valid && options->kind == READ && !handling->needs_newest) {
        options->not_before_ns = readers_ask(readers, handling->caller.token, req->now);
        options->reader = str_hash(handling->caller.token);
    }
}

// A call that may write: what a handler of kind NONE does is its own business, but none that
// answers GET writes.
static void note_reader(const Req *req, const Handling *handling)
{
    Readers *readers = req->app->gateway->readers;
    Str token = handling->caller.token;

    if (!readers || !handling->caller.is_valid) {
        return;
    }
    if (req->route->kind == READ) {
        readers_read(readers, token, req->now, handling->lagged);
    } else if (req->route->kind == WRITE || req->method != GET) {
        readers_wrote(readers, token, req->now);
    }
}

static Err *begin(Req *req, TxKind kind, const Handling *handling)
{
    // The answer that is kept under a key must be looked for while nobody else stores one.
    bool has_key = req_header(req, "x-octavo-idempotency-key").len > 0;
    TxOptions options = {.kind = kind,
                         .now = req->now,
                         .user_id = req->user_id,
                         .locks_rows = req->route->locks_rows && !has_key};
    Db *db = NULL;
    TRY(tenant_ready(req->tenant, &db));
    may_lag(req, handling, &options);
    return tx_begin(db, &options, &req->tx);
}

static Err *end(Req *req, Err *err, Handling *handling)
{
    Tx *tx = req->tx;
    if (!tx) {
        return err;
    }
    handling->cost = tx_cost(tx);
    handling->lagged = tx_lags(tx);
    req->tx = NULL;
    if (err) {
        tx_rollback(tx);
        return err;
    }
    return tx_commit(tx);
}

static Err *run_handler(Req *req, Handling *handling)
{
    TxKind kind = req->route->kind;
    bool is_refused = false; // by the handler itself
    if (kind == WRITE) {
        TRY(begin(req, WRITE, handling));
    }
    bool is_done = false;
    Err *err = idempotency_replay(req, &is_done);
    if (!err && !is_done) {
        err = req->route->handler(req);
        err = err ? err : idempotency_keep(req);
        is_refused = err != NULL;
    }
    if (!err && arena_is_over_limit(req->arena)) {
        err = err_text(413, "The answer needs too much memory");
    }
    err = end(req, err, handling);
    return is_refused ? idempotency_keep_refusal(req, err) : err;
}

static Err *serve_once(Req *req, Handling *handling)
{
    Db *db = NULL;
    // Reads see the caller's rights and their data in one snapshot.
    if (req->route->kind == READ) {
        TRY(begin(req, READ, handling));
    } else if (!handling->route->is_everywhere) {
        TRY(tenant_ready(req->tenant, &db));
    }
    MeterMark begun = meter_mark();
    meter_enter(req->app->gateway->auth_meter);
    Err *err = caller_allow(req, &handling->caller, handling->route);
    meter_phase(PHASE_AUTH, begun, meter_leave());
    if (!err) {
        err = parse_body(req);
    }
    return err ? end(req, err, handling) : run_handler(req, handling);
}

// Two transactions that met in the database: one of them is undone and may begin again, from the
// body as it came (decision 49); so may what a replica could not answer. Once; a handler outside of
// a transaction may have done other things already.
static Err *serve_route(Req *req, Handling *handling)
{
    const Req before = *req;
    ArenaMark mark = arena_mark(req->arena);
    Err *err = serve_once(req, handling);

    if (err && err->may_repeat && req->route->kind != NONE) {
        log_line(LOG_INFO, "gateway", "done again: " STR_FMT, STR_ARG(err->message));
        *req = before;
        arena_release(req->arena, mark);
        handling->needs_newest = true;
        err = serve_once(req, handling);
    }
    note_reader(req, handling);
    return err;
}

static Err *serve(Req *req, Handling *handling)
{
    unwrap_invoke(req);
    TRY(caller_read(req, &handling->caller));
    log_context(req->request_id, req->tenant_id);
    TRY(tenant_find(req->app, req->tenant_id, &req->tenant));
    TRY(find_route(req, &handling->route));
    meter_route(handling->route->entry.route->path);
    // The gateway's own part so far was to find out who asks for what.
    meter_phase(PHASE_AUTH, meter_begun(), meter_enter(handling->route->meter));
    route_expect(handling->route->figures);
    meter_in_flight(handling->route->meter, 1);
    Err *err = serve_route(req, handling);
    meter_in_flight(handling->route->meter, -1);
    meter_leave();
    return err;
}

// A request of the admin listener: the program's own interface, where nobody logs in. Without a
// tenant in its head it concerns the whole process.
static Err *serve_operator(Req *req, Handling *handling)
{
    Str tenant = req_header(req, "x-okapi-tenant");

    req->is_operator = true;
    req->tenant_id = tenant.len ? tenant : S(SUPERTENANT);
    TRY(tenant_find(req->app, req->tenant_id, &req->tenant));
    TRY(find_route(req, &handling->route));
    if (req->route->kind == READ) {
        TRY(begin(req, READ, handling));
    }
    Err *err = parse_body(req);
    return err ? end(req, err, handling) : run_handler(req, handling);
}

Err *operator_serve(Req *req, App *app)
{
    Handling handling = {0};

    req->app = app;
    return serve_operator(req, &handling);
}

static void finish(Req *req, Handling *handling)
{
    const CompiledRoute *route = handling->route;
    int status = req->reply.status;
    reply_header(req, "x-okapi-request-id", req->request_id);
    cors_headers(req);
    hooks_after(req, handling);
    handling->ended_ns = clock_ns();
    log_line(status >= 500 ? LOG_WARN : LOG_INFO, route ? route->entry.module->name : "gateway",
             "%s " STR_FMT " %d %lld us", method_name(req->method),
             STR_ARG(route ? str_of(route->entry.route->path) : req->path), status,
             (long long)(handling->ended_ns - req->begun_ns) / 1000);
    log_context((Str){0}, (Str){0});
}

static void report(const Req *req, const Handling *handling)
{
    const CompiledRoute *route = handling->route;
    Meter *meter = route ? route->meter : req->app->gateway->meter;

    if (!meter_work()) {
        return;
    }
    int64_t ended_ns = handling->ended_ns ? handling->ended_ns : clock_ns();
    Observed observed = {
        .figures = route ? route->figures : NULL,
        .module = meter_module(meter),
        .method = method_name(req->method),
        .route = route ? route->entry.route->path : "",
        .path = req->path,
        .tenant = req->tenant_id,
        .request_id = req->request_id,
        .status = req->reply.status,
        .at = req->now,
        .begun_ns = req->begun_ns,
        .ended_ns = ended_ns,
        .bytes_in = req->body.len,
        .bytes_out = req->reply.body.len,
    };
    observe_request(&observed, meter_end(ended_ns));
    MeterRequest request = {observed.status >= 500, ended_ns - req->begun_ns, observed.bytes_in,
                            observed.bytes_out};
    meter_request(meter, &request, ended_ns);
}

// Asks nginx to give the request to another node, if this one did nothing at all for it and another
// may do better. X-Accel-Redirect with a named location keeps method and body.
static void send_elsewhere(Req *req, const Err *err, uint64_t commits_before)
{
    Str location = config_text(req->app->config, "gateway.elsewhere");

    if (err->other_node_may && location.len && tx_commits_of_thread() == commits_before) {
        reply_header(req, "X-Accel-Redirect", location);
    }
}

static void answer(Req *req, Handling *handling)
{
    uint64_t commits = tx_commits_of_thread();

    req->request_id = make_request_id(req);
    strip_internal_headers(req);
    hooks_before(req);
    Err *err = serve(req, handling);
    if (err) {
        reply_err(req, err);
        send_elsewhere(req, err, commits);
    }
    finish(req, handling);
}

void gateway_handle(Req *req, void *app)
{
    Handling handling = {0};

    req->app = app;
    meter_begin(req->app->gateway->meter, req->queue_ns);
    observe_begin(req);
    if (!cors_preflight(req)) {
        answer(req, &handling);
    }
    report(req, &handling);
}
