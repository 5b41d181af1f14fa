// mod-notes: notes on users, providers, packages ... FOLIO: interface notes 3.0.
// Source: spec/platform.md 6.2.
#pragma once

#include "octavo.h"

extern const Module mod_notes;
