// Automated patron blocks: limits of a patron group against what the patron has and owes.
// FOLIO: mod-patron-blocks. Source: spec/fees-fines.md 6.
//
// FOLIO counts from a summary that follows events; here counts come from the tables of loans and
// accounts in the same transaction, so that a block is exact at once.
#pragma once

#include "octavo.h"

#include "modules/mod-patron-blocks/collections.h"

extern const Module mod_patron_blocks;

typedef struct {
    const Json *condition; // shared
    Str condition_id, message;
    bool blocks_borrowing, blocks_renewals, blocks_requests;
} AutomatedBlock;

typedef struct {
    AutomatedBlock *at;
    size_t len;
} AutomatedBlocks;

// The blocks of a user of that patron group, by the condition's name. A group without limits costs
// no statement; else one for the loans if a limit is about loans, one for the fees if one is about
// fees. `group_id` "" = no group: never blocked.
WARN_UNUSED Err *automated_blocks_of_user(Tx *tx, Str user_id, Str group_id, AutomatedBlocks *out);
