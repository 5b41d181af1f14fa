// Storing records: what the server sets, what it refuses and in which words, what it costs.
#include "library.h"

static Json *stored(Tx *tx, const Collection *of, int n)
{
    Json *doc = NULL;

    assert_ok(tx_get(tx, of, id_of(n), &doc));
    return doc;
}

static void a_record_without_an_id_gets_one(void **state)
{
    Tx *tx = begin(*state, WRITE);
    Json *doc = json_of("{\"name\":\"Room 1\"}");

    assert_ok(tx_insert(tx, &shelves, doc));
    assert_true(uuid_is_valid(json_str(doc, "id")));
}

static void ids_are_stored_in_lower_case_and_found_in_any(void **state)
{
    Tx *tx = begin(*state, WRITE);
    Json *doc = json_of("{\"id\":\"ABCDEF00-0000-4000-8000-000000000001\",\"name\":\"A\"}");

    assert_ok(tx_insert(tx, &authors, doc));
    assert_str(json_str(doc, "id"), "abcdef00-0000-4000-8000-000000000001");
    assert_ok(tx_get(tx, &authors, S("ABCDEF00-0000-4000-8000-000000000001"), &doc));
    assert_non_null(doc);
}

static void an_id_that_is_no_uuid_is_refused(void **state)
{
    Tx *tx = begin(*state, WRITE);
    Err *err = tx_insert(tx, &authors, json_of("{\"id\":\"1\",\"name\":\"A\"}"));

    assert_non_null(err);
    assert_int_equal(err->status, 422);
}

static void metadata_say_who_and_when(void **state)
{
    Library *lib = *state;
    Tx *tx = begin(lib, WRITE);
    insert(tx, &shelves, 1, "\"name\":\"A\",\"metadata\":{\"createdDate\":\"1999-01-01\"}");
    commit(lib);

    TxOptions later = {.kind = WRITE, .now = 1714567890123 + 60000};
    assert_ok(tx_begin(lib->db, &later, &lib->tx));
    Json *doc = stored(lib->tx, &shelves, 1);
    assert_str(json_str(doc, "metadata.createdDate"), "2024-05-01T12:51:30.123+00:00");
    assert_str(json_str(doc, "metadata.updatedByUserId"), "operator");
    json_remove(doc, "metadata");
    assert_ok(tx_update(lib->tx, &shelves, doc));
    doc = stored(lib->tx, &shelves, 1);
    assert_str(json_str(doc, "metadata.createdDate"), "2024-05-01T12:51:30.123+00:00");
    assert_str(json_str(doc, "metadata.createdByUserId"), "operator");
    assert_str(json_str(doc, "metadata.updatedDate"), "2024-05-01T12:52:30.123+00:00");
    assert_false(json_has(doc, "metadata.updatedByUserId"));
}

static void an_unknown_id_is_told_in_the_words_of_the_collection(void **state)
{
    Tx *tx = begin(*state, WRITE);

    assert_err(tx_update(tx, &books,
                         json_of("{\"id\":\"00000000-0000-4000-8000-000000000009\","
                                 "\"title\":\"x\"}")),
               404, "Book 00000000-0000-4000-8000-000000000009 not found");
    assert_err(tx_delete(tx, &shelves, id_of(9)), 404, "Not found");
}

static void the_version_rises_with_each_change(void **state)
{
    Tx *tx = begin(*state, WRITE);
    insert(tx, &books, 1, "\"title\":\"Emma\",\"_version\":17");
    Json *doc = stored(tx, &books, 1);

    assert_int_equal(json_int(doc, "_version", 0), 1);
    assert_ok(tx_update(tx, &books, doc));
    assert_int_equal(json_int(stored(tx, &books, 1), "_version", 0), 2);
    const Json *old = stored(tx, &books, 1);
    assert_ok(tx_change(tx, &books, old, json_copy(old)));
    assert_int_equal(json_int(stored(tx, &books, 1), "_version", 0), 3);
}

static void an_outdated_version_is_a_conflict(void **state)
{
    Tx *tx = begin(*state, WRITE);
    insert(tx, &books, 1, "\"title\":\"Emma\"");
    Json *doc = stored(tx, &books, 1);
    assert_ok(tx_update(tx, &books, json_copy(doc)));

    assert_err(tx_update(tx, &books, json_copy(doc)), 409,
               "ERROR: Cannot update record 00000000-0000-4000-8000-000000000001 because it has "
               "been changed (optimistic locking): Stored _version is 2, _version of request is 1 "
               "(23F09)");
    json_set_int(doc, "_version", -1);
    assert_err(tx_update(tx, &books, doc), 409,
               "ERROR: Cannot update record 00000000-0000-4000-8000-000000000001 because it has "
               "been changed (optimistic locking): Stored _version is 2, _version of request is "
               "<NULL> (23F09)");
}

static void a_taken_unique_value_is_refused_ignoring_case_and_accents(void **state)
{
    Tx *tx = begin(*state, WRITE);
    insert(tx, &shelves, 1, "\"name\":\"École\"");
    Err *err = tx_insert(tx, &shelves, json_of("{\"name\":\"ECOLE\"}"));

    err = err ? err : tx_flush(tx);
    assert_non_null(err);
    assert_int_equal(err->status, 422);
    assert_str(err->message, "lower(f_unaccent(jsonb ->> 'name'::text)) value already exists in "
                             "table shelf: ecole");
    assert_str(err->params[0].key, "lower(f_unaccent(jsonb ->> 'name'::text))");
    assert_str(err->params[0].value, "ecole");
}

static void absent_values_never_collide(void **state)
{
    Tx *tx = begin(*state, WRITE);

    insert(tx, &books, 1, "\"title\":\"Emma\"");
    insert(tx, &books, 2, "\"title\":\"Emma\"");
}

static void a_taken_id_is_refused(void **state)
{
    Tx *tx = begin(*state, WRITE);
    insert(tx, &authors, 1, "\"name\":\"A\"");
    Err *err = tx_insert(
        tx, &authors, json_of("{\"id\":\"00000000-0000-4000-8000-000000000001\",\"name\":\"B\"}"));

    err = err ? err : tx_flush(tx);
    assert_non_null(err);
    assert_str(err->message,
               "id value already exists in table author: 00000000-0000-4000-8000-000000000001");
}

static void a_key_over_some_records_binds_only_them(void **state)
{
    Tx *tx = begin(*state, WRITE);
    insert(tx, &shelves, 1, "\"name\":\"A\"");
    const char *lost = "{\"title\":\"x\",\"position\":1,\"lost\":true,"
                       "\"shelfId\":\"00000000-0000-4000-8000-000000000001\"}";
    const char *there = "{\"title\":\"x\",\"position\":1,\"lost\":false,"
                        "\"shelfId\":\"00000000-0000-4000-8000-000000000001\"}";
    assert_ok(tx_insert(tx, &books, json_of(lost)));
    assert_ok(tx_insert(tx, &books, json_of(there)));
    assert_ok(tx_insert(tx, &books, json_of(lost)));
    Err *err = tx_insert(tx, &books, json_of(there));

    err = err ? err : tx_flush(tx);
    assert_non_null(err);
    assert_str(err->message,
               "lower(f_unaccent(jsonb ->> 'shelfId'::text)), "
               "lower(f_unaccent(jsonb ->> 'position'::text)) value already exists in "
               "table book: 00000000-0000-4000-8000-000000000001, 1");
}

// The database may say so later than the call.
static Err *refusal(Library *lib, Err *err)
{
    err = err ? err : tx_flush(lib->tx);
    tx_rollback(lib->tx);
    lib->tx = NULL;
    return err;
}

static void a_reference_to_nothing_is_refused(void **state)
{
    Library *lib = *state;
    Tx *tx = begin(lib, WRITE);
    Err *err =
        refusal(lib, tx_insert(tx, &books,
                               json_of("{\"title\":\"Emma\","
                                       "\"authorId\":\"00000000-0000-4000-8000-00000000000A\"}")));

    assert_non_null(err);
    assert_int_equal(err->status, 422);
    assert_str(err->message, "Cannot set book.authorid = 00000000-0000-4000-8000-00000000000a "
                             "because it does not exist in author.id.");
    assert_str(err->params[0].key, "book.authorid");
    assert_str(err->params[0].value, "00000000-0000-4000-8000-00000000000a");
}

static void a_change_to_a_reference_to_nothing_is_refused(void **state)
{
    Library *lib = *state;
    Tx *tx = begin(lib, WRITE);
    insert(tx, &books, 1, "\"title\":\"Emma\"");
    commit(lib);

    tx = begin(lib, WRITE);
    Json *book = stored(tx, &books, 1);
    json_set_str(book, "shelfId", id_of(5));
    Err *err = refusal(lib, tx_update(tx, &books, book));
    assert_non_null(err);
    assert_int_equal(err->status, 422);
    assert_str(err->message, "Cannot set book.shelfid = 00000000-0000-4000-8000-000000000005 "
                             "because it does not exist in shelf.id.");
    assert_false(json_has(stored(begin(lib, READ), &books, 1), "shelfId"));
}

static void a_record_may_refer_to_one_of_its_own_transaction(void **state)
{
    Library *lib = *state;
    Tx *tx = begin(lib, WRITE);

    insert(tx, &shelves, 5, "\"name\":\"A\"");
    insert(tx, &books, 1,
           "\"title\":\"Emma\",\"shelfId\":\"00000000-0000-4000-8000-000000000005\"");
    commit(lib);
    assert_non_null(stored(begin(lib, READ), &books, 1));
}

static void what_is_referenced_stays(void **state)
{
    Library *lib = *state;
    Tx *tx = begin(lib, WRITE);
    insert(tx, &authors, 5, "\"name\":\"Austen\"");
    insert(tx, &books, 1,
           "\"title\":\"Emma\",\"authorId\":\"00000000-0000-4000-8000-000000000005\"");
    commit(lib);

    assert_err(refusal(lib, tx_delete(begin(lib, WRITE), &authors, id_of(5))), 400,
               "Cannot delete author.id = 00000000-0000-4000-8000-000000000005 because id is still "
               "referenced from table book.");
    tx = begin(lib, WRITE);
    assert_non_null(stored(tx, &authors, 5));
    assert_ok(tx_delete(tx, &books, id_of(1)));
    assert_ok(tx_delete(tx, &authors, id_of(5)));
    assert_null(stored(tx, &authors, 5));
}

static void an_insert_without_references_is_one_statement(void **state)
{
    Tx *tx = begin(*state, WRITE);
    insert(tx, &shelves, 1, "\"name\":\"A\"");

    assert_int_equal(tx_cost(tx).statements, 1);
}

static void references_of_a_record_cost_one_statement_at_most(void **state)
{
    Library *lib = *state;
    Tx *tx = begin(lib, WRITE);
    insert(tx, &shelves, 1, "\"name\":\"A\"");
    insert(tx, &authors, 1, "\"name\":\"A\"");
    commit(lib);
    tx = begin(lib, READ);
    const Json *shelf = NULL;
    assert_ok(tx_ref(tx, &shelves, id_of(1), &shelf));
    commit(lib);

    tx = begin(lib, WRITE);
    insert(tx, &books, 1,
           "\"title\":\"Emma\",\"authorId\":\"00000000-0000-4000-8000-000000000001\","
           "\"shelfId\":\"00000000-0000-4000-8000-000000000001\"");
    // The author, the row, its words; the shelf is known. Foreign keys cost none at all.
    assert_int_equal(tx_cost(tx).statements, db_keeps_references(lib->db) ? 2 : 3);
}

static void a_change_is_one_statement(void **state)
{
    Library *lib = *state;
    Tx *tx = begin(lib, WRITE);
    insert(tx, &books, 1, "\"title\":\"Emma\",\"barcode\":\"b1\"");
    commit(lib);

    tx = begin(lib, WRITE);
    Json *book = NULL;
    assert_ok(tx_find(tx, &books, "barcode", S("B1"), &book));
    assert_int_equal(tx_cost(tx).statements, 1);
    Json *changed = json_copy(book);
    json_set_str(changed, "status.name", S("Checked out"));
    assert_ok(tx_change(tx, &books, book, changed));
    assert_int_equal(tx_cost(tx).statements, 2);
    assert_ok(tx_update(tx, &books, json_copy(changed)));
    assert_int_equal(tx_cost(tx).statements, 3);
    Json *found = NULL;
    assert_ok(tx_find(tx, &books, "status", S("checked OUT"), &found));
    assert_non_null(found);
}

static void side_columns_follow_the_record(void **state)
{
    Tx *tx = begin(*state, WRITE);
    Docs found = {0};
    insert(tx, &books, 1,
           "\"title\":\"Emma\",\"dueDate\":\"2024-05-01T12:00:00+02:00\","
           "\"lost\":true,\"pages\":200");

    assert_ok(tx_where(tx, &books, "due_at = $1 and is_lost = 1 and pages = 200",
                       ARGS(A_INT(1714557600000)), &found));
    assert_int_equal(found.len, 1);
    Json *doc = stored(tx, &books, 1);
    json_remove(doc, "dueDate");
    assert_ok(tx_update(tx, &books, doc));
    int64_t n = 0;
    assert_ok(tx_count_where(tx, &books, "due_at is null", NO_ARGS, &n));
    assert_int_equal(n, 1);
}

static void many_records_come_in_one_statement(void **state)
{
    Library *lib = *state;
    Tx *tx = begin(lib, WRITE);
    for (int i = 0; i < 20; i++) {
        insert(tx, &authors, i, "\"name\":\"A\"");
    }
    commit(lib);
    tx = begin(lib, READ);
    Str ids[] = {id_of(3), id_of(7), id_of(3), id_of(99)};
    Docs found = {0};

    assert_ok(tx_get_many(tx, &authors, ids, 4, &found));
    assert_int_equal(found.len, 2);
    assert_int_equal(tx_cost(tx).statements, 1);
}

// Some of them are known from before, so that they do not come by the statement.
static void many_records_are_found_by_their_ids(void **state)
{
    Library *lib = *state;
    Json *books_of[] = {NULL, json_of("{}"), json_object(), json_object(), json_object()};
    Docs found = {0}, naming = {books_of, 5};
    Json *author = NULL;
    Tx *tx = begin(lib, WRITE);
    for (int i = 0; i < 20; i++) {
        insert(tx, &authors, i, "\"name\":\"A\"");
    }
    commit(lib);
    tx = begin(lib, READ);
    json_set_str(books_of[2], "authorId", str_upper(id_of(7)));
    json_set_str(books_of[3], "authorId", S("no id"));
    json_set_str(books_of[4], "authorId", id_of(3));

    assert_ok(tx_get(tx, &authors, id_of(7), &author));
    assert_ok(tx_get_named(tx, &authors, &naming, "authorId", &found));
    assert_int_equal(found.len, 2);
    assert_int_equal(tx_cost(tx).statements, 2);
    assert_str(json_str(docs_find(&found, id_of(7)), "id"), str_z(id_of(7)));
    assert_str(json_str(docs_find(&found, str_upper(id_of(3))), "id"), str_z(id_of(3)));
    assert_null(docs_find(&found, id_of(4)));
    assert_null(docs_find(&found, (Str){0}));
    assert_ok(tx_get_named(tx, &authors, &(Docs){0}, "authorId", &found));
    assert_null(docs_find(&found, id_of(7)));
}

static void cached_records_cost_no_statement(void **state)
{
    Library *lib = *state;
    Tx *tx = begin(lib, WRITE);
    insert(tx, &shelves, 1, "\"name\":\"A\"");
    commit(lib);
    const Json *shelf = NULL;
    tx = begin(lib, READ);
    assert_ok(tx_ref(tx, &shelves, id_of(1), &shelf));
    assert_int_equal(tx_cost(tx).statements, 1);
    commit(lib);

    tx = begin(lib, WRITE);
    assert_ok(tx_ref(tx, &shelves, id_of(1), &shelf));
    assert_int_equal(tx_cost(tx).statements, 0);
    Json *own = NULL;
    assert_ok(tx_get(tx, &shelves, id_of(1), &own));
    json_set_str(own, "name", S("B"));
    assert_ok(tx_update(tx, &shelves, own));
    // A transaction sees its own write, others see it after the commit.
    assert_ok(tx_ref(tx, &shelves, id_of(1), &shelf));
    assert_str(json_str(shelf, "name"), "B");
    commit(lib);
    tx = begin(lib, READ);
    assert_ok(tx_ref(tx, &shelves, id_of(1), &shelf));
    assert_str(json_str(shelf, "name"), "B");
}

static void a_rolled_back_change_is_in_no_cache(void **state)
{
    Library *lib = *state;
    Tx *tx = begin(lib, WRITE);
    insert(tx, &shelves, 1, "\"name\":\"A\"");
    tx_rollback(tx);
    lib->tx = NULL;
    const Json *shelf = NULL;

    tx = begin(lib, READ);
    assert_ok(tx_ref(tx, &shelves, id_of(1), &shelf));
    assert_null(shelf);
}

static Err *count_shelves(Tx *tx, void **value)
{
    int64_t *n = NEW(int64_t);

    TRY(tx_count_where(tx, &shelves, "1 = 1", NO_ARGS, n));
    *value = n;
    return NULL;
}

static const Collection *const from_shelves[] = {&shelves, NULL};
static const Derived shelf_count = {"shelf count", from_shelves, count_shelves};

static int64_t count_derived(Tx *tx)
{
    const void *value = NULL;

    assert_ok(tx_derived(tx, &shelf_count, &value));
    return *(const int64_t *)value;
}

static void derived_values_follow_their_sources(void **state)
{
    Library *lib = *state;

    assert_int_equal(count_derived(begin(lib, READ)), 0);
    commit(lib);
    Tx *tx = begin(lib, WRITE);
    assert_int_equal(count_derived(tx), 0);
    assert_int_equal(tx_cost(tx).statements, 0);
    insert(tx, &shelves, 1, "\"name\":\"A\"");
    assert_int_equal(count_derived(tx), 1);
    insert(tx, &shelves, 2, "\"name\":\"B\"");
    assert_int_equal(count_derived(tx), 2);
    commit(lib);
    assert_int_equal(count_derived(begin(lib, READ)), 2);
}

static void events_are_written_only_if_somebody_wants_them(void **state)
{
    Library *lib = *state;
    Event *events = NULL;
    size_t n = 0;
    Tx *tx = begin(lib, WRITE);
    insert(tx, &books, 1, "\"title\":\"Emma\"");
    assert_int_equal(tx_cost(tx).events, 0);
    commit(lib);

    store_want_topic(lib->store, "library.book");
    tx = begin(lib, WRITE);
    insert(tx, &books, 2, "\"title\":\"Persuasion\"");
    insert(tx, &books, 3, "\"title\":\"Sanditon\"");
    int before = tx_cost(tx).statements;
    assert_ok(tx_delete(tx, &books, id_of(3)));
    assert_int_equal(tx_cost(tx).events, 3);
    assert_true(tx_cost(tx).statements - before <= 3);
    commit(lib);

    tx = begin(lib, READ);
    assert_ok(outbox_read(tx, 0, 10, &events, &n));
    assert_int_equal(n, 3);
    assert_str(events[0].topic, "library.book");
    assert_str(events[0].type, "CREATED");
    assert_str(events[2].type, "DELETED");
    assert_str(events[2].key, "00000000-0000-4000-8000-000000000003");
    Json *body = json_of(str_z(events[0].body));
    assert_str(json_str(body, "data.new.title"), "Persuasion");
    assert_str(json_str(body, "tenant"), "town");
    assert_false(json_has(body, "data.old"));
    commit(lib);

    tx = begin(lib, WRITE);
    assert_ok(outbox_delete(tx, events[2].seq));
    assert_ok(tx_emit(tx, "library.book", "TOUCHED", S("k"), NULL, NULL));
    commit(lib);
    // A relay that goes on behind the last event it saw misses nothing.
    int64_t last = events[2].seq;
    assert_ok(outbox_read(begin(lib, READ), last, 10, &events, &n));
    assert_int_equal(n, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, library_setup, library_teardown)
        TEST(a_record_without_an_id_gets_one),
        TEST(ids_are_stored_in_lower_case_and_found_in_any),
        TEST(an_id_that_is_no_uuid_is_refused),
        TEST(metadata_say_who_and_when),
        TEST(an_unknown_id_is_told_in_the_words_of_the_collection),
        TEST(the_version_rises_with_each_change),
        TEST(an_outdated_version_is_a_conflict),
        TEST(a_taken_unique_value_is_refused_ignoring_case_and_accents),
        TEST(absent_values_never_collide),
        TEST(a_taken_id_is_refused),
        TEST(a_key_over_some_records_binds_only_them),
        TEST(a_reference_to_nothing_is_refused),
        TEST(a_change_to_a_reference_to_nothing_is_refused),
        TEST(a_record_may_refer_to_one_of_its_own_transaction),
        TEST(what_is_referenced_stays),
        TEST(an_insert_without_references_is_one_statement),
        TEST(references_of_a_record_cost_one_statement_at_most),
        TEST(a_change_is_one_statement),
        TEST(side_columns_follow_the_record),
        TEST(many_records_come_in_one_statement),
        TEST(many_records_are_found_by_their_ids),
        TEST(cached_records_cost_no_statement),
        TEST(a_rolled_back_change_is_in_no_cache),
        TEST(derived_values_follow_their_sources),
        TEST(events_are_written_only_if_somebody_wants_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
