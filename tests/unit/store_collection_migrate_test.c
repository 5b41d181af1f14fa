// Descriptors that change: side columns, words and indexes follow, whatever happens on the way.
#include "library.h"

static const Property thing_properties[] = {
    {"id", ID}, {"name", STRING}, {"size", INTEGER}, {"note", STRING}, {0},
};
static const RecordType thing_record = {"Thing", .properties = thing_properties};

static const Field first_fields[] = {
    {"name", "name", TEXT | INDEX | WORDS},
    {0},
};
static const Collection things = {
    .table = "thing", .record = &thing_record, .fields = first_fields};

static const Field later_fields[] = {
    {"name", "name", TEXT | UNIQUE},
    {"size", "size", NUMBER | INDEX},
    {"note", "note", TEXT | WORDS},
    {0},
};
static const Collection later_things = {
    .table = "thing", .record = &thing_record, .fields = later_fields};

static const Collection *const first[] = {&things};
static const Collection *const later[] = {&later_things};

static void add_things(Library *lib, int n)
{
    Tx *tx = begin(lib, WRITE);

    for (int i = 0; i < n; i++) {
        insert(tx, &things, i,
               str_fmt("\"name\":\"thing %d\",\"size\":%d,\"note\":\"word%d\"", i, i % 5, i).at);
    }
    commit(lib);
}

static int64_t count(Tx *tx, const Collection *of, const char *query)
{
    int64_t n = 0;

    assert_ok(tx_count(tx, of, str_of(query), &n));
    return n;
}

static void side_columns_are_filled_when_the_descriptor_changes(void **state)
{
    Library *lib = *state;
    StrList indexes = {0};
    assert_ok(db_migrate(lib->db, first, 1));
    add_things(lib, 350);

    assert_ok(db_migrate(lib->db, later, 1));
    Tx *tx = begin(lib, READ);
    assert_int_equal(count(tx, &later_things, "size==3"), 70);
    assert_int_equal(count(tx, &later_things, "note=word349"), 1);
    assert_int_equal(count(tx, &later_things, "name==\"thing 7\""), 1);
    assert_ok(db_index_names(tx, "thing", &indexes));
    assert_true(str_list_has(&indexes, S("thing_name_unique")));
    assert_true(str_list_has(&indexes, S("thing_size_idx")));
    assert_false(str_list_has(&indexes, S("thing_name_idx")));
}

static void an_older_program_does_not_write_a_newer_table(void **state)
{
    Library *lib = *state;
    assert_ok(db_migrate(lib->db, first, 1));
    assert_ok(db_migrate(lib->db, later, 1));

    assert_err(tx_insert(begin(lib, WRITE), &things, json_of("{\"name\":\"x\"}")), 503,
               "Table thing was changed by another version of the program");
}

static void a_migration_that_broke_off_goes_on(void **state)
{
    Library *lib = *state;
    assert_ok(db_migrate(lib->db, first, 1));
    add_things(lib, 150);
    Tx *tx = begin(lib, WRITE);
    insert(tx, &things, 500, "\"name\":\"thing 1\",\"note\":\"twice\"");
    commit(lib);

    // The new unique key cannot be made.
    assert_non_null(db_migrate(lib->db, later, 1));
    tx = begin(lib, WRITE);
    Docs found = {0};
    Err *err = tx_list(tx, &later_things, S("size==3"), 10, &found);
    assert_non_null(err);
    assert_int_equal(err->status, 503);
    assert_ok(tx_delete(tx, &later_things, id_of(500)));
    commit(lib);

    assert_ok(db_migrate(lib->db, later, 1));
    tx = begin(lib, READ);
    assert_int_equal(count(tx, &later_things, "size==3"), 30);
    assert_int_equal(count(tx, &later_things, "note=word149"), 1);
    assert_int_equal(count(tx, &later_things, "note=twice"), 0);
}

static void migrating_again_changes_nothing(void **state)
{
    Library *lib = *state;
    assert_ok(db_migrate(lib->db, later, 1));
    Tx *tx = begin(lib, WRITE);
    insert(tx, &later_things, 1, "\"name\":\"x\"");
    commit(lib);
    store_close(lib->store);
    library_open(lib);

    assert_ok(db_migrate(lib->db, later, 1));
    tx = begin(lib, READ);
    assert_int_equal(count(tx, &later_things, "name==x"), 1);
    // A list costs its own statement only: the states of tables are known.
    assert_int_equal(tx_cost(tx).statements, 1);
}

static const Field plain_fields[] = {
    {"name", "name", TEXT | INDEX},
    {"note", "note", TEXT | INDEX},
    {0},
};
static const Collection plain_things = {
    .table = "thing", .record = &thing_record, .fields = plain_fields};
static const Field coarse_fields[] = {
    {"name", "name", TEXT | INDEX},
    {"note", "note", TEXT | INDEX | COARSE},
    {0},
};
static const Collection coarse_things = {
    .table = "thing", .record = &thing_record, .fields = coarse_fields};

static int64_t steps_to_find_one(Library *lib, const Collection *of)
{
    Tx *tx = begin(lib, READ);

    assert_int_equal(count(tx, of, "note==same and name==\"thing 7\""), 1);
    int64_t steps = tx_cost(tx).steps;
    commit(lib);
    return steps;
}

static void an_upgrade_tells_where_values_repeat(void **state)
{
    static const Collection *const before[] = {&plain_things};
    static const Collection *const after[] = {&coarse_things};
    Library *lib = *state;
    assert_ok(db_migrate(lib->db, before, 1));
    Tx *tx = begin(lib, WRITE);
    for (int i = 0; i < 300; i++) {
        insert(tx, &plain_things, i, str_fmt("\"name\":\"thing %d\",\"note\":\"same\"", i).at);
    }
    commit(lib);
    int64_t steps = steps_to_find_one(lib, &plain_things);
    store_close(lib->store);
    library_open(lib);

    assert_ok(db_migrate(lib->db, after, 1));
    assert_true(steps_to_find_one(lib, &coarse_things) <= steps / (test_is_embedded() ? 10 : 1));
    assert_ok(db_migrate(lib->db, before, 1));
    store_close(lib->store);
    library_open(lib); // as another version of the program would
    assert_true(steps_to_find_one(lib, &plain_things) >= steps);
}

// Their names, with a mark behind those that records break.
static Err *take_foreign_key(const Row *row, void *names)
{
    str_list_add(names,
                 str_fmt(STR_FMT "%s", STR_ARG(row_text(row, 0)), row_int(row, 3) ? "" : " !"));
    return NULL;
}

static StrList foreign_keys(Library *lib)
{
    StrList names = {0};

    assert_ok(db_foreign_keys(begin(lib, READ), take_foreign_key, &names));
    commit(lib);
    return names;
}

#define only_with_foreign_keys(db)                                                                 \
    do {                                                                                           \
        if (!db_keeps_references(db)) {                                                            \
            skip_because("SQLite keeps no foreign keys: store_collection_write_test checks "       \
                         "references there");                                                      \
        }                                                                                          \
    } while (0)

static void references_are_foreign_keys(void **state)
{
    Library *lib = *state;
    only_with_foreign_keys(lib->db);
    StrList names = foreign_keys(lib);

    assert_int_equal(names.len, 2);
    assert_true(str_list_has(&names, S("book_shelf_id_fkey")));
    assert_true(str_list_has(&names, S("book_author_id_fkey")));
}

static Err *drop_foreign_keys(Tx *tx, void *context)
{
    (void)context;
    TRY(tx_exec(tx, "alter table book drop constraint book_shelf_id_fkey", NO_ARGS, NULL));
    return tx_exec(tx, "alter table book drop constraint book_author_id_fkey", NO_ARGS, NULL);
}

// A database of a program that knew no foreign keys, with a record that nobody checked.
static void make_old_data(Library *lib)
{
    assert_ok(tx_run(lib->db, &(TxOptions){.kind = WRITE}, drop_foreign_keys, NULL));
    Tx *tx = begin(lib, WRITE);
    insert(tx, &shelves, 1, "\"name\":\"A\"");
    commit(lib);
    Bulk *bulk = NULL;
    int64_t stored = 0, refused = 0;
    assert_ok(bulk_begin(lib->db, &(BulkOptions){0}, &bulk));
    assert_ok(bulk_put(bulk, &books,
                       json_of("{\"id\":\"00000000-0000-4000-8000-000000000001\","
                               "\"title\":\"Emma\",\"_version\":1,"
                               "\"shelfId\":\"00000000-0000-4000-8000-000000000001\","
                               "\"authorId\":\"00000000-0000-4000-8000-000000000009\"}"),
                       1));
    assert_ok(bulk_end(bulk, &stored, &refused));
}

static void data_of_an_older_program_get_their_foreign_keys(void **state)
{
    Library *lib = *state;
    only_with_foreign_keys(lib->db);
    make_old_data(lib);

    assert_ok(db_migrate(lib->db, library, 3));
    StrList names = foreign_keys(lib);
    assert_true(str_list_has(&names, S("book_shelf_id_fkey")));
    assert_true(str_list_has(&names, S("book_author_id_fkey !")));
    // What was wrong before may stay and change otherwise; what is new must be right.
    Tx *tx = begin(lib, WRITE);
    Json *book = NULL;
    assert_ok(tx_get(tx, &books, id_of(1), &book));
    json_set_str(book, "title", S("Persuasion"));
    assert_ok(tx_update(tx, &books, book));
    commit(lib);
    tx = begin(lib, WRITE);
    Err *err = tx_delete(tx, &shelves, id_of(1));
    assert_err(err ? err : tx_flush(tx), 400,
               "Cannot delete shelf.id = 00000000-0000-4000-8000-000000000001 because id is still "
               "referenced from table book.");
}

// While a table is loaded its references are looked after by the engine, if by anybody.
static void a_loaded_table_has_its_foreign_keys_when_it_is_complete(void **state)
{
    Library *lib = *state;
    only_with_foreign_keys(lib->db);

    assert_ok(db_drop_indexes(lib->db, library, 3, true));
    assert_int_equal(foreign_keys(lib).len, 0);
    Tx *tx = begin(lib, WRITE);
    assert_non_null(tx_insert(tx, &books,
                              json_of("{\"title\":\"Emma\",\"authorId\":"
                                      "\"00000000-0000-4000-8000-000000000005\"}")));
    insert(tx, &authors, 5, "\"name\":\"Austen\"");
    insert(tx, &books, 1,
           "\"title\":\"Emma\",\"authorId\":\"00000000-0000-4000-8000-000000000005\"");
    commit(lib);
    assert_ok(db_migrate(lib->db, library, 3));
    StrList names = foreign_keys(lib);
    assert_int_equal(names.len, 2);
    assert_true(str_list_has(&names, S("book_author_id_fkey")));
}

static void a_table_that_others_refer_to_can_be_purged(void **state)
{
    Library *lib = *state;
    const Collection *const purged[] = {&shelves, &authors};
    Tx *tx = begin(lib, WRITE);
    insert(tx, &authors, 5, "\"name\":\"Austen\"");
    insert(tx, &books, 1,
           "\"title\":\"Emma\",\"authorId\":\"00000000-0000-4000-8000-000000000005\"");
    commit(lib);

    assert_ok(db_purge(lib->db, purged, 2));
    tx = begin(lib, WRITE);
    assert_ok(tx_insert(tx, &books,
                        json_of("{\"title\":\"Persuasion\",\"authorId\":"
                                "\"00000000-0000-4000-8000-000000000006\"}")));
    commit(lib);
}

static void a_purge_takes_the_tables(void **state)
{
    Library *lib = *state;
    StrList columns = {0};
    assert_ok(db_migrate(lib->db, later, 1));
    assert_ok(db_purge(lib->db, later, 1));

    assert_ok(db_table_columns(begin(lib, READ), "thing", &columns));
    assert_int_equal(columns.len, 0);
    commit(lib);
    assert_ok(db_migrate(lib->db, later, 1));
    assert_int_equal(count(begin(lib, READ), &later_things, "cql.allRecords=1"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, library_setup, library_teardown)
        TEST(side_columns_are_filled_when_the_descriptor_changes),
        TEST(an_older_program_does_not_write_a_newer_table),
        TEST(a_migration_that_broke_off_goes_on),
        TEST(migrating_again_changes_nothing),
        TEST(an_upgrade_tells_where_values_repeat),
        TEST(references_are_foreign_keys),
        TEST(data_of_an_older_program_get_their_foreign_keys),
        TEST(a_loaded_table_has_its_foreign_keys_when_it_is_complete),
        TEST(a_table_that_others_refer_to_can_be_purged),
        TEST(a_purge_takes_the_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
