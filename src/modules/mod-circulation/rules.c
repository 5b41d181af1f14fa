// Applies the circulation rules: the heaviest line whose criteria hold picks all five policies.
// Source: spec/circulation.md 8.3, 8.4.
#include "modules/mod-circulation/rules.h"

#include "base/die.h"

#include <stdlib.h>

static int compare_names(const void *a, const void *b)
{
    return str_cmp(*(const Str *)a, *(const Str *)b);
}

static Str input_value(const RuleInput *input, char letter)
{
    switch (letter) {
    case 't':
        return input->loan_type_id;
    case 'a':
        return input->institution_id;
    case 'b':
        return input->campus_id;
    case 'c':
        return input->library_id;
    case 's':
        return input->location_id;
    case 'm':
        return input->material_type_id;
    default:
        return input->patron_group_id;
    }
}

// What is not known matches nothing, not even "all" or "!x".
static bool criterion_holds(const Criterion *criterion, const RuleInput *input)
{
    Str value = input_value(input, criterion->letter);

    if (str_is_empty(value)) {
        return false;
    }
    if (criterion->is_all) {
        return true;
    }
    bool is_named = bsearch(&value, criterion->names, criterion->name_count,
                            sizeof *criterion->names, compare_names) != NULL;
    return is_named != criterion->is_negated;
}

bool rule_matches(const Rule *rule, const RuleInput *input)
{
    for (size_t i = rule->criterion_count; i > 0; i--) {
        if (!criterion_holds(rule->criteria[i - 1], input)) {
            return false;
        }
    }
    return true;
}

const Rule *rules_best(const Rules *rules, const RuleInput *input)
{
    for (size_t i = 0; i < rules->len; i++) {
        if (rule_matches(&rules->at[i], input)) {
            return &rules->at[i];
        }
    }
    die("circulation rules without a fallback policy");
}

void rule_match_fill(const Rule *rule, RuleMatch *out)
{
    *out = (RuleMatch){.line = rule->line};
    for (PolicyType type = 0; type < POLICY_TYPES; type++) {
        out->policy_ids[type] = rule->policy_ids[type];
    }
    for (size_t i = 0; i < rule->criterion_count; i++) {
        char letter = rule->criteria[i]->letter;
        out->names_material_type |= letter == 'm';
        out->names_loan_type |= letter == 't';
        out->names_patron_group |= letter == 'g';
    }
}

// The table of a tenant is built once per change of the record. A text that came in through the
// storage interface unchecked may be faulty: the value then holds the fault.
typedef struct {
    const Rules *rules; // NULL: none, or faulty
    Str fault;
} RulesValue;

static Err *rules_build(Tx *tx, void **value)
{
    Docs docs = {0};
    RulesValue *built = NEW(RulesValue);
    Rules *rules = NULL;

    *value = built;
    TRY(tx_where(tx, &circulation_rules, "1 = 1 limit 1", NO_ARGS, &docs));
    Str text = docs.len ? json_str(docs.at[0], "rulesAsText") : (Str){"", 0};
    if (str_is_empty(str_trim(text))) {
        built->fault = S("Cannot apply blank circulation rules");
        return NULL;
    }
    Err *err = rules_parse(text, &rules);
    if (err) {
        built->fault = str_fmt("Cannot apply the circulation rules: " STR_FMT, STR_ARG(err->body));
        return NULL;
    }
    built->rules = rules;
    return NULL;
}

static const Collection *const rules_sources[] = {&circulation_rules, NULL};
static const Derived rules_derived = {"circulation-rules-table", rules_sources, rules_build};
DERIVED_IS_KNOWN(rules_derived)

Err *rules_read(Tx *tx, const Rules **out)
{
    const void *value = NULL;

    TRY(tx_derived(tx, &rules_derived, &value));
    const RulesValue *found = value;
    if (!found->rules) {
        return err_text(500, STR_FMT, STR_ARG(found->fault));
    }
    *out = found->rules;
    return NULL;
}

Err *rules_match(Tx *tx, const RuleInput *input, RuleMatch *out)
{
    const Rules *rules = NULL;

    TRY(rules_read(tx, &rules));
    rule_match_fill(rules_best(rules, input), out);
    return NULL;
}

Err *rule_input_of(const ItemView *item, const Json *patron, RuleInput *out)
{
    Str group = json_str(patron, "patronGroup");
    const char *unable = "Unable to apply circulation rules";

    if (str_is_empty(group)) {
        return err_text(500, "%s to a user with null value as patronGroupId", unable);
    }
    if (str_is_empty(item->location_id)) {
        return err_text(500, "%s to an item with null value as locationId", unable);
    }
    if (str_is_empty(item->loan_type_id)) {
        return err_text(500, "%s to an item which loan type can not be determined", unable);
    }
    if (str_is_empty(item->material_type_id)) {
        return err_text(500, "%s to an item which material type can not be determined", unable);
    }
    *out = (RuleInput){
        .material_type_id = item->material_type_id,
        .loan_type_id = item->loan_type_id,
        .patron_group_id = group,
        .location_id = item->location_id,
        .library_id = json_str(item->location, "libraryId"),
        .campus_id = json_str(item->location, "campusId"),
        .institution_id = json_str(item->location, "institutionId"),
    };
    return NULL;
}

Err *rules_match_item(Tx *tx, const ItemView *item, const Json *patron, RuleMatch *out)
{
    RuleInput input = {0};

    TRY(rule_input_of(item, patron, &input));
    return rules_match(tx, &input, out);
}
