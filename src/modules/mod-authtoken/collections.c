// Collections of mod-authtoken: refresh tokens that were given out.
#include "modules/mod-authtoken/collections.h"

static const Property refresh_token[] = {
    {"id", ID}, // the token's jti
    {"userId", ID, REQUIRED},
    {"expiresAt", DATE_TIME, REQUIRED},
    {"usedAt", DATE_TIME},
    {0},
};

static const RecordType refresh_token_record = {"RefreshToken", .properties = refresh_token};

static const Field refresh_token_fields[] = {
    {"user_id", "userId", UUID | INDEX},
    {"expires_at", "expiresAt", TIME | INDEX},
    {0},
};

const Collection refresh_tokens = {
    .table = "refresh_tokens",
    .record = &refresh_token_record,
    .fields = refresh_token_fields,
};

const Collection *const authtoken_collections[] = {&refresh_tokens, NULL};
