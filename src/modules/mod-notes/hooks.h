// What the collections of mod-notes do beside the engine.
#pragma once

#include "store/store.h"

Err *note_type_read(Tx *tx, Json *doc);                          // usage
Err *note_type_before_write(Tx *tx, const Json *old, Json *doc); // how many there may be
Err *note_type_explain(Tx *tx, Conflict kind, const Field *field, Str value, const Json *doc);

Err *note_read(Tx *tx, Json *doc); // type, names of who made and changed it
Err *note_before_write(Tx *tx, const Json *old, Json *doc);      // content
Err *note_after_write(Tx *tx, const Json *old, const Json *doc); // rows of links
Err *note_explain(Tx *tx, Conflict kind, const Field *field, Str value, const Json *doc);
Str note_indexed_content(const Json *doc);
