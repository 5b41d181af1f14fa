// mod-permissions: what users may do. FOLIO: mod-permissions 6.5. Source: spec/platform.md 3.
#include "modules/mod-permissions/internal.h"

static const char assign_rights[] =
    "perms.users.assign.okapi perms.users.assign.immutable perms.users.assign.mutable";

static const Route routes[] = {
    {GET, "/perms/users", READ, perm_users_list, "perms.users.get"},
    {POST, "/perms/users", WRITE, perm_users_post, "perms.users.item.post",
     .desired = assign_rights},
    {GET, "/perms/users/{id}", READ, perm_users_get, "perms.users.get"},
    {PUT, "/perms/users/{id}", WRITE, perm_users_put, "perms.users.item.put",
     .desired = assign_rights},
    {DELETE, "/perms/users/{id}", WRITE, perm_users_delete, "perms.users.item.delete"},
    {GET, "/perms/users/{id}/permissions", READ, perm_users_names, "perms.users.get"},
    {POST, "/perms/users/{id}/permissions", WRITE, perm_users_add, "perms.users.item.post",
     .desired = assign_rights},
    {DELETE, "/perms/users/{id}/permissions/{perm}", WRITE, perm_users_remove,
     "perms.users.item.delete"},
    {GET, "/perms/permissions", READ, perms_list, "perms.permissions.get"},
    {POST, "/perms/permissions", WRITE, perms_post, "perms.permissions.item.post"},
    {GET, "/perms/permissions/{id}", READ, perms_get, "perms.permissions.get"},
    {PUT, "/perms/permissions/{id}", WRITE, perms_put, "perms.permissions.item.put",
     .desired = assign_rights},
    {DELETE, "/perms/permissions/{id}", WRITE, perms_delete, "perms.permissions.item.delete"},
    {POST, "/perms/purge-deprecated", WRITE, perms_purge_deprecated,
     "perms.permissions.purge-deprecated.post"},
    {0},
};

static const Interface provides[] = {
    {"permissions", "5.8", routes},
    {"_tenantPermissions", "2.1", .type = "system"},
    {0},
};

const Module mod_permissions = {
    .name = "mod-permissions",
    .version = "6.5.0",
    .provides = provides,
    .collections = permissions_collections,
    .user_permissions = permissions_of_user,
    .permissions_define = permissions_define,
};
