// Any bytes as a packed body: unpacked within its limit, or refused. What we pack comes back.
#include "fuzz.h"

#include "http/body.h"
#include "http/gzip.h"

#include <string.h>

enum { BODY_MAX = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Str bytes = {(const char *)data, size}, text, packed;
    Arena *arena = arena_current();
    Body body = body_new(arena, BODY_MAX, 0, "/tmp");

    if (gzip_unpack(bytes, &body)) {
        HOLDS(body_text(&body, &text) && text.len <= BODY_MAX);
    }
    body_end(&body);
    if (size && gzip_pack(bytes, &packed)) {
        Body back = body_new(arena, size, 0, "/tmp");
        HOLDS(gzip_unpack(packed, &back) && body_text(&back, &text) && str_eq(text, bytes));
        body_end(&back);
    }
    arena_reset(arena);
    return 0;
}
