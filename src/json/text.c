// UTF-8 checks: what enters a tree is valid text without NUL.
#include "json/tree.h"

#include <endian.h>
#include <string.h>

#define EACH_BYTE(c) ((c)*UINT64_C(0x0101010101010101))

// The high bit of each byte that is no plain one. Exact up to the lowest such byte: beyond it
// borrows may raise bits, which does not matter.
static uint64_t special_bytes(uint64_t word, uint64_t stop)
{
    uint64_t quote = word ^ EACH_BYTE('"'), backslash = word ^ EACH_BYTE('\\');

    return (((word - EACH_BYTE(0x20)) & ~word) | ((quote - EACH_BYTE(1)) & ~quote) |
            ((backslash - EACH_BYTE(1)) & ~backslash) | (word & stop)) &
           HIGH_BITS;
}

const char *plain_run(const char *at, const char *end, uint64_t stop)
{
    for (; end - at >= 8; at += 8) {
        uint64_t word = 0;
        memcpy(&word, at, sizeof word);
        uint64_t special = special_bytes(le64toh(word), stop);
        if (special) {
            return at + __builtin_ctzll(special) / 8;
        }
    }
    if (at < end) {
        uint64_t word = EACH_BYTE(' '), special; // blanks behind the end are plain
        memcpy(&word, at, (size_t)(end - at));
        special = special_bytes(le64toh(word), stop);
        return special ? at + __builtin_ctzll(special) / 8 : end;
    }
    return at;
}

bool text_is_clean(Str s)
{
    const char *at = s.at, *end = s.at + s.len;

    while ((at = plain_run(at, end, HIGH_BITS)) < end) {
        size_t len = utf8_char_len(at, end);
        if (len == 0 || *at == '\0') {
            return false;
        }
        at += len;
    }
    return true;
}

char *text_clean_copy(Str s)
{
    static const char REPLACEMENT[] = "\xEF\xBF\xBD";

    if (text_is_clean(s)) {
        return (char *)str_z(s);
    }
    char *copy = arena_alloc_array(arena_current(), s.len + 1, sizeof REPLACEMENT - 1);
    char *to = copy;
    for (const char *at = s.at, *end = s.at + s.len; at < end;) {
        size_t len = utf8_char_len(at, end);
        if (len == 0) {
            memcpy(to, REPLACEMENT, sizeof REPLACEMENT - 1);
            to += sizeof REPLACEMENT - 1;
            at++;
        } else if (*at == '\0') {
            at++;
        } else {
            memcpy(to, at, len);
            to += len;
            at += len;
        }
    }
    return copy;
}
