// Any JSON as a record of any collection: checked, completed and written as JSON that passes again,
// or refused with a 422 or 400. The first byte chooses the collection.
#include "fuzz.h"

#include "octavo.h"

enum { TYPES_MAX = 512 };

static size_t types_list(const RecordType **types)
{
    size_t n = 0;

    for (const Module *const *module = all_modules; *module; module++) {
        const Collection *const *of = (*module)->collections;
        for (; of && *of && n < TYPES_MAX; of++) {
            types[n++] = (*of)->record;
        }
    }
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const RecordType *types[TYPES_MAX];
    static size_t count;
    Json *doc = NULL, *again = NULL;

    count = count ? count : types_list(types);
    if (!size || json_parse((Str){(const char *)data + 1, size - 1}, &doc)) {
        arena_reset(arena_current());
        return 0;
    }
    const RecordType *type = types[data[0] % count];
    Err *err = type ? properties_check(type, doc) : NULL;
    HOLDS(!err || err->status == 422 || err->status == 400);
    if (!err) {
        Str text = json_text(doc);
        HOLDS(!json_parse(text, &again));
        HOLDS(!type || !properties_check(type, again));
        HOLDS(str_eq(json_text(again), text));
    }
    arena_reset(arena_current());
    return 0;
}
