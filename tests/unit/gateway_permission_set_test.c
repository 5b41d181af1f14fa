// Sets of permission names.
#include "test.h"

#include "gateway/gateway.h"

static PermissionNames *names;

static int make_names(void **state)
{
    (void)state;
    names = permission_names_new();
    for (int i = 0; i < 5000; i++) {
        permission_number(names, str_fmt("mod-%d.item.get", i));
    }
    return 0;
}

static void names_keep_their_numbers(void **state)
{
    (void)state;
    size_t number = 0;
    assert_int_equal(permission_count(names), 5000);
    assert_int_equal(permission_number(names, S("mod-17.item.get")), 17);
    assert_true(permission_find(names, S("mod-4999.item.get"), &number));
    assert_int_equal(number, 4999);
    assert_false(permission_find(names, S("mod-5000.item.get"), &number));
    assert_str(permission_name(names, 42), "mod-42.item.get");
}

static void a_set_holds_what_was_added(void **state)
{
    (void)state;
    PermissionSet *set = permission_set_new(names);
    permission_set_add(set, 0);
    permission_set_add(set, 4999);
    permission_set_add_other(set, S("unknown"));
    permission_set_add_other(set, S("unknown"));
    assert_true(permission_set_has(set, S("mod-0.item.get")));
    assert_true(permission_set_has(set, S("mod-4999.item.get")));
    assert_true(permission_set_has(set, S("unknown")));
    assert_false(permission_set_has(set, S("mod-1.item.get")));
    assert_false(permission_set_has(set, S("mod-1")));
    StrList all = {0};
    permission_set_names(set, &all);
    assert_int_equal(all.len, 3);
    assert_str(all.at[2], "unknown");
}

static void nobody_has_nothing(void **state)
{
    (void)state;
    StrList found = {0};
    assert_false(permission_set_has(NULL, S("x")));
    permission_set_names(NULL, &found);
    permission_set_match(NULL, S("*"), &found);
    assert_int_equal(found.len, 0);
}

static void patterns_find_names(void **state)
{
    (void)state;
    PermissionSet *set = permission_set_new(names);
    StrList found = {0};
    permission_set_add(set, 7);
    permission_set_add(set, 77);
    permission_set_add_other(set, S("settings.read.a.b"));
    permission_set_match(set, S("mod-7*.get"), &found);
    assert_int_equal(found.len, 2);
    permission_set_match(set, S("settings.*.b"), &found);
    assert_int_equal(found.len, 3);
    permission_set_match(set, S("settings.*.c"), &found);
    permission_set_match(set, S("mod-7.item.get"), &found);
    assert_int_equal(found.len, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_keep_their_numbers),
        cmocka_unit_test(a_set_holds_what_was_added),
        cmocka_unit_test(nobody_has_nothing),
        cmocka_unit_test(patterns_find_names),
    };
    return cmocka_run_group_tests(tests, make_names, NULL);
}
