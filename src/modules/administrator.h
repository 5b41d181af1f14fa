// The first administrator of a tenant: nobody exists yet who could grant rights to him.
// Source: spec/platform.md 3.2 "First administrator".
#pragma once

#include "octavo.h"

// Creates the user with a password and every permission the tenant knows; a user of that name gets
// the password and the permissions. Needs mod-users, mod-login and mod-permissions.
WARN_UNUSED Err *administrator_create(App *app, Str tenant, Str username, Str password);
