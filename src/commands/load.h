// octavo load: what its two kinds of input share.
#pragma once

#include "commands/commands.h"

typedef struct {
    App *app;
    Tenant *tenant;
    Str file; // its name
    Str text; // its content
    int64_t loaded, refused, skipped;
    int64_t shown_ns;
} Load;

// A line every now and then on a terminal.
void load_show(Load *load, const char *what);
// A record that was not stored: to standard error, the first hundred of them.
void load_refused(Load *load, int64_t line, const Err *err);

// The records of one collection, with all rules of its interface, or as they are.
WARN_UNUSED Err *load_collection(Load *load, const Collection *of, bool as_is);
// Every table of a PostgreSQL dump of FOLIO that belongs to an enabled module, records as they are.
WARN_UNUSED Err *load_dump(Load *load);
