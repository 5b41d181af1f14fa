// Which tables a tenant's database has and what fills them, as octavo_table says.
#include "store/engine.h"

#include "base/die.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    char *table, *fills;
    int64_t column_hash;
    TableState state;
} OneState;

typedef struct {
    pthread_mutex_t lock; // guards everything below
    bool is_loaded;
    OneState *at;
    size_t len, cap;
} States;

static void states_clear(States *states)
{
    for (size_t i = 0; i < states->len; i++) {
        free(states->at[i].table);
        free(states->at[i].fills);
    }
    free(states->at);
    states->at = NULL;
    states->len = states->cap = 0;
    states->is_loaded = false;
}

static void states_free(void *at)
{
    States *states = at;

    states_clear(states);
    pthread_mutex_destroy(&states->lock);
    free(states);
}

static States *states_of(Db *db)
{
    static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER; // guards filling of the slot
    _Atomic(void *) *slot = (_Atomic(void *) *)db_slot(db, states_free);
    States *states = atomic_load_explicit(slot, memory_order_acquire);

    if (states) {
        return states;
    }
    pthread_mutex_lock(&making);
    states = atomic_load(slot);
    if (!states) {
        states = calloc(1, sizeof *states);
        if (!states) {
            die("out of memory");
        }
        pthread_mutex_init(&states->lock, NULL);
        atomic_store_explicit(slot, states, memory_order_release);
    }
    pthread_mutex_unlock(&making);
    return states;
}

static Err *take_state(const Row *row, void *context)
{
    States *read = context;

    if (read->len == read->cap) {
        read->cap = read->cap ? read->cap * 2 : 64;
        read->at = realloc(read->at, read->cap * sizeof *read->at);
    }
    Str table = row_text(row, 0), fills = row_text(row, 4);
    OneState one = {strndup(table.at, table.len),
                    strndup(fills.at, fills.len),
                    row_int(row, 1),
                    {true, row_int(row, 3) != 0, row_int(row, 2)}};
    if (!read->at || !one.table || !one.fills) {
        die("out of memory");
    }
    read->at[read->len++] = one;
    return NULL;
}

#define SELECT_STATES(fills)                                                                       \
    "select name, column_hash, filled, is_ready, " fills " from " STATE_TABLE " order by name"

Err *table_states_load(Tx *tx)
{
    States *states = states_of(tx_db(tx));
    StrList columns = {0};
    States read = {0};

    tx_note_states(tx);
    db_note_shape(tx_db(tx));
    TRY(db_table_columns(tx, STATE_TABLE, &columns));
    if (columns.len) {
        Err *err = sql_rows(
            tx, str_list_has(&columns, S("fills")) ? SELECT_STATES("fills") : SELECT_STATES("''"),
            NO_ARGS, take_state, &read);
        if (err) {
            states_clear(&read);
            return err;
        }
    }
    pthread_mutex_lock(&states->lock);
    states_clear(states);
    states->at = read.at;
    states->len = read.len;
    states->cap = read.cap;
    states->is_loaded = true;
    pthread_mutex_unlock(&states->lock);
    return NULL;
}

bool table_states_give_back(Db *db)
{
    States *states = states_of(db);

    db_note_shape(db);
    pthread_mutex_lock(&states->lock);
    bool had_some = states->is_loaded;
    states_clear(states);
    pthread_mutex_unlock(&states->lock);
    return had_some;
}

void table_states_forget(Db *db)
{
    table_states_give_back(db);
}

static int compare_state(const void *table, const void *state)
{
    return strcmp(table, ((const OneState *)state)->table);
}

// False if the states are not loaded yet. Its texts are not to be used: others may free them.
static bool state_find(States *states, const char *table, OneState *out)
{
    pthread_mutex_lock(&states->lock);
    bool is_loaded = states->is_loaded;
    const OneState *found =
        states->len ? bsearch(table, states->at, states->len, sizeof *found, compare_state) : NULL;
    *out = found ? *found : (OneState){0};
    pthread_mutex_unlock(&states->lock);
    return is_loaded;
}

static Err *states_load(Tx *tx, void *context)
{
    (void)context;
    return table_states_load(tx);
}

// Every side column of ours is still filled, and as we do it. Asked while another version's table
// is in use only.
static bool is_filled_for(States *states, const Shape *shape)
{
    Str rest = str_of(shape->fills), one;
    bool is_filled = false;

    pthread_mutex_lock(&states->lock);
    const OneState *found =
        bsearch(shape->of->table, states->at, states->len, sizeof *found, compare_state);
    if (found) {
        is_filled = true;
        while (is_filled && str_next(&rest, '\n', &one)) {
            is_filled = !one.len ||
                        strstr(found->fills, str_fmt("\n" STR_FMT "\n", STR_ARG(one)).at) != NULL;
        }
    }
    pthread_mutex_unlock(&states->lock);
    return is_filled;
}

static Err *changed_by_another(const Collection *of)
{
    Err *err = err_text(503, "Table %s was changed by another version of the program", of->table);

    err->other_node_may = true;
    return err;
}

// *is_ours: its columns are those of this program.
static Err *state_read(Tx *tx, const Collection *of, TableState *out, bool *is_ours)
{
    States *states = states_of(tx_db(tx));
    OneState one;

    if (!state_find(states, of->table, &one)) {
        TRY(tx_newest(tx, states_load, NULL));
        state_find(states, of->table, &one);
    }
    *is_ours = !one.state.exists || one.column_hash == shape_of(of)->column_hash;
    *out = one.state;
    out->serves = *is_ours && out->is_ready;
    return NULL;
}

Err *table_state(Tx *tx, const Collection *of, TableState *out)
{
    bool is_ours = false;

    TRY(state_read(tx, of, out, &is_ours));
    if (is_ours) {
        return NULL;
    }
    if (!is_filled_for(states_of(tx_db(tx)), shape_of(of))) {
        return changed_by_another(of);
    }
    out->serves = true;
    return NULL;
}

Err *table_state_to_write(Tx *tx, const Collection *of, TableState *out)
{
    bool is_ours = false;

    TRY(state_read(tx, of, out, &is_ours));
    return is_ours ? NULL : changed_by_another(of);
}
