// Tenants on a real store: made, enabled, found again after a restart.
#include "test_store.h"

#include "gateway/internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static const Property thing_properties[] = {{"id", ID}, {"name", STRING, REQUIRED}, {0}};
static const RecordType thing_record = {"Thing", .properties = thing_properties};
static const Field thing_fields[] = {{"name", "name", TEXT | UNIQUE}, {0}};
static const Collection things = {.table = "thing",
                                  .path = "/things",
                                  .list_key = "things",
                                  .ops = "LCDrud",
                                  .permission = "things",
                                  .record = &thing_record,
                                  .fields = thing_fields};
static const Collection *const tables[] = {&things, NULL};
static const Interface things_provides[] = {{"things", "1.2", .collections = tables}, {0}};
static const Interface users_provides[] = {{"lenders", "3.0"}, {0}};
static const char *const lenders_require[] = {"things 1.0", NULL};

static int inits;

static Err *things_init(Tx *tx)
{
    (void)tx;
    inits++;
    return NULL;
}

static const Module mod_things = {.name = "mod-things",
                                  .version = "1.0.0",
                                  .provides = things_provides,
                                  .collections = tables,
                                  .tenant_init = things_init};
static const Module mod_lenders = {.name = "mod-lenders",
                                   .version = "2.0.0",
                                   .provides = users_provides,
                                   .requires = lenders_require};
static const Module *const modules[] = {&mod_lenders, &mod_things, NULL};

static char folder[] = "/tmp/octavo-tenants-XXXXXX";
static App app;

static void open_app(void)
{
    StoreOptions options = test_store_options(folder);

    app = (App){.modules = modules};
    assert_ok(store_open(&options, &app.store));
    assert_ok(gateway_start(&app));
}

static void close_app(void)
{
    store_close(app.store);
    gateway_stop(&app);
}

static int set_up(void **state)
{
    (void)state;
    test_store_make(folder);
    open_app();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    close_app();
    test_store_remove(folder);
    return 0;
}

static Tenant *found(const char *id)
{
    Tenant *tenant = NULL;
    assert_ok(tenant_find(&app, str_of(id), &tenant));
    return tenant;
}

static void the_supertenant_is_there(void **state)
{
    (void)state;
    assert_true(tenant_has_module(found("supertenant"), "okapi"));
    Tenant *tenant = NULL;
    assert_err(tenant_find(&app, S("nobody"), &tenant), 400, "No such Tenant nobody");
}

static void a_module_brings_what_it_requires(void **state)
{
    (void)state;
    static const char *const wanted[] = {"mod-lenders", NULL};
    assert_ok(tenant_create(&app, S("alpha"), S("Alpha"), S("")));
    assert_false(tenant_has_module(found("alpha"), "mod-things"));
    inits = 0;
    assert_ok(tenant_enable(&app, S("alpha"), wanted, true, false));
    assert_true(tenant_has_module(found("alpha"), "mod-things"));
    assert_true(tenant_has_module(found("alpha"), "mod-lenders"));
    assert_int_equal(inits, 1);
    assert_ok(tenant_enable(&app, S("alpha"), wanted, true, false));
    assert_int_equal(inits, 1);
}

static void what_is_enabled_outlives_a_restart(void **state)
{
    (void)state;
    close_app();
    open_app();
    assert_true(tenant_has_module(found("alpha"), "mod-lenders"));
    Db *db = NULL;
    assert_null(tenant_db(found("alpha"))); // nothing is opened before it is needed
    assert_ok(tenant_ready(found("alpha"), &db));
    assert_non_null(db);
}

static void the_signing_key_outlives_a_restart(void **state)
{
    (void)state;
    Str token;
    TokenSubject subject = {.tenant = S("alpha"), .user_name = S("x")}, read;
    assert_ok(token_sign(&app, &subject, time_now(), 0, &token));
    close_app();
    open_app();
    assert_true(token_verify(&app, token, time_now(), &read));
}

enum {
    THREADS = 8,
};

static void *create_beta(void *result)
{
    Err *err = tenant_create(&app, S("beta"), S("Beta"), S(""));
    *(bool *)result = err == NULL;
    return NULL;
}

static void of_many_that_make_the_same_tenant_one_succeeds(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    bool made[THREADS];
    int successes = 0;
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, create_beta, &made[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        successes += made[i];
    }
    assert_int_equal(successes, 1);
}

static void a_dropped_tenant_leaves_nothing(void **state)
{
    (void)state;
    static const char *const wanted[] = {"mod-things", NULL};
    Tenant *tenant = NULL;
    assert_ok(tenant_create(&app, S("gamma"), S("Gamma"), S("")));
    assert_ok(tenant_enable(&app, S("gamma"), wanted, false, false));
    assert_ok(tenant_drop(&app, S("gamma")));
    assert_non_null(tenant_find(&app, S("gamma"), &tenant));
    assert_int_not_equal(access(str_z(str_fmt("%s/gamma.db", folder)), F_OK), 0);
    assert_err(tenant_drop(&app, S("gamma")), 404, "Tenant gamma not found");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_supertenant_is_there),
        cmocka_unit_test(a_module_brings_what_it_requires),
        cmocka_unit_test(what_is_enabled_outlives_a_restart),
        cmocka_unit_test(the_signing_key_outlives_a_restart),
        cmocka_unit_test(of_many_that_make_the_same_tenant_one_succeeds),
        cmocka_unit_test(a_dropped_tenant_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
