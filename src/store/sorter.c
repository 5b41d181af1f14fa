// Keys in an array of their own arena; what is behind the wanted ones is thrown away now and then,
// and what outgrows memory goes to a spool.
#include "store/sorter.h"

#include "base/sort.h"

enum {
    IN_MEMORY_MAX = 4000,
};
static const size_t KEYS_MAX = (size_t)4 * 1024 * 1024;
static const size_t KEYS_ARENA_LIMIT = (size_t)64 * 1024 * 1024;

typedef struct {
    Str key;
    int64_t pk;
} Sorted;

struct Sorter {
    Arena *arena; // of the keys
    Sorted *at;
    size_t len, cap;
    size_t wanted; // 0: all
    Str last;      // of the wanted ones so far; at == NULL: fewer were added
    Spool *spool;  // NULL: all is in memory
};

Sorter *sorter_new(int64_t wanted)
{
    Arena *arena = arena_new(KEYS_ARENA_LIMIT);
    Sorter *sorter = NEW(Sorter);

    sorter->arena = arena;
    sorter->wanted = wanted <= IN_MEMORY_MAX / 2 ? (size_t)wanted : 0;
    return sorter;
}

void sorter_free(Sorter *sorter)
{
    if (!sorter) {
        return;
    }
    spool_free(sorter->spool);
    arena_free(sorter->arena);
}

static int compare(const void *a, const void *b)
{
    return str_cmp(((const Sorted *)a)->key, ((const Sorted *)b)->key);
}

// Only the wanted ones stay.
static void cut(Sorter *sorter)
{
    Arena *kept = arena_new(KEYS_ARENA_LIMIT);

    sort_array(sorter->at, sorter->len, sizeof *sorter->at, compare);
    sorter->len = sorter->len < sorter->wanted ? sorter->len : sorter->wanted;
    for (size_t i = 0; i < sorter->len; i++) {
        sorter->at[i].key = str_copy(kept, sorter->at[i].key);
    }
    arena_free(sorter->arena);
    sorter->arena = kept;
    if (sorter->len == sorter->wanted) {
        sorter->last = sorter->at[sorter->len - 1].key;
    }
}

static Err *spill(Sorter *sorter)
{
    TRY(spool_new(&sorter->spool));
    for (size_t i = 0; i < sorter->len; i++) {
        TRY(spool_add(sorter->spool, sorter->at[i].key, false, sorter->at[i].pk));
    }
    arena_reset(sorter->arena);
    return NULL;
}

static bool is_full(const Sorter *sorter)
{
    return sorter->len == IN_MEMORY_MAX || arena_used(sorter->arena) > KEYS_MAX;
}

Err *sorter_add(Sorter *sorter, Str key, int64_t pk)
{
    if (sorter->last.at && str_cmp(key, sorter->last) > 0) {
        return NULL;
    }
    if (!sorter->spool && sorter->wanted && is_full(sorter)) {
        cut(sorter);
    }
    if (!sorter->spool && is_full(sorter)) {
        TRY(spill(sorter));
    }
    if (sorter->spool) {
        return spool_add(sorter->spool, key, false, pk);
    }
    sorter->at =
        array_room(arena_current(), sorter->at, sorter->len, &sorter->cap, sizeof *sorter->at);
    sorter->at[sorter->len++] = (Sorted){str_copy(sorter->arena, key), pk};
    return NULL;
}

bool sorter_is_on_disk(const Sorter *sorter)
{
    return sorter->spool != NULL;
}

Err *sorter_read(Sorter *sorter, int64_t offset, int64_t limit,
                 Err *(*each)(int64_t pk, void *context), void *context)
{
    if (sorter->spool) {
        return spool_read(sorter->spool, false, offset, limit, each, context);
    }
    sort_array(sorter->at, sorter->len, sizeof *sorter->at, compare);
    for (size_t i = 0; i < sorter->len; i++) {
        if ((int64_t)i >= offset && (int64_t)i - offset < limit) {
            TRY(each(sorter->at[i].pk, context));
        }
    }
    return NULL;
}
