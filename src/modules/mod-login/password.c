// Password hashes: PBKDF2, algorithm and rounds kept with each hash.
// Source: spec/platform.md 2.3, decision 32.
#include "modules/mod-login/internal.h"

#include "base/die.h"

#include <openssl/evp.h>
#include <openssl/rand.h>

enum {
    SALT_BYTES = 20,
    HASH_BYTES = 32,
    FOLIO_HASH_BYTES = 20,
    FOLIO_ROUNDS = 1000,
    HEX_MAX = 256,
};

typedef struct {
    const EVP_MD *digest;
    int rounds;
    size_t hash_bytes;
} Scheme;

static Str hex_write(const unsigned char *bytes, size_t n)
{
    Buf buf = buf_new(arena_current(), HEX_MAX);
    for (size_t i = 0; i < n; i++) {
        buf_fmt(&buf, "%02X", bytes[i]);
    }
    return buf_str(&buf);
}

static int digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// Number of bytes; 0 for anything that is no hexadecimal text.
static size_t hex_read(Str hex, unsigned char *bytes, size_t max)
{
    if (hex.len % 2 || hex.len / 2 > max) {
        return 0;
    }
    for (size_t i = 0; i < hex.len; i += 2) {
        int high = digit(hex.at[i]), low = digit(hex.at[i + 1]);
        if (high < 0 || low < 0) {
            return 0;
        }
        bytes[i / 2] = (unsigned char)(high << 4 | low);
    }
    return hex.len / 2;
}

static void derive(const Scheme *scheme, Str password, const unsigned char *salt, size_t salt_len,
                   unsigned char *out)
{
    if (PKCS5_PBKDF2_HMAC(password.at ? password.at : "", (int)password.len, salt, (int)salt_len,
                          scheme->rounds, scheme->digest, (int)scheme->hash_bytes, out) != 1) {
        die("PBKDF2");
    }
}

static Str new_scheme_name(const App *app)
{
    return str_fmt("pbkdf2-sha256:%d", (int)app_int(app, "login.rounds", 100000));
}

static bool scheme_of(Str name, Scheme *out)
{
    int64_t rounds = 0;
    Str prefix = S("pbkdf2-sha256:");
    if (!name.len) {
        *out = (Scheme){EVP_sha1(), FOLIO_ROUNDS, FOLIO_HASH_BYTES};
        return true;
    }
    if (!str_starts(name, prefix) || !str_int64(str_sub(name, prefix.len, name.len), &rounds) ||
        rounds < 1 || rounds > 100000000) {
        return false;
    }
    *out = (Scheme){EVP_sha256(), (int)rounds, HASH_BYTES};
    return true;
}

void password_hash(const App *app, Str password, PasswordHash *out)
{
    METER("mod-login");
    unsigned char salt[SALT_BYTES], hash[HASH_BYTES];
    Scheme scheme;
    out->scheme = new_scheme_name(app);
    if (!scheme_of(out->scheme, &scheme)) {
        die("login.rounds is out of range");
    }
    if (RAND_bytes(salt, sizeof salt) != 1) {
        die("no random bytes");
    }
    derive(&scheme, password, salt, sizeof salt, hash);
    out->salt = hex_write(salt, sizeof salt);
    out->hash = hex_write(hash, sizeof hash);
}

bool password_fits(const Json *credentials, Str password)
{
    unsigned char salt[HEX_MAX], hash[HASH_BYTES];
    Scheme scheme;
    if (!scheme_of(json_str(credentials, "scheme"), &scheme)) {
        return false;
    }
    size_t salt_len = hex_read(json_str(credentials, "salt"), salt, sizeof salt);
    derive(&scheme, password, salt, salt_len, hash);
    return str_eq_secret(hex_write(hash, scheme.hash_bytes),
                         str_upper(json_str(credentials, "hash")));
}

bool password_is_outdated(const App *app, const Json *credentials)
{
    return !str_eq(json_str(credentials, "scheme"), new_scheme_name(app));
}

void password_pretend(const App *app, Str password)
{
    PasswordHash unused;
    password_hash(app, password, &unused);
}
