// Lists: paging, order, totals, and that their cost grows with the answer and not with the table.
#include "library.h"

#include "store/query.h"
#include "store/tx.h"

static void add_many(Library *lib, int n)
{
    for (int from = 0; from < n; from += 1000) {
        Tx *tx = begin(lib, WRITE);
        ArenaMark mark = arena_mark(arena_current());
        for (int i = from; i < from + 1000 && i < n; i++) {
            // Titles run against the order of ids.
            assert_ok(tx_insert(
                tx, &books,
                json_of(str_fmt("{\"title\":\"title %06d\",\"barcode\":\"b%d\",\"pages\":%d,"
                                "\"status\":{\"name\":\"%s\"},\"note\":\"n%d\"}",
                                999999 - i, i, i % 7, i % 2 ? "Available" : "Lost", i % 10)
                            .at)));
            arena_release(arena_current(), mark);
        }
        commit(lib);
    }
}

static List *open_list(Tx *tx, const char *query, int64_t offset, int64_t limit, Totals totals)
{
    List *list = NULL;
    ListRequest request = {
        .query = query ? str_of(query) : (Str){0},
        .offset = offset,
        .limit = limit,
        .totals = totals,
    };

    assert_ok(list_open(tx, &books, &request, &list));
    return list;
}

// Reads to the end; how many there were. Each record is checked by `seen`.
static int64_t read_all(List *list, void (*seen)(Str doc, void *context), void *context)
{
    int64_t n = 0;
    Str doc;

    for (;;) {
        assert_ok(list_next(list, &doc));
        if (!doc.at) {
            return n;
        }
        if (seen) {
            seen(doc, context);
        }
        n++;
    }
}

static void ascending(Str doc, void *context)
{
    char *last = context;
    ArenaMark mark = arena_mark(arena_current());
    Str title = json_str(json_parse_stored(doc), "title");

    assert_true(strcmp(last, str_z(title)) < 0);
    strcpy(last, str_z(title));
    arena_release(arena_current(), mark);
}

static void ids_ascending(Str doc, void *context)
{
    char *last = context;
    ArenaMark mark = arena_mark(arena_current());
    Str id = json_str(json_parse_stored(doc), "id");

    assert_true(strcmp(last, str_z(id)) < 0);
    strcpy(last, str_z(id));
    arena_release(arena_current(), mark);
}

static void without_a_query_all_records_come_by_id(void **state)
{
    Library *lib = *state;
    char last[64] = "";
    add_many(lib, 3500);
    List *list = open_list(begin(lib, READ), NULL, 0, INT32_MAX, TOTALS_AUTO);

    assert_false(list_is_whole(list));
    assert_int_equal(read_all(list, ids_ascending, last), 3500);
    assert_int_equal(list_total(list), 3500);
}

static void a_sorted_list_keeps_its_order_over_all_chunks(void **state)
{
    Library *lib = *state;
    char last[64] = "";
    add_many(lib, 3500);
    List *list = open_list(begin(lib, READ), "pages<6 sortby title", 0, INT32_MAX, TOTALS_AUTO);

    assert_int_equal(read_all(list, ascending, last), 3000);
    assert_int_equal(list_total(list), 3000);
    // Also when documents decide and sort.
    *last = '\0';
    list =
        open_list(lib->tx, "note==n* sortby note/sort.descending title", 0, INT32_MAX, TOTALS_AUTO);
    assert_int_equal(read_all(list, NULL, NULL), 3500);
    assert_int_equal(list_total(list), 3500);
}

static void note_id(Str doc, void *context)
{
    ArenaMark mark = arena_mark(arena_current());
    Str id = str_copy(scratch_arena(), json_str(json_parse_stored(doc), "id"));

    arena_release(arena_current(), mark);
    str_list_add(context, id);
}

// Books are added in order of their ids.
static Err *note_pk(int64_t pk, void *context)
{
    str_list_add(context, id_of((int)pk));
    return NULL;
}

static void pages_sorted_by_documents_join_to_the_whole(void **state)
{
    static const int64_t offsets[] = {0, 10, 1995, 4500, 4995};
    static const char query[] = "cql.allRecords=1 sortby note/sort.descending status.name";
    Library *lib = *state;
    StrList whole = {0};
    add_many(lib, 5000);
    Tx *tx = begin(lib, READ);
    List *list = open_list(tx, query, 0, INT32_MAX, TOTALS_AUTO);

    assert_int_equal(read_all(list, note_id, &whole), 5000);
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        StrList page = {0};
        list = open_list(tx, query, offsets[i], 10, TOTALS_AUTO);
        int64_t n = read_all(list, note_id, &page);
        assert_int_equal(n, offsets[i] == 4995 ? 5 : 10);
        assert_int_equal(list_total(list), 5000);
        for (size_t k = 0; k < page.len; k++) {
            assert_true(str_eq(page.at[k], whole.at[(size_t)offsets[i] + k]));
        }
    }
}

// What a large table's columns are sorted by in pieces comes as the database itself sorts it.
static void columns_are_sorted_as_the_database_does(void **state)
{
    static const char *const queries[] = {
        "cql.allRecords=1 sortby position/sort.descending",
        "cql.allRecords=1 sortby place pages/sort.descending",
        "pages<3 sortby author.name/sort.descending title",
        "cql.allRecords=1 sortby dueDate lost",
        "cql.allRecords=1 sortby id/sort.descending",
    };
    Library *lib = *state;
    Tx *tx = begin(lib, WRITE);
    for (int i = 1; i <= 3; i++) {
        insert(tx, &authors, i, str_fmt("\"name\":\"author %d\"", 9 - i).at);
    }
    for (int i = 0; i < 200; i++) {
        insert(
            tx, &books, i + 1,
            str_fmt("\"title\":\"t%d\",\"pages\":%d%s%s%s", i * 37 % 100, i % 5,
                    i % 3 ? str_fmt(",\"place\":\"P%d\",\"position\":%d", i % 4, -i).at : "",
                    i % 4 ? str_fmt(",\"authorId\":\"" STR_FMT "\"", STR_ARG(id_of(i % 4))).at : "",
                    i % 7 ? str_fmt(",\"dueDate\":\"2024-05-%02d\"", i % 28 + 1).at : "")
                .at);
    }
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        ListRequest request = {.query = str_of(queries[i]), .limit = 300};
        StrList ids = {0};
        Plan plan;
        size_t at = 0;
        Docs sorted = {0};
        assert_ok(query_plan(tx, &books, &request, &plan));
        assert_true(plan.is_exact && plan.sorts_in_sql);
        assert_ok(tx_list(tx, &books, request.query, 300, &sorted));
        Scan scan = {.limit = 300, .each = note_pk, .context = &ids};
        assert_ok(query_scan(tx, &plan, &scan));
        assert_int_equal(ids.len, sorted.len);
        for (; at < ids.len; at++) {
            assert_str(ids.at[at], str_z(json_str(sorted.at[at], "id")));
        }
    }
}

static Err *change_and_delete(Tx *tx, void *docs)
{
    Json *doc = json_copy(((Docs *)docs)->at[1]);

    json_set_str(doc, "note", S("changed"));
    TRY(tx_update(tx, &books, doc));
    return tx_delete(tx, &books, json_str(((Docs *)docs)->at[0], "id"));
}

// What a snapshot held back would keep from the log (decision 42).
static void a_long_scan_goes_on_with_newer_snapshots(void **state)
{
    Library *lib = *state;
    Docs last = {0};
    int64_t n = 0;
    Str doc;
    add_many(lib, 500);
    Tx *tx = begin(lib, READ);
    assert_ok(tx_list(tx, &books, S("barcode==b498 or barcode==b499"), 2, &last));
    assert_int_equal(last.len, 2);
    assert_ok(tx_run(lib->db, &(TxOptions){.kind = WRITE}, change_and_delete, &last));

    assert_ok(tx_count(tx, &books, S("note==n*"), &n));
    assert_int_equal(n, 500); // it is too short for that
    tx->begun_ns -= 2000000000;
    List *list = open_list(tx, "note==(n* or changed) sortby note", 0, INT32_MAX, TOTALS_AUTO);
    assert_int_equal(list_total(list), 499);
    assert_ok(list_next(list, &doc));
    assert_true(str_find(doc, S("\"note\":\"changed\""), 0) > 0);
}

static void a_detached_list_reads_on_without_its_transaction(void **state)
{
    Library *lib = *state;
    char last[64] = "";
    add_many(lib, 3500);
    List *by_id = open_list(begin(lib, READ), NULL, 0, INT32_MAX, TOTALS_AUTO);
    List *sorted = open_list(lib->tx, "cql.allRecords=1 sortby title", 10, 3000, TOTALS_AUTO);
    list_detach(by_id);
    list_detach(sorted);
    commit(lib);

    assert_int_equal(read_all(by_id, ids_ascending, last), 3500);
    *last = '\0';
    assert_int_equal(read_all(sorted, ascending, last), 3000);
    assert_int_equal(store_figures(lib->store).rollbacks, 0);
}

static void pages_join_without_gap_or_repetition(void **state)
{
    Library *lib = *state;
    char last[64] = "";
    int64_t n = 0;
    add_many(lib, 250);
    Tx *tx = begin(lib, READ);

    for (int64_t offset = 0; offset < 300; offset += 30) {
        n += read_all(open_list(tx, "cql.allRecords=1 sortby title", offset, 30, TOTALS_AUTO),
                      ascending, last);
    }
    assert_int_equal(n, 250);
}

static void totals_are_exact_where_folio_promises_it(void **state)
{
    Library *lib = *state;
    add_many(lib, 1500);
    Tx *tx = begin(lib, READ);

    assert_int_equal(list_total(open_list(tx, "status.name==Lost", 0, 10, TOTALS_AUTO)), 750);
    assert_int_equal(list_total(open_list(tx, "status.name==Lost", 0, 0, TOTALS_AUTO)), 750);
    assert_int_equal(list_total(open_list(tx, "status.name==Lost", 740, 100, TOTALS_AUTO)), 750);
    assert_int_equal(list_total(open_list(tx, "status.name==Lost", 0, 10, TOTALS_NONE)), -1);
    assert_int_equal(list_total(open_list(tx, "status.name==Lost", 0, 10, TOTALS_EXACT)), 750);
    assert_int_equal(list_total(open_list(tx, "status.name==Lost", 5000, 10, TOTALS_EXACT)), 750);
    assert_int_equal(list_total(open_list(tx, "status.name==None", 0, 10, TOTALS_AUTO)), 0);
    assert_int_equal(list_total(open_list(tx, "note==n1", 0, 10, TOTALS_AUTO)), 150);
    assert_int_equal(list_total(open_list(tx, "note==n1", 0, 0, TOTALS_AUTO)), 150);
    assert_int_equal(list_total(open_list(tx, NULL, 0, 10, TOTALS_AUTO)), 1500);
}

static void a_short_page_costs_one_statement_and_a_full_one_two(void **state)
{
    Library *lib = *state;
    add_many(lib, 100);
    Tx *tx = begin(lib, READ);

    open_list(tx, "barcode==b5", 0, 10, TOTALS_AUTO);
    assert_int_equal(tx_cost(tx).statements, 1);
    open_list(tx, NULL, 0, 10, TOTALS_AUTO);
    assert_int_equal(tx_cost(tx).statements, 3);
    open_list(tx, NULL, 0, INT32_MAX, TOTALS_AUTO);
    assert_int_equal(tx_cost(tx).statements, 4);
}

static void all_records_are_counted_once_until_they_change(void **state)
{
    Library *lib = *state;
    add_many(lib, 100);
    Tx *tx = begin(lib, READ);
    assert_int_equal(list_total(open_list(tx, NULL, 0, 10, TOTALS_AUTO)), 100);
    commit(lib);

    tx = begin(lib, READ);
    assert_int_equal(list_total(open_list(tx, NULL, 0, 10, TOTALS_AUTO)), 100);
    assert_int_equal(tx_cost(tx).statements, test_is_embedded() ? 1 : 2);
    commit(lib);

    tx = begin(lib, WRITE);
    insert(tx, &books, 1, "\"title\":\"one more\"");
    assert_int_equal(list_total(open_list(tx, NULL, 0, 10, TOTALS_AUTO)), 101);
    assert_ok(tx_delete(tx, &books, id_of(1)));
    assert_int_equal(list_total(open_list(tx, NULL, 0, 10, TOTALS_AUTO)), 100);
    insert(tx, &books, 2, "\"title\":\"and one\"");
    commit(lib);
    assert_int_equal(list_total(open_list(begin(lib, READ), NULL, 0, 10, TOTALS_AUTO)), 101);
}

// A title stands in one record, a status in half of them.
static void records_are_found_by_what_few_of_them_have(void **state)
{
    Library *lib = *state;
    add_many(lib, 3000);
    Tx *tx = begin(lib, READ);

    List *list = open_list(tx, "status.name==Lost and title==\"title 999999\"", 0, 10, TOTALS_AUTO);
    assert_int_equal(read_all(list, NULL, NULL), 1);
    assert_true(tx_cost(tx).steps < 1000);
}

// Rows delivered for the look-ups of every day.
static int cost_of_everyday(Library *lib, int64_t *total)
{
    Tx *tx = begin(lib, READ);
    Json *book = NULL;

    assert_ok(tx_find(tx, &books, "barcode", S("b77"), &book));
    assert_non_null(book);
    open_list(tx, "barcode==b77", 0, 10, TOTALS_AUTO);
    open_list(tx, "title==\"title 999*\" sortby title", 0, 10, TOTALS_AUTO);
    *total = list_total(open_list(tx, "status.name==Lost sortby title", 0, 10, TOTALS_AUTO));
    open_list(tx, NULL, 0, 10, TOTALS_AUTO);
    int rows = tx_cost(tx).rows_read;
    commit(lib);
    return rows;
}

static void everyday_costs_do_not_grow_with_the_table(void **state)
{
    Library *lib = *state;
    int64_t small = 0, large = 0;
    char last[64] = "";
    add_many(lib, 1000);
    int before = cost_of_everyday(lib, &small);
    assert_int_equal(small, 500);

    assert_ok(db_purge(lib->db, library, 3));
    assert_ok(db_migrate(lib->db, library, 3));
    add_many(lib, 23000);
    // Beyond 10,000 matches a few rows more are looked at to estimate how many there are.
    assert_true(cost_of_everyday(lib, &large) <= before + 6);
    // More than 10,000 matches are estimated.
    assert_true(large > 10001 && large < 14000);

    // With as many matches the index of the sort key is walked instead of sorting them.
    List *list = open_list(begin(lib, READ), "status.name==Lost sortby title", 20, 10, TOTALS_AUTO);
    assert_int_equal(read_all(list, ascending, last), 10);
    assert_string_equal(last, "title 977059");
    list = open_list(lib->tx, "title=title", 20, 10, TOTALS_AUTO);
    *last = '\0';
    assert_int_equal(read_all(list, ids_ascending, last), 10);
    assert_true(list_total(list) > 20000);
}

// Steps of the database for the first page.
static int64_t steps_of(Library *lib, const char *query)
{
    Tx *tx = begin(lib, READ);

    assert_int_equal(read_all(open_list(tx, query, 0, 10, TOTALS_AUTO), NULL, NULL), 10);
    int64_t steps = tx_cost(tx).steps;
    commit(lib);
    return steps;
}

// Counting ends at 10,000; sorting would not.
static void the_first_page_of_many_matches_costs_no_sorting(void **state)
{
    static const char *const queries[] = {"status.name==Lost sortby title",
                                          "status.name==Lost sortby barcode",
                                          "status.name==Lost sortby barcode/sort.descending",
                                          "title>=\"title 1\"",
                                          "barcode==b*",
                                          "barcode==b* sortby id/sort.descending"};
    Library *lib = *state;
    add_many(lib, 23000);
    int64_t unsorted = steps_of(lib, "status.name==Lost");

    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        int64_t steps = steps_of(lib, queries[i]);
        if (steps > unsorted * 3 / 2) {
            fail_msg("%s: %lld steps, %lld without sorting", queries[i], (long long)steps,
                     (long long)unsorted);
        }
    }
}

static void note_barcode(Str doc, void *context)
{
    ArenaMark mark = arena_mark(arena_current());
    Str barcode = str_copy(scratch_arena(), json_str(json_parse_stored(doc), "barcode"));

    arena_release(arena_current(), mark);
    str_list_add(context, barcode);
}

// One record of thirty matches, and they stand where a walk along the order comes late: b199 down
// to b100, behind b999, b998 ...
static void matches_far_down_the_order_are_found_too(void **state)
{
    Library *lib = *state;
    add_many(lib, 3000);
    Tx *tx = begin(lib, READ);

    for (int offset = 0; offset < 2; offset++) {
        StrList barcodes = {0};
        List *list = open_list(tx,
                               "title>=\"title 999800\" and title<=\"title 999899\" "
                               "sortby barcode/sort.descending",
                               offset, 2, TOTALS_AUTO);
        assert_int_equal(read_all(list, note_barcode, &barcodes), 2);
        assert_int_equal(list_total(list), 100);
        assert_str(barcodes.at[0], offset ? "b198" : "b199");
        assert_str(barcodes.at[1], offset ? "b197" : "b198");
    }
}

// Spreads numbers over all ids, the same in every run.
static uint32_t spread(uint32_t n)
{
    n = (n ^ n >> 16) * 0x85ebca6bu;
    n = (n ^ n >> 13) * 0xc2b2ae35u;
    return n ^ n >> 16;
}

// With these ids the matches at half and at the whole of what is counted, which come in order of
// id, stand right in the order of storing too.
static void an_estimate_is_not_misled_by_chance(void **state)
{
    enum { BOOKS = 23000, SEED = 215 * 100000 };
    Library *lib = *state;

    for (int from = 0; from < BOOKS; from += 1000) {
        Tx *tx = begin(lib, WRITE);
        ArenaMark mark = arena_mark(arena_current());
        for (int i = from; i < from + 1000; i++) {
            const char *status = i % 2 ? "Available" : "Lost";
            assert_ok(tx_insert(tx, &books,
                                json_of(str_fmt("{\"id\":\"%08x-0000-4000-8000-000000000000\","
                                                "\"title\":\"t\",\"status\":{\"name\":\"%s\"}}",
                                                spread((uint32_t)(SEED + i)), status)
                                            .at)));
            arena_release(arena_current(), mark);
        }
        commit(lib);
    }
    List *list = open_list(begin(lib, READ), "status.name==Lost", 0, 10, TOTALS_AUTO);
    assert_in_range(list_total(list), 11000, 12000);
}

static void a_limit_without_end_needs_little_memory(void **state)
{
    Library *lib = *state;
    add_many(lib, 10000);
    arena_reset(arena_current());
    size_t before = arena_used(arena_current());
    List *list =
        open_list(begin(lib, READ), "cql.allRecords=1 sortby title", 0, INT32_MAX, TOTALS_AUTO);

    assert_int_equal(read_all(list, NULL, NULL), 10000);
    assert_int_equal(list_total(list), 10000);
    assert_true(arena_used(arena_current()) - before < 4 * 1024 * 1024);
}

static Err *add_answer(Tx *tx, Json *doc)
{
    (void)tx;
    json_set_int(doc, "answer", 42);
    return NULL;
}

static void records_are_decorated_on_their_way_out(void **state)
{
    Library *lib = *state;
    Collection decorated = books;
    List *list = NULL;
    Str doc;
    ListRequest request = {.limit = INT32_MAX};
    decorated.on_read = add_answer;
    add_many(lib, 2500);

    assert_ok(list_open(begin(lib, READ), &decorated, &request, &list));
    for (int i = 0; i < 2500; i++) {
        assert_ok(list_next(list, &doc));
        assert_true(str_ends(doc, S("\"answer\":42}")));
    }
    assert_ok(list_next(list, &doc));
    assert_null(doc.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, library_setup, library_teardown)
        TEST(without_a_query_all_records_come_by_id),
        TEST(a_sorted_list_keeps_its_order_over_all_chunks),
        TEST(pages_sorted_by_documents_join_to_the_whole),
        TEST(columns_are_sorted_as_the_database_does),
        TEST(a_long_scan_goes_on_with_newer_snapshots),
        TEST(a_detached_list_reads_on_without_its_transaction),
        TEST(pages_join_without_gap_or_repetition),
        TEST(totals_are_exact_where_folio_promises_it),
        TEST(a_short_page_costs_one_statement_and_a_full_one_two),
        TEST(all_records_are_counted_once_until_they_change),
        TEST(records_are_found_by_what_few_of_them_have),
        TEST(everyday_costs_do_not_grow_with_the_table),
        TEST(the_first_page_of_many_matches_costs_no_sorting),
        TEST(matches_far_down_the_order_are_found_too),
        TEST(an_estimate_is_not_misled_by_chance),
        TEST(a_limit_without_end_needs_little_memory),
        TEST(records_are_decorated_on_their_way_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
