// A growing text in an arena with a maximum given at creation: no input can grow it without limit.
#pragma once

#include "base/str.h"

typedef struct {
    Arena *arena;
    char *at;
    size_t len;
    size_t cap;
    size_t max;
    bool overflowed; // something did not fit; the content is cut off at `max`
} Buf;

Buf buf_new(Arena *arena, size_t max);
void buf_add(Buf *buf, Str s);
void buf_add_z(Buf *buf, const char *z);
void buf_char(Buf *buf, char c);
void buf_fmt(Buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Room for n more bytes at the end, for a library that writes itself; NULL if they exceed the
// maximum. Follow with buf->len += what was written.
char *buf_room(Buf *buf, size_t n);
Str buf_str(const Buf *buf);
void buf_clear(Buf *buf);
