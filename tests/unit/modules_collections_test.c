// The collections of the modules in a real database: all tables are made, reference and sample
// records are stored with their references.
#include "test_store.h"

#include "modules/mod-calendar/collections.h"
#include "modules/mod-circulation-storage/collections.h"
#include "modules/mod-configuration/collections.h"
#include "modules/mod-feesfines/collections.h"
#include "modules/mod-inventory-storage/collections.h"
#include "modules/mod-login/collections.h"
#include "modules/mod-notes/collections.h"
#include "modules/mod-patron-blocks/collections.h"
#include "modules/mod-pubsub/collections.h"
#include "modules/mod-settings/collections.h"
#include "modules/mod-permissions/collections.h"
#include "modules/mod-tags/tags.h"
#include "modules/mod-users/collections.h"

#include "base/asset.h"
#include "gateway/internal.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    const Collection *const *collections;
} modules[] = {
    {"mod-users", users_collections},
    {"mod-permissions", permissions_collections},
    {"mod-login", login_collections},
    {"mod-configuration", configuration_collections},
    {"mod-inventory-storage", inventory_storage_collections},
    {"mod-circulation-storage", circulation_storage_collections},
    {"mod-feesfines", feesfines_collections},
    {"mod-patron-blocks", patron_blocks_collections},
    {"mod-pubsub", pubsub_collections},
    {"mod-settings", settings_collections},
    {"mod-notes", notes_collections},
    {"mod-tags", tags_collections},
    {"mod-calendar", calendar_collections},
};

enum {
    MODULES = sizeof modules / sizeof modules[0],
};

typedef struct {
    char dir[64];
    Store *store;
    Db *db;
} Tenancy;

static void make_tables(Db *db)
{
    for (size_t m = 0; m < MODULES; m++) {
        size_t n = 0;
        while (modules[m].collections[n]) {
            n++;
        }
        assert_ok(db_migrate(db, modules[m].collections, n));
    }
}

static int setup(void **state)
{
    Tenancy *t = calloc(1, sizeof *t);

    strcpy(t->dir, "/tmp/octavo-modules-XXXXXX");
    test_store_make(t->dir);
    StoreOptions options = test_store_options(t->dir);
    assert_ok(store_open(&options, &t->store));
    assert_ok(db_open(t->store, S("town"), true, &t->db));
    asset_use(assets_all);
    make_tables(t->db);
    *state = t;
    return 0;
}

static int teardown(void **state)
{
    Tenancy *t = *state;

    store_close(t->store);
    test_store_remove(t->dir);
    free(t);
    return 0;
}

static const Collection *collection_of(size_t m, Str table)
{
    for (const Collection *const *at = modules[m].collections; *at; at++) {
        if (str_eq_z(table, (*at)->table)) {
            return *at;
        }
    }
    return NULL;
}

static void store_file(Tenancy *t, size_t m, const Asset *asset)
{
    TxOptions options = {.kind = WRITE};
    Str table = {0};
    Docs docs = {0};
    Tx *tx = NULL;
    int64_t count = 0;

    assert_ok(refdata_parse((Str){asset->at, (size_t)(asset->end - asset->at)}, &table, &docs));
    const Collection *of = collection_of(m, table);
    assert_non_null(of);
    assert_ok(tx_begin(t->db, &options, &tx));
    for (size_t i = 0; i < docs.len; i++) {
        Err *err = tx_insert(tx, of, docs.at[i]);
        if (err) {
            fail_msg("%s, record %zu: %s", asset->name, i, str_z(err->message));
        }
    }
    assert_ok(tx_count_where(tx, of, "1 = 1", NO_ARGS, &count));
    assert_int_equal(count, docs.len);
    assert_ok(tx_commit(tx));
}

static void reference_and_sample_records_are_stored(void **state)
{
    static const char *const kinds[] = {"always", "reference", "sample"};
    const Asset *asset = NULL;

    for (size_t k = 0; k < 3; k++) {
        for (size_t m = 0; m < MODULES; m++) {
            const char *prefix = str_z(str_fmt("refdata/%s/%s/", modules[m].name, kinds[k]));
            for (size_t i = 0; (asset = asset_at(prefix, i)); i++) {
                store_file(*state, m, asset);
            }
        }
    }
}

static void making_the_tables_again_changes_nothing(void **state)
{
    Tenancy *t = *state;

    make_tables(t->db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reference_and_sample_records_are_stored, setup, teardown),
        cmocka_unit_test_setup_teardown(making_the_tables_again_changes_nothing, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
