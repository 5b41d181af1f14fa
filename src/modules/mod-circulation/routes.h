// Routes of mod-circulation that have a file of their own.
#pragma once

#include "modules/mod-circulation/circulation.h"

extern const Route circulation_routes[]; // routes_circulation.c
