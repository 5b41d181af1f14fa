// What the collection of configuration entries does beside the engine.
#pragma once

#include "store/store.h"

// Keeps the history of changes (GET /configurations/audit).
Err *configuration_written(Tx *tx, const Json *old, const Json *doc);
Err *configuration_explain(Tx *tx, Conflict kind, const Field *field, Str value, const Json *doc);
