// Routes of patron blocks. What FOLIO learns from events is read from the tables here, so that
// events need no handling and a synchronisation has nothing to do.
// Source: spec/fees-fines.md 6.2.
#include "modules/mod-patron-blocks/blocks.h"

#include "modules/mod-circulation-storage/circulation_storage.h"
#include "modules/mod-feesfines/feesfines.h"
#include "modules/mod-users/users.h"

static Err *user_id_read(Req *req, Str *out)
{
    *out = str_lower(req_param(req, 0));
    if (!uuid_is_uuid_shaped(*out)) {
        return err_text(400, "Invalid user UUID: \"" STR_FMT "\"", STR_ARG(req_param(req, 0)));
    }
    return NULL;
}

Err *automated_blocks_get(Req *req)
{
    AutomatedBlocks blocks = {0};
    Json *user = NULL, *answer = json_object(), *array = json_array();
    Str user_id = {0};

    TRY(user_id_read(req, &user_id));
    TRY(user_by_id(req->tx, user_id, &user));
    TRY(automated_blocks_of_user(req->tx, user_id, json_str(user, "patronGroup"), &blocks));
    for (size_t i = 0; i < blocks.len; i++) {
        const AutomatedBlock *block = &blocks.at[i];
        Json *one = json_object();
        json_set_str(one, "patronBlockConditionId", block->condition_id);
        json_set_bool(one, "blockBorrowing", block->blocks_borrowing);
        json_set_bool(one, "blockRenewals", block->blocks_renewals);
        json_set_bool(one, "blockRequests", block->blocks_requests);
        json_set_str(one, "message", block->message);
        json_add(array, one);
    }
    json_set(answer, "automatedPatronBlocks", array);
    return reply_json(req, 200, answer);
}

// ---------------------------------------------------------------------------------------------
// Summary

static Err *add_loan(Tx *tx, const OpenLoan *loan, Json *array)
{
    static const char *const units[] = {"Minutes", "Hours", "Days", "Weeks", "Months"};
    Json *one = json_object();
    Period grace = {0};
    bool has_grace = false;

    TRY(loan_grace_period(tx, loan->loan_policy_id, loan->is_recalled, &grace, &has_grace));
    json_set_str(one, "loanId", loan->loan_id);
    if (loan->due_at) {
        json_set_time(one, "dueDate", loan->due_at);
    }
    json_set_bool(one, "recall", loan->is_recalled);
    json_set_bool(one, "itemLost", loan->is_lost);
    json_set_bool(one, "itemClaimedReturned", loan->is_claimed_returned);
    if (has_grace) {
        json_set_int(one, "gracePeriod.duration", grace.duration);
        json_set_str(one, "gracePeriod.intervalId", str_of(units[grace.unit]));
    }
    json_add(array, one);
    return NULL;
}

static void add_fee(const Json *account, Json *array)
{
    Json *one = json_object();

    json_take(one, "feeFineId", account, "id");
    json_take(one, "feeFineTypeId", account, "feeFineId");
    json_take(one, "balance", account, "remaining");
    json_take(one, "loanId", account, "loanId");
    json_add(array, one);
}

Err *user_summary_get(Req *req)
{
    Json *answer = json_object(), *open_loans = json_array(), *open_fees = json_array();
    OpenLoans loans_open = {0};
    Docs fees = {0};
    Str user_id = {0};

    TRY(user_id_read(req, &user_id));
    TRY(loans_open_summary(req->tx, user_id, &loans_open));
    TRY(tx_where(req->tx, &accounts, "user_id = $1 and status = 'open' order by pk",
                 ARGS(A_TEXT(user_id)), &fees));
    if (!loans_open.len && !fees.len) {
        return err_text(404, "User summary for user ID " STR_FMT " not found", STR_ARG(user_id));
    }
    for (size_t i = 0; i < loans_open.len; i++) {
        TRY(add_loan(req->tx, &loans_open.at[i], open_loans));
    }
    for (size_t i = 0; i < fees.len; i++) {
        add_fee(fees.at[i], open_fees);
    }
    json_set_str(answer, "id", user_id);
    json_set_str(answer, "userId", user_id);
    json_set(answer, "openLoans", open_loans);
    json_set(answer, "openFeesFines", open_fees);
    return reply_json(req, 200, answer);
}

// ---------------------------------------------------------------------------------------------
// Events and synchronisation: for clients that still send and wait for them

Err *block_event_take(Req *req)
{
    return reply_empty(req, 204);
}

Err *block_sync_job_create(Req *req)
{
    Json *body = NULL, *job = json_object();

    TRY(req_body_object(req, &body));
    bool is_of_user = str_eq(json_str(body, "scope"), S("user"));
    if (is_of_user && !json_has(body, "userId")) {
        return err_422(NO_CODE, S("UserId is required for synchronization job with scope: USER"),
                       P("userId", S("null")));
    }
    json_set_str(job, "id", uuid_new());
    json_take(job, "scope", body, "scope");
    json_take(job, "userId", body, "userId");
    json_set_str(job, "status", S("open"));
    json_set_int(job, "totalNumberOfLoans", 0);
    json_set_int(job, "numberOfProcessedLoans", 0);
    json_set_int(job, "totalNumberOfFeesFines", 0);
    json_set_int(job, "numberOfProcessedFeesFines", 0);
    TRY(tx_insert(req->tx, &sync_jobs, job));
    return reply_json(req, 201, job);
}

Err *block_sync_job_get(Req *req)
{
    Json *job = NULL;
    Str id = str_lower(req_param(req, 0));

    if (uuid_is_uuid_shaped(id)) {
        TRY(tx_get(req->tx, &sync_jobs, id, &job));
    }
    if (!job) {
        return err_text(404, "Synchronization job with ID " STR_FMT " was not found", STR_ARG(id));
    }
    json_set_str(job, "status", S("done"));
    return reply_json(req, 200, job);
}
