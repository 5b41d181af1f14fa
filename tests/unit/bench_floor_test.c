// The floor measurement: its statements are read, run and measured.
#include "test.h"

#include "bench/data/data.h"
#include "bench/floor/floor.h"

#include "base/asset.h"

#include <ftw.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

extern const Asset assets_all[];

static int remove_one(const char *name, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    return remove(name);
}

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/octavo-floor-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void the_built_in_transaction_runs(void **state)
{
    Floor floor = {0};
    FloorDatabase database = {.seconds = 0.05};
    (void)state;

    assert_true(asset_find("bench/floor.txt", &database.statements));
    assert_ok(library_of_recipe(S("tiny"), str_of(folder)));
    database.file = str_z(str_fmt("%s/diku.db", folder));
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
        {"undo DELETE", "expected pick or do, not \"undo\""},
        {"# nothing", "the statements do nothing"},
        {"pick item", "pick needs a name and a query; at most 4"},
        {"pick item SELECT 1 WHERE 0", "nothing to pick: SELECT 1 WHERE 0"},
        {"pick item SELECT 1 AS id\ndo SELECT $1 -- item.name", "\"item.name\" is no value"},
        {"do SELECT $1 -- doc:8", "\"doc:8\" is no value"},
        {"do SELECT $1 -- soon", "\"soon\" is no value"},
        {"do DELETE FORM t --", "near \"FORM\": syntax error: DELETE FORM t"},
    };
    Floor floor = {0};
    (void)state;

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        FloorDatabase database = {.statements = str_of(wrong[i].statements),
                                  .file = str_z(str_fmt("%s/empty.db", folder)),
                                  .seconds = 0.05};
        fclose(fopen(database.file, "a"));
        Err *err = floor_measure_database(&database, &floor);
        assert_non_null(err);
        assert_string_equal(str_z(err->message), wrong[i].message);
    }
}

static void every_kind_of_value_is_bound(void **state)
{
    static const char statements[] =
        "pick item SELECT 'i' || value AS id, value AS n FROM json_each('[1, 2, 3]')\n"
        "do INSERT INTO t VALUES ($2, $1, $3, $4, $5, $6, $7) -- 'two words' item.id null doc:50 "
        "new:loan now+1000 -7";
    FloorDatabase database = {.statements = str_of(statements),
                              .file = str_z(str_fmt("%s/values.db", folder)),
                              .seconds = 60};
    Floor floor = {0};
    sqlite3 *db = NULL;
    (void)state;

    assert_int_equal(sqlite3_open(database.file, &db), 0);
    assert_int_equal(sqlite3_exec(db, "CREATE TABLE t (a, b, c, d, e, f, g)", NULL, NULL, NULL), 0);
    // Three items are too few for a group of 20: the first measurement takes them all.
    Err *err = floor_measure_database(&database, &floor);
    assert_non_null(err);
    assert_string_equal(str_z(err->message), "nothing is left to pick");
    sqlite3_stmt *stmt = NULL;
    assert_int_equal(sqlite3_prepare_v2(
                         db,
                         "SELECT count(DISTINCT a), count(DISTINCT e) FROM t WHERE a GLOB 'i[123]'"
                         " AND b = 'two words' AND c IS NULL AND length(d) = 50 AND length(e) = 36"
                         " AND f > 1000 AND g = -7",
                         -1, &stmt, NULL),
                     0);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(stmt, 0), 3);
    assert_int_equal(sqlite3_column_int(stmt, 1), 3);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
}

static void the_same_statements_become_a_script_of_pgbench(void **state)
{
    static const char expected[] =
        "select (extract(epoch from clock_timestamp()) * 1000)::bigint as now, item_id, new_loan "
        "from octavo_floor where n = (select nextval('octavo_floor_n')) \\gset\n"
        "\\set now_1000 :now + 1000\n"
        "\\startpipeline\n"
        "begin;\n"
        "insert into t values ('two $1 words', :item_id, null, :doc_50, :new_loan, :now_1000, "
        "-7);\n"
        "commit;\n"
        "\\endpipeline\n";
    PgbenchScript script;
    (void)state;

    assert_ok(pgbench_script(S("pick item SELECT id FROM item\n"
                               "do insert into t values ($2, $1, $3, $4, $5, $6, $7) -- item.id "
                               "'two $1 words' null doc:50 new:loan now+1000 -7"),
                             &script));
    assert_str(pgbench_text(&script, false), expected);
    assert_str(script.documents.at[0], "doc:50");
    assert_true(str_find(pgbench_table(&script), S("item_rows.id as item_id"), 0) > 0);
    assert_err(pgbench_script(S("do select $2 -- 1"), &script), 400, "$2 has no value: select $2");
    assert_err(pgbench_script(S("do select $1 -- soon"), &script), 400, "\"soon\" is no value");
    assert_err(pgbench_script(S("undo"), &script), 400, "expected pick or do, not \"undo\"");
    assert_err(pgbench_script(S("# nothing"), &script), 400, "the statements do nothing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_echo_is_answered),
        cmocka_unit_test(the_built_in_transaction_runs),
        cmocka_unit_test(statements_that_are_wrong_are_refused),
        cmocka_unit_test(every_kind_of_value_is_bound),
        cmocka_unit_test(the_same_statements_become_a_script_of_pgbench),
    };
    asset_use(assets_all);
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
