// Text as pointer and length. Not NUL-terminated unless str_z made it; may hold any byte.
#pragma once

#include "base/arena.h"

#include <stdint.h>

typedef struct {
    const char *at;
    size_t len;
} Str;

typedef struct {
    Str *at;
    size_t len;
    size_t cap;
} StrList;

#define S(literal) ((Str){"" literal, sizeof(literal) - 1})
#define STR_FMT    "%.*s"
#define STR_ARG(s) ((int)(s).len), ((s).at ? (s).at : "")

// The text of a C string; NULL gives the empty text.
Str str_of(const char *z);
// A NUL-terminated copy in the current arena.
const char *str_z(Str s);
// A copy in the given arena.
Str str_copy(Arena *arena, Str s);
// printf into the current arena.
Str str_fmt(const char *format, ...) __attribute__((format(printf, 1, 2)));

bool str_is_empty(Str s);
bool str_eq(Str a, Str b);
bool str_eq_z(Str a, const char *z);
// ASCII letters only: header names, keywords, hex digits.
bool str_eq_nocase(Str a, Str b);
// Byte order, as memcmp; shorter first.
int str_cmp(Str a, Str b);
bool str_starts(Str s, Str prefix);
bool str_ends(Str s, Str suffix);
// Index of the first occurrence at or after `from`, or -1.
ptrdiff_t str_find(Str s, Str part, size_t from);
ptrdiff_t str_find_char(Str s, char c, size_t from);
// From index `from` up to (not including) `to`; both are clipped to the text.
Str str_sub(Str s, size_t from, size_t to);
// Without blanks, tabs and line ends at both ends.
Str str_trim(Str s);
// ASCII lower case, in the current arena.
Str str_lower(Str s);
Str str_upper(Str s);
// Cuts off what stands before the next `separator` and moves `rest` behind it. False at the end.
bool str_next(Str *rest, char separator, Str *part);
// Whole text as a decimal number; false for anything else or out of range.
bool str_int64(Str s, int64_t *out);
bool str_double(Str s, double *out);
// Seeded at process start: safe against chosen collisions, different in each process.
uint64_t str_hash(Str s);

void str_list_add(StrList *list, Str s); // grows in the current arena
bool str_list_has(const StrList *list, Str s);
// Joined by `between`, in the current arena.
Str str_join(const Str *parts, size_t n, Str between);
// Length in bytes of the character at `at`, 0 if it is not valid UTF-8 (RFC 3629).
size_t utf8_char_len(const char *at, const char *end);
bool str_is_utf8(Str s);
// The same bytes in time that depends on the lengths only: secrets.
bool str_eq_secret(Str a, Str b);
