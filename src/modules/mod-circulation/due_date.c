// Due dates of check-outs, renewals and recalls, and expiry on the hold shelf.
// Source: spec/circulation.md 7, 5.4.
#include "modules/mod-circulation/circulation.h"

#include "modules/mod-circulation/closed_days.h"

// What a date is limited to: the range of a schedule.
typedef struct {
    bool has;
    Time due_at;
} Limit;

// Messages and codes differ between lending and renewing.
typedef struct {
    const char *period_fault, *period_code, *interval_code, *duration_code, *profile_code;
    const char *outside, *outside_code;
} Words;

static const Words check_out_words = {
    .period_fault = "the loan period in the loan policy is not recognised",
    .outside = "loan date falls outside of the date ranges in the loan policy",
};

static const Words renewal_words = {
    .period_fault = "the loan period in the loan policy is not recognised",
    .period_code = "LOAN_POLICY_RENEWAL_PERIOD_NOT_RECOGNIZED",
    .interval_code = "LOAN_POLICY_RENEWAL_PERIOD_INTERVAL_NOT_RECOGNIZED",
    .duration_code = "LOAN_POLICY_RENEWAL_PERIOD_DURATION_INVALID",
    .profile_code = "LOAN_POLICY_PROFILE_NOT_RECOGNIZED",
    .outside = "renewal date falls outside of date ranges in the loan policy",
    .outside_code = "RENEWAL_DATE_OUTSIDE_LOAN_POLICY_DATE_RANGES",
};

static Err *policy_fault(const Json *policy, Str message, const char *code)
{
    return err_422(str_of(code), message, P("loanPolicyId", json_str(policy, "id")),
                   P("loanPolicyName", json_str(policy, "name")));
}

static Err *profile_fault(const Json *policy, const Words *words)
{
    Str profile = json_str(policy, "loansPolicy.profileId");

    return policy_fault(
        policy,
        str_fmt("profile \"" STR_FMT "\" in the loan policy is not recognised", STR_ARG(profile)),
        words->profile_code);
}

static Err *read_period(const Json *policy, const char *path, const Words *words, Period *out)
{
    const Json *period = json_get(policy, path);
    Str interval = json_str(period, "intervalId");
    int64_t duration = json_int(period, "duration", 0);

    if (!period) {
        return policy_fault(policy, str_of(words->period_fault), words->period_code);
    }
    if (!period_unit_of(interval, &out->unit)) {
        return policy_fault(policy,
                            str_fmt("the interval \"" STR_FMT
                                    "\" in the loan policy is not recognised",
                                    STR_ARG(interval)),
                            words->interval_code);
    }
    if (duration <= 0) {
        return policy_fault(
            policy,
            str_fmt("the duration \"%lld\" in the loan policy is invalid", (long long)duration),
            words->duration_code);
    }
    out->duration = duration;
    return NULL;
}

// The due date of the range that contains `at`; *found is false when none does.
static Err *schedule_due(Tx *tx, Str schedule_id, Time at, bool *found, Time *due_at)
{
    const Json *schedule = NULL;

    *found = false;
    TRY(tx_ref(tx, &fixed_due_date_schedules, schedule_id, &schedule));
    JSON_EACH(range, json_get(schedule, "schedules"))
    {
        Time from = 0, to = 0;
        if (json_time(range, "from", &from) && json_time(range, "to", &to) && from <= at &&
            at <= to && json_time(range, "due", due_at)) {
            *found = true;
            return NULL;
        }
    }
    return NULL;
}

static Err *schedule_limit(Tx *tx, const Json *policy, Str schedule_id, Time at, const Words *words,
                           Limit *out)
{
    bool found = false;

    if (str_is_empty(schedule_id)) {
        return NULL;
    }
    TRY(schedule_due(tx, schedule_id, at, &found, &out->due_at));
    if (!found) {
        return policy_fault(policy, str_of(words->outside), words->outside_code);
    }
    out->has = true;
    return NULL;
}

static Time limited(Time at, Limit limit)
{
    return limit.has && limit.due_at < at ? limit.due_at : at;
}

// Loans by the hour or minute look at opening hours, all others at open days.
static bool is_short_term(const Json *policy)
{
    Period period;

    return !loan_policy_is_fixed(policy) && period_at(policy, "loansPolicy.period", &period) &&
           (period.unit == HOURS || period.unit == MINUTES);
}

static Err *apply_closing(Tx *tx, const DueDateInput *input, Closing closing, Time at, Time *out)
{
    const Settings *settings = NULL;
    ClosedDays closed = {.closing = closing,
                         .at = at,
                         .now = input->now,
                         .service_point_id = input->service_point_id};

    TRY(settings_read(tx, &settings));
    closed.zone = settings->zone;
    (void)period_at(input->policy, "loansPolicy.openingTimeOffset", &closed.offset);
    return closed_days_apply(tx, &closed, out);
}

static Closing closing_of(const Json *policy)
{
    return closing_of_policy(json_str(policy, "loansPolicy.closedLibraryDueDateManagementId"));
}

// What is left of a loan when the patron's account ends before it.
static Err *cut_by_expiry(Tx *tx, const DueDateInput *input, DueDate *date)
{
    static const Closing cut[] = {
        [KEEP_DATE] = KEEP_TIME,
        [KEEP_TIME] = KEEP_TIME,
        [END_OF_PREVIOUS_OPEN_DAY] = END_OF_PREVIOUS_OPEN_DAY,
        [END_OF_NEXT_OPEN_DAY] = END_OF_PREVIOUS_OPEN_DAY,
        [END_OF_CURRENT_HOURS] = END_OF_PREVIOUS_HOURS,
        [BEGINNING_OF_NEXT_HOURS] = END_OF_PREVIOUS_HOURS,
    };
    Time expires_at = 0;

    if (!json_time(input->patron, "expirationDate", &expires_at) || expires_at >= date->at) {
        return NULL;
    }
    date->is_cut_by_patron_expiry = true;
    return apply_closing(tx, input, cut[closing_of(input->policy)], expires_at, &date->at);
}

// Closed days, then back behind the schedule if they led beyond it, then the patron's expiry.
static Err *treat(Tx *tx, const DueDateInput *input, Time raw, Limit limit, DueDate *out)
{
    DueDate date = {.at = raw};

    TRY(apply_closing(tx, input, closing_of(input->policy), raw, &date.at));
    if (limit.has && date.at > limit.due_at) {
        Closing back =
            is_short_term(input->policy) ? END_OF_CURRENT_HOURS : END_OF_PREVIOUS_OPEN_DAY;
        Closing own = closing_of(input->policy);
        // A policy that keeps its dates never asks the calendar.
        back = own == KEEP_DATE || own == KEEP_TIME ? own : back;
        TRY(apply_closing(tx, input, back, limit.due_at, &date.at));
    }
    TRY(cut_by_expiry(tx, input, &date));
    *out = date;
    return NULL;
}

static Err *check_out_raw(Tx *tx, const DueDateInput *input, Time *raw, Limit *limit)
{
    const Json *policy = input->policy;
    const char *alternate = "requestManagement.holds.alternateCheckoutLoanPeriod";
    bool is_alternate = input->has_pending_hold && json_has(policy, alternate);
    Str profile = json_str(policy, "loansPolicy.profileId");
    Period period = {0};

    bool is_fixed = loan_policy_is_fixed(policy);
    if (!is_fixed && !str_eq_nocase(profile, S("Rolling"))) {
        return profile_fault(policy, &check_out_words);
    }
    Str schedule_id = json_str(policy, "loansPolicy.fixedDueDateScheduleId");
    TRY(schedule_limit(tx, policy, schedule_id, input->loan_date, &check_out_words, limit));
    if (is_fixed && !is_alternate) {
        if (!limit->has) {
            return policy_fault(policy, str_of(check_out_words.outside), NULL);
        }
        *raw = limit->due_at;
        return NULL;
    }
    TRY(read_period(policy, is_alternate ? alternate : "loansPolicy.period", &check_out_words,
                    &period));
    *raw = limited(zone_add(zone_utc(), input->loan_date, period), *limit);
    return NULL;
}

Err *due_date_at_check_out(Tx *tx, const DueDateInput *input, DueDate *out)
{
    Time raw = 0;
    Limit limit = {0};

    TRY(check_out_raw(tx, input, &raw, &limit));
    return treat(tx, input, raw, limit, out);
}

// --- renewals

static Err *renewal_start(const DueDateInput *input, Time *out)
{
    Str from = json_str(input->policy, "renewalsPolicy.renewFromId");

    if (str_eq(from, S("SYSTEM_DATE"))) {
        *out = input->now;
        return NULL;
    }
    if (str_eq(from, S("CURRENT_DUE_DATE"))) {
        *out = input->current_due_at;
        return NULL;
    }
    return policy_fault(input->policy, S("cannot determine when to renew from"),
                        "LOAN_POLICY_RENEW_FROM_NOT_RECOGNIZED");
}

static Str renewal_schedule(const Json *policy)
{
    Str alternate = json_str(policy, "renewalsPolicy.alternateFixedDueDateScheduleId");

    if (json_flag(policy, "renewalsPolicy.differentPeriod", false) && alternate.len) {
        return alternate;
    }
    return json_str(policy, "loansPolicy.fixedDueDateScheduleId");
}

static const char *renewal_period_path(const DueDateInput *input)
{
    const char *hold = "requestManagement.holds.alternateRenewalLoanPeriod";

    if (input->has_pending_hold && json_has(input->policy, hold)) {
        return hold;
    }
    return json_flag(input->policy, "renewalsPolicy.differentPeriod", false)
               ? "renewalsPolicy.period"
               : "loansPolicy.period";
}

static Err *renewal_raw_fixed(Tx *tx, const DueDateInput *input, Time *raw, Limit *limit)
{
    bool found = false;

    TRY(schedule_due(tx, renewal_schedule(input->policy), input->now, &found, &limit->due_at));
    if (!found) {
        return policy_fault(input->policy,
                            S("renewal date falls outside of date ranges in fixed loan policy"),
                            "RENEWAL_DATE_OUTSIDE_FIXED_LOAN_POLICY_DATE_RANGES");
    }
    limit->has = true;
    *raw = limit->due_at;
    return NULL;
}

static Err *renewal_raw(Tx *tx, const DueDateInput *input, Time *raw, Limit *limit)
{
    const Json *policy = input->policy;
    Period period = {0};
    Time from = 0;

    if (loan_policy_is_fixed(policy)) {
        return renewal_raw_fixed(tx, input, raw, limit);
    }
    if (!str_eq_nocase(json_str(policy, "loansPolicy.profileId"), S("Rolling"))) {
        return profile_fault(policy, &renewal_words);
    }
    TRY(renewal_start(input, &from));
    TRY(read_period(policy, renewal_period_path(input), &renewal_words, &period));
    TRY(schedule_limit(tx, policy, renewal_schedule(policy), from, &renewal_words, limit));
    *raw = limited(zone_add(zone_utc(), from, period), *limit);
    return NULL;
}

Err *due_date_of_renewal_raw(Tx *tx, const DueDateInput *input, Time *out)
{
    DueDateInput without_hold = *input;
    Limit limit = {0};

    without_hold.has_pending_hold = false;
    return renewal_raw(tx, &without_hold, out, &limit);
}

Err *due_date_at_renewal(Tx *tx, const DueDateInput *input, DueDate *out)
{
    Time raw = 0;
    Limit limit = {0};

    TRY(renewal_raw(tx, input, &raw, &limit));
    return treat(tx, input, raw, limit, out);
}

// --- recalls

static Time after_period(const Json *policy, const char *path, Time from)
{
    Period period;

    return period_at(policy, path, &period) ? zone_add(zone_utc(), from, period) : from;
}

Err *due_date_recalled(Tx *tx, const DueDateInput *input, Time *out)
{
    const Json *policy = input->policy;
    const char *guaranteed = "requestManagement.recalls.minimumGuaranteedLoanPeriod";
    const char *interval = "requestManagement.recalls.recallReturnInterval";
    const char *alternate = "requestManagement.recalls.alternateRecallReturnInterval";
    bool is_overdue = input->current_due_at < input->now;

    *out = input->current_due_at;
    if (input->is_changed_by_recall) {
        return NULL; // only the first recall shortens
    }
    if (is_overdue &&
        !json_flag(policy, "requestManagement.recalls.allowRecallsToExtendOverdueLoans", false)) {
        return NULL;
    }
    if (is_overdue && json_has(policy, alternate)) {
        interval = alternate;
    }
    Time due = after_period(policy, interval, input->now);
    if (!is_overdue && due >= input->current_due_at) {
        return NULL;
    }
    if (json_has(policy, guaranteed)) {
        Time minimum = after_period(policy, guaranteed, input->loan_date);
        due = minimum > due ? minimum : due;
    }
    TRY(apply_closing(tx, input, closing_of(policy), due, &due));
    if (is_overdue || due < input->current_due_at) {
        *out = due;
    }
    return NULL;
}

// --- hold shelf

Err *hold_shelf_expiry(Tx *tx, const Json *service_point, Time now, Time *out)
{
    const Settings *settings = NULL;
    Period period;
    Closing closing =
        closing_of_hold_shelf(json_str(service_point, "holdShelfClosedLibraryDateManagement"));

    *out = 0;
    if (!period_at(service_point, "holdShelfExpiryPeriod", &period)) {
        return NULL;
    }
    TRY(settings_read(tx, &settings));
    bool is_short = period.unit == HOURS || period.unit == MINUTES;
    Time at = zone_add(settings->zone, now, period);
    if (!is_short) {
        at = zone_end_of_day(settings->zone, at);
    } else if (closing == KEEP_DATE) {
        closing = KEEP_TIME; // minutes and hours keep their time of day too
    }
    ClosedDays closed = {.closing = closing,
                         .zone = settings->zone,
                         .at = at,
                         .now = now,
                         .service_point_id = json_str(service_point, "id")};
    return closed_days_apply(tx, &closed, out);
}
