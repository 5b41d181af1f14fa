// Pictures of users, and the settings that allow them. Source: spec/platform.md 4.2.
//
// A picture stands in the database encrypted with the library's key: AES-256-GCM, the text is
// base64 of nonce, tag and data.
#include "modules/mod-users/internal.h"

#include <openssl/evp.h>
#include <openssl/rand.h>
#include <string.h>

enum {
    NONCE_BYTES = 12,
    TAG_BYTES = 16,
    KEY_BYTES = 32,
    MEGABYTE = 1024 * 1024,
    PICTURE_MAX = 10 * MEGABYTE,
};

// ---------------------------------------------------------------------------------------------
// Settings

static Err *read_config(Tx *tx, Json **out)
{
    Docs docs = {0};

    TRY(tx_where(tx, &picture_settings, "1 = 1 order by id limit 1", NO_ARGS, &docs));
    *out = docs.len ? docs.at[0] : NULL;
    return NULL;
}

// Off until a library turns it on; with a key of its own.
Err *picture_config_init(Tx *tx)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    unsigned char random[KEY_BYTES];
    char key[KEY_BYTES];
    Json *doc = json_object(), *old = NULL;

    TRY(read_config(tx, &old));
    if (old) {
        return NULL;
    }
    if (RAND_bytes(random, KEY_BYTES) != 1) {
        return err_text(500, "No random numbers");
    }
    for (size_t i = 0; i < KEY_BYTES; i++) {
        key[i] = letters[random[i] & 63];
    }
    json_set_str(doc, "configName", S("PROFILE_PICTURE_CONFIG"));
    json_set_bool(doc, "enabled", false);
    json_set_bool(doc, "enabledObjectStorage", false);
    json_set_str(doc, "encryptionKey", (Str){key, KEY_BYTES});
    json_set_int(doc, "maxFileSize", 4);
    return tx_insert(tx, &picture_settings, doc);
}

Err *picture_config_get(Req *req)
{
    Json *config = NULL;

    TRY(read_config(req->tx, &config));
    return config ? reply_json(req, 200, config) : err_text(404, "No configuration exist");
}

Err *picture_config_put(Req *req)
{
    Json *config = NULL, *doc = NULL;

    TRY(req_body_object(req, &doc));
    TRY(read_config(req->tx, &config));
    if (!config || !str_eq_nocase(json_str(config, "id"), req_param(req, 0))) {
        return err_text(404, "No configuration exist");
    }
    if (!str_eq(json_str(doc, "encryptionKey"), json_str(config, "encryptionKey"))) {
        return err_text(400, "Cannot update the Encryption key");
    }
    if (json_number(doc, "maxFileSize", 0) > 10) {
        return err_text(500, "Max file size should not exceed more than 10 megabytes");
    }
    json_set_str(doc, "id", json_str(config, "id"));
    TRY(tx_update(req->tx, &picture_settings, doc));
    return reply_empty(req, 204);
}

// ---------------------------------------------------------------------------------------------
// Encryption

static void key_of(const Json *config, unsigned char key[KEY_BYTES])
{
    Str text = json_str(config, "encryptionKey");
    unsigned len = 0;

    (void)EVP_Digest(text.at, text.len, key, &len, EVP_sha256(), NULL);
}

static Str to_base64(const unsigned char *bytes, size_t n)
{
    unsigned char *text = arena_alloc(arena_current(), n / 3 * 4 + 8);

    return (Str){(char *)text, (size_t)EVP_EncodeBlock(text, bytes, (int)n)};
}

static Str from_base64(Str text)
{
    unsigned char *bytes = arena_alloc(arena_current(), text.len + 4);
    int n = text.len && text.len % 4 == 0
                ? EVP_DecodeBlock(bytes, (const unsigned char *)text.at, (int)text.len)
                : -1;

    if (n < 0) {
        return S("");
    }
    for (size_t i = text.len; i > text.len - 2 && text.at[i - 1] == '='; i--) {
        n--;
    }
    return (Str){(char *)bytes, (size_t)n};
}

static bool encrypt(const Json *config, Str picture, Str *out)
{
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    unsigned char key[KEY_BYTES];
    unsigned char *bytes = arena_alloc(arena_current(), NONCE_BYTES + TAG_BYTES + picture.len + 16);
    int len = 0, end = 0;

    key_of(config, key);
    bool is_fine =
        cipher && RAND_bytes(bytes, NONCE_BYTES) == 1 &&
        EVP_EncryptInit_ex(cipher, EVP_aes_256_gcm(), NULL, key, bytes) == 1 &&
        EVP_EncryptUpdate(cipher, bytes + NONCE_BYTES + TAG_BYTES, &len,
                          (const unsigned char *)picture.at, (int)picture.len) == 1 &&
        EVP_EncryptFinal_ex(cipher, bytes + NONCE_BYTES + TAG_BYTES + len, &end) == 1 &&
        EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_GET_TAG, TAG_BYTES, bytes + NONCE_BYTES) == 1;
    EVP_CIPHER_CTX_free(cipher);
    *out = is_fine ? to_base64(bytes, (size_t)(NONCE_BYTES + TAG_BYTES + len + end)) : S("");
    return is_fine;
}

static bool decrypt(const Json *config, Str text, Str *out)
{
    Str packed = from_base64(text);
    unsigned char *bytes = (unsigned char *)packed.at, key[KEY_BYTES];
    unsigned char *plain = arena_alloc(arena_current(), packed.len + 16);
    int len = 0, end = 0;

    if (packed.len < NONCE_BYTES + TAG_BYTES) {
        return false;
    }
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    key_of(config, key);
    bool is_fine =
        cipher && EVP_DecryptInit_ex(cipher, EVP_aes_256_gcm(), NULL, key, bytes) == 1 &&
        EVP_DecryptUpdate(cipher, plain, &len, bytes + NONCE_BYTES + TAG_BYTES,
                          (int)(packed.len - NONCE_BYTES - TAG_BYTES)) == 1 &&
        EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_SET_TAG, TAG_BYTES, bytes + NONCE_BYTES) == 1 &&
        EVP_DecryptFinal_ex(cipher, plain + len, &end) == 1;
    EVP_CIPHER_CTX_free(cipher);
    *out = (Str){(char *)plain, (size_t)(len + end)};
    return is_fine;
}

// ---------------------------------------------------------------------------------------------
// Pictures

// The settings, when pictures are allowed at all.
static Err *enabled_config(Req *req, Json **config)
{
    TRY(read_config(req->tx, config));
    if (!json_flag(*config, "enabled", false)) {
        return err_text(500, "Profile picture feature is not enabled for tenant " STR_FMT,
                        STR_ARG(req->tenant_id));
    }
    if (json_flag(*config, "enabledObjectStorage", false)) {
        return err_text(501, "Pictures in an object storage are not supported");
    }
    return json_str(*config, "encryptionKey").len ? NULL : err_text(500, "Encryption key is null");
}

static bool is_picture(Str bytes)
{
    return str_starts(bytes, S("\x89PNG\r\n\x1a\n")) || str_starts(bytes, S("\xff\xd8\xff"));
}

static Err *wrong_size(void)
{
    return err_text(500, "Requested file size should be within allowed size updated in "
                         "profile_picture configuration");
}

// What the body itself tells: FOLIO looks at it before the settings.
static Err *check_body(const Req *req)
{
    if (!req->body.len || req->body.len > PICTURE_MAX) {
        return wrong_size();
    }
    return is_picture(req->body)
               ? NULL
               : err_text(500, "Requested image should be of supported type-[PNG,JPG,JPEG]");
}

// The body as an encrypted record.
static Err *read_picture(Req *req, const Json *config, Json *doc)
{
    double megabytes = json_number(config, "maxFileSize", 10);
    Str text;

    if ((double)req->body.len > megabytes * MEGABYTE) {
        return wrong_size();
    }
    if (!encrypt(config, req->body, &text)) {
        return err_text(500, "Error encrypting profile picture data");
    }
    json_set_str(doc, "profile_picture_blob", text);
    return NULL;
}

static Err *reply_id(Req *req, int status, Str id)
{
    Json *body = json_object();

    json_set_str(body, "id", id);
    return reply_json(req, status, body);
}

Err *picture_post(Req *req)
{
    Json *config = NULL, *doc = json_object();

    TRY(check_body(req));
    TRY(enabled_config(req, &config));
    TRY(read_picture(req, config, doc));
    json_set_str(doc, "id", uuid_new());
    TRY(tx_insert(req->tx, &profile_pictures, doc));
    return reply_id(req, 201, json_str(doc, "id"));
}

static Err *find_picture(Req *req, Json **out)
{
    Str id = str_lower(req_param(req, 0));

    return uuid_is_uuid_shaped(id) ? tx_get(req->tx, &profile_pictures, id, out) : NULL;
}

Err *picture_get(Req *req)
{
    Json *config = NULL, *doc = NULL, *body = json_object();
    Str picture;

    TRY(enabled_config(req, &config));
    TRY(find_picture(req, &doc));
    if (!doc) {
        return err_text(404, "No profile picture found for id " STR_FMT,
                        STR_ARG(req_param(req, 0)));
    }
    if (!decrypt(config, json_str(doc, "profile_picture_blob"), &picture)) {
        return err_text(400, "Data integrity check failed, POST and GET must use an identical key");
    }
    json_take(body, "id", doc, "id");
    json_set_str(body, "profile_picture_blob",
                 to_base64((const unsigned char *)picture.at, picture.len));
    return reply_json(req, 200, body);
}

Err *picture_put(Req *req)
{
    Json *config = NULL, *old = NULL, *doc = json_object();

    TRY(check_body(req));
    TRY(enabled_config(req, &config));
    TRY(read_picture(req, config, doc));
    TRY(find_picture(req, &old));
    if (!old) {
        return err_text(404, "Existing profile picture is not found");
    }
    json_take(doc, "id", old, "id");
    TRY(tx_update(req->tx, &profile_pictures, doc));
    return reply_id(req, 200, json_str(doc, "id"));
}

Err *picture_delete(Req *req)
{
    Json *config = NULL, *old = NULL;

    TRY(enabled_config(req, &config));
    TRY(find_picture(req, &old));
    if (!old) {
        return err_text(404, "Profile picture not found");
    }
    TRY(tx_delete(req->tx, &profile_pictures, json_str(old, "id")));
    return reply_empty(req, 204);
}
