// Fuzz target: HTML of notes. What comes out goes through again unchanged and holds no tag
// that a browser would run.
#include "base/die.h"
#include "modules/mod-notes/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ArenaMark mark = arena_mark(arena_current());
    Str html = {(const char *)data, size};
    Str clean = html_sanitize(html);
    Str small = str_lower(clean);

    if (!str_eq(html_sanitize(clean), clean)) {
        die("not stable");
    }
    // Every "<" that is left begins a tag that was let through.
    if (str_find(small, S("<script"), 0) >= 0 || str_find(small, S("<img"), 0) >= 0) {
        die("unsafe");
    }
    (void)html_text(html);
    arena_release(arena_current(), mark);
    return 0;
}
