// Collections of mod-permissions.
#pragma once

#include "store/store.h"

extern const Collection permissions;
extern const Collection permission_users;

// All of the module, NULL at the end.
extern const Collection *const permissions_collections[];
