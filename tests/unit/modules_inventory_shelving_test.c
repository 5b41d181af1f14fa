// Shelving order of call numbers: our own vectors, and FOLIO's when they lie next to the
// repository.
#include "test.h"

#include "base/asset.h"
#include "json/json.h"
#include "modules/mod-inventory-storage/shelving_order.h"

#include <stdio.h>

static Str read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    Buf buf = buf_new(arena_current(), 4 << 20);
    size_t n = 1;

    while (file && n) {
        char *room = buf_room(&buf, 4096);
        n = fread(room, 1, 4096, file);
        buf.len += n;
    }
    if (file) {
        fclose(file);
    }
    return buf_str(&buf);
}

static Str type_id(Str name)
{
    static const char *const ids[][2] = {
        {"LC", "95467209-6d7b-468b-94df-0f5d7ad2747d"},
        {"NLM", "054d460d-d6b9-4469-9e37-7a78a2266655"},
        {"Dewey", "03dd64d0-5626-4ecd-8ece-4531e0069f35"},
        {"SuDoc", "fc388041-6cd0-4806-8a74-ebe3b9ab4c6e"},
    };
    for (size_t i = 0; i < 4; i++) {
        if (str_eq_z(name, ids[i][0])) {
            return str_of(ids[i][1]);
        }
    }
    return (Str){0};
}

static void call_numbers_sort_by_their_scheme(void **state)
{
    (void)state;
    Str text = read_file(TESTS_DIR "/data/shelving_order.tsv"), line;
    size_t n = 0;

    while (str_next(&text, '\n', &line) && line.len) {
        Str scheme, number, suffix, key;
        assert_true(str_next(&line, '\t', &scheme) && str_next(&line, '\t', &number) &&
                    str_next(&line, '\t', &suffix) && str_next(&line, '\t', &key));
        CallNumber of = {.call_number = number, .suffix = suffix, .type_id = type_id(scheme)};
        assert_string_equal(str_z(shelving_order(&of)), str_z(key));
        n++;
    }
    assert_true(n > 10);
}

static void blank_call_numbers_have_no_order(void **state)
{
    (void)state;
    CallNumber of = {.call_number = S("  "), .suffix = S("x"), .following = {S("v. 1")}};

    assert_int_equal(shelving_order(&of).len, 0);
}

static void the_vectors_of_folio_give_the_same_keys(void **state)
{
    (void)state;
    Str text = read_file(SOURCE_DIR "/../shared/folio/sample/mod-inventory-storage/"
                                    "shelving-order-vectors.json");
    Json *doc = NULL;

    if (!text.len) {
        skip_because("FOLIO's call number vectors are not beside the repository");
    }
    assert_ok(json_parse(text, &doc));
    JSON_EACH(one, json_get(doc, "vectors"))
    {
        CallNumber of = {.call_number = json_str(one, "callNumber"),
                         .type_id = json_str(one, "callNumberTypeId"),
                         .suffix = json_str(one, "suffix"),
                         .following = {json_str(one, "volume"), json_str(one, "enumeration"),
                                       json_str(one, "chronology"), json_str(one, "copyNumber")}};
        Str expected = json_str(one, "effectiveShelvingOrder");
        if (!str_eq(shelving_order(&of), expected)) {
            print_message("%s: %s, not %s\n", str_z(of.call_number), str_z(shelving_order(&of)),
                          str_z(expected));
            fail();
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(call_numbers_sort_by_their_scheme),
        cmocka_unit_test(blank_call_numbers_have_no_order),
        cmocka_unit_test(the_vectors_of_folio_give_the_same_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
