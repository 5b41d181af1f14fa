// What a property table refuses, fills in and turns.
#include "test.h"

#include "json/properties.h"

static const Property address[] = {
    {"city", STRING},
    {"addressTypeId", ID, REQUIRED},
    {"lines", STRING, ARRAY},
    {0},
};

static const Property personal[] = {
    {"lastName", STRING, REQUIRED},
    {"email", STRING, .pattern = "[^@ ]+@[^@ ]+"},
    {"addresses", OBJECT, ARRAY, .of = address},
    {0},
};

static const char *const colours[] = {"red", "dark blue", NULL};

static const Property user[] = {
    {"id", ID},
    {"_version", INTEGER},
    {"barcode", STRING, .max_len = 8},
    {"code", STRING, .min_len = 2, .max_len = 3},
    {"active", BOOLEAN, .fallback = "true"},
    {"limit", INTEGER, .min = 0, .has_min = true, .max = 9, .has_max = true},
    {"amount", DECIMAL, .min = 0.5, .has_min = true},
    {"colour", STRING, .one_of = colours},
    {"colours", STRING, ARRAY | UNIQUE_ITEMS, .one_of = colours},
    {"departments", ID, ARRAY | UNIQUE_ITEMS},
    {"few", STRING, ARRAY | NO_EMPTY, .max_len = 2},
    {"needed", STRING, ARRAY | NO_EMPTY | REQUIRED},
    {"list", INTEGER, ARRAY | REQUIRED},
    {"personal", OBJECT, REQUIRED, .of = personal},
    {"custom", OBJECT},
    {"loose", OBJECT, .of = address, .open = true},
    {"any", ANY},
    {"expires", DATE_TIME},
    {"loanDate", PLAIN_DATE},
    {"born", DATE},
    {"itemsOfOthers", STRING, ARRAY | READ_ONLY},
    {"computed", STRING, READ_ONLY | REQUIRED},
    {"metadata", METADATA, REQUIRED},
    {0},
};

static const RecordType user_record = {"User", .properties = user};
static const RecordType open_record = {"Request", .open = true, .properties = personal};

#define ID_1 "6b4ae089-e1ee-431f-af83-e1133f8e3da0"
#define FINE "\"needed\":[\"n\"],\"personal\":{\"lastName\":\"x\"}"
// What is filled in behind a body of FINE and members before it.
#define FILLED "\"needed\":[\"n\"],\"personal\":{\"lastName\":\"x\",\"addresses\":[]},"

static Json *parsed(const char *text)
{
    Json *doc = NULL;

    assert_ok(json_parse(str_of(text), &doc));
    return doc;
}

// The part of `body` beside the members that every record needs, after the check.
static void assert_becomes(const char *members, const char *path, const char *expected)
{
    Json *doc = parsed(str_z(str_fmt("{" FINE ",%s}", members)));

    assert_ok(properties_check(&user_record, doc));
    Json *value = json_get(doc, path);
    assert_str(value ? json_text(value) : S("(absent)"), expected);
}

static void assert_refused(const char *members, int status, const char *text)
{
    Json *doc = parsed(str_z(str_fmt("{" FINE ",%s}", members)));
    Err *err = properties_check(&user_record, doc);

    assert_non_null(err);
    assert_int_equal(err->status, status);
    assert_str(json_err_text(err), text);
}

static void assert_violation(const char *members, const char *constraint, const char *message,
                             const char *param)
{
    assert_refused(members, 422,
                   str_z(str_fmt("{\"errors\":[{\"message\":\"%s\",\"type\":\"1\",\"code\":"
                                 "\"jakarta.validation.constraints.%s.message\","
                                 "\"parameters\":[%s]}]}",
                                 message, constraint, param)));
}

static void what_is_absent_is_filled_in(void **state)
{
    Json *doc = parsed("{" FINE "}");

    (void)state;
    assert_ok(properties_check(&user_record, doc));
    assert_str(json_text(doc), "{" FILLED "\"active\":true,\"colours\":[],\"departments\":[],"
                               "\"list\":[],\"itemsOfOthers\":[]}");
    assert_becomes("\"active\":false", "active", "false");
}

static void nulls_and_what_the_server_sets_are_dropped(void **state)
{
    (void)state;
    assert_becomes("\"barcode\":null", "barcode", "(absent)");
    assert_becomes("\"active\":null", "active", "true");
    assert_becomes("\"few\":[\"a\",null]", "few", "[\"a\"]");
    assert_becomes("\"computed\":{\"any\":1}", "computed", "(absent)");
    assert_becomes("\"itemsOfOthers\":[\"x\"]", "itemsOfOthers", "[]");
    assert_becomes("\"metadata\":{\"createdDate\":1}", "metadata", "(absent)");
    assert_becomes("\"any\":{\"x\":[null]},\"custom\":{\"y\":null}", "any", "{\"x\":[null]}");
}

static void values_are_turned_into_the_type_of_the_property(void **state)
{
    (void)state;
    assert_becomes("\"barcode\":123", "barcode", "\"123\"");
    assert_becomes("\"barcode\":true", "barcode", "\"true\"");
    assert_becomes("\"limit\":\"5\"", "limit", "5");
    assert_becomes("\"limit\":5.9", "limit", "5");
    assert_becomes("\"limit\":\"\"", "limit", "(absent)");
    assert_becomes("\"amount\":\"1.5\"", "amount", "1.5");
    assert_becomes("\"active\":\"true\"", "active", "true");
    assert_becomes("\"active\":\"False\"", "active", "false");
    assert_becomes("\"active\":0", "active", "false");
    assert_becomes("\"few\":[1,true]", "few", "[\"1\",\"true\"]");
    assert_becomes("\"id\":\"6B4AE089-E1EE-431F-AF83-E1133F8E3DA0\"", "id", "\"" ID_1 "\"");
}

static void dates_get_folio_s_form(void **state)
{
    (void)state;
    assert_becomes("\"expires\":\"2018-10-15\"", "expires", "\"2018-10-15T00:00:00.000+00:00\"");
    assert_becomes("\"expires\":\"2018-10-15T02:00:00+0200\"", "expires",
                   "\"2018-10-15T00:00:00.000+00:00\"");
    assert_becomes("\"expires\":0", "expires", "\"1970-01-01T00:00:00.000+00:00\"");
    assert_becomes("\"expires\":\"\"", "expires", "(absent)");
    assert_becomes("\"loanDate\":\"2018-10-15T02:00:00Z\"", "loanDate", "\"2018-10-15T02:00:00Z\"");
    assert_becomes("\"born\":\"2018-10-15\"", "born", "\"2018-10-15\"");
    assert_refused("\"expires\":\"soon\"", 400,
                   "Json content error Cannot deserialize value of type `java.util.Date` from "
                   "String \"soon\" (through reference chain: expires)");
    assert_refused("\"loanDate\":\"soon\"", 400,
                   "Json content error Cannot deserialize value of type `java.util.Date` from "
                   "String \"soon\" (through reference chain: loanDate)");
}

static void an_unknown_member_is_refused_alone(void **state)
{
    (void)state;
    assert_refused("\"barcode\":\"123456789\",\"foo\":1", 422,
                   "{\"errors\":[{\"message\":\"Unrecognized field \\\"foo\\\" (class "
                   "org.folio.rest.jaxrs.model.User), not marked as ignorable\",\"type\":\"1\","
                   "\"code\":\"-1\",\"parameters\":[{\"key\":\"\",\"value\":\"\"}]}]}");
    assert_refused("\"personal\":{\"lastName\":\"x\",\"bar\":1}", 422,
                   "{\"errors\":[{\"message\":\"Unrecognized field \\\"bar\\\" (class "
                   "org.folio.rest.jaxrs.model.Personal), not marked as ignorable\",\"type\":\"1\","
                   "\"code\":\"-1\",\"parameters\":[{\"key\":\"\",\"value\":\"\"}]}]}");
}

static void open_records_and_objects_keep_unknown_members(void **state)
{
    Json *doc = parsed("{\"lastName\":\"x\",\"foo\":null,\"addresses\":[{\"addressTypeId\":\"" ID_1
                       "\",\"bar\":{}}]}");

    (void)state;
    assert_ok(properties_check(&open_record, doc));
    assert_str(json_text(doc), "{\"lastName\":\"x\",\"foo\":null,\"addresses\":[{\"addressTypeId\":"
                               "\"" ID_1 "\",\"bar\":{},\"lines\":[]}]}");
    assert_becomes("\"loose\":{\"addressTypeId\":\"" ID_1 "\",\"x\":1}", "loose.x", "1");
    assert_becomes("\"custom\":{\"x\":1}", "custom", "{\"x\":1}");
}

static void every_missing_member_is_named_with_its_path(void **state)
{
    Json *doc = parsed("{\"needed\":null,\"list\":null,\"personal\":{\"addresses\":[{},"
                       "{\"addressTypeId\":null}]}}");
    static const char *const KEYS[] = {"list", "personal.addresses[0].addressTypeId",
                                       "personal.addresses[1].addressTypeId", "personal.lastName",
                                       "needed"};
    size_t n = 0;

    (void)state;
    for (Err *err = properties_check(&user_record, doc); err; err = err->next, n++) {
        assert_true(n < 5);
        assert_int_equal(err->status, 422);
        assert_str(err->message, "must not be null");
        assert_str(err->code, "jakarta.validation.constraints.NotNull.message");
        assert_str(err->type, "1");
        assert_str(err->params[0].key, KEYS[n]);
        assert_str(err->params[0].value, "null");
    }
    assert_int_equal(n, 5);
}

static void sizes_and_ranges_are_checked(void **state)
{
    (void)state;
    assert_violation("\"barcode\":\"123456789\"", "Size", "size must be between 0 and 8",
                     "{\"key\":\"barcode\",\"value\":\"123456789\"}");
    assert_violation("\"code\":\"a\"", "Size", "size must be between 2 and 3",
                     "{\"key\":\"code\",\"value\":\"a\"}");
    assert_violation("\"few\":[\"a\",\"b\",\"c\"]", "Size", "size must be between 0 and 2",
                     "{\"key\":\"few\",\"value\":\"[\\\"a\\\",\\\"b\\\",\\\"c\\\"]\"}");
    assert_violation("\"limit\":-1", "DecimalMin", "must be greater than or equal to 0",
                     "{\"key\":\"limit\",\"value\":\"-1\"}");
    assert_violation("\"limit\":\"10\"", "DecimalMax", "must be less than or equal to 9",
                     "{\"key\":\"limit\",\"value\":\"10\"}");
    assert_violation("\"amount\":0.25", "DecimalMin", "must be greater than or equal to 0.5",
                     "{\"key\":\"amount\",\"value\":\"0.25\"}");
    // Java counts UTF-16 units: a letter beyond the first plane is two.
    assert_becomes("\"code\":\"\xF0\x9F\x93\x9A\"", "code", "\"\xF0\x9F\x93\x9A\"");
    assert_violation("\"code\":\"\xF0\x9F\x93\x9A\xF0\x9F\x93\x9A\"", "Size",
                     "size must be between 2 and 3",
                     "{\"key\":\"code\",\"value\":\"\xF0\x9F\x93\x9A\xF0\x9F\x93\x9A\"}");
}

static void patterns_match_the_whole_text(void **state)
{
    (void)state;
    assert_refused("\"personal\":{\"lastName\":\"x\",\"email\":\"a@b c\"}", 422,
                   "{\"errors\":[{\"message\":\"must match \\\"[^@ ]+@[^@ ]+\\\"\",\"type\":\"1\","
                   "\"code\":\"jakarta.validation.constraints.Pattern.message\",\"parameters\":"
                   "[{\"key\":\"personal.email\",\"value\":\"a@b c\"}]}]}");
    assert_violation("\"id\":\"nope\"", "Pattern",
                     "must match \\\"^[a-fA-F0-9]{8}-[a-fA-F0-9]{4}-[1-5][a-fA-F0-9]{3}-"
                     "[89abAB][a-fA-F0-9]{3}-[a-fA-F0-9]{12}$\\\"",
                     "{\"key\":\"id\",\"value\":\"nope\"}");
    assert_refused("\"departments\":[\"" ID_1 "\",\"x\"]", 422,
                   "{\"errors\":[{\"message\":\"elements in list must match pattern\",\"type\":"
                   "\"1\",\"code\":\"elements in list must match pattern\",\"parameters\":"
                   "[{\"key\":\"departments\",\"value\":\"[" ID_1 ", x]\"}]}]}");
}

static void an_unknown_choice_is_a_400(void **state)
{
    (void)state;
    assert_becomes("\"colour\":\"dark blue\"", "colour", "\"dark blue\"");
    assert_refused("\"colour\":\"Red\"", 400,
                   "Json content error Cannot construct instance of "
                   "`org.folio.rest.jaxrs.model.User$Colour`, problem: Red");
    assert_refused("\"colours\":[\"red\",\"green\"]", 400,
                   "Json content error Cannot construct instance of "
                   "`org.folio.rest.jaxrs.model.User$Colours`, problem: green");
}

static void a_wrong_json_type_is_a_400(void **state)
{
    (void)state;
    assert_refused("\"barcode\":{}", 400,
                   "Json content error Cannot deserialize value of type `java.lang.String` from "
                   "Object value (token `JsonToken.START_OBJECT`) (through reference chain: "
                   "barcode)");
    assert_refused("\"limit\":\"many\"", 400,
                   "Json content error Cannot deserialize value of type `java.lang.Integer` from "
                   "String \"many\" (through reference chain: limit)");
    assert_refused("\"active\":\"yes\"", 400,
                   "Json content error Cannot deserialize value of type `java.lang.Boolean` from "
                   "String \"yes\" (through reference chain: active)");
    assert_refused("\"few\":\"a\"", 400,
                   "Json content error Cannot deserialize value of type `java.util.ArrayList` from "
                   "String \"a\" (through reference chain: few)");
    assert_refused("\"custom\":[]", 400,
                   "Json content error Cannot deserialize value of type "
                   "`org.folio.rest.jaxrs.model.Custom` from Array value (token "
                   "`JsonToken.START_ARRAY`) (through reference chain: custom)");
    assert_err(properties_check(&user_record, parsed("[]")), 400,
               "Json content error Cannot construct instance of `org.folio.rest.jaxrs.model.User`");
}

static void repeated_elements_of_a_set_are_dropped(void **state)
{
    (void)state;
    assert_becomes("\"colours\":[\"red\",\"dark blue\",\"red\"]", "colours",
                   "[\"red\",\"dark blue\"]");
    assert_becomes("\"departments\":[\"" ID_1 "\",\"6B4AE089-e1ee-431f-af83-e1133f8e3da0\"]",
                   "departments", "[\"" ID_1 "\"]");
}

static void properties_are_found_by_path(void **state)
{
    (void)state;
    assert_int_equal(property_find(&user_record, "personal.addresses.addressTypeId")->type, ID);
    assert_int_equal(property_find(&user_record, "barcode")->type, STRING);
    assert_null(property_find(&user_record, "barcode.x"));
    assert_null(property_find(&user_record, "bar"));
    assert_null(property_find(&user_record, "personal.addresses.x"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_absent_is_filled_in),
        cmocka_unit_test(nulls_and_what_the_server_sets_are_dropped),
        cmocka_unit_test(values_are_turned_into_the_type_of_the_property),
        cmocka_unit_test(dates_get_folio_s_form),
        cmocka_unit_test(an_unknown_member_is_refused_alone),
        cmocka_unit_test(open_records_and_objects_keep_unknown_members),
        cmocka_unit_test(every_missing_member_is_named_with_its_path),
        cmocka_unit_test(sizes_and_ranges_are_checked),
        cmocka_unit_test(patterns_match_the_whole_text),
        cmocka_unit_test(an_unknown_choice_is_a_400),
        cmocka_unit_test(a_wrong_json_type_is_a_400),
        cmocka_unit_test(repeated_elements_of_a_set_are_dropped),
        cmocka_unit_test(properties_are_found_by_path),
    };

    return cmocka_run_group_tests_name("json properties", tests, NULL, NULL);
}
