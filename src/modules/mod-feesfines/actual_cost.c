// Actual costs of lost items: staff bill or cancel what was recorded when the item was lost.
// Source: spec/fees-fines.md 5.4.
#include "modules/mod-feesfines/fees.h"

#include "modules/mod-circulation-storage/collections.h"
#include "modules/mod-feesfines/properties.h"
#include "modules/mod-users/users.h"

// The record of the body, which must be open.
static Err *record_read(Req *req, const RecordType *type, Json **body, Json **record)
{
    TRY(req_body_object(req, body));
    TRY(properties_check(type, *body));
    Str id = json_str(*body, "actualCostRecordId");
    TRY(tx_get_locked(req->tx, &actual_cost_records, id, record));
    if (!*record) {
        return err_text(422, "Actual cost record " STR_FMT " was not found", STR_ARG(id));
    }
    if (!str_eq(json_str(*record, "status"), S("Open"))) {
        return err_text(422, "Actual cost record " STR_FMT " is already " STR_FMT, STR_ARG(id),
                        STR_ARG(str_upper(json_str(*record, "status"))));
    }
    return NULL;
}

static void take_notes(Json *record, const Json *body)
{
    json_take(record, "additionalInfoForStaff", body, "additionalInfoForStaff");
    json_take(record, "additionalInfoForPatron", body, "additionalInfoForPatron");
}

static Err *source_name(Req *req, Str *out)
{
    Json *user = NULL;

    *out = (Str){"", 0};
    if (req->user_id.len) {
        TRY(user_by_id(req->tx, req->user_id, &user));
    }
    Str last = json_str(user, "personal.lastName"), first = json_str(user, "personal.firstName");
    if (last.len && first.len) {
        *out = str_fmt(STR_FMT ", " STR_FMT, STR_ARG(last), STR_ARG(first));
    } else {
        *out = json_str(user, "username");
    }
    return NULL;
}

static Json *account_of(const Json *record, const Json *loan, Money amount)
{
    Json *account = json_object();

    json_set_str(account, "id", uuid_new());
    money_set(account, "amount", amount);
    money_set(account, "remaining", amount);
    json_set_str(account, "status.name", S("Open"));
    json_set_str(account, "paymentStatus.name", S("Outstanding"));
    json_take(account, "feeFineId", record, "feeFine.typeId");
    json_take(account, "feeFineType", record, "feeFine.type");
    json_take(account, "ownerId", record, "feeFine.ownerId");
    json_take(account, "feeFineOwner", record, "feeFine.owner");
    json_take(account, "title", record, "instance.title");
    json_take(account, "contributors", record, "instance.contributors");
    json_take(account, "barcode", record, "item.barcode");
    json_take(account, "callNumber", record, "item.effectiveCallNumberComponents.callNumber");
    json_take(account, "location", record, "item.effectiveLocation");
    json_take(account, "materialTypeId", record, "item.materialTypeId");
    json_take(account, "materialType", record, "item.materialType");
    json_take(account, "itemId", record, "item.id");
    json_take(account, "loanId", record, "loan.id");
    json_take(account, "userId", record, "user.id");
    json_take(account, "dueDate", loan, "dueDate");
    json_take(account, "returnedDate", loan, "returnDate");
    json_take(account, "loanPolicyId", loan, "loanPolicyId");
    json_take(account, "overdueFinePolicyId", loan, "overdueFinePolicyId");
    json_take(account, "lostItemFeePolicyId", loan, "lostItemPolicyId");
    return account;
}

static Str comments_of(const Json *body)
{
    Str staff = json_str(body, "additionalInfoForStaff");
    Str patron = json_str(body, "additionalInfoForPatron");

    return str_fmt("%s" STR_FMT "%s%s" STR_FMT, staff.len ? "STAFF : " : "", STR_ARG(staff),
                   staff.len && patron.len ? " \n " : "", patron.len ? "PATRON : " : "",
                   STR_ARG(patron));
}

static Err *charge(Req *req, const Json *body, const Json *account)
{
    Json *action = json_object();
    Str source = {0};

    TRY(source_name(req, &source));
    json_set_str(action, "id", uuid_new());
    json_set_time(action, "dateAction", req->now);
    json_take(action, "typeAction", account, "feeFineType");
    json_set_str_if(action, "comments", comments_of(body));
    json_set_bool(action, "notify", false);
    json_take(action, "amountAction", account, "amount");
    json_take(action, "balance", account, "amount");
    json_set_str(action, "transactionInformation", S("-"));
    json_take(action, "createdAt", body, "servicePointId");
    json_set_str_if(action, "source", source);
    json_take(action, "accountId", account, "id");
    json_take(action, "userId", account, "userId");
    return tx_insert(req->tx, &feefine_actions, action);
}

Err *actual_cost_bill(Req *req)
{
    Json *body = NULL, *record = NULL, *loan = NULL;

    TRY(record_read(req, &actual_cost_bill_record, &body, &record));
    TRY(tx_get(req->tx, &loans, json_str(record, "loan.id"), &loan));
    Json *old = json_copy(record);
    Json *account = account_of(record, loan, money_at(body, "amount"));
    TRY(tx_insert(req->tx, &accounts, account));
    TRY(charge(req, body, account));
    json_set_str(record, "status", S("Billed"));
    take_notes(record, body);
    json_take(record, "feeFine.accountId", account, "id");
    json_take(record, "feeFine.billedAmount", account, "amount");
    TRY(tx_change(req->tx, &actual_cost_records, old, record));
    return reply_json(req, 201, record);
}

Err *actual_cost_cancel(Req *req)
{
    Json *body = NULL, *record = NULL;

    TRY(record_read(req, &actual_cost_cancel_record, &body, &record));
    Json *old = json_copy(record);
    json_set_str(record, "status", S("Cancelled"));
    take_notes(record, body);
    TRY(tx_change(req->tx, &actual_cost_records, old, record));
    TRY(loan_fee_closed(req->tx, json_str(record, "loan.id")));
    return reply_json(req, 201, record);
}
