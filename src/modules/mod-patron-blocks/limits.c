// Conditions and limits: what staff may set, and the limits of a group ready for use.
// Source: spec/fees-fines.md 6.1.
#include "modules/mod-patron-blocks/limits.h"

#include "modules/mod-patron-blocks/blocks.h"

#include <math.h>

enum {
    INTEGER_LIMIT_MAX = 999999,
};
#define DECIMAL_LIMIT_MAX 999999.99

static const struct {
    const char *id;
    ConditionKind kind;
} conditions[] = {
    {"3d7c52dc-c732-4223-8bf8-e5917801386f", ITEMS_CHARGED_OUT},
    {"72b67965-5b73-4840-bc0b-be8f3f6e047e", ITEMS_LOST},
    {"584fbd4f-6a34-4730-a6ca-73a6a6a9d845", ITEMS_OVERDUE},
    {"e5b45031-a202-4abb-917b-e1df9346fe2c", RECALLS_OVERDUE},
    {"08530ac4-07f2-48e6-9dda-a97bc2bf7053", RECALL_DAYS_OVERDUE},
    {"cf7a0d5f-a327-4ca1-aa9e-dc55ec006b8a", FEES_OWED},
};

static ConditionKind kind_of(Str id)
{
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
        if (str_eq_nocase(id, str_of(conditions[i].id))) {
            return conditions[i].kind;
        }
    }
    return CONDITION_UNKNOWN;
}

// ---------------------------------------------------------------------------------------------
// Checks

Err *condition_check(Tx *tx, const Json *old, Json *condition)
{
    bool blocks = json_flag(condition, "blockBorrowing", false) ||
                  json_flag(condition, "blockRenewals", false) ||
                  json_flag(condition, "blockRequests", false);
    bool has_message = str_trim(json_str(condition, "message")).len > 0;
    const char *refusal =
        blocks ? "Message to be displayed is a required field if one or more blocked actions "
                 "selected"
               : "One or more blocked actions must be selected for message to be displayed to be "
                 "used";

    (void)tx, (void)old;
    if (blocks == has_message) {
        return NULL;
    }
    return err_422(NO_CODE, str_of(refusal),
                   P("patron block condition id", json_str(condition, "id")));
}

Err *limit_check(Tx *tx, const Json *old, Json *limit)
{
    double value = json_number(limit, "value", 0);
    bool is_decimal = kind_of(json_str(limit, "conditionId")) == FEES_OWED;
    bool fits = is_decimal ? value >= 0 && value <= DECIMAL_LIMIT_MAX
                           : value >= 0 && value <= INTEGER_LIMIT_MAX && value == floor(value);

    (void)tx, (void)old;
    if (fits) {
        return NULL;
    }
    return err_422(NO_CODE,
                   is_decimal ? S("Must be blank or a number from 0.00 to 999999.99")
                              : S("Must be blank or an integer from 0 to 999999"),
                   P("value", json_scalar_text(json_get(limit, "value"))));
}

// ---------------------------------------------------------------------------------------------
// The limits of all groups, with their conditions

static const Json *condition_of(const Docs *all, Str id)
{
    for (size_t i = 0; i < all->len; i++) {
        if (str_eq_nocase(json_str(all->at[i], "id"), id)) {
            return all->at[i];
        }
    }
    return NULL;
}

static Err *limits_build(Tx *tx, void **value)
{
    Docs known = {0}, limits = {0};
    BlockLimits *out = NEW(BlockLimits);

    TRY(tx_where(tx, &patron_block_conditions, "1 = 1 order by name, id", NO_ARGS, &known));
    TRY(tx_where(tx, &patron_block_limits, "1 = 1 order by pk", NO_ARGS, &limits));
    *out = (BlockLimits){NEW_ARRAY(BlockLimit, limits.len + 1), 0};
    for (size_t i = 0; i < limits.len; i++) {
        const Json *limit = limits.at[i];
        const Json *condition = condition_of(&known, json_str(limit, "conditionId"));
        ConditionKind kind = kind_of(json_str(limit, "conditionId"));
        if (condition && kind != CONDITION_UNKNOWN && json_has(limit, "value")) {
            out->at[out->len++] = (BlockLimit){
                .group_id = json_str(limit, "patronGroupId"),
                .condition = condition,
                .kind = kind,
                .value = json_number(limit, "value", 0),
            };
        }
    }
    *value = out;
    return NULL;
}

static const Collection *const sources[] = {&patron_block_conditions, &patron_block_limits, NULL};
static const Derived limits_derived = {"patron-block-limits", sources, limits_build};
DERIVED_IS_KNOWN(limits_derived)

Err *block_limits(Tx *tx, const BlockLimits **out)
{
    const void *value = NULL;

    TRY(tx_derived(tx, &limits_derived, &value));
    *out = value;
    return NULL;
}
