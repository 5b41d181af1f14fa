// Collections of mod-configuration.
#pragma once

#include "store/store.h"

extern const Collection configurations;
extern const Collection configuration_audits;

// All of the module, NULL at the end.
extern const Collection *const configuration_collections[];
