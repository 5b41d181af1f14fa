// Buffers of requests in flight.
#include "bytes_pool.h"

#include "base/die.h"

#include <stdlib.h>
#include <string.h>

Bytes *bytes_take(BytesPool *pool)
{
    Bytes *bytes = pool->unused;

    if (bytes) {
        pool->unused = bytes->next;
        bytes->len = 0;
        return bytes;
    }
    bytes = calloc(1, sizeof *bytes);
    if (!bytes) {
        die("out of memory");
    }
    return bytes;
}

void bytes_give(BytesPool *pool, Bytes *bytes)
{
    if (!bytes) {
        return;
    }
    if (bytes->cap > BYTES_KEPT_MAX) {
        free(bytes->at);
        *bytes = (Bytes){0};
    }
    bytes->next = pool->unused;
    pool->unused = bytes;
}

void bytes_close(BytesPool *pool)
{
    while (pool->unused) {
        Bytes *bytes = pool->unused;
        pool->unused = bytes->next;
        free(bytes->at);
        free(bytes);
    }
}

bool bytes_add(Bytes *bytes, Str data)
{
    if (data.len > BYTES_MAX - bytes->len) {
        return false;
    }
    if (bytes->len + data.len > bytes->cap) {
        size_t cap = bytes->cap ? bytes->cap * 2 : 4096;
        while (cap < bytes->len + data.len) {
            cap *= 2;
        }
        char *grown = realloc(bytes->at, cap);
        if (!grown) {
            return false;
        }
        bytes->at = grown;
        bytes->cap = cap;
    }
    if (data.len > 0) {
        memcpy(bytes->at + bytes->len, data.at, data.len);
        bytes->len += data.len;
    }
    return true;
}

Str bytes_str(const Bytes *bytes)
{
    return bytes && bytes->len ? (Str){bytes->at, bytes->len} : (Str){"", 0};
}
