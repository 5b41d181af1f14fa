// Collections of mod-permissions: permissions and who has them.
#include "modules/mod-permissions/collections.h"

#include "modules/mod-permissions/properties.h"

static const Field permissions_fields[] = {
    {"permission_name", "permissionName", TEXT | UNIQUE | KEEP_CASE},
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
    .ops = "LCrud",
    .permission = "perms.permissions",
    .permissions = {.list = "perms.permissions.get", .get = "perms.permissions.get"},
    .record = &permission_record,
    .fields = permissions_fields,
    .put_status = 200,
};

// FOLIO declares these routes by the pattern /perms/users*.
static const Field permission_users_fields[] = {
    {"user_id", "userId", TEXT | UNIQUE | KEEP_CASE},
    {0},
};

const Collection permission_users = {
    .table = "permissions_users",
    .path = "/perms/users",
    .list_key = "permissionUsers",
    .ops = "LCrud",
    .permission = "perms.users",
    .permissions = {.list = "perms.users.get", .get = "perms.users.get"},
    .record = &permission_user_record,
    .fields = permission_users_fields,
    .put_status = 200,
};

const Collection *const permissions_collections[] = {
    &permissions,
    &permission_users,
    NULL,
};
