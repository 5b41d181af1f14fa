// mod-configuration inside the process: settings of the tenant.
// FOLIO: interface configuration 2.0. Source: spec/platform.md 5.
#pragma once

#include "octavo.h"

#include "modules/mod-configuration/collections.h"

extern const Module mod_configuration;

// All of these come from memory: no statement unless an entry was changed. Valid until the
// transaction ends; never change them.

typedef struct {
    const Json *entry; // the whole record; NULL if there is none
    const Json *value; // its value: JSON read from the text, or the text as a JSON string
    Time changed_at;   // metadata.updatedDate, 0 if unknown: the record changed last wins
} Setting;

// The enabled entry of the tenant (not of a user) with that module and configName, and with that
// code; NULL for any of the three; of several the one changed last.
WARN_UNUSED Err *configuration_find(Tx *tx, const char *module, const char *config_name,
                                    const char *code, Setting *out);
// The value as text; `fallback` if there is no such entry or it is empty.
WARN_UNUSED Err *configuration_text(Tx *tx, const char *module, const char *code, Str fallback,
                                    Str *out);
