// Which actions are blocked for a patron: counts from the tables against the limits of the group.
// Source: spec/fees-fines.md 6.
#include "modules/mod-patron-blocks/blocks.h"

#include "modules/mod-circulation-storage/circulation_storage.h"
#include "modules/mod-feesfines/feesfines.h"
#include "modules/mod-patron-blocks/limits.h"

#include <math.h>

enum {
    DAY_MINUTES = 24 * 60,
};

typedef struct {
    int64_t charged_out, lost, overdue, recalls_overdue, recall_days;
    Money owed;
} Counts;

// ---------------------------------------------------------------------------------------------
// Counting

// Whole minutes that a loan is late; 0 within its grace period.
static Err *minutes_late(Tx *tx, const OpenLoan *loan, int64_t *out)
{
    Period grace = {0};
    bool has_grace = false;
    int64_t late = (tx_now(tx) - loan->due_at) / MINUTE_MS;

    *out = 0;
    if (!loan->due_at || late <= 0) {
        return NULL;
    }
    TRY(loan_grace_period(tx, loan->loan_policy_id, loan->is_recalled, &grace, &has_grace));
    if (!has_grace || late > period_ms(grace) / MINUTE_MS) {
        *out = late;
    }
    return NULL;
}

static Err *count_loan(Tx *tx, const OpenLoan *loan, Counts *counts)
{
    int64_t late = 0;

    if (loan->is_claimed_returned) {
        return NULL;
    }
    TRY(minutes_late(tx, loan, &late));
    counts->charged_out++;
    counts->lost += loan->is_lost;
    counts->overdue += late > 0;
    if (late > 0 && loan->is_recalled) {
        int64_t days = (late + DAY_MINUTES - 1) / DAY_MINUTES;
        counts->recalls_overdue++;
        counts->recall_days = days > counts->recall_days ? days : counts->recall_days;
    }
    return NULL;
}

typedef struct {
    Str user_id;
    bool needs_loans, needs_fees;
    OpenLoans open;
    int64_t owed;
} Holding;

static Err *read_loans(Tx *tx, void *context)
{
    Holding *holding = context;

    return holding->needs_loans ? loans_open_summary(tx, holding->user_id, &holding->open) : NULL;
}

static Err *read_fees(Tx *tx, void *context)
{
    Holding *holding = context;

    return holding->needs_fees ? user_balance(tx, holding->user_id, &holding->owed) : NULL;
}

static Err *count(Tx *tx, Holding *holding, Counts *counts)
{
    const Read reads[] = {{read_loans, holding}, {read_fees, holding}};

    TRY(tx_together(tx, reads, 2));
    for (size_t i = 0; i < holding->open.len; i++) {
        TRY(count_loan(tx, &holding->open.at[i], counts));
    }
    counts->owed = holding->owed;
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Comparing

static double counted(const Counts *counts, ConditionKind kind)
{
    switch (kind) {
    case ITEMS_CHARGED_OUT:
        return (double)counts->charged_out;
    case ITEMS_LOST:
        return (double)counts->lost;
    case ITEMS_OVERDUE:
        return (double)counts->overdue;
    case RECALLS_OVERDUE:
        return (double)counts->recalls_overdue;
    case RECALL_DAYS_OVERDUE:
        return (double)counts->recall_days;
    case FEES_OWED:
        return (double)counts->owed;
    case CONDITION_UNKNOWN:
    default:
        return 0;
    }
}

// Another item may not be borrowed when the limit is reached; all else is blocked beyond it.
static bool compare(const Counts *counts, const BlockLimit *limit, AutomatedBlock *out)
{
    double have = counted(counts, limit->kind);
    double most = limit->kind == FEES_OWED ? (double)money_of(limit->value) : limit->value;
    bool is_beyond = have > most;
    bool is_reached = limit->kind == ITEMS_CHARGED_OUT ? have >= most : is_beyond;

    *out = (AutomatedBlock){
        .condition = limit->condition,
        .condition_id = json_str(limit->condition, "id"),
        .message = json_str(limit->condition, "message"),
        .blocks_borrowing = is_reached && json_flag(limit->condition, "blockBorrowing", false),
        .blocks_renewals = is_beyond && json_flag(limit->condition, "blockRenewals", false),
        .blocks_requests = is_beyond && json_flag(limit->condition, "blockRequests", false),
    };
    return out->blocks_borrowing || out->blocks_renewals || out->blocks_requests;
}

static bool condition_blocks(const Json *condition)
{
    return json_flag(condition, "blockBorrowing", false) ||
           json_flag(condition, "blockRenewals", false) ||
           json_flag(condition, "blockRequests", false);
}

static bool is_of_group(const BlockLimit *limit, Str group_id)
{
    return group_id.len && str_eq_nocase(limit->group_id, group_id) &&
           condition_blocks(limit->condition);
}

static void add_in_order(AutomatedBlocks *blocks, const AutomatedBlock *block)
{
    size_t at = blocks->len++;

    for (; at > 0 && str_cmp(json_str(blocks->at[at - 1].condition, "name"),
                             json_str(block->condition, "name")) > 0;
         at--) {
        blocks->at[at] = blocks->at[at - 1];
    }
    blocks->at[at] = *block;
}

Err *automated_blocks_of_user(Tx *tx, Str user_id, Str group_id, AutomatedBlocks *out)
{
    METER("mod-patron-blocks");
    const BlockLimits *limits = NULL;
    Holding holding = {.user_id = user_id};
    Counts counts = {0};

    *out = (AutomatedBlocks){0};
    TRY(block_limits(tx, &limits));
    for (size_t i = 0; i < limits->len; i++) {
        if (is_of_group(&limits->at[i], group_id)) {
            holding.needs_fees |= limits->at[i].kind == FEES_OWED;
            holding.needs_loans |= limits->at[i].kind != FEES_OWED;
        }
    }
    if (!holding.needs_loans && !holding.needs_fees) {
        return NULL;
    }
    TRY(count(tx, &holding, &counts));
    out->at = NEW_ARRAY(AutomatedBlock, limits->len);
    for (size_t i = 0; i < limits->len; i++) {
        AutomatedBlock block;
        if (is_of_group(&limits->at[i], group_id) && compare(&counts, &limits->at[i], &block)) {
            add_in_order(out, &block);
        }
    }
    return NULL;
}
