// The memory of the process: what it may use, what it uses, and who gives back what is kept only to
// be faster when it nears that limit (decision 52).
//
// Used is what belongs to the process alone; pages of files are the kernel's to take away.
#pragma once

#include "base/err.h"

#include <stdint.h>

// The least limit of the control groups around the process; 0: none below the machine's memory.
int64_t memory_group_limit(void);
int64_t memory_of_machine(void);
int64_t memory_used(void);

// Called every few seconds, and with `is_short` when memory is short. True if something was freed.
typedef struct {
    bool (*give)(void *context, bool is_short);
    void *context;
} MemoryGiver;

// Watches on a thread of its own until memory_watch_end. The givers are borrowed until then.
WARN_UNUSED Err *memory_watch(int64_t limit_bytes, const MemoryGiver *givers, size_t n);
void memory_watch_end(void);

typedef struct {
    int64_t limit_bytes; // 0: nobody watches
    int64_t short_bytes; // from here on caches are given back
    int64_t used_bytes;
    uint64_t sheds;      // times they were
    uint64_t shed_bytes; // what that brought
    bool is_short;
} MemoryFigures;

MemoryFigures memory_figures(void);
