// Names of countries.
#pragma once

#include "base/str.h"

// The English name of a country by its two-letter code: "US" gives "United States". "" for what is
// no code.
Str country_name(Str code);
