// Charging a fee: an account and its first action.
// Source: spec/fees-fines.md 3.3, 4.2.
#include "modules/mod-feesfines/fees.h"

static void take_loan(Json *account, const Json *loan)
{
    json_take(account, "userId", loan, "userId");
    json_take(account, "loanId", loan, "id");
    json_take(account, "itemId", loan, "itemId");
    json_take(account, "dueDate", loan, "dueDate");
    json_take(account, "returnedDate", loan, "returnDate");
    json_take(account, "loanPolicyId", loan, "loanPolicyId");
    json_take(account, "overdueFinePolicyId", loan, "overdueFinePolicyId");
    json_take(account, "lostItemFeePolicyId", loan, "lostItemPolicyId");
}

static void take_item(Json *account, const FeeCharge *charge)
{
    Json *contributors = json_array();

    json_take(account, "barcode", charge->item, "barcode");
    json_take(account, "callNumber", charge->item, "effectiveCallNumberComponents.callNumber");
    json_take(account, "materialTypeId", charge->item, "materialTypeId");
    json_take(account, "itemStatus.name", charge->item, "status.name");
    json_set_str_if(account, "materialType", charge->material_type);
    json_set_str_if(account, "location", charge->location);
    json_take(account, "title", charge->instance, "title");
    JSON_EACH(contributor, json_get(charge->instance, "contributors"))
    {
        Json *one = json_object();
        json_take(one, "name", contributor, "name");
        json_add(contributors, one);
    }
    json_set(account, "contributors", contributors);
}

static Json *first_action(const FeeCharge *charge, const Json *account, Time now)
{
    Json *action = json_object();

    json_set_str(action, "id", uuid_new());
    json_set_time(action, "dateAction", now);
    json_take(action, "typeAction", account, "feeFineType");
    json_set_bool(action, "notify", false);
    money_set(action, "amountAction", charge->amount);
    money_set(action, "balance", charge->amount);
    json_set_str(action, "transactionInformation", S("-"));
    json_set_str_if(action, "createdAt", charge->service_point_id);
    json_set_str_if(action, "source", charge->source);
    json_take(action, "accountId", account, "id");
    json_take(action, "userId", account, "userId");
    return action;
}

Err *fee_charge(Tx *tx, const FeeCharge *charge, Json **account)
{
    METER("mod-feesfines");
    const Json *type = NULL, *owner = NULL;
    Json *doc = json_object();

    *account = NULL;
    TRY(tx_ref(tx, &feefines, str_of(charge->type_id), &type));
    if (charge->owner_id.len) {
        TRY(tx_ref(tx, &owners, charge->owner_id, &owner));
    }
    if (!type || !owner) {
        return NULL;
    }
    json_set_str(doc, "id", uuid_new());
    money_set(doc, "amount", charge->amount);
    money_set(doc, "remaining", charge->amount);
    json_set_str(doc, "status.name", S("Open"));
    json_set_str(doc, "paymentStatus.name", S("Outstanding"));
    json_take(doc, "feeFineType", type, "feeFineType");
    json_take(doc, "feeFineId", type, "id");
    json_take(doc, "feeFineOwner", owner, "owner");
    json_take(doc, "ownerId", owner, "id");
    take_loan(doc, charge->loan);
    take_item(doc, charge);
    TRY(tx_insert(tx, &accounts, doc));
    TRY(tx_insert(tx, &feefine_actions, first_action(charge, doc, tx_now(tx))));
    *account = doc;
    return NULL;
}
