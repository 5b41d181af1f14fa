// Word tables keep our tokens exactly, forget old words, and answer phrases, all, any and prefixes;
// the spool sorts more than fits in its cache.
#include "test.h"

#include "store_tx_world.h"

static const Field book_fields[] = {{"title", "title", TEXT | WORDS},
                                    {"year", "year", NUMBER},
                                    {"names", "names", TEXT | WORDS},
                                    {0}};
static const Collection books = {.table = "book", .fields = book_fields};

static Err *take_list(const Row *row, void *context)
{
    str_list_add(context, str_copy(arena_current(), row_text(row, 0)));
    return NULL;
}

static Tx *books_begin(World *world)
{
    static const char *const columns[] = {"title", "names"};
    Tx *tx = NULL;

    assert_ok(tx_begin(world->db, &(TxOptions){.kind = WRITE}, &tx));
    Str make =
        str_fmt("create table if not exists book(pk %s, id text)", tx_dialect(tx)->serial_key);

    assert_ok(tx_exec(tx, make.at, NO_ARGS, NULL));
    assert_ok(words_make(tx, &books, columns, 2));
    assert_ok(words_make(tx, &books, columns, 2)); // again does nothing
    return tx;
}

static void book_add(Tx *tx, const char *id, const char *title, const char *names)
{
    Str words[] = {str_of(title), str_of(names)};

    assert_ok(tx_exec(tx, "insert into book(id) values ($1)", ARGS(A_TEXT(str_of(id))), NULL));
    assert_ok(words_write(tx, &books, 0, NULL, words, 2));
}

// Ids of the matching books, joined by blanks.
static Str found(Tx *tx, const char *column, int operator_, const char *words)
{
    Buf sql = buf_new(arena_current(), 4096);
    StrList ids = {0}, list = {0};
    Str rest = str_of(words), word;
    bool is_prefix[16] = {0};

    while (str_next(&rest, ' ', &word)) {
        is_prefix[list.len] = str_ends(word, S("*"));
        str_list_add(&list, str_sub(word, 0, word.len - is_prefix[list.len]));
    }
    buf_add_z(&sql, "select id from book where ");
    tx_dialect(tx)->words(&sql, "book", column, 1, false);
    buf_add_z(&sql, " order by id");
    Str query = tx_dialect(tx)->words_query(column, operator_, list.at, is_prefix, list.len);
    assert_ok(sql_rows(tx, str_z(buf_str(&sql)), ARGS(A_TEXT(query)), take_list, &ids));
    return str_join(ids.at, ids.len, S(" "));
}

static void words_are_found_by_phrase_all_any_and_prefix(void **state)
{
    Tx *tx = books_begin(*state);

    book_add(tx, "a", "the long way to a small angry planet", "chambers becky");
    book_add(tx, "b", "a small place", "kincaid jamaica");
    book_add(tx, "c", "planet of the small", "");
    assert_str(found(tx, "title", WORDS_PHRASE, "small angry"), "a");
    assert_str(found(tx, "title", WORDS_PHRASE, "angry small"), "");
    assert_str(found(tx, "title", WORDS_ALL, "planet small"), "a c");
    assert_str(found(tx, "title", WORDS_ANY, "place angry"), "a b");
    assert_str(found(tx, "title", WORDS_PHRASE, "small pl*"), "b");
    assert_str(found(tx, "title", WORDS_ALL, "pla* sm*"), "a b c");
    assert_str(found(tx, "names", WORDS_ALL, "small"), "");
    assert_str(found(tx, "names", WORDS_ALL, "jamaica"), "b");
    tx_rollback(tx);
}

static void changed_words_replace_the_old_ones(void **state)
{
    Tx *tx = books_begin(*state);
    Str old[] = {S("first title"), S("")}, now[] = {S("second title"), S("somebody")};

    book_add(tx, "a", "first title", "");
    assert_ok(words_write(tx, &books, 1, old, now, 2));
    assert_str(found(tx, "title", WORDS_ALL, "first"), "");
    assert_str(found(tx, "title", WORDS_ALL, "second title"), "a");
    assert_str(found(tx, "names", WORDS_ALL, "somebody"), "a");
    int before = tx_cost(tx).statements;
    assert_ok(words_write(tx, &books, 1, now, now, 2)); // the same words: no statement
    assert_int_equal(tx_cost(tx).statements, before);
    assert_ok(words_write(tx, &books, 1, now, NULL, 2));
    assert_str(found(tx, "title", WORDS_ALL, "title"), "");
    assert_ok(words_drop(tx, "book"));
    assert_ok(tx_commit(tx));
}

static void query_words_with_operators_of_fts_are_plain_words(void **state)
{
    Tx *tx = books_begin(*state);

    book_add(tx, "a", "not and or near", "x");
    assert_str(found(tx, "title", WORDS_PHRASE, "not and or near"), "a");
    assert_str(found(tx, "title", WORDS_ALL, "near or"), "a");
    assert_str(found(tx, "title", WORDS_ANY, "title names"), "");
    tx_rollback(tx);
}

static size_t utf8_write(char *to, uint32_t c)
{
    if (c < 0x800) {
        to[0] = (char)(0xc0 | c >> 6);
        to[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        to[0] = (char)(0xe0 | c >> 12);
        to[1] = (char)(0x80 | (c >> 6 & 0x3f));
        to[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    to[0] = (char)(0xf0 | c >> 18);
    to[1] = (char)(0x80 | (c >> 12 & 0x3f));
    to[2] = (char)(0x80 | (c >> 6 & 0x3f));
    to[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

// Characters in order; beyond the first plane every seventh.
static uint32_t next_character(uint32_t c)
{
    c += c < 0x10000 ? 1 : 7;
    return c >= 0xd800 && c < 0xe000 ? 0xe000 : c;
}

typedef struct {
    uint32_t c;
    size_t count;
} Expected;

static Err *compare_term(const Row *row, void *context)
{
    Expected *expected = context;
    Str term = row_text(row, 0);
    char want[8] = "a";

    size_t len = 1 + utf8_write(want + 1, expected->c);
    want[len++] = 'b';
    if (!str_eq(term, (Str){want, len})) {
        fail_msg("U+%04X became another token", expected->c);
    }
    expected->c = next_character(expected->c);
    expected->count++;
    return NULL;
}

static void every_character_stays_inside_its_token(void **state)
{
    if (!test_is_embedded()) {
        skip_because("tokens are read in the words of the embedded database");
    }
    Tx *tx = books_begin(*state);
    Expected expected = {.c = 0x80};
    size_t count = 0;

    for (uint32_t c = 0x80; c <= 0x10ffff;) {
        Buf text = buf_new(arena_current(), 65536);
        for (int i = 0; i < 1000 && c <= 0x10ffff; i++, c = next_character(c)) {
            char word[8] = "a";
            size_t len = 1 + utf8_write(word + 1, c);
            word[len++] = 'b';
            word[len++] = ' ';
            buf_add(&text, (Str){word, len});
            count++;
        }
        Str words[] = {buf_str(&text), S("")};
        assert_ok(words_write(tx, &books, c, NULL, words, 2));
    }
    assert_ok(
        tx_exec(tx, "create virtual table terms using fts5vocab(book_words, row)", NO_ARGS, NULL));
    assert_ok(
        tx_rows(tx, "select term from terms order by term", NO_ARGS, compare_term, &expected));
    assert_int_equal(expected.count, count);
    tx_rollback(tx);
}

typedef struct {
    int64_t pks[64];
    size_t n;
} Taken;

static Err *take_pk(int64_t pk, void *context)
{
    Taken *taken = context;

    if (taken->n < 64) {
        taken->pks[taken->n++] = pk;
    }
    return NULL;
}

static void the_spool_sorts_nulls_as_postgresql_does(void **state)
{
    Spool *spool = NULL;
    Taken up = {0}, down = {0};

    (void)state;
    assert_ok(spool_new(&spool));
    assert_ok(spool_add(spool, S("b"), false, 1));
    assert_ok(spool_add(spool, S(""), true, 2));
    assert_ok(spool_add(spool, S("a\0z"), false, 3));
    assert_ok(spool_add(spool, S("a"), false, 4));
    assert_ok(spool_add(spool, S("b"), false, 5));
    assert_ok(spool_add(spool, S(""), false, 6));
    assert_ok(spool_read(spool, false, 0, 100, take_pk, &up));
    assert_memory_equal(up.pks, ((int64_t[]){6, 4, 3, 1, 5, 2}), 6 * sizeof(int64_t));
    assert_ok(spool_read(spool, true, 1, 3, take_pk, &down));
    assert_int_equal(down.n, 3);
    assert_memory_equal(down.pks, ((int64_t[]){1, 5, 3}), 3 * sizeof(int64_t));
    spool_free(spool);
}

static void the_spool_sorts_many(void **state)
{
    Spool *spool = NULL;
    Taken taken = {0};

    (void)state;
    assert_ok(spool_new(&spool));
    for (int64_t i = 0; i < 100000; i++) {
        char key[40];
        int len =
            snprintf(key, sizeof key, "%08lld and some more text", (long long)(i * 7919 % 100003));
        assert_ok(spool_add(spool, (Str){key, (size_t)len}, false, i));
    }
    assert_ok(spool_read(spool, false, 99990, 5, take_pk, &taken));
    assert_int_equal(taken.n, 5);
    assert_true(taken.pks[0] * 7919 % 100003 < taken.pks[1] * 7919 % 100003);
    spool_free(spool);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(words_are_found_by_phrase_all_any_and_prefix),
        TEST(changed_words_replace_the_old_ones),
        TEST(query_words_with_operators_of_fts_are_plain_words),
        TEST(every_character_stays_inside_its_token),
        TEST(the_spool_sorts_nulls_as_postgresql_does),
        TEST(the_spool_sorts_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
