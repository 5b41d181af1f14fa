// Collections of mod-patron-blocks.
#pragma once

#include "store/store.h"

extern const Collection patron_block_conditions;
extern const Collection patron_block_limits;
extern const Collection user_summaries;
extern const Collection sync_jobs;
extern const Collection fee_fine_balance_changed_events;
extern const Collection item_checked_out_events;
extern const Collection item_checked_in_events;
extern const Collection item_declared_lost_events;
extern const Collection item_aged_to_lost_events;
extern const Collection item_claimed_returned_events;
extern const Collection loan_due_date_changed_events;
extern const Collection loan_closed_events;

// All of the module, NULL at the end.
extern const Collection *const patron_blocks_collections[];
