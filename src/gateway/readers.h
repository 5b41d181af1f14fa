// Who may read from a replica: what this node knows of the last acts of each token. Source:
// decision 50.
//
// A token that is new here may have written elsewhere, so it counts as one that has just written.
#pragma once

#include "base/date.h"
#include "base/str.h"

typedef struct Readers Readers;

Readers *readers_new(void);
void readers_free(Readers *readers);
// The moment (clock_ns) whose data the token must see at least; 0: the newest. Remembers the token.
int64_t readers_ask(Readers *readers, Str token, Time now);
// A call of the token that may have written is over.
void readers_wrote(Readers *readers, Str token, Time now);
// A READ is over; lagged: a replica served it.
void readers_read(Readers *readers, Str token, Time now, bool lagged);
