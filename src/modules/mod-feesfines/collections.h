// Collections of mod-feesfines.
#pragma once

#include "store/store.h"

extern const Collection owners;
extern const Collection feefines;
extern const Collection accounts;
extern const Collection feefine_actions;
extern const Collection payments;
extern const Collection waives;
extern const Collection refunds;
extern const Collection transfers;
extern const Collection comments;
extern const Collection transfer_criterias;
extern const Collection manual_blocks;
extern const Collection manual_block_templates;
extern const Collection overdue_fine_policies;
extern const Collection lost_item_fee_policies;

// All of the module, NULL at the end.
extern const Collection *const feesfines_collections[];
