// What mod-users does by itself and for other modules: expiry, names of custom fields, settings.
#include "module_world.h"

#include "modules/mod-configuration/configuration.h"
#include "modules/mod-users/internal.h"

static World world;

static int setup(void **state)
{
    (void)state;
    world_open(&world, users_collections);
    return 0;
}

static int setup_configuration(void **state)
{
    (void)state;
    world_open(&world, configuration_collections);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world_close(&world);
    return 0;
}

static int64_t count_active(void)
{
    Tx *tx = world_begin(&world, READ);
    int64_t n = 0;

    assert_ok(tx_count_where(tx, &users, "is_active = 1", NO_ARGS, &n));
    tx_rollback(tx);
    return n;
}

static void users_whose_time_is_over_become_inactive(void **state)
{
    Time now = 0;
    (void)state;

    for (int i = 0; i < 250; i++) {
        world_insert(&world, &users, "{'active':true,'expirationDate':'2024-01-01T00:00:00Z'}");
    }
    world_insert(&world, &users, "{'active':true,'expirationDate':'2024-03-01T00:00:00Z'}");
    world_insert(&world, &users, "{'active':true}");
    assert_true(time_parse(S("2024-02-01T00:00:00Z"), &now));
    assert_ok(users_expire(world.db, now));
    assert_int_equal(count_active(), 2);
}

static void a_user_is_found_by_barcode_as_it_is(void **state)
{
    Json *user = NULL;
    (void)state;

    world_insert(&world, &users, "{'barcode':'Bär*1'}");
    Tx *tx = world_begin(&world, READ);
    assert_ok(user_by_barcode(tx, S("BAR*1"), &user));
    assert_non_null(user);
    assert_ok(user_by_barcode(tx, S("bar*"), &user));
    assert_null(user);
    tx_rollback(tx);
}

static void custom_fields_are_named_by_their_letters(void **state)
{
    (void)state;
    assert_str(custom_field_ref_id(S("Patron's type 2")), "patronsType");
    assert_str(custom_field_ref_id(S("  two  WORDS ")), "twoWords");
    assert_str(custom_field_ref_id(S("2nd name")), "ndName");
    assert_str(custom_field_ref_id(S("Größe")), "groe");
    assert_str(custom_field_ref_id(S("Müller Élan")), "mullerElan");
    assert_str(custom_field_ref_id(S("42")), "NDI");
}

static void settings_are_read_as_text_or_json(void **state)
{
    Setting setting;
    Str text;
    (void)state;

    world_insert(&world, &configurations,
                 "{'module':'ORG','configName':'localeSettings','value':'{\\'timezone\\':"
                 "\\'Europe/Berlin\\',\\'currency\\':\\'EUR\\'}'}");
    world_insert(&world, &configurations, "{'module':'X','configName':'a','code':'c','value':'1'}");
    world_insert(&world, &configurations,
                 "{'module':'X','configName':'b','code':'c','value':'2','enabled':false}");
    Tx *tx = world_begin(&world, READ);
    assert_ok(configuration_find(tx, "ORG", "localeSettings", NULL, &setting));
    assert_str(json_str(setting.value, "timezone"), "Europe/Berlin");
    assert_ok(configuration_text(tx, "X", "c", S("none"), &text));
    assert_str(text, "1");
    assert_ok(configuration_text(tx, "X", "d", S("none"), &text));
    assert_str(text, "none");
    assert_ok(configuration_find(tx, "X", "a", NULL, &setting));
    assert_true(json_is_number(setting.value));
    tx_rollback(tx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(users_whose_time_is_over_become_inactive, setup, teardown),
        cmocka_unit_test_setup_teardown(a_user_is_found_by_barcode_as_it_is, setup, teardown),
        cmocka_unit_test(custom_fields_are_named_by_their_letters),
        cmocka_unit_test_setup_teardown(settings_are_read_as_text_or_json, setup_configuration,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
