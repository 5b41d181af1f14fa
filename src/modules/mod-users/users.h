// mod-users inside the process. FOLIO: interface users 16.5. Source: spec/platform.md 4.
#pragma once

#include "octavo.h"

#include "modules/mod-users/collections.h"
#include "modules/mod-users/properties.h"

extern const Module mod_users;

// The user whose name this is, ignoring case and accents; wildcards are plain letters. NULL if
// none.
WARN_UNUSED Err *user_by_name(Tx *tx, Str username, Json **out);
WARN_UNUSED Err *user_by_id(Tx *tx, Str id, Json **out);
// By barcode, as it is, ignoring case and accents (decision 17). NULL if none.
WARN_UNUSED Err *user_by_barcode(Tx *tx, Str barcode, Json **out);
bool user_is_active(const Json *user);
// Takes away the right to log in and to borrow, as an ordinary change of the record.
WARN_UNUSED Err *user_deactivate(Tx *tx, Str id);
// Does the user exist, is it active: from memory, exact at once after every change.
WARN_UNUSED Err *user_state(Tx *tx, Str id, UserState *out);
