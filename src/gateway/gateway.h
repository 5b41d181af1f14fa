// The gateway: modules and their routes, tenants, tokens and permissions, Okapi's own interface.
#pragma once

#include "base/config.h"
#include "base/meter.h"
#include "http/http.h"
#include "jobs/jobs.h"
#include "kafka/kafka.h"
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
    bool is_idempotent;           // takes x-octavo-idempotency-key; WRITE only
    bool is_free_for_own_tenant;  // needs no permission of a user of the tenant named by {0}
    bool locks_rows;              // WRITE only: see TxOptions
    const Collection *collection; // what a generated route works on
} Route;

// The routes of an interface that has few, in its own line of a module's table.
#define ROUTES(...) ((const Route[]){__VA_ARGS__, {0}})

typedef struct {
    const char *id;
    const char *version; // announced (decision 2)
    const Route *routes; // {0} at the end, or NULL
    const Collection *const
        *collections;   // NULL at the end, or NULL: their routes are made by the engine
    const char *type;   // NULL = proxy, "multiple", "system"
    const char *latest; // newest version that also satisfies a requirement; NULL = the same
} Interface;

// What a user may do: a set of permission names with a fast membership test.
typedef struct PermissionSet PermissionSet;

// Names and numbers of permissions, shared by the sets of all users of a tenant.
typedef struct PermissionNames PermissionNames;

// All in the current arena. A name gets its number when it is first asked for.
PermissionNames *permission_names_new(void);
size_t permission_number(PermissionNames *names, Str name);
size_t permission_count(const PermissionNames *names);
Str permission_name(const PermissionNames *names, size_t number);
bool permission_find(const PermissionNames *names, Str name, size_t *number);
// A set over names that grow no more; names without number go to `others`.
PermissionSet *permission_set_new(const PermissionNames *names);
void permission_set_add(PermissionSet *set, size_t number);
void permission_set_add_other(PermissionSet *set, Str name);
bool permission_set_has_number(const PermissionSet *set, size_t number);
bool permission_set_has(const PermissionSet *set, Str name);
// Adds the names of the set that fit a pattern with '*' ("mod-settings.global.read.*").
void permission_set_match(const PermissionSet *set, Str pattern, StrList *found);
// All names of the set, in order of their numbers.
void permission_set_names(const PermissionSet *set, StrList *names);

typedef struct {
    bool exists, is_active;
} UserState;

typedef struct {
    Str name;
    StrList sub_permissions;
    StrList replaces;
    Str display_name, description;
    bool is_visible;
} PermissionDefinition;

// What a module defines; none at all when it is purged.
typedef struct {
    Str module_name, module_version;
    const PermissionDefinition *at;
    size_t len;
} PermissionDefinitions;

typedef struct Module {
    const char *name;                     // "mod-circulation"
    const char *version;                  // the FOLIO version whose behaviour we follow
    const Interface *provides;            // {0} at the end
    const char *const *requires;          // "users 15.0", NULL at the end
    const Collection *const *collections; // all its tables, internal ones included; NULL at the end
    const Timer *timers;                  // {0} at the end, or NULL
    const struct Subscription {
        const char *topic;
        Subscriber subscriber;
    } * subscribes; // {0} at the end, or NULL
    const struct JobKind {
        const char *kind;
        JobStep step;
    } * jobs; // {0} at the end, or NULL
    // After tables exist and reference data are loaded.
    Err *(*tenant_init)(Tx *tx);
    bool is_in_every_tenant; // enabled when a tenant is made

    // What the gateway asks of the modules that know; NULL in all others.
    Err *(*user_state)(Tx *tx, Str user_id, UserState *out);
    // Valid until the transaction ends; NULL: the user has no permissions.
    Err *(*user_permissions)(Tx *tx, Str user_id, const PermissionSet **out);
    Err *(*permissions_define)(Tx *tx, const PermissionDefinitions *definitions);
} Module;

// Every module of the program, NULL at the end (modules/modules.c); main gives it to App.
extern const Module *const all_modules[];

typedef struct App App;
typedef struct Tenant Tenant;

// An open listener, for operators to see.
typedef struct {
    const char *name; // "gateway", "edge", "admin"
    Str address;      // as the option says it
    const HttpServer *server;
} Listener;

enum {
    LISTENERS_MAX = 4,
};

struct App {
    const Module *const *modules; // all_modules; NULL at the end
    Config *config;               // NULL: every option has its default
    Store *store;
    Db *own;              // process-wide data: tenants, keys, descriptors
    Scheduler *scheduler; // NULL in tools that run no background work
    Kafka *kafka;         // NULL if no brokers are named
    Str base_url;
    Time started_at;
    Listener listeners[LISTENERS_MAX];
    _Atomic size_t listener_count;
    struct Gateway *gateway; // made by gateway_start
};

// Options by name; the fallback when there is no configuration.
Str app_option(const App *app, const char *name, const char *fallback);
bool app_flag(const App *app, const char *name, bool fallback);
int64_t app_int(const App *app, const char *name, int64_t fallback);

// Starts the gateway on an open store: own tables, supertenant, routes, timers. Opens app->own.
WARN_UNUSED Err *gateway_start(App *app);
void gateway_stop(App *app);
// Makes every collection of the program known to the store.
void gateway_register(const Module *const *modules);
// Answers one request: the `handle` of the gateway's listener.
void gateway_handle(Req *req, void *app);

Db *tenant_db(const Tenant *tenant);
// The tenant if it exists; Err 400 text "No such Tenant x".
WARN_UNUSED Err *tenant_find(App *app, Str id, Tenant **out);
// All tenants, in order of their ids.
size_t tenant_list(const App *app, Tenant *const **out);
// The tenant's database with its tables.
WARN_UNUSED Err *tenant_open(Tenant *tenant, Db **db);
bool tenant_has_module(const Tenant *tenant, const char *module);
// Pauses a timer or lets it go on, also after a restart. *found false: the tenant has none of that
// name.
WARN_UNUSED Err *tenant_timer_pause(Tenant *tenant, Str name, bool pauses, bool *found);
// Brings the tables of the tenant's enabled modules to this program's descriptors (octavo migrate).
WARN_UNUSED Err *tenant_migrate(App *app, Tenant *tenant);
WARN_UNUSED Err *tenant_create(App *app, Str id, Str name, Str description);
// Takes the entry of a tenant whose database was copied from another store into the list.
WARN_UNUSED Err *tenant_adopt(App *app, Store *from, Str id);
// Enables modules as POST /_/proxy/tenants/{t}/install does; NULL names = all.
WARN_UNUSED Err *tenant_enable(App *app, Str tenant, const char *const *modules, bool reference,
                               bool sample);

// Tokens (HS256). Claim types by `type`: "access", "legacy-access", "refresh", "dummy",
// "dummy-expiring".
typedef struct {
    Str tenant, user_id, user_name;
    Str type; // "" = "legacy-access"
    Str id;   // jti, "" = none
    StrList extra_permissions;
    Time issued_at, expires_at; // 0 = never
} TokenSubject;

// lifetime_s 0: no expiry.
WARN_UNUSED Err *token_sign(App *app, const TokenSubject *subject, Time now, int lifetime_s,
                            Str *out);
// False for a bad signature, a token that is none, or (checked against now) an expired one.
WARN_UNUSED bool token_verify(App *app, Str token, Time now, TokenSubject *out);

// Lists and single records over HTTP, as the generated routes give them.
// query, limit, offset, totalRecords of the request; 400 text of storage-and-cql.md 1.2.
WARN_UNUSED Err *list_request_read(const Req *req, const Collection *of, ListRequest *out);
// {"<key>":[...],"totalRecords":n}; streams when the list is longer than one chunk. Ends the list.
WARN_UNUSED Err *reply_list(Req *req, const Collection *of, List *list);
// The same of records that are all there.
WARN_UNUSED Err *reply_docs(Req *req, const char *list_key, const Docs *docs);
// 201, Location "/<path>/<id>", the record.
WARN_UNUSED Err *reply_created(Req *req, const Collection *of, const Json *doc);
// Deletes what the query matches and answers 204, on a route of kind NONE.
WARN_UNUSED Err *reply_deleted(Req *req, const Collection *of, Str query);
Err *collection_list(Req *req);
Err *collection_create(Req *req);
Err *collection_get(Req *req);
Err *collection_put(Req *req);
Err *collection_delete(Req *req);
Err *collection_delete_all(Req *req);
// The body of a route as JSON object; 400 text if it is none or missing.
WARN_UNUSED Err *req_body_object(const Req *req, Json **out);

// The permission and route table as data: `octavo routes`, the security tests. In the current
// arena.
typedef struct {
    const Module *module;
    const Interface *interface;
    const Route *route;
} RouteEntry;

size_t gateway_routes(const Module *const *modules, const RouteEntry **out);
