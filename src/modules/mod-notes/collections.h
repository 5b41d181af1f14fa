// Collections of mod-notes.
#pragma once

#include "store/store.h"

extern const Collection note_types;
extern const Collection notes;
extern const Collection note_links;

// All of the module, NULL at the end.
extern const Collection *const notes_collections[];
