// Queues of requests in a real database: positions never collide on the way, expired requests leave
// no gap, turning title-level requests on renumbers.
#include "test_store.h"

#include "modules/mod-circulation-storage/hooks.h"
#include "modules/mod-configuration/collections.h"
#include "modules/mod-settings/collections.h"

#include <stdlib.h>
#include <string.h>

#define INSTANCE "11111111-1111-4111-8111-111111111111"
#define ITEM_A   "aaaaaaaa-1111-4111-8111-111111111111"
#define ITEM_B   "bbbbbbbb-1111-4111-8111-111111111111"

typedef struct {
    char dir[64];
    Store *store;
    Db *db;
} Tenancy;

static void make_tables(Db *db, const Collection *const *collections)
{
    size_t n = 0;

    while (collections[n]) {
        n++;
    }
    assert_ok(db_migrate(db, collections, n));
}

static int setup(void **state)
{
    Tenancy *t = calloc(1, sizeof *t);

    strcpy(t->dir, "/tmp/octavo-queues-XXXXXX");
    test_store_make(t->dir);
    StoreOptions options = test_store_options(t->dir);
    assert_ok(store_open(&options, &t->store));
    assert_ok(db_open(t->store, S("town"), true, &t->db));
    make_tables(t->db, circulation_storage_collections);
    make_tables(t->db, configuration_collections);
    make_tables(t->db, settings_collections);
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

// ---------------------------------------------------------------------------------------------
// Helpers

static Tx *begin(const Tenancy *t)
{
    TxOptions options = {.kind = WRITE};
    Tx *tx = NULL;

    assert_ok(tx_begin(t->db, &options, &tx));
    return tx;
}

// "a1" .. "a9": a request of item A; its id tells its name.
static Str id_of(const char *name)
{
    return str_fmt("%c%c000000-1111-4111-8111-111111111111", name[0], name[1]);
}

static void add_request(Tx *tx, const char *name, int position)
{
    Json *request = json_object();

    json_set_str(request, "id", id_of(name));
    json_set_str(request, "requestLevel", S("Item"));
    json_set_str(request, "requestType", S("Hold"));
    json_set_str(request, "requestDate", S("2026-03-01T10:00:00Z"));
    json_set_str(request, "requesterId", uuid_new());
    json_set_str(request, "instanceId", S(INSTANCE));
    json_set_str(request, "holdingsRecordId", uuid_new());
    json_set_str(request, "itemId", name[0] == 'a' ? S(ITEM_A) : S(ITEM_B));
    json_set_str(request, "status", S("Open - Not yet filled"));
    json_set_str(request, "fulfillmentPreference", S("Hold Shelf"));
    json_set_int(request, "position", position);
    assert_ok(tx_insert(tx, &requests, request));
}

static RequestChange move(Tx *tx, const char *name, int position)
{
    Json *now = NULL;

    assert_ok(tx_get(tx, &requests, id_of(name), &now));
    const Json *old = json_copy(now);
    json_set_int(now, "position", position);
    return (RequestChange){old, now};
}

static void set(Tx *tx, const char *name, const char *member, const char *value)
{
    Json *now = NULL;

    assert_ok(tx_get(tx, &requests, id_of(name), &now));
    const Json *old = json_copy(now);
    json_set_str(now, member, str_of(value));
    assert_ok(tx_change(tx, &requests, old, now));
}

// "a1:1 a3:2"
static Str queue_text(Tx *tx, const char *where)
{
    Docs docs = {0};
    Buf out = buf_new(arena_current(), 4096);

    assert_ok(strcmp(where, "instance") == 0 ? requests_open_of_instance(tx, S(INSTANCE), &docs)
                                             : requests_open_of_item(tx, S(ITEM_A), &docs));
    for (size_t i = 0; i < docs.len; i++) {
        buf_fmt(&out, "%s%.2s:%d", i ? " " : "", json_str(docs.at[i], "id").at,
                (int)json_int(docs.at[i], "position", 0));
    }
    return buf_str(&out);
}

static Time at(const char *text)
{
    Time time = 0;

    assert_true(time_parse(str_of(text), &time));
    return time;
}

// ---------------------------------------------------------------------------------------------
// Tests

static void requests_change_places(void **state)
{
    Tx *tx = begin(*state);

    add_request(tx, "a1", 1);
    add_request(tx, "a2", 2);
    add_request(tx, "a3", 3);
    RequestChange changes[] = {move(tx, "a1", 3), move(tx, "a2", 1), move(tx, "a3", 2)};
    assert_ok(requests_write(tx, changes, 3));
    assert_str(queue_text(tx, "item"), "a2:1 a3:2 a1:3");
    assert_ok(tx_commit(tx));
}

static void closing_up_costs_one_statement_each(void **state)
{
    Tx *tx = begin(*state);

    add_request(tx, "a1", 1);
    add_request(tx, "a2", 2);
    add_request(tx, "a3", 3);
    RequestChange changes[] = {move(tx, "a3", 2), move(tx, "a2", 1), move(tx, "a1", 1)};
    json_set_str(changes[2].now, "status", S("Closed - Filled"));
    int before = tx_cost(tx).statements;
    assert_ok(requests_write(tx, changes, 3));
    assert_int_equal(tx_cost(tx).statements - before, 3);
    assert_str(queue_text(tx, "item"), "a2:1 a3:2");
    assert_ok(tx_commit(tx));
}

static void a_place_that_is_taken_is_refused(void **state)
{
    Tx *tx = begin(*state);

    add_request(tx, "a1", 1);
    add_request(tx, "a2", 2);
    RequestChange change = move(tx, "a2", 1);
    Err *err = requests_write(tx, &change, 1);
    err = err ? err : tx_flush(tx);
    assert_non_null(err);
    assert_int_equal(err->status, 422);
    tx_rollback(tx);
}

static void expired_requests_leave_no_gap(void **state)
{
    int n = 0;
    Tx *tx = begin(*state);

    add_request(tx, "a1", 1);
    add_request(tx, "a2", 2);
    add_request(tx, "a3", 3);
    add_request(tx, "a4", 4);
    set(tx, "a1", "status", "Open - Awaiting pickup");
    set(tx, "a1", "holdShelfExpirationDate", "2026-03-05T00:00:00Z");
    set(tx, "a3", "requestExpirationDate", "2026-03-05T00:00:00Z");
    set(tx, "a4", "requestExpirationDate", "2026-03-07T00:00:00Z");
    assert_ok(requests_expire(tx, at("2026-03-06T00:00:00Z"), 100, &n));
    assert_int_equal(n, 2);
    assert_str(queue_text(tx, "item"), "a2:1 a4:2");
    Json *closed = NULL;
    assert_ok(tx_get(tx, &requests, id_of("a1"), &closed));
    assert_str(json_str(closed, "status"), "Closed - Pickup expired");
    assert_true(json_has(closed, "awaitingPickupRequestClosedDate"));
    assert_ok(tx_get(tx, &requests, id_of("a3"), &closed));
    assert_str(json_str(closed, "status"), "Closed - Unfilled");
    assert_ok(requests_expire(tx, at("2026-03-06T00:00:00Z"), 100, &n));
    assert_int_equal(n, 0);
    assert_ok(tx_commit(tx));
}

static void title_level_requests_make_one_queue_of_the_instance(void **state)
{
    Tenancy *t = *state;
    Tx *tx = begin(t);
    Json *setting = json_object(), *job = json_object();

    add_request(tx, "a1", 1);
    add_request(tx, "b1", 1);
    add_request(tx, "a2", 2);
    json_set_str(setting, "id", uuid_new());
    json_set_str(setting, "name", S("generalTlr"));
    json_set_bool(setting, "value.titleLevelRequestsFeatureEnabled", true);
    assert_ok(tx_insert(tx, &circulation_settings, setting));
    json_set_str(job, "status", S("open"));
    assert_ok(tx_insert(tx, &tlr_jobs, job));
    Str job_id = json_str(job, "id");
    assert_ok(tx_commit(tx));

    assert_ok(tlr_jobs_run(t->db, 0));
    tx = begin(t);
    assert_str(queue_text(tx, "instance"), "a1:1 b1:2 a2:3");
    assert_ok(tx_get(tx, &tlr_jobs, job_id, &job));
    assert_str(json_str(job, "status"), "done");
    assert_int_equal(json_int(job, "numberOfUpdatedRequests", 0), 3);
    assert_ok(tx_commit(tx));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(requests_change_places, setup, teardown),
        cmocka_unit_test_setup_teardown(closing_up_costs_one_statement_each, setup, teardown),
        cmocka_unit_test_setup_teardown(a_place_that_is_taken_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(expired_requests_leave_no_gap, setup, teardown),
        cmocka_unit_test_setup_teardown(title_level_requests_make_one_queue_of_the_instance, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
