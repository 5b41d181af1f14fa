// Queries: every construct of CQL against a few books, and how the database answers it.
#include "library.h"

#include "store/query.h"
#include "store/sqlite.h"

#include <stdio.h>

static void add_books(Tx *tx)
{
    insert(tx, &shelves, 1, "\"name\":\"Room 1\"");
    insert(tx, &authors, 1, "\"name\":\"Jane Austen\",\"born\":\"1775\"");
    insert(tx, &authors, 2, "\"name\":\"Émile Zola\",\"born\":\"1840\"");
    insert(tx, &authors, 3, "\"name\":\"Ann Other\"");
    insert(tx, &books, 1,
           "\"title\":\"Emma\",\"barcode\":\"B100\",\"status\":{\"name\":\"Available\"},"
           "\"authorId\":\"00000000-0000-4000-8000-000000000001\",\"pages\":400,\"lost\":false,"
           "\"lang\":[\"eng\"],\"note\":\"Gift of A*B 50% off\"");
    insert(tx, &books, 2,
           "\"title\":\"Sense & Sensibility\",\"barcode\":\"b101\","
           "\"status\":{\"name\":\"Checked out\"},"
           "\"authorId\":\"00000000-0000-4000-8000-000000000001\",\"pages\":50,\"lost\":false,"
           "\"lang\":[\"eng\",\"fre\"],\"dueDate\":\"2024-05-01T10:00:00Z\","
           "\"identifiers\":[{\"value\":\"978-0 14\",\"typeId\":\"isbn\"}]");
    insert(tx, &books, 3,
           "\"title\":\"Germinal\",\"barcode\":\"C200\",\"status\":{\"name\":\"available\"},"
           "\"authorId\":\"00000000-0000-4000-8000-000000000002\",\"pages\":1000,\"lost\":true,"
           "\"dueDate\":\"2024-05-02\"");
    insert(tx, &books, 4,
           "\"title\":\"Nana\",\"status\":{\"name\":\"In transit\"},"
           "\"authorId\":\"00000000-0000-4000-8000-000000000002\",\"pages\":7,\"price\":5.5,"
           "\"note\":\"by Harry X. Potter\",\"place\":\"B\"");
    insert(tx, &books, 5,
           "\"title\":\"Harry Potter and the chamber\",\"lang\":[\"en-us\"],\"place\":\"a\","
           "\"price\":5,\"identifiers\":[{\"value\":\"123 456\",\"typeId\":\"isbn\"},"
           "{\"value\":\"777\",\"typeId\":\"issn\"}]");
    insert(tx, &books, 6, "\"title\":\"École\"");
}

static Err *numbers_of(Tx *tx, const char *query, Str *out)
{
    ListRequest request = {.query = str_of(query), .limit = 100};
    Plan plan;
    Docs docs = {0};
    Buf buf = buf_new(arena_current(), 10000);

    TRY(query_plan(tx, &books, &request, &plan));
    TRY(tx_list(tx, &books, str_of(query), 100, &docs));
    buf_add_z(&buf, plan.is_exact ? "" : "docs: ");
    for (size_t i = 0; i < docs.len; i++) {
        Str id = json_str(docs.at[i], "id");
        buf_fmt(&buf, "%s%d", i ? " " : "", atoi(str_z(str_sub(id, 24, 36))));
    }
    buf_add_z(&buf, docs.len ? "" : "-");
    *out = buf_str(&buf);
    return NULL;
}

// True if the case came out as expected.
static bool case_holds(Tx *tx, const char *query, const char *expected)
{
    Str found = {0};
    Err *err = numbers_of(tx, query, &found);

    if (!err) {
        if (str_eq_z(found, expected)) {
            return true;
        }
        print_error("%s\n  expected %s\n  found    " STR_FMT "\n", query, expected, STR_ARG(found));
        return false;
    }
    bool is_expected = strncmp(expected, "error ", 6) == 0 && err->status == 400 &&
                       str_find(err->message, str_of(expected + 6), 0) >= 0;
    if (!is_expected) {
        print_error("%s\n  expected %s\n  error    %d " STR_FMT "\n", query, expected, err->status,
                    STR_ARG(err->message));
    }
    return is_expected;
}

static void every_query_of_the_data_file_finds_its_records(void **state)
{
    Library *lib = *state;
    FILE *file = fopen(TESTS_DIR "/data/store_query.t", "r");
    char query[1000], expected[1000];
    int failed = 0, cases = 0;
    Tx *tx = begin(lib, WRITE);

    add_books(tx);
    assert_non_null(file);
    while (fgets(query, sizeof query, file)) {
        query[strcspn(query, "\n")] = '\0';
        if (!*query || *query == '#') {
            continue;
        }
        assert_non_null(fgets(expected, sizeof expected, file));
        expected[strcspn(expected, "\n")] = '\0';
        cases++;
        failed += !case_holds(tx, query, expected);
    }
    fclose(file);
    assert_true(cases > 100);
    assert_int_equal(failed, 0);
}

// The same books without a single side column.
static const Field plain_fields[] = {
    {"barcode", "barcode", TEXT | NO_COLUMN},
    {"title", "title", TEXT | INDEX | NO_COLUMN},
    {"status", "status.name", TEXT | INDEX | NO_COLUMN},
    {"due_at", "dueDate", TIME | INDEX | NO_COLUMN},
    {"pages", "pages", NUMBER | INDEX | NO_COLUMN},
    {"is_lost", "lost", FLAG | INDEX | NO_COLUMN},
    {"place", "place", TEXT | KEEP_CASE | NO_COLUMN},
    {"identifiers", "identifiers", TREE | NO_COLUMN, .elements = "value typeId"},
    {"keywords", "title,barcode,identifiers[*].value", TEXT | NO_COLUMN, .cql_name = "keywords"},
    {0},
};
static const Collection plain_books = {
    .table = "plain_book", .record = &book_record, .fields = plain_fields};
static const Collection *const plain[] = {&plain_books};

static Str ids_of(Tx *tx, const Collection *of, const char *query)
{
    Docs docs = {0};
    StrList ids = {0};

    assert_ok(tx_list(tx, of, str_of(query), 100, &docs));
    for (size_t i = 0; i < docs.len; i++) {
        str_list_add(&ids, json_str(docs.at[i], "id"));
    }
    return str_join(ids.at, ids.len, S(" "));
}

// Queries that mean something else without side columns: other collections, references, order of
// numbers.
static bool needs_columns(const char *query)
{
    return strstr(query, "author") || strstr(query, "pages>6") || strstr(query, "sortby pages") ||
           strstr(query, "pages<") || strstr(query, "pages>9") || strstr(query, "note pages");
}

static void side_columns_and_documents_agree(void **state)
{
    Library *lib = *state;
    FILE *file = fopen(TESTS_DIR "/data/store_query.t", "r");
    char query[1000], expected[1000];
    int cases = 0;
    Docs all = {0};
    assert_ok(db_migrate(lib->db, plain, 1));
    Tx *tx = begin(lib, WRITE);

    add_books(tx);
    assert_ok(tx_list(tx, &books, (Str){0}, 100, &all));
    for (size_t i = 0; i < all.len; i++) {
        assert_ok(tx_insert(tx, &plain_books, json_copy(all.at[i])));
    }
    while (fgets(query, sizeof query, file)) {
        query[strcspn(query, "\n")] = '\0';
        if (!*query || *query == '#' || !fgets(expected, sizeof expected, file) ||
            strncmp(expected, "error", 5) == 0 || needs_columns(query)) {
            continue;
        }
        cases++;
        if (!str_eq(ids_of(tx, &books, query), ids_of(tx, &plain_books, query))) {
            fail_msg("%s: " STR_FMT, query, STR_ARG(ids_of(tx, &plain_books, query)));
        }
    }
    fclose(file);
    assert_true(cases > 80);
}

static void a_parent_finds_records_by_their_children(void **state)
{
    Tx *tx = begin(*state, WRITE);
    Docs found = {0};
    add_books(tx);

    assert_ok(tx_list(tx, &authors, S("book.title==nana"), 10, &found));
    assert_int_equal(found.len, 1);
    assert_str(json_str(found.at[0], "name"), "Émile Zola");
    // Each clause may be met by another child.
    assert_ok(tx_list(tx, &authors, S("book.title==nana and book.lost==true"), 10, &found));
    assert_int_equal(found.len, 1);
    assert_ok(tx_list(tx, &authors, S("book.id=*"), 10, &found));
    assert_int_equal(found.len, 2);
    assert_ok(tx_list(tx, &authors, S("cql.allRecords=1 not book.id=*"), 10, &found));
    assert_int_equal(found.len, 1);
    // Also by what only the children's documents say.
    assert_ok(tx_list(tx, &authors, S("book.note=potter or book.note=gift"), 10, &found));
    assert_int_equal(found.len, 2);
}

static void words_follow_changes(void **state)
{
    Tx *tx = begin(*state, WRITE);
    int64_t n = 0;
    Json *doc = NULL;
    add_books(tx);

    assert_ok(tx_get(tx, &books, id_of(1), &doc));
    json_set_str(doc, "title", S("Lady Susan"));
    assert_ok(tx_update(tx, &books, doc));
    assert_ok(tx_count(tx, &books, S("title=emma"), &n));
    assert_int_equal(n, 0);
    assert_ok(tx_count(tx, &books, S("title=susan"), &n));
    assert_int_equal(n, 1);
    assert_ok(tx_delete(tx, &books, id_of(1)));
    assert_ok(tx_count(tx, &books, S("title=susan"), &n));
    assert_int_equal(n, 0);
}

static void long_or_chains_are_one_list(void **state)
{
    Tx *tx = begin(*state, WRITE);
    Buf query = buf_new(arena_current(), 1 << 20);
    ListRequest request = {.limit = 10};
    Plan plan;
    int64_t n = 0;
    add_books(tx);

    buf_add_z(&query, "barcode==(b100");
    for (int i = 0; i < 5000; i++) {
        buf_fmt(&query, " or x%d", i);
    }
    buf_add_z(&query, " or c200)");
    assert_ok(tx_count(tx, &books, buf_str(&query), &n));
    assert_int_equal(n, 2);
    request.query = buf_str(&query);
    assert_ok(query_plan(tx, &books, &request, &plan));
    assert_int_equal(plan.args.len, 1);

    // Chains of different conditions do not exceed what a database can nest.
    buf_clear(&query);
    buf_add_z(&query, "barcode==b100");
    for (int i = 0; i < 3000; i++) {
        buf_fmt(&query, " or title==\"*x%d*\"", i);
    }
    assert_ok(tx_count(tx, &books, buf_str(&query), &n));
    assert_int_equal(n, 1);
}

static void conditions_of_the_caller_hold_beside_the_query(void **state)
{
    Tx *tx = begin(*state, WRITE);
    List *list = NULL;
    add_books(tx);
    ListRequest request = {
        .query = S("title=potter or barcode==b100 or note=potter"),
        .limit = 10,
        .where = "pages = $1 or pages is null",
        .args = ARGS(A_INT(400)),
    };

    assert_ok(list_open(tx, &books, &request, &list));
    assert_int_equal(list_total(list), 2);
}

static Err *take_step(const Row *row, void *context)
{
    Buf *text = context;

    buf_add(text, row_text(row, 3));
    buf_add_z(text, "; ");
    return NULL;
}

static Err *count_pk(int64_t pk, void *context)
{
    (void)pk;
    *(int *)context += 1;
    return NULL;
}

static void a_scan_beyond_its_budget_names_the_field(void **state)
{
    Tx *tx = begin(*state, WRITE);
    ListRequest request = {.query = S("note=potter"), .limit = 10};
    int found = 0;
    Scan scan = {.limit = 10, .rows_max = 6, .each = count_pk, .context = &found};
    Plan plan;
    add_books(tx);

    assert_ok(query_plan(tx, &books, &request, &plan));
    assert_ok(query_scan(tx, &plan, &scan));
    assert_int_equal(found, 1);
    scan.rows_max = 5;
    assert_err(query_scan(tx, &plan, &scan), 503,
               "The query needs an index on note: too many records would have to be read to answer "
               "it");
}

// The database's own words about how it answers a list.
static Str plan_of(Tx *tx, const char *query)
{
    ListRequest request = {.query = str_of(query), .limit = 10};
    Plan plan;
    Buf text = buf_new(arena_current(), 10000);

    assert_ok(query_plan(tx, &books, &request, &plan));
    Str sql = str_fmt("explain query plan select pk, id, doc from book%s" STR_FMT
                      " order by " STR_FMT " limit 10",
                      plan.where.at ? " where " : "", STR_ARG(plan.where), STR_ARG(plan.order_by));
    assert_ok(tx_rows(tx, sql.at, plan.args, take_step, &text));
    return buf_str(&text);
}

static void queries_on_indexed_fields_neither_scan_nor_sort(void **state)
{
    if (!test_is_embedded()) {
        skip_because("plans are read in the words of the embedded database");
    }
    static const char *const queries[] = {
        "barcode==b100",
        "barcode==(b100 or b101)",
        "id==(00000000-0000-4000-8000-000000000001 or 00000000-0000-4000-8000-000000000002)",
        "status.name==Available",
        "authorId==00000000-0000-4000-8000-000000000001",
        "title==emma*",
        "title=emma",
        "status.name==Available sortby status.name",
        "title>a sortby title",
        "title==emma* sortby title",
        "dueDate>2024-01-01 sortby dueDate",
        "author.name==\"jane austen\"",
        "shelfId==00000000-0000-4000-8000-000000000001",
        "donor==\"A friend\"",
        "donor>A",
        "donor==B*",
    };
    Tx *tx = begin(*state, WRITE);
    add_books(tx);

    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        Str plan = plan_of(tx, queries[i]);
        if (str_find(plan, S("SCAN book;"), 0) >= 0 ||
            str_find(plan, S("SCAN book USING"), 0) >= 0) {
            fail_msg("%s: " STR_FMT, queries[i], STR_ARG(plan));
        }
    }
    static const char *const sorted[] = {
        "cql.allRecords=1",
        "cql.allRecords=1 sortby title",
        "cql.allRecords=1 sortby title/sort.descending",
        "cql.allRecords=1 sortby dueDate",
        "status.name==Available",
        "status.name==Available sortby status.name",
        "authorId==00000000-0000-4000-8000-000000000001",
        "title==emma* sortby title",
    };
    for (size_t i = 0; i < sizeof sorted / sizeof *sorted; i++) {
        Str plan = plan_of(tx, sorted[i]);
        if (str_find(plan, S("TEMP B-TREE"), 0) >= 0) {
            fail_msg("%s: " STR_FMT, sorted[i], STR_ARG(plan));
        }
    }
}

// Since it was asked last.
static int prepared_again(Tx *tx)
{
    sqlite3 *handle = ((Conn *)tx->conn)->handle;
    int n = 0;

    for (sqlite3_stmt *one = NULL; (one = sqlite3_next_stmt(handle, one));) {
        n += sqlite3_stmt_status(one, SQLITE_STMTSTATUS_REPREPARE, 1);
    }
    return n;
}

static void statements_are_prepared_once_whatever_their_values(void **state)
{
    static const struct {
        const char *begin, *end;
    } queries[] = {
        {"status.name=\"out ", "\""}, // LIKE on a bound text
        {"barcode=b", ""},
        {"shelfId==00000000-0000-4000-8000-00000000000", " and lost==true"}, // a key's condition
    };
    if (!test_is_embedded()) {
        skip_because("it looks at SQLite's statements");
    }
    Tx *tx = begin(*state, WRITE);
    Docs docs;
    add_books(tx);
    (void)prepared_again(tx); // by the first use of the tables

    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        for (int n = 0; n < 3; n++) {
            Str query = str_fmt("%s%d%s", queries[i].begin, n, queries[i].end);
            assert_ok(tx_list(tx, &books, query, 10, &docs));
        }
        assert_int_equal(prepared_again(tx), 0);
    }
}

// A text that no index takes whole, different for each seed and not to be compressed.
static Str long_text(const char *begin, unsigned seed, const char *end)
{
    Buf text = buf_new(arena_current(), 100000);

    buf_add_z(&text, begin);
    for (int i = 0; i < 5000; i++) {
        seed = seed * 1103515245u + 12345u;
        buf_char(&text, (char)('a' + (seed >> 16) % 26));
    }
    buf_add_z(&text, end);
    return buf_str(&text);
}

static Str two_titles(Str common, const char *query)
{
    ptrdiff_t at = str_find(str_of(query), S("~"), 0);

    return at < 0 ? str_of(query)
                  : str_fmt("%.*s" STR_FMT "%s", (int)at, query, STR_ARG(common), query + at + 1);
}

static void a_text_longer_than_an_index_takes_is_kept_and_found(void **state)
{
    // ~ stands for what the titles of 1 and 2 have in common.
    static const struct {
        const char *query, *found;
    } cases[] = {
        {"title==\"~emma\"", "1"},      {"title==\"~nana\"", "2"},
        {"title==\"~\"", "-"},          {"title==(\"~nana\" or \"germinal\")", "2 3"},
        {"title<>\"~emma\"", "2 3"},    {"title==\"~*\"", "1 2"},
        {"title==\"~em*\"", "1"},       {"title==\"Ünter*\"", "1 2"},
        {"title==\"*emma\"", "1"},      {"title==\"*a\"", "1 2"},
        {"title<>\"*emma\"", "2 3"},    {"title==\"g*l\"", "3"},
        {"title==\"unter*nana\"", "2"}, {"title > \"~emma\"", "2"},
        {"title <= \"~emma\"", "1 3"},  {"title > germinal", "1 2"},
        {"title < unter", "3"},         {"title > \"unter 0\" and title < \"unter zzzz\"", "1 2"},
        {"donor=\"emma\"", "1"},        {"barcode==\"~1\"", "1"},
        {"barcode==\"*2\"", "2"},
    };
    Tx *tx = begin(*state, WRITE);
    Str common = long_text("Ünter ", 1, "");
    Json *doc = NULL;

    for (int i = 1; i <= 2; i++) {
        const char *word = i == 1 ? "emma" : "nana";
        insert(tx, &books, i,
               str_z(str_fmt("\"title\":\"" STR_FMT "%s\",\"donor\":\"" STR_FMT " %s\","
                             "\"barcode\":\"" STR_FMT "%d\"",
                             STR_ARG(common), word, STR_ARG(common), word, STR_ARG(common), i)));
    }
    insert(tx, &books, 3, "\"title\":\"Germinal\"");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Str found = {0};
        assert_ok(numbers_of(tx, str_z(two_titles(common, cases[i].query)), &found));
        found = str_starts(found, S("docs: ")) ? str_sub(found, 6, found.len) : found;
        if (!str_eq_z(found, cases[i].found)) {
            fail_msg("%s finds " STR_FMT, cases[i].query, STR_ARG(found));
        }
    }
    assert_ok(tx_find(tx, &books, "barcode", str_fmt(STR_FMT "2", STR_ARG(common)), &doc));
    assert_str(json_str(doc, "id"), str_z(id_of(2)));
    // As it came, and replaced by another one.
    assert_str(json_str(doc, "title"), str_z(str_fmt(STR_FMT "nana", STR_ARG(common))));
    json_set_str(doc, "title", str_fmt(STR_FMT "lourdes", STR_ARG(common)));
    assert_ok(tx_update(tx, &books, doc));
    assert_str(ids_of(tx, &books, str_z(two_titles(common, "title==\"~lourdes\""))),
               str_z(id_of(2)));
    assert_str(ids_of(tx, &books, str_z(two_titles(common, "title==\"~nana\""))), "");
}

static void unique_texts_that_differ_at_their_end_differ(void **state)
{
    Tx *tx = begin(*state, WRITE);
    Str text = long_text("", 2, "");

    insert(tx, &shelves, 1, str_z(str_fmt("\"name\":\"" STR_FMT "1\"", STR_ARG(text))));
    insert(tx, &shelves, 2, str_z(str_fmt("\"name\":\"" STR_FMT "2\"", STR_ARG(text))));
    Str message = str_fmt("lower(f_unaccent(jsonb ->> 'name'::text)) value already exists in table "
                          "shelf: " STR_FMT "2",
                          STR_ARG(text));
    Json *doc = json_of(str_z(str_fmt("{\"name\":\"" STR_FMT "2\"}", STR_ARG(text))));
    Err *err = tx_insert(tx, &shelves, doc);
    err = err ? err : tx_flush(tx);
    assert_non_null(err);
    assert_int_equal(err->status, 422);
    assert_str(err->message, str_z(message));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, library_setup, library_teardown)
        TEST(every_query_of_the_data_file_finds_its_records),
        TEST(side_columns_and_documents_agree),
        TEST(a_parent_finds_records_by_their_children),
        TEST(words_follow_changes),
        TEST(long_or_chains_are_one_list),
        TEST(a_text_longer_than_an_index_takes_is_kept_and_found),
        TEST(unique_texts_that_differ_at_their_end_differ),
        TEST(conditions_of_the_caller_hold_beside_the_query),
        TEST(a_scan_beyond_its_budget_names_the_field),
        TEST(queries_on_indexed_fields_neither_scan_nor_sort),
        TEST(statements_are_prepared_once_whatever_their_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
