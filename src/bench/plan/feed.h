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
    bool stops;         // a user ends when the lines are used up; else the columns become "<EOF>"
    bool is_single_use; // a line serves once: what uses it again is refused, or does other work
    bool is_given;      // no file: the command line gave its columns
    Str *lines;
    size_t line_len;
    size_t first;        // where the run began: lines before it were used by earlier ones
    _Atomic size_t next; // the first line nobody has; if each user counts, that of the farthest
    _Atomic int64_t ended_ns; // when a line behind the last one was asked for; 0 = never
    Feed *following;
};

// Splits a file into its lines; empty ones count for nothing.
void feed_load(Feed *feed, Str content);
// Earlier runs on the same data have used so many lines.
void feed_skip(Feed *feed, size_t lines);
// Lines used by this run; a line used twice counts twice.
size_t feed_taken(const Feed *feed);
// How often the list was gone over, with what earlier runs used of it; 0 if it is empty.
double feed_passes(const Feed *feed);
// Sets the columns from the next line. `own` is the user's own count for SHARE_THREAD. False when
// the lines are used up and the user has to end.
bool feed_take(Feed *feed, Actor *actor, size_t *own);
