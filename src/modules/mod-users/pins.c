// PINs of patrons, as self-check machines ask for them: kept as slow hashes.
// Source: spec/platform.md 4.2.
//
// Records without `salt` are FOLIO's: the salt is the user's id. Hashing takes its time: it happens
// between transactions.
#include "modules/mod-users/internal.h"

#include <openssl/evp.h>
#include <openssl/rand.h>

enum {
    ROUNDS = 150000,
    HASH_BYTES = 8, // FOLIO's 64 bits
    SALT_BYTES = 16,
};

typedef struct {
    Str id, pin;
    Str salt, hash; // new ones
    Json *stored;
} Pin;

static Str hex_of(const unsigned char *bytes, size_t n)
{
    static const char digits[] = "0123456789ABCDEF";
    char *text = arena_alloc(arena_current(), 2 * n + 1);

    for (size_t i = 0; i < n; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    return (Str){text, 2 * n};
}

static Str hash_of(Str pin, Str salt)
{
    unsigned char hash[HASH_BYTES];

    if (PKCS5_PBKDF2_HMAC(pin.len ? pin.at : "", (int)pin.len, (const unsigned char *)salt.at,
                          (int)salt.len, ROUNDS, EVP_sha512(), HASH_BYTES, hash) != 1) {
        log_line(LOG_ERROR, "mod-users", "a PIN cannot be hashed");
        return S("");
    }
    return hex_of(hash, HASH_BYTES);
}

static Err *read_pin(const Req *req, Pin *pin)
{
    Json *body = NULL;

    TRY(req_body_object(req, &body));
    pin->id = str_lower(json_str(body, "id"));
    pin->pin = json_scalar_text(json_get(body, "pin"));
    if (!uuid_is_uuid_shaped(pin->id)) {
        return users_invalid(S("id"), pin->id, S("must be a UUID"));
    }
    return NULL;
}

static Err *store_pin(Tx *tx, void *context)
{
    Pin *pin = context;
    Json *doc = json_object(), *old = NULL;

    json_set_str(doc, "id", pin->id);
    json_set_str(doc, "pin", pin->hash);
    json_set_str(doc, "salt", pin->salt);
    TRY(tx_get(tx, &patron_pins, pin->id, &old));
    return old ? tx_change(tx, &patron_pins, old, doc) : tx_insert(tx, &patron_pins, doc);
}

static Err *find_pin(Tx *tx, void *context)
{
    Pin *pin = context;

    return tx_get(tx, &patron_pins, pin->id, &pin->stored);
}

Err *pin_post(Req *req)
{
    const TxOptions options = {.kind = WRITE, .now = req->now, .user_id = req->user_id};
    unsigned char salt[SALT_BYTES];
    Pin pin = {0};

    TRY(read_pin(req, &pin));
    if (!pin.pin.len) {
        return users_invalid(S("pin"), S("null"), S("must not be null"));
    }
    if (RAND_bytes(salt, SALT_BYTES) != 1) {
        return err_text(500, "No random numbers");
    }
    pin.salt = hex_of(salt, SALT_BYTES);
    pin.hash = hash_of(pin.pin, pin.salt);
    TRY(tx_run(tenant_db(req->tenant), &options, store_pin, &pin));
    return reply_empty(req, 201);
}

// FOLIO answers 200 whether there was one or not.
Err *pin_delete(Req *req)
{
    Pin pin = {0};

    TRY(read_pin(req, &pin));
    TRY(find_pin(req->tx, &pin));
    if (pin.stored) {
        TRY(tx_delete(req->tx, &patron_pins, pin.id));
    }
    return reply_empty(req, 200);
}

Err *pin_verify(Req *req)
{
    const TxOptions options = {.kind = READ, .now = req->now};
    Pin pin = {0};

    TRY(read_pin(req, &pin));
    TRY(tx_run(tenant_db(req->tenant), &options, find_pin, &pin));
    Str salt = json_str(pin.stored, "salt"), stored = json_str(pin.stored, "pin");
    Str hash = hash_of(pin.pin, salt.len ? salt : pin.id); // also for nobody: same time
    bool fits = stored.len && hash.len && str_eq_secret(hash, stored);
    return reply_empty(req, fits ? 200 : 422);
}
