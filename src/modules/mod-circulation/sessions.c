// Patron action sessions: what a patron borrowed or returned in one visit is told in one go when
// the visit ends, by staff or because nothing happens any more.
// FOLIO: mod-circulation, POST /circulation/end-patron-action-session. Source: spec/circulation.md
// 11, 15.
#include "modules/mod-circulation/sessions.h"

#include "modules/mod-users/collections.h"

enum {
    SESSIONS_AT_ONCE = 100,
};

typedef struct {
    Str patron_id, action_type;
} Visit;

// Items that were deleted meanwhile have nothing to be told about.
static Err *tell(Tx *tx, const Visit *visit, const Docs *sessions)
{
    const char *event = str_eq(visit->action_type, S("Check-in")) ? "Check in" : "Check out";
    StrList item_ids = {0};
    Docs lent = {0};
    ItemViews views = {0};
    Json *patron = NULL;

    TRY(tx_get(tx, &users, visit->patron_id, &patron));
    TRY(tx_get_named(tx, &loans, sessions, "loanId", &lent));
    for (size_t i = 0; i < lent.len; i++) {
        str_list_add(&item_ids, json_str(lent.at[i], "itemId"));
    }
    if (!patron || !item_ids.len) {
        return NULL;
    }
    TRY(item_views_by_ids(tx, item_ids.at, item_ids.len, &views));
    for (size_t i = 0; i < sessions->len; i++) {
        const Json *loan = docs_find(&lent, json_str(sessions->at[i], "loanId"));
        const ItemView *item = item_views_find(&views, json_str(loan, "itemId"));
        NoticeParts notice = {.loan = loan, .item = item, .recipient = patron, .now = tx_now(tx)};
        // An anonymised loan belongs to nobody.
        if (item && json_has(loan, "userId")) {
            TRY(notices_send(tx, &notice, event));
        }
    }
    return NULL;
}

static Err *visit_end(Tx *tx, const Visit *visit)
{
    Docs sessions = {0};
    int64_t changed = 0;

    TRY(tx_where(tx, &patron_action_sessions, "patron_id = $1 and action_type = $2",
                 ARGS(A_TEXT(str_lower(visit->patron_id)), A_TEXT(str_lower(visit->action_type))),
                 &sessions));
    if (!sessions.len) {
        return NULL;
    }
    TRY(tell(tx, visit, &sessions));
    return tx_exec(
        tx, "delete from patron_action_session where patron_id = $1 and action_type = $2",
        ARGS(A_TEXT(str_lower(visit->patron_id)), A_TEXT(str_lower(visit->action_type))), &changed);
}

static Err *visit_check(const Visit *visit)
{
    if (!uuid_is_uuid_shaped(visit->patron_id)) {
        return err_422(NO_CODE, S("End patron session request must have patron id"),
                       P("patronId", visit->patron_id));
    }
    if (!str_eq(visit->action_type, S("Check-out")) && !str_eq(visit->action_type, S("Check-in"))) {
        return err_422(NO_CODE, S("End patron session request must have action type"),
                       P("actionType", visit->action_type));
    }
    return NULL;
}

Err *patron_session_end(Req *req)
{
    Json *body = NULL;

    TRY(req_body_object(req, &body));
    JSON_EACH(one, json_get(body, "endSessions"))
    {
        Visit visit = {json_str(one, "patronId"), json_str(one, "actionType")};
        TRY(visit_check(&visit));
        TRY(visit_end(req->tx, &visit));
    }
    return reply_empty(req, 204);
}

// --- visits that nobody ended

typedef struct {
    Visit at[SESSIONS_AT_ONCE];
    size_t len;
} Visits;

static Err *take_visit(const Row *row, void *context)
{
    Visits *visits = context;

    if (visits->len < SESSIONS_AT_ONCE) {
        // The side column is folded.
        visits->at[visits->len++] =
            (Visit){str_copy(arena_current(), row_text(row, 0)),
                    str_eq(row_text(row, 1), S("check-in")) ? S("Check-in") : S("Check-out")};
    }
    return NULL;
}

static Err *find_idle(Tx *tx, void *context)
{
    const Settings *settings = NULL;

    TRY(settings_read(tx, &settings));
    Time before = tx_now(tx) - settings->session_timeout_minutes * MINUTE_MS;
    return tx_rows(tx,
                   "select patron_id, action_type from patron_action_session "
                   "group by patron_id, action_type having max(created_at) < $1 "
                   "order by max(created_at), patron_id limit 100",
                   ARGS(A_INT(before)), take_visit, context);
}

// What was found is looked at again: the patron may have come back.
static Err *end_idle(Tx *tx, void *context)
{
    Visits visits = {0};

    (void)context;
    TRY(find_idle(tx, &visits));
    for (size_t i = 0; i < visits.len; i++) {
        TRY(visit_end(tx, &visits.at[i]));
    }
    return NULL;
}

// Looks without the writer first: mostly nobody is found, and all sessions are read for that.
Err *sessions_expire_run(Db *db, Time now)
{
    Visits visits = {0};

    TRY(tx_run(db, &(TxOptions){.kind = READ, .now = now}, find_idle, &visits));
    return visits.len ? tx_run(db, &(TxOptions){.kind = WRITE, .is_batch = true, .now = now},
                               end_idle, NULL)
                      : NULL;
}
