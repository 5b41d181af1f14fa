// Routes of accounts that no collection covers: the list with ids of the title, actions on
// accounts. Source: spec/fees-fines.md 1, 5.
#include "modules/mod-feesfines/fees.h"

#include "modules/mod-feesfines/properties.h"
#include "modules/mod-inventory-storage/collections.h"

#include "base/sort.h"

enum {
    CHUNK = 500,
    CHUNK_BYTES_MAX = 64 * 1024 * 1024,
    ANSWER_MAX = 256 * 1024 * 1024,
};

// ---------------------------------------------------------------------------------------------
// The list. Items and holdings of 500 accounts are read in two statements.

typedef struct {
    Json *at[CHUNK];
    size_t len;
} Chunk;

static Err *chunk_decorate(Tx *tx, Chunk *chunk)
{
    Docs page = {chunk->at, chunk->len}, its_items = {0}, its_holdings = {0};

    TRY(tx_get_named(tx, &items, &page, "itemId", &its_items));
    TRY(tx_get_named(tx, &holdings, &its_items, "holdingsRecordId", &its_holdings));
    for (size_t i = 0; i < chunk->len; i++) {
        const Json *item = docs_find(&its_items, json_str(chunk->at[i], "itemId"));
        const Json *holding = docs_find(&its_holdings, json_str(item, "holdingsRecordId"));
        json_take(chunk->at[i], "holdingsRecordId", holding, "id");
        json_take(chunk->at[i], "instanceId", holding, "instanceId");
    }
    return NULL;
}

// *more = false behind the last record. Documents live in an arena that is given back at once.
static Err *chunk_read(List *list, Arena *scratch, Chunk *chunk, bool *more)
{
    while (chunk->len < CHUNK) {
        Str doc = {0};
        TRY(list_next(list, &doc));
        if (!doc.at) {
            *more = false;
            return NULL;
        }
        Arena *former = arena_use(scratch);
        chunk->at[chunk->len++] = json_parse_stored(doc);
        arena_use(former);
    }
    return NULL;
}

static Err *chunk_write(Tx *tx, Arena *scratch, Chunk *chunk, Buf *out)
{
    Arena *former = arena_use(scratch);
    Err *err = chunk_decorate(tx, chunk);

    for (size_t i = 0; i < chunk->len && !err; i++) {
        if (out->at[out->len - 1] != '[') {
            buf_char(out, ',');
        }
        json_write(out, chunk->at[i]);
    }
    arena_use(former);
    // The failure must outlive the arena it was made in.
    return err ? err_text(err->status, STR_FMT, STR_ARG(err->message)) : NULL;
}

static Err *list_write(Tx *tx, List *list, Buf *out)
{
    Arena *scratch = arena_new(CHUNK_BYTES_MAX);
    Chunk *chunk = NEW(Chunk);
    Err *err = NULL;

    for (bool more = true; more && !err;) {
        chunk->len = 0;
        err = chunk_read(list, scratch, chunk, &more);
        err = err ? err : chunk_write(tx, scratch, chunk, out);
        arena_reset(scratch);
    }
    arena_free(scratch);
    return err;
}

Err *accounts_list(Req *req)
{
    Buf out = buf_new(arena_current(), ANSWER_MAX);
    ListRequest request;
    List *list = NULL;

    TRY(list_request_read(req, &accounts, &request));
    TRY(list_open(req->tx, &accounts, &request, &list));
    buf_add_z(&out, "{\"accounts\":[");
    TRY(list_write(req->tx, list, &out));
    int64_t total = list_total(list);
    buf_char(&out, ']');
    if (total >= 0) {
        buf_fmt(&out,
                ",\"totalRecords\":%lld,\"resultInfo\":{\"totalRecords\":%lld,\"facets\":[],"
                "\"diagnostics\":[]}",
                (long long)total, (long long)total);
    }
    buf_char(&out, '}');
    if (out.overflowed) {
        return err_text(413, "The answer is too large; ask for fewer records");
    }
    return reply_json_text(req, 200, buf_str(&out));
}

// ---------------------------------------------------------------------------------------------
// One account

Err *account_get(Req *req)
{
    Str id = str_lower(req_param(req, 0));
    Chunk *chunk = NEW(Chunk);

    if (uuid_is_uuid_shaped(id)) {
        TRY(tx_get(req->tx, &accounts, id, &chunk->at[0]));
    }
    if (!chunk->at[0]) {
        return err_text(404, "AccountObject does not exist");
    }
    chunk->len = 1;
    TRY(chunk_decorate(req->tx, chunk));
    return reply_json(req, 200, chunk->at[0]);
}

// ---------------------------------------------------------------------------------------------
// Actions: the route says which

typedef struct {
    AccountAction action;
    bool is_bulk, is_check;
    Str amount;
    Json *body;
} Request;

static const struct {
    const char *name;
    ActionKind kind;
    bool is_check;
} names[] = {
    {"/pay", ACTION_PAY, false},
    {"/waive", ACTION_WAIVE, false},
    {"/transfer", ACTION_TRANSFER, false},
    {"/refund", ACTION_REFUND, false},
    {"/cancel", ACTION_CANCEL, false},
    {"/check-pay", ACTION_PAY, true},
    {"/check-waive", ACTION_WAIVE, true},
    {"/check-transfer", ACTION_TRANSFER, true},
    {"/check-refund", ACTION_REFUND, true},
};

static const RecordType *body_type(const Request *request)
{
    if (request->is_check) {
        return request->is_bulk ? &bulk_check_action_record : &check_action_record;
    }
    if (request->action.kind == ACTION_CANCEL) {
        return request->is_bulk ? &bulk_cancel_action_record : &cancel_action_record;
    }
    return request->is_bulk ? &bulk_default_action_record : &default_action_record;
}

static Err *request_read(Req *req, Request *request)
{
    Str path = str_of(req->route->path);

    request->is_bulk = str_starts(path, S("/accounts-bulk/"));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (str_ends(path, str_of(names[i].name))) {
            request->action.kind = names[i].kind;
            request->is_check = names[i].is_check;
        }
    }
    TRY(req_body_object(req, &request->body));
    TRY(properties_check(body_type(request), request->body));
    request->amount = json_str(request->body, "amount");
    request->action.request = request->body;
    request->action.actions = json_array();
    return NULL;
}

static Err *account_read(Req *req, Request *request, Str id)
{
    AccountAction *action = &request->action;
    Json *account = NULL;

    id = str_lower(id);
    if (uuid_is_uuid_shaped(id)) {
        TRY(tx_get_locked(req->tx, &accounts, id, &account));
    }
    if (!account) {
        return err_text(404, "Fee/fine ID " STR_FMT " not found", STR_ARG(id));
    }
    action->stored[action->n] = json_copy(account);
    action->accounts[action->n++] = account;
    return NULL;
}

static bool is_repeated(const AccountAction *action, Str id)
{
    for (size_t i = 0; i < action->n; i++) {
        if (str_eq_nocase(json_str(action->accounts[i], "id"), id)) {
            return true;
        }
    }
    return false;
}

static int compare_ids(const void *a, const void *b)
{
    return str_cmp(*(const Str *)a, *(const Str *)b);
}

// By id, whatever order they are named in: of two who act on the same accounts one waits for the
// other, not each for the other.
static Err *accounts_lock(Tx *tx, const Json *ids)
{
    StrList sorted = {0};

    JSON_EACH(id, ids)
    {
        str_list_add(&sorted, str_lower(json_scalar_text(id)));
    }
    sort_array(sorted.at, sorted.len, sizeof *sorted.at, compare_ids);
    for (size_t i = 0; i < sorted.len; i++) {
        TRY(tx_lock(tx, &accounts, sorted.at[i]));
    }
    return NULL;
}

static Err *accounts_read(Req *req, Request *request)
{
    const Json *ids = json_get(request->body, "accountIds");
    size_t most = request->is_bulk ? json_len(ids) : 1;

    request->action.accounts = NEW_ARRAY(Json *, most + 1);
    request->action.stored = NEW_ARRAY(const Json *, most + 1);
    if (!request->is_bulk) {
        return account_read(req, request, req_param(req, 0));
    }
    TRY(accounts_lock(req->tx, ids));
    JSON_EACH(id, ids)
    {
        if (!is_repeated(&request->action, json_scalar_text(id))) {
            TRY(account_read(req, request, json_scalar_text(id)));
        }
    }
    return NULL;
}

static Json *answer_begin(Req *req, const Request *request)
{
    Json *answer = json_object();

    if (request->is_bulk) {
        json_take(answer, "accountIds", request->body, "accountIds");
    } else {
        json_set_str(answer, "accountId", req_param(req, 0));
    }
    return answer;
}

static Err *refused(Req *req, const Request *request, const char *refusal)
{
    Json *answer = answer_begin(req, request);

    json_take(answer, "amount", request->body, "amount");
    if (request->is_check) {
        json_set_bool(answer, "allowed", false);
    }
    json_set_str(answer, "errorMessage", str_of(refusal));
    return err_body(422, json_text(answer));
}

static Err *allowed(Req *req, const Request *request)
{
    Json *answer = answer_begin(req, request);

    json_set_str(answer, "amount",
                 request->is_bulk ? request->amount : money_text(request->action.amount));
    json_set_bool(answer, "allowed", true);
    json_set_str(answer, "remainingAmount", money_text(request->action.remaining));
    return reply_json(req, 200, answer);
}

static Err *performed(Req *req, const Request *request)
{
    const AccountAction *action = &request->action;
    Json *answer = answer_begin(req, request);

    if (action->kind != ACTION_CANCEL) {
        json_set_str(answer, "amount", money_text(action->amount));
    }
    if (!request->is_bulk) {
        json_set_str(answer, "remainingAmount",
                     money_text(money_at(action->accounts[0], "remaining")));
    }
    json_set(answer, "feefineactions", action->actions);
    return reply_json(req, 201, answer);
}

Err *account_action(Req *req)
{
    Request request = {0};
    const char *refusal = NULL;

    TRY(request_read(req, &request));
    TRY(accounts_read(req, &request));
    TRY(action_check(req->tx, &request.action, request.amount, &refusal));
    if (refusal) {
        return refused(req, &request, refusal);
    }
    if (request.is_check) {
        return allowed(req, &request);
    }
    TRY(action_perform(req->tx, &request.action));
    return performed(req, &request);
}
