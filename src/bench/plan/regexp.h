// Regular expressions of load plans (Java's dialect, which ICU speaks), over UTF-8 text.
#pragma once

#include "base/err.h"

typedef struct Regexp Regexp;

// Lives until the list that it is put on is closed. 400 with ICU's message for a bad pattern.
WARN_UNUSED Err *regexp_compile(Str pattern, Regexp **list, Regexp **out);
// Gives back what the matchers of a list hold; nothing may use them any more.
void regexps_close(Regexp *list);
int regexp_groups(const Regexp *regexp);

// Does the pattern occur in the text?
bool regexp_finds(const Regexp *regexp, Str text);
// Is the whole text one match?
bool regexp_matches(const Regexp *regexp, Str text);

enum {
    REGEXP_GROUPS_MAX = 10,
};

typedef struct {
    Str group[REGEXP_GROUPS_MAX]; // [0] = the whole match; pieces of the text
} RegexpMatch;

// The matches in order, at most `max`; returns how many there are.
size_t regexp_find_all(const Regexp *regexp, Str text, RegexpMatch *matches, size_t max);
