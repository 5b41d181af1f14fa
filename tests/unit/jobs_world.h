// A store with one tenant, a table of notes that subscribers write to, and a scheduler: what the
// tests of background work start from.
#pragma once

#include "base/log.h"
#include "jobs/jobs.h"
#include "test_store.h"

typedef struct {
    char dir[64];
    Store *store;
    Db *db;
    Scheduler *scheduler;
} World;

static const Property note_properties[] = {
    {"id", ID},
    {"text", STRING},
    {0},
};

static const RecordType note_record = {"Note", .properties = note_properties};

static const Field note_fields[] = {
    {"text", "text", TEXT},
    {0},
};

static const Collection notes = {
    .table = "note",
    .record = &note_record,
    .fields = note_fields,
};

static const Collection *const note_collections[] = {&notes, NULL};

static inline Err *world_open_tenant(World *world, Str name, Db **db)
{
    TRY(db_open(world->store, name, true, db));
    TRY(db_migrate(*db, jobs_collections, JOBS_COLLECTIONS));
    return db_migrate(*db, note_collections, 1);
}

static inline void world_open(World *world)
{
    StoreOptions options = test_store_options(world->dir);

    options.idle_close_ms = 100;
    assert_ok(store_open(&options, &world->store));
    assert_ok(world_open_tenant(world, S("diku"), &world->db));
    assert_ok(jobs_new(world->store, &world->scheduler));
    store_want_topic(world->store, "test.plain");
    store_want_topic(world->store, "test.heard");
}

static inline void world_close(World *world)
{
    jobs_stop(world->scheduler);
    store_close(world->store);
}

static inline int world_setup(void **state)
{
    World *world = calloc(1, sizeof *world);

    log_set(LOG_OFF, false);
    strcpy(world->dir, "/tmp/octavo-jobs-XXXXXX");
    test_store_make(world->dir);
    world_open(world);
    *state = world;
    return 0;
}

static inline int world_teardown(void **state)
{
    World *world = *state;

    world_close(world);
    test_store_remove(world->dir);
    free(world);
    arena_reset(arena_current());
    return 0;
}

static inline Err *note_add(Tx *tx, Str text)
{
    Json *note = json_object();

    json_set_str(note, "text", text);
    return tx_insert(tx, &notes, note);
}

static inline Err *take_text(const Row *row, void *list)
{
    str_list_add(list, str_copy(arena_current(), row_text(row, 0)));
    return NULL;
}

static inline Err *read_notes(Tx *tx, void *list)
{
    return tx_rows(tx, "select text from note order by pk", NO_ARGS, take_text, list);
}

// The texts of all notes in the order of writing, separated by blanks.
static inline const char *notes_of(Db *db)
{
    StrList texts = {0};
    Buf out = buf_new(arena_current(), 1 << 20);

    assert_ok(tx_run(db, &(TxOptions){.kind = READ}, read_notes, &texts));
    for (size_t i = 0; i < texts.len; i++) {
        buf_fmt(&out, "%s" STR_FMT, i ? " " : "", STR_ARG(texts.at[i]));
    }
    return str_z(buf_str(&out));
}

static inline Err *take_int(const Row *row, void *out)
{
    *(int64_t *)out = row_int(row, 0);
    return NULL;
}

static inline Err *count_outbox(Tx *tx, void *out)
{
    return tx_rows(tx, "select count(*) from outbox", NO_ARGS, take_int, out);
}

static inline int64_t outbox_count(Db *db)
{
    int64_t n = -1;

    assert_ok(tx_run(db, &(TxOptions){.kind = READ}, count_outbox, &n));
    return n;
}

typedef struct {
    const char *topic;
    int from, n;
} Emission;

static inline Err *emit_numbers(Tx *tx, void *context)
{
    const Emission *emission = context;

    for (int i = 0; i < emission->n; i++) {
        Json *doc = json_object();
        json_set_int(doc, "n", emission->from + i);
        TRY(tx_emit(tx, emission->topic, "CREATED", str_fmt("%d", emission->from + i), NULL, doc));
    }
    return NULL;
}

static inline void emit(Db *db, const char *topic, int from, int n)
{
    Emission emission = {topic, from, n};

    assert_ok(tx_run(db, &(TxOptions){.kind = WRITE}, emit_numbers, &emission));
}

// Waits for what happens on another thread.
#define assert_soon(condition)                                                                     \
    do {                                                                                           \
        bool is_so_ = false;                                                                       \
        for (int i_ = 0; i_ < 6000 && !(is_so_ = (condition)); i_++) {                             \
            usleep(10000);                                                                         \
        }                                                                                          \
        _assert_true(is_so_, #condition, __FILE__, __LINE__);                                      \
    } while (0)
