// Reading, changing and writing JSON trees.
#include "test.h"

#include "json/json.h"

#include <math.h>
#include <string.h>

static Json *parsed(const char *text)
{
    Json *doc = NULL;

    assert_ok(json_parse(str_of(text), &doc));
    return doc;
}

static void assert_refused(Str text, const char *message)
{
    Json *doc = NULL;
    Err *err = json_parse(text, &doc);

    assert_non_null(err);
    assert_int_equal(err->status, 400);
    assert_str(err->message, message);
    assert_false(err->is_json);
}

static void assert_round_trip(const char *text)
{
    assert_str(json_text(parsed(text)), text);
}

static void a_document_is_written_as_it_was_read(void **state)
{
    (void)state;
    assert_round_trip("{}");
    assert_round_trip("[]");
    assert_round_trip("null");
    assert_round_trip("{\"a\":[1,-2,0.5,true,false,null,\"x\"],\"b\":{\"c\":{}}}");
    assert_round_trip("\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\xC3\xA4\xF0\x9F\x93\x9A\"");
    assert_str(json_text(parsed(" { \"a\" :\n[ 1 , 2 ] }\r\n")), "{\"a\":[1,2]}");
    assert_str(json_text(parsed("\"\\u00e4\\ud83d\\udcda\\/\"")), "\"\xC3\xA4\xF0\x9F\x93\x9A/\"");
    assert_str(json_text(parsed("\xEF\xBB\xBF{}")), "{}");
}

static void numbers_are_written_in_their_shortest_exact_form(void **state)
{
    (void)state;
    assert_round_trip("[0,1000000000000000,9007199254740992,-9007199254740992]");
    assert_round_trip("[0.1,12.5,-3.07,0.05,1234567890.99,0.3333333333333333,1e-07]");
    assert_str(json_text(parsed("[1.0,1.50,1e3,-0,1E2]")), "[1,1.5,1000,0,100]");
    assert_str(json_text(parsed("[1e20,5e-324,12345678901234568.0]")),
               "[1e+20,4.94065645841247e-324,12345678901234568.0]");
    assert_str(json_text(json_number_of(0.1 + 0.2)), "0.30000000000000004");
    assert_str(json_text(json_number_of(INFINITY)), "null");
}

static void bad_syntax_is_refused_with_its_place(void **state)
{
    (void)state;
    assert_refused(S(""), "Json content error unexpected end at line 1 column 1");
    assert_refused(S("{\"a\":1"), "Json content error unexpected end at line 1 column 7");
    assert_refused(S("{\n\"a\" 1}"), "Json content error expected a colon at line 2 column 5");
    assert_refused(S("{\"a\":1,}"), "Json content error expected a member name at line 1 column 8");
    assert_refused(S("[1,]"), "Json content error unexpected character at line 1 column 4");
    assert_refused(S("[1 2]"), "Json content error expected a comma or ] at line 1 column 4");
    assert_refused(S("[1}"), "Json content error expected a comma or ] at line 1 column 3");
    assert_refused(S("{} x"), "Json content error more text behind the value at line 1 column 4");
    assert_refused(S("nul"), "Json content error unexpected character at line 1 column 1");
    assert_refused(S("\"a"), "Json content error unexpected end of a string at line 1 column 3");
    assert_refused(S("\"\\x\""),
                   "Json content error unknown escape in a string at line 1 column 2");
    assert_refused(S("\"\t\""),
                   "Json content error control character in a string at line 1 column 2");
    assert_refused(S("\"a\0b\""),
                   "Json content error control character in a string at line 1 column 3");
    assert_refused(S("{}\0"), "Json content error more text behind the value at line 1 column 3");
}

static void lax_numbers_are_refused(void **state)
{
    static const char *const NUMBERS[] = {"01", "-", "1.", ".5", "+1", "1e", "1e+", "0x1", "--1"};

    (void)state;
    for (size_t i = 0; i < sizeof NUMBERS / sizeof *NUMBERS; i++) {
        Json *doc = NULL;
        Err *err = json_parse(str_of(NUMBERS[i]), &doc);
        assert_non_null(err);
        assert_int_equal(err->status, 400);
    }
    assert_refused(S("9007199254740993"),
                   "Json content error integer out of range at line 1 column 1");
    assert_refused(S("[-99999999999999999999]"),
                   "Json content error integer out of range at line 1 column 2");
    assert_refused(S("1e999"), "Json content error number out of range at line 1 column 1");
}

static void text_that_no_database_stores_is_refused(void **state)
{
    (void)state;
    assert_refused(S("\"\\u0000\""),
                   "Json content error the character \\u0000 cannot be stored at line 1 column 2");
    assert_refused(S("\"\\ud800\""), "Json content error lone surrogate at line 1 column 2");
    assert_refused(S("\"\\ud800\\u0041\""), "Json content error lone surrogate at line 1 column 2");
    assert_refused(S("\"\\udc00\""), "Json content error lone surrogate at line 1 column 2");
    assert_refused(S("\"\\u12g4\""), "Json content error bad \\u escape at line 1 column 2");
    assert_refused(S("\"\xC3\""), "Json content error invalid UTF-8 at line 1 column 2");
    assert_refused(S("\"\xC0\x80\""), "Json content error invalid UTF-8 at line 1 column 2");
    assert_refused(S("\"\xED\xA0\x80\""), "Json content error invalid UTF-8 at line 1 column 2");
    assert_refused(S("\"\xF5\x80\x80\x80\""),
                   "Json content error invalid UTF-8 at line 1 column 2");
}

static void nesting_stops_at_64_levels(void **state)
{
    char text[2 * (JSON_DEPTH_MAX + 1)];
    Json *doc = NULL;

    (void)state;
    memset(text, '[', JSON_DEPTH_MAX);
    memset(text + JSON_DEPTH_MAX, ']', JSON_DEPTH_MAX);
    assert_ok(json_parse((Str){text, 2 * JSON_DEPTH_MAX}, &doc));
    memset(text, '[', JSON_DEPTH_MAX + 1);
    memset(text + JSON_DEPTH_MAX + 1, ']', JSON_DEPTH_MAX + 1);
    assert_refused((Str){text, sizeof text},
                   "Json content error nested too deeply at line 1 column 65");
}

static void an_array_of_31_mb_of_zeros_is_refused_without_taking_memory(void **state)
{
    size_t len = 31 * 1024 * 1024 + 1;
    Arena *arena = arena_new((size_t)64 << 20), *former = NULL;
    char *text = test_malloc(len);
    Json *doc = NULL;

    (void)state;
    for (size_t i = 1; i < len; i += 2) {
        text[i] = '0';
        text[i + 1 < len ? i + 1 : i] = ',';
    }
    text[0] = '[';
    text[len - 1] = ']';
    former = arena_use(arena);
    Err *err = json_parse((Str){text, len}, &doc);
    assert_non_null(err);
    assert_int_equal(err->status, 413);
    assert_true(arena_high_water(arena) < 64 * 1024);
    arena_use(former);
    arena_free(arena);
    test_free(text);
}

static void of_equal_names_the_last_one_counts(void **state)
{
    Buf buf = buf_new(arena_current(), 1 << 20);

    (void)state;
    assert_str(json_text(parsed("{\"a\":1,\"b\":2,\"a\":3}")), "{\"b\":2,\"a\":3}");
    assert_str(json_text(parsed("[{\"\\u0061\":1,\"a\":{\"x\":1,\"x\":2}}]")),
               "[{\"a\":{\"x\":2}}]");
    buf_char(&buf, '{');
    for (int i = 0; i < 2000; i++) {
        buf_fmt(&buf, "%s\"k%d\":%d", i ? "," : "", i % 1000, i);
    }
    buf_char(&buf, '}');
    Json *doc = NULL;
    assert_ok(json_parse(buf_str(&buf), &doc));
    assert_int_equal(json_len(doc), 1000);
    assert_int_equal(json_int(doc, "k0", -1), 1000);
    assert_int_equal(json_int(doc, "k999", -1), 1999);
}

static void paths_find_members_and_elements(void **state)
{
    Json *doc = parsed("{\"status\":{\"name\":\"Available\"},\"n\":[{\"v\":\"x\"},{\"v\":7}],"
                       "\"flag\":true,\"none\":null,\"when\":\"2024-05-01T12:00:00Z\",\"d\":2.5}");
    Time when = 0;

    (void)state;
    assert_str(json_str(doc, "status.name"), "Available");
    assert_str(json_str(doc, "status.Name"), "");
    assert_str(json_str(doc, "status.name.more"), "");
    assert_str(json_str(doc, "n.0.v"), "x");
    assert_int_equal(json_int(doc, "n.1.v", 0), 7);
    assert_int_equal(json_int(doc, "n.2.v", 5), 5);
    assert_null(json_get(doc, "n.x"));
    assert_true(json_flag(doc, "flag", false));
    assert_true(json_flag(doc, "status", true));
    assert_true(json_number(doc, "d", 0) == 2.5);
    assert_false(json_has(doc, "none"));
    assert_true(json_is_null(json_get(doc, "none")));
    assert_true(json_time(doc, "when", &when));
    assert_false(json_time(doc, "d", &when));
    assert_null(json_get(NULL, "a.b"));
    assert_str(json_str(NULL, "a"), "");
    assert_ptr_equal(json_get(doc, ""), doc);
}

static void a_set_makes_the_objects_on_its_way(void **state)
{
    Json *doc = json_object();

    (void)state;
    json_set_str(doc, "a.b.c", S("x"));
    json_set_int(doc, "a.n", 3);
    json_set(doc, "list", json_array());
    json_add(json_get(doc, "list"), json_int_of(1));
    json_set_int(doc, "list.1", 2);
    json_set_int(doc, "list.0", 0);
    json_put(doc, S("x.y"), json_bool_of(true));
    json_set_str_if(doc, "empty", S(""));
    assert_str(json_text(doc), "{\"a\":{\"b\":{\"c\":\"x\"},\"n\":3},\"list\":[0,2],\"x.y\":true}");
    json_set(doc, "a.b", NULL);
    json_remove(doc, "list.0");
    json_remove(doc, "not.there");
    json_set_str(doc, "list.0.z", S("in the place of a number"));
    assert_str(json_text(doc),
               "{\"a\":{\"n\":3},\"list\":[{\"z\":\"in the place of a number\"}],\"x.y\":true}");
}

static void elements_can_be_removed_at_every_place(void **state)
{
    Json *doc = parsed("[1,2,3]");

    (void)state;
    json_remove(doc, "2");
    json_add(doc, json_int_of(4));
    assert_str(json_text(doc), "[1,2,4]");
    json_remove(doc, "0");
    json_add(doc, json_int_of(5));
    assert_str(json_text(doc), "[2,4,5]");
    JSON_EACH(child, doc)
    {
        json_remove(doc, "0");
    }
    assert_str(json_text(doc), "[]");
    json_add(doc, json_int_of(6));
    assert_str(json_text(doc), "[6]");
}

static void a_value_of_another_tree_is_copied_on_its_way(void **state)
{
    Json *from = parsed("{\"a\":{\"b\":1},\"c\":2}"), *to = json_object();

    (void)state;
    json_set(to, "x", json_get(from, "a"));
    json_set(to, "y", json_get(from, "a"));
    json_take(to, "z", from, "a.b");
    json_take(to, "w", from, "nothing");
    json_set_int(to, "x.b", 9);
    assert_str(json_text(from), "{\"a\":{\"b\":1},\"c\":2}");
    assert_str(json_text(to), "{\"x\":{\"b\":9},\"y\":{\"b\":1},\"z\":1}");
}

static void a_removed_value_can_be_put_elsewhere(void **state)
{
    Json *doc = parsed("{\"a\":{\"b\":1},\"c\":2}");
    Json *moved = json_get(doc, "a");

    (void)state;
    json_remove(doc, "a");
    json_set(doc, "d", moved);
    assert_str(json_text(doc), "{\"c\":2,\"d\":{\"b\":1}}");
}

static void a_merge_replaces_adds_and_removes(void **state)
{
    Json *doc = parsed("{\"a\":{\"b\":1,\"c\":2},\"l\":[1],\"x.y\":1}");

    (void)state;
    json_merge(doc,
               parsed("{\"a\":{\"b\":null,\"d\":{\"e\":null,\"f\":3}},\"l\":[2,3],\"x.y\":null}"));
    assert_str(json_text(doc), "{\"a\":{\"c\":2,\"d\":{\"f\":3}},\"l\":[2,3]}");
}

static void equality_ignores_the_order_of_members(void **state)
{
    (void)state;
    assert_true(
        json_equal(parsed("{\"a\":1,\"b\":[1.0,\"x\"]}"), parsed("{\"b\":[1,\"x\"],\"a\":1}")));
    assert_false(json_equal(parsed("{\"a\":1}"), parsed("{\"a\":1,\"b\":2}")));
    assert_false(json_equal(parsed("{\"a\":1,\"b\":2}"), parsed("{\"a\":1}")));
    assert_false(json_equal(parsed("[1,2]"), parsed("[2,1]")));
    assert_false(json_equal(parsed("[1]"), parsed("[1,1]")));
    assert_false(json_equal(parsed("true"), parsed("false")));
    assert_false(json_equal(parsed("true"), NULL));
    assert_true(json_equal(NULL, NULL));
}

static void indented_text_looks_as_jackson_writes_it(void **state)
{
    (void)state;
    assert_str(json_text_indented(parsed("{\"id\":\"1\",\"s\":{\"n\":2},\"a\":[1,{\"b\":3}],"
                                         "\"e\":[],\"o\":{}}")),
               "{\n  \"id\" : \"1\",\n  \"s\" : {\n    \"n\" : 2\n  },\n  \"a\" : [ 1, {\n"
               "    \"b\" : 3\n  } ],\n  \"e\" : [ ],\n  \"o\" : { }\n}");
}

static void arrays_compare_as_the_text_of_jsonb(void **state)
{
    (void)state;
    assert_str(json_pg_text(parsed("[\"en\",\"fre\"]")), "[\"en\", \"fre\"]");
    assert_str(json_pg_text(parsed("{\"value\":\"X\",\"b\":1,\"a\":{\"zz\":1,\"y\":[]}}")),
               "{\"a\": {\"y\": [], \"zz\": 1}, \"b\": 1, \"value\": \"X\"}");
    assert_str(json_pg_text(parsed("\"plain \\\"text\\\"\"")), "plain \"text\"");
    assert_str(json_pg_text(parsed("true")), "true");
    assert_str(json_pg_text(parsed("[1e-7,2.5e-10,5]")), "[0.0000001, 0.00000000025, 5]");
    assert_str(json_pg_text(parsed("null")), "");
}

static void scalars_have_a_text(void **state)
{
    (void)state;
    assert_str(json_scalar_text(parsed("\"x\"")), "x");
    assert_str(json_scalar_text(parsed("12.50")), "12.5");
    assert_str(json_scalar_text(parsed("false")), "false");
    assert_str(json_scalar_text(parsed("{}")), "");
    assert_str(json_scalar_text(NULL), "");
}

static void foreign_bytes_become_valid_text(void **state)
{
    Buf buf = buf_new(arena_current(), 1000);

    (void)state;
    assert_str(json_text(json_string(S("a\xFF\0z"))), "\"a\xEF\xBF\xBDz\"");
    json_write_string(&buf, S("\xC3("));
    assert_str(buf_str(&buf), "\"\xEF\xBF\xBD(\"");
}

static void a_text_longer_than_its_buffer_is_reported(void **state)
{
    Buf buf = buf_new(arena_current(), 10);

    (void)state;
    json_write(&buf, parsed("{\"a\":\"0123456789\"}"));
    assert_true(buf.overflowed);
    assert_true(buf.len <= 10);
}

static void errors_have_folio_s_body(void **state)
{
    Err *first = err_422(S("CODE"), S("No \"x\""), P("key", S("v")), P_NULL("gone"));
    Err *second = err_422(NO_CODE, S("Blocked"));

    (void)state;
    second->overridable_block = S("patronBlock");
    str_list_add(&second->missing_permissions, S("circulation.override-patron-block.post"));
    first->type = S("1");
    assert_str(
        json_err_text(err_join(first, second)),
        "{\"errors\":[{\"message\":\"No \\\"x\\\"\",\"type\":\"1\",\"code\":\"CODE\","
        "\"parameters\":[{\"key\":\"key\",\"value\":\"v\"},{\"key\":\"gone\",\"value\":null}]},"
        "{\"message\":\"Blocked\",\"parameters\":[],\"overridableBlock\":{\"name\":"
        "\"patronBlock\",\"missingPermissions\":"
        "[\"circulation.override-patron-block.post\"]}}]}");
    assert_str(json_err_text(err_text(404, "Not found")), "Not found");
    assert_str(json_err_text(err_body(400, S("{\"x\":1}"))), "{\"x\":1}");
}

static void reading_stored_documents_outlives_the_current_arena(void **state)
{
    Arena *own = arena_new(1 << 20), *former = arena_use(own);
    Json *doc = json_parse_stored(S("{\"a\":\"b\"}"));

    (void)state;
    arena_use(former);
    assert_str(json_str(doc, "a"), "b");
    Json *copy = json_copy(doc);
    arena_free(own);
    assert_str(json_text(copy), "{\"a\":\"b\"}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document_is_written_as_it_was_read),
        cmocka_unit_test(numbers_are_written_in_their_shortest_exact_form),
        cmocka_unit_test(bad_syntax_is_refused_with_its_place),
        cmocka_unit_test(lax_numbers_are_refused),
        cmocka_unit_test(text_that_no_database_stores_is_refused),
        cmocka_unit_test(nesting_stops_at_64_levels),
        cmocka_unit_test(an_array_of_31_mb_of_zeros_is_refused_without_taking_memory),
        cmocka_unit_test(of_equal_names_the_last_one_counts),
        cmocka_unit_test(paths_find_members_and_elements),
        cmocka_unit_test(a_set_makes_the_objects_on_its_way),
        cmocka_unit_test(elements_can_be_removed_at_every_place),
        cmocka_unit_test(a_value_of_another_tree_is_copied_on_its_way),
        cmocka_unit_test(a_removed_value_can_be_put_elsewhere),
        cmocka_unit_test(a_merge_replaces_adds_and_removes),
        cmocka_unit_test(equality_ignores_the_order_of_members),
        cmocka_unit_test(indented_text_looks_as_jackson_writes_it),
        cmocka_unit_test(arrays_compare_as_the_text_of_jsonb),
        cmocka_unit_test(scalars_have_a_text),
        cmocka_unit_test(foreign_bytes_become_valid_text),
        cmocka_unit_test(a_text_longer_than_its_buffer_is_reported),
        cmocka_unit_test(errors_have_folio_s_body),
        cmocka_unit_test(reading_stored_documents_outlives_the_current_arena),
    };

    return cmocka_run_group_tests_name("json tree", tests, NULL, NULL);
}
