// Okapi's own interface: tenants, modules, install, timers, environment, discovery.
// Clients and deployment scripts of FOLIO manage a site with it. Source: spec/platform.md 1.5.
#include "gateway/okapi.h"

#define OWN .is_free_for_own_tenant = true

static const Route routes[] = {
    {GET, "/_/version", NONE, okapi_version, "okapi.version.get", OWN},
    {GET, "/_/proxy/health", NONE, okapi_health},

    {GET, "/_/proxy/tenants", NONE, okapi_tenants_list, "okapi.proxy.tenants.list"},
    {POST, "/_/proxy/tenants", NONE, okapi_tenant_create, "okapi.proxy.tenants.post"},
    {GET, "/_/proxy/tenants/{t}", NONE, okapi_tenant_get, "okapi.proxy.tenants.get"},
    {PUT, "/_/proxy/tenants/{t}", NONE, okapi_tenant_put, "okapi.proxy.tenants.put"},
    {DELETE, "/_/proxy/tenants/{t}", NONE, okapi_tenant_delete, "okapi.proxy.tenants.delete"},

    {GET, "/_/proxy/tenants/{t}/modules", NONE, okapi_tenant_modules,
     "okapi.proxy.tenants.modules.list", OWN},
    {POST, "/_/proxy/tenants/{t}/modules", NONE, okapi_tenant_module_enable,
     "okapi.proxy.tenants.modules.post"},
    {DELETE, "/_/proxy/tenants/{t}/modules", NONE, okapi_tenant_modules_disable_all,
     "okapi.proxy.tenants.modules.delete"},
    {GET, "/_/proxy/tenants/{t}/modules/{m}", NONE, okapi_tenant_module_get,
     "okapi.proxy.tenants.modules.enabled.get"},
    {POST, "/_/proxy/tenants/{t}/modules/{m}", NONE, okapi_tenant_module_upgrade,
     "okapi.proxy.tenants.modules.enabled.post"},
    {DELETE, "/_/proxy/tenants/{t}/modules/{m}", NONE, okapi_tenant_module_disable,
     "okapi.proxy.tenants.modules.enabled.delete"},

    {POST, "/_/proxy/tenants/{t}/install", NONE, okapi_install, "okapi.proxy.tenants.install.post"},
    {GET, "/_/proxy/tenants/{t}/install", NONE, okapi_install_list,
     "okapi.proxy.tenants.install.list"},
    {DELETE, "/_/proxy/tenants/{t}/install", NONE, okapi_install_delete_all,
     "okapi.proxy.tenants.install.delete"},
    {GET, "/_/proxy/tenants/{t}/install/{job}", NONE, okapi_install_get,
     "okapi.proxy.tenants.install.get"},
    {DELETE, "/_/proxy/tenants/{t}/install/{job}", NONE, okapi_install_delete,
     "okapi.proxy.tenants.install.delete"},
    {POST, "/_/proxy/tenants/{t}/upgrade", NONE, okapi_upgrade, "okapi.proxy.tenants.upgrade.post"},

    {GET, "/_/proxy/tenants/{t}/interfaces", NONE, okapi_tenant_interfaces,
     "okapi.proxy.tenants.interfaces.list", OWN},
    {GET, "/_/proxy/tenants/{t}/interfaces/{i}", NONE, okapi_tenant_interface,
     "okapi.proxy.tenants.interfaces.get", OWN},

    {GET, "/_/proxy/tenants/{t}/timers", NONE, okapi_timers, "okapi.proxy.tenants.timers.list",
     OWN},
    {PATCH, "/_/proxy/tenants/{t}/timers", NONE, okapi_timer_patch, OKAPI_TIMERS_PATCH,
     .later_permission = OKAPI_OWN_TIMERS_PATCH},
    {GET, "/_/proxy/tenants/{t}/timers/{id}", NONE, okapi_timer_get,
     "okapi.proxy.tenants.timers.get", OWN},
    {PATCH, "/_/proxy/tenants/{t}/timers/{id}", NONE, okapi_timer_patch, OKAPI_TIMERS_PATCH,
     .later_permission = OKAPI_OWN_TIMERS_PATCH},

    {GET, "/_/proxy/modules", NONE, okapi_modules_list, "okapi.proxy.modules.list"},
    {POST, "/_/proxy/modules", NONE, okapi_module_create, "okapi.proxy.modules.post"},
    {GET, "/_/proxy/modules/{id}", NONE, okapi_module_get, "okapi.proxy.modules.get"},
    {DELETE, "/_/proxy/modules/{id}", NONE, okapi_module_delete, "okapi.proxy.modules.delete"},
    {POST, "/_/proxy/import/modules", NONE, okapi_modules_import, "okapi.proxy.modules.post"},
    // There is no remote registry to pull from, and nothing old to clean up.
    {POST, "/_/proxy/pull/modules", NONE, okapi_accept_empty_list, "okapi.proxy.pull.modules.post"},
    {POST, "/_/proxy/cleanup/modules", NONE, okapi_accept, "okapi.proxy.cleanup.modules"},

    {GET, "/_/env", NONE, okapi_env_list, "okapi.env.list"},
    {POST, "/_/env", NONE, okapi_env_post, "okapi.env.post"},
    {GET, "/_/env/{id}", NONE, okapi_env_get, "okapi.env.get"},
    {DELETE, "/_/env/{id}", NONE, okapi_env_delete, "okapi.env.delete"},

    {GET, "/_/discovery/health", NONE, okapi_discovery_health, "okapi.discovery.health.get"},
    {GET, "/_/discovery/health/{s}", NONE, okapi_discovery_health, "okapi.discovery.health.get"},
    {GET, "/_/discovery/health/{s}/{i}", NONE, okapi_discovery_health,
     "okapi.discovery.health.get"},
    {GET, "/_/discovery/modules", NONE, okapi_discovery_list, "okapi.discovery.get"},
    {POST, "/_/discovery/modules", NONE, okapi_discovery_post, "okapi.discovery.post"},
    {DELETE, "/_/discovery/modules", NONE, okapi_discovery_delete_all, "okapi.discovery.delete"},
    {GET, "/_/discovery/modules/{s}", NONE, okapi_discovery_module, "okapi.discovery.get"},
    {DELETE, "/_/discovery/modules/{s}", NONE, okapi_discovery_delete, "okapi.discovery.delete"},
    {GET, "/_/discovery/modules/{s}/{i}", NONE, okapi_discovery_instance, "okapi.discovery.get"},
    {PUT, "/_/discovery/modules/{s}/{i}", NONE, okapi_discovery_put, "okapi.discovery.put"},
    {DELETE, "/_/discovery/modules/{s}/{i}", NONE, okapi_discovery_delete,
     "okapi.discovery.delete"},
    {GET, "/_/discovery/nodes", NONE, okapi_nodes, "okapi.discovery.nodes.get"},
    {GET, "/_/discovery/nodes/{n}", NONE, okapi_node, "okapi.discovery.nodes.get"},
    {PUT, "/_/discovery/nodes/{n}", NONE, okapi_node, "okapi.discovery.nodes.put"},

    // Nothing is deployed: all modules live in this process.
    {GET, "/_/deployment/modules", NONE, okapi_accept_empty_list, "okapi.deployment.get"},
    {POST, "/_/deployment/modules", NONE, okapi_discovery_post, "okapi.deployment.post"},
    {GET, "/_/deployment/modules/{i}", NONE, okapi_nothing_found, "okapi.deployment.get"},
    {DELETE, "/_/deployment/modules/{i}", NONE, okapi_accept, "okapi.deployment.delete"},
    {0},
};

static const Interface provides[] = {
    {"okapi-proxy", "1.9", NULL, NULL, "internal"},
    {"okapi", "1.9", routes, NULL, "internal"},
    {0},
};

const Module okapi_module = {
    .name = "okapi",
    .version = OKAPI_VERSION,
    .provides = provides,
    .is_in_every_tenant = true,
};
