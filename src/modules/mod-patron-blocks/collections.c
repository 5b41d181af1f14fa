// Collections of mod-patron-blocks: conditions, limits, summaries, received events.
#include "modules/mod-patron-blocks/collections.h"

#include "modules/mod-patron-blocks/blocks.h"
#include "modules/mod-patron-blocks/properties.h"

static const Field patron_block_conditions_fields[] = {
    {"name", "name", TEXT | INDEX},
    {0},
};

const Collection patron_block_conditions = {
    .table = "patron_block_conditions",
    .path = "/patron-block-conditions",
    .list_key = "patronBlockConditions",
    .ops = "Lru",
    .permission = "patron-block-conditions",
    .record = &patron_block_condition_record,
    .fields = patron_block_conditions_fields,
    .is_cached = true,
    .before_write = condition_check,
};

static const Field patron_block_limits_fields[] = {
    {"condition_id", "conditionId", UUID | INDEX, .references = &patron_block_conditions},
    {"patron_group_id", "patronGroupId", TEXT | INDEX},
    {0},
};

const Collection patron_block_limits = {
    .table = "patron_block_limits",
    .path = "/patron-block-limits",
    .list_key = "patronBlockLimits",
    .ops = "LCrud",
    .permission = "patron-block-limits",
    .record = &patron_block_limit_record,
    .fields = patron_block_limits_fields,
    .is_cached = true,
    .before_write = limit_check,
};

// Open loans and fees of a patron, as the events of circulation and fees leave them.
static const Field unique_user[] = {
    {"user_id", "userId", TEXT | UNIQUE},
    {0},
};

const Collection user_summaries = {
    .table = "user_summary",
    .record = &user_summary_record,
    .fields = unique_user,
    .locking = FAIL_ON_CONFLICT,
};

static const Field sync_jobs_fields[] = {
    {"status", "status", TEXT | INDEX},
    {"scope", "scope", TEXT},
    {0},
};

const Collection sync_jobs = {
    .table = "synchronization_jobs",
    .record = &sync_job_record,
    .fields = sync_jobs_fields,
};

static const Field fee_fine_balance_changed_events_fields[] = {
    {"user_id", "userId", TEXT | INDEX},
    {0},
};

const Collection fee_fine_balance_changed_events = {
    .table = "fee_fine_balance_changed_event",
    .record = &fee_fine_balance_changed_record,
    .fields = fee_fine_balance_changed_events_fields,
};

static const Field item_checked_out_events_fields[] = {
    {"user_id", "userId", TEXT | INDEX},
    {0},
};

const Collection item_checked_out_events = {
    .table = "item_checked_out_event",
    .record = &item_checked_out_record,
    .fields = item_checked_out_events_fields,
};

static const Field item_checked_in_events_fields[] = {
    {"user_id", "userId", TEXT | INDEX},
    {0},
};

const Collection item_checked_in_events = {
    .table = "item_checked_in_event",
    .record = &item_checked_in_record,
    .fields = item_checked_in_events_fields,
};

static const Field item_declared_lost_events_fields[] = {
    {"user_id", "userId", TEXT | INDEX},
    {0},
};

const Collection item_declared_lost_events = {
    .table = "item_declared_lost_event",
    .record = &item_declared_lost_record,
    .fields = item_declared_lost_events_fields,
};

static const Field item_aged_to_lost_events_fields[] = {
    {"user_id", "userId", TEXT | INDEX},
    {0},
};

const Collection item_aged_to_lost_events = {
    .table = "item_aged_to_lost_event",
    .record = &item_aged_to_lost_record,
    .fields = item_aged_to_lost_events_fields,
};

static const Field item_claimed_returned_events_fields[] = {
    {"user_id", "userId", TEXT | INDEX},
    {0},
};

const Collection item_claimed_returned_events = {
    .table = "item_claimed_returned_event",
    .record = &item_claimed_returned_record,
    .fields = item_claimed_returned_events_fields,
};

static const Field loan_due_date_changed_events_fields[] = {
    {"user_id", "userId", TEXT | INDEX},
    {0},
};

const Collection loan_due_date_changed_events = {
    .table = "loan_due_date_changed_event",
    .record = &loan_due_date_changed_record,
    .fields = loan_due_date_changed_events_fields,
};

static const Field loan_closed_events_fields[] = {
    {"user_id", "userId", TEXT | INDEX},
    {0},
};

const Collection loan_closed_events = {
    .table = "loan_closed_event",
    .record = &loan_closed_record,
    .fields = loan_closed_events_fields,
};

const Collection *const patron_blocks_collections[] = {
    &patron_block_conditions,
    &patron_block_limits,
    &user_summaries,
    &sync_jobs,
    &fee_fine_balance_changed_events,
    &item_checked_out_events,
    &item_checked_in_events,
    &item_declared_lost_events,
    &item_aged_to_lost_events,
    &item_claimed_returned_events,
    &loan_due_date_changed_events,
    &loan_closed_events,
    NULL,
};
