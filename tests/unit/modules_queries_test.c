// The everyday queries against the modules' own descriptors: side columns and indexes answer them.
#include "test_store.h"

#include "modules/mod-circulation-storage/collections.h"
#include "modules/mod-configuration/collections.h"
#include "modules/mod-feesfines/collections.h"
#include "modules/mod-inventory-storage/collections.h"
#include "modules/mod-patron-blocks/collections.h"
#include "modules/mod-permissions/collections.h"
#include "modules/mod-users/collections.h"

#include "store/query.h"

#include <stdlib.h>
#include <string.h>

static const Collection *const *const modules[] = {
    users_collections,         inventory_storage_collections, circulation_storage_collections,
    configuration_collections, feesfines_collections,         patron_blocks_collections,
    permissions_collections,
};

enum { MODULES = sizeof modules / sizeof modules[0] };

// Tables that stay small: reading all of one is fine, their documents as well.
static const char *const small[] = {"config_data", "feefines",      "permissions", "groups",
                                    "departments", "service_point", "location",    "material_type"};

static const Collection *collection_of(Str table)
{
    for (size_t m = 0; m < MODULES; m++) {
        for (size_t i = 0; modules[m][i]; i++) {
            if (str_eq_z(table, modules[m][i]->table)) {
                return modules[m][i];
            }
        }
    }
    return NULL;
}

static bool is_small(Str table)
{
    for (size_t i = 0; i < sizeof small / sizeof small[0]; i++) {
        if (str_eq_z(table, small[i])) {
            return true;
        }
    }
    return false;
}

static Err *take_step(const Row *row, void *context)
{
    buf_add(context, row_text(row, test_is_embedded() ? 3 : 0));
    buf_add_z(context, "; ");
    return NULL;
}

static bool is_asked_for(const Plan *plan, const Field *field)
{
    return field->flags & (INDEX | UNIQUE) && plan->where.at &&
           str_find(plan->where, str_fmt("\"%s\" = $", field->column), 0) >= 0;
}

// An index in which each value stands many times is used although the query knows a better one.
static bool is_found_the_long_way(const Collection *of, const Plan *plan, Str steps)
{
    bool knows_better = false, goes_long = false;

    for (const Field *field = of->fields; field && field->column; field++) {
        bool is_coarse = field->flags & COARSE;
        Str index = str_fmt("USING INDEX %s_%s_idx ", of->table, field->column);
        knows_better = knows_better || (!is_coarse && is_asked_for(plan, field));
        goes_long = goes_long || (is_coarse && str_find(steps, index, 0) >= 0);
    }
    return knows_better && goes_long;
}

// In an empty table all ways cost the same: open loans as they are in a library.
static void lend_some(Tx *tx)
{
    assert_ok(
        tx_exec(tx,
                "insert into loan (doc, id, filled, version, item_id, user_id, status, due_at) "
                "select '{}', cast(n as text), 0, 1, cast(n as text), cast(n / 4 as text), "
                "case when n % 4 = 0 then 'open' else 'closed' end, n "
                "from generate_series(1, 4000) as n",
                NO_ARGS, NULL));
    assert_ok(tx_exec(tx, "analyze loan", NO_ARGS, NULL));
}

// PostgreSQL reads a whole table whenever it is as small as here, unless it is told that this is
// dear: then it does so only where it has no other way. Order counts where it decides the way.
static Str complaint_of_postgres(Tx *tx, const Collection *of, const Plan *plan)
{
    bool walks = plan->walk_index != NULL || !plan->where.at;
    Buf steps = buf_new(arena_current(), 10000);
    Str sql = str_fmt("explain select pk, id, doc from \"%s\"%s" STR_FMT "%s" STR_FMT " limit 10",
                      of->table, plan->where.at ? " where " : "", STR_ARG(plan->where),
                      walks ? " order by " : "", STR_ARG(walks ? plan->order_by : S("")));

    assert_ok(tx_exec(tx, "set local enable_seqscan = off", NO_ARGS, NULL));
    assert_ok(tx_rows(tx, sql.at, plan->args, take_step, &steps));
    Str text = buf_str(&steps);
    bool reads_all = str_find(text, str_fmt("Seq Scan on %s ", of->table), 0) >= 0 ||
                     (!walks && str_find(text, S("Index Cond"), 0) < 0);
    return reads_all ? text : S("");
}

// What is wrong with the query's plan; empty if nothing is.
static Str complaint(Tx *tx, const Collection *of, Str query)
{
    ListRequest request = {.query = query, .limit = 10};
    Plan plan;
    Buf steps = buf_new(arena_current(), 10000);

    Err *err = query_plan(tx, of, &request, &plan);
    if (err) {
        return err->message;
    }
    if (!plan.is_exact && !plan.where.at) {
        return S("documents decide alone");
    }
    if (!plan.sorts_in_sql) {
        return S("documents sort");
    }
    if (!test_is_embedded()) {
        return complaint_of_postgres(tx, of, &plan);
    }
    Str sql = str_fmt("explain query plan select pk, id, doc from \"%s\"%s" STR_FMT
                      " order by " STR_FMT " limit 10",
                      of->table, plan.where.at ? " where " : "", STR_ARG(plan.where),
                      STR_ARG(plan.order_by));
    assert_ok(tx_rows(tx, sql.at, plan.args, take_step, &steps));
    bool walks_sort_index = plan.walk_index != NULL || !plan.where.at;
    bool scans = str_find(buf_str(&steps), str_fmt("SCAN %s;", of->table), 0) >= 0 ||
                 (!walks_sort_index &&
                  str_find(buf_str(&steps), str_fmt("SCAN %s USING", of->table), 0) >= 0);
    return scans || is_found_the_long_way(of, &plan, buf_str(&steps)) ? buf_str(&steps) : S("");
}

static void everyday_queries_use_side_columns_and_indexes(void **state)
{
    char dir[] = "/tmp/octavo-queries-XXXXXX";
    TxOptions reading = {.kind = test_is_embedded() ? READ : WRITE}; // it changes a setting
    Store *store = NULL;
    Db *db = NULL;
    Tx *tx = NULL;
    FILE *file = fopen(TESTS_DIR "/data/everyday_queries.t", "r");
    char line[1000];
    int failed = 0;
    (void)state;

    assert_non_null(file);
    test_store_make(dir);
    StoreOptions options = test_store_options(dir);
    assert_ok(store_open(&options, &store));
    assert_ok(db_open(store, S("diku"), true, &db));
    for (size_t m = 0; m < MODULES; m++) {
        size_t n = 0;
        while (modules[m][n]) {
            n++;
        }
        assert_ok(db_migrate(db, modules[m], n));
    }
    assert_ok(tx_begin(db, &reading, &tx));
    if (!test_is_embedded()) {
        lend_some(tx);
    }
    while (fgets(line, sizeof line, file)) {
        Str query = str_trim(str_copy(arena_current(), str_of(line))), table;
        if (!query.len || query.at[0] == '#') {
            continue;
        }
        assert_true(str_next(&query, '\t', &table));
        const Collection *of = collection_of(table);
        Str wrong = of ? complaint(tx, of, query) : S("no such table");
        if (wrong.len && !(of && is_small(table) && !str_starts(wrong, S("CQL")))) {
            print_error("%.*s: %.*s\n    %.*s\n", STR_ARG(table), STR_ARG(query), STR_ARG(wrong));
            failed++;
        }
    }
    fclose(file);
    assert_ok(tx_commit(tx));
    store_close(store);
    test_store_remove(dir);
    assert_int_equal(failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everyday_queries_use_side_columns_and_indexes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
