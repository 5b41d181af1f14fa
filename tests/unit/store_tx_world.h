// A store in a directory of its own with one tenant and two counters: what the tests of
// transactions start from.
#pragma once

#include "base/log.h"
#include "store/backend.h"
#include "test_store.h"

typedef struct {
    char dir[64];
    Store *store;
    Db *db;
} World;

static inline Err *make_counter(Tx *tx, void *context)
{
    (void)context;
    TRY(tx_exec(tx, "create table counter(name text primary key, n integer not null)", NO_ARGS,
                NULL));
    return tx_exec(tx, "insert into counter values ('a', 0), ('b', 0)", NO_ARGS, NULL);
}

static inline void world_open(World *world)
{
    StoreOptions options = test_store_options(world->dir);

    assert_ok(store_open(&options, &world->store));
}

static inline int world_setup(void **state)
{
    World *world = calloc(1, sizeof *world);

    strcpy(world->dir, "/tmp/octavo-tx-XXXXXX");
    test_store_make(world->dir);
    world_open(world);
    assert_ok(db_open(world->store, S("diku"), true, &world->db));
    assert_ok(tx_run(world->db, &(TxOptions){.kind = WRITE}, make_counter, NULL));
    *state = world;
    return 0;
}

static inline int world_teardown(void **state)
{
    World *world = *state;

    store_close(world->store);
    test_store_remove(world->dir);
    free(world);
    arena_reset(arena_current());
    return 0;
}

static inline Err *take_int(const Row *row, void *out)
{
    *(int64_t *)out = row_int(row, 0);
    return NULL;
}

static inline int64_t counter_in(Tx *tx, const char *name)
{
    int64_t n = -1;
    assert_ok(tx_rows(tx, "select n from counter where name = $1", ARGS(A_TEXT(str_of(name))),
                      take_int, &n));
    return n;
}

static inline int64_t counter(World *world, const char *name)
{
    Tx *tx = NULL;

    assert_ok(tx_begin(world->db, &(TxOptions){.kind = READ}, &tx));
    int64_t n = counter_in(tx, name);
    assert_ok(tx_commit(tx));
    return n;
}

static inline Err *counter_add(Tx *tx, const char *name, int64_t by)
{
    return tx_exec(tx, "update counter set n = n + $2 where name = $1",
                   ARGS(A_TEXT(str_of(name)), A_INT(by)), NULL);
}
