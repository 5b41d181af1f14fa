// Writing protocol buffers: fields of a message, one after the other. Only for src/observe.
#pragma once

#include "base/buf.h"

#include <string.h>

typedef enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 } Wire;

static inline void pb_varint(Buf *to, uint64_t value)
{
    char bytes[10];
    size_t len = 0;

    while (value >= 0x80) {
        bytes[len++] = (char)(value | 0x80);
        value >>= 7;
    }
    bytes[len++] = (char)value;
    buf_add(to, (Str){bytes, len});
}

static inline void pb_key(Buf *to, int field, Wire wire)
{
    pb_varint(to, (uint64_t)field << 3 | wire);
}

static inline void pb_uint(Buf *to, int field, uint64_t value)
{
    pb_key(to, field, WIRE_VARINT);
    pb_varint(to, value);
}

static inline void pb_fixed64(Buf *to, int field, uint64_t value)
{
    pb_key(to, field, WIRE_FIXED64);
    buf_add(to, (Str){(const char *)&value, 8}); // little-endian, as every machine we run on
}

static inline void pb_double(Buf *to, int field, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, 8);
    pb_fixed64(to, field, bits);
}

static inline void pb_bytes(Buf *to, int field, Str bytes)
{
    pb_key(to, field, WIRE_BYTES);
    pb_varint(to, bytes.len);
    buf_add(to, bytes);
}

enum {
    PB_LENGTH_BYTES = 4, // a message of up to 256 MiB
};

// A message inside: its length is filled in at its end, in four bytes whatever it is.
static inline size_t pb_begin(Buf *to, int field)
{
    pb_key(to, field, WIRE_BYTES);
    buf_add(to, (Str){"\0\0\0\0", PB_LENGTH_BYTES});
    return to->len;
}

static inline void pb_end(Buf *to, size_t begun)
{
    if (to->overflowed) {
        return;
    }
    size_t len = to->len - begun;
    unsigned char *at = (unsigned char *)to->at + begun - PB_LENGTH_BYTES;
    for (int i = 0; i < PB_LENGTH_BYTES; i++) {
        at[i] = (unsigned char)((len >> 7 * i & 0x7f) | (i < PB_LENGTH_BYTES - 1 ? 0x80 : 0));
    }
}
