// Loading records as they are: what is stored, and how tables are completed afterwards.
#include "library.h"

static const Collection *const loaded[] = {&books};

static Json *book_of(int n, const char *members)
{
    return json_of(str_fmt("{\"id\":\"" STR_FMT "\"%s}", STR_ARG(id_of(n)), members).at);
}

static Err *load_one(Library *lib, Json *book)
{
    Bulk *bulk = NULL;
    int64_t stored = 0, refused = 0;

    assert_ok(bulk_begin(lib->db, &(BulkOptions){0}, &bulk));
    assert_ok(bulk_put(bulk, &books, book, 1));
    return bulk_end(bulk, &stored, &refused);
}

static void load(Library *lib, int n, const char *members)
{
    assert_ok(load_one(lib, book_of(n, str_z(str_fmt(",%s", members)))));
}

static int64_t count(Tx *tx, const char *cql)
{
    int64_t n = 0;

    assert_ok(tx_count(tx, &books, str_of(cql), &n));
    return n;
}

static void a_loaded_record_keeps_version_and_metadata(void **state)
{
    Library *lib = *state;
    Json *book = NULL;

    load(lib, 1,
         "\"title\":\"Tides\",\"_version\":7,"
         "\"metadata\":{\"createdDate\":\"2001-01-01T00:00:00.000+00:00\"}");
    Tx *tx = begin(lib, READ);
    assert_ok(tx_get(tx, &books, id_of(1), &book));
    assert_int_equal(json_int(book, "_version", 0), 7);
    assert_str(json_str(book, "metadata.createdDate"), "2001-01-01T00:00:00.000+00:00");
    assert_false(json_has(book, "metadata.updatedDate"));
}

static void what_a_loaded_record_lacks_is_made(void **state)
{
    Library *lib = *state;
    Json *book = NULL;

    load(lib, 1, "\"title\":\"Tides\"");
    Tx *tx = begin(lib, READ);
    assert_ok(tx_get(tx, &books, id_of(1), &book));
    assert_int_equal(json_int(book, "_version", 0), 1);
    assert_true(json_has(book, "metadata.createdDate"));
}

static void loaded_records_are_found_like_others(void **state)
{
    Library *lib = *state;

    load(lib, 1, "\"title\":\"Tides of the harbour\",\"barcode\":\"A 1\",\"pages\":90");
    Tx *tx = begin(lib, WRITE);
    insert(tx, &books, 2, "\"title\":\"Tides and stars\",\"barcode\":\"A 2\",\"pages\":91");
    commit(lib);
    tx = begin(lib, READ);
    assert_int_equal(count(tx, "title all tides"), 2);
    assert_int_equal(count(tx, "barcode==\"a 1\""), 1);
    assert_int_equal(count(tx, "pages>/number 89"), 2);
}

static void must_be_refused(Library *lib, const char *doc)
{
    assert_non_null(load_one(lib, json_of(doc)));
}

static void a_taken_id_or_unique_key_is_refused(void **state)
{
    Library *lib = *state;

    load(lib, 1, "\"title\":\"Tides\",\"barcode\":\"A 1\"");
    must_be_refused(lib, "{\"id\":\"00000000-0000-4000-8000-000000000001\",\"title\":\"again\"}");
    must_be_refused(lib, "{\"barcode\":\"a 1\",\"title\":\"other\"}");
    load(lib, 2, "\"title\":\"Stars\",\"barcode\":\"A 2\"");
    Tx *tx = begin(lib, READ);
    assert_int_equal(count(tx, "cql.allRecords=1"), 2);
}

static int64_t index_count(Tx *tx)
{
    StrList names = {0};

    assert_ok(db_index_names(tx, "book", &names));
    return (int64_t)names.len;
}

static void a_migration_makes_dropped_indexes_again(void **state)
{
    Library *lib = *state;
    int64_t before = index_count(begin(lib, READ));

    commit(lib);
    assert_true(before > 3);
    assert_ok(db_drop_indexes(lib->db, loaded, 1, true));
    Tx *tx = begin(lib, WRITE);
    assert_int_equal(index_count(tx), 0);
    commit(lib);
    load(lib, 1, "\"title\":\"Tides\",\"barcode\":\"A 1\"");
    store_close(lib->store); // as if the loading process had ended here
    library_open(lib);
    assert_ok(db_migrate(lib->db, library, 3));
    tx = begin(lib, WRITE);
    assert_int_equal(index_count(tx), before);
    assert_int_equal(count(tx, "barcode==\"A 1\""), 1);
    commit(lib);
    must_be_refused(lib, "{\"barcode\":\"a 1\",\"title\":\"other\"}");
}

typedef struct {
    int64_t tags[8];
    size_t count;
} Refused;

static void note_refused(void *context, int64_t tag, const Err *err)
{
    Refused *refused = context;

    assert_true(err->status == 422 || err->status == 400);
    refused->tags[refused->count++] = tag;
}

static void many_records_are_written_in_order_and_taken_ones_are_told(void **state)
{
    enum { BOOKS = 2500 };
    Library *lib = *state;
    Refused told = {0};
    Bulk *bulk = NULL;
    int64_t stored = 0, refused = 0;

    assert_ok(
        bulk_begin(lib->db, &(BulkOptions){.refused = note_refused, .context = &told}, &bulk));
    for (int i = 0; i < BOOKS; i++) {
        ArenaMark mark = arena_mark(arena_current());
        assert_ok(bulk_put(bulk, &books, book_of(i == 2001 ? 7 : i, ",\"title\":\"Tides\""), i));
        arena_release(arena_current(), mark); // the record is the bulk's by now
    }
    assert_non_null(bulk_put(bulk, &books, json_of("{\"id\":\"no id\"}"), BOOKS));
    assert_ok(bulk_end(bulk, &stored, &refused));
    assert_int_equal(stored, BOOKS - 1);
    assert_int_equal(refused, 1);
    assert_int_equal(told.count, 1);
    assert_int_equal(told.tags[0], 2001);
    begin(lib, READ);
    assert_int_equal(count(lib->tx, "title all tides"), BOOKS - 1);
}

static void a_taken_record_ends_a_loading_that_expects_none(void **state)
{
    Library *lib = *state;
    Bulk *bulk = NULL;
    int64_t stored = 0, refused = 0;

    assert_ok(bulk_begin(lib->db, &(BulkOptions){0}, &bulk));
    assert_ok(bulk_put(bulk, &books, book_of(1, ",\"title\":\"Tides\""), 1));
    assert_ok(bulk_put(bulk, &books, book_of(1, ",\"title\":\"Tides\""), 2));
    assert_non_null(bulk_end(bulk, &stored, &refused));
    begin(lib, READ);
    assert_int_equal(count(lib->tx, "cql.allRecords=1"), 0);
}

static void keys_go_on_refusing_while_other_indexes_are_dropped(void **state)
{
    Library *lib = *state;

    assert_ok(db_drop_indexes(lib->db, loaded, 1, false));
    load(lib, 1, "\"title\":\"Tides\",\"barcode\":\"A 1\"");
    must_be_refused(lib, "{\"barcode\":\"a 1\",\"title\":\"other\"}");
    must_be_refused(lib, json_text(book_of(1, ",\"title\":\"Tides\"")).at);
    assert_ok(db_migrate(lib->db, library, 3));
    begin(lib, READ);
    assert_int_equal(count(lib->tx, "barcode==\"A 1\""), 1);
}

// Its savepoint is larger than what SQLite keeps in memory.
static void a_statement_may_change_megabytes(void **state)
{
    enum { BOOKS = 2000 };
    Library *lib = *state;
    char note[1001];
    int64_t changed = 0, stored = 0, refused = 0;
    Bulk *bulk = NULL;

    memset(note, 'x', 1000);
    note[1000] = '\0';
    assert_ok(bulk_begin(lib->db, &(BulkOptions){0}, &bulk));
    for (int i = 0; i < BOOKS; i++) {
        ArenaMark mark = arena_mark(arena_current());
        Str members = str_fmt(",\"title\":\"Tides\",\"note\":\"%s\"", note);
        assert_ok(bulk_put(bulk, &books, book_of(i, str_z(members)), i));
        arena_release(arena_current(), mark);
    }
    assert_ok(bulk_end(bulk, &stored, &refused));
    Tx *tx = begin(lib, WRITE);
    assert_ok(tx_exec(tx, "update book set version = 9, place = 'a place with a long name'",
                      NO_ARGS, &changed));
    assert_int_equal(changed, BOOKS);
    commit(lib);
    tx = begin(lib, READ);
    assert_int_equal(count(tx, "place==\"a place with a long name\""), BOOKS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, library_setup, library_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_loaded_record_keeps_version_and_metadata),
        TEST(what_a_loaded_record_lacks_is_made),
        TEST(loaded_records_are_found_like_others),
        TEST(a_taken_id_or_unique_key_is_refused),
        TEST(a_migration_makes_dropped_indexes_again),
        TEST(many_records_are_written_in_order_and_taken_ones_are_told),
        TEST(a_taken_record_ends_a_loading_that_expects_none),
        TEST(keys_go_on_refusing_while_other_indexes_are_dropped),
        TEST(a_statement_may_change_megabytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
