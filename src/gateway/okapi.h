// Handlers of Okapi's own interface, /_/...; their routes stand in okapi.c.
#pragma once

#include "gateway/internal.h"

// okapi_tenants.c
Err *okapi_tenants_list(Req *req);
Err *okapi_tenant_create(Req *req);
Err *okapi_tenant_get(Req *req);
Err *okapi_tenant_put(Req *req);
Err *okapi_tenant_delete(Req *req);
Err *okapi_tenant_modules(Req *req);
Err *okapi_tenant_module_get(Req *req);
Err *okapi_tenant_module_enable(Req *req);
Err *okapi_tenant_module_upgrade(Req *req);
Err *okapi_tenant_module_disable(Req *req);
Err *okapi_tenant_modules_disable_all(Req *req);
Err *okapi_tenant_interfaces(Req *req);
Err *okapi_tenant_interface(Req *req);
Err *okapi_timers(Req *req);
Err *okapi_timer_get(Req *req);
Err *okapi_timer_patch(Req *req);

// okapi_install.c
Err *okapi_install(Req *req);
Err *okapi_install_list(Req *req);
Err *okapi_install_get(Req *req);
Err *okapi_install_delete(Req *req);
Err *okapi_install_delete_all(Req *req);
Err *okapi_upgrade(Req *req);

// okapi_modules.c
Err *okapi_modules_list(Req *req);
Err *okapi_module_create(Req *req);
Err *okapi_modules_import(Req *req);
Err *okapi_module_get(Req *req);
Err *okapi_module_delete(Req *req);
// A module of a list: built in, or known by its descriptor.
typedef struct {
    Str id, name;           // name: "" is not shown
    const Module *module;   // NULL = foreign
    const Json *descriptor; // of a foreign one; NULL if the list shows ids alone
} ModuleItem;

// The list, ascending by id: filters and order of the query, ids only unless full=true. May reorder
// the items.
WARN_UNUSED Err *okapi_reply_modules(Req *req, ModuleItem *items, size_t count);

// okapi_system.c
Err *okapi_version(Req *req);
Err *okapi_health(Req *req);
Err *okapi_env_list(Req *req);
Err *okapi_env_get(Req *req);
Err *okapi_env_post(Req *req);
Err *okapi_env_delete(Req *req);
Err *okapi_discovery_list(Req *req);
Err *okapi_discovery_module(Req *req);
Err *okapi_discovery_instance(Req *req);
Err *okapi_discovery_post(Req *req);
Err *okapi_discovery_put(Req *req);
Err *okapi_discovery_delete(Req *req);
Err *okapi_discovery_delete_all(Req *req);
Err *okapi_discovery_health(Req *req);
Err *okapi_nodes(Req *req);
Err *okapi_node(Req *req);
Err *okapi_nothing_found(Req *req);
Err *okapi_accept(Req *req);
Err *okapi_accept_empty_list(Req *req);

// The tenant named by the i-th part of the path; 404 text "Tenant x not found".
WARN_UNUSED Err *okapi_path_tenant(const Req *req, Tenant **out);

// Changing timers: of the caller's own tenant, of every tenant.
#define OKAPI_OWN_TIMERS_PATCH "okapi.proxy.self.timers.patch"
#define OKAPI_TIMERS_PATCH     "okapi.proxy.tenants.timers.patch"
