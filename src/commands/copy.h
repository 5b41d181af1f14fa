// Copies libraries between database systems: octavo migrate --from --to.
#pragma once

#include "commands/commands.h"

// Returns the exit code: 1 if it failed or the two sides are not the same afterwards. `tenant` ""
// = all.
int copy_main(const CommandLine *line, Str from, Str to, Str tenant);
