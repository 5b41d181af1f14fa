// Compiled patterns of property tables, kept as long as the process lives.
#include "json/check.h"

#include "base/die.h"
#include "base/uuid.h"

#include <pthread.h>
#include <regex.h>
#include <string.h>

enum {
    SLOTS = 1024, // a power of two, far more than there are patterns
};

typedef struct {
    const char *pattern;
    bool (*instead)(Str text); // a hand-written check of the same texts
    regex_t regex;
} Slot;

static struct {
    pthread_mutex_t lock; // guards the slots; a filled slot never changes
    size_t count;
    Slot slots[SLOTS];
} cache = {.lock = PTHREAD_MUTEX_INITIALIZER};

// FOLIO's patterns of UUIDs make up most of all checks, and regular expressions are slow at them.
static const struct {
    const char *pattern;
    bool (*instead)(Str text);
} UUID_PATTERNS[] = {
    {"^[a-fA-F0-9]{8}-[a-fA-F0-9]{4}-[1-5][a-fA-F0-9]{3}-[89abAB][a-fA-F0-9]{3}-[a-fA-F0-9]{12}$",
     uuid_is_valid},
    {"^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-5][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$",
     uuid_is_valid},
    {"^[a-fA-F0-9]{8}-[a-fA-F0-9]{4}-[a-fA-F0-9]{4}-[a-fA-F0-9]{4}-[a-fA-F0-9]{12}$",
     uuid_is_uuid_shaped},
    {"^[a-fA-F0-9]{8}-([a-fA-F0-9]{4}-){3}[a-fA-F0-9]{12}$", uuid_is_uuid_shaped},
};

static void slot_fill(Slot *slot, const char *pattern)
{
    for (size_t i = 0; i < sizeof UUID_PATTERNS / sizeof *UUID_PATTERNS; i++) {
        if (strcmp(pattern, UUID_PATTERNS[i].pattern) == 0) {
            slot->instead = UUID_PATTERNS[i].instead;
        }
    }
    // Java matches the whole text, whatever anchors the pattern has.
    const char *whole = str_z(str_fmt("^(%s)$", pattern));
    if (!slot->instead && regcomp(&slot->regex, whole, REG_EXTENDED | REG_NOSUB) != 0) {
        die("bad pattern in a property table: %s", pattern);
    }
    slot->pattern = pattern;
    if (++cache.count > SLOTS / 2) {
        die("more than %d patterns", SLOTS / 2);
    }
}

static const Slot *slot_of(const char *pattern)
{
    size_t i = ((uintptr_t)pattern * 2654435761u >> 7) & (SLOTS - 1);

    pthread_mutex_lock(&cache.lock);
    while (cache.slots[i].pattern && cache.slots[i].pattern != pattern) {
        i = (i + 1) & (SLOTS - 1);
    }
    if (!cache.slots[i].pattern) {
        slot_fill(&cache.slots[i], pattern);
    }
    pthread_mutex_unlock(&cache.lock);
    return &cache.slots[i];
}

bool pattern_matches(const char *pattern, Str text)
{
    const Slot *slot = slot_of(pattern);

    if (slot->instead) {
        return slot->instead(text);
    }
    Arena *scratch = scratch_arena();
    ArenaMark mark = arena_mark(scratch);
    char *z = arena_alloc(scratch, text.len + 1);
    memcpy(z, text.at, text.len);
    bool matches = regexec(&slot->regex, z, 0, NULL, 0) == 0;
    arena_release(scratch, mark);
    return matches;
}
