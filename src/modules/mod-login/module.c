// mod-login: passwords, logging in and out. FOLIO: mod-login 7.11. Source: spec/platform.md 2.
#include "modules/mod-login/internal.h"

// The log of logins is switched off: FOLIO answers 204 then.
static Err *events_off(Req *req)
{
    return reply_empty(req, 204);
}

static const Route routes[] = {
    {POST, "/authn/login", NONE, login_legacy, .is_login = true},
    {POST, "/authn/login-with-expiry", NONE, login_with_expiry, .is_login = true},
    {POST, "/authn/refresh", NONE, login_refresh, .is_login = true, .takes_any_body = true},
    {POST, "/authn/logout", NONE, login_logout, .is_login = true, .takes_any_body = true},
    {POST, "/authn/logout-all", NONE, login_logout_all, .takes_any_body = true},
    {POST, "/authn/credentials", NONE, credentials_post, "login.item.post"},
    {DELETE, "/authn/credentials", WRITE, credentials_remove, "login.item.delete"},
    {GET, "/authn/credentials-existence", READ, credentials_existence,
     "login.credentials-existence.get"},
    {POST, "/authn/update", NONE, credentials_update},
    {GET, "/authn/loginAttempts/{id}", READ, attempts_get, "login.attempts.item.get"},
    {POST, "/authn/password/repeatable", NONE, password_repeatable, "login.password.validate"},
    {POST, "/authn/password-reset-action", WRITE, reset_action_post,
     "login.password-reset-action.post"},
    {GET, "/authn/password-reset-action/{actionId}", READ, reset_action_get,
     "login.password-reset-action.get"},
    {POST, "/authn/reset-password", NONE, reset_password, "login.password-reset.post"},
    {GET, "/authn/log/events", NONE, events_off, "login.event.collection.get"},
    {POST, "/authn/log/events", NONE, events_off, "login.event.collection.post"},
    {DELETE, "/authn/log/events/{id}", NONE, events_off, "login.event.delete"},
    {0},
};

static const Interface provides[] = {
    {"login", "7.3", routes},
    {0},
};

static const char *const requires[] = {"users 15.4 16.0", "user-tenants 1.0", NULL};

const Module mod_login = {
    .name = "mod-login",
    .version = "7.11.0",
    .provides = provides,
    .requires = requires,
    .collections = login_collections,
};
