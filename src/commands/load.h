// octavo load: what its two kinds of input share.
#pragma once

#include "commands/commands.h"

typedef struct {
    App *app;
    Tenant *tenant;
    Str file; // its name
    Str text; // its content
    int64_t loaded, skipped;
    _Atomic int64_t refused; // also counted by the thread that writes
    int64_t shown_ns;
} Load;

// A line every now and then on a terminal.
void load_show(Load *load, const char *what);
// A record that was not stored: to standard error, the first hundred of them.
void load_refused(Load *load, int64_t line, const Err *err);

// Records of a collection as they are: between begin and end. A table that was empty has its
// indexes made when all are there. The number of a record is its line.
typedef struct {
    Load *load;
    const Collection *of;
    bool was_empty;
    int64_t before;
    Bulk *bulk;
} LoadAsIs;

WARN_UNUSED Err *load_as_is_begin(Load *load, const Collection *of, LoadAsIs *out);
// `text` is one record. Refused ones are told and counted; errors end the loading.
WARN_UNUSED Err *load_as_is_put(LoadAsIs *loading, Str text, int64_t line);
WARN_UNUSED Err *load_as_is_end(LoadAsIs *loading, Err *err);

// The records of one collection, with all rules of its interface, or as they are.
WARN_UNUSED Err *load_collection(Load *load, const Collection *of, bool as_is);
// Every table of a PostgreSQL dump of FOLIO that belongs to an enabled module, records as they are.
WARN_UNUSED Err *load_dump(Load *load);
