// The inventory inside the process: what other modules get, and what it costs in statements.
#include "test_store.h"

#include "base/asset.h"
#include "gateway/internal.h"
#include "modules/mod-inventory-storage/stock.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    char dir[64];
    Store *store;
    Db *db;
    Tx *tx; // of the test
} Inventory;

static const Collection *collection_of(Str table)
{
    for (const Collection *const *at = inventory_storage_collections; *at; at++) {
        if (str_eq_z(table, (*at)->table)) {
            return *at;
        }
    }
    return NULL;
}

static void load(Inventory *inventory, const char *prefix)
{
    const Asset *asset = NULL;

    for (size_t i = 0; (asset = asset_at(prefix, i)); i++) {
        Docs docs = {0};
        Str table;
        Tx *tx = NULL;
        assert_ok(refdata_parse((Str){asset->at, (size_t)(asset->end - asset->at)}, &table, &docs));
        assert_ok(tx_begin(inventory->db, &(TxOptions){.kind = WRITE}, &tx));
        for (size_t d = 0; d < docs.len; d++) {
            assert_ok(tx_insert(tx, collection_of(table), docs.at[d]));
        }
        assert_ok(tx_commit(tx));
    }
}

// One library for all tests: they only read, or roll back.
static int open_inventory(void **state)
{
    Inventory *inventory = calloc(1, sizeof *inventory);
    size_t n = 0;

    strcpy(inventory->dir, "/tmp/octavo-inventory-XXXXXX");
    test_store_make(inventory->dir);
    StoreOptions options = test_store_options(inventory->dir);
    asset_use(assets_all);
    assert_ok(store_open(&options, &inventory->store));
    assert_ok(db_open(inventory->store, S("town"), true, &inventory->db));
    while (inventory_storage_collections[n]) {
        n++;
    }
    assert_ok(db_migrate(inventory->db, inventory_storage_collections, n));
    load(inventory, "refdata/mod-inventory-storage/always/");
    load(inventory, "refdata/mod-inventory-storage/reference/");
    load(inventory, "refdata/mod-inventory-storage/sample/");
    *state = inventory;
    return 0;
}

static int close_inventory(void **state)
{
    Inventory *inventory = *state;

    store_close(inventory->store);
    test_store_remove(inventory->dir);
    free(inventory);
    return 0;
}

static int begin(void **state)
{
    Inventory *inventory = *state;
    const Json *one = NULL;

    assert_ok(tx_begin(inventory->db, &(TxOptions){.kind = WRITE}, &inventory->tx));
    // The caches of reference records are filled once per process, not per request.
    assert_ok(tx_ref(inventory->tx, &locations, S("0"), &one));
    assert_ok(tx_ref(inventory->tx, &libraries, S("0"), &one));
    assert_ok(tx_ref(inventory->tx, &campuses, S("0"), &one));
    assert_ok(tx_ref(inventory->tx, &institutions, S("0"), &one));
    assert_ok(tx_ref(inventory->tx, &service_points, S("0"), &one));
    return 0;
}

static int roll_back(void **state)
{
    tx_rollback(((Inventory *)*state)->tx);
    return 0;
}

#define CHECK_STATEMENTS(before, n)                                                                \
    assert_int_equal(tx_cost(inventory->tx).statements - (before).statements, (n))

// ---------------------------------------------------------------------------------------------

static void an_item_comes_with_its_title_in_one_statement(void **state)
{
    Inventory *inventory = *state;
    ItemContext found, again;
    TxCost before = tx_cost(inventory->tx);

    assert_ok(item_by_barcode(inventory->tx, S("80001000"), &found));
    CHECK_STATEMENTS(before, 1);
    assert_str(json_str(found.item, "barcode"), "80001000");
    assert_str(json_str(found.instance, "title"), "Tides and harbours: an introduction");
    assert_str(json_str(found.item, "effectiveShelvingOrder"), "VK 3602 A57 11");
    assert_str(json_str(found.holdings, "id"), str_z(json_str(found.item, "holdingsRecordId")));
    assert_ok(item_by_id(inventory->tx, str_upper(json_str(found.item, "id")), &again));
    CHECK_STATEMENTS(before, 2);
    assert_true(json_equal(found.item, again.item));
}

static void what_is_not_there_is_not_found(void **state)
{
    Inventory *inventory = *state;
    ItemContext found = {.item = json_object()};
    TxCost before = tx_cost(inventory->tx);

    assert_ok(item_by_barcode(inventory->tx, S("8000*"), &found));
    assert_null(found.item);
    assert_ok(item_by_id(inventory->tx, S("no uuid"), &found));
    assert_null(found.item);
    CHECK_STATEMENTS(before, 1);
}

static void a_page_of_items_takes_three_statements(void **state)
{
    Inventory *inventory = *state;
    Docs all = {0};
    ItemContexts contexts = {0};
    Str ids[16];

    assert_ok(tx_where(inventory->tx, &items, "1 = 1 order by id", NO_ARGS, &all));
    size_t n = all.len;
    assert_true(n > 4 && n < 14);
    for (size_t i = 0; i < n; i++) {
        ids[i] = json_str(all.at[i], "id");
    }
    ids[n++] = ids[0];
    ids[n++] = S("unknown");
    TxCost before = tx_cost(inventory->tx);
    assert_ok(items_by_ids(inventory->tx, ids, n, &contexts));
    assert_true(tx_cost(inventory->tx).statements - before.statements <= 3);
    assert_int_equal(contexts.len, n);
    for (size_t i = 0; i + 2 < n; i++) {
        assert_str(json_str(contexts.at[i].item, "id"), str_z(ids[i]));
        assert_true(json_str(contexts.at[i].instance, "title").len > 0);
    }
    assert_ptr_equal(contexts.at[n - 2].item, contexts.at[0].item);
    assert_null(contexts.at[n - 1].item);
}

static void a_status_is_set_with_one_statement(void **state)
{
    Inventory *inventory = *state;
    ItemContext found;

    assert_ok(item_by_barcode(inventory->tx, S("80001000"), &found));
    Str order = json_str(found.item, "effectiveShelvingOrder");
    TxCost before = tx_cost(inventory->tx);
    assert_ok(item_status_set(inventory->tx, found.item, S("Checked out")));
    CHECK_STATEMENTS(before, 1);
    assert_str(json_str(found.item, "status.date"), str_z(time_format(tx_now(inventory->tx))));
    assert_int_equal(json_int(found.item, "_version", 0), 2);
    assert_str(json_str(found.item, "effectiveShelvingOrder"), str_z(order));
    assert_ok(item_status_set(inventory->tx, found.item, S("Checked out")));
    CHECK_STATEMENTS(before, 1);
}

static void locations_come_from_memory_with_all_above_them(void **state)
{
    Inventory *inventory = *state;
    LocationContext found;
    ItemContext item;

    assert_ok(item_by_barcode(inventory->tx, S("80001000"), &item));
    TxCost before = tx_cost(inventory->tx);
    assert_ok(location_by_id(inventory->tx, json_str(item.item, "effectiveLocationId"), &found));
    CHECK_STATEMENTS(before, 0);
    assert_str(json_str(found.location, "name"), "Main Stacks");
    assert_str(json_str(found.library, "name"), "Main Reading Library");
    assert_str(json_str(found.campus, "name"), "Town Campus");
    assert_str(json_str(found.institution, "name"), "Harbour University");
    assert_true(location_is_served_by(found.location, json_str(found.primary_service_point, "id")));
    assert_false(location_is_served_by(found.location, S("")));
    assert_ok(location_by_id(inventory->tx, S(""), &found));
    assert_null(found.location);
}

static void the_temporary_loan_type_comes_first(void **state)
{
    Json *item = NULL;

    (void)state;
    assert_ok(json_parse(S("{\"permanentLoanTypeId\":\"p\"}"), &item));
    assert_str(item_loan_type_id(item), "p");
    json_set_str(item, "temporaryLoanTypeId", S("t"));
    assert_str(item_loan_type_id(item), "t");
}

static void the_stock_of_titles_is_read_at_once(void **state)
{
    Inventory *inventory = *state;
    Docs all = {0};
    TitleStock stock[8];
    Str ids[8];
    size_t items_found = 0;

    assert_ok(tx_where(inventory->tx, &instances, "1 = 1 order by id", NO_ARGS, &all));
    for (size_t i = 0; i < all.len; i++) {
        ids[i] = json_str(all.at[i], "id");
    }
    ids[all.len] = S("00000000-0000-4000-8000-000000000000");
    TxCost before = tx_cost(inventory->tx);
    assert_ok(stock_read(inventory->tx, ids, all.len + 1, false, stock));
    assert_true(tx_cost(inventory->tx).statements - before.statements <= 5);
    for (size_t i = 0; i < all.len; i++) {
        assert_int_equal(stock[i].holdings.len, 1);
        items_found += stock[i].item_count;
    }
    assert_int_equal(items_found, 8);
    assert_null(stock[all.len].instance);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_item_comes_with_its_title_in_one_statement, begin,
                                        roll_back),
        cmocka_unit_test_setup_teardown(what_is_not_there_is_not_found, begin, roll_back),
        cmocka_unit_test_setup_teardown(a_page_of_items_takes_three_statements, begin, roll_back),
        cmocka_unit_test_setup_teardown(a_status_is_set_with_one_statement, begin, roll_back),
        cmocka_unit_test_setup_teardown(locations_come_from_memory_with_all_above_them, begin,
                                        roll_back),
        cmocka_unit_test(the_temporary_loan_type_comes_first),
        cmocka_unit_test_setup_teardown(the_stock_of_titles_is_read_at_once, begin, roll_back),
    };
    return cmocka_run_group_tests(tests, open_inventory, close_inventory);
}
