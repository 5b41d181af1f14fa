// The overdue fine of a loan by its policy.
// Source: spec/fees-fines.md 3.1, 3.3.
#include "modules/mod-feesfines/feesfines.h"

#include <math.h>

static const struct {
    const char *interval;
    int64_t minutes;
} intervals[] = {
    {"minute", 1},           {"hour", 60},
    {"day", 24 * 60},        {"week", 7 * 24 * 60},
    {"month", 31 * 24 * 60}, {"year", 365 * 24 * 60},
};

static int64_t interval_minutes(Str interval)
{
    for (size_t i = 0; i < sizeof intervals / sizeof *intervals; i++) {
        if (str_eq_nocase(interval, str_of(intervals[i].interval))) {
            return intervals[i].minutes;
        }
    }
    return 0;
}

static Money capped(Money fine, Money most)
{
    return most > 0 && fine > most ? most : fine;
}

Money overdue_fine_amount(const OverdueFine *fine)
{
    const Json *rate =
        json_get(fine->policy, fine->is_recalled ? "overdueRecallFine" : "overdueFine");
    int64_t minutes = interval_minutes(json_str(rate, "intervalId"));
    double quantity = json_number(rate, "quantity", 0);
    bool has_grace = !fine->is_recalled || !json_flag(fine->policy, "gracePeriodRecall", false);

    if (fine->overdue_minutes <= 0 || minutes == 0 || quantity <= 0 ||
        (has_grace && fine->overdue_minutes <= fine->grace_minutes)) {
        return 0;
    }
    int64_t units = (fine->overdue_minutes + minutes - 1) / minutes;
    // Half up; the small summand makes 1.005 of the decimal system what it is there.
    Money amount = (Money)floor((double)units * quantity * 100 + 0.5 + 1e-7);
    return capped(amount, money_at(fine->policy,
                                   fine->is_recalled ? "maxOverdueRecallFine" : "maxOverdueFine"));
}

bool overdue_fine_counts_closed(const Json *policy)
{
    return json_flag(policy, "countClosed", false);
}

bool overdue_fine_is_forgiven_at_renewal(const Json *policy)
{
    return json_flag(policy, "forgiveOverdueFine", false);
}
