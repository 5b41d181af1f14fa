// The gateway: modules and their routes, tenants, tokens and permissions, Okapi's own interface.
#pragma once

#include "base/config.h"
#include "base/meter.h"
#include "http/http.h"
#include "jobs/jobs.h"
#include "store/store.h"

typedef Err *(*Handler)(Req *req);

// One route. Permissions are space-separated names, all of which are needed.
typedef struct Route {
    Method method;
    const char *path; // "/users/{id}", "/_/proxy/*"
    TxKind kind;      // READ, WRITE: the handler runs in req->tx; NONE: it opens its own, if any
    Handler handler;
    const char *permission;       // of the baseline; NULL: none needed
    const char *later_permission; // of newer releases: lets in instead (decision 3); NULL: the same
    const char *desired;          // looked at by the handler; globs allowed
    bool is_login;                // a stale token or cookie is ignored (platform.md 1.4)
    bool takes_any_body;          // no JSON check of Content-Type and body
} Route;

typedef struct {
    const char *id;
    const char *version; // announced (decision 2)
    const Route *routes; // {0} at the end, or NULL
    const Collection *const *collections; // NULL at the end, or NULL: their routes are made by the engine
    const char *type;   // NULL = proxy, "multiple", "system"
    const char *latest; // newest version that also satisfies a requirement; NULL = the same
} Interface;

typedef struct {
    Str tenant;
    bool load_reference, load_sample;
    Str from; // module id upgraded from, "" on first install
} TenantInit;

typedef struct Module {
    const char *name;    // "mod-circulation"
    const char *version; // the FOLIO version whose behaviour we follow
    const Interface *provides;               // {0} at the end
    const char *const *requires;             // "users 15.0", NULL at the end
    const Collection *const *collections;    // all its tables, internal ones included; NULL at the end
    const Timer *timers;                     // {0} at the end, or NULL
    const struct Subscription {
        const char *topic;
        Subscriber subscriber;
    } *subscribes;                           // {0} at the end, or NULL
    const struct JobKind {
        const char *kind;
        JobStep step;
    } *jobs;                                 // {0} at the end, or NULL
    // After tables exist and reference data are loaded.
    Err *(*tenant_init)(Tx *tx, const TenantInit *init);
} Module;

// Every module of the program, NULL at the end (modules/modules.c).
extern const Module *const all_modules[];

typedef struct App App;
typedef struct Tenant Tenant;

struct App {
    Config *config;
    Store *store;
    Db *own;              // process-wide data: tenants, keys, descriptors
    Scheduler *scheduler; // NULL in tools that run no background work
    Str base_url;
    Time started_at;
};

// Starts the gateway on an open store: own tables, supertenant, routes, caches.
WARN_UNUSED Err *gateway_start(App *app);
// Answers one request: the `handle` of the gateway's listener.
void gateway_handle(Req *req, void *app);

Db *tenant_db(const Tenant *tenant);
Str tenant_name(const Tenant *tenant);
// The tenant if it exists; Err 400 text "No such Tenant x".
WARN_UNUSED Err *tenant_find(App *app, Str id, Tenant **out);
bool tenant_has_module(const Tenant *tenant, const char *module);
// Brings the tables of the tenant's enabled modules to this program's descriptors (octavo migrate).
WARN_UNUSED Err *tenant_migrate(App *app, Tenant *tenant);
WARN_UNUSED Err *tenant_create(App *app, Str id, Str name, Str description);
// Enables modules as POST /_/proxy/tenants/{t}/install does; NULL names = all.
WARN_UNUSED Err *tenant_enable(App *app, Str tenant, const char *const *modules, bool reference,
                               bool sample);

// A token for a user of a tenant, as /authn/login gives it (legacy: no expiry).
typedef struct {
    Str tenant, user_id, user_name;
} TokenSubject;

WARN_UNUSED Err *token_sign(App *app, const TokenSubject *subject, Time now, int lifetime_s,
                            Str *out);

// The permission and route table as data: `octavo routes`, the security tests.
typedef struct {
    const Module *module;
    const Interface *interface;
    const Route *route;
} RouteEntry;

size_t gateway_routes(const RouteEntry **out);
