// Which type of request an item's status and the request policy allow.
// Source: spec/circulation.md 9.4.
#include "modules/mod-circulation/requests.h"

enum { PAGE = 1, HOLD = 2, RECALL = 4 };

static const struct {
    const char *status;
    unsigned types;
} allowed[] = {
    {"Available", PAGE},
    {"Checked out", HOLD | RECALL},
    {"Awaiting pickup", HOLD | RECALL},
    {"Awaiting delivery", HOLD | RECALL},
    {"In transit", HOLD | RECALL},
    {"Paged", HOLD | RECALL},
    {"On order", HOLD | RECALL},
    {"In process", HOLD | RECALL},
    {"Restricted", PAGE | HOLD | RECALL},
    {"Missing", HOLD},
};

static unsigned type_bit(Str type)
{
    return str_eq(type, S("Page"))     ? PAGE
           : str_eq(type, S("Hold"))   ? HOLD
           : str_eq(type, S("Recall")) ? RECALL
                                       : 0;
}

bool request_status_allows(Str item_status, Str type)
{
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
        if (str_eq_z(item_status, allowed[i].status)) {
            return (allowed[i].types & type_bit(type)) != 0;
        }
    }
    return false;
}

bool request_policy_allows(const Json *policy, Str type)
{
    JSON_EACH(one, json_get(policy, "requestTypes"))
    {
        if (str_eq(json_scalar_text(one), type)) {
            return true;
        }
    }
    return false;
}

Err *request_policy_of(Tx *tx, const ItemView *item, const Json *patron, const Json **out)
{
    RuleMatch match;

    TRY(rules_match_item(tx, item, patron, &match));
    return request_policy_by_id(tx, match.policy_ids[POLICY_REQUEST], out);
}

Err *request_is_possible(Tx *tx, const ItemView *item, const Json *patron, Str type, bool *out)
{
    const Json *policy = NULL;

    *out = false;
    if (!request_status_allows(item->status, type)) {
        return NULL;
    }
    TRY(request_policy_of(tx, item, patron, &policy));
    *out = request_policy_allows(policy, type);
    return NULL;
}
