// Long texts of records are cut into single ones.
#include "test.h"

#include "base/buf.h"
#include "json/split.h"

// All records of the text, joined by "|", each with its line.
static Str cut(const char *text)
{
    JsonSplitter splitter = json_splitter(str_of(text), S("items"));
    Buf out = buf_new(arena_current(), 4096);
    int64_t line = 0;
    Str record;

    while (json_split_next(&splitter, &record, &line)) {
        buf_fmt(&out, "%s%d:" STR_FMT, out.len ? "|" : "", (int)line, STR_ARG(record));
    }
    return buf_str(&out);
}

static void an_array_is_cut_at_its_commas(void **state)
{
    (void)state;
    assert_str(cut("[{\"a\":1},\n {\"b\":[1,{\"c\":2}]}]"), "1:{\"a\":1}|2:{\"b\":[1,{\"c\":2}]}");
    assert_str(cut(" [ ] "), "");
}

static void brackets_in_strings_do_not_count(void **state)
{
    (void)state;
    assert_str(cut("[{\"a\":\"}],\\\"{\"},{\"b\":\"\\\\\"}]"),
               "1:{\"a\":\"}],\\\"{\"}|1:{\"b\":\"\\\\\"}");
}

static void a_list_answer_gives_its_list(void **state)
{
    (void)state;
    assert_str(cut("{\"totalRecords\": 2, \"x\": [7], \"items\": [{\"a\":1}, {\"b\":2}]}"),
               "1:{\"a\":1}|1:{\"b\":2}");
}

static void records_follow_each_other_line_by_line(void **state)
{
    (void)state;
    assert_str(cut("{\"items\":1}\n{\"b\":2}\r\n\n{\"c\":3}"),
               "1:{\"items\":1}|2:{\"b\":2}|4:{\"c\":3}");
    assert_str(cut("\xef\xbb\xbf{\"a\":1}\n"), "1:{\"a\":1}");
}

static void a_record_without_end_reaches_to_the_end(void **state)
{
    (void)state;
    assert_str(cut("[{\"a\":1},{\"b\":"), "1:{\"a\":1}|1:{\"b\":");
    assert_str(cut("[\"x"), "1:\"x");
}

static void what_is_no_object_is_cut_out_too(void **state)
{
    (void)state;
    assert_str(cut("[1, x\"y\", ]"), "1:1|1:x\"y\"");
    assert_str(cut("]"), "1:]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_array_is_cut_at_its_commas),
        cmocka_unit_test(brackets_in_strings_do_not_count),
        cmocka_unit_test(a_list_answer_gives_its_list),
        cmocka_unit_test(records_follow_each_other_line_by_line),
        cmocka_unit_test(a_record_without_end_reaches_to_the_end),
        cmocka_unit_test(what_is_no_object_is_cut_out_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
