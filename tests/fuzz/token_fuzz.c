// Any text as a token: nobody gets in with one that we did not sign.
#include "fuzz.h"

#include "gateway/internal.h"
#include "gateway/token_cache.h"

#include <string.h>

static const Time now = 1800000000123;

static App *app_make(void)
{
    static App app;

    if (!app.gateway) {
        static Gateway gateway;
        memset(gateway.signing_key, 7, sizeof gateway.signing_key);
        gateway.tokens = token_cache_new();
        app.gateway = &gateway;
    }
    return &app;
}

// The first byte says what is made of the rest: a token as it is, or a good one with a change.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    App *app = app_make();
    TokenSubject found = {0};
    Str text = {(const char *)data, size};

    if (size > 3 && data[0] == '~') {
        TokenSubject subject = {.tenant = S("diku"), .user_id = S("u-1"), .user_name = S("jane")};
        Str token = {0};
        HOLDS(!token_sign(app, &subject, now, 60, &token));
        HOLDS(token_verify(app, token, now, &found) && str_eq(found.user_id, S("u-1")));
        char *changed = (char *)(uintptr_t)str_z(token);
        size_t at = (size_t)(data[1] << 8 | data[2]) % token.len;
        bool is_same = changed[at] == (char)data[3];
        changed[at] = (char)data[3];
        bool is_good = token_verify(app, (Str){changed, token.len}, now, &found);
        // The last letter of a signature carries bits that mean nothing.
        HOLDS(is_same || !is_good || at == token.len - 1);
    } else {
        HOLDS(!token_verify(app, text, now, &found));
    }
    arena_reset(arena_current());
    return 0;
}
