// Fees of lost items: what a policy charges at once, what comes back when the item does.
// Source: spec/fees-fines.md 4.
#include "modules/mod-circulation/loans.h"

#include "modules/mod-feesfines/feesfines.h"
#include "modules/mod-inventory-storage/inventory_storage.h"
#include "modules/mod-users/collections.h"

bool loan_lost_at(const Json *loan, Time *out)
{
    Time declared = 0, aged = 0;
    bool is_declared = json_time(loan, "declaredLostDate", &declared);
    bool is_aged = json_time(loan, "agedToLostDelayedBilling.agedToLostDate", &aged);

    *out = declared > aged ? declared : aged;
    return is_declared || is_aged;
}

Err *lost_loan_give_back(LoanWork *work, Str service_point_id, const char *cancellation)
{
    const Json *policy = NULL;
    LostFeeRefund refund = {.loan = work->loan,
                            .now = work->req->now,
                            .cancellation = cancellation,
                            .service_point_id = service_point_id};
    bool is_changed = false;

    if (!loan_lost_at(work->stored, &refund.lost_at)) {
        return NULL;
    }
    TRY(lost_item_fee_policy_by_id(work->tx, json_str(work->stored, "lostItemPolicyId"), &policy));
    if (!policy) {
        return NULL;
    }
    refund.policy = policy;
    TRY(staff_name(work->req, &refund.source));
    return lost_fees_refund(work->tx, &refund, &is_changed);
}

// --- what is charged

static bool costs_what_it_costs(const Json *policy)
{
    return str_eq(json_str(policy, "chargeAmountItem.chargeType"), S("actualCost"));
}

static Money set_cost(const Json *policy)
{
    return costs_what_it_costs(policy) ? 0 : money_at(policy, "chargeAmountItem.amount");
}

static Money processing_fee(const LostCharge *charge)
{
    bool is_declared = str_eq_z(S("Declared lost"), charge->loss_type);
    const char *flag = is_declared ? "chargeAmountItemPatron" : "chargeAmountItemSystem";

    return json_flag(charge->policy, flag, false)
               ? money_at(charge->policy, "lostItemProcessingFee")
               : 0;
}

static bool charges_anything(const LostCharge *charge)
{
    return charge->policy && (costs_what_it_costs(charge->policy) || set_cost(charge->policy) > 0 ||
                              processing_fee(charge) > 0);
}

static Str permanent_location(const ItemView *item)
{
    Str own = json_str(item->item, "permanentLocationId");

    return own.len ? own : json_str(item->holding, "permanentLocationId");
}

Err *lost_charge_prepare(LostCharge *charge)
{
    LoanWork *work = charge->work;
    LocationContext location = {0};

    TRY(staff_name(work->req, &charge->source));
    Str policy_id = json_str(work->loan, "lostItemPolicyId");
    if (uuid_is_uuid_shaped(policy_id)) {
        TRY(lost_item_fee_policy_by_id(work->tx, policy_id, &charge->policy));
    }
    if (!charges_anything(charge) || !work->item) {
        return NULL;
    }
    charge->location_id = permanent_location(work->item);
    TRY(location_by_id(work->tx, charge->location_id, &location));
    TRY(fee_owner_of_service_point(work->tx, json_str(location.location, "primaryServicePoint"),
                                   &charge->owner));
    if (!charge->owner) {
        return err_422(NO_CODE, S("No fee/fine owner found for item's permanent location"),
                       P("locationId", charge->location_id));
    }
    return NULL;
}

static Err *charge_amount(LostCharge *charge, const char *type_id, Money amount)
{
    const LoanWork *work = charge->work;
    const ItemView *item = work->item;
    Json *account = NULL;
    FeeCharge fee = {.type_id = type_id,
                     .owner_id = json_str(charge->owner, "id"),
                     .amount = amount,
                     .loan = work->loan,
                     .item = item->item,
                     .instance = item->instance,
                     .location = json_str(item->location, "name"),
                     .material_type = json_str(item->material_type, "name"),
                     .source = charge->source,
                     .service_point_id = charge->service_point_id};

    if (amount <= 0) {
        return NULL;
    }
    return fee_charge(work->tx, &fee, &account);
}

// --- actual cost: staff find out later what it was

static Err *record_user(const LoanWork *work, Json *record)
{
    const Json *patron = work->patron, *group = NULL;
    Str group_id = json_str(patron, "patronGroup");

    json_take(record, "user.id", work->loan, "userId");
    json_take(record, "user.barcode", patron, "barcode");
    json_take(record, "user.firstName", patron, "personal.firstName");
    json_set_str(record, "user.lastName", json_str(patron, "personal.lastName"));
    json_take(record, "user.middleName", patron, "personal.middleName");
    if (group_id.len) {
        TRY(tx_ref(work->tx, &groups, group_id, &group));
        json_set_str(record, "user.patronGroupId", group_id);
        json_set_str_if(record, "user.patronGroup", json_str(group, "group"));
    }
    return NULL;
}

static Err *record_item(const LostCharge *charge, Json *record)
{
    static const char *const taken[] = {"volume", "enumeration", "chronology", "displaySummary",
                                        "copyNumber"};
    const ItemView *item = charge->work->item;
    LocationContext permanent = {0};
    Json *doc = json_object();

    TRY(location_by_id(charge->work->tx, charge->location_id, &permanent));
    json_set_str(doc, "id", item->id);
    json_set_str_if(doc, "barcode", item->barcode);
    json_set_str(doc, "materialTypeId", item->material_type_id);
    json_set_str(doc, "materialType", json_str(item->material_type, "name"));
    json_set_str(doc, "loanTypeId", item->loan_type_id);
    json_set_str(doc, "loanType", json_str(item->loan_type, "name"));
    json_set_str_if(doc, "permanentLocationId", charge->location_id);
    json_set_str_if(doc, "permanentLocation", json_str(permanent.location, "name"));
    json_set_str_if(doc, "effectiveLocationId", item->location_id);
    json_set_str_if(doc, "effectiveLocation", json_str(item->location, "name"));
    json_set_str(doc, "holdingsRecordId", item->holdings_record_id);
    json_take(doc, "effectiveCallNumberComponents", item->item, "effectiveCallNumberComponents");
    json_remove(doc, "effectiveCallNumberComponents.typeId");
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        json_take(doc, taken[i], item->item, taken[i]);
    }
    json_set(record, "item", doc);
    return NULL;
}

static Err *record_instance(const LoanWork *work, Json *record)
{
    const Json *instance = work->item->instance;
    Json *numbers = json_array(), *names = json_array();

    json_set_str(record, "instance.id", work->item->instance_id);
    json_set_str(record, "instance.title", item_title(work->item));
    JSON_EACH(one, json_get(instance, "identifiers"))
    {
        Json *number = json_object();
        Str name;
        TRY(inventory_name(work->tx, &identifier_types, json_str(one, "identifierTypeId"), &name));
        json_take(number, "value", one, "value");
        json_take(number, "identifierTypeId", one, "identifierTypeId");
        json_set_str(number, "identifierType", name);
        json_add(numbers, number);
    }
    JSON_EACH(contributor, json_get(instance, "contributors"))
    {
        Json *name = json_object();
        json_take(name, "name", contributor, "name");
        json_add(names, name);
    }
    json_set(record, "instance.identifiers", numbers);
    json_set(record, "instance.contributors", names);
    return NULL;
}

static Err *record_actual_cost(LostCharge *charge)
{
    const LoanWork *work = charge->work;
    const Json *type = NULL;
    Json *record = json_object();
    Period period;

    TRY(tx_ref(work->tx, &feefines, S(FEE_LOST_ACTUAL), &type));
    json_set_str(record, "lossType", str_of(charge->loss_type));
    json_set_time(record, "lossDate", charge->lost_at);
    if (period_at(charge->policy, "lostItemChargeFeeFine", &period)) {
        json_set_time(record, "expirationDate", zone_add(zone_utc(), charge->lost_at, period));
    }
    TRY(record_user(work, record));
    TRY(record_item(charge, record));
    TRY(record_instance(work, record));
    json_take(record, "loan.id", work->loan, "id");
    json_take(record, "feeFine.ownerId", charge->owner, "id");
    json_take(record, "feeFine.owner", charge->owner, "owner");
    json_set_str(record, "feeFine.typeId", S(FEE_LOST_ACTUAL));
    Str name = json_str(type, "feeFineType");
    json_set_str(record, "feeFine.type", name.len ? name : S("Lost item fee (actual cost)"));
    json_set_str(record, "status", S("Open"));
    return tx_insert(work->tx, &actual_cost_records, record);
}

Err *lost_charge_perform(LostCharge *charge)
{
    if (!charge->owner || !charge->work->item) {
        return NULL;
    }
    if (costs_what_it_costs(charge->policy)) {
        TRY(record_actual_cost(charge));
    } else {
        TRY(charge_amount(charge, FEE_LOST_ITEM, set_cost(charge->policy)));
    }
    return charge_amount(charge, FEE_LOST_PROCESSING, processing_fee(charge));
}
