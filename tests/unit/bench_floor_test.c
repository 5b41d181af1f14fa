// The floor measurement: its statements are read, run and measured.
#include "test.h"

#include "bench/floor.h"

#include "base/asset.h"

extern const Asset assets_all[];

static FloorDatabase database_of(const char *statements)
{
    return (FloorDatabase){
        .statements = str_of(statements), .folder = "/tmp", .items = 200, .seconds = 0.05};
}

static void the_built_in_transaction_runs(void **state)
{
    Floor floor = {0};
    FloorDatabase database = database_of("");
    (void)state;

    assert_true(asset_find("bench/floor.txt", &database.statements));
    assert_ok(floor_measure_database(&database, &floor));
    assert_true(floor.cpu_us[0] > 0 && floor.cpu_us[1] > 0);
    assert_true(floor.wall_us[0] > 0 && floor.per_s[1] > 0);
    assert_ok(floor_measure_sync("/tmp", 0.05, &floor));
    assert_true(floor.sync_us > 0);
}

static void an_echo_is_answered(void **state)
{
    Floor floor = {0};
    (void)state;

    assert_ok(floor_measure_echo(0.2, &floor));
    assert_true(floor.echo_cpu_us > 0 && floor.echo_wall_us > 0 && floor.echo_per_s > 0);
}

static void statements_that_are_wrong_are_refused(void **state)
{
    static const struct {
        const char *statements, *message;
    } wrong[] = {
        {"undo DELETE", "expected schema, fill or do (at most 128), not \"undo\""},
        {"do SELECT $1 -- id:items:x", "\"id:items:x\" is no value"},
        {"do SELECT $1 -- doc:8:n", "\"doc:8:n\" is no value"},
        {"do SELECT $1 -- int:n/0", "\"int:n/0\" is no value"},
        {"fill many INSERT", "fill needs a factor, not \"many\""},
        {"# nothing", "the statements make no table users or do nothing"},
        {"schema CREATE TABEL t", "near \"TABEL\": syntax error: CREATE TABEL t"},
    };
    Floor floor = {0};
    (void)state;

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        FloorDatabase database = database_of(wrong[i].statements);
        Err *err = floor_measure_database(&database, &floor);
        assert_non_null(err);
        assert_string_equal(str_z(err->message), wrong[i].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_echo_is_answered),
        cmocka_unit_test(the_built_in_transaction_runs),
        cmocka_unit_test(statements_that_are_wrong_are_refused),
    };
    asset_use(assets_all);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
