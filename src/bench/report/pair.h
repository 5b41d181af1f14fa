// Two results as one, so that the report of a comparison is an ordinary report.
#pragma once

#include "bench/result.h"

// `configuration` of both, or empty for the baseline of each. The first is the new baseline. What
// differs between the two besides what was measured goes to the warnings and into the result.
// Errors: a result without such a configuration, no metric in common.
WARN_UNUSED Err *pair_results(const Result *a, const Result *b, Str configuration, Result **out,
                              StrList *warnings);
