// ISBN searches: how digits of an identifier and of a query's term are put together.
#include "test.h"

#include "modules/mod-inventory-storage/isbn.h"

static void digits_at_the_front_lose_blanks_and_hyphens(void **state)
{
    (void)state;
    assert_str(isbn_term(S("978 92 8011 565 9(Vol. 1)")), "9789280115659 (Vol. 1)");
    assert_str(isbn_term(S(" 01 2- 3 -- 45 -a 7 -8")), "012345 a 7 -8");
    assert_str(isbn_term(S("1-4028-9462*")), "140289462*");
    assert_str(isbn_term(S("no digits")), "no digits");
    assert_str(isbn_term(S("")), "");
}

static void only_identifiers_of_the_type_count(void **state)
{
    Json *instance = NULL;

    (void)state;
    assert_ok(json_parse(S("{\"identifiers\":["
                           "{\"identifierTypeId\":\"8261054f-be78-422d-bd51-4ed9f33c3422\","
                           "\"value\":\"0-552-14235-2\"},"
                           "{\"identifierTypeId\":\"fcca2643-406a-482a-b760-7a7f8aec640e\","
                           "\"value\":\"12-3\"},"
                           "{\"identifierTypeId\":\"8261054f-be78-422d-bd51-4ed9f33c3422\","
                           "\"value\":\"9780552142352 (pbk.)\"}]}"),
                         &instance));
    assert_str(isbn_text(instance), "0552142352 9780552142352 (pbk.)");
    assert_str(invalid_isbn_text(instance), "123");
    assert_str(item_isbn_text(instance), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digits_at_the_front_lose_blanks_and_hyphens),
        cmocka_unit_test(only_identifiers_of_the_type_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
