// Text slices.
#include "base/str.h"

#include "base/die.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { FORMATTED_USUAL = 256 }; // longer texts are formatted twice

Str str_of(const char *z)
{
    return z ? (Str){z, strlen(z)} : (Str){"", 0};
}

const char *str_z(Str s)
{
    return str_copy(arena_current(), s).at;
}

Str str_copy(Arena *arena, Str s)
{
    char *at = arena_alloc_raw(arena, s.len + 1);

    if (s.len) {
        memcpy(at, s.at, s.len);
    }
    at[s.len] = '\0';
    return (Str){at, s.len};
}

Str str_fmt(const char *format, ...)
{
    char first[FORMATTED_USUAL];
    va_list args, again;

    va_start(args, format);
    va_copy(again, args);
    int len = vsnprintf(first, sizeof first, format, args);
    va_end(args);
    if (len < 0) {
        die("bad format '%s'", format);
    }
    char *at = arena_alloc_raw(arena_current(), (size_t)len + 1);
    if ((size_t)len < sizeof first) {
        memcpy(at, first, (size_t)len + 1);
    } else {
        vsnprintf(at, (size_t)len + 1, format, again);
    }
    va_end(again);
    return (Str){at, (size_t)len};
}

bool str_is_empty(Str s)
{
    return s.len == 0;
}

bool str_eq(Str a, Str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

bool str_eq_z(Str a, const char *z)
{
    return str_eq(a, str_of(z));
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static char upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - ('a' - 'A')) : c;
}

bool str_eq_nocase(Str a, Str b)
{
    if (a.len != b.len) {
        return false;
    }
    for (size_t i = 0; i < a.len; i++) {
        if (lower(a.at[i]) != lower(b.at[i])) {
            return false;
        }
    }
    return true;
}

int str_cmp(Str a, Str b)
{
    size_t shorter = a.len < b.len ? a.len : b.len;
    int order = shorter ? memcmp(a.at, b.at, shorter) : 0;

    if (order) {
        return order;
    }
    return a.len < b.len ? -1 : a.len > b.len;
}

bool str_starts(Str s, Str prefix)
{
    return s.len >= prefix.len && str_eq((Str){s.at, prefix.len}, prefix);
}

bool str_ends(Str s, Str suffix)
{
    return s.len >= suffix.len && str_eq((Str){s.at + s.len - suffix.len, suffix.len}, suffix);
}

ptrdiff_t str_find(Str s, Str part, size_t from)
{
    if (from > s.len || part.len > s.len - from) {
        return -1;
    }
    if (part.len == 0) {
        return (ptrdiff_t)from;
    }
    const char *hit = memmem(s.at + from, s.len - from, part.at, part.len);
    return hit ? hit - s.at : -1;
}

ptrdiff_t str_find_char(Str s, char c, size_t from)
{
    if (from >= s.len) {
        return -1;
    }
    const char *hit = memchr(s.at + from, c, s.len - from);
    return hit ? hit - s.at : -1;
}

Str str_sub(Str s, size_t from, size_t to)
{
    if (to > s.len) {
        to = s.len;
    }
    if (from > to) {
        from = to;
    }
    return (Str){s.at + from, to - from};
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

Str str_trim(Str s)
{
    while (s.len && is_blank(s.at[0])) {
        s.at++;
        s.len--;
    }
    while (s.len && is_blank(s.at[s.len - 1])) {
        s.len--;
    }
    return s;
}

Str str_lower(Str s)
{
    char *at = arena_alloc(arena_current(), s.len + 1);

    for (size_t i = 0; i < s.len; i++) {
        at[i] = lower(s.at[i]);
    }
    return (Str){at, s.len};
}

Str str_upper(Str s)
{
    char *at = arena_alloc(arena_current(), s.len + 1);

    for (size_t i = 0; i < s.len; i++) {
        at[i] = upper(s.at[i]);
    }
    return (Str){at, s.len};
}

bool str_next(Str *rest, char separator, Str *part)
{
    if (!rest->at) {
        return false;
    }
    ptrdiff_t end = str_find_char(*rest, separator, 0);
    if (end < 0) {
        *part = *rest;
        *rest = (Str){NULL, 0};
        return true;
    }
    *part = str_sub(*rest, 0, (size_t)end);
    *rest = str_sub(*rest, (size_t)end + 1, rest->len);
    return true;
}

bool str_int64(Str s, int64_t *out)
{
    char digits[24];
    char *end = NULL;

    if (s.len == 0 || s.len >= sizeof digits || is_blank(s.at[0]) || s.at[0] == '+') {
        return false;
    }
    memcpy(digits, s.at, s.len);
    digits[s.len] = 0;
    errno = 0;
    long long value = strtoll(digits, &end, 10);
    if (errno || end != digits + s.len) {
        return false;
    }
    *out = value;
    return true;
}

bool str_double(Str s, double *out)
{
    char digits[64];
    char *end = NULL;

    // strtod also reads "nan", "inf" and hexadecimal; numbers of ours start with a digit or a
    // minus.
    if (s.len == 0 || s.len >= sizeof digits || memchr(s.at, 'x', s.len) ||
        memchr(s.at, 'X', s.len)) {
        return false;
    }
    if (!isdigit((unsigned char)s.at[0]) && s.at[0] != '-' && s.at[0] != '.') {
        return false;
    }
    memcpy(digits, s.at, s.len);
    digits[s.len] = 0;
    double value = strtod(digits, &end);
    if (end != digits + s.len || value != value || value - value != 0) {
        return false;
    }
    *out = value;
    return true;
}

static uint64_t hash_seed;
static pthread_once_t hash_once = PTHREAD_ONCE_INIT;

static void hash_seed_make(void)
{
    if (getrandom(&hash_seed, sizeof hash_seed, 0) != (ssize_t)sizeof hash_seed) {
        die("the system gave no random bytes");
    }
}

uint64_t str_hash(Str s)
{
    pthread_once(&hash_once, hash_seed_make);
    uint64_t hash = hash_seed ^ (s.len * 0x9e3779b97f4a7c15u);
    size_t i = 0;
    for (; i + 8 <= s.len; i += 8) {
        uint64_t word;
        memcpy(&word, s.at + i, sizeof word);
        hash = (hash ^ word) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
    }
    for (; i < s.len; i++) {
        hash = (hash ^ (unsigned char)s.at[i]) * 0x100000001b3u;
    }
    hash ^= hash >> 29;
    hash *= 0xc4ceb9fe1a85ec53u;
    return hash ^ (hash >> 32);
}

void str_list_add(StrList *list, Str s)
{
    list->at = array_room(arena_current(), list->at, list->len, &list->cap, sizeof *list->at);
    list->at[list->len++] = s;
}

bool str_list_has(const StrList *list, Str s)
{
    for (size_t i = 0; i < list->len; i++) {
        if (str_eq(list->at[i], s)) {
            return true;
        }
    }
    return false;
}

Str str_join(const Str *parts, size_t n, Str between)
{
    size_t len = n ? between.len * (n - 1) : 0;

    for (size_t i = 0; i < n; i++) {
        len += parts[i].len;
    }
    char *at = arena_alloc(arena_current(), len + 1), *to = at;
    for (size_t i = 0; i < n; i++) {
        if (i && between.len) {
            to = mempcpy(to, between.at, between.len);
        }
        if (parts[i].len) {
            to = mempcpy(to, parts[i].at, parts[i].len);
        }
    }
    return (Str){at, len};
}

bool str_eq_secret(Str a, Str b)
{
    unsigned differs = a.len != b.len;

    for (size_t i = 0; i < a.len && i < b.len; i++) {
        differs |= (unsigned char)(a.at[i] ^ b.at[i]);
    }
    return !differs;
}

static bool is_tail(const char *at, unsigned char low, unsigned char high)
{
    unsigned char c = (unsigned char)*at;

    return c >= low && c <= high;
}

size_t utf8_char_len(const char *at, const char *end)
{
    size_t left = (size_t)(end - at);
    unsigned char c = left ? (unsigned char)*at : 0xFF;

    if (c < 0x80) {
        return 1;
    }
    if (c >= 0xC2 && c <= 0xDF) {
        return left >= 2 && is_tail(at + 1, 0x80, 0xBF) ? 2 : 0;
    }
    if (c >= 0xE0 && c <= 0xEF) {
        // No overlong forms, no surrogates.
        unsigned char low = c == 0xE0 ? 0xA0 : 0x80, high = c == 0xED ? 0x9F : 0xBF;
        return left >= 3 && is_tail(at + 1, low, high) && is_tail(at + 2, 0x80, 0xBF) ? 3 : 0;
    }
    if (c >= 0xF0 && c <= 0xF4) {
        unsigned char low = c == 0xF0 ? 0x90 : 0x80, high = c == 0xF4 ? 0x8F : 0xBF;
        bool is_fine = left >= 4 && is_tail(at + 1, low, high) && is_tail(at + 2, 0x80, 0xBF) &&
                       is_tail(at + 3, 0x80, 0xBF);
        return is_fine ? 4 : 0;
    }
    return 0;
}

bool str_is_utf8(Str s)
{
    const char *at = s.at, *end = s.at + s.len;

    while (at < end) {
        size_t len = utf8_char_len(at, end);
        if (!len) {
            return false;
        }
        at += len;
    }
    return true;
}
