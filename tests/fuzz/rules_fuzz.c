// Any text as circulation rules: a table whose fallback matches everything, or one fault.
#include "modules/mod-circulation/rules.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Rules *rules = NULL;
    RuleInput input = {.material_type_id = S("book"), .patron_group_id = S("g1")};
    RuleMatch match;

    if (!rules_parse((Str){(const char *)data, size}, &rules)) {
        rule_match_fill(rules_best(rules, &input), &match);
        if (rules->len == 0 || match.line < 1) {
            abort();
        }
        for (PolicyType type = 0; type < POLICY_TYPES; type++) {
            if (match.policy_ids[type].len == 0) {
                abort();
            }
        }
    }
    arena_reset(arena_current());
    return 0;
}
