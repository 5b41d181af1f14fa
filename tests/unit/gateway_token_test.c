// Tokens: signed, read back, and refused when anything about them is wrong.
#include "test.h"

#include "gateway/internal.h"
#include "gateway/token_cache.h"

#include <string.h>

static App app, stranger;
static const Time now = 1800000000123;

static const TokenSubject librarian = {
    .tenant = {"diku", 4}, .user_id = {"u-1", 3}, .user_name = {"j\303\274rgen \"x\"", 11}};

static App *make_app(App *made, unsigned char key)
{
    Gateway *gateway = NEW(Gateway);
    memset(gateway->signing_key, key, sizeof gateway->signing_key);
    gateway->tokens = token_cache_new();
    made->gateway = gateway;
    return made;
}

static int set_up(void **state)
{
    (void)state;
    make_app(&app, 1);
    make_app(&stranger, 2);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    token_cache_free(app.gateway->tokens);
    token_cache_free(stranger.gateway->tokens);
    return 0;
}

static Str sign(const TokenSubject *subject, int lifetime_s)
{
    Str token;
    assert_ok(token_sign(&app, subject, now, lifetime_s, &token));
    return token;
}

static void a_token_is_read_back(void **state)
{
    (void)state;
    TokenSubject found;
    for (int i = 0; i < 2; i++) { // the second time from the cache
        assert_true(token_verify(&app, sign(&librarian, 600), now, &found));
        assert_str(found.tenant, "diku");
        assert_str(found.user_id, "u-1");
        assert_true(str_eq(found.user_name, librarian.user_name));
        assert_str(found.type, "legacy-access");
        assert_int_equal(found.issued_at, now / 1000 * 1000);
        assert_int_equal(found.expires_at, now / 1000 * 1000 + 600000);
    }
}

static void a_token_ends_at_its_time(void **state)
{
    (void)state;
    TokenSubject found;
    Str token = sign(&librarian, 600);
    assert_true(token_verify(&app, token, now + 599000, &found));
    assert_false(token_verify(&app, token, now + 600000, &found));
}

static void a_token_without_lifetime_does_not_end(void **state)
{
    (void)state;
    TokenSubject found;
    assert_true(token_verify(&app, sign(&librarian, 0), now * 10, &found));
    assert_int_equal(found.expires_at, 0);
}

static void changed_and_foreign_tokens_are_refused(void **state)
{
    (void)state;
    TokenSubject found;
    Str token = sign(&librarian, 0);
    assert_false(token_verify(&stranger, token, now, &found));
    for (size_t i = 0; i < token.len; i++) {
        char *changed = (char *)str_z(token);
        changed[i] = changed[i] == 'A' ? 'B' : 'A';
        Str other = {changed, token.len};
        // The last character of a part may hold bits that do not count.
        bool is_padding = i + 1 == token.len || token.at[i + 1] == '.';
        if (!is_padding && !str_eq(other, token)) {
            assert_false(token_verify(&app, other, now, &found));
        }
    }
    assert_false(token_verify(&app, S(""), now, &found));
    assert_false(token_verify(&app, S("a.b.c"), now, &found));
    assert_false(token_verify(&app, S("a\0b"), now, &found));
}

static void a_token_without_signature_is_refused(void **state)
{
    (void)state;
    TokenSubject found;
    // {"alg":"none","typ":"JWT"}.{"sub":"x","tenant":"diku"}.
    assert_false(token_verify(&app,
                              S("eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0."
                                "eyJzdWIiOiJ4IiwidGVuYW50IjoiZGlrdSJ9."),
                              now, &found));
}

static void a_dummy_token_carries_its_rights(void **state)
{
    (void)state;
    TokenSubject dummy = {.tenant = S("diku"), .user_name = S("x"), .type = S("dummy-expiring")},
                 found;
    str_list_add(&dummy.extra_permissions, S("a.b"));
    str_list_add(&dummy.extra_permissions, S("c.d"));
    assert_true(token_verify(&app, sign(&dummy, 60), now, &found));
    assert_int_equal(found.extra_permissions.len, 2);
    assert_str(found.extra_permissions.at[1], "c.d");
}

static void a_refresh_token_keeps_its_id(void **state)
{
    (void)state;
    TokenSubject refresh = librarian, found;
    refresh.type = S("refresh");
    refresh.id = S("jti-1");
    Str token = sign(&refresh, 60);
    for (int i = 0; i < 2; i++) {
        assert_true(token_verify(&app, token, now, &found));
        assert_str(found.id, "jti-1");
    }
}

static void the_cache_is_bounded_and_exact(void **state)
{
    (void)state;
    TokenCache *cache = token_cache_new();
    TokenSubject found;
    for (int i = 0; i < 20000; i++) {
        TokenSubject subject = {.user_id = str_fmt("%d", i), .tenant = S("t")};
        Str token = str_fmt("token-%d", i);
        token_cache_add(cache, token, &subject);
        assert_true(token_cache_find(cache, token, &found));
        assert_true(str_eq(found.user_id, subject.user_id));
    }
    assert_false(token_cache_find(cache, S("token-20000"), &found));
    token_cache_free(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_is_read_back),
        cmocka_unit_test(a_token_ends_at_its_time),
        cmocka_unit_test(a_token_without_lifetime_does_not_end),
        cmocka_unit_test(changed_and_foreign_tokens_are_refused),
        cmocka_unit_test(a_token_without_signature_is_refused),
        cmocka_unit_test(a_dummy_token_carries_its_rights),
        cmocka_unit_test(a_refresh_token_keeps_its_id),
        cmocka_unit_test(the_cache_is_bounded_and_exact),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
