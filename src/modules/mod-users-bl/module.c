// mod-users-bl: what belongs to a user, put together from other modules.
// FOLIO: mod-users-bl 7.7. Source: spec/platform.md 2.4.
#include "modules/mod-users-bl/internal.h"

static const Route routes[] = {
    {GET, "/bl-users", READ, bl_users_list, "users-bl.collection.get"},
    {GET, "/bl-users/_self", READ, bl_users_self},
    {GET, "/bl-users/by-id/{id}", READ, bl_users_by_id, "users-bl.item.get perms.users.get",
     .later_permission = "users-bl.item.get"},
    {DELETE, "/bl-users/by-id/{id}", WRITE, bl_delete, "users-bl.item.delete"},
    {GET, "/bl-users/by-id/{id}/open-transactions", READ, bl_transactions_by_id,
     "users-bl.transactions.get"},
    {GET, "/bl-users/by-username/{username}", READ, bl_users_by_name,
     "users-bl.item.get perms.users.get",
     .later_permission = "users-bl.users-by-username.item.get"},
    {GET, "/bl-users/by-username/{username}/open-transactions", READ, bl_transactions_by_name,
     "users-bl.transactions.get", .later_permission = "users-bl.transactions-by-username.get"},
    {POST, "/bl-users/login", NONE, bl_login, .is_login = true},
    {POST, "/bl-users/login-with-expiry", NONE, bl_login_with_expiry, .is_login = true},
    {POST, "/bl-users/forgotten/password", NONE, bl_forgotten_password},
    {POST, "/bl-users/forgotten/username", NONE, bl_forgotten_username},
    {POST, "/bl-users/settings/myprofile/password", NONE, bl_change_password},
    {POST, "/bl-users/password-reset/link", NONE, bl_reset_link,
     "users-bl.password-reset-link.generate"},
    {POST, "/bl-users/password-reset/validate", NONE, bl_reset_validate,
     "users-bl.password-reset-link.validate", .takes_any_body = true},
    {POST, "/bl-users/password-reset/reset", NONE, bl_reset, "users-bl.password-reset-link.reset"},
    {0},
};

static const Interface provides[] = {
    {"users-bl", "6.1", routes},
    {0},
};

static const char *const requires[] = {"users 16.1",    "permissions 5.6",   "login 7.3",
                                       "authtoken 2.0", "configuration 2.0", NULL};

const Module mod_users_bl = {
    .name = "mod-users-bl",
    .version = "7.7.0",
    .provides = provides,
    .requires = requires,
};
