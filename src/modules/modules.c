// The list of modules: one line each.
#include "octavo.h"

const Module *const all_modules[] = {
    NULL,
};
