// A database with the tables of a module, for tests of what modules ask of each other inside the
// process.
#pragma once

#include "octavo.h"
#include "test_store.h"

typedef struct {
    Store *store;
    Db *db;
    char dir[64];
} World;

static inline void world_open(World *world, const Collection *const *collections)
{
    size_t n = 0;

    snprintf(world->dir, sizeof world->dir, "/tmp/octavo-world-XXXXXX");
    test_store_make(world->dir);
    StoreOptions options = test_store_options(world->dir);
    assert_ok(store_open(&options, &world->store));
    assert_ok(db_open(world->store, S("diku"), true, &world->db));
    while (collections[n]) {
        n++;
    }
    assert_ok(db_migrate(world->db, collections, n));
}

static inline void world_close(World *world)
{
    store_close(world->store);
    test_store_remove(world->dir);
}

static inline Tx *world_begin(World *world, TxKind kind)
{
    Tx *tx = NULL;

    assert_ok(tx_begin(world->db, &(TxOptions){.kind = kind}, &tx));
    return tx;
}

// The text with ' for ".
static inline Json *world_json(const char *text)
{
    char *copy = arena_alloc(arena_current(), strlen(text) + 1);
    Json *json = NULL;

    for (size_t i = 0; text[i]; i++) {
        copy[i] = text[i] == '\'' ? '"' : text[i];
    }
    assert_ok(json_parse(str_of(copy), &json));
    return json;
}

static inline void world_insert(World *world, const Collection *of, const char *text)
{
    Tx *tx = world_begin(world, WRITE);

    assert_ok(tx_insert(tx, of, world_json(text)));
    assert_ok(tx_commit(tx));
}
