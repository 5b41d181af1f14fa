// What the files of the gateway share: its state, tenants in memory, its own records.
#pragma once

#include "gateway/router.h"

#include <pthread.h>
#include <stdatomic.h>

#define OKAPI_VERSION "5.3.0"
#define SUPERTENANT   "supertenant"

// ---------------------------------------------------------------------------------------------
// State

typedef struct TokenCache TokenCache;
typedef struct Readers Readers;

// Immutable once published.
typedef struct {
    Tenant **at; // sorted by id
    size_t len;
} TenantList;

typedef struct Gateway {
    pthread_mutex_t tenants_lock; // held while a tenant is made or dropped; before `lock`
    pthread_mutex_t refresh_lock; // held while the list is read again
    pthread_mutex_t lock;         // guards the arena, and every change of the tenant list
    Arena *arena;                 // lives as long as the gateway
    const Module **modules;       // the first is Okapi itself
    size_t module_count;
    Meter *meter, *auth_meter; // of the gateway itself, of looking at tokens and permissions
    const RouteTable *routes;
    Str *descriptor_texts; // by place, guarded by `lock`; empty until first asked for
    _Atomic(const TenantList *) tenants;
    unsigned char signing_key[32];
    TokenCache *tokens;
    Readers *readers; // NULL: the store has no replicas
    // Another process changed some; they are being read: who comes then waits for that.
    _Atomic bool tenants_are_old, reads_tenants;
    _Atomic uint32_t request_number;
    // Modules that answer the gateway's questions, NULL if the program has none; places in the
    // list.
    const Module *users, *permissions;
    size_t users_place, permissions_place, authtoken_place; // SIZE_MAX = none
} Gateway;

// What is enabled for a tenant. Immutable once published; a change publishes a new one, old ones
// stay (requests may still look at them).
typedef struct {
    Str name, description;
    ModuleSet modules;
    StrList foreign; // ids of enabled modules that exist as descriptors only
    // Changed timers: "<timer id>" -> {"unit","delay"} as JSON text; "" if none.
    Str timers;
    StrList paused; // names of timers that operators paused
} TenantState;

struct Tenant {
    pthread_mutex_t lock; // guards opening the database and every change of what is enabled
    App *app;
    Str id;
    _Atomic(const TenantState *) state;
    _Atomic(Db *) db; // NULL until first used
    _Atomic bool is_gone;
};

static inline const TenantState *tenant_state(const Tenant *tenant)
{
    return atomic_load_explicit(&((Tenant *)tenant)->state, memory_order_acquire);
}

// ---------------------------------------------------------------------------------------------
// tenants.c

WARN_UNUSED Err *tenants_load(App *app);
// What other processes did to tenants since.
WARN_UNUSED Err *tenants_refresh(App *app);
WARN_UNUSED Err *tenants_reload(App *app); // even if nothing is known to have changed
// Opens and migrates the tenant's database if this did not happen yet.
WARN_UNUSED Err *tenant_ready(Tenant *tenant, Db **db);
// Writes and publishes a new state. The caller holds tenant->lock.
WARN_UNUSED Err *tenant_change(Tenant *tenant, const TenantState *state);
WARN_UNUSED Err *tenant_drop(App *app, Str id);
// 400 text of spec/platform.md 1.5 for an id that is not allowed.
WARN_UNUSED Err *tenant_id_check(Str id);
// Seconds between two runs of a routing entry, 0 = never; 400 for what Okapi cannot read.
WARN_UNUSED Err *timer_period(const Json *entry, int *seconds);
// Starts the timers of all enabled modules anew, with the tenant's own delays.
void tenant_timers_start(Tenant *tenant);
// Tables of a built-in module: in place, sorted out of its descriptor.
size_t module_tables(const Module *module, const Collection *const **out);
// The gateway's id of a module: "mod-users-19.3.1".
Str module_id(const Module *module);
// Place of a built-in module by id or product name; SIZE_MAX if there is none.
size_t module_place(const Gateway *gateway, Str id_or_name);

// ---------------------------------------------------------------------------------------------
// own.c: records of the process-wide database

extern const Collection own_tenants, own_descriptors, own_env, own_keys, own_jobs, own_deployments;

void own_register(void);
WARN_UNUSED Err *own_open(App *app);
// Reads in a transaction of its own; *out NULL if there is none.
WARN_UNUSED Err *own_find(App *app, const Collection *of, const char *column, Str value,
                          Json **out);
WARN_UNUSED Err *own_all(App *app, const Collection *of, Docs *out);
// Inserts, or replaces the record with the same value in `column` (its property is `property`).
WARN_UNUSED Err *own_save(App *app, const Collection *of, const char *column, const char *property,
                          Json *doc);
// Stores the record if none has its name yet; else *doc becomes the one that has. Of several
// processes one comes first.
WARN_UNUSED Err *own_claim(App *app, const Collection *of, const char *column, const char *property,
                           Json **doc, bool *was_there);
WARN_UNUSED Err *own_delete(App *app, const Collection *of, const char *column, Str value,
                            bool *found);

// ---------------------------------------------------------------------------------------------
// descriptors.c

// Product and version of a module id: "mod-users-19.3.1" -> "mod-users", "19.3.1".
void module_id_split(Str id, Str *product, Str *version);
// Order of module ids: by product, then semantic version.
int module_id_cmp(Str a, Str b);
// Built-in: made from tables; else the stored one. *out NULL if unknown.
WARN_UNUSED Err *descriptor_find(App *app, Str id, Json **out);
// Okapi routing entry of a timer.
Json *timer_entry(const Timer *timer);
Json *descriptor_of(const App *app, const Module *module);
// The same as text, kept.
Str descriptor_text(App *app, const Module *module);
// The newest known id of a product, or the id itself; "" if unknown.
WARN_UNUSED Err *descriptor_newest(App *app, Str id_or_product, Str *id);
// True if the version a provider has meets the required one ("15.0 16.0" = either).
bool interface_fits(Str have, Str required);
// Everything a descriptor defines as permissions.
void definitions_of(const Json *descriptor, PermissionDefinitions *out);
// Our readable form of a permission's name.
Str permission_display_name(Str name);

// ---------------------------------------------------------------------------------------------
// install.c

typedef struct {
    bool simulate, purge, reference, sample, dep_check, ignore_errors, reinstall;
} InstallOptions;

// `wanted`: array of {id, action}; *done: what was (or would be) done, in order.
WARN_UNUSED Err *install_run(Tenant *tenant, const Json *wanted, const InstallOptions *options,
                             Json **done);
// Ids of all modules enabled for a tenant, ascending.
void tenant_module_ids(const Tenant *tenant, StrList *ids);

// ---------------------------------------------------------------------------------------------
// facets.c

// The array of resultInfo.facets as JSON text, "[]" if none are asked for.
WARN_UNUSED Err *facets_read(Req *req, const Collection *of, Str *out);

// ---------------------------------------------------------------------------------------------
// refdata.c

// Loads refdata/<module>/<kind>/*.tsv into the tenant, existing records are replaced.
WARN_UNUSED Err *refdata_load(Db *db, const Module *module, const char *kind);
// One file: the table it names and its rows as documents. 500 text for a bad file.
WARN_UNUSED Err *refdata_parse(Str text, Str *table, Docs *out);

// ---------------------------------------------------------------------------------------------
// dispatch.c

// Answers a request of the admin listener from the routes of the program's own interface.
WARN_UNUSED Err *operator_serve(Req *req, App *app);

// ---------------------------------------------------------------------------------------------
// auth.c

WARN_UNUSED Err *keys_load(App *app);
// Finds token and tenant of a request; 400 texts of platform.md 1.1.
typedef struct {
    Str token; // "" = none
    bool is_cookie;
    bool is_valid; // signature and expiry
    TokenSubject subject;
} Caller;

WARN_UNUSED Err *caller_read(Req *req, Caller *caller);
// Fills user and permissions of the request or refuses it.
WARN_UNUSED Err *caller_allow(Req *req, const Caller *caller, const CompiledRoute *route);

// ---------------------------------------------------------------------------------------------
// idempotency.c: answers kept under the client's key, in every tenant's database

extern const Collection idempotent_answers;

// Answers from what is kept; *replayed false if the request is a new one or has no key.
WARN_UNUSED Err *idempotency_replay(Req *req, bool *replayed);
// Keeps the answer in the request's transaction.
WARN_UNUSED Err *idempotency_keep(Req *req);
// Returns what the caller is told: the error, or NULL when the answer of a like call is given.
WARN_UNUSED Err *idempotency_keep_refusal(Req *req, Err *err);

// ---------------------------------------------------------------------------------------------
// cors.c

// True: the request was a preflight and is answered.
bool cors_preflight(Req *req);
void cors_headers(Req *req);

extern const Module okapi_module;
