// Policies that the circulation rules name, from memory, and the periods in them.
// Source: spec/circulation.md 3.2 row 14, 7.1.
#include "modules/mod-circulation/circulation.h"

static Err *policy_by_id(Tx *tx, const Collection *of, const char *kind, Str id, const Json **out)
{
    const Json *policy = NULL;

    if (uuid_is_uuid_shaped(id)) {
        TRY(tx_ref(tx, of, str_lower(id), &policy));
    }
    if (!policy) {
        return err_text(500, "%s " STR_FMT " could not be found, please check circulation rules",
                        kind, STR_ARG(id));
    }
    *out = policy;
    return NULL;
}

Err *loan_policy_by_id(Tx *tx, Str id, const Json **out)
{
    return policy_by_id(tx, &loan_policies, "Loan policy", id, out);
}

Err *request_policy_by_id(Tx *tx, Str id, const Json **out)
{
    return policy_by_id(tx, &request_policies, "Request policy", id, out);
}

bool period_at(const Json *policy, const char *path, Period *out)
{
    const Json *period = json_get(policy, path);
    Period found = {.duration = json_int(period, "duration", 0)};

    if (found.duration <= 0 || !period_unit_of(json_str(period, "intervalId"), &found.unit)) {
        return false;
    }
    *out = found;
    return true;
}

bool loan_policy_is_fixed(const Json *policy)
{
    return str_eq_nocase(json_str(policy, "loansPolicy.profileId"), S("Fixed"));
}
