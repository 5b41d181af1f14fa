// What the collections of mod-users do beside the engine.
#pragma once

#include "store/store.h"

// checks.c
Err *user_before_write(Tx *tx, const Json *old, Json *doc);
Err *user_explain(Tx *tx, Conflict kind, const Field *field, Str value, const Json *doc);

// satellites.c
Err *department_read(Tx *tx, Json *doc);
Err *department_before_delete(Tx *tx, const Json *doc);
Err *department_explain(Tx *tx, Conflict kind, const Field *field, Str value, const Json *doc);
Err *proxy_explain(Tx *tx, Conflict kind, const Field *field, Str value, const Json *doc);

// custom_fields.c
Err *custom_field_before_write(Tx *tx, const Json *old, Json *doc);
Err *custom_field_after_write(Tx *tx, const Json *old, const Json *doc);

// staging.c
Err *staging_before_write(Tx *tx, const Json *old, Json *doc);
