// The refund report: what was given back, to whom, and what had been paid before.
// Source: spec/fees-fines.md 9.
#include "modules/mod-feesfines/reports.h"

#include "modules/mod-feesfines/properties.h"
#include "modules/mod-inventory-storage/collections.h"
#include "modules/mod-users/collections.h"

typedef struct {
    ReportDays days;
    Docs refunds_made;      // actions, by date
    Docs accounts, history; // of them; all actions of the accounts by date
    Docs users, items, holdings, instances;
} RefundReport;

static Err *report_read(Tx *tx, RefundReport *report)
{
    TRY(tx_where(tx, &feefine_actions,
                 "type_action in ('refunded fully', 'refunded partially') and acted_at >= $1 and "
                 "acted_at < $2 order by acted_at, pk",
                 ARGS(A_INT(report->days.from), A_INT(report->days.to)), &report->refunds_made));
    TRY(tx_get_named(tx, &accounts, &report->refunds_made, "accountId", &report->accounts));
    TRY(tx_get_named(tx, &users, &report->accounts, "userId", &report->users));
    TRY(tx_get_named(tx, &items, &report->accounts, "itemId", &report->items));
    TRY(tx_get_named(tx, &holdings, &report->items, "holdingsRecordId", &report->holdings));
    TRY(tx_get_named(tx, &instances, &report->holdings, "instanceId", &report->instances));
    return report_actions(tx, &report->accounts, &report->history);
}

// ---------------------------------------------------------------------------------------------
// What had been paid

typedef struct {
    Money amount;
    StrList methods, information; // different ones
} Sum;

static void sum_add(Sum *sum, const Json *action)
{
    Str method = json_str(action, "paymentMethod");
    Str information = json_str(action, "transactionInformation");

    sum->amount += money_at(action, "amountAction");
    if (method.len && !str_list_has(&sum->methods, method)) {
        str_list_add(&sum->methods, method);
    }
    if (information.len && !str_list_has(&sum->information, information)) {
        str_list_add(&sum->information, information);
    }
}

static Str one_of(const StrList *list, const char *several)
{
    return list->len == 0 ? (Str){"", 0} : list->len == 1 ? list->at[0] : str_of(several);
}

static Time acted_at(const Json *action)
{
    Time at = 0;

    (void)json_time(action, "dateAction", &at);
    return at;
}

static void put_paid(Json *entry, const RefundReport *report, const Json *refund)
{
    Sum paid = {0}, transferred = {0};
    Str to = json_str(refund, "transactionInformation");

    Str account_id = json_str(refund, "accountId");
    for (size_t i = report_first_action(&report->history, account_id); i < report->history.len;
         i++) {
        const Json *action = report->history.at[i];
        if (!str_eq_nocase(json_str(action, "accountId"), account_id) ||
            acted_at(action) > acted_at(refund)) {
            break; // by date
        }
        if (str_starts(json_str(action, "typeAction"), S("Paid "))) {
            sum_add(&paid, action);
        } else if (str_starts(json_str(action, "typeAction"), S("Transferred "))) {
            sum_add(&transferred, action);
        }
    }
    bool shows_paid = !str_eq(to, S("Refunded to Bursar"));
    bool shows_transferred = !str_eq(to, S("Refunded to patron"));
    report_put(entry, "paidAmount", shows_paid ? money_text(paid.amount) : S(""));
    report_put(entry, "paymentMethod", shows_paid ? one_of(&paid.methods, "Multiple") : S(""));
    report_put(entry, "transactionInfo",
               shows_paid ? one_of(&paid.information, "See Fee/fine details page") : S(""));
    report_put(entry, "transferredAmount",
               shows_transferred ? money_text(transferred.amount) : S(""));
    report_put(entry, "transferAccount",
               shows_transferred ? one_of(&transferred.methods, "Multiple") : S(""));
}

// ---------------------------------------------------------------------------------------------
// Rows

static Err *put_patron(Tx *tx, Json *entry, const RefundReport *report, const Json *refund)
{
    const Json *user = docs_find(&report->users, json_str(refund, "userId")), *group = NULL;

    if (json_has(user, "patronGroup")) {
        TRY(tx_ref(tx, &groups, json_str(user, "patronGroup"), &group));
    }
    report_put(entry, "patronName", report_patron_name(user));
    report_put(entry, "patronBarcode", json_str(user, "barcode"));
    report_put(entry, "patronId", json_str(refund, "userId"));
    report_put(entry, "patronGroup", json_str(group, "group"));
    return NULL;
}

static void put_account(Json *entry, const RefundReport *report, const Json *account)
{
    const Json *item = docs_find(&report->items, json_str(account, "itemId"));
    const Json *holding = docs_find(&report->holdings, json_str(item, "holdingsRecordId"));
    const Json *instance = docs_find(&report->instances, json_str(holding, "instanceId"));

    report_put(entry, "feeFineType", json_str(account, "feeFineType"));
    report_put(entry, "billedAmount", money_text(money_at(account, "amount")));
    report_put(entry, "dateBilled", report_time(&report->days, account, "metadata.createdDate"));
    report_put(entry, "feeFineOwner", json_str(account, "feeFineOwner"));
    report_put(entry, "itemBarcode", json_str(item, "barcode"));
    report_put(entry, "instance", json_str(instance, "title"));
}

static Err *row_add(Tx *tx, const RefundReport *report, const Json *refund, Json *rows)
{
    const Json *account = docs_find(&report->accounts, json_str(refund, "accountId"));
    Json *entry = json_object();

    TRY(put_patron(tx, entry, report, refund));
    put_account(entry, report, account);
    put_paid(entry, report, refund);
    report_put(entry, "feeFineId", json_str(refund, "accountId"));
    report_put(entry, "refundDate", report_time(&report->days, refund, "dateAction"));
    report_put(entry, "refundAmount", money_text(money_at(refund, "amountAction")));
    report_put(entry, "refundAction", json_str(refund, "typeAction"));
    report_put(entry, "refundReason", json_str(refund, "paymentMethod"));
    report_put(entry, "staffInfo", report_comment(refund, "STAFF"));
    report_put(entry, "patronInfo", report_comment(refund, "PATRON"));
    report_put(entry, "actionCompletionDate", S(""));
    report_put(entry, "staffMemberName", S(""));
    report_put(entry, "actionTaken", S(""));
    json_add(rows, entry);
    return NULL;
}

static bool is_of_owners(const Json *account, const Json *owner_ids)
{
    JSON_EACH(id, owner_ids)
    {
        if (str_eq_nocase(json_scalar_text(id), json_str(account, "ownerId"))) {
            return true;
        }
    }
    return json_len(owner_ids) == 0;
}

Err *report_refunds(Req *req)
{
    RefundReport report = {0};
    Json *body = NULL, *answer = json_object(), *rows = json_array();

    TRY(req_body_object(req, &body));
    TRY(properties_check(&refund_report_record, body));
    TRY(report_days_read(req->tx, body, &report.days));
    TRY(report_read(req->tx, &report));
    for (size_t i = 0; i < report.refunds_made.len; i++) {
        const Json *refund = report.refunds_made.at[i];
        const Json *account = docs_find(&report.accounts, json_str(refund, "accountId"));
        if (is_of_owners(account, json_get(body, "feeFineOwners"))) {
            TRY(row_add(req->tx, &report, refund, rows));
        }
    }
    json_set(answer, "reportData", rows);
    return reply_json(req, 200, answer);
}
