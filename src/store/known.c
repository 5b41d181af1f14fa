// What a transaction has read and written so far: an update needs no second read of its record.
#include "store/engine.h"
#include "store/tx.h"

#include <string.h>

enum {
    KNOWN_START = 64,
    KNOWN_MAX = 1024,
    KNOWN_BYTES_MAX = 8 * 1024 * 1024,
};

struct KnownSlot {
    const Collection *of; // NULL: free
    Str id;
    Known record; // text.at == NULL: dropped
};

static struct KnownSlot *slot_find(const TxExtra *extra, const Collection *of, Str id)
{
    if (!extra->known_cap) {
        return NULL;
    }
    size_t mask = extra->known_cap - 1;
    size_t i = (size_t)str_hash(id) & mask;

    while (extra->known[i].of &&
           !(same_table(extra->known[i].of, of) && str_eq(extra->known[i].id, id))) {
        i = (i + 1) & mask;
    }
    return &extra->known[i];
}

const Known *known_get(Tx *tx, const Collection *of, Str id)
{
    TxExtra *extra = *tx_extra(tx);
    struct KnownSlot *slot = extra ? slot_find(extra, of, id) : NULL;

    return slot && slot->of && slot->record.text.at ? &slot->record : NULL;
}

static void known_grow(TxExtra *extra)
{
    struct KnownSlot *old = extra->known;
    size_t old_cap = extra->known_cap;

    extra->known_cap = old_cap ? old_cap * 2 : KNOWN_START;
    extra->known = arena_alloc_array(extra->arena, extra->known_cap, sizeof *extra->known);
    for (size_t i = 0; i < old_cap; i++) {
        if (old[i].of) {
            *slot_find(extra, old[i].of, old[i].id) = old[i];
        }
    }
}

void known_put(Tx *tx, const Collection *of, Str id, int64_t pk, Str text)
{
    TxExtra *extra = extra_of(tx);

    if (extra->known_count * 2 >= extra->known_cap && extra->known_cap < KNOWN_MAX * 2) {
        known_grow(extra);
    }
    struct KnownSlot *slot = slot_find(extra, of, id);
    if (!slot->of) {
        if (extra->known_count >= KNOWN_MAX) {
            return;
        }
        slot->of = of;
        slot->id = str_copy(extra->arena, id);
        extra->known_count++;
    }
    // A record beyond the bound is forgotten: the next update reads it again.
    bool fits = extra->known_bytes + text.len <= KNOWN_BYTES_MAX;
    slot->record.text = fits ? str_copy(extra->arena, text) : (Str){0};
    slot->record.pk = pk ? pk : slot->record.pk;
    extra->known_bytes += fits ? text.len : 0;
}

void known_drop(Tx *tx, const Collection *of, Str id)
{
    TxExtra *extra = *tx_extra(tx);
    struct KnownSlot *slot = extra ? slot_find(extra, of, id) : NULL;

    if (slot && slot->of) {
        slot->record = (Known){0};
    }
}

void tx_forget(Tx *tx)
{
    TxExtra *extra = *tx_extra(tx);

    for (size_t i = 0; extra && i < extra->known_cap; i++) {
        extra->known[i].record = (Known){0};
    }
}

void note_write(Tx *tx, const Shape *shape)
{
    TxExtra *extra = extra_of(tx);
    Arena *before = arena_use(extra->arena);

    extra->write_count++;
    tx_note_write(tx, shape->main);
    arena_use(before);
}

bool has_written(const Tx *tx, const Collection *of)
{
    return tx_has_written(tx, shape_of(of)->main);
}
