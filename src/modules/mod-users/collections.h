// Collections of mod-users.
#pragma once

#include "store/store.h"

extern const Collection groups;
extern const Collection address_types;
extern const Collection departments;
extern const Collection users;
extern const Collection proxies;
extern const Collection user_tenants;
extern const Collection patron_pins;
extern const Collection custom_fields;
extern const Collection staging_users;
extern const Collection user_settings;
extern const Collection profile_pictures;
extern const Collection picture_settings;

// All of the module, NULL at the end.
extern const Collection *const users_collections[];
