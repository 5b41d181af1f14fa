// Password hashes: FOLIO's own are accepted, new ones are stronger.
#include "test.h"

#include "modules/mod-login/internal.h"

static const App app; // no configuration: every option has its default

static Json *stored(const char *scheme, const char *hash)
{
    Json *doc = json_object();
    json_set_str(doc, "salt", S("000102030405060708090A0B0C0D0E0F10111213"));
    json_set_str(doc, "hash", str_of(hash));
    json_set_str_if(doc, "scheme", str_of(scheme));
    return doc;
}

static void folios_hashes_are_accepted_and_outdated(void **state)
{
    (void)state;
    const Json *admin = stored(NULL, "13FF622755CE78C9F3179664B2336CF3BD01DE62");
    assert_true(password_fits(admin, S("admin")));
    assert_false(password_fits(admin, S("Admin")));
    assert_false(password_fits(admin, S("")));
    assert_true(password_is_outdated(&app, admin));
    const Json *umlauts = stored(NULL, "1bb1eb550abe0bc8f5ed125d2d1eef433d59ad4e");
    assert_true(password_fits(umlauts, S("p\303\244ssw\303\266rd")));
}

static void a_new_hash_fits_its_password_only(void **state)
{
    (void)state;
    PasswordHash first, second;
    Json *doc = json_object();
    password_hash(&app, S("secret"), &first);
    password_hash(&app, S("secret"), &second);
    assert_false(str_eq(first.salt, second.salt));
    assert_str(first.scheme, "pbkdf2-sha256:100000");
    json_set_str(doc, "salt", first.salt);
    json_set_str(doc, "hash", first.hash);
    json_set_str(doc, "scheme", first.scheme);
    assert_true(password_fits(doc, S("secret")));
    assert_false(password_fits(doc, S("secreT")));
    assert_false(password_is_outdated(&app, doc));
}

static void damaged_records_fit_nothing(void **state)
{
    (void)state;
    assert_false(password_fits(json_object(), S("")));
    assert_false(password_fits(stored("pbkdf2-sha256:0", "00"), S("admin")));
    assert_false(password_fits(stored("rot13", "00"), S("admin")));
    assert_false(password_fits(stored(NULL, "13FF"), S("admin")));
    assert_false(password_fits(NULL, S("admin")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folios_hashes_are_accepted_and_outdated),
        cmocka_unit_test(a_new_hash_fits_its_password_only),
        cmocka_unit_test(damaged_records_fit_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
