// Copying a database: records, events that wait, how far they are delivered, numbers given.
#include "jobs_world.h"

typedef struct {
    World source, target;
    Db *copy;
} Two;

static int two_setup(void **state)
{
    Two *two = calloc(1, sizeof *two);
    World *worlds[] = {&two->source, &two->target};

    log_set(LOG_OFF, false);
    for (int i = 0; i < 2; i++) {
        strcpy(worlds[i]->dir, "/tmp/octavo-copy-XXXXXX");
        test_store_make(worlds[i]->dir);
        world_open(worlds[i]);
    }
    assert_ok(db_open(two->target.store, S("copied"), true, &two->copy));
    *state = two;
    return 0;
}

static int two_teardown(void **state)
{
    Two *two = *state;
    World *worlds[] = {&two->source, &two->target};

    for (int i = 0; i < 2; i++) {
        world_close(worlds[i]);
        test_store_remove(worlds[i]->dir);
    }
    free(two);
    arena_reset(arena_current());
    return 0;
}

static Err *take_numbers(Tx *tx, void *first)
{
    return tx_sequence(tx, "items", 7, first);
}

static Err *add_notes(Tx *tx, void *context)
{
    (void)context;
    for (int i = 0; i < 1203; i++) {
        TRY(note_add(tx, str_fmt("note %d", i)));
    }
    return NULL;
}

static Err *forget_two_events(Tx *tx, void *context)
{
    (void)context;
    return outbox_delete(tx, 2);
}

static Err *set_position(Tx *tx, void *seq)
{
    Json *row = json_object();

    json_set_str(row, "id", S("7e1a9000-0000-4000-8000-000000000001"));
    json_set_int(row, "seq", *(int64_t *)seq);
    return tx_insert(tx, &relay_positions, row);
}

static Err *take_key(const Row *row, void *keys)
{
    str_list_add(keys, str_copy(arena_current(), row_text(row, 0)));
    return NULL;
}

// Keys of the events that are not delivered yet.
static Err *read_undelivered(Tx *tx, void *keys)
{
    Docs docs = {0};

    TRY(tx_where(tx, &relay_positions, "1 = 1", NO_ARGS, &docs));
    assert_int_equal(docs.len, 1);
    return tx_rows(tx, "select key from outbox where seq > $1 order by seq",
                   ARGS(A_INT(json_int(docs.at[0], "seq", -1))), take_key, keys);
}

static void fill(Db *db, int64_t delivered)
{
    const TxOptions writing = {.kind = WRITE};
    int64_t first = 0;

    assert_ok(tx_run(db, &writing, add_notes, NULL));
    assert_ok(tx_run(db, &writing, take_numbers, &first));
    emit(db, "test.plain", 1, 6);
    assert_ok(tx_run(db, &writing, forget_two_events, NULL));
    assert_ok(tx_run(db, &writing, set_position, &delivered));
}

static void check_copy(Two *two, size_t undelivered, const char *next_key)
{
    DbCopy copy = {.positions = &relay_positions};
    StrList differences = {0}, keys = {0};
    int64_t first = 0;

    assert_ok(db_copy(two->source.db, two->copy, &copy));
    assert_ok(db_compare(two->source.db, two->copy, &copy, &differences));
    assert_int_equal(differences.len, 0);
    assert_int_equal(copy.records, 1203 + 4);
    assert_ok(tx_run(two->copy, &(TxOptions){.kind = READ}, read_undelivered, &keys));
    assert_int_equal(keys.len, undelivered);
    if (undelivered) {
        assert_str(keys.at[0], next_key);
    }
    assert_ok(tx_run(two->copy, &(TxOptions){.kind = WRITE}, take_numbers, &first));
    assert_int_equal(first, 8);
    assert_string_equal(notes_of(two->copy), notes_of(two->source.db));
}

static void a_copy_keeps_what_is_not_delivered_yet(void **state)
{
    Two *two = *state;

    fill(two->source.db, 4);
    check_copy(two, 2, "5");
    assert_ok(db_copy_end(two->copy));
    assert_err(db_copy(two->source.db, two->copy, &(DbCopy){0}), 400,
               "the target has data of copied already");
}

static void nothing_delivered_stays_nothing(void **state)
{
    fill(((Two *)*state)->source.db, 0);
    check_copy(*state, 4, "3");
}

static void new_events_come_behind_a_position_of_the_source(void **state)
{
    Two *two = *state;
    StrList keys = {0};

    fill(two->source.db, 6);
    check_copy(two, 0, NULL);
    emit(two->copy, "test.plain", 77, 1);
    assert_ok(tx_run(two->copy, &(TxOptions){.kind = READ}, read_undelivered, &keys));
    assert_int_equal(keys.len, 1);
    assert_str(keys.at[0], "77");
}

static Err *change_a_number(Tx *tx, void *first)
{
    return tx_sequence(tx, "items", 1, first);
}

static Err *change_a_note(Tx *tx, void *context)
{
    (void)context;
    return tx_exec(tx, "update note set doc = doc || ' ' where text = 'note 3'", NO_ARGS, NULL);
}

static Err *drop_a_note(Tx *tx, void *context)
{
    (void)context;
    return tx_exec(tx, "delete from note where text = 'note 4'", NO_ARGS, NULL);
}

static void every_difference_is_named(void **state)
{
    Two *two = *state;
    DbCopy copy = {.positions = &relay_positions};
    StrList differences = {0};
    const TxOptions writing = {.kind = WRITE};
    int64_t first = 0;

    fill(two->source.db, 6);
    assert_ok(db_copy(two->source.db, two->copy, &copy));
    assert_ok(tx_run(two->copy, &writing, change_a_note, NULL));
    assert_ok(tx_run(two->copy, &writing, change_a_number, &first));
    emit(two->copy, "test.plain", 77, 1);
    assert_ok(db_compare(two->source.db, two->copy, &copy, &differences));
    assert_int_equal(differences.len, 3);
    assert_str(differences.at[0], "note: the contents differ");
    assert_str(differences.at[1], "outbox: 4 in the source, 5 in the target");
    assert_str(differences.at[2], "the numbers given so far differ");
    assert_ok(tx_run(two->copy, &writing, drop_a_note, NULL));
    differences = (StrList){0};
    assert_ok(db_compare(two->source.db, two->copy, &copy, &differences));
    assert_str(differences.at[0], "note: 1203 in the source, 1202 in the target");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, two_setup, two_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_copy_keeps_what_is_not_delivered_yet),
        TEST(nothing_delivered_stays_nothing),
        TEST(new_events_come_behind_a_position_of_the_source),
        TEST(every_difference_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
