// result.json: whatever it holds is refused or read, and what was read is reported.
#include "bench/report/report.h"

#include <stddef.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *arena = arena_new((size_t)64 << 20), *former = arena_use(arena);
    Result *result = NULL;

    if (!result_parse((Str){(const char *)data, size}, &result)) {
        Str text = result_text(result);
        Result *again = NULL;
        if (result_parse(text, &again)) {
            __builtin_trap();
        }
        (void)doc_html(report_make(again)->doc);
    }
    arena_use(former);
    arena_free(arena);
    return 0;
}
