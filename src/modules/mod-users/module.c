// mod-users: users, groups, address types, departments, proxies, custom fields and more.
// FOLIO: mod-users 19.3. Source: spec/platform.md 4.
#include "modules/mod-users/internal.h"

static const Collection *const users_interface[] = {
    &users, &groups, &address_types, &departments, &proxies, NULL,
};

static const Route users_routes[] = {
    {PUT, "/users/{id}", WRITE, users_put, "users.item.put"},
    {DELETE, "/users", NONE, users_delete_many, "users.collection.delete"},
    {DELETE, "/addresstypes/{id}", NONE, address_types_delete, "addresstypes.item.delete"},
    {GET, "/users/configurations/entry", READ, picture_config_get, "users.configurations.item.get"},
    {PUT, "/users/configurations/entry/{configId}", WRITE, picture_config_put,
     "users.configurations.item.put"},
    {POST, "/users/profile-picture", WRITE, picture_post, "users.profile-picture.item.post",
     .takes_any_body = true},
    {GET, "/users/profile-picture/{id}", READ, picture_get, "users.profile-picture.item.get"},
    {PUT, "/users/profile-picture/{id}", WRITE, picture_put, "users.profile-picture.item.put",
     .takes_any_body = true},
    {DELETE, "/users/profile-picture/{id}", WRITE, picture_delete,
     "users.profile-picture.item.delete", .takes_any_body = true},
    {0},
};

static const Route tenants_routes[] = {
    {GET, "/user-tenants", READ, user_tenants_list, "user-tenants.collection.get"},
    {POST, "/user-tenants", WRITE, user_tenants_post, "user-tenants.item.post"},
    {DELETE, "/user-tenants", WRITE, user_tenants_delete, "user-tenants.item.delete"},
    {0},
};

static const Route pin_routes[] = {
    {POST, "/patron-pin", NONE, pin_post, "patron-pin.set", .later_permission = "patron-pin.post"},
    {DELETE, "/patron-pin", WRITE, pin_delete, "patron-pin.delete"},
    {POST, "/patron-pin/verify", NONE, pin_verify, "patron-pin.validate"},
    {0},
};

static const Route custom_fields_routes[] = {
    {PUT, "/custom-fields", WRITE, custom_fields_put_all,
     "user-settings.custom-fields.collection.put"},
    {GET, "/custom-fields/{id}/stats", READ, custom_fields_stats,
     "user-settings.custom-fields.item.stats.get"},
    {GET, "/custom-fields/{id}/options/{optId}/stats", READ, custom_fields_option_stats,
     "user-settings.custom-fields.item.option.stats.get"},
    {0},
};

static const Collection *const custom_fields_interface[] = {&custom_fields, NULL};

static const Route staging_routes[] = {
    {PUT, "/staging-users/{externalSystemId}", WRITE, staging_put,
     "staging-users.external-system-id.put"},
    {PUT, "/staging-users/{id}/mergeOrCreateUser", WRITE, staging_merge, "staging-users.item.put"},
    {0},
};

static const Collection *const staging_interface[] = {&staging_users, NULL};

static const Collection *const settings_interface[] = {&user_settings, NULL};

static const Route timer_routes[] = {
    {POST, "/users/expire/timer", NONE, users_expire_post},
    {POST, "/users/outbox/process", NONE, nothing_to_do},
    {0},
};

static const Interface provides[] = {
    {"users", "16.5", users_routes, users_interface},
    {"user-tenants", "1.0", tenants_routes},
    {"patron-pin", "1.0", pin_routes},
    {"custom-fields", "3.1", custom_fields_routes, custom_fields_interface, .type = "multiple"},
    {"staging-users", "1.2", staging_routes, staging_interface},
    {"users.settings", "2.0", .collections = settings_interface},
    {"_timer", "1.0", timer_routes, .type = "system"},
    {0},
};

static const Timer timers[] = {
    {"expire-users", "/users/expire/timer", 60, users_expire, .due = users_expire_due},
    {0},
};

static const struct JobKind jobs[] = {
    {CUSTOM_FIELDS_CLEANUP, custom_fields_cleanup},
    {0},
};

const Module mod_users = {
    .name = "mod-users",
    .version = "19.3.1",
    .provides = provides,
    .collections = users_collections,
    .timers = timers,
    .jobs = jobs,
    .tenant_init = picture_config_init,
    .user_state = user_state,
};
