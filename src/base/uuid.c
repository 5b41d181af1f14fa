// UUIDs: new ones from the clock and a pool of the system's random bytes, name-based ones from
// SHA-1.
#include "base/uuid.h"

#include "base/date.h"
#include "base/die.h"

#include <ctype.h>
#include <string.h>
#include <sys/random.h>

enum {
    POOL_BYTES = 4096,
    TIME_BYTES = 6,
};

static _Thread_local unsigned char pool[POOL_BYTES];
static _Thread_local size_t pool_left;

static Str uuid_text(const unsigned char *bytes)
{
    static const char digits[] = "0123456789abcdef";
    char *at = arena_alloc(arena_current(), 37), *to = at;

    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) {
            *to++ = '-';
        }
        *to++ = digits[bytes[i] >> 4];
        *to++ = digits[bytes[i] & 15];
    }
    return (Str){at, 36};
}

static void mark_version(unsigned char *bytes, unsigned version)
{
    bytes[6] = (unsigned char)((bytes[6] & 0x0f) | (version << 4));
    bytes[8] = (unsigned char)((bytes[8] & 0x3f) | 0x80);
}

Str uuid_new(void)
{
    unsigned char bytes[16];
    uint64_t ms = (uint64_t)time_now();

    if (pool_left < sizeof bytes) {
        if (getrandom(pool, sizeof pool, 0) != (ssize_t)sizeof pool) {
            die("the system gave no random bytes");
        }
        pool_left = sizeof pool;
    }
    pool_left -= sizeof bytes;
    memcpy(bytes, pool + pool_left, sizeof bytes);
    memset(pool + pool_left, 0, sizeof bytes);
    for (int i = TIME_BYTES; i-- > 0; ms >>= 8) {
        bytes[i] = (unsigned char)ms;
    }
    mark_version(bytes, 4);
    return uuid_text(bytes);
}

// SHA-1 for name-based ids only (RFC 9562 demands it); base/ has no crypto library below it.
typedef struct {
    uint32_t h[5];
    uint64_t len;
    unsigned char block[64];
} Sha1;

static uint32_t rol(uint32_t x, int n)
{
    return (x << n) | (x >> (32 - n));
}

static void sha1_block(Sha1 *s)
{
    uint32_t w[80], a = s->h[0], b = s->h[1], c = s->h[2], d = s->h[3], e = s->h[4];

    for (int i = 0; i < 16; i++) {
        w[i] = (uint32_t)s->block[i * 4] << 24 | (uint32_t)s->block[i * 4 + 1] << 16 |
               (uint32_t)s->block[i * 4 + 2] << 8 | s->block[i * 4 + 3];
    }
    for (int i = 16; i < 80; i++) {
        w[i] = rol(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    }
    for (int i = 0; i < 80; i++) {
        uint32_t f = i < 20   ? (b & c) | (~b & d)
                     : i < 40 ? b ^ c ^ d
                     : i < 60 ? (b & c) | (b & d) | (c & d)
                              : b ^ c ^ d;
        uint32_t k = i < 20 ? 0x5a827999 : i < 40 ? 0x6ed9eba1 : i < 60 ? 0x8f1bbcdc : 0xca62c1d6;
        uint32_t next = rol(a, 5) + f + e + k + w[i];
        e = d;
        d = c;
        c = rol(b, 30);
        b = a;
        a = next;
    }
    s->h[0] += a;
    s->h[1] += b;
    s->h[2] += c;
    s->h[3] += d;
    s->h[4] += e;
}

static void sha1_add(Sha1 *s, const void *data, size_t n)
{
    const unsigned char *from = data;

    while (n) {
        size_t used = s->len % 64, piece = n < 64 - used ? n : 64 - used;
        memcpy(s->block + used, from, piece);
        s->len += piece;
        from += piece;
        n -= piece;
        if (used + piece == 64) {
            sha1_block(s);
        }
    }
}

static void sha1_end(Sha1 *s, unsigned char *digest)
{
    static const unsigned char pad[64] = {0x80};
    uint64_t bits = s->len * 8;
    size_t used = s->len % 64;
    unsigned char length[8];

    sha1_add(s, pad, used < 56 ? 56 - used : 120 - used);
    for (int i = 0; i < 8; i++) {
        length[i] = (unsigned char)(bits >> (56 - 8 * i));
    }
    sha1_add(s, length, sizeof length);
    for (int i = 0; i < 20; i++) {
        digest[i] = (unsigned char)(s->h[i / 4] >> (24 - 8 * (i % 4)));
    }
}

static int hex_value(char c)
{
    return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

Str uuid_of_name(Str space, Str name)
{
    Sha1 sha = {{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}, 0, {0}};
    unsigned char digest[20], bytes[16];

    if (!uuid_is_uuid_shaped(space)) {
        die("'" STR_FMT "' is no name space", STR_ARG(space));
    }
    for (size_t i = 0, n = 0; i < space.len; i++) {
        if (space.at[i] != '-') {
            int value = hex_value(space.at[i]);
            bytes[n / 2] = (unsigned char)(n % 2 ? bytes[n / 2] | value : value << 4);
            n++;
        }
    }
    sha1_add(&sha, bytes, sizeof bytes);
    sha1_add(&sha, name.at, name.len);
    sha1_end(&sha, digest);
    memcpy(bytes, digest, sizeof bytes);
    mark_version(bytes, 5);
    return uuid_text(bytes);
}

bool uuid_is_uuid_shaped(Str s)
{
    if (s.len != 36) {
        return false;
    }
    for (size_t i = 0; i < s.len; i++) {
        bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (is_dash ? s.at[i] != '-' : !isxdigit((unsigned char)s.at[i])) {
            return false;
        }
    }
    return true;
}

bool uuid_is_valid(Str s)
{
    return uuid_is_uuid_shaped(s) && s.at[14] >= '1' && s.at[14] <= '5' &&
           memchr("89abAB", s.at[19], 6) != NULL;
}
