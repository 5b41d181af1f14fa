// Cash drawer reconciliation: what was paid at a service point, by whom it was taken.
// Source: spec/fees-fines.md 9.
#include "modules/mod-feesfines/reports.h"

#include "modules/mod-feesfines/properties.h"

// ---------------------------------------------------------------------------------------------
// Rows

static Json *row_of(const ReportDays *days, const Json *action, const Json *account)
{
    Json *entry = json_object();

    report_put(entry, "source", json_str(action, "source"));
    report_put(entry, "paymentMethod", json_str(action, "paymentMethod"));
    report_put(entry, "paidAmount", money_text(money_at(action, "amountAction")));
    report_put(entry, "feeFineOwner", json_str(account, "feeFineOwner"));
    report_put(entry, "feeFineType", json_str(account, "feeFineType"));
    report_put(entry, "paymentDate", report_time(days, action, "dateAction"));
    report_put(entry, "paymentStatus", json_str(action, "typeAction"));
    report_put(entry, "transactionInfo", json_str(action, "transactionInformation"));
    report_put(entry, "additionalStaffInfo", report_comment(action, "STAFF"));
    report_put(entry, "additionalPatronInfo", report_comment(action, "PATRON"));
    report_put(entry, "patronId", json_str(action, "userId"));
    report_put(entry, "feeFineId", json_str(action, "accountId"));
    return entry;
}

// ---------------------------------------------------------------------------------------------
// Handlers

static bool is_of_sources(const Json *action, const Json *sources)
{
    JSON_EACH(source, sources)
    {
        if (str_eq(json_scalar_text(source), json_str(action, "source"))) {
            return true;
        }
    }
    return json_len(sources) == 0;
}

Err *report_cash_drawer(Req *req)
{
    ReportDays days = {0};
    Docs paid = {0}, its_accounts = {0};
    Json *body = NULL, *answer = json_object(), *rows = json_array(), *stats = json_object();

    TRY(req_body_object(req, &body));
    TRY(properties_check(&cash_drawer_report_record, body));
    TRY(report_days_read(req->tx, body, &days));
    TRY(tx_where(
        req->tx, &feefine_actions,
        "type_action in ('paid fully', 'paid partially') and acted_at >= $1 and "
        "acted_at < $2 and service_point_id = $3 order by acted_at, pk",
        ARGS(A_INT(days.from), A_INT(days.to), A_TEXT(str_lower(json_str(body, "createdAt")))),
        &paid));
    TRY(tx_get_named(req->tx, &accounts, &paid, "accountId", &its_accounts));
    for (size_t i = 0; i < paid.len; i++) {
        if (is_of_sources(paid.at[i], json_get(body, "sources"))) {
            const Json *account = docs_find(&its_accounts, json_str(paid.at[i], "accountId"));
            json_add(rows, row_of(&days, paid.at[i], account));
        }
    }
    json_set(stats, "bySource", report_totals(rows, "source", "paidAmount", "Source totals"));
    json_set(stats, "byPaymentMethod",
             report_totals(rows, "paymentMethod", "paidAmount", "Payment method totals"));
    json_set(stats, "byFeeFineType",
             report_totals(rows, "feeFineType", "paidAmount", "Fee/fine type totals"));
    json_set(stats, "byFeeFineOwner",
             report_totals(rows, "feeFineOwner", "paidAmount", "Fee/fine owner totals"));
    json_set(answer, "reportData", rows);
    json_set(answer, "reportStats", stats);
    return reply_json(req, 200, answer);
}

// Who took money at a service point. The names are as they were written, so documents are read.
Err *report_cash_sources(Req *req)
{
    Docs paid = {0};
    StrList names = {0};
    Json *body = NULL, *answer = json_object(), *array = json_array();

    TRY(req_body_object(req, &body));
    TRY(properties_check(&cash_drawer_sources_record, body));
    TRY(tx_where(req->tx, &feefine_actions,
                 "id in (select min(id) from feefineactions where service_point_id = $1 and "
                 "type_action in ('paid fully', 'paid partially') group by source) order by source",
                 ARGS(A_TEXT(str_lower(json_str(body, "createdAt")))), &paid));
    for (size_t i = 0; i < paid.len; i++) {
        Str name = json_str(paid.at[i], "source");
        if (name.len && !str_list_has(&names, name)) {
            str_list_add(&names, name);
            json_add(array, json_string(name));
        }
    }
    json_set(answer, "sources", array);
    return reply_json(req, 200, answer);
}
