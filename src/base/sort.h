// Sorting of arrays that may be empty: qsort wants a place even for no items.
#pragma once

#include <stdlib.h>

static inline void sort_array(void *at, size_t n, size_t item_size,
                              int (*order)(const void *, const void *))
{
    if (n > 1) {
        qsort(at, n, item_size, order);
    }
}
