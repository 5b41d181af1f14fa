// Data files: lines that virtual users take one after another.
#pragma once

#include "actor.h"
#include "base/err.h"

#include <stdatomic.h>

typedef enum { SHARE_ALL, SHARE_GROUP, SHARE_THREAD } FeedShare;

typedef struct Feed Feed;

struct Feed {
    Str file;
    Str group; // of SHARE_GROUP
    FeedShare share;
    uint32_t number;
    uint32_t *columns; // variables
    size_t column_len;
    char delimiter;
    bool recycles;
    bool stops; // a user ends when the lines are used up; else the columns become "<EOF>"
    Str *lines;
    size_t line_len;
    _Atomic size_t next; // unless every user counts for itself
    Feed *following;
};

// Splits a file into its lines; empty ones count for nothing.
void feed_load(Feed *feed, Str content);
// Sets the columns from the next line. `own` is the user's own count for SHARE_THREAD. False when
// the lines are used up and the user has to end.
bool feed_take(Feed *feed, Actor *actor, size_t *own);
