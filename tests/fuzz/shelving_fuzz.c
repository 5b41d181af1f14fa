// Fuzz target: shelving keys of call numbers and search texts of ISBNs.
#include "modules/mod-inventory-storage/isbn.h"
#include "modules/mod-inventory-storage/shelving_order.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Str text = {(const char *)data, size};

    if (size) {
        (void)shelving_key_lc(text);
        (void)shelving_key_dewey(text);
        (void)shelving_key_sudoc(text);
        (void)isbn_term(text);
    }
    arena_reset(arena_current());
    return 0;
}
