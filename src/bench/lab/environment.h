// The machine and the programs that an experiment ran on.
#pragma once

#include "lab.h"

// {"lab", "host", "target", "data"}: docs/lab.md.
Json *environment_take(const Lab *lab);
// Share of all processors that others use, watched for a moment; low priorities do not count.
double environment_busy(void);
