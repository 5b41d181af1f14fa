// mod-circulation: what it provides, its routes and timers.
#include "modules/mod-circulation/circulation.h"

static const Interface provides[] = {
    {0},
};

static const char *const requires[] = {NULL};

const Module mod_circulation = {
    .name = "mod-circulation",
    .version = "24.2.1",
    .provides = provides,
    .requires = requires,
};
