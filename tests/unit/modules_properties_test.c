// Property tables and collection descriptors: records as FOLIO's clients send them pass, wrong ones
// are refused, and every field of a descriptor names a property that exists.
#include "test.h"

#include "modules/mod-calendar/collections.h"
#include "modules/mod-calendar/properties.h"
#include "modules/mod-circulation-storage/collections.h"
#include "modules/mod-circulation-storage/properties.h"
#include "modules/mod-configuration/collections.h"
#include "modules/mod-configuration/properties.h"
#include "modules/mod-feesfines/collections.h"
#include "modules/mod-feesfines/properties.h"
#include "modules/mod-inventory-storage/collections.h"
#include "modules/mod-inventory-storage/properties.h"
#include "modules/mod-login/collections.h"
#include "modules/mod-notes/collections.h"
#include "modules/mod-notes/properties.h"
#include "modules/mod-patron-blocks/collections.h"
#include "modules/mod-patron-blocks/properties.h"
#include "modules/mod-permissions/collections.h"
#include "modules/mod-permissions/properties.h"
#include "modules/mod-users/collections.h"
#include "modules/mod-users/properties.h"

#include "base/asset.h"
#include "gateway/internal.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static const Collection *const *const modules[] = {
    users_collections,         permissions_collections,       login_collections,
    configuration_collections, inventory_storage_collections, circulation_storage_collections,
    feesfines_collections,     patron_blocks_collections,     notes_collections,
    calendar_collections,
};

enum {
    MODULES = sizeof modules / sizeof modules[0],
    FILE_MAX_BYTES = 1 << 20,
};

static const Collection *collection_at(size_t i)
{
    for (size_t m = 0; m < MODULES; m++) {
        for (const Collection *const *at = modules[m]; *at; at++) {
            if (i-- == 0) {
                return *at;
            }
        }
    }
    return NULL;
}

#define EACH_COLLECTION(c)                                                                         \
    for (size_t c##_i = 0; collection_at(c##_i); c##_i++)                                          \
        for (const Collection *c = collection_at(c##_i); c; c = NULL)

#define U1 "\"0d3ec58e-dc3c-4aa1-9eba-180fca95c544\""
#define U2 "\"e2ab27f9-a726-4e5e-9963-fff9e6128680\""

static Json *doc_of(const char *text)
{
    Json *doc = NULL;

    assert_ok(json_parse(str_of(text), &doc));
    return doc;
}

static void a_user_with_address_and_custom_fields_passes(void **state)
{
    Json *user = doc_of("{\"username\":\"ada\",\"barcode\":4711,\"patronGroup\":" U1 ","
                        "\"personal\":{\"lastName\":\"Byron\",\"addresses\":[{\"addressTypeId\":" U2
                        ",\"city\":\"London\"}]},\"expirationDate\":\"2030-01-31\","
                        "\"customFields\":{\"shoeSize\":\"opt_1\"},\"metadata\":{\"x\":1}}");

    (void)state;
    assert_ok(properties_check(&user_record, user));
    assert_str(json_str(user, "barcode"), "4711");
    assert_str(json_str(user, "expirationDate"), "2030-01-31T00:00:00.000+00:00");
    assert_int_equal(json_len(json_get(user, "departments")), 0);
    assert_true(json_is_array(json_get(user, "departments")));
    assert_false(json_has(user, "metadata"));
}

static void a_user_without_last_name_or_with_unknown_member_is_refused(void **state)
{
    (void)state;
    assert_err(properties_check(&user_record, doc_of("{\"personal\":{\"firstName\":\"A\"}}")), 422,
               "must not be null");
    assert_non_null(properties_check(&user_record, doc_of("{\"nickname\":\"x\"}")));
    assert_ok(properties_check(&user_group_record, doc_of("{\"group\":\"a\",\"more\":1}")));
}

static void an_item_comes_back_with_its_views_dropped(void **state)
{
    Json *item = doc_of("{\"holdingsRecordId\":" U1 ",\"materialTypeId\":" U1
                        ",\"permanentLoanTypeId\":" U2 ",\"status\":{\"name\":\"Available\"},"
                        "\"materialType\":{\"name\":\"book\"},\"effectiveLocationId\":" U2 ","
                        "\"effectiveCallNumberComponents\":{\"callNumber\":\"A\"},"
                        "\"effectiveShelvingOrder\":\"A\",\"_version\":3}");

    (void)state;
    assert_ok(properties_check(&item_record, item));
    assert_false(json_has(item, "materialType"));
    assert_false(json_has(item, "effectiveLocationId"));
    assert_false(json_has(item, "effectiveCallNumberComponents"));
    assert_int_equal(json_int(item, "_version", 0), 3);
    assert_true(json_is_array(json_get(item, "notes")));
}

static void an_unknown_item_status_is_refused(void **state)
{
    Err *err = properties_check(&item_record, doc_of("{\"status\":{\"name\":\"Gone fishing\"}}"));

    (void)state;
    assert_non_null(err);
    assert_int_equal(err->status, 400);
}

static void holdings_from_a_view_pass(void **state)
{
    Json *holdings_doc = doc_of("{\"sourceId\":" U1 ",\"instanceId\":" U2
                                ",\"permanentLocationId\":" U1 ",\"holdingsItems\":[{}],"
                                "\"bareHoldingsItems\":[],\"permanentLocation\":{}}");

    (void)state;
    assert_ok(properties_check(&holdings_record, holdings_doc));
    assert_false(json_has(holdings_doc, "holdingsItems"));
    assert_false(json_has(holdings_doc, "permanentLocation"));
}

static void the_loan_date_keeps_its_text_and_the_due_date_does_not(void **state)
{
    Json *loan = doc_of("{\"itemId\":" U1 ",\"userId\":" U2 ",\"action\":\"checkedout\","
                        "\"status\":{\"name\":\"Open\"},\"loanDate\":\"2026-03-01T10:00:00Z\","
                        "\"dueDate\":\"2026-03-22T10:00:00Z\"}");

    (void)state;
    assert_ok(properties_check(&loan_record, loan));
    assert_str(json_str(loan, "loanDate"), "2026-03-01T10:00:00Z");
    assert_str(json_str(loan, "dueDate"), "2026-03-22T10:00:00.000+00:00");
}

static void a_loan_policy_limits_the_number_of_items(void **state)
{
    (void)state;
    assert_err(properties_check(&loan_policy_record,
                                doc_of("{\"name\":\"x\",\"loanable\":true,\"renewable\":false,"
                                       "\"loansPolicy\":{\"itemLimit\":0}}")),
               422, "must be greater than or equal to 1");
}

static void a_request_needs_its_level_type_and_status(void **state)
{
    Err *err = properties_check(&request_record, doc_of("{\"requesterId\":" U1 "}"));
    int n = 0;

    (void)state;
    for (; err; err = err->next) {
        assert_int_equal(err->status, 422);
        n++;
    }
    assert_int_equal(n, 6);
}

static void configuration_entries_are_enabled_unless_told_otherwise(void **state)
{
    Json *entry = doc_of("{\"module\":\"ORG\",\"configName\":\"localeSettings\"}");

    (void)state;
    assert_ok(properties_check(&configuration_record, entry));
    assert_true(json_flag(entry, "enabled", false));
}

static void fees_blocks_notes_and_calendars_pass(void **state)
{
    (void)state;
    assert_ok(properties_check(
        &account_record,
        doc_of("{\"id\":" U1
               ",\"amount\":5.00,\"remaining\":\"5.0\",\"status\":{\"name\":\"Open\"},"
               "\"paymentStatus\":{\"name\":\"Outstanding\"},\"userId\":" U1 ",\"feeFineId\":" U1
               ",\"ownerId\":" U1 "}")));
    assert_ok(properties_check(&feefine_record, doc_of("{\"feeFineType\":\"Damage\"}")));
    assert_ok(properties_check(
        &patron_block_limit_record,
        doc_of("{\"id\":" U1 ",\"patronGroupId\":" U1 ",\"conditionId\":" U2 ",\"value\":12}")));
    assert_ok(properties_check(&note_record, doc_of("{\"typeId\":" U1 ",\"title\":\"t\","
                                                    "\"domain\":\"users\"}")));
    assert_ok(properties_check(
        &calendar_record,
        doc_of("{\"name\":\"Spring\",\"startDate\":\"2026-01-01\",\"endDate\":\"2026-05-31\","
               "\"assignments\":[" U1 "],\"normalHours\":[{\"startDay\":\"MONDAY\","
               "\"startTime\":\"09:00\",\"endDay\":\"MONDAY\",\"endTime\":\"17:00\"}],"
               "\"exceptions\":[]}")));
    assert_ok(properties_check(&permission_record, doc_of("{\"permissionName\":\"a\","
                                                          "\"subPermissions\":[\"b\"]}")));
}

// Paths that are no plain properties: metadata and tags of the shared shapes, elements of arrays,
// members of objects that take anything.
static bool path_is_known(const RecordType *record, const char *path)
{
    return strncmp(path, "metadata.", 9) == 0 || strncmp(path, "loan.", 5) == 0 ||
           strchr(path, '[') || strcmp(path, "id") == 0 || property_find(record, path) ||
           (record->open && strchr(path, '.') == NULL);
}

static void every_field_of_a_descriptor_is_a_property(void **state)
{
    (void)state;
    EACH_COLLECTION(c)
    {
        for (const Field *field = c->fields; field && field->column; field++) {
            Str rest = str_of(field->path), path = {0};
            while (str_next(&rest, ',', &path)) {
                if (!path_is_known(c->record, str_z(path))) {
                    fail_msg("%s: no property %s", c->table, str_z(path));
                }
            }
        }
    }
}

static bool has_column(const Collection *c, Str column)
{
    for (const Field *field = c->fields; field && field->column; field++) {
        if (str_eq_z(column, field->column) && !(field->flags & NO_COLUMN)) {
            return true;
        }
    }
    return str_eq(column, S("id")); // every table has it
}

static void keys_and_joins_name_columns_that_exist(void **state)
{
    (void)state;
    EACH_COLLECTION(c)
    {
        for (const UniqueKey *key = c->uniques; key && key->columns; key++) {
            Str rest = str_of(key->columns), column = {0};
            while (str_next(&rest, ',', &column)) {
                assert_true(has_column(c, str_trim(column)));
            }
        }
        for (const Join *join = c->joins; join && join->alias; join++) {
            assert_true(!join->own_column || has_column(c, str_of(join->own_column)));
            assert_true(!join->child_column ||
                        has_column(join->collection, str_of(join->child_column)));
            assert_true(!join->via || has_column(join->via, str_of(join->via_column)));
        }
    }
}

static void tables_and_columns_have_names_of_their_own(void **state)
{
    (void)state;
    EACH_COLLECTION(c)
    {
        EACH_COLLECTION(other)
        {
            assert_true(c == other || strcmp(c->table, other->table) != 0);
        }
        for (const Field *a = c->fields; a && a->column; a++) {
            for (const Field *b = a + 1; b->column; b++) {
                if (strcmp(a->column, b->column) == 0) {
                    fail_msg("%s: column %s twice", c->table, a->column);
                }
            }
        }
    }
}

static const Collection *collection_of_table(Str table)
{
    EACH_COLLECTION(c)
    {
        if (str_eq_z(table, c->table)) {
            return c;
        }
    }
    return NULL;
}

static void every_reference_record_passes(void **state)
{
    const Asset *asset = NULL;
    size_t records = 0;

    (void)state;
    asset_use(assets_all);
    for (size_t i = 0; (asset = asset_at("refdata/", i)); i++) {
        Str table = {0};
        Docs docs = {0};
        if (!strstr(asset->name, "/reference/") && !strstr(asset->name, "/sample/")) {
            continue;
        }
        assert_ok(refdata_parse((Str){asset->at, (size_t)(asset->end - asset->at)}, &table, &docs));
        const Collection *c = collection_of_table(table);
        for (size_t d = 0; c && d < docs.len; d++, records++) {
            Err *err = properties_check(c->record, docs.at[d]);
            if (err) {
                fail_msg("%s: record %zu: %s", asset->name, d, str_z(err->message));
            }
        }
    }
    assert_true(records > 600);
}

static Str file_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *at = arena_alloc(arena_current(), FILE_MAX_BYTES);

    assert_non_null(file);
    size_t len = fread(at, 1, FILE_MAX_BYTES, file);
    fclose(file);
    return (Str){at, len};
}

// FOLIO's own records, where they lie beside the repository.
static void folder_passes(const RecordType *record, const char *folder)
{
    DIR *dir = opendir(str_z(str_fmt("%s/../shared/folio/%s", SOURCE_DIR, folder)));
    struct dirent *entry = NULL;

    while (dir && (entry = readdir(dir))) {
        Json *doc = NULL;
        if (!str_ends(str_of(entry->d_name), S(".json"))) {
            continue;
        }
        assert_ok(json_parse(file_text(str_z(str_fmt("%s/../shared/folio/%s/%s", SOURCE_DIR, folder,
                                                     entry->d_name))),
                             &doc));
        Err *err = properties_check(record, doc);
        if (err) {
            fail_msg("%s/%s: %s", folder, entry->d_name, str_z(err->message));
        }
        arena_reset(arena_current());
    }
    if (dir) {
        closedir(dir);
    }
}

static void sample_records_of_folio_pass(void **state)
{
    static const struct {
        const RecordType *record;
        const char *folder;
    } folders[] = {
        {&user_record, "sample/mod-users/users-15.4.0"},
        {&user_record, "sample/mod-users/users-17.3.0"},
        {&user_group_record, "sample/mod-users/groups-19.4.0"},
        {&instance_record, "sample/mod-inventory-storage/instances"},
        {&holdings_record, "sample/mod-inventory-storage/holdingsrecords"},
        {&item_record, "sample/mod-inventory-storage/items"},
        {&instance_record, "sample/mod-inventory-storage/bound-with/instances"},
        {&holdings_record, "sample/mod-inventory-storage/bound-with/holdingsrecords"},
        {&item_record, "sample/mod-inventory-storage/bound-with/items"},
        {&bound_with_part_record, "sample/mod-inventory-storage/bound-with/bound-with-parts"},
        {&location_record, "sample/mod-inventory-storage/locations"},
        {&institution_record, "sample/mod-inventory-storage/location-units/institutions"},
        {&campus_record, "sample/mod-inventory-storage/location-units/campuses"},
        {&library_record, "sample/mod-inventory-storage/location-units/libraries"},
        {&title_link_record, "sample/mod-inventory-storage/preceding-succeeding-titles"},
        {&instance_relationship_record, "sample/mod-inventory-storage/instance-relationships"},
        {&loan_record, "reference/mod-circulation-storage/sample-data/loans"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        folder_passes(folders[i].record, folders[i].folder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_user_with_address_and_custom_fields_passes),
        cmocka_unit_test(a_user_without_last_name_or_with_unknown_member_is_refused),
        cmocka_unit_test(an_item_comes_back_with_its_views_dropped),
        cmocka_unit_test(an_unknown_item_status_is_refused),
        cmocka_unit_test(holdings_from_a_view_pass),
        cmocka_unit_test(the_loan_date_keeps_its_text_and_the_due_date_does_not),
        cmocka_unit_test(a_loan_policy_limits_the_number_of_items),
        cmocka_unit_test(a_request_needs_its_level_type_and_status),
        cmocka_unit_test(configuration_entries_are_enabled_unless_told_otherwise),
        cmocka_unit_test(fees_blocks_notes_and_calendars_pass),
        cmocka_unit_test(every_field_of_a_descriptor_is_a_property),
        cmocka_unit_test(keys_and_joins_name_columns_that_exist),
        cmocka_unit_test(tables_and_columns_have_names_of_their_own),
        cmocka_unit_test(every_reference_record_passes),
        cmocka_unit_test(sample_records_of_folio_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
