// Memory of a tenant's small collections and of values computed from them.
//
// A value is filled from one snapshot and tagged with the generation read before that snapshot; it
// is published only if no commit touched its collections since (decision 54). Each commit drops
// what it touched. Transactions pin what they use, so that it stays valid until they end.
#include "store/engine.h"
#include "store/tx.h"

#include "base/die.h"

#include <stdlib.h>
#include <string.h>

enum {
    SET_RECORDS_MAX = 20 * 1000,
    SET_TEXT_MAX = 8 * 1024 * 1024,
    EXTRAS_KEPT = 32,
    DERIVED_MAX = 256,
};
static const size_t SET_ARENA_LIMIT = (size_t)64 * 1024 * 1024;
static const size_t DERIVED_ARENA_LIMIT = (size_t)16 * 1024 * 1024;
static const size_t EXTRA_ARENA_LIMIT = (size_t)64 * 1024 * 1024;

static atomic_size_t bytes_cached;

// A published or private value with its memory.
typedef struct Value {
    atomic_int holders;
    Arena *arena;
    size_t bytes;
    Db *db;       // with which it is counted, in bytes_cached and with the module; or NULL
    Meter *meter; // of the module whose records it is made of, or NULL
    void *value;
} Value;

struct RecordSet {
    struct SetSlot {
        Str id;
        Known record;
        Json *doc;
    } * slots;
    size_t mask;
};

// One entry of a tenant's cache: of a collection, or of a Derived.
typedef struct Entry {
    const void *key;
    uint64_t written; // generation of the last commit that touched it
    Value *value;     // NULL: not filled
    bool is_too_big;  // not worth trying until the next change
    struct Entry *next;
} Entry;

typedef struct {
    pthread_mutex_t lock; // guards everything below
    Entry *sets, *derived;
    uint64_t applied; // generation of the last commit whose changes were dropped
} DbCache;

struct Pin {
    const void *key;
    Value *value;
    struct Pin *next;
};

struct OwnDerived {
    const Derived *of;
    size_t write_count;
    Value *value;
    struct OwnDerived *next;
};

// ---------------------------------------------------------------------------------------------
// Values

static Value *value_new(size_t arena_limit)
{
    Value *value = calloc(1, sizeof *value);

    if (!value) {
        die("out of memory");
    }
    value->holders = 1;
    value->arena = arena_new(arena_limit);
    return value;
}

static void value_count(const Value *value, ptrdiff_t change)
{
    atomic_fetch_add(&bytes_cached, (size_t)change);
    atomic_fetch_add(&value->db->cached_bytes, (size_t)change);
    if (value->meter) {
        meter_cache(value->meter, change);
    }
}

static void value_drop(Value *value)
{
    if (!value || atomic_fetch_sub(&value->holders, 1) > 1) {
        return;
    }
    if (value->db) {
        value_count(value, -(ptrdiff_t)value->bytes);
    }
    arena_free(value->arena);
    free(value);
}

static Value *value_hold(Value *value)
{
    atomic_fetch_add(&value->holders, 1);
    return value;
}

// ---------------------------------------------------------------------------------------------
// Notes about a transaction

static pthread_mutex_t extras_lock = PTHREAD_MUTEX_INITIALIZER; // guards the two below
static TxExtra *extras;
static int extras_count;

TxExtra *extra_of(Tx *tx)
{
    TxExtra **slot = tx_extra(tx);

    if (*slot) {
        return *slot;
    }
    pthread_mutex_lock(&extras_lock);
    TxExtra *extra = extras;
    if (extra) {
        extras = extra->next_free;
        extras_count--;
    }
    pthread_mutex_unlock(&extras_lock);
    if (!extra) {
        extra = calloc(1, sizeof *extra);
        if (!extra) {
            die("out of memory");
        }
        extra->arena = arena_new(EXTRA_ARENA_LIMIT);
    }
    *slot = extra;
    return extra;
}

void cache_tx_end(Tx *tx)
{
    TxExtra *extra = *tx_extra(tx);

    if (!extra) {
        return;
    }
    *tx_extra(tx) = NULL;
    for (struct Pin *pin = extra->pins; pin; pin = pin->next) {
        value_drop(pin->value);
    }
    for (struct OwnDerived *own = extra->own_derived; own; own = own->next) {
        value_drop(own->value);
    }
    arena_reset(extra->arena);
    *extra = (TxExtra){.arena = extra->arena};
    pthread_mutex_lock(&extras_lock);
    bool is_kept = extras_count < EXTRAS_KEPT;
    if (is_kept) {
        extra->next_free = extras;
        extras = extra;
        extras_count++;
    }
    pthread_mutex_unlock(&extras_lock);
    if (!is_kept) {
        arena_free(extra->arena);
        free(extra);
    }
}

void extras_give_back(void)
{
    pthread_mutex_lock(&extras_lock);
    TxExtra *extra = extras;
    extras = NULL;
    extras_count = 0;
    pthread_mutex_unlock(&extras_lock);
    for (TxExtra *next; extra; extra = next) {
        next = extra->next_free;
        arena_free(extra->arena);
        free(extra);
    }
}

static void pin(Tx *tx, const void *key, Value *value)
{
    TxExtra *extra = extra_of(tx);
    struct Pin *one = arena_alloc(extra->arena, sizeof *one);

    *one = (struct Pin){key, value, extra->pins};
    extra->pins = one;
}

static Value *pinned(Tx *tx, const void *key)
{
    TxExtra *extra = *tx_extra(tx);

    for (struct Pin *one = extra ? extra->pins : NULL; one; one = one->next) {
        if (one->key == key) {
            return one->value;
        }
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// A tenant's cache

static void entries_free(Entry *entry)
{
    while (entry) {
        Entry *next = entry->next;
        value_drop(entry->value);
        free(entry);
        entry = next;
    }
}

static void db_cache_free(void *at)
{
    DbCache *cache = at;

    entries_free(cache->sets);
    entries_free(cache->derived);
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}

static DbCache *db_cache(Db *db)
{
    static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER; // guards filling of the slot
    _Atomic(void *) *slot = (_Atomic(void *) *)db_slot(db, db_cache_free);
    DbCache *cache = atomic_load_explicit(slot, memory_order_acquire);

    if (cache) {
        return cache;
    }
    pthread_mutex_lock(&making);
    cache = atomic_load(slot);
    if (!cache) {
        cache = calloc(1, sizeof *cache);
        if (!cache) {
            die("out of memory");
        }
        pthread_mutex_init(&cache->lock, NULL);
        atomic_store_explicit(slot, cache, memory_order_release);
    }
    pthread_mutex_unlock(&making);
    return cache;
}

// With the lock held. A new entry cannot tell which of the past commits touched it: it counts as
// touched by the last one, so that nothing older than that is published.
static Entry *entry_of(DbCache *cache, Entry **list, const void *key)
{
    for (Entry *entry = *list; entry; entry = entry->next) {
        if (entry->key == key) {
            return entry;
        }
    }
    Entry *entry = calloc(1, sizeof *entry);
    if (!entry) {
        die("out of memory");
    }
    *entry = (Entry){.key = key, .written = cache->applied, .next = *list};
    *list = entry;
    return entry;
}

// The published value, held for the caller; NULL if there is none. A transaction that begins while
// a commit is about to drop values may still get an old one: what it makes of it is as old as that,
// and `used_generation` says so.
static Value *entry_take(Tx *tx, DbCache *cache, Entry **list, const void *key, bool *is_too_big)
{
    TxExtra *extra = extra_of(tx);

    pthread_mutex_lock(&cache->lock);
    Entry *entry = entry_of(cache, list, key);
    Value *value = entry->value ? value_hold(entry->value) : NULL;
    *is_too_big = entry->is_too_big;
    if (value && (!extra->has_used_cache || cache->applied < extra->used_generation)) {
        extra->has_used_cache = true;
        extra->used_generation = cache->applied;
    }
    pthread_mutex_unlock(&cache->lock);
    return value;
}

// The generation that what this transaction computes belongs to.
static uint64_t generation_of(Tx *tx)
{
    const TxExtra *extra = extra_of(tx);
    uint64_t snapshot = tx_snapshot_generation(tx);

    return extra->has_used_cache && extra->used_generation < snapshot ? extra->used_generation
                                                                      : snapshot;
}

// Makes room at the cost of databases that were not used for long.
static bool has_room(Db *db, size_t bytes)
{
    size_t max = (size_t)store_record_bytes(db_store(db));
    Db *other = NULL;

    while (bytes_cached + bytes > max && (other = db_resting_longest(db)) &&
           cache_give_back(other)) {
    }
    return bytes_cached + bytes <= max;
}

static void entry_publish(Db *db, Entry **list, const void *key, Value *value, uint64_t generation)
{
    DbCache *cache = db_cache(db);

    value->bytes = arena_used(value->arena);
    bool fits = has_room(db, value->bytes);
    pthread_mutex_lock(&cache->lock);
    Entry *entry = entry_of(cache, list, key);
    if (!entry->value && entry->written <= generation && fits) {
        const Collection *of = list == &cache->sets ? key : ((const Derived *)key)->from[0];
        value->db = db;
        value->meter = shape_of(of)->meter;
        value_count(value, (ptrdiff_t)value->bytes);
        entry->value = value_hold(value);
    }
    pthread_mutex_unlock(&cache->lock);
}

static void entry_invalidate(Entry *entry, uint64_t generation)
{
    entry->written = generation;
    entry->is_too_big = false;
    value_drop(entry->value);
    entry->value = NULL;
}

static bool derived_uses(const Derived *derived, const Collection *of)
{
    for (const Collection *const *from = derived->from; *from; from++) {
        if (same_table(*from, of)) {
            return true;
        }
    }
    return false;
}

void cache_committed(Db *db, const Collection *const *written, size_t n)
{
    DbCache *cache = db_cache(db);

    pthread_mutex_lock(&cache->lock);
    uint64_t generation = db_generation(db);
    cache->applied = generation;
    for (size_t i = 0; i < n; i++) {
        if (written[i]->is_cached) {
            entry_invalidate(entry_of(cache, &cache->sets, shape_of(written[i])->main), generation);
        }
    }
    for (Entry *entry = cache->derived; entry; entry = entry->next) {
        for (size_t i = 0; i < n; i++) {
            if (derived_uses(entry->key, written[i])) {
                entry_invalidate(entry, generation);
                break;
            }
        }
    }
    pthread_mutex_unlock(&cache->lock);
}

static bool entries_give_back(Entry *entry)
{
    bool had_some = false;

    for (; entry; entry = entry->next) {
        had_some = had_some || entry->value;
        value_drop(entry->value);
        entry->value = NULL;
    }
    return had_some;
}

bool cache_give_back(Db *db)
{
    DbCache *cache = db_cache(db);

    pthread_mutex_lock(&cache->lock);
    bool had_sets = entries_give_back(cache->sets);
    bool had_derived = entries_give_back(cache->derived);
    pthread_mutex_unlock(&cache->lock);
    return had_sets || had_derived;
}

int64_t cache_bytes(void)
{
    return (int64_t)bytes_cached;
}

// Filled before main: values must be known in processes that have not made them yet.
static const Derived *known_derived[DERIVED_MAX];
static size_t known_derived_count;

void store_know_derived(const Derived *of)
{
    if (known_derived_count == DERIVED_MAX) {
        die("more than %d kinds of computed values", DERIVED_MAX);
    }
    known_derived[known_derived_count++] = of;
}

bool is_kept_elsewhere(const Collection *of)
{
    bool is_kept = of->is_cached || of->is_watched;

    for (size_t i = 0; i < known_derived_count && !is_kept; i++) {
        is_kept = derived_uses(known_derived[i], of);
    }
    return is_kept;
}

// ---------------------------------------------------------------------------------------------
// Whole collections

typedef struct {
    Arena *arena;
    Known *at;
    size_t len, cap, bytes;
    bool is_too_big;
} SetRows;

static Err *set_row(const Row *row, void *context)
{
    SetRows *rows = context;

    rows->at = array_room(rows->arena, rows->at, rows->len, &rows->cap, sizeof *rows->at);
    Str text = row_text(row, 1);
    rows->bytes += text.len;
    if (rows->len >= SET_RECORDS_MAX || rows->bytes > SET_TEXT_MAX) {
        rows->is_too_big = true;
        return err_text(0, "too big");
    }
    rows->at[rows->len++] = (Known){row_int(row, 0), str_copy(rows->arena, text)};
    return NULL;
}

static RecordSet *set_make(const SetRows *rows)
{
    RecordSet *set = NEW(RecordSet);
    size_t cap = 16;

    while (cap < rows->len * 2) {
        cap *= 2;
    }
    set->mask = cap - 1;
    set->slots = NEW_ARRAY(struct SetSlot, cap);
    for (size_t i = 0; i < rows->len; i++) {
        Json *doc = json_parse_stored(rows->at[i].text);
        Str id = json_str(doc, "id");
        size_t slot = (size_t)str_hash(id) & set->mask;
        while (set->slots[slot].doc) {
            slot = (slot + 1) & set->mask;
        }
        set->slots[slot] = (struct SetSlot){id, rows->at[i], doc};
    }
    return set;
}

// *out stays NULL if the collection is too big to be kept.
static Err *set_fill(Tx *tx, const Collection *of, Value **out)
{
    Value *value = value_new(SET_ARENA_LIMIT);
    SetRows rows = {.arena = value->arena};
    Str sql = str_fmt("select pk, doc from \"%s\"", of->table);
    bool was_paused = tx_together_pause(tx, true);
    Err *err = sql_walk(tx, sql.at, NO_ARGS, set_row, &rows);

    tx_together_pause(tx, was_paused);

    if (err && !rows.is_too_big) {
        value_drop(value);
        return err;
    }
    if (rows.is_too_big) {
        value_drop(value);
        return NULL;
    }
    Arena *before = arena_use(value->arena);
    value->value = set_make(&rows);
    arena_use(before);
    *out = value;
    return NULL;
}

typedef struct {
    DbCache *cache;
    const void *key;
    Value *value; // filled
} Filling;

static Err *set_publish(Tx *tx, void *context)
{
    Filling *filling = context;
    DbCache *cache = filling->cache;

    TRY(set_fill(tx, filling->key, &filling->value));
    if (filling->value) {
        entry_publish(tx_db(tx), &cache->sets, filling->key, filling->value,
                      tx_snapshot_generation(tx));
    }
    return NULL;
}

Err *record_set(Tx *tx, const Collection *of, const RecordSet **out)
{
    *out = NULL;
    if (!of->is_cached || has_written(tx, of)) {
        return NULL;
    }
    of = shape_of(of)->main;
    Value *value = pinned(tx, of);
    if (value) {
        *out = value->value;
        return NULL;
    }
    DbCache *cache = db_cache(tx_db(tx));
    bool is_too_big = false;
    value = entry_take(tx, cache, &cache->sets, of, &is_too_big);
    if (is_too_big) {
        return NULL;
    }
    if (!value) {
        Filling filling = {.cache = cache, .key = of};
        TRY(tx_newest(tx, set_publish, &filling));
        value = filling.value;
        if (!value) {
            pthread_mutex_lock(&cache->lock);
            entry_of(cache, &cache->sets, of)->is_too_big = true;
            pthread_mutex_unlock(&cache->lock);
            return NULL;
        }
    }
    pin(tx, of, value);
    *out = value->value;
    return NULL;
}

static const struct SetSlot *set_find(const RecordSet *set, Str id)
{
    for (size_t i = (size_t)str_hash(id) & set->mask; set->slots[i].doc; i = (i + 1) & set->mask) {
        if (str_eq(set->slots[i].id, id)) {
            return &set->slots[i];
        }
    }
    return NULL;
}

const Json *record_set_get(const RecordSet *set, Str id)
{
    const struct SetSlot *slot = set_find(set, id);

    return slot ? slot->doc : NULL;
}

const Known *record_set_record(const RecordSet *set, Str id)
{
    const struct SetSlot *slot = set_find(set, id);

    return slot ? &slot->record : NULL;
}

// ---------------------------------------------------------------------------------------------
// Derived values

// An error made in the arena of a value that is given up.
static Err *err_copy(const Err *err)
{
    Err *copy = NEW(Err);
    Arena *arena = arena_current();
    ErrParam *params = err->param_count ? NEW_ARRAY(ErrParam, err->param_count) : NULL;

    *copy = *err;
    copy->message = str_copy(arena, err->message);
    copy->code = str_copy(arena, err->code);
    copy->type = str_copy(arena, err->type);
    copy->body = err->body.at ? str_copy(arena, err->body) : (Str){0};
    for (size_t i = 0; i < err->param_count; i++) {
        params[i] = (ErrParam){str_copy(arena, err->params[i].key),
                               str_copy(arena, err->params[i].value), err->params[i].is_null};
    }
    copy->params = params;
    copy->missing_permissions = (StrList){0};
    copy->next = err->next ? err_copy(err->next) : NULL;
    return copy;
}

static Err *count_build(Tx *tx, const Collection *of, void **out)
{
    int64_t *count = NEW(int64_t);

    *out = count;
    return table_count(tx, of, count);
}

static Err *derived_build(Tx *tx, const Derived *of, Value **out)
{
    Value *value = value_new(DERIVED_ARENA_LIMIT);
    Arena *before = arena_use(value->arena);
    bool was_paused = tx_together_pause(tx, true);
    Err *err =
        of->build ? of->build(tx, &value->value) : count_build(tx, of->from[0], &value->value);

    tx_together_pause(tx, was_paused);
    arena_use(before);
    if (err) {
        err = err_copy(err);
        value_drop(value);
        return err;
    }
    *out = value;
    return NULL;
}

// A transaction that wrote to the sources keeps a value of its own until it writes again.
static Err *derived_own(Tx *tx, const Derived *of, const void **out)
{
    TxExtra *extra = extra_of(tx);
    struct OwnDerived *own = extra->own_derived;

    while (own && !(own->of == of && own->write_count == extra->write_count)) {
        own = own->next;
    }
    if (!own) {
        Value *value = NULL;
        TRY(derived_build(tx, of, &value));
        own = arena_alloc(extra->arena, sizeof *own);
        *own = (struct OwnDerived){of, extra->write_count, value, extra->own_derived};
        extra->own_derived = own;
    }
    *out = own->value->value;
    return NULL;
}

static Err *derived_publish(Tx *tx, void *context)
{
    Filling *filling = context;
    DbCache *cache = filling->cache;

    TRY(derived_build(tx, filling->key, &filling->value));
    entry_publish(tx_db(tx), &cache->derived, filling->key, filling->value, generation_of(tx));
    return NULL;
}

Err *tx_derived(Tx *tx, const Derived *of, const void **out)
{
    for (const Collection *const *from = of->from; *from; from++) {
        if (has_written(tx, *from)) {
            return derived_own(tx, of, out);
        }
    }
    Value *value = pinned(tx, of);
    if (value) {
        *out = value->value;
        return NULL;
    }
    DbCache *cache = db_cache(tx_db(tx));
    bool is_too_big = false;
    value = entry_take(tx, cache, &cache->derived, of, &is_too_big);
    if (!value) {
        Filling filling = {.cache = cache, .key = of};
        TRY(tx_newest(tx, derived_publish, &filling));
        value = filling.value;
    }
    pin(tx, of, value);
    *out = value->value;
    return NULL;
}
