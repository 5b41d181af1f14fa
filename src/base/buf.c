// Growing buffers.
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

Buf buf_new(Arena *arena, size_t max)
{
    return (Buf){.arena = arena, .max = max};
}

char *buf_room(Buf *buf, size_t n)
{
    if (n > buf->max || buf->len > buf->max - n) {
        buf->overflowed = true;
        return NULL;
    }
    if (buf->len + n + 1 > buf->cap) {
        size_t cap = buf->cap ? buf->cap * 2 : 256;
        while (cap < buf->len + n + 1) {
            cap *= 2;
        }
        cap = cap > buf->max ? buf->max + 1 : cap;
        char *at = arena_alloc(buf->arena, cap);
        if (buf->len) {
            memcpy(at, buf->at, buf->len);
        }
        buf->at = at;
        buf->cap = cap;
    }
    return buf->at + buf->len;
}

void buf_add(Buf *buf, Str s)
{
    if (s.len == 0) {
        return;
    }
    char *to = buf_room(buf, s.len);
    if (to) {
        memcpy(to, s.at, s.len);
        buf->len += s.len;
    }
}

void buf_add_z(Buf *buf, const char *z)
{
    buf_add(buf, str_of(z));
}

void buf_char(Buf *buf, char c)
{
    buf_add(buf, (Str){&c, 1});
}

void buf_fmt(Buf *buf, const char *format, ...)
{
    size_t left = buf->cap - buf->len;
    va_list args, again;

    va_start(args, format);
    va_copy(again, args);
    int len = vsnprintf(left ? buf->at + buf->len : NULL, left, format, args);
    va_end(args);
    bool fits = len >= 0 && (size_t)len < left;
    char *to = len >= 0 ? buf_room(buf, (size_t)len) : NULL;
    if (to) {
        if (!fits) {
            vsnprintf(to, (size_t)len + 1, format, again);
        }
        buf->len += (size_t)len;
    }
    va_end(again);
}

Str buf_str(const Buf *buf)
{
    return (Str){buf->at ? buf->at : "", buf->len};
}

void buf_clear(Buf *buf)
{
    buf->len = 0;
    buf->overflowed = false;
}
