// What a user still has open, and deleting users who have nothing open.
// Source: spec/platform.md 2.4.
#include "modules/mod-users-bl/internal.h"

#include "modules/mod-circulation-storage/collections.h"
#include "modules/mod-feesfines/collections.h"
#include "modules/mod-login/login.h"
#include "modules/mod-permissions/permissions.h"
#include "modules/mod-users/users.h"

typedef struct {
    int64_t loans, requests, fees, proxies, blocks;
} OpenTransactions;

static Err *count(Tx *tx, const Collection *of, const char *where, Str user_id, int64_t *out)
{
    return tx_count_where(tx, of, where, ARGS(A_TEXT(user_id)), out);
}

// A block without a date of expiry counts: it ends only when staff take it away.
static Err *count_blocks(Tx *tx, Str user_id, int64_t *out)
{
    Docs docs = {0};

    TRY(tx_where(tx, &manual_blocks, "user_id = $1", ARGS(A_TEXT(user_id)), &docs));
    for (size_t i = 0; i < docs.len; i++) {
        Time expires_at = 0;
        if (!json_time(docs.at[i], "expirationDate", &expires_at) || expires_at >= tx_now(tx)) {
            ++*out;
        }
    }
    return NULL;
}

static Err *count_open(const Req *req, Tx *tx, Str id, OpenTransactions *open)
{
    *open = (OpenTransactions){0};
    if (tenant_has_module(req->tenant, "mod-circulation-storage")) {
        TRY(count(tx, &loans, "user_id = $1 and status = 'open'", id, &open->loans));
        TRY(count(tx, &requests, "requester_id = $1 and status like 'open%'", id, &open->requests));
    }
    if (tenant_has_module(req->tenant, "mod-feesfines")) {
        TRY(count(tx, &accounts, "user_id = $1 and status = 'open'", id, &open->fees));
        TRY(count_blocks(tx, id, &open->blocks));
    }
    return count(tx, &proxies, "user_id = $1 or proxy_user_id = $1", id, &open->proxies);
}

static bool has_open(const OpenTransactions *open)
{
    return open->loans || open->requests || open->fees || open->proxies || open->blocks;
}

static Json *open_json(const Json *user, const OpenTransactions *open)
{
    Json *body = json_object();

    json_take(body, "userId", user, "id");
    json_take(body, "userBarcode", user, "barcode");
    json_set_bool(body, "hasOpenTransactions", has_open(open));
    json_set_int(body, "loans", open->loans);
    json_set_int(body, "requests", open->requests);
    json_set_int(body, "feesFines", open->fees);
    json_set_int(body, "proxies", open->proxies);
    json_set_int(body, "blocks", open->blocks);
    return body;
}

static Err *existing(Req *req, Json **user)
{
    TRY(user_by_id(req->tx, req_param(req, 0), user));
    return *user
               ? NULL
               : err_text(404, "User with id '" STR_FMT "' not found", STR_ARG(req_param(req, 0)));
}

static Err *reply_open(Req *req, const Json *user)
{
    OpenTransactions open;

    TRY(count_open(req, req->tx, json_str(user, "id"), &open));
    return reply_json(req, 200, open_json(user, &open));
}

Err *bl_transactions_by_id(Req *req)
{
    Json *user = NULL;

    TRY(existing(req, &user));
    return reply_open(req, user);
}

Err *bl_transactions_by_name(Req *req)
{
    Json *user = NULL;

    TRY(user_by_name(req->tx, req_param(req, 0), &user));
    if (!user) {
        return err_text(404, "Users with username '" STR_FMT "' not found",
                        STR_ARG(req_param(req, 0)));
    }
    return reply_open(req, user);
}

// What other modules keep of a user goes with it.
static Err *delete_belongings(Req *req, Str id)
{
    Tx *tx = req->tx;
    bool found = false;

    if (tenant_has_module(req->tenant, "mod-circulation-storage")) {
        Json *preference = NULL;
        TRY(tx_find(tx, &request_preferences, "user_id", id, &preference));
        if (preference) {
            TRY(tx_delete(tx, &request_preferences, json_str(preference, "id")));
        }
    }
    if (tenant_has_module(req->tenant, "mod-login")) {
        TRY(credentials_delete(tx, id, &found));
    }
    if (tenant_has_module(req->tenant, "mod-permissions")) {
        TRY(permission_user_delete(tx, id));
    }
    return NULL;
}

Err *bl_delete(Req *req)
{
    OpenTransactions open;
    Json *user = NULL;

    TRY(existing(req, &user));
    Str id = json_str(user, "id");
    TRY(count_open(req, req->tx, id, &open));
    if (has_open(&open)) {
        return reply_json(req, 409, open_json(user, &open));
    }
    TRY(delete_belongings(req, id));
    TRY(tx_delete(req->tx, &users, id));
    return reply_empty(req, 204);
}
