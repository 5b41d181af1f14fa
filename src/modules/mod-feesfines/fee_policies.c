// Overdue fine and lost item fee policies, and owners: checks, and look-ups in memory.
// Source: spec/fees-fines.md 2, 3.1, 4.1.
#include "modules/mod-feesfines/fees.h"

#include "modules/mod-circulation-storage/circulation_storage.h"

static Err *negative_quantity(const Json *policy, const char *path)
{
    if (json_number(policy, path, 0) >= 0) {
        return NULL;
    }
    return err_422(NO_CODE, S("Quantity must not be negative."),
                   P(path, json_scalar_text(json_get(policy, path))));
}

Err *overdue_policy_check(Tx *tx, const Json *old, Json *policy)
{
    (void)tx, (void)old;
    TRY(negative_quantity(policy, "overdueFine.quantity"));
    return negative_quantity(policy, "overdueRecallFine.quantity");
}

Err *lost_policy_check(Tx *tx, const Json *old, Json *policy)
{
    (void)tx, (void)old;
    if (json_number(policy, "lostItemProcessingFee", 0) >= 0) {
        return NULL;
    }
    return err_422(
        NO_CODE, S("The value must greater than or equal to 0"),
        P("lostItemProcessingFee", json_scalar_text(json_get(policy, "lostItemProcessingFee"))));
}

Err *overdue_policy_explain(Tx *tx, Conflict kind, const Field *field, Str value,
                            const Json *policy)
{
    (void)tx, (void)field, (void)value, (void)policy;
    return kind != CONFLICT_UNIQUE
               ? NULL
               : err_422(S("feesfines.policy.overdue.duplicate"),
                         S("The Overdue fine policy name entered already exists. Please enter a "
                           "different name."));
}

Err *lost_policy_explain(Tx *tx, Conflict kind, const Field *field, Str value, const Json *policy)
{
    (void)tx, (void)field, (void)value, (void)policy;
    return kind != CONFLICT_UNIQUE
               ? NULL
               : err_422(S("feesfines.policy.lost.duplicate"),
                         S("The Lost item fee policy name entered already exists. Please enter a "
                           "different name."));
}

Err *overdue_policy_must_be_unused(Tx *tx, const Json *policy)
{
    return policy_must_be_unused(tx, policy, "overdue fine");
}

Err *lost_policy_must_be_unused(Tx *tx, const Json *policy)
{
    return policy_must_be_unused(tx, policy, "lost item fee");
}

// ---------------------------------------------------------------------------------------------
// Look-ups: nothing is read twice

static Err *shared(Tx *tx, const Collection *of, Str id, const Json **out)
{
    *out = NULL;
    return uuid_is_uuid_shaped(id) ? tx_ref(tx, of, id, out) : NULL;
}

Err *overdue_fine_policy_by_id(Tx *tx, Str id, const Json **out)
{
    return shared(tx, &overdue_fine_policies, id, out);
}

Err *lost_item_fee_policy_by_id(Tx *tx, Str id, const Json **out)
{
    return shared(tx, &lost_item_fee_policies, id, out);
}

static Err *owners_build(Tx *tx, void **value)
{
    Docs *all = NEW(Docs);

    TRY(tx_where(tx, &owners, "1 = 1 order by pk", NO_ARGS, all));
    *value = all;
    return NULL;
}

static const Collection *const owner_sources[] = {&owners, NULL};
static const Derived owners_derived = {"fee-owners", owner_sources, owners_build};
DERIVED_IS_KNOWN(owners_derived)

Err *fee_owner_of_service_point(Tx *tx, Str service_point_id, const Json **out)
{
    const void *value = NULL;

    TRY(tx_derived(tx, &owners_derived, &value));
    const Docs *all = value;
    *out = NULL;
    for (size_t i = 0; i < all->len && service_point_id.len; i++) {
        JSON_EACH(one, json_get(all->at[i], "servicePointOwner"))
        {
            if (str_eq_nocase(json_str(one, "value"), service_point_id)) {
                *out = all->at[i];
                return NULL;
            }
        }
    }
    return NULL;
}
