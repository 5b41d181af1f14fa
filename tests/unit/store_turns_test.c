// Changes of many records in turns: who may write in between, and what is left when they fail.
#include "library.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

enum { MANY = 120, FOR_EVER = 1000000 };

static const TxOptions writer = {.kind = WRITE, .is_batch = true, .now = 1714567890123};

static int64_t count(Library *lib, const char *cql)
{
    int64_t n = 0;
    Tx *tx = begin(lib, READ);

    assert_ok(tx_count(tx, &books, str_of(cql), &n));
    commit(lib);
    return n;
}

static Str text_of(Library *lib, const Collection *of, int n)
{
    Json *doc = NULL;
    Tx *tx = begin(lib, READ);
    Err *err = tx_get(tx, of, id_of(n), &doc);

    commit(lib);
    return err || !doc ? S("") : json_text(doc);
}

static Err *take_count(const Row *row, void *context)
{
    *(int64_t *)context = row_int(row, 0);
    return NULL;
}

static int64_t notes(Library *lib)
{
    int64_t n = -1;
    Tx *tx = begin(lib, READ);

    assert_ok(tx_rows(tx, "select count(*) from octavo_turn", NO_ARGS, take_count, &n));
    commit(lib);
    return n;
}

// ---------------------------------------------------------------------------------------------
// Alone

static Err *spoilt(void)
{
    return err_text(422, "spoilt");
}

// Book 1 is changed, the others are new; the last one is spoilt if the context says so.
static Err *books_write(Tx *tx, size_t from, size_t to, void *context)
{
    const bool *is_spoilt = context;

    assert_true(to - from <= 50);
    for (size_t i = from; i < to; i++) {
        Json *doc =
            json_of(str_fmt("{\"id\":\"" STR_FMT "\",\"_version\":1,\"title\":\"Emma %zu\"}",
                            STR_ARG(id_of((int)i + 1)), i)
                        .at);
        if (*is_spoilt && i == MANY - 1) {
            return spoilt();
        }
        TRY(i == 0 ? tx_update(tx, &books, doc) : tx_insert(tx, &books, doc));
    }
    return NULL;
}

static void all_records_are_there_and_no_note_is_left(void **state)
{
    Library *lib = *state;
    bool is_spoilt = false;

    insert(begin(lib, WRITE), &books, 1, "\"title\":\"Persuasion\"");
    commit(lib);
    assert_ok(db_write_in_turns(lib->db, &writer, MANY, books_write, &is_spoilt));
    assert_int_equal(count(lib, "title=emma"), MANY);
    assert_int_equal(notes(lib), 0);
    assert_ok(db_write_in_turns(lib->db, &writer, 0, books_write, &is_spoilt));
}

static void an_error_leaves_everything_as_it_was(void **state)
{
    Library *lib = *state;
    bool is_spoilt = true;

    insert(begin(lib, WRITE), &books, 1, "\"title\":\"Persuasion\"");
    commit(lib);
    Str before = text_of(lib, &books, 1);
    assert_err(db_write_in_turns(lib->db, &writer, MANY, books_write, &is_spoilt), 422, "spoilt");
    assert_str(text_of(lib, &books, 1), before.at);
    assert_int_equal(count(lib, "cql.allRecords=1"), 1);
    assert_int_equal(count(lib, "title=emma"), 0);
    assert_int_equal(count(lib, "title=persuasion"), 1);
    assert_int_equal(notes(lib), 0);
}

// Whoever was told of the records is told that they went.
static void listeners_hear_of_what_is_taken_back(void **state)
{
    Library *lib = *state;
    bool is_spoilt = true;
    Event *events = NULL;
    size_t n = 0;
    int made = 0, gone = 0;

    store_want_topic(lib->store, "library.book");
    insert(begin(lib, WRITE), &books, 1, "\"title\":\"Persuasion\"");
    commit(lib);
    assert_err(db_write_in_turns(lib->db, &writer, MANY, books_write, &is_spoilt), 422, "spoilt");
    assert_ok(outbox_read(begin(lib, outbox_reader(lib->db)), 0, 1000, &events, &n));
    commit(lib);
    for (size_t i = 0; i < n; i++) {
        made += str_eq(events[i].type, S("CREATED"));
        gone += str_eq(events[i].type, S("DELETED"));
    }
    assert_int_equal(made, 100); // book 1, and 99 of the two turns that were stored
    assert_int_equal(gone, 99);
    assert_str(events[0].type, "CREATED");
    assert_str(events[1].type, "UPDATED");
    assert_str(events[n - 1].type, "UPDATED"); // taken back from the last to the first
}

// ---------------------------------------------------------------------------------------------
// Beside others

// The first turn makes author 1 and books 1 to 3, the others wait until somebody has written.
typedef struct {
    Library *lib;
    Err *(*other)(Tx *tx, void *context);
    _Atomic bool has_begun, has_ended;
    bool fails;
    size_t turns;
} Together;

static void *other_run(void *context)
{
    Together *together = context;

    while (!together->has_begun) {
        sched_yield();
    }
    assert_ok(tx_run(together->lib->db, &(TxOptions){.kind = WRITE}, together->other, together));
    together->has_ended = true;
    return NULL;
}

static Err *write_beside(Tx *tx, size_t from, size_t to, void *context)
{
    Together *together = context;

    (void)to;
    if (from == 0) {
        insert(tx, &authors, 1, "\"name\":\"Jane Austen\"");
        for (int i = 1; i <= 3; i++) {
            insert(tx, &books, i, "\"title\":\"Emma\"");
        }
        return NULL;
    }
    together->turns++;
    together->has_begun = true;
    if (!together->has_ended) {
        usleep(1000);
        return NULL;
    }
    return together->fails ? spoilt() : err_text(200, "enough");
}

static Err *run_beside(Library *lib, Err *(*other)(Tx *, void *), Together *together)
{
    pthread_t thread;

    *together = (Together){.lib = lib, .other = other, .fails = true};
    assert_int_equal(pthread_create(&thread, NULL, other_run, together), 0);
    Err *err = db_write_in_turns(lib->db, &writer, FOR_EVER, write_beside, together);
    pthread_join(thread, NULL);
    return err;
}

static Err *book_change(Tx *tx, void *context)
{
    Json *doc = NULL;

    (void)context;
    TRY(tx_get(tx, &books, id_of(2), &doc));
    json_set_str(doc, "note", S("lent"));
    return tx_update(tx, &books, doc);
}

static void others_write_between_the_turns_and_what_they_change_stays(void **state)
{
    Library *lib = *state;
    Together together;

    assert_err(run_beside(lib, book_change, &together), 422, "spoilt");
    assert_true(together.turns < FOR_EVER / 50 - 1);
    assert_int_equal(count(lib, "cql.allRecords=1"), 1);
    assert_int_equal(count(lib, "note==lent"), 1);
    assert_int_equal(notes(lib), 0);
}

static Err *book_of_author_add(Tx *tx, void *context)
{
    (void)context;
    insert(tx, &books, 9,
           str_fmt("\"title\":\"Sanditon\",\"authorId\":\"" STR_FMT "\"", STR_ARG(id_of(1))).at);
    return NULL;
}

static void what_others_refer_to_stays(void **state)
{
    Library *lib = *state;
    Together together;

    assert_err(run_beside(lib, book_of_author_add, &together), 422, "spoilt");
    assert_int_equal(count(lib, "title==sanditon"), 1);
    assert_int_equal(count(lib, "cql.allRecords=1"), 1);
    assert_true(text_of(lib, &authors, 1).len > 0);
}

static Err *notes_delete(Tx *tx, void *context)
{
    (void)context;
    return tx_exec(tx, "delete from octavo_turn", NO_ARGS, NULL);
}

// It was taken for dead, and all it had stored was taken back.
static void who_finds_its_notes_gone_ends(void **state)
{
    Together together;

    assert_err(run_beside(*state, notes_delete, &together), 503,
               "The change took too long and was taken back");
}

// ---------------------------------------------------------------------------------------------
// A process that dies

static Err *die_in_the_third_turn(Tx *tx, size_t from, size_t to, void *context)
{
    bool is_spoilt = false;

    (void)context;
    if (from == 100) {
        _exit(7);
    }
    return books_write(tx, from, to, &is_spoilt);
}

// The process that dies: as the parent, it was asked where the database is before it began.
static void dies(Library *lib, const StoreOptions *options)
{
    assert_ok(store_open(options, &lib->store));
    assert_ok(db_open(lib->store, S("town"), true, &lib->db));
    store_register(library, 3);
    Err *err = db_write_in_turns(lib->db, &writer, MANY, die_in_the_third_turn, NULL);
    _exit(err ? 1 : 2);
}

static void what_a_dead_process_left_is_taken_back_when_somebody_looks(void **state)
{
    Library *lib = *state;
    int status = 0;

    insert(begin(lib, WRITE), &books, 1, "\"title\":\"Persuasion\"");
    commit(lib);
    store_close(lib->store);
    StoreOptions options = test_store_options(lib->dir);
    pid_t child = fork();
    if (child == 0) {
        dies(lib, &options);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), 7);
    library_open(lib);
    assert_ok(db_migrate(lib->db, library, 3));
    assert_int_equal(count(lib, "title=emma"), 100); // two turns, stored for good
    assert_ok(db_mend(lib->db));
    assert_int_equal(count(lib, "title=emma"), 0);
    assert_int_equal(count(lib, "title=persuasion"), 1);
    assert_int_equal(notes(lib), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, library_setup, library_teardown)
        TEST(all_records_are_there_and_no_note_is_left),
        TEST(an_error_leaves_everything_as_it_was),
        TEST(listeners_hear_of_what_is_taken_back),
        TEST(others_write_between_the_turns_and_what_they_change_stays),
        TEST(what_others_refer_to_stays),
        TEST(who_finds_its_notes_gone_ends),
        TEST(what_a_dead_process_left_is_taken_back_when_somebody_looks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
