// Any text as a database dump: its rows are stored or refused, nothing else happens.
#include "world.h"

#include "commands/load.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static Arena *arena;

    world_begin();
    arena = arena ? arena : arena_new((size_t)64 << 20);
    Arena *before = arena_use(arena);
    Load load = {.app = &world.app,
                 .tenant = world.tenant,
                 .file = S("dump.sql"),
                 .text = {(const char *)data, size}};
    Err *err = load_dump(&load);
    HOLDS(!err || err->status < 500);
    arena_use(before);
    arena_reset(arena);
    return 0;
}
