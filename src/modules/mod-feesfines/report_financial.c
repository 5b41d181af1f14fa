// Financial transactions in detail: each payment, waiver, transfer, refund and cancellation with
// the fee, the patron, the item and the loan it belongs to. Source: spec/fees-fines.md 9.
#include "modules/mod-feesfines/reports.h"

#include "modules/mod-circulation-storage/collections.h"
#include "modules/mod-feesfines/properties.h"
#include "modules/mod-inventory-storage/collections.h"
#include "modules/mod-users/collections.h"

static const struct {
    const char *verb, *name;
    const char *method_column; // where the payment method is shown; NULL: nowhere
} kinds[] = {
    {"Paid ", "Payment", "paymentMethod"},           {"Waived ", "Waive", "waiveReason"},
    {"Transferred ", "Transfer", "transferAccount"}, {"Refunded ", "Refund", "refundReason"},
    {"Cancelled as error", "Cancelled", NULL},       {"Staff info only", "Staff info only", NULL},
};

enum {
    KINDS = sizeof kinds / sizeof *kinds,
};

typedef struct {
    ReportDays days;
    Docs actions, accounts, charges; // charges: all actions of the accounts, by date
    Docs users, items, holdings, instances, loans;
} FinancialReport;

// ---------------------------------------------------------------------------------------------
// Reading: a dozen statements for the whole report

static Err *report_read(Tx *tx, FinancialReport *report)
{
    TRY(tx_where(tx, &feefine_actions,
                 "type_action in ('paid fully', 'paid partially', 'waived fully', "
                 "'waived partially', 'transferred fully', 'transferred partially', "
                 "'refunded fully', 'refunded partially', 'cancelled as error', "
                 "'staff info only') and acted_at >= $1 and acted_at < $2 order by acted_at, pk",
                 ARGS(A_INT(report->days.from), A_INT(report->days.to)), &report->actions));
    TRY(tx_get_named(tx, &accounts, &report->actions, "accountId", &report->accounts));
    TRY(tx_get_named(tx, &users, &report->accounts, "userId", &report->users));
    TRY(tx_get_named(tx, &items, &report->accounts, "itemId", &report->items));
    TRY(tx_get_named(tx, &holdings, &report->items, "holdingsRecordId", &report->holdings));
    TRY(tx_get_named(tx, &instances, &report->holdings, "instanceId", &report->instances));
    TRY(tx_get_named(tx, &loans, &report->accounts, "loanId", &report->loans));
    return report_actions(tx, &report->accounts, &report->charges);
}

// The member of a shared record, "" if there is none.
static Err *name_of(Tx *tx, const Collection *of, Str id, const char *member, Str *out)
{
    const Json *record = NULL;

    if (uuid_is_uuid_shaped(id)) {
        TRY(tx_ref(tx, of, id, &record));
    }
    *out = json_str(record, member);
    return NULL;
}

static Err *put_name(Tx *tx, Json *entry, const char *column, const Collection *of, Str id)
{
    const char *member = of == &groups ? "group" : "name";
    Str name = {0};

    TRY(name_of(tx, of, id, member, &name));
    report_put(entry, column, name);
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Rows

static Err *put_action(Tx *tx, const FinancialReport *report, const Json *action, Json *entry)
{
    Str type = json_str(action, "typeAction");

    report_put(entry, "action", S(""));
    for (size_t i = 0; i < KINDS; i++) {
        bool is_kind = str_starts(type, str_of(kinds[i].verb));
        if (is_kind) {
            report_put(entry, "action", str_of(kinds[i].name));
        }
        if (kinds[i].method_column) {
            report_put(entry, kinds[i].method_column,
                       is_kind ? json_str(action, "paymentMethod") : S(""));
        }
    }
    report_put(entry, "actionAmount",
               json_has(action, "amountAction") ? money_text(money_at(action, "amountAction"))
                                                : S(""));
    report_put(entry, "actionDate", report_time(&report->days, action, "dateAction"));
    report_put(entry, "actionSource", json_str(action, "source"));
    report_put(entry, "actionStatus", type);
    report_put(entry, "actionAdditionalStaffInfo", report_comment(action, "STAFF"));
    report_put(entry, "actionAdditionalPatronInfo", report_comment(action, "PATRON"));
    report_put(entry, "transactionInfo", json_str(action, "transactionInformation"));
    return put_name(tx, entry, "actionCreatedAt", &service_points, json_str(action, "createdAt"));
}

// The first action of an account is its charge.
static const Json *charge_of(const FinancialReport *report, Str account_id)
{
    size_t first = report_first_action(&report->charges, account_id);

    return first < report->charges.len &&
                   str_eq_nocase(json_str(report->charges.at[first], "accountId"), account_id)
               ? report->charges.at[first]
               : NULL;
}

static Err *put_fee(Tx *tx, const FinancialReport *report, const Json *account, Json *entry)
{
    const Json *charge = charge_of(report, json_str(account, "id"));

    report_put(entry, "feeFineOwner", json_str(account, "feeFineOwner"));
    report_put(entry, "feeFineType", json_str(account, "feeFineType"));
    report_put(entry, "billedAmount", money_text(money_at(account, "amount")));
    report_put(entry, "feeFineId", json_str(account, "id"));
    report_put(entry, "dueDate", report_time(&report->days, account, "dueDate"));
    report_put(entry, "returnDate", report_time(&report->days, account, "returnedDate"));
    report_put(entry, "dateBilled", report_time(&report->days, charge, "dateAction"));
    report_put(entry, "feeFineSource", json_str(charge, "source"));
    return put_name(tx, entry, "feeFineCreatedAt", &service_points, json_str(charge, "createdAt"));
}

static Err *put_patron(Tx *tx, const FinancialReport *report, const Json *account, Json *entry)
{
    const Json *user = docs_find(&report->users, json_str(account, "userId"));

    report_put(entry, "patronId", json_str(account, "userId"));
    report_put(entry, "patronName", report_patron_name(user));
    report_put(entry, "patronBarcode", json_str(user, "barcode"));
    report_put(entry, "patronEmail", json_str(user, "personal.email"));
    return put_name(tx, entry, "patronGroup", &groups, json_str(user, "patronGroup"));
}

static Str contributors_of(const Json *instance)
{
    StrList names = {0};

    JSON_EACH(contributor, json_get(instance, "contributors"))
    {
        str_list_add(&names, json_str(contributor, "name"));
    }
    return names.len ? str_join(names.at, names.len, S(", ")) : S("");
}

static Err *put_item(Tx *tx, const FinancialReport *report, const Json *account, Json *entry)
{
    const Json *item = docs_find(&report->items, json_str(account, "itemId"));
    const Json *holding = docs_find(&report->holdings, json_str(item, "holdingsRecordId"));
    const Json *instance = docs_find(&report->instances, json_str(holding, "instanceId"));

    report_put(entry, "itemId", json_str(item, "id"));
    report_put(entry, "itemBarcode", json_str(item, "barcode"));
    report_put(entry, "callNumber", json_str(item, "effectiveCallNumberComponents.callNumber"));
    report_put(entry, "holdingsRecordId", json_str(holding, "id"));
    report_put(entry, "instanceId", json_str(instance, "id"));
    report_put(entry, "instance", json_str(instance, "title"));
    report_put(entry, "contributors", contributors_of(instance));
    return put_name(tx, entry, "effectiveLocation", &locations,
                    json_str(item, "effectiveLocationId"));
}

static Err *put_loan(Tx *tx, const FinancialReport *report, const Json *account, Json *entry)
{
    const Json *loan = docs_find(&report->loans, json_str(account, "loanId"));
    Str lending = json_str(loan, "loanPolicyId"), overdue = json_str(loan, "overdueFinePolicyId");
    Str lost = json_str(loan, "lostItemPolicyId");

    report_put(entry, "loanId", json_str(loan, "id"));
    report_put(entry, "loanDate", report_time(&report->days, loan, "loanDate"));
    report_put(entry, "loanPolicyId", lending);
    report_put(entry, "overdueFinePolicyId", overdue);
    report_put(entry, "lostItemPolicyId", lost);
    TRY(put_name(tx, entry, "loanPolicyName", &loan_policies, lending));
    TRY(put_name(tx, entry, "overdueFinePolicyName", &overdue_fine_policies, overdue));
    return put_name(tx, entry, "lostItemPolicyName", &lost_item_fee_policies, lost);
}

static bool is_listed(const Json *ids, Str id)
{
    JSON_EACH(one, ids)
    {
        if (str_eq_nocase(json_scalar_text(one), id)) {
            return true;
        }
    }
    return json_len(ids) == 0;
}

static Err *rows_write(Tx *tx, const FinancialReport *report, const Json *body, Json *rows)
{
    for (size_t i = 0; i < report->actions.len; i++) {
        const Json *action = report->actions.at[i];
        const Json *account = docs_find(&report->accounts, json_str(action, "accountId"));
        if (!str_eq_nocase(json_str(account, "ownerId"), json_str(body, "feeFineOwner")) ||
            !is_listed(json_get(body, "createdAt"), json_str(action, "createdAt"))) {
            continue;
        }
        Json *entry = json_object();
        TRY(put_fee(tx, report, account, entry));
        TRY(put_action(tx, report, action, entry));
        TRY(put_patron(tx, report, account, entry));
        TRY(put_item(tx, report, account, entry));
        TRY(put_loan(tx, report, account, entry));
        json_add(rows, entry);
    }
    return NULL;
}

static Json *stats_of(const Json *rows)
{
    static const struct {
        const char *name, *column, *title;
    } totals[] = {
        {"byFeeFineOwner", "feeFineOwner", "Fee/fine owner totals"},
        {"byFeeFineType", "feeFineType", "Fee/fine type totals"},
        {"byAction", "action", "Action totals"},
        {"byPaymentMethod", "paymentMethod", "Payment method totals"},
        {"byWaiveReason", "waiveReason", "Waive reason totals"},
        {"byRefundReason", "refundReason", "Refund reason totals"},
        {"byTransferAccount", "transferAccount", "Transfer account totals"},
    };
    Json *stats = json_object();

    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++) {
        json_set(stats, totals[i].name,
                 report_totals(rows, totals[i].column, "actionAmount", totals[i].title));
    }
    return stats;
}

Err *report_financial(Req *req)
{
    FinancialReport report = {0};
    Json *body = NULL, *answer = json_object(), *rows = json_array();

    TRY(req_body_object(req, &body));
    TRY(properties_check(&financial_report_record, body));
    TRY(report_days_read(req->tx, body, &report.days));
    TRY(report_read(req->tx, &report));
    TRY(rows_write(req->tx, &report, body, rows));
    json_set(answer, "reportStats", stats_of(rows));
    json_set(answer, "reportData", rows);
    return reply_json(req, 200, answer);
}
