// What is not FOLIO's: /octavo/..., its permissions, and lists of modules that are not built.
#pragma once

#include "octavo.h"

extern const Module octavo_module;
