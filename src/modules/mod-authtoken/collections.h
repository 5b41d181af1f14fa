// Collections of mod-authtoken.
#pragma once

#include "store/store.h"

extern const Collection refresh_tokens;

// All of the module, NULL at the end.
extern const Collection *const authtoken_collections[];
