// gzip with streams that are kept: a fresh one of zlib costs 260 KB to allocate and clear.
#include "http/gzip.h"

#include "http/http.h"

#include "base/die.h"

#include <pthread.h>
#include <stdlib.h>
#include <zlib.h>

enum {
    KEPT_MAX = 16,
    LEVEL = 1,
    GZIP_WINDOW = 15 + 16, // 16: with the header and trailer of gzip
    MEMORY_LEVEL = 8,
    PIECE = 32 * 1024,
};

typedef struct Packer {
    z_stream stream;
    struct Packer *next;
} Packer;

static struct {
    pthread_mutex_t lock; // guards everything below
    Packer *kept;
    int count;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

static Packer *packer_take(void)
{
    pthread_mutex_lock(&pool.lock);
    Packer *packer = pool.kept;
    if (packer) {
        pool.kept = packer->next;
        pool.count--;
    }
    pthread_mutex_unlock(&pool.lock);
    if (packer) {
        deflateReset(&packer->stream);
        return packer;
    }
    packer = calloc(1, sizeof *packer);
    if (!packer || deflateInit2(&packer->stream, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL,
                                Z_DEFAULT_STRATEGY) != Z_OK) {
        die("out of memory");
    }
    return packer;
}

static void packer_give(Packer *packer)
{
    pthread_mutex_lock(&pool.lock);
    bool is_kept = pool.count < KEPT_MAX;
    if (is_kept) {
        packer->next = pool.kept;
        pool.kept = packer;
        pool.count++;
    }
    pthread_mutex_unlock(&pool.lock);
    if (!is_kept) {
        deflateEnd(&packer->stream);
        free(packer);
    }
}

void http_give_back(void)
{
    pthread_mutex_lock(&pool.lock);
    Packer *packer = pool.kept;
    pool.kept = NULL;
    pool.count = 0;
    pthread_mutex_unlock(&pool.lock);
    for (Packer *next; packer; packer = next) {
        next = packer->next;
        deflateEnd(&packer->stream);
        free(packer);
    }
}

bool gzip_pack(Str text, Str *packed)
{
    // zlib counts in unsigned int; longer answers are streams.
    if (text.len > INT32_MAX) {
        return false;
    }
    char *to = arena_alloc(arena_current(), text.len);
    Packer *packer = packer_take();
    z_stream *z = &packer->stream;
    z->next_in = (Bytef *)(uintptr_t)text.at;
    z->avail_in = (uInt)text.len;
    z->next_out = (Bytef *)to;
    z->avail_out = (uInt)text.len;
    bool is_done = deflate(z, Z_FINISH) == Z_STREAM_END;
    *packed = (Str){to, text.len - z->avail_out};
    packer_give(packer);
    return is_done;
}

static bool unpack_pieces(z_stream *z, Body *body)
{
    char piece[PIECE];
    int state = Z_OK;

    while (state != Z_STREAM_END) {
        z->next_out = (Bytef *)piece;
        z->avail_out = sizeof piece;
        state = inflate(z, Z_NO_FLUSH);
        if (state != Z_OK && state != Z_STREAM_END) {
            return false;
        }
        size_t len = sizeof piece - z->avail_out;
        if (len && !body_add(body, (Str){piece, len})) {
            return false;
        }
        // gzip allows several members one behind the other.
        if (state == Z_STREAM_END && z->avail_in) {
            state = inflateReset(z);
        }
    }
    return true;
}

bool gzip_unpack(Str packed, Body *body)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)packed.at, .avail_in = (uInt)packed.len};

    if (packed.len > INT32_MAX || inflateInit2(&z, GZIP_WINDOW) != Z_OK) {
        return false;
    }
    bool is_good = unpack_pieces(&z, body);
    inflateEnd(&z);
    return is_good;
}
