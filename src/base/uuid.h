// UUIDs as 36 lower-case characters.
#pragma once

#include "base/str.h"

// A new one: milliseconds of the clock, then 74 random bits nobody can guess. Ids of later records
// sort behind earlier ones, so that all their index entries come to stand on a few pages instead of
// anywhere. Marked as version 4: FOLIO's schemas know 1 to 5 only.
Str uuid_new(void);
// Name-based (version 5): the same name in the same space gives the same id. For recipes and tests.
Str uuid_of_name(Str space, Str name);
// xxxxxxxx-xxxx-Mxxx-Nxxx-xxxxxxxxxxxx, M 1-5, N 8 9 a b, any case: RMB's check of ids.
bool uuid_is_valid(Str s);
// Five groups of hexadecimal digits of the right lengths, any version: FOLIO's schema pattern.
bool uuid_is_uuid_shaped(Str s);
