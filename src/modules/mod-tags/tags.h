// mod-tags inside the process.
// FOLIO: interface tags 1.0. Source: spec/platform.md 6.1.
#pragma once

#include "octavo.h"

extern const Module mod_tags;
extern const Collection tags;
extern const Collection *const tags_collections[]; // NULL at the end
