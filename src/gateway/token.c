// Tokens: JWT with HS256 by libjwt, keyed by a secret in the process-wide database.
// Source: spec/platform.md 2.1.
#include "gateway/internal.h"
#include "gateway/token_cache.h"

#include "base/die.h"

#include <jwt.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>

enum {
    TOKEN_TEXT_MAX = 16 * 1024,
};

// ---------------------------------------------------------------------------------------------
// The key

static bool hex_read(Str hex, unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (hex.len != 2 * n || sscanf(hex.at + 2 * i, "%2hhx", &bytes[i]) != 1) {
            return false;
        }
    }
    return true;
}

static Str hex_write(const unsigned char *bytes, size_t n)
{
    Buf buf = buf_new(arena_current(), 2 * n + 1);
    for (size_t i = 0; i < n; i++) {
        buf_fmt(&buf, "%02x", bytes[i]);
    }
    return buf_str(&buf);
}

Err *keys_load(App *app)
{
    Gateway *gateway = app->gateway;
    Json *doc = NULL;
    TRY(own_find(app, &own_keys, "name", S("token"), &doc));
    if (doc && hex_read(json_str(doc, "key"), gateway->signing_key, sizeof gateway->signing_key)) {
        return NULL;
    }
    if (RAND_bytes(gateway->signing_key, sizeof gateway->signing_key) != 1) {
        die("no random bytes");
    }
    bool was_there = false;
    doc = json_object();
    json_set_str(doc, "name", S("token"));
    json_set_str(doc, "key", hex_write(gateway->signing_key, sizeof gateway->signing_key));
    TRY(own_claim(app, &own_keys, "name", "name", &doc, &was_there));
    if (was_there &&
        !hex_read(json_str(doc, "key"), gateway->signing_key, sizeof gateway->signing_key)) {
        return err_text(500, "The key of tokens is damaged");
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Signing

static void add_text(jwt_t *jwt, const char *claim, Str value)
{
    if (value.len && jwt_add_grant(jwt, claim, str_z(value)) != 0) {
        die("claim %s", claim);
    }
}

static void add_claims(jwt_t *jwt, const TokenSubject *subject, Time now, int lifetime_s)
{
    Str type = subject->type.len ? subject->type : S("legacy-access");
    add_text(jwt, "sub", subject->user_name);
    add_text(jwt, "user_id", subject->user_id);
    add_text(jwt, "tenant", subject->tenant);
    add_text(jwt, "type", type);
    add_text(jwt, "jti", subject->id);
    jwt_add_grant_int(jwt, "iat", (long)(now / SECOND_MS));
    if (lifetime_s > 0) {
        jwt_add_grant_int(jwt, "exp", (long)(now / SECOND_MS) + lifetime_s);
    }
    if (str_starts(type, S("dummy"))) {
        Json *extra = json_object(), *names = json_array();
        for (size_t i = 0; i < subject->extra_permissions.len; i++) {
            json_add(names, json_string(subject->extra_permissions.at[i]));
        }
        json_set(extra, "extra_permissions", names);
        json_set_bool(extra, "dummy", true);
        jwt_add_grants_json(jwt, str_z(json_text(extra)));
    }
}

Err *token_sign(App *app, const TokenSubject *subject, Time now, int lifetime_s, Str *out)
{
    const Gateway *gateway = app->gateway;
    jwt_t *jwt = NULL;
    if (jwt_new(&jwt) != 0 ||
        jwt_set_alg(jwt, JWT_ALG_HS256, gateway->signing_key, sizeof gateway->signing_key) != 0) {
        die("jwt_new");
    }
    add_claims(jwt, subject, now, lifetime_s);
    char *text = jwt_encode_str(jwt);
    jwt_free(jwt);
    if (!text) {
        return err_text(500, "The token could not be signed");
    }
    *out = str_copy(arena_current(), str_of(text));
    free(text);
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Verifying

static Str claim(jwt_t *jwt, const char *name)
{
    return str_copy(arena_current(), str_of(jwt_get_grant(jwt, name)));
}

// 0 if the token has none.
static Time seconds_claim(jwt_t *jwt, const char *name)
{
    long seconds = jwt_get_grant_int(jwt, name);
    return seconds > 0 ? (Time)seconds * SECOND_MS : 0;
}

static void read_extra(jwt_t *jwt, StrList *names)
{
    char *text = jwt_get_grants_json(jwt, "extra_permissions");
    Json *array = NULL;
    if (!text) {
        return;
    }
    Err *err = json_parse(str_copy(arena_current(), str_of(text)), &array);
    free(text);
    if (!err) {
        JSON_EACH(name, array)
        {
            str_list_add(names, json_scalar_text(name));
        }
    }
}

static bool decode(App *app, Str token, TokenSubject *out)
{
    const Gateway *gateway = app->gateway;
    jwt_t *jwt = NULL;
    if (token.len > TOKEN_TEXT_MAX ||
        jwt_decode(&jwt, str_z(token), gateway->signing_key, sizeof gateway->signing_key) != 0) {
        return false;
    }
    // A token with "alg": "none" decodes without its signature being looked at.
    bool is_ours = jwt_get_alg(jwt) == JWT_ALG_HS256;
    if (is_ours) {
        *out = (TokenSubject){.tenant = claim(jwt, "tenant"),
                              .user_id = claim(jwt, "user_id"),
                              .user_name = claim(jwt, "sub"),
                              .type = claim(jwt, "type"),
                              .id = claim(jwt, "jti")};
        out->issued_at = seconds_claim(jwt, "iat");
        out->expires_at = seconds_claim(jwt, "exp");
        read_extra(jwt, &out->extra_permissions);
    }
    jwt_free(jwt);
    return is_ours;
}

bool token_verify(App *app, Str token, Time now, TokenSubject *out)
{
    if (str_is_empty(token) || str_find_char(token, 0, 0) >= 0) {
        return false;
    }
    if (!token_cache_find(app->gateway->tokens, token, out)) {
        if (!decode(app, token, out)) {
            return false;
        }
        token_cache_add(app->gateway->tokens, token, out);
    }
    return !out->expires_at || now < out->expires_at;
}
