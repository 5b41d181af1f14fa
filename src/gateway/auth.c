// Who asks, for which tenant, and whether he may. Source: spec/platform.md 1.1-1.5, decisions
// 10, 11.
#include "gateway/internal.h"

#include <string.h>

// ---------------------------------------------------------------------------------------------
// Token and tenant of a request

static Str bearer(const Req *req)
{
    Str value = req_header(req, "authorization");
    if (value.len > 7 && str_eq_nocase(str_sub(value, 0, 7), S("Bearer "))) {
        return str_trim(str_sub(value, 7, value.len));
    }
    return (Str){"", 0};
}

static Err *find_token(const Req *req, Caller *caller)
{
    Str header = req_header(req, "x-okapi-token"), other = bearer(req);
    if (header.len && other.len && !str_eq(header, other)) {
        return err_text(400, "Different tokens in Authentication and X-Okapi-Token. "
                             "Use only one of them");
    }
    caller->token = header.len ? header : other;
    if (!caller->token.len) {
        caller->token = req_cookie(req, "folioAccessToken");
        caller->is_cookie = caller->token.len > 0;
    }
    return NULL;
}

static bool is_access_type(Str type)
{
    return str_eq(type, S("access")) || str_eq(type, S("legacy-access")) ||
           str_starts(type, S("dummy"));
}

// An administrator's token given at start opens the management interface before anybody can log in.
static bool is_admin_token(const App *app, Str token)
{
    Str admin = app_option(app, "gateway.admin_token", "");
    return admin.len && str_eq_secret(admin, token);
}

Err *caller_read(Req *req, Caller *caller)
{
    Str tenant = req->tenant_id.len ? req->tenant_id : req_header(req, "x-okapi-tenant");
    *caller = (Caller){0};
    if (!str_is_utf8(tenant)) {
        return err_text(400, "No such Tenant: its name is no valid UTF-8");
    }
    TRY(find_token(req, caller));
    if (caller->token.len) {
        caller->is_valid = token_verify(req->app, caller->token, req->now, &caller->subject) &&
                           is_access_type(caller->subject.type);
    }
    if (!tenant.len && caller->token.len && !caller->subject.tenant.len &&
        !is_admin_token(req->app, caller->token) && !caller->is_cookie) {
        Str first = caller->token, rest = first;
        (void)str_next(&rest, '.', &first);
        return err_text(400,
                        "Invalid Token: Failed to decode:Unrecognized token '" STR_FMT
                        "': was expecting a JSON value",
                        STR_ARG(str_sub(first, 0, 64)));
    }
    if (!tenant.len) {
        tenant = caller->subject.tenant.len ? caller->subject.tenant : S(SUPERTENANT);
    }
    req->tenant_id = tenant;
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Permissions

// All of the baseline's names, or all of the newest release's (decision 3). `lacking`: the first of
// the baseline's that is missing.
static bool may_pass(const PermissionSet *set, const CompiledRoute *route, Str *lacking)
{
    *lacking = (Str){"", 0};
    for (size_t i = 0; i < route->required.len; i++) {
        if (!permission_set_has(set, route->required.at[i])) {
            *lacking = route->required.at[i];
            break;
        }
    }
    if (!lacking->len || !route->later.len) {
        return !lacking->len;
    }
    for (size_t i = 0; i < route->later.len; i++) {
        if (!permission_set_has(set, route->later.at[i])) {
            return false;
        }
    }
    return true;
}

static void grant(Req *req, const PermissionSet *set, const CompiledRoute *route)
{
    for (size_t i = 0; i < route->required.len; i++) {
        // Who came in by the newer names, or by being at home, need not hold these.
        if (!set || permission_set_has(set, route->required.at[i])) {
            str_list_add(&req->permissions, route->required.at[i]);
        }
    }
    for (size_t i = 0; set && i < route->desired.len; i++) {
        permission_set_match(set, route->desired.at[i], &req->permissions);
    }
}

static PermissionSet *extra_set(const StrList *names)
{
    PermissionSet *set = permission_set_new(permission_names_new());
    for (size_t i = 0; i < names->len; i++) {
        permission_set_add_other(set, names->at[i]);
    }
    return set;
}

static Err *check_user(Tx *tx, const Gateway *gateway, const Caller *caller)
{
    UserState state = {0};
    if (!gateway->users || !gateway->users->user_state) {
        return NULL;
    }
    TRY(gateway->users->user_state(tx, caller->subject.user_id, &state));
    if (!state.exists) {
        return err_text(401, "Invalid token: User with id " STR_FMT " does not exist",
                        STR_ARG(caller->subject.user_id));
    }
    if (!state.is_active) {
        return err_text(401, "Invalid token: user with id " STR_FMT " is not active",
                        STR_ARG(caller->subject.user_id));
    }
    return NULL;
}

// Users of the tenant itself, or of a tenant whose operators may manage others (decision 11).
static bool may_manage(const Req *req, const CompiledRoute *route)
{
    return !route->is_everywhere || str_eq(req->tenant_id, S(SUPERTENANT)) ||
           app_flag(req->app, "gateway.tenant_operators", true);
}

static bool is_own_tenant(const Req *req, const CompiledRoute *route)
{
    return route->entry.route->is_free_for_own_tenant &&
           (!req->param_count || str_eq(req->params[0], req->tenant_id));
}

static Err *refuse(const Caller *caller, Str lacking)
{
    return err_text(
        403, "Access for user '" STR_FMT "' (" STR_FMT ") requires permission: " STR_FMT,
        STR_ARG(caller->subject.user_name), STR_ARG(caller->subject.user_id), STR_ARG(lacking));
}

// In the transaction in which the rights are read.
static Err *check_rights(Req *req, Tx *tx, const Caller *caller, const CompiledRoute *route)
{
    const Gateway *gateway = req->app->gateway;
    const TenantState *tenant = tenant_state(req->tenant);
    const PermissionSet *set = NULL;
    Str lacking;

    if (str_starts(caller->subject.type, S("dummy"))) {
        set = extra_set(&caller->subject.extra_permissions);
    } else {
        if (gateway->users_place != SIZE_MAX &&
            module_set_has(&tenant->modules, gateway->users_place)) {
            TRY(check_user(tx, gateway, caller));
        }
        if (gateway->permissions_place != SIZE_MAX &&
            module_set_has(&tenant->modules, gateway->permissions_place)) {
            TRY(gateway->permissions->user_permissions(tx, caller->subject.user_id, &set));
        }
    }
    if (!is_own_tenant(req, route)) {
        if (!may_pass(set, route, &lacking)) {
            return refuse(caller, lacking);
        }
        if (!may_manage(req, route) && route->required.len) {
            return refuse(caller, route->required.at[0]);
        }
    }
    req->user_id = caller->subject.user_id;
    req->user_name = caller->subject.user_name;
    grant(req, set, route);
    return NULL;
}

static Err *check_valid_caller(Req *req, const Caller *caller, const CompiledRoute *route)
{
    Tx *tx = NULL;
    Db *db = NULL;
    if (req->tx && req->route && req->route->kind == READ) {
        return check_rights(req, req->tx, caller, route);
    }
    // Rights are read before the writer's baton is asked for.
    TRY(tenant_ready(req->tenant, &db));
    TRY(tx_begin(db, &(TxOptions){.kind = READ, .now = req->now}, &tx));
    Err *err = check_rights(req, tx, caller, route);
    tx_rollback(tx);
    return err;
}

// A tenant without mod-authtoken needs no tokens: that is how FOLIO's tenants are set up.
static bool is_open(const Req *req, const CompiledRoute *route)
{
    const Gateway *gateway = req->app->gateway;
    Str who = app_option(req->app, "gateway.open_tenants", "loopback");

    if (route->is_everywhere || gateway->authtoken_place == SIZE_MAX ||
        module_set_has(&tenant_state(req->tenant)->modules, gateway->authtoken_place)) {
        return false;
    }
    return str_eq(who, S("any")) || (str_eq(who, S("loopback")) && req->is_loopback);
}

static Err *token_missing(const CompiledRoute *route)
{
    return err_text(400, "Token missing, access requires permission: " STR_FMT,
                    STR_ARG(str_join(route->required.at, route->required.len, S(", "))));
}

Err *caller_allow(Req *req, const Caller *caller, const CompiledRoute *route)
{
    bool is_same_tenant = str_eq(caller->subject.tenant, req->tenant_id);
    Str claimed = req_header(req, "x-okapi-user-id");

    if (is_admin_token(req->app, caller->token) && route->is_everywhere) {
        grant(req, NULL, route);
        return NULL;
    }
    if (is_open(req, route)) {
        if (caller->is_valid && is_same_tenant) {
            req->user_id = caller->subject.user_id;
            req->user_name = caller->subject.user_name;
        }
        for (size_t i = 0; i < route->required.len; i++) {
            str_list_add(&req->permissions, route->required.at[i]);
        }
        return NULL;
    }
    if (!caller->token.len ||
        (route->entry.route->is_login && !(caller->is_valid && is_same_tenant))) {
        return route->required.len && !route->entry.route->is_login ? token_missing(route) : NULL;
    }
    if (!caller->is_valid) {
        return err_text(401, "Invalid token");
    }
    if (!is_same_tenant || (claimed.len && !str_eq(claimed, caller->subject.user_id))) {
        return err_text(403, "Invalid token");
    }
    if (route->entry.route->is_login) {
        req->user_id = caller->subject.user_id;
        req->user_name = caller->subject.user_name;
        return NULL;
    }
    return check_valid_caller(req, caller, route);
}
