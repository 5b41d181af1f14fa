// Collections of mod-login.
#pragma once

#include "store/store.h"

extern const Collection auth_credentials;
extern const Collection auth_attempts;
extern const Collection auth_credentials_history;
extern const Collection password_actions;
extern const Collection login_events;

// All of the module, NULL at the end.
extern const Collection *const login_collections[];
