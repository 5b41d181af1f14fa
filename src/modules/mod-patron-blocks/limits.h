// Limits of patron groups with their conditions, kept in memory.
#pragma once

#include "octavo.h"

#include "modules/mod-patron-blocks/collections.h"

// What a condition counts. Its id says it: the six are the same in every tenant.
typedef enum {
    CONDITION_UNKNOWN,
    ITEMS_CHARGED_OUT,
    ITEMS_LOST,
    ITEMS_OVERDUE,
    RECALLS_OVERDUE,
    RECALL_DAYS_OVERDUE,
    FEES_OWED,
} ConditionKind;

typedef struct {
    Str group_id;
    const Json *condition;
    ConditionKind kind;
    double value;
} BlockLimit;

typedef struct {
    BlockLimit *at;
    size_t len;
} BlockLimits;

// Of all groups; shared. No statement once in memory.
WARN_UNUSED Err *block_limits(Tx *tx, const BlockLimits **out);
