// Writing protocol buffers: fields of a message, one after the other. Only for src/observe.
//
// Whoever writes makes room first (pb_room) for all that follows until the next time: fields are
// then written without looking.
#pragma once

#include "base/buf.h"

#include <string.h>

typedef enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 } Wire;

typedef struct {
    Buf buf;
    char *at;
} Pb;

enum {
    PB_LENGTH_BYTES = 3, // of a message that is filled in later: up to 2 MiB
    PB_SMALL_MAX = 128,  // key and lengths of a field beside its bytes, generously
};

// False beyond the maximum: then nothing may be written.
static inline bool pb_room(Pb *to, size_t n)
{
    to->buf.len = to->at ? (size_t)(to->at - to->buf.at) : 0;
    to->at = buf_room(&to->buf, n);
    if (!to->at) {
        to->at = to->buf.at + to->buf.len;
        return false;
    }
    return true;
}

static inline Str pb_str(Pb *to)
{
    to->buf.len = (size_t)(to->at - to->buf.at);
    return buf_str(&to->buf);
}

static inline void pb_varint(Pb *to, uint64_t value)
{
    while (value >= 0x80) {
        *to->at++ = (char)(value | 0x80);
        value >>= 7;
    }
    *to->at++ = (char)value;
}

// Fields have numbers below 16: one byte.
static inline void pb_key(Pb *to, int field, Wire wire)
{
    *to->at++ = (char)(field << 3 | (int)wire);
}

static inline void pb_raw(Pb *to, const void *bytes, size_t len)
{
    memcpy(to->at, bytes, len);
    to->at += len;
}

static inline void pb_uint(Pb *to, int field, uint64_t value)
{
    pb_key(to, field, WIRE_VARINT);
    pb_varint(to, value);
}

static inline void pb_fixed64(Pb *to, int field, uint64_t value)
{
    pb_key(to, field, WIRE_FIXED64);
    pb_raw(to, &value, 8); // little-endian, as every machine we run on
}

static inline void pb_double(Pb *to, int field, double value)
{
    pb_key(to, field, WIRE_FIXED64);
    pb_raw(to, &value, 8);
}

static inline void pb_bytes(Pb *to, int field, Str bytes)
{
    pb_key(to, field, WIRE_BYTES);
    pb_varint(to, bytes.len);
    if (bytes.len) {
        pb_raw(to, bytes.at, bytes.len);
    }
}

// A message inside: its length is filled in at its end, in as many bytes whatever it is. The room
// may have moved meanwhile: what is kept is the place in it.
static inline size_t pb_begin(Pb *to, int field)
{
    pb_key(to, field, WIRE_BYTES);
    to->at += PB_LENGTH_BYTES;
    return (size_t)(to->at - to->buf.at);
}

static inline void pb_end(Pb *to, size_t begun)
{
    size_t len = (size_t)(to->at - to->buf.at) - begun;
    char *at = to->buf.at + begun - PB_LENGTH_BYTES;

    for (int i = 0; i < PB_LENGTH_BYTES; i++) {
        at[i] = (char)((len >> 7 * i & 0x7f) | (i < PB_LENGTH_BYTES - 1 ? 0x80 : 0));
    }
}

static inline size_t pb_varint_len(uint64_t value)
{
    size_t len = 1;

    while (value >= 0x80) {
        value >>= 7;
        len++;
    }
    return len;
}
