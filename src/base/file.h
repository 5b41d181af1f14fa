// Whole files.
#pragma once

#include "base/err.h"

// The bytes of a file, in the current arena. 400 with the path and the reason: it cannot be read,
// or is larger than limit_bytes.
WARN_UNUSED Err *file_read(const char *path, size_t limit_bytes, Str *out);
