// Idempotency keys: a call repeated with the same key gets the first answer and has no effect.
// Source: spec/native-api.md 1. The answer is written in the transaction of the effect.
#include "gateway/internal.h"

#include "base/log.h"
#include "base/uuid.h"

#include <openssl/evp.h>
#include <string.h>

enum {
    KEEP_DAYS = 7,
};

static const Property answer[] = {
    {"id", ID, REQUIRED},          {"hash", STRING, REQUIRED},
    {"status", INTEGER, REQUIRED}, {"body", STRING},
    {"contentType", STRING},       {"location", STRING},
    {"createdAt", DATE_TIME},      {0},
};

static const RecordType answer_record = {"IdempotentAnswer", .properties = answer};

static const Field answer_fields[] = {
    {"created_at", "createdAt", TIME | INDEX},
    {0},
};

const Collection idempotent_answers = {
    .table = "octavo_answer",
    .record = &answer_record,
    .fields = answer_fields,
};

// Key of the request if its route takes one; "" = none.
static Str key_of(const Req *req)
{
    return req->route->is_idempotent ? str_lower(req_header(req, "x-octavo-idempotency-key"))
                                     : (Str){"", 0};
}

// What makes two requests the same: method, path, query and body.
static Str hash_of(const Req *req)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char digest[EVP_MAX_MD_SIZE];
    char hex[2 * EVP_MAX_MD_SIZE];
    unsigned len = 0;
    Buf text = buf_new(arena_current(), req->body.len + req->path.len + req->query_text.len + 16);

    buf_add_z(&text, method_name(req->method));
    buf_char(&text, ' ');
    buf_add(&text, req->path);
    buf_char(&text, '?');
    buf_add(&text, req->query_text);
    buf_char(&text, '\n');
    buf_add(&text, req->body);
    EVP_Digest(text.at, text.len, digest, &len, EVP_sha256(), NULL);
    for (unsigned i = 0; i < len; i++) {
        hex[2 * i] = digits[digest[i] >> 4];
        hex[2 * i + 1] = digits[digest[i] & 15];
    }
    return str_copy(arena_current(), (Str){hex, 2 * (size_t)len});
}

static Err *answer_again(Req *req, const Json *kept)
{
    if (!str_eq(json_str(kept, "hash"), hash_of(req))) {
        return err_422(S("IDEMPOTENCY_KEY_REUSED"),
                       S("The idempotency key was used for another request"),
                       P("x-octavo-idempotency-key", key_of(req)));
    }
    Str type = json_str(kept, "contentType");
    reply_header(req, "x-octavo-replayed", S("true"));
    if (json_has(kept, "location")) {
        reply_header(req, "Location", json_str(kept, "location"));
    }
    return reply_body(req, (int)json_int(kept, "status", 200), type.len ? str_z(type) : NULL,
                      json_str(kept, "body"));
}

Err *idempotency_replay(Req *req, bool *replayed)
{
    Str key = key_of(req);
    Json *kept = NULL;

    *replayed = false;
    if (!key.len) {
        return NULL;
    }
    if (!uuid_is_uuid_shaped(key)) {
        return err_text(400, "x-octavo-idempotency-key must be a UUID");
    }
    TRY(tx_get(req->tx, &idempotent_answers, key, &kept));
    if (!kept) {
        return NULL;
    }
    *replayed = true;
    return answer_again(req, kept);
}

static Json *answer_of(const Req *req, int status, Str content_type, Str body)
{
    Json *doc = json_object();

    json_set_str(doc, "id", key_of(req));
    json_set_str(doc, "hash", hash_of(req));
    json_set_int(doc, "status", status);
    json_set_str(doc, "body", body);
    json_set_str_if(doc, "contentType", content_type);
    json_set_time(doc, "createdAt", req->now);
    return doc;
}

static Err *answer_keep(Tx *tx, Json *doc, Time now)
{
    TRY(tx_exec(tx, "delete from octavo_answer where created_at < $1",
                ARGS(A_INT(now - KEEP_DAYS * DAY_MS)), NULL));
    return tx_insert(tx, &idempotent_answers, doc);
}

Err *idempotency_keep(Req *req)
{
    if (!key_of(req).len || req->reply.stream) {
        return NULL;
    }
    Json *doc = answer_of(req, req->reply.status, str_of(req->reply.content_type), req->reply.body);
    for (size_t i = 0; i < req->reply.headers.len; i++) {
        if (str_eq_nocase(req->reply.headers.at[i].name, S("Location"))) {
            json_set_str(doc, "location", req->reply.headers.at[i].value);
        }
    }
    return answer_keep(req->tx, doc, req->now);
}

typedef struct {
    Json *doc;
    Time now;
    Json *kept; // by another call
} Refusal;

static Err *refusal_keep(Tx *tx, void *context)
{
    Refusal *refusal = context;

    TRY(tx_get(tx, &idempotent_answers, json_str(refusal->doc, "id"), &refusal->kept));
    return refusal->kept ? NULL : answer_keep(tx, refusal->doc, refusal->now);
}

// The refused call was rolled back: its answer is kept in a transaction of its own. If the same
// call was answered meanwhile, by another node, it was in our way: its answer counts.
Err *idempotency_keep_refusal(Req *req, Err *err)
{
    Db *db = NULL;

    if (!key_of(req).len || err->status < 400 || err->status > 499) {
        return err;
    }
    Refusal refusal = {answer_of(req, err->status,
                                 err->is_json ? S("application/json") : S("text/plain"),
                                 err->is_json ? json_err_text(err) : err->message),
                       req->now, NULL};
    Err *failed = tenant_ready(req->tenant, &db);
    failed = failed
                 ? failed
                 : tx_run(db, &(TxOptions){.kind = WRITE, .now = req->now}, refusal_keep, &refusal);
    if (failed) {
        log_line(LOG_WARN, "gateway", "the answer of an idempotency key was not kept: " STR_FMT,
                 STR_ARG(failed->message));
    }
    return refusal.kept ? answer_again(req, refusal.kept) : err;
}
