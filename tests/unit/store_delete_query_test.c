// Deleting by query: what goes, what stays, and who need not wait for it.
#include "library.h"

#include "base/meter.h"

#include <pthread.h>
#include <sched.h>

enum { MANY = 120 }; // more than one turn of the writer deletes

static const TxOptions writer = {.kind = WRITE, .is_batch = true, .now = 1714567890123};

static void add_books(Library *lib, int n)
{
    Tx *tx = begin(lib, WRITE);

    insert(tx, &authors, 1, "\"name\":\"Jane Austen\"");
    for (int i = 1; i <= n; i++) {
        Str members = str_fmt("\"title\":\"Book %d\",\"note\":\"%s\"", i, i % 2 ? "odd" : "even");
        insert(tx, &books, i, members.at);
    }
    commit(lib);
}

static int64_t count(Library *lib, const Collection *of)
{
    int64_t n = 0;
    Tx *tx = begin(lib, READ);

    assert_ok(tx_count(tx, of, S("cql.allRecords=1"), &n));
    commit(lib);
    return n;
}

static void what_matches_goes_and_the_rest_stays(void **state)
{
    Library *lib = *state;
    int64_t n = 0;

    add_books(lib, MANY);
    assert_ok(db_delete_query(lib->db, &writer, &books, S("title==\"book 7\""), &n));
    assert_int_equal(n, 1);
    assert_ok(db_delete_query(lib->db, &writer, &books, S("note==odd"), &n)); // on documents
    assert_int_equal(n, MANY / 2 - 1);
    assert_int_equal(count(lib, &books), MANY / 2);
    assert_ok(db_delete_query(lib->db, &writer, &books, S("note==odd"), &n));
    assert_int_equal(n, 0);
    assert_ok(db_delete_query(lib->db, &writer, &books, S("cql.allRecords=1 sortby title"), &n));
    assert_int_equal(n, MANY / 2);
    assert_err(db_delete_query(lib->db, &writer, &books, S("title=="), &n), 400,
               "CQL: expected index or term, got EOF, at position 8: title==");
}

// The one that must stay is the last of them all.
static void one_record_that_may_not_go_keeps_all(void **state)
{
    Library *lib = *state;
    int64_t n = 0;
    Tx *tx = begin(lib, WRITE);

    for (int i = 1; i <= MANY; i++) {
        insert(tx, &authors, i, "\"name\":\"Somebody\"");
    }
    insert(tx, &books, 1,
           str_fmt("\"title\":\"Emma\",\"authorId\":\"" STR_FMT "\"", STR_ARG(id_of(MANY))).at);
    commit(lib);
    assert_err(db_delete_query(lib->db, &writer, &authors, S("name==somebody"), &n), 400,
               "Cannot delete author.id = 00000000-0000-4000-8000-000000000120 because id is still "
               "referenced from table book.");
    assert_int_equal(n, 0);
    assert_int_equal(count(lib, &authors), MANY);
}

typedef struct {
    Library *lib;
    Err *err;
    int64_t n;
} Deleting;

static void *delete_odd(void *context)
{
    Deleting *deleting = context;

    meter_begin_alone(meter_of("deleting"));
    deleting->err =
        db_delete_query(deleting->lib->db, &writer, &books, S("note==odd"), &deleting->n);
    meter_end(clock_ns());
    return NULL;
}

static int64_t books_read(void)
{
    ArenaMark mark = arena_mark(arena_current());
    StatementFigures *figures = NULL;
    size_t n = statements_by_name(&figures);
    int64_t calls = 0;

    for (size_t i = 0; i < n; i++) {
        if (str_eq(figures[i].shape, S("select book"))) {
            calls = figures[i].calls;
        }
    }
    arena_release(arena_current(), mark);
    return calls;
}

// Somebody has the writer's turn all the while: the query is decided all the same, and what changes
// before its own turn comes counts.
static void a_query_is_decided_beside_a_writer_and_once_more_in_its_turn(void **state)
{
    Library *lib = *state;
    Deleting deleting = {.lib = lib};
    pthread_t thread;
    Json *doc = NULL;

    add_books(lib, 5);
    Tx *tx = begin(lib, WRITE);
    assert_ok(tx_get(tx, &books, id_of(3), &doc));
    json_set_str(doc, "note", S("even"));
    int64_t before = books_read();
    assert_int_equal(pthread_create(&thread, NULL, delete_odd, &deleting), 0);
    while (books_read() == before) {
        sched_yield();
    }
    assert_ok(tx_update(tx, &books, doc));
    commit(lib);
    pthread_join(thread, NULL);
    assert_null(deleting.err);
    assert_int_equal(deleting.n, 2);
    assert_int_equal(count(lib, &books), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, library_setup, library_teardown)
        TEST(what_matches_goes_and_the_rest_stays),
        TEST(one_record_that_may_not_go_keeps_all),
        TEST(a_query_is_decided_beside_a_writer_and_once_more_in_its_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
