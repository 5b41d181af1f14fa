// Caches under threads: who begins after a commit sees it, whoever fills and drops meanwhile.
#include "library.h"

#include "base/meter.h"
#include "store/tx.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { CHANGES = 150, READERS = 3 };

static atomic_int committed; // number of the last change that was answered
static atomic_bool is_over;

static Err *take_zone(Tx *tx, void **value)
{
    const Json *shelf = NULL;
    int *zone = NEW(int);

    TRY(tx_ref(tx, &shelves, id_of(1), &shelf));
    *zone = shelf ? atoi(str_z(json_str(shelf, "zone"))) : -1;
    *value = zone;
    return NULL;
}

static const Collection *const from_shelves[] = {&shelves, NULL};
static const Derived zone = {"zone", from_shelves, take_zone};

static void *read_on(void *context)
{
    Library *lib = context;
    TxOptions options = {.kind = READ};
    long stale = 0;

    while (!atomic_load(&is_over)) {
        ArenaMark mark = arena_mark(arena_current());
        int least = atomic_load(&committed);
        const void *value = NULL;
        const Json *shelf = NULL;
        Tx *tx = NULL;
        Err *err = tx_begin(lib->db, &options, &tx);
        err = err ? err : tx_ref(tx, &shelves, id_of(1), &shelf);
        stale += err || !shelf || atoi(str_z(json_str(shelf, "zone"))) < least;
        err = err ? err : tx_derived(tx, &zone, &value);
        stale += err || *(const int *)value < least;
        if (tx) {
            err = tx_commit(tx);
            stale += err != NULL;
        }
        arena_release(arena_current(), mark);
    }
    return (void *)stale;
}

static void a_reader_never_sees_what_was_before_an_answered_commit(void **state)
{
    Library *lib = *state;
    pthread_t readers[READERS];
    Tx *tx = begin(lib, WRITE);
    insert(tx, &shelves, 1, "\"name\":\"A\",\"zone\":\"0\"");
    commit(lib);

    atomic_store(&committed, 0);
    atomic_store(&is_over, false);
    for (int i = 0; i < READERS; i++) {
        assert_int_equal(pthread_create(&readers[i], NULL, read_on, lib), 0);
    }
    for (int i = 1; i <= CHANGES; i++) {
        Json *doc = NULL;
        tx = begin(lib, WRITE);
        assert_ok(tx_get(tx, &shelves, id_of(1), &doc));
        assert_int_equal(atoi(str_z(json_str(doc, "zone"))), i - 1);
        json_set_str(doc, "zone", str_fmt("%d", i));
        assert_ok(tx_update(tx, &shelves, doc));
        commit(lib);
        atomic_store(&committed, i);
    }
    atomic_store(&is_over, true);
    for (int i = 0; i < READERS; i++) {
        void *stale = NULL;
        pthread_join(readers[i], &stale);
        assert_null(stale);
    }
}

// The first to ask for a value may have begun before a commit that nobody was waiting to hear of.
static void a_value_first_computed_from_an_old_snapshot_is_not_kept(void **state)
{
    Library *lib = *state;
    const TxOptions reading = {.kind = READ};
    const void *value = NULL;
    Tx *old = NULL, *tx = begin(lib, WRITE);
    insert(tx, &shelves, 1, "\"name\":\"A\",\"zone\":\"1\"");
    commit(lib);

    const Json *shelf = NULL;
    assert_ok(tx_begin(lib->db, &reading, &old));
    assert_ok(tx_ref(old, &shelves, id_of(1), &shelf)); // this read makes the snapshot
    tx = begin(lib, WRITE);
    assert_ok(tx_update(tx, &shelves,
                        json_of("{\"id\":\"00000000-0000-4000-8000-000000000001\","
                                "\"name\":\"A\",\"zone\":\"2\"}")));
    commit(lib);
    assert_ok(tx_derived(old, &zone, &value));
    assert_int_equal(*(const int *)value, 1);
    assert_ok(tx_commit(old));

    assert_ok(tx_derived(begin(lib, READ), &zone, &value));
    assert_int_equal(*(const int *)value, 2);
}

static size_t kept_of(const char *module)
{
    MeterReading readings[128], total;
    size_t n = meter_read(0, readings, 128, &total), found = 0;

    for (size_t i = 0; i < n; i++) {
        found += strcmp(readings[i].module, module) == 0 ? readings[i].memory_bytes : 0;
    }
    return found;
}

static void what_is_kept_counts_with_the_module_until_it_goes(void **state)
{
    Library *lib = *state;
    const Collection *const charged[] = {&shelves};
    const Json *shelf = NULL;
    const void *value = NULL;
    store_charge(charged, 1, "mod-shelves");

    Tx *tx = begin(lib, WRITE);
    insert(tx, &shelves, 1, "\"name\":\"A\",\"zone\":\"1\"");
    commit(lib);
    assert_int_equal(kept_of("mod-shelves"), 0);
    tx = begin(lib, READ);
    assert_ok(tx_ref(tx, &shelves, id_of(1), &shelf));
    size_t records = kept_of("mod-shelves");
    assert_true(records > 0);
    assert_ok(tx_derived(tx, &zone, &value));
    assert_true(kept_of("mod-shelves") > records);
    commit(lib);
    tx = begin(lib, WRITE);
    insert(tx, &shelves, 2, "\"name\":\"B\",\"zone\":\"2\"");
    commit(lib);
    assert_int_equal(kept_of("mod-shelves"), 0);
}

static void a_pinned_record_outlives_its_successor(void **state)
{
    Library *lib = *state;
    const Json *shelf = NULL;
    Tx *tx = begin(lib, WRITE);
    insert(tx, &shelves, 1, "\"name\":\"A\"");
    commit(lib);

    TxOptions options = {.kind = READ};
    Tx *reader = NULL;
    assert_ok(tx_begin(lib->db, &options, &reader));
    assert_ok(tx_ref(reader, &shelves, id_of(1), &shelf));
    tx = begin(lib, WRITE);
    assert_ok(tx_update(tx, &shelves,
                        json_of("{\"id\":\"00000000-0000-4000-8000-000000000001\","
                                "\"name\":\"B\"}")));
    commit(lib);
    assert_str(json_str(shelf, "name"), "A");
    assert_ok(tx_commit(reader));
    assert_ok(tx_ref(begin(lib, READ), &shelves, id_of(1), &shelf));
    assert_str(json_str(shelf, "name"), "B");
}

static void what_was_read_is_not_asked_for_again(void **state)
{
    Library *lib = *state;
    Json *shelf = NULL, *author = NULL;
    Tx *tx = begin(lib, WRITE);
    insert(tx, &shelves, 1, "\"name\":\"A\"");
    insert(tx, &authors, 1, "\"name\":\"A\"");
    commit(lib);

    tx = begin(lib, READ);
    assert_ok(tx_get(tx, &shelves, id_of(1), &shelf));
    assert_ok(tx_get(tx, &authors, id_of(1), &author));
    int before = tx_cost(tx).statements;
    assert_true(shelf && author && before > 0);
    assert_ok(tx_get(tx, &shelves, id_of(1), &shelf));
    assert_ok(tx_get(tx, &authors, id_of(1), &author));
    assert_true(shelf && author);
    assert_int_equal(tx_cost(tx).statements, before);
}

// Reads what is kept, in a transaction that stays open.
static const Json *shelf_in_cache(Library *lib, Tx **tx)
{
    const Json *shelf = NULL;
    const void *value = NULL;

    assert_ok(tx_begin(lib->db, &(TxOptions){.kind = READ}, tx));
    assert_ok(tx_ref(*tx, &shelves, id_of(1), &shelf));
    assert_ok(tx_derived(*tx, &zone, &value));
    assert_int_equal(*(const int *)value, 7);
    return shelf;
}

static void when_memory_is_short_only_what_is_in_use_stays(void **state)
{
    Library *lib = *state;
    Tx *tx = NULL, *later = NULL;
    insert(begin(lib, WRITE), &shelves, 1, "\"name\":\"A\",\"zone\":\"7\"");
    commit(lib);

    const Json *shelf = shelf_in_cache(lib, &tx);
    int64_t kept = store_figures(lib->store).record_bytes;
    assert_true(kept > 0);
    assert_true(store_give_back(lib->store, true));
    assert_str(json_str(shelf, "name"), "A");
    shelf_in_cache(lib, &later); // read anew
    assert_int_equal(store_figures(lib->store).record_bytes, 2 * kept);
    assert_ok(tx_commit(tx));
    assert_ok(tx_commit(later));
    assert_int_equal(store_figures(lib->store).record_bytes, kept);
    assert_true(store_give_back(lib->store, true));
    assert_int_equal(store_figures(lib->store).record_bytes, 0);
}

static void a_database_at_rest_keeps_nothing(void **state)
{
    Library *lib = *state;
    Tx *tx = NULL;
    insert(begin(lib, WRITE), &shelves, 1, "\"name\":\"A\",\"zone\":\"7\"");
    commit(lib);
    shelf_in_cache(lib, &tx);
    assert_ok(tx_commit(tx));

    assert_false(store_give_back(lib->store, false));
    assert_true(store_figures(lib->store).record_bytes > 0);
    lib->db->used_ns -= 3600 * (int64_t)1000000000;
    assert_true(store_give_back(lib->store, false));
    assert_int_equal(store_figures(lib->store).record_bytes, 0);
    shelf_in_cache(lib, &tx);
    assert_ok(tx_commit(tx));
}

// Eight MiB of caches are there: what was used last has them.
static void libraries_used_long_ago_make_room_for_others(void **state)
{
    Library *lib = *state;
    int64_t max = store_figures(lib->store).record_bytes_max;
    Str name = str_fmt("%0*d", 1 << 20, 7);
    Db *first = lib->db;

    for (int i = 0; i < 2; i++) {
        Tx *tx = NULL;
        assert_ok(db_open(lib->store, str_fmt("town%d", i), true, &lib->db));
        assert_ok(db_migrate(lib->db, library, 3));
        begin(lib, WRITE);
        for (int k = 1; k <= 2; k++) {
            insert(lib->tx, &shelves, k,
                   str_fmt("\"name\":\"%d\",\"zone\":\"" STR_FMT "\"", k, STR_ARG(name)).at);
        }
        commit(lib);
        shelf_in_cache(lib, &tx);
        assert_ok(tx_commit(tx));
        assert_true(lib->db->cached_bytes > 0);
        first = i ? first : lib->db;
    }
    assert_true(2 * lib->db->cached_bytes > (size_t)max);
    assert_int_equal(first->cached_bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, library_setup, library_teardown)
        TEST(a_reader_never_sees_what_was_before_an_answered_commit),
        TEST(a_value_first_computed_from_an_old_snapshot_is_not_kept),
        TEST(what_is_kept_counts_with_the_module_until_it_goes),
        TEST(a_pinned_record_outlives_its_successor),
        TEST(when_memory_is_short_only_what_is_in_use_stays),
        TEST(a_database_at_rest_keeps_nothing),
        TEST(libraries_used_long_ago_make_room_for_others),
        TEST(what_was_read_is_not_asked_for_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
