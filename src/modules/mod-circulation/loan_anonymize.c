// Forgetting who borrowed what: closed loans lose their patron, at a patron's request or as the
// library's setting says.
// FOLIO: mod-circulation, POST /loan-anonymization/by-user/{userId}. Source:
// spec/circulation.md 16.
#include "modules/mod-circulation/sessions.h"

#include "modules/mod-feesfines/feesfines.h"

#include <string.h>

enum {
    BY_USER_MAX = 5000,
    AT_ONCE = 100,
    CHECKED_PER_RUN = 50000,
};

// A page of closed loans and what became of them. Ids outlive the transaction.
typedef struct {
    Str user_id; // "" = all patrons
    Str after;   // the last id looked at
    size_t count;
    const Json *rules; // the setting; NULL: at a patron's request
    StrList done, with_fees;
} Page;

static Err *loans_read(Tx *tx, const Page *page, Docs *out)
{
    if (page->user_id.len) {
        return tx_where(tx, &loans,
                        "user_id = $1 and status = 'closed' and id > $2 order by id limit 100",
                        ARGS(A_TEXT(page->user_id), A_TEXT(page->after)), out);
    }
    return tx_where(tx, &loans,
                    "id > $1 and status = 'closed' and user_id is not null order by id limit 100",
                    ARGS(A_TEXT(page->after)), out);
}

// --- what the setting says

static bool is_passed(const Json *rules, const char *path, Time since, Time now)
{
    Period period;

    return period_at(rules, path, &period) && zone_add(zone_utc(), since, period) <= now;
}

// Open fees keep a loan; closed ones for as long as the library wants.
static bool fees_allow(const Json *rules, const Docs *fees, Time now)
{
    Str when = json_str(rules, "closingType.feeFine");
    Time newest = 0, at = 0;

    for (size_t i = 0; i < fees->len; i++) {
        if (!str_eq_nocase(json_str(fees->at[i], "status.name"), S("Closed"))) {
            return false;
        }
        if (json_time(fees->at[i], "metadata.updatedDate", &at) && at > newest) {
            newest = at;
        }
    }
    return str_eq(when, S("immediately")) ||
           (str_eq(when, S("interval")) && is_passed(rules, "feeFine", newest, now));
}

static bool period_allows(const Json *rules, const Json *loan, Time now)
{
    Str when = json_str(rules, "closingType.loan");
    Time returned_at = 0;

    return str_eq(when, S("immediately")) ||
           (str_eq(when, S("interval")) && json_time(loan, "systemReturnDate", &returned_at) &&
            is_passed(rules, "loan", returned_at, now));
}

static Err *may_be_forgotten(Tx *tx, Page *page, const Json *loan, bool *out)
{
    Docs fees = {0};
    bool is_treated = json_flag(page->rules, "treatEnabled", false);

    if (!page->rules || is_treated) {
        TRY(accounts_of_loan(tx, json_str(loan, "id"), &fees));
    }
    if (!page->rules) {
        *out = fees.len == 0;
        return NULL;
    }
    *out = fees.len && is_treated ? fees_allow(page->rules, &fees, tx_now(tx))
                                  : period_allows(page->rules, loan, tx_now(tx));
    return NULL;
}

// --- pages

static Err *forget(Tx *tx, const Docs *read, const StrList *ids, Page *page)
{
    StrList refused = {0};

    for (size_t i = 0; i < read->len; i++) {
        if (str_list_has(ids, json_str(read->at[i], "id"))) {
            TRY(emit_loan_log(tx, "Anonymize", read->at[i], NULL, (Str){0}));
        }
    }
    return loans_anonymize(tx, ids, &page->done, &refused);
}

static Err *page_work(Tx *tx, void *context)
{
    Page *page = context;
    Docs read = {0};
    StrList ids = {0};

    TRY(loans_read(tx, page, &read));
    for (size_t i = 0; i < read.len; i++) {
        bool may_be = false;
        Str id = json_str(read.at[i], "id");
        TRY(may_be_forgotten(tx, page, read.at[i], &may_be));
        str_list_add(may_be ? &ids : &page->with_fees, id);
        page->after = id;
    }
    page->count = read.len;
    return ids.len ? forget(tx, &read, &ids, page) : NULL;
}

// Background work names nobody: the memory of a page is given back but for the place it ended at.
static void forget_page(Page *page, ArenaMark mark)
{
    static const Str none = {"", 0};
    char place[64];
    size_t len = page->after.len < sizeof place ? page->after.len : 0;

    memcpy(place, page->after.at, len);
    arena_release(arena_current(), mark);
    page->after = len ? str_copy(arena_current(), (Str){place, len}) : none;
    page->done = page->with_fees = (StrList){0};
}

// Page by page, so that the desk never waits long.
static Err *run(Db *db, const TxOptions *options, Page *page, size_t max)
{
    for (size_t seen = 0; seen < max; seen += page->count) {
        ArenaMark mark = arena_mark(arena_current());
        TRY(tx_run(db, options, page_work, page));
        if (page->count < AT_ONCE) {
            break;
        }
        if (page->rules) {
            forget_page(page, mark);
        }
    }
    return NULL;
}

static Json *texts(const StrList *list)
{
    Json *array = json_array();

    for (size_t i = 0; i < list->len; i++) {
        json_add(array, json_string(list->at[i]));
    }
    return array;
}

static Json *reply_of(const Page *page)
{
    Json *answer = json_object(), *errors = json_array();

    json_set(answer, "anonymizedLoans", texts(&page->done));
    if (page->with_fees.len) {
        Json *error = json_object(), *params = json_array(), *param = json_object();
        json_set_str(error, "message", S("haveAssociatedFeesAndFines"));
        json_set_str(param, "key", S("loanIds"));
        json_set_str(param, "value", json_text(texts(&page->with_fees)));
        json_add(params, param);
        json_set(error, "parameters", params);
        json_add(errors, error);
    }
    json_set(answer, "errors", errors);
    return answer;
}

Err *loans_anonymize_by_user(Req *req)
{
    Page page = {.user_id = str_lower(req_param(req, 0))};

    TRY(run(tenant_db(req->tenant),
            &(TxOptions){.kind = WRITE, .is_batch = true, .now = req->now, .user_id = req->user_id},
            &page, BY_USER_MAX));
    return reply_json(req, 200, reply_of(&page));
}

static Err *read_rules(Tx *tx, void *context)
{
    const Settings *settings = NULL;
    Json **rules = context;

    TRY(settings_read(tx, &settings));
    *rules = settings->loan_history ? json_copy(settings->loan_history) : NULL;
    return NULL;
}

Err *loans_anonymize_run(Db *db, Time now)
{
    Json *rules = NULL;
    Page page = {0};

    TRY(tx_run(db, &(TxOptions){.kind = READ, .now = now}, read_rules, &rules));
    if (!rules) {
        return NULL; // without a setting nothing is forgotten
    }
    page.rules = rules;
    return run(db, &(TxOptions){.kind = WRITE, .is_batch = true, .now = now}, &page,
               CHECKED_PER_RUN);
}
