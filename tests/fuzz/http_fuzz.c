// Fuzzes what http reads by itself: targets, forms, header fields, cookies, packed bodies.
// The first byte chooses; the rest is the text.
#include "http/gzip.h"
#include "http/head.h"

#include <stdint.h>
#include <stdlib.h>

enum {
    UNPACKED_MAX = 1 << 20,
};

static void expect(bool is_so)
{
    if (!is_so) {
        abort();
    }
}

static void try_target(Str text)
{
    Str path, query;
    NameValues list = {0};

    if (head_of_target(text, &path, &query).status == 0) {
        expect(path.len > 0 && path.len + query.len <= text.len);
        (void)!form_parse(query, &list);
    }
}

static void try_decoding(Str text)
{
    Str plain, back;

    if (url_decode(text, true, &plain)) {
        expect(plain.len <= text.len);
        expect(url_decode(url_encode(plain), true, &back) && str_eq(back, plain));
    }
}

// Lines of "name:value", as a head that the library has taken apart.
static void try_headers(Str text)
{
    NameValues list = {0};
    Str rest = text, line;

    while (list.len < HEADER_COUNT_MAX + 2 && str_next(&rest, '\n', &line)) {
        ptrdiff_t colon = str_find_char(line, ':', 0);
        size_t end = colon < 0 ? line.len : (size_t)colon;
        name_values_add(&list, str_sub(line, 0, end), str_sub(line, end + 1, line.len));
    }
    Head head = head_of_headers(&list);
    expect(!(head.status == 0 && head.has_length && head.is_chunked));
    head_is_gapless(text.at, text.at + text.len, &list);
    Req req = {.headers = list};
    req_cookie(&req, "folioAccessToken");
    req_header(&req, "x-okapi-tenant");
}

static void try_unpacking(Str text)
{
    Body body = body_new(arena_current(), UNPACKED_MAX, 0, "/tmp");
    Str unpacked;

    if (gzip_unpack(text, &body)) {
        expect(body_text(&body, &unpacked) && unpacked.len <= UNPACKED_MAX);
    }
    body_end(&body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ArenaMark mark = arena_mark(arena_current());
    Str text = size ? (Str){(const char *)data + 1, size - 1} : S("");

    switch (size ? data[0] % 5 : 0) {
    case 0:
        try_target(text);
        break;
    case 1:
        try_decoding(text);
        break;
    case 2:
        try_headers(text);
        break;
    case 3:
        accepts_gzip(text);
        break;
    default:
        try_unpacking(text);
        break;
    }
    arena_release(arena_current(), mark);
    return 0;
}
