// Reference tables: from tab-separated text to records.
#include "test.h"

#include "gateway/internal.h"

static Docs docs;
static Str table;

static void rows_become_records(void **state)
{
    (void)state;
    assert_ok(refdata_parse(S("@ groups\n"
                              "id\tgroup\tpersonal.lastName\tdays:json\ttags:json\n"
                              "1\tstaff\t\t365\t[\"a\"]\n"
                              "2\ta\\tb\\nc\\\\d\tX\t\t\n"),
                            &table, &docs));
    assert_str(table, "groups");
    assert_int_equal(docs.len, 2);
    assert_str(json_text(docs.at[0]), "{\"id\":\"1\",\"group\":\"staff\",\"days\":365,"
                                      "\"tags\":[\"a\"]}");
    assert_str(json_str(docs.at[1], "group"), "a\tb\nc\\d");
    assert_str(json_str(docs.at[1], "personal.lastName"), "X");
    assert_false(json_has(docs.at[1], "days"));
}

static void a_last_line_without_end_counts_and_empty_lines_do_not(void **state)
{
    (void)state;
    assert_ok(refdata_parse(S("@ t\nid\n1\n\n2"), &table, &docs));
    assert_int_equal(docs.len, 2);
}

static void bad_tables_are_refused(void **state)
{
    (void)state;
    assert_err(refdata_parse(S("groups\nid\n"), &table, &docs), 500,
               "reference data: the first line must be \"@ <table>\"");
    assert_err(refdata_parse(S("@ groups"), &table, &docs), 500, "reference data: no headers");
    assert_err(refdata_parse(S("@ groups\nid\n1\t2\n"), &table, &docs), 500,
               "reference data: more cells than headers");
    assert_non_null(refdata_parse(S("@ groups\nx:json\n{\n"), &table, &docs));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_become_records),
        cmocka_unit_test(a_last_line_without_end_counts_and_empty_lines_do_not),
        cmocka_unit_test(bad_tables_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
