// Patrons: who is active, who is blocked, who may act for whom.
// Source: spec/circulation.md 3.2, spec/fees-fines.md 6, 7.
#include "modules/mod-circulation/circulation.h"

#include "modules/mod-feesfines/feesfines.h"
#include "modules/mod-patron-blocks/patron_blocks.h"
#include "modules/mod-users/collections.h"

bool patron_is_active(const Json *user, Time now)
{
    Time expires_at = 0;

    return json_flag(user, "active", false) &&
           (!json_time(user, "expirationDate", &expires_at) || expires_at >= now);
}

Str patron_name(const Json *user)
{
    Str last = json_str(user, "personal.lastName");
    Str first = json_str(user, "personal.firstName");

    if (last.len && first.len) {
        return str_fmt(STR_FMT ", " STR_FMT, STR_ARG(last), STR_ARG(first));
    }
    return last.len ? last : first;
}

Err *staff_name(Req *req, Str *out)
{
    Json *staff = NULL;

    if (req->user_id.len) {
        TRY(tx_get(req->tx, &users, req->user_id, &staff));
    }
    *out = patron_name(staff);
    return NULL;
}

typedef struct {
    const char *flag; // of a manual block
    const char *message;
} ActionWords;

static const ActionWords action_words[] = {
    [BLOCK_BORROWING] = {"borrowing", "Patron blocked from borrowing"},
    [BLOCK_RENEWALS] = {"renewals", "Patron blocked from renewing"},
    [BLOCK_REQUESTS] = {"requests", "Patron blocked from requesting"},
};

// What stands against an action.
typedef struct {
    Req *req;
    const Json *user;
    BlockedAction action;
    Err *manual, *automated;
} Refusals;

static Err *manual_refusal(Tx *tx, void *context)
{
    Refusals *refusals = context;
    Req *req = refusals->req;
    const ActionWords *words = &action_words[refusals->action];
    Docs blocks = {0};
    StrList reasons = {0};
    bool is_blocked = false;

    TRY(manual_blocks_of_user(tx, json_str(refusals->user, "id"), &blocks));
    for (size_t i = 0; i < blocks.len; i++) {
        is_blocked |= json_flag(blocks.at[i], words->flag, false) &&
                      manual_block_is_in_force(blocks.at[i], req->now);
        str_list_add(&reasons, json_str(blocks.at[i], "desc"));
    }
    if (is_blocked) {
        Err *err = err_422(S("USER_IS_BLOCKED_MANUALLY"), str_of(words->message),
                           P("reason", str_join(reasons.at, reasons.len, S(";"))));
        refusals->manual = err_overridable(req, err, "patronBlock", OVERRIDE_PATRON_BLOCK);
    }
    return NULL;
}

static bool blocks_action(const AutomatedBlock *block, BlockedAction action)
{
    switch (action) {
    case BLOCK_BORROWING:
        return block->blocks_borrowing;
    case BLOCK_RENEWALS:
        return block->blocks_renewals;
    default:
        return block->blocks_requests;
    }
}

static Err *automated_refusals(Tx *tx, void *context)
{
    Refusals *refusals = context;
    const Json *user = refusals->user;
    AutomatedBlocks blocks = {0};

    refusals->automated = NULL;
    TRY(automated_blocks_of_user(tx, json_str(user, "id"), json_str(user, "patronGroup"), &blocks));
    for (size_t i = 0; i < blocks.len; i++) {
        if (blocks_action(&blocks.at[i], refusals->action)) {
            Err *err = err_422(S("USER_IS_BLOCKED_AUTOMATICALLY"), blocks.at[i].message);
            err_overridable(refusals->req, err, "patronBlock", OVERRIDE_PATRON_BLOCK);
            refusals->automated = err_join(refusals->automated, err);
        }
    }
    return NULL;
}

Err *patron_blocks(Req *req, const Json *user, BlockedAction action, Err **refusals)
{
    Refusals found = {.req = req, .user = user, .action = action};
    const Read reads[] = {{manual_refusal, &found}, {automated_refusals, &found}};

    TRY(tx_together(req->tx, reads, 2));
    *refusals = err_join(found.manual, found.automated);
    return NULL;
}

// Old records keep the status inside "meta".
static Str relation_member(const Json *relation, const char *name, const char *old_name)
{
    Str value = json_str(relation, name);

    return value.len ? value : json_str(relation, old_name);
}

static bool relation_is_valid(const Json *relation, Time now)
{
    Time expires_at = 0;
    Str expiry = relation_member(relation, "expirationDate", "meta.expirationDate");

    return str_eq_nocase(relation_member(relation, "status", "meta.status"), S("Active")) &&
           (str_is_empty(expiry) || !time_parse(expiry, &expires_at) || expires_at >= now);
}

Err *proxy_is_valid(Tx *tx, Str sponsor_id, Str proxy_id, Time now, bool *out)
{
    Docs relations = {0};

    *out = false;
    TRY(tx_where(tx, &proxies, "user_id = $1 and proxy_user_id = $2",
                 ARGS(A_TEXT(sponsor_id), A_TEXT(proxy_id)), &relations));
    for (size_t i = 0; i < relations.len; i++) {
        *out |= relation_is_valid(relations.at[i], now);
    }
    return NULL;
}
