// What other modules ask about users.
#include "modules/mod-users/users.h"

#include <pthread.h>
#include <string.h>

Err *user_by_name(Tx *tx, Str username, Json **out)
{
    METER("mod-users");
    return tx_find(tx, &users, "username", username, out);
}

Err *user_by_id(Tx *tx, Str id, Json **out)
{
    METER("mod-users");
    *out = NULL;
    return uuid_is_uuid_shaped(id) ? tx_get(tx, &users, str_lower(id), out) : NULL;
}

Err *user_by_barcode(Tx *tx, Str barcode, Json **out)
{
    METER("mod-users");
    return tx_find(tx, &users, "barcode", barcode, out);
}

bool user_is_active(const Json *user)
{
    return json_flag(user, "active", false);
}

Err *user_deactivate(Tx *tx, Str id)
{
    METER("mod-users");
    Json *old = NULL;
    TRY(user_by_id(tx, id, &old));
    if (!old || !user_is_active(old)) {
        return NULL;
    }
    Json *doc = json_copy(old);
    json_set_bool(doc, "active", false);
    return tx_change(tx, &users, old, doc);
}

// ---------------------------------------------------------------------------------------------
// State of the users who log in, asked for by every request

enum {
    STATES_MAX = 4096, // beyond that each request reads
    STATE_SLOTS = 2 * STATES_MAX,
};

typedef struct {
    Str id;
    UserState state;
} StateEntry;

// Filled by the transactions that share it: all of them see the same users.
typedef struct {
    pthread_mutex_t lock; // guards everything below
    Arena *arena;
    size_t count;
    StateEntry slots[STATE_SLOTS];
} StateTable;

static Err *build_states(Tx *tx, void **value)
{
    (void)tx;
    StateTable *table = NEW(StateTable);
    pthread_mutex_init(&table->lock, NULL);
    table->arena = arena_current();
    *value = table;
    return NULL;
}

static const Collection *const state_sources[] = {&users, NULL};
static const Derived states = {"states of users", state_sources, build_states};
DERIVED_IS_KNOWN(states)

static StateEntry *slot_of(StateTable *table, Str id)
{
    size_t at = str_hash(id) % STATE_SLOTS;
    while (table->slots[at].id.len && !str_eq(table->slots[at].id, id)) {
        at = (at + 1) % STATE_SLOTS;
    }
    return &table->slots[at];
}

static Err *read_state(const Row *row, void *context)
{
    UserState *state = context;
    state->exists = true;
    state->is_active = row_int(row, 0) == 1;
    return NULL;
}

typedef struct {
    Str id;
    UserState *state;
} StateWanted;

static Err *find_state(Tx *tx, void *context)
{
    StateWanted *wanted = context;
    return tx_rows(tx, "select is_active from users where id = $1", ARGS(A_TEXT(wanted->id)),
                   read_state, wanted->state);
}

Err *user_state(Tx *tx, Str id, UserState *out)
{
    const void *value = NULL;
    TRY(tx_derived(tx, &states, &value));
    StateTable *table = (StateTable *)value;

    pthread_mutex_lock(&table->lock);
    StateEntry *entry = slot_of(table, id);
    bool is_known = entry->id.len > 0;
    *out = entry->state;
    pthread_mutex_unlock(&table->lock);
    if (is_known || !id.len) {
        return NULL; // sooner than a clock is read
    }

    METER("mod-users");
    *out = (UserState){0};
    TRY(tx_newest(tx, find_state, &(StateWanted){id, out}));
    pthread_mutex_lock(&table->lock);
    entry = slot_of(table, id);
    if (!entry->id.len && table->count < STATES_MAX) {
        *entry = (StateEntry){str_copy(table->arena, id), *out};
        table->count++;
    }
    pthread_mutex_unlock(&table->lock);
    return NULL;
}
