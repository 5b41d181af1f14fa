// Any text as the head of a request: target, header lines, form, cookies. What is let in has one
// reading only.
#include "fuzz.h"

#include "http/head.h"

#include <string.h>

// "name: value" lines, as the library hands them over.
static NameValues headers_of(Str text)
{
    NameValues headers = {0};

    while (text.len) {
        Str line = line_take(&text);
        ptrdiff_t colon = str_find_char(line, ':', 0);
        if (colon > 0) {
            name_values_add(&headers, str_sub(line, 0, (size_t)colon),
                            str_trim(str_sub(line, (size_t)colon + 1, line.len)));
        }
    }
    return headers;
}

static void look_at_target(Str target, Req *req)
{
    Head head = head_of_target(target, &req->path, &req->query_text);
    int64_t number = 0;
    Str part;

    if (head.status) {
        HOLDS(head.status == 400 && head.text);
        return;
    }
    HOLDS(req->path.len > 0 && !memchr(req->path.at, 0, req->path.len));
    HOLDS(!memchr(req->path.at, '?', req->path.len));
    if (!form_parse(req->query_text, &req->query)) {
        return;
    }
    for (size_t i = 0; i < req->query.len; i++) {
        HOLDS(!memchr(req->query.at[i].value.at, 0, req->query.at[i].value.len));
    }
    if (!req_query_int(req, "limit", 10, &number)) {
        HOLDS(number >= 0 && number <= INT32_MAX);
    }
    if (url_decode(req->path, false, &part)) {
        Str back = {"", 0};
        HOLDS(url_decode(url_encode(part), false, &back) && str_eq(back, part));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Str text = {(const char *)data, size};
    Req req = {0};

    look_at_target(line_take(&text), &req);
    req.headers = headers_of(text);
    Head head = head_of_headers(&req.headers);
    HOLDS(head.status == 0 || head.status == 400 || head.status == 415 || head.status == 431);
    HOLDS(head.status || !(head.has_length && head.is_chunked));
    HOLDS(head.status || head.length <= INT64_MAX);
    for (size_t i = 0; i < req.headers.len && !head.status; i++) {
        // Nobody behind a proxy is taken for somebody at this machine (decision 58).
        HOLDS(head.is_forwarded || !str_eq_nocase(req.headers.at[i].name, S("forwarded")));
        HOLDS(head.is_forwarded ||
              !str_eq_nocase(str_sub(req.headers.at[i].name, 0, 12), S("x-forwarded-")));
    }
    (void)req_cookie(&req, "folioAccessToken");
    (void)accepts_gzip(text);
    (void)(size && head_is_gapless((const char *)data, (const char *)data + size, &req.headers));
    arena_reset(arena_current());
    return 0;
}
