// Keys by which call numbers sort on the shelf.
#pragma once

#include "base/str.h"

// The key of an item: from its effective call number, the type of that number (an id), what follows
// the number (volume, enumeration, chronology, copy number; may be empty) and the suffix. Empty if
// the call number is blank. Compare keys bytewise. Source: spec/inventory.md 4.3.
typedef struct {
    Str call_number, type_id, suffix;
    Str following[4];
} CallNumber;

Str shelving_order(const CallNumber *of);

// The keys of single schemes, for browsing by call number.
Str shelving_key_lc(Str text);
Str shelving_key_dewey(Str text);
Str shelving_key_sudoc(Str text);
