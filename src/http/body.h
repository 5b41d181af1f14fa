// The body of a request while it arrives: small in the arena, large in a file without a name that
// is mapped when complete. Handlers see one text either way. Only for src/http.
#pragma once

#include "base/str.h"

typedef struct {
    Arena *arena;
    size_t max;
    const char *spool_dir;
    char *at;
    size_t len, cap;
    bool has_file;
    int file;
    void *map;
    bool is_too_large; // what came beyond `max` is thrown away
    bool has_failed;   // the file could not be written
} Body;

// `expected`: the announced length, 0 if unknown; memory is only taken for what arrives.
Body body_new(Arena *arena, size_t max, size_t expected, const char *spool_dir);
// False when the body is too large or cannot be kept; the flags say which.
bool body_add(Body *body, Str piece);
// The whole. False when it cannot be mapped.
bool body_text(Body *body, Str *text);
// Gives the file back. May be called twice.
void body_end(Body *body);
