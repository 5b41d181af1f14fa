// Collections of mod-permissions: permissions and who has them.
#include "modules/mod-permissions/collections.h"

#include "modules/mod-permissions/properties.h"

// Queries compare names without case; that a name is unique is a matter of its exact letters.
static const Field permissions_fields[] = {
    {"permission_name", "permissionName", TEXT | INDEX},
    {"exact_name", "permissionName", TEXT | UNIQUE | KEEP_CASE | KEEP_ACCENTS,
     .cql_name = "exactPermissionName"},
    {"sub_permissions", "subPermissions", TREE | KEEP_CASE | KEEP_ACCENTS},
    {"child_of", "childOf", TREE | KEEP_CASE | KEEP_ACCENTS},
    {"is_mutable", "mutable", FLAG},
    {"is_visible", "visible", FLAG},
    {"is_dummy", "dummy", FLAG},
    {"is_deprecated", "deprecated", FLAG},
    {"module_name", "moduleName", TEXT | INDEX},
    {"display_name", "displayName", TEXT | INDEX},
    {0},
};

const Collection permissions = {
    .table = "permissions",
    .path = "/perms/permissions",
    .list_key = "permissions",
    .record = &permission_record,
    .fields = permissions_fields,
    .put_status = 200,
};

// FOLIO declares these routes by the pattern /perms/users*.
static const Field permission_users_fields[] = {
    {"user_id", "userId", TEXT | UNIQUE | KEEP_CASE},
    {"permissions", "permissions", TREE | KEEP_CASE | KEEP_ACCENTS},
    {0},
};

// Patrons have a record that grants nothing: this holds the others.
static const UniqueKey permission_users_keys[] = {
    {"id", "permissions <> '[]'"},
    {0},
};

const Collection permission_users = {
    .table = "permissions_users",
    .path = "/perms/users",
    .list_key = "permissionUsers",
    .has_result_info = true,
    .record = &permission_user_record,
    .fields = permission_users_fields,
    .uniques = permission_users_keys,
    .put_status = 200,
};

const Collection *const permissions_collections[] = {
    &permissions,
    &permission_users,
    NULL,
};
