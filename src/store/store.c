// The store and its databases: opening, closing, what they are; everything a backend does
// differently goes through its function table.
#include "store/tx.h"

enum {
    DB_NAME_MAX = 31,
};

Err *store_open(const StoreOptions *options, Store **out)
{
    Arena *arena = arena_new((size_t)64 * 1024 * 1024);
    Store *store = arena_alloc(arena, sizeof *store);

    store->arena = arena;
    store->backend = options->url.len ? &backend_postgres : &backend_sqlite;
    store->options = *options;
    store->options.dir = str_copy(arena, options->dir);
    store->options.url = str_copy(arena, options->url);
    store->options.replicas = str_copy(arena, options->replicas);
    pthread_mutex_init(&store->lock, NULL);
    slots_init(&store->slots);
    Err *err = store->backend->open(store);
    if (err) {
        arena_free(arena);
        return err;
    }
    *out = store;
    return NULL;
}

void store_close(Store *store)
{
    if (!store) {
        return;
    }
    for (size_t i = 0; i < store->db_count; i++) {
        slots_clear(&store->dbs[i]->slots);
    }
    store->backend->close(store);
    slots_clear(&store->slots);
    for (size_t i = 0; i < store->db_count; i++) {
        pthread_mutex_destroy(&store->dbs[i]->slots.lock);
        pthread_mutex_destroy(&store->dbs[i]->turns_lock);
    }
    pthread_mutex_destroy(&store->slots.lock);
    pthread_mutex_destroy(&store->lock);
    arena_free(store->arena);
}

// Names are file names and schema names: [a-z][a-z0-9]{0,30}, as Okapi's tenant ids.
static bool db_name_is_valid(Str name)
{
    if (name.len == 0 || name.len > DB_NAME_MAX || name.at[0] < 'a' || name.at[0] > 'z') {
        return false;
    }
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9')) {
            return false;
        }
    }
    return true;
}

static Db *db_find(Store *store, Str name)
{
    for (size_t i = 0; i < store->db_count; i++) {
        if (str_eq(store->dbs[i]->name, name)) {
            return store->dbs[i];
        }
    }
    return NULL;
}

Db *db_if_open(Store *store, Str name)
{
    pthread_mutex_lock(&store->lock);
    Db *db = db_find(store, name);
    pthread_mutex_unlock(&store->lock);
    return db && !db->is_gone ? db : NULL;
}

bool store_has_replicas(const Store *store)
{
    return str_trim(store->options.replicas).len > 0;
}

bool store_leads(const Store *store)
{
    return !store->backend->leads || store->backend->leads(store);
}

static void db_list_add(Store *store, Db *db)
{
    store->dbs =
        array_room(store->arena, store->dbs, store->db_count, &store->db_cap, sizeof *store->dbs);
    store->dbs[store->db_count++] = db;
}

static Err *db_open_locked(Store *store, Str name, bool create, Db **out)
{
    Db *db = db_find(store, name);

    if (db && !db->is_gone) {
        *out = db;
        return NULL;
    }
    if (db) {
        TRY(store->backend->db_open(db, create));
        db->is_gone = false;
        *out = db;
        return NULL;
    }
    // Nothing is left behind in the store's arena when the database does not exist.
    ArenaMark mark = arena_mark(store->arena);
    db = arena_alloc(store->arena, sizeof *db);
    db->store = store;
    db->name = str_copy(store->arena, name);
    Err *err = store->backend->db_open(db, create);
    if (err) {
        arena_release(store->arena, mark);
        return err;
    }
    slots_init(&db->slots);
    pthread_mutex_init(&db->turns_lock, NULL);
    db_list_add(store, db);
    *out = db;
    return NULL;
}

Err *db_open(Store *store, Str name, bool create, Db **out)
{
    if (!db_name_is_valid(name)) {
        return err_text(create ? 400 : 404, "No such tenant " STR_FMT, STR_ARG(name));
    }
    pthread_mutex_lock(&store->lock);
    Err *err = db_open_locked(store, name, create, out);
    pthread_mutex_unlock(&store->lock);
    return err;
}

Err *db_drop(Store *store, Str name)
{
    Db *db = NULL;

    TRY(db_open(store, name, false, &db));
    db->is_gone = true; // no new transaction begins
    Err *err = store->backend->db_drop(db);
    if (err) {
        db->is_gone = false;
        return err;
    }
    atomic_fetch_add(&db->generation, 1);
    cache_give_back(db);
    table_states_give_back(db);
    return NULL;
}

Err *db_lock(Db *db, DbLock **lock)
{
    *lock = NULL;
    return db->store->backend->db_lock ? db->store->backend->db_lock(db, lock) : NULL;
}

void db_unlock(Db *db, DbLock *lock)
{
    if (lock) {
        db->store->backend->db_unlock(lock);
    }
}

Err *db_names(Store *store, StrList *names)
{
    return store->backend->db_names(store, names);
}

Err *db_backup(Db *db, const char *file)
{
    return db->store->backend->db_backup(db, file);
}

Str db_name(const Db *db)
{
    return db->name;
}

Store *db_store(const Db *db)
{
    return db->store;
}

bool db_change(const Db *db, uint64_t *out)
{
    *out = db->generation;
    return !db->store->backend->has_many_writers;
}

uint64_t db_generation(const Db *db)
{
    return db->generation;
}

StoreFigures store_figures(const Store *store)
{
    StoreFigures figures = {0};

    store->backend->figures(store, &figures);
    figures.page_bytes_max = store_page_bytes(store);
    figures.record_bytes_max = store_record_bytes(store);
    figures.record_bytes = cache_bytes();
    return figures;
}

StoreFacts store_facts(Store *store)
{
    const Backend *backend = store ? store->backend : &backend_sqlite;
    StoreFacts facts = {.kind = backend->name};

    backend->facts(store, &facts);
    return facts;
}

TxKind outbox_reader(const Db *db)
{
    return db->store->backend->has_many_writers ? WRITE : READ;
}

bool db_fails_whole(const Db *db)
{
    return db->store->backend->flush != NULL;
}

bool db_keeps_references(const Db *db)
{
    return db->store->backend->foreign_keys != NULL;
}

void db_note_shape(Db *db)
{
    db->shaped_ns = clock_ns();
}
