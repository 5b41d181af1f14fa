// Taking patrons out of closed loans and of their history.
// Source: spec/circulation.md 12.1, 16.
#include "modules/mod-circulation-storage/hooks.h"

static bool is_closed(const Json *loan)
{
    return str_eq_nocase(json_str(loan, "status.name"), S("Closed"));
}

static Err *history_clear(Tx *tx, Str loan_id)
{
    Docs rows = {0};

    TRY(tx_where(tx, &loan_history, "loan_id = $1", ARGS(A_TEXT(loan_id)), &rows));
    for (size_t i = 0; i < rows.len; i++) {
        Json *row = rows.at[i];
        if (!json_has(row, "loan.userId") && !json_has(row, "loan.proxyUserId")) {
            continue;
        }
        Json *old = json_copy(row);
        json_remove(row, "loan.userId");
        json_remove(row, "loan.proxyUserId");
        json_remove(row, "loan.borrower");
        TRY(tx_change(tx, &loan_history, old, row));
    }
    return NULL;
}

// The history goes last: the change of the loan writes a row of its own, without the patron.
static Err *loan_clear(Tx *tx, Json *loan)
{
    if (json_has(loan, "userId") || json_has(loan, "proxyUserId")) {
        Json *old = json_copy(loan);
        json_remove(loan, "userId");
        json_remove(loan, "proxyUserId");
        TRY(tx_change(tx, &loans, old, loan));
    }
    return history_clear(tx, json_str(loan, "id"));
}

Err *loans_anonymize(Tx *tx, const StrList *loan_ids, StrList *done, StrList *refused)
{
    METER("mod-circulation-storage");
    for (size_t i = 0; i < loan_ids->len; i++) {
        Str id = str_lower(loan_ids->at[i]);
        Json *loan = NULL;
        TRY(tx_get(tx, &loans, id, &loan));
        if (!loan || !is_closed(loan)) {
            str_list_add(refused, id);
            continue;
        }
        TRY(loan_clear(tx, loan));
        str_list_add(done, id);
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Routes. A patron may have thousands of loans: they are done in short transactions, so that nobody
// waits at the desk.

enum {
    LOANS_AT_ONCE = 20,
};

static TxOptions batch_options(const Req *req)
{
    return (TxOptions){.kind = WRITE, .is_batch = true, .now = req->now, .user_id = req->user_id};
}

typedef struct {
    Str user_id;
    size_t found;
} UserWork;

static Err *clear_some_of_user(Tx *tx, void *context)
{
    UserWork *work = context;
    Docs closed = {0};

    TRY(tx_where(tx, &loans, "user_id = $1 and status = 'closed' order by id limit $2",
                 ARGS(A_TEXT(work->user_id), A_INT(LOANS_AT_ONCE)), &closed));
    for (size_t i = 0; i < closed.len; i++) {
        TRY(loan_clear(tx, closed.at[i]));
    }
    work->found = closed.len;
    return NULL;
}

Err *loans_anonymize_user(Req *req)
{
    UserWork work = {.user_id = str_lower(req_param(req, 0)), .found = LOANS_AT_ONCE};
    TxOptions options = batch_options(req);

    if (!uuid_is_valid(work.user_id)) {
        return storage_error("userId", work.user_id, S("Invalid user ID, should be a UUID"));
    }
    while (work.found == LOANS_AT_ONCE) {
        TRY(tx_run(tenant_db(req->tenant), &options, clear_some_of_user, &work));
    }
    return reply_empty(req, 204);
}

typedef struct {
    StrList some, *done, *refused;
} ListWork;

static Err *clear_some_listed(Tx *tx, void *context)
{
    ListWork *work = context;

    return loans_anonymize(tx, &work->some, work->done, work->refused);
}

static Err *clear_listed(Req *req, const StrList *ids, StrList *done, StrList *refused)
{
    TxOptions options = batch_options(req);

    for (size_t i = 0; i < ids->len; i += LOANS_AT_ONCE) {
        size_t n = ids->len - i < LOANS_AT_ONCE ? ids->len - i : LOANS_AT_ONCE;
        ListWork work = {{ids->at + i, n, n}, done, refused};
        TRY(tx_run(tenant_db(req->tenant), &options, clear_some_listed, &work));
    }
    return NULL;
}

static Json *strings(const StrList *list)
{
    Json *array = json_array();

    for (size_t i = 0; i < list->len; i++) {
        json_add(array, json_string(list->at[i]));
    }
    return array;
}

static void add_refused(Json *answer, const char *reason, const StrList *ids)
{
    if (!ids->len) {
        return;
    }
    Json *entry = json_object();
    json_set_str(entry, "reason", str_of(reason));
    json_set(entry, "loanIds", strings(ids));
    json_add(json_get(answer, "notAnonymizedLoans"), entry);
}

Err *loans_anonymize_listed(Req *req)
{
    Json *body = NULL, *answer = json_object();
    StrList valid = {0}, invalid = {0}, done = {0}, refused = {0};

    TRY(req_body_object(req, &body));
    JSON_EACH(id, json_get(body, "loanIds"))
    {
        Str text = json_scalar_text(id);
        str_list_add(uuid_is_valid(text) ? &valid : &invalid, text);
    }
    if (!valid.len) {
        Str sent = str_join(invalid.at, invalid.len, S(", "));
        return storage_error("loanIds", str_fmt("[" STR_FMT "]", STR_ARG(sent)),
                             S("Please provide valid loanIds"));
    }
    TRY(clear_listed(req, &valid, &done, &refused));
    json_set(answer, "anonymizedLoans", strings(&done));
    json_set(answer, "notAnonymizedLoans", json_array());
    add_refused(answer, "invalidLoanIds", &invalid);
    add_refused(answer, "loanNotClosed", &refused);
    return reply_json(req, 200, answer);
}
