// Records cut out of any text lie inside it, in order, and there is an end.
#include "json/split.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    JsonSplitter splitter = json_splitter((Str){(const char *)data, size}, S("items"));
    const char *behind = (const char *)data;
    int64_t line = 0, last = 1;
    Str record;

    while (json_split_next(&splitter, &record, &line)) {
        if (record.at < behind || !record.len ||
            record.at + record.len > (const char *)data + size || line < last) {
            abort();
        }
        behind = record.at + record.len;
        last = line;
    }
    return 0;
}
