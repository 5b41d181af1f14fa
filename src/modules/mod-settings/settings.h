// mod-settings inside the process.
// FOLIO: interface settings 1.2. Source: spec/platform.md 5.2.
#pragma once

#include "octavo.h"

#include "modules/mod-settings/collections.h"

extern const Module mod_settings;
