// Module ids, versions, and the small texts of descriptors.
#include "test.h"

#include "gateway/internal.h"

static void ids_split_before_the_version(void **state)
{
    static const char *const cases[][3] = {
        {"mod-users-19.3.1", "mod-users", "19.3.1"},
        {"folio_users-11.0.5", "folio_users", "11.0.5"},
        {"edge-sip2-3.2.0-SNAPSHOT.209", "edge-sip2", "3.2.0-SNAPSHOT.209"},
        {"mod-users", "mod-users", ""},
        {"", "", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Str product, version;
        module_id_split(str_of(cases[i][0]), &product, &version);
        assert_str(product, cases[i][1]);
        assert_str(version, cases[i][2]);
    }
}

static void versions_sort_by_number_and_snapshots_first(void **state)
{
    static const char *const ascending[] = {
        "a-1.0.0-SNAPSHOT.2",
        "a-1.0.0-SNAPSHOT.10",
        "a-1.0.0",
        "a-1.2.0",
        "a-1.10.0",
        "a-2.0.0",
        "b-0.1.0",
    };
    (void)state;
    for (size_t i = 0; i < sizeof ascending / sizeof *ascending; i++) {
        for (size_t k = 0; k < sizeof ascending / sizeof *ascending; k++) {
            int order = module_id_cmp(str_of(ascending[i]), str_of(ascending[k]));
            assert_int_equal((order > 0) - (order < 0), (i > k) - (i < k));
        }
    }
}

static void a_requirement_is_met_within_its_major(void **state)
{
    (void)state;
    assert_true(interface_fits(S("16.2"), S("16.2")));
    assert_true(interface_fits(S("16.10"), S("16.2")));
    assert_false(interface_fits(S("16.1"), S("16.2")));
    assert_false(interface_fits(S("17.0"), S("16.2")));
    assert_true(interface_fits(S("16.0"), S("15.0 16.0")));
    assert_false(interface_fits(S("14.9"), S("15.0 16.0")));
    assert_true(interface_fits(S("2.9.1"), S("2.9.0")));
    assert_false(interface_fits(S("1.0"), S("")));
}

static void names_of_permissions_become_readable(void **state)
{
    (void)state;
    assert_str(permission_display_name(S("users.item.get")), "Users: item: get");
    assert_str(permission_display_name(S("note-types.all")), "Note types: all");
}

static void definitions_are_read_from_a_descriptor(void **state)
{
    (void)state;
    Json *descriptor = NULL;
    PermissionDefinitions found;
    assert_ok(
        json_parse(S("{\"id\":\"folio_x-1.2.0\",\"permissionSets\":[{\"permissionName\":\"a\","
                     "\"displayName\":\"A\",\"visible\":true,\"subPermissions\":[\"b\",\"c\"],"
                     "\"replaces\":[\"old\"]},{\"permissionName\":\"b\"}]}"),
                   &descriptor));
    definitions_of(descriptor, &found);
    assert_str(found.module_name, "folio_x");
    assert_str(found.module_version, "1.2.0");
    assert_int_equal(found.len, 2);
    assert_int_equal(found.at[0].sub_permissions.len, 2);
    assert_true(found.at[0].is_visible);
    assert_str(found.at[0].replaces.at[0], "old");
    assert_false(found.at[1].is_visible);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_split_before_the_version),
        cmocka_unit_test(versions_sort_by_number_and_snapshots_first),
        cmocka_unit_test(a_requirement_is_met_within_its_major),
        cmocka_unit_test(names_of_permissions_become_readable),
        cmocka_unit_test(definitions_are_read_from_a_descriptor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
