// Collections of mod-settings.
#pragma once

#include "store/store.h"

extern const Collection settings_entries;
extern const Collection settings_locales;   // at most one record
extern const Collection settings_base_urls; // at most one record
extern const Collection tenant_addresses;

// All of the module, NULL at the end.
extern const Collection *const settings_collections[];
