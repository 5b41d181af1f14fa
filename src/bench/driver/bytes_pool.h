// Growing buffers that outlive a step of a virtual user: bodies and answers of requests in flight.
#pragma once

#include "base/str.h"

typedef struct Bytes {
    char *at;
    size_t len, cap;
    struct Bytes *next;
} Bytes;

// One per event loop; not shared between threads.
typedef struct {
    Bytes *unused;
} BytesPool;

enum {
    BYTES_MAX = 512 << 20,    // of one buffer
    BYTES_KEPT_MAX = 1 << 20, // a larger one is freed when given back
};

Bytes *bytes_take(BytesPool *pool);
void bytes_give(BytesPool *pool, Bytes *bytes); // NULL allowed
void bytes_close(BytesPool *pool);
// False beyond the maximum.
bool bytes_add(Bytes *bytes, Str data);
Str bytes_str(const Bytes *bytes); // NULL gives ""
