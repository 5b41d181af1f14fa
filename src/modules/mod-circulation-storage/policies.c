// Policies and schedules: what does not fit together is refused, what the rules name is kept.
// Source: spec/circulation.md 11, 12.4.
#include "modules/mod-circulation-storage/hooks.h"

#include "modules/mod-inventory-storage/collections.h"

Err *storage_error(const char *key, Str value, Str message)
{
    Err *err = err_422(S("-1"), message, P(key, value));

    err->type = S("1");
    return err;
}

// ---------------------------------------------------------------------------------------------
// Fixed due date schedules

static Err *range_error(const Json *range, const char *member, const char *what)
{
    return storage_error(member, json_str(range, member),
                         str_fmt("Unable to save fixed loan date. Date range not valid %s", what));
}

static Err *range_check(const Json *range)
{
    Time from = 0, to = 0, due = 0;

    if (!json_time(range, "from", &from) || !json_time(range, "to", &to) ||
        !json_time(range, "due", &due)) {
        return NULL; // the shape has been checked
    }
    if (from > due) {
        return range_error(range, "from", "from date after due date");
    }
    if (from > to) {
        return range_error(range, "from", "from date after to date");
    }
    return to > due ? range_error(range, "to", "to date after due date") : NULL;
}

Err *schedule_check(Tx *tx, const Json *old, Json *schedule)
{
    (void)tx, (void)old;
    JSON_EACH(range, json_get(schedule, "schedules"))
    {
        TRY(range_check(range));
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Loan policies: the first rule that is broken is told

// As Java writes an absent value into a sentence.
static Str shown(const Json *policy, const char *path)
{
    const Json *value = json_get(policy, path);

    return value && !json_is_null(value) ? json_scalar_text(value) : S("null");
}

static bool is_fixed(const Json *policy)
{
    return str_eq_nocase(json_str(policy, "loansPolicy.profileId"), S("Fixed"));
}

static Err *alternate_schedule_check(const Json *policy)
{
    const char *path = "renewalsPolicy.alternateFixedDueDateScheduleId";
    bool differs = json_flag(policy, "renewable", false) &&
                   json_flag(policy, "renewalsPolicy.differentPeriod", false);
    bool has_schedule = json_has(policy, path);

    if (!json_has(policy, "renewalsPolicy") ||
        (differs ? !is_fixed(policy) || has_schedule : !has_schedule)) {
        return NULL;
    }
    Str id = shown(policy, path);
    return storage_error("alternateFixedDueDateScheduleId", id,
                         str_fmt("Alternate fixed due date cannot be " STR_FMT
                                 " if renewable is " STR_FMT ", different period is " STR_FMT
                                 " and profile is " STR_FMT,
                                 STR_ARG(id), STR_ARG(shown(policy, "renewable")),
                                 STR_ARG(shown(policy, "renewalsPolicy.differentPeriod")),
                                 STR_ARG(shown(policy, "loansPolicy.profileId"))));
}

static Err *fixed_schedule_check(const Json *policy)
{
    bool loanable = json_flag(policy, "loanable", false);

    if (json_has(policy, "loansPolicy.fixedDueDateScheduleId") ||
        (loanable ? !is_fixed(policy) : !json_has(policy, "loansPolicy"))) {
        return NULL;
    }
    return storage_error("fixedDueDateScheduleId", S("null"),
                         str_fmt("Fixed due date cannot be null if loanable is %s and profile is "
                                 "of type fixed",
                                 loanable ? "true" : "false"));
}

static Err *fixed_periods_check(const Json *policy)
{
    const Json *alternate = json_get(policy, "requestManagement.holds.alternateRenewalLoanPeriod");
    const Json *period = json_get(policy, "renewalsPolicy.period");

    if (!is_fixed(policy) || !json_flag(policy, "renewable", false)) {
        return NULL;
    }
    if (alternate && json_flag(policy, "requestManagement.holds.renewItemsWithRequest", false)) {
        return storage_error("alternateRenewalLoanPeriod", json_text(alternate),
                             S("Alternate Renewal Loan Period for Holds is not allowed for "
                               "policies with Fixed profile"));
    }
    if (period && json_flag(policy, "renewalsPolicy.differentPeriod", false)) {
        return storage_error("period", json_text(period),
                             S("Period in RenewalsPolicy is not allowed for policies with Fixed "
                               "profile"));
    }
    return NULL;
}

Err *loan_policy_check(Tx *tx, const Json *old, Json *policy)
{
    (void)tx, (void)old;
    TRY(alternate_schedule_check(policy));
    TRY(fixed_schedule_check(policy));
    return fixed_periods_check(policy);
}

// ---------------------------------------------------------------------------------------------
// Request policies: patrons pick up only where that is possible

Err *request_policy_check(Tx *tx, const Json *old, Json *policy)
{
    (void)old;
    JSON_EACH(type, json_get(policy, "allowedServicePoints"))
    {
        JSON_EACH(id, type)
        {
            const Json *service_point = NULL;
            TRY(tx_ref(tx, &service_points, json_scalar_text(id), &service_point));
            if (!json_flag(service_point, "pickupLocation", false)) {
                return err_422(S("INVALID_ALLOWED_SERVICE_POINT"),
                               S("One or more Pickup locations are no longer available"));
            }
        }
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Policies that the rules name. FOLIO protects notice policies only; a check-out then answers 500.

Err *policy_must_be_unused(Tx *tx, const Json *policy, const char *kind)
{
    Str text = {0};

    TRY(circulation_rules_text(tx, &text));
    if (str_find(str_lower(text), json_str(policy, "id"), 0) < 0) {
        return NULL;
    }
    return err_text(400, "Cannot delete in use %s policy", kind);
}

Err *loan_policy_must_be_unused(Tx *tx, const Json *policy)
{
    return policy_must_be_unused(tx, policy, "loan");
}

Err *request_policy_must_be_unused(Tx *tx, const Json *policy)
{
    return policy_must_be_unused(tx, policy, "request");
}

// ---------------------------------------------------------------------------------------------
// A service point that is gone or no pickup location any more leaves all request policies.

static bool withdraw_from(Json *allowed, const char *type, Str id)
{
    const Json *array = json_get(allowed, type);
    Json *kept = json_array();

    JSON_EACH(one, array)
    {
        if (!str_eq_nocase(json_scalar_text(one), id)) {
            json_add(kept, json_copy(one));
        }
    }
    if (json_len(kept) == json_len(array)) {
        return false;
    }
    json_set(allowed, type, json_len(kept) ? kept : NULL); // none may be empty
    return true;
}

static Err *service_point_withdraw(Tx *tx, Str id)
{
    Docs policies = {0};

    TRY(tx_where(tx, &request_policies, "1 = 1", NO_ARGS, &policies));
    for (size_t i = 0; i < policies.len; i++) {
        Json *old = json_copy(policies.at[i]);
        Json *allowed = json_get(policies.at[i], "allowedServicePoints");
        bool changed = withdraw_from(allowed, "Page", id);
        changed |= withdraw_from(allowed, "Hold", id);
        changed |= withdraw_from(allowed, "Recall", id);
        if (changed) {
            TRY(tx_change(tx, &request_policies, old, policies.at[i]));
        }
    }
    return NULL;
}

Err *service_points_changed(Tx *tx, const Event *events, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const Json *event = json_parse_stored(events[i].body);
        const Json *now = json_get(event, "data.new");
        if (!json_flag(now, "pickupLocation", false)) {
            TRY(service_point_withdraw(tx,
                                       json_str(now ? now : json_get(event, "data.old"), "id")));
        }
    }
    return NULL;
}
