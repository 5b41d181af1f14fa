// Life of transactions and databases: what is seen when, what is kept, what an error leaves behind.
#include "test.h"

#include "store_tx_world.h"

static const TxOptions read_only = {.kind = READ}, writing = {.kind = WRITE};

static void a_commit_is_seen_by_later_readers(void **state)
{
    World *world = *state;
    Tx *tx = NULL;

    assert_ok(tx_begin(world->db, &writing, &tx));
    assert_ok(counter_add(tx, "a", 5));
    assert_int_equal(counter_in(tx, "a"), 5);
    assert_int_equal(counter(world, "a"), 0);
    assert_ok(tx_commit(tx));
    assert_int_equal(counter(world, "a"), 5);
}

static void a_rollback_leaves_nothing(void **state)
{
    World *world = *state;
    Tx *tx = NULL;

    assert_ok(tx_begin(world->db, &writing, &tx));
    assert_ok(counter_add(tx, "a", 5));
    tx_rollback(tx);
    assert_int_equal(counter(world, "a"), 0);
    assert_ok(tx_begin(world->db, &writing, &tx));
    assert_ok(counter_add(tx, "a", 1));
    assert_ok(tx_commit(tx));
    assert_int_equal(counter(world, "a"), 1);
}

static void a_reader_keeps_its_snapshot(void **state)
{
    World *world = *state;
    Tx *reader = NULL, *tx = NULL;

    assert_ok(tx_begin(world->db, &read_only, &reader));
    assert_int_equal(counter_in(reader, "a"), 0);
    assert_ok(tx_begin(world->db, &writing, &tx));
    assert_ok(counter_add(tx, "a", 1));
    assert_ok(tx_commit(tx));
    assert_int_equal(counter_in(reader, "a"), 0);
    assert_ok(tx_commit(reader));
    assert_int_equal(counter(world, "a"), 1);
}

static void data_are_there_after_reopening(void **state)
{
    World *world = *state;
    Tx *tx = NULL;

    assert_ok(tx_begin(world->db, &writing, &tx));
    assert_ok(counter_add(tx, "b", 7));
    assert_ok(tx_commit(tx));
    store_close(world->store);
    world_open(world);
    assert_ok(db_open(world->store, S("diku"), false, &world->db));
    assert_int_equal(counter(world, "b"), 7);
}

static Err *note_violation(Tx *tx, const Violation *violation, const OnViolation *on)
{
    (void)tx;
    *(Violation *)on->of = *violation;
    return err_text(422, STR_FMT " is taken", STR_ARG(on->doc));
}

static void a_broken_unique_key_is_named(void **state)
{
    if (!test_is_embedded()) {
        skip_because("a failed write ends the transaction there");
    }
    World *world = *state;
    Tx *tx = NULL;
    Violation violation = {0};
    OnViolation on = {note_violation, &violation, S("it"), true};

    assert_ok(tx_begin(world->db, &writing, &tx));
    assert_ok(tx_exec(tx, "create table t(pk integer primary key, a text, b text)", NO_ARGS, NULL));
    assert_ok(tx_exec(tx, "create unique index t_ab on t(a, b)", NO_ARGS, NULL));
    assert_ok(tx_exec(tx, "create unique index t_open on t(b) where a is null", NO_ARGS, NULL));
    assert_ok(tx_exec(tx, "create unique index t_low on t(lower(a))", NO_ARGS, NULL));
    assert_ok(tx_exec(tx, "insert into t(a, b) values ('1', '2'), (null, '5')", NO_ARGS, NULL));
    const char *again = "insert into t(a, b) values ($1, $2)";
    Err *err = sql_exec(tx, again, ARGS(A_TEXT(S("1")), A_TEXT(S("2"))), NULL, &on);
    assert_err(err, 422, "it is taken");
    assert_false(violation.is_reference);
    if (!violation.index.len) {
        assert_str(violation.table, "t");
        assert_str(str_join(violation.columns.at, violation.columns.len, S(",")), "a,b");
    } else {
        assert_str(violation.index, "t_low");
    }
    err = sql_exec(tx, again, ARGS(A_NULL, A_TEXT(S("5"))), NULL, &on);
    assert_err(err, 422, "it is taken");
    assert_str(str_join(violation.columns.at, violation.columns.len, S(",")), "b");
    err = sql_exec(tx, again, ARGS(A_TEXT(S("1")), A_TEXT(S("3"))), NULL, &on);
    assert_err(err, 422, "it is taken");
    assert_str(violation.index, "t_low");
    // A failed statement leaves the transaction usable.
    assert_ok(sql_exec(tx, again, ARGS(A_TEXT(S("9")), A_TEXT(S("9"))), NULL, &on));
    assert_ok(tx_commit(tx));
}

static void unknown_and_bad_names_are_refused(void **state)
{
    World *world = *state;
    Db *db = NULL;

    assert_err(db_open(world->store, S("nobody"), false, &db), 404, "No such tenant nobody");
    assert_err(db_open(world->store, S("../etc"), true, &db), 400, "No such tenant ../etc");
    assert_non_null(db_open(world->store, S("a_b"), true, &db));
    assert_non_null(db_open(world->store, S(""), true, &db));
    assert_non_null(db_open(world->store, S("a234567890123456789012345678901x"), true, &db));
}

static void a_second_process_is_kept_out(void **state)
{
    only_embedded();
    World *world = *state;
    StoreOptions options = {.dir = str_of(world->dir)};
    Store *other = NULL;
    Err *err = store_open(&options, &other);

    assert_non_null(err);
    assert_true(str_starts(err->message, S("Another process uses the data directory")));
}

static void dropped_databases_are_gone(void **state)
{
    World *world = *state;
    Db *db = NULL, *own = NULL;
    StrList names = {0};
    Tx *tx = NULL;

    assert_ok(db_open(world->store, S("other"), true, &db));
    assert_ok(db_open(world->store, S("octavo"), true, &own));
    assert_ok(db_names(world->store, &names));
    assert_int_equal(names.len, 2); // the process's own is no tenant
    assert_ok(db_drop(world->store, S("other")));
    assert_err(tx_begin(db, &read_only, &tx), 404, "No such tenant other");
    assert_err(db_open(world->store, S("other"), false, &db), 404, "No such tenant other");
    assert_ok(db_open(world->store, S("other"), true, &db));
    assert_ok(tx_begin(db, &read_only, &tx));
    assert_ok(tx_commit(tx));
}

static void a_backup_is_a_database(void **state)
{
    only_embedded();
    World *world = *state;
    Tx *tx = NULL;

    assert_ok(tx_begin(world->db, &writing, &tx));
    assert_ok(counter_add(tx, "a", 3));
    assert_ok(tx_commit(tx));
    assert_ok(db_backup(world->db, str_z(str_fmt("%s/copy.db", world->dir))));
    Db *copy = NULL;
    assert_ok(db_open(world->store, S("copy"), false, &copy));
    assert_ok(tx_begin(copy, &read_only, &tx));
    assert_int_equal(counter_in(tx, "a"), 3);
    assert_ok(tx_commit(tx));
}

static void sequences_go_on_and_roll_back(void **state)
{
    World *world = *state;
    Tx *tx = NULL;
    int64_t first = 0;

    assert_ok(tx_begin(world->db, &writing, &tx));
    assert_ok(tx_sequence(tx, "hrid", 10, &first));
    assert_int_equal(first, 1);
    assert_ok(tx_sequence(tx, "hrid", 1, &first));
    assert_int_equal(first, 11);
    assert_ok(tx_commit(tx));
    assert_ok(tx_begin(world->db, &writing, &tx));
    assert_ok(tx_sequence(tx, "hrid", 5, &first));
    tx_rollback(tx);
    assert_ok(tx_begin(world->db, &writing, &tx));
    assert_ok(tx_sequence(tx, "hrid", 1, &first));
    assert_int_equal(first, 12);
    assert_ok(tx_commit(tx));
}

static Err *read_nothing(Tx *tx, void *context)
{
    (void)tx, (void)context;
    return NULL;
}

static Err *read_counter(Tx *tx, void *name)
{
    int64_t n = -1;

    TRY(tx_rows(tx, "select n from counter where name = $1", ARGS(A_TEXT(str_of(name))), take_int,
                &n));
    assert_int_equal(n, 0);
    return NULL;
}

// A function that is called reads together, too.
static Err *read_both(Tx *tx, void *context)
{
    (void)context;
    return tx_together(tx, (Read[]){{read_counter, "a"}, {read_counter, "b"}}, 2);
}

static void statements_and_round_trips_are_counted(void **state)
{
    World *world = *state;
    Tx *tx = NULL;

    assert_ok(tx_begin(world->db, &writing, &tx));
    assert_ok(tx_together(tx, (Read[]){{read_nothing, NULL}}, 1));
    assert_int_equal(tx_cost(tx).round_trips, 0);
    assert_ok(tx_together(tx, (Read[]){{read_both, NULL}, {read_nothing, NULL}}, 2));
    assert_int_equal(tx_cost(tx).round_trips, 1);
    assert_ok(counter_add(tx, "a", 1));
    assert_ok(counter_add(tx, "b", 1));
    assert_int_equal(tx_cost(tx).statements, 4);
    assert_int_equal(tx_cost(tx).rows_read, 2);
    assert_int_equal(tx_cost(tx).round_trips, 2); // writes travel together, with the commit
    assert_ok(tx_commit(tx));
}

static void like_tells_cases_apart_and_parameters_repeat(void **state)
{
    World *world = *state;
    Tx *tx = NULL;
    int64_t n = 0;

    assert_ok(tx_begin(world->db, &read_only, &tx));
    assert_ok(tx_rows(tx, "select $2 like $1 escape '\\'", ARGS(A_TEXT(S("A%")), A_TEXT(S("abc"))),
                      take_int, &n));
    assert_int_equal(n, 0);
    assert_ok(tx_rows(tx, "select $2 * 10 + $1 + $2", ARGS(A_INT(1), A_INT(2)), take_int, &n));
    assert_int_equal(n, 23);
    assert_ok(tx_commit(tx));
}

static Err *same_again(const Row *row, void *context)
{
    Tx *tx = context;
    int64_t n = 0;
    (void)row;
    return tx_rows(tx, "select count(*) from counter where n >= $1", ARGS(A_INT(0)), take_int, &n);
}

static Err *outer(const Row *row, void *context)
{
    TRY(same_again(row, context));
    return tx_rows(context, "select name from counter where n >= $1", ARGS(A_INT(0)), same_again,
                   context);
}

static Err *ignore_row(const Row *row, void *context)
{
    (void)row, (void)context;
    return NULL;
}

static void a_query_without_end_is_stopped_and_harms_nobody(void **state)
{
    static const char endless[] = "with recursive n(i) as (select 1 union all select i + 1 from n) "
                                  "select count(*) from n";
    World *world = *state;
    StoreOptions options = {.dir = str_of(world->dir), .readers_max = 4, .read_limit_ms = 50};
    Tx *tx = NULL;

    only_embedded();
    log_set(LOG_OFF, false);
    store_close(world->store);
    assert_ok(store_open(&options, &world->store));
    assert_ok(db_open(world->store, S("diku"), false, &world->db));
    for (TxKind kind = READ; kind <= WRITE; kind++) {
        assert_ok(tx_begin(world->db, &(TxOptions){.kind = kind}, &tx));
        Err *err = kind == WRITE ? counter_add(tx, "a", 1) : NULL;
        assert_ok(err);
        err = tx_rows(tx, endless, NO_ARGS, ignore_row, NULL);
        assert_non_null(err);
        assert_int_equal(err->status, 503);
        counter_in(tx, "a"); // the transaction goes on
        assert_ok(tx_commit(tx));
    }
    assert_int_equal(counter(world, "a"), 1);
}

static void a_statement_that_takes_too_long_is_given_up_unless_it_may(void **state)
{
    World *world = *state;
    StoreOptions options = test_store_options(world->dir);
    Tx *tx = NULL;

    if (test_is_embedded()) {
        return; // its statements end by read_limit_ms
    }
    log_set(LOG_OFF, false);
    store_close(world->store);
    options.statement_limit_s = 1;
    assert_ok(store_open(&options, &world->store));
    assert_ok(db_open(world->store, S("diku"), false, &world->db));
    for (int may = 0; may <= 1; may++) {
        assert_ok(tx_begin(world->db, &(TxOptions){.kind = WRITE, .takes_long = may}, &tx));
        Err *err = tx_rows(tx, "select pg_sleep(1.5)", NO_ARGS, ignore_row, NULL);
        if (may) {
            assert_ok(err);
            assert_ok(tx_commit(tx));
        } else {
            assert_err(err, 503, "The database is busy, try again");
            tx_rollback(tx);
        }
    }
}

static void a_callback_may_run_the_same_statement(void **state)
{
    World *world = *state;
    Tx *tx = NULL;

    assert_ok(tx_begin(world->db, &read_only, &tx));
    assert_ok(tx_rows(tx, "select name from counter where n >= $1", ARGS(A_INT(0)), outer, tx));
    assert_ok(tx_commit(tx));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_commit_is_seen_by_later_readers),
        TEST(a_rollback_leaves_nothing),
        TEST(a_reader_keeps_its_snapshot),
        TEST(data_are_there_after_reopening),
        TEST(a_broken_unique_key_is_named),
        TEST(unknown_and_bad_names_are_refused),
        TEST(a_second_process_is_kept_out),
        TEST(dropped_databases_are_gone),
        TEST(a_backup_is_a_database),
        TEST(sequences_go_on_and_roll_back),
        TEST(statements_and_round_trips_are_counted),
        TEST(like_tells_cases_apart_and_parameters_repeat),
        TEST(a_query_without_end_is_stopped_and_harms_nobody),
        TEST(a_statement_that_takes_too_long_is_given_up_unless_it_may),
        TEST(a_callback_may_run_the_same_statement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
