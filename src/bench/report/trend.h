// The page over all results of a folder: what changed from revision to revision.
#pragma once

#include "base/err.h"

// Writes index.html into the lab's folder; without results nothing. Folders that hold no readable
// result are named on the page.
WARN_UNUSED Err *trend_write(const char *lab_dir);
