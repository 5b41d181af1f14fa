// Values that other files hang on a store or a database: each kind has a slot of its own.
#include "store/tx.h"

#include "base/die.h"

void slots_init(Slots *slots)
{
    pthread_mutex_init(&slots->lock, NULL);
}

static void *slots_search(Slots *slots, SlotFree free_slot, size_t *end)
{
    for (*end = 0; *end < SLOTS_MAX; (*end)++) {
        SlotFree found = atomic_load_explicit(&slots->at[*end].free_slot, memory_order_acquire);
        if (!found) {
            return NULL;
        }
        if (found == free_slot) {
            return &slots->at[*end].value;
        }
    }
    return NULL;
}

// Asked for several times in a request, so without a lock once the slot is given out.
static void **slots_find(Slots *slots, SlotFree free_slot)
{
    size_t end = 0;
    void **found = slots_search(slots, free_slot, &end);

    if (found) {
        return found;
    }
    pthread_mutex_lock(&slots->lock);
    found = slots_search(slots, free_slot, &end);
    if (!found && end < SLOTS_MAX) {
        found = &slots->at[end].value;
        atomic_store_explicit(&slots->at[end].free_slot, free_slot, memory_order_release);
    }
    pthread_mutex_unlock(&slots->lock);
    if (!found) {
        die("more than %d kinds of slots", SLOTS_MAX);
    }
    return found;
}

void slots_clear(Slots *slots)
{
    for (size_t i = 0; i < SLOTS_MAX && slots->at[i].free_slot; i++) {
        void *value = slots->at[i].value;
        slots->at[i].value = NULL;
        if (value) {
            slots->at[i].free_slot(value);
        }
    }
}

void **db_slot(Db *db, void (*free_slot)(void *))
{
    return slots_find(&db->slots, free_slot);
}

void **store_slot(Store *store, void (*free_slot)(void *))
{
    return slots_find(&store->slots, free_slot);
}
