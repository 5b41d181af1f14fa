// Memory of one request or job step: allocated piece by piece, given back at once.
//
// Ownership: whatever a function of Octavo returns lives in the calling thread's current arena
// unless its header says otherwise; inputs are borrowed. Nothing in an arena is freed singly.
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct Arena Arena;

typedef struct {
    void *chunk;
    size_t used;
    size_t total;
} ArenaMark;

// A new arena that reports itself over its limit beyond `limit_bytes`.
Arena *arena_new(size_t limit_bytes);
void arena_free(Arena *arena);

// Zeroed memory, aligned for every type. Never NULL. Beyond the limit it still serves, but
// arena_is_over_limit answers true; the store, the JSON reader and the reply functions check that
// and fail the request with 413. Whoever does not check gets pages of a file beyond twice the
// limit, so that others do not suffer; at 64 times the limit the process stops: that is a defect of
// ours.
void *arena_alloc(Arena *arena, size_t size_bytes);

// Where an array of `len` items that has room for *cap has room for one more: where it is, or a
// copy twice as large.
void *array_grow(Arena *arena, const void *at, size_t *cap, size_t item_size);
static inline void *array_room(Arena *arena, void *at, size_t len, size_t *cap, size_t item_size)
{
    return len < *cap ? at : array_grow(arena, at, cap, item_size);
}

// The same with anything in it, for those who fill it at once.
void *arena_alloc_raw(Arena *arena, size_t size_bytes);

// As arena_alloc_raw, but NULL beyond the limit: for libraries that can fail on their own.
void *arena_try(Arena *arena, size_t size_bytes);

bool arena_is_over_limit(const Arena *arena);
// Bytes left below the limit.
size_t arena_left(const Arena *arena);

// Everything allocated after the mark is given back by arena_release.
ArenaMark arena_mark(const Arena *arena);
void arena_release(Arena *arena, ArenaMark mark);

// Empties the arena but keeps its first chunk (64 KB) for the next request.
void arena_reset(Arena *arena);

// Bytes handed out since the last reset, and the most there ever were.
size_t arena_used(const Arena *arena);
size_t arena_high_water(const Arena *arena);

// The calling thread's current arena: where results and JSON documents are made. A thread without
// one gets its own on first use. arena_use makes another one current and returns the former.
Arena *arena_current(void);
Arena *arena_use(Arena *arena);

// A second arena of the thread for short-lived work inside one function; always used with a mark.
Arena *scratch_arena(void);

#define NEW(type)          ((type *)arena_alloc(arena_current(), sizeof(type)))
#define NEW_ARRAY(type, n) ((type *)arena_alloc_array(arena_current(), (n), sizeof(type)))

// n * size_bytes without overflow.
void *arena_alloc_array(Arena *arena, size_t n, size_t size_bytes);
