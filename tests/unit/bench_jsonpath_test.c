// JSON paths over text, as FOLIO's load plans write them.
#include "test.h"

#include "bench/plan/jsonpath.h"

#include <string.h>

static const char doc[] =
    "{\"items\": [{\"id\": \"i1\", \"n\": 1, \"status\": {\"name\": \"Open\"}},"
    " {\"id\": \"i2\", \"n\": 2.5, \"status\": {\"name\": \"Closed\"}, \"tags\": []}],"
    " \"totalRecords\": 2, \"odd name\": \"a\\\"b\\u00e9\\n\", \"nothing\": null,"
    " \"deep\": {\"id\": \"d\", \"more\": [{\"id\": \"e\"}, [{\"id\": \"f\"}]]}}";

// All values found, with blanks between.
static const char *found(const char *text, const char *path_text)
{
    JsonPath *path = NULL;
    StrList values = {0}, texts = {0};

    assert_ok(jsonpath_compile(str_of(path_text), &path));
    assert_ok(jsonpath_find(path, str_of(text), 0, &values));
    for (size_t i = 0; i < values.len; i++) {
        str_list_add(&texts, jsonpath_text(values.at[i]));
    }
    return str_z(str_join(texts.at, texts.len, S(" ")));
}

static void members_and_elements_are_found_by_name_and_number(void **state)
{
    (void)state;
    assert_string_equal(found(doc, "$.totalRecords"), "2");
    assert_string_equal(found(doc, "$.items[0].id"), "i1");
    assert_string_equal(found(doc, "$.items[-1].id"), "i2");
    assert_string_equal(found(doc, "$.items[7].id"), "");
    assert_string_equal(found(doc, "$.items[*].id"), "i1 i2");
    assert_string_equal(found(doc, "$['items'][1]['id']"), "i2");
    assert_string_equal(found(doc, "$.nothing"), "null");
    assert_string_equal(found(doc, "$.items.id"), "");
}

static void sloppy_forms_of_the_plans_are_accepted(void **state)
{
    (void)state;
    assert_string_equal(found(doc, "items.*.id"), "i1 i2");
    assert_string_equal(found(doc, ".items[*].id"), "i1 i2");
    assert_string_equal(found(doc, "$.items.[0].id"), "i1");
    assert_string_equal(found(doc, "$..name "), "Open Closed");
}

static void a_deep_search_takes_a_node_before_its_descendants(void **state)
{
    (void)state;
    assert_string_equal(found(doc, "$.deep..id"), "d e f");
    assert_string_equal(found(doc, "$..id"), "i1 i2 d e f");
    assert_string_equal(found(doc, "$..status..name"), "Open Closed");
}

static void filters_compare_texts_numbers_and_presence(void **state)
{
    (void)state;
    assert_string_equal(found(doc, "$.items[?(@.id == 'i2')].n"), "2.5");
    assert_string_equal(found(doc, "$.items.[?(@.id==\"i1\")].n"), "1");
    assert_string_equal(found(doc, "$.items[?(@.status.name != 'Open')].id"), "i2");
    assert_string_equal(found(doc, "$.items[?(@.n > 1 && @.n <= 2.5)].id"), "i2");
    assert_string_equal(found(doc, "$.items[?(@.n < 1 || @.id=='i1')].id"), "i1");
    assert_string_equal(found(doc, "$.items[?(@.tags)].id"), "i2");
    assert_string_equal(found(doc, "$.items[?(!(@.tags))].id"), "i1");
    assert_string_equal(found(doc, "$..[?(@.name == 'Closed')].name"), "Closed");
    assert_string_equal(found(doc, "$.items[?(@.x[0] != null)].id"), "");
}

static void strings_lose_their_escapes(void **state)
{
    (void)state;
    assert_string_equal(found(doc, "$['odd name']"), "a\"b\xC3\xA9\n");
    assert_string_equal(found("[\"\\ud83d\\ude00\"]", "$[0]"), "\xF0\x9F\x98\x80");
    assert_string_equal(found("{\"a\\u0062\": 1}", "$.ab"), "1");
}

static void a_cut_off_or_broken_answer_is_an_error(void **state)
{
    static const char *const broken[] = {
        "",        "{\"a\": 1", "{\"a\" 1}",   "[1,]",        "{\"a\": 1}x", "{\"a\": [1}",
        "nothing", "<html>",    "{\"a\": \"b", "{\"a\": tru}"};
    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        JsonPath *path = NULL;
        StrList values = {0};
        assert_ok(jsonpath_compile(S("$..a"), &path));
        assert_non_null(jsonpath_find(path, str_of(broken[i]), 0, &values));
    }
}

static void deep_nesting_and_costly_paths_end_with_an_error(void **state)
{
    char *deep = arena_alloc(arena_current(), 20001);
    JsonPath *path = NULL;
    StrList values = {0};
    (void)state;
    memset(deep, '[', 10000);
    memset(deep + 10000, ']', 10000);
    assert_ok(jsonpath_compile(S("$..a"), &path));
    assert_non_null(jsonpath_find(path, str_of(deep), 0, &values));
    // Every step of ".." would multiply the work.
    memset(deep, '[', 100);
    memset(deep + 100, ']', 100);
    deep[200] = 0;
    assert_ok(jsonpath_compile(S("$..*..*..*..*..*..*"), &path));
    assert_non_null(jsonpath_find(path, str_of(deep), 0, &values));
}

static void a_path_outside_the_subset_is_refused(void **state)
{
    static const char *const bad[] = {
        "",       "$.", "$.a[", "$.a[x]", "$.a[?(@.b ==)]", "$.a[?(b)]", "$.a b", "$.a[?(@.b=='c']",
        "$.a['b]"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        JsonPath *path = NULL;
        if (!jsonpath_compile(str_of(bad[i]), &path)) {
            fail_msg("%s was accepted", bad[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_and_elements_are_found_by_name_and_number),
        cmocka_unit_test(sloppy_forms_of_the_plans_are_accepted),
        cmocka_unit_test(a_deep_search_takes_a_node_before_its_descendants),
        cmocka_unit_test(filters_compare_texts_numbers_and_presence),
        cmocka_unit_test(strings_lose_their_escapes),
        cmocka_unit_test(a_cut_off_or_broken_answer_is_an_error),
        cmocka_unit_test(deep_nesting_and_costly_paths_end_with_an_error),
        cmocka_unit_test(a_path_outside_the_subset_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
