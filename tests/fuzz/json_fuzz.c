// What the JSON reader accepts is written and read back as the same value.
#include "json/json.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Json *doc = NULL, *again = NULL;
    Arena *arena = arena_current();

    arena_reset(arena);
    if (json_parse((Str){(const char *)data, size}, &doc)) {
        return 0;
    }
    if (json_parse(json_text(doc), &again) || !json_equal(doc, again)) {
        abort();
    }
    if (json_parse(json_text_indented(doc), &again) || !json_equal(again, doc)) {
        abort();
    }
    if (!json_equal(json_copy(doc), doc)) {
        abort();
    }
    json_pg_text(doc);
    if (json_is_object(doc)) {
        json_merge(again, doc);
    }
    return 0;
}
