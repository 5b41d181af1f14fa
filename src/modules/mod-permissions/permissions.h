// mod-permissions inside the process: who may do what.
// FOLIO: interface permissions 5.8. Source: spec/platform.md 3.
#pragma once

#include "octavo.h"

extern const Module mod_permissions;

// The permission user of a user, NULL if he has none.
WARN_UNUSED Err *permission_user_of(Tx *tx, Str user_id, Json **out);
// Creates the record, as POST /perms/users does without an operating user.
WARN_UNUSED Err *permission_user_create(Tx *tx, Str user_id, const StrList *names, Json **out);
WARN_UNUSED Err *permission_user_delete(Tx *tx, Str user_id);
// All names that a user holds directly and through sets.
WARN_UNUSED Err *permissions_of_user(Tx *tx, Str user_id, const PermissionSet **out);
// Names that no set contains: together they give everything.
WARN_UNUSED Err *permissions_top_level(Tx *tx, StrList *names);
// The records of these names, in no order; unknown names are left out.
WARN_UNUSED Err *permissions_by_names(Tx *tx, const StrList *names, Docs *out);
