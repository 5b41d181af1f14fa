// Sorting records by keys that are no side columns: in memory while they are few, else on disk.
//
// Whoever asks for the first page only never has more than twice as many in memory.
#pragma once

#include "store/backend.h"

typedef struct Sorter Sorter;

// `wanted`: only so many, the first in order, will be read. Lives until sorter_free.
Sorter *sorter_new(int64_t wanted);
// Copies the key; no two are the same. They compare as bytes.
WARN_UNUSED Err *sorter_add(Sorter *sorter, Str key, int64_t pk);
bool sorter_is_on_disk(const Sorter *sorter);
WARN_UNUSED Err *sorter_read(Sorter *sorter, int64_t offset, int64_t limit,
                             Err *(*each)(int64_t pk, void *context), void *context);
void sorter_free(Sorter *sorter);
