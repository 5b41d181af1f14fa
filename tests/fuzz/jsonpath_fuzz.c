// Fuzz target: first line a JSON path, the rest the document it is applied to.
#include "bench/plan/jsonpath.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Str rest = {(const char *)data, size}, line;
    ArenaMark mark = arena_mark(arena_current());
    JsonPath *path = NULL;

    if (size > 0 && str_next(&rest, '\n', &line) && rest.at && !jsonpath_compile(line, &path)) {
        StrList found = {0};
        Err *err = jsonpath_find(path, rest, 0, &found);
        for (size_t i = 0; !err && i < found.len; i++) {
            (void)jsonpath_text(found.at[i]);
        }
    }
    arena_release(arena_current(), mark);
    return 0;
}
