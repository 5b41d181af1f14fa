// /circulation/rules: the text itself, and which policies it picks.
// Source: spec/circulation.md 8.2, 8.3.
#include "modules/mod-circulation/rules.h"

#include "modules/mod-feesfines/collections.h"
#include "modules/mod-inventory-storage/collections.h"

#include "base/sort.h"

#define UUID_PATTERN                                                                               \
    "^[a-fA-F0-9]{8}-[a-fA-F0-9]{4}-[1-5][a-fA-F0-9]{3}-[89abAB][a-fA-F0-9]{3}-[a-fA-F0-9]{12}$"

static const char *const policy_keys[POLICY_TYPES] = {
    [POLICY_LOAN] = "loanPolicyId",     [POLICY_REQUEST] = "requestPolicyId",
    [POLICY_NOTICE] = "noticePolicyId", [POLICY_OVERDUE] = "overdueFinePolicyId",
    [POLICY_LOST] = "lostItemPolicyId",
};

static const Collection *const policy_collections[POLICY_TYPES] = {
    [POLICY_LOAN] = &loan_policies,
    [POLICY_REQUEST] = &request_policies,
    [POLICY_NOTICE] = &patron_notice_policies,
    [POLICY_OVERDUE] = &overdue_fine_policies,
    [POLICY_LOST] = &lost_item_fee_policies,
};

static Err *stored_rules(Tx *tx, Json **out)
{
    Docs docs = {0};

    TRY(tx_where(tx, &circulation_rules, "1 = 1 limit 1", NO_ARGS, &docs));
    *out = docs.len ? docs.at[0] : NULL;
    return NULL;
}

Err *rules_get(Req *req)
{
    Json *stored = NULL, *answer = json_object();

    TRY(stored_rules(req->tx, &stored));
    json_take(answer, "id", stored, "id");
    json_set_str(answer, "rulesAsText", json_str(stored, "rulesAsText"));
    return reply_json(req, 200, answer);
}

static int compare_lines(const void *a, const void *b)
{
    return (*(const Rule *const *)a)->line - (*(const Rule *const *)b)->line;
}

// The first of the rules whose policy of the type does not exist; n if there is none.
static Err *first_without_policy(Tx *tx, const Rule *const *rules, size_t n, PolicyType type,
                                 size_t *out)
{
    StrList ids = {0};
    Str missing = {0};

    while (ids.len < n && uuid_is_uuid_shaped(rules[ids.len]->policy_ids[type])) {
        str_list_add(&ids, str_lower(rules[ids.len]->policy_ids[type]));
    }
    TRY(tx_hold(tx, policy_collections[type], &ids, &missing));
    *out = 0;
    while (*out < ids.len && !(missing.at && str_eq(ids.at[*out], missing))) {
        ++*out;
    }
    return NULL;
}

// The table is sorted by weight; the client is told the first line of the text.
static Err *policies_must_exist(Tx *tx, const Rules *rules)
{
    const Rule **by_line = NEW_ARRAY(const Rule *, rules->len + 1);
    size_t first = rules->len;
    Str missing = {0};

    for (size_t i = 0; i < rules->len; i++) {
        by_line[i] = &rules->at[i];
    }
    sort_array(by_line, rules->len, sizeof *by_line, compare_lines);
    for (PolicyType type = 0; type < POLICY_TYPES; type++) {
        size_t found = 0;
        TRY(first_without_policy(tx, by_line, rules->len, type, &found));
        if (found < first) {
            first = found;
            missing = by_line[found]->policy_ids[type];
        }
    }
    if (first == rules->len) {
        return NULL;
    }
    return rules_fault(str_fmt("The policy " STR_FMT " does not exist", STR_ARG(missing)),
                       by_line[first]->line, by_line[first]->column);
}

Err *rules_put(Req *req)
{
    Json *body = NULL, *stored = NULL, *doc = json_object();
    Rules *rules = NULL;

    // A body that cannot be read is a fault of the rules, not a 400.
    Err *unreadable = json_parse(req->body, &body);
    if (unreadable || !json_is_string(json_get(body, "rulesAsText"))) {
        Json *answer = json_object();
        json_set_str(answer, "message",
                     unreadable ? unreadable->message : S("rulesAsText is required"));
        return err_body(422, json_text(answer));
    }
    TRY(rules_parse(json_str(body, "rulesAsText"), &rules));
    TRY(policies_must_exist(req->tx, rules));
    TRY(stored_rules(req->tx, &stored));
    json_set_str(doc, "rulesAsText", json_str(body, "rulesAsText"));
    if (stored) {
        json_set_str(doc, "id", json_str(stored, "id"));
        TRY(tx_update(req->tx, &circulation_rules, doc));
    } else {
        TRY(tx_insert(req->tx, &circulation_rules, doc));
    }
    return reply_empty(req, 204);
}

static Err *read_id(const Req *req, const char *name, Str *out)
{
    if (!req_query(req, name, out) || str_is_empty(*out)) {
        return err_text(400, "required query parameter missing: %s", name);
    }
    if (!uuid_is_valid(*out)) {
        return err_text(400, "invalid uuid format of %s, expecting %s but it is " STR_FMT, name,
                        UUID_PATTERN, STR_ARG(*out));
    }
    *out = str_lower(*out);
    return NULL;
}

static Err *read_input(const Req *req, RuleInput *out)
{
    const Json *location = NULL;

    TRY(read_id(req, "item_type_id", &out->material_type_id));
    TRY(read_id(req, "loan_type_id", &out->loan_type_id));
    TRY(read_id(req, "patron_type_id", &out->patron_group_id));
    TRY(read_id(req, "location_id", &out->location_id));
    TRY(tx_ref(req->tx, &locations, out->location_id, &location));
    out->library_id = json_str(location, "libraryId");
    out->campus_id = json_str(location, "campusId");
    out->institution_id = json_str(location, "institutionId");
    return NULL;
}

static Err *apply_one(Req *req, PolicyType type)
{
    RuleInput input = {0};
    RuleMatch match = {0};
    Json *answer = json_object();

    TRY(read_input(req, &input));
    TRY(rules_match(req->tx, &input, &match));
    // Only the loan policy's answer tells what matched; the others always say false.
    bool tells = type == POLICY_LOAN;
    json_set_str(answer, policy_keys[type], match.policy_ids[type]);
    json_set_bool(answer, "appliedRuleConditions.materialTypeMatch",
                  tells && match.names_material_type);
    json_set_bool(answer, "appliedRuleConditions.loanTypeMatch", tells && match.names_loan_type);
    json_set_bool(answer, "appliedRuleConditions.patronGroupMatch",
                  tells && match.names_patron_group);
    return reply_json(req, 200, answer);
}

static Err *apply_all(Req *req, PolicyType type)
{
    RuleInput input = {0};
    const Rules *rules = NULL;
    Json *answer = json_object(), *matches = json_array();

    TRY(read_input(req, &input));
    TRY(rules_read(req->tx, &rules));
    for (size_t i = 0; i < rules->len; i++) {
        if (rule_matches(&rules->at[i], &input)) {
            Json *match = json_object();
            json_set_str(match, policy_keys[type], rules->at[i].policy_ids[type]);
            json_set_int(match, "circulationRuleLine", rules->at[i].line);
            json_add(matches, match);
        }
    }
    json_set(answer, "circulationRuleMatches", matches);
    return reply_json(req, 200, answer);
}

// One handler: which policy is asked for, and whether all rules that match, stands in the path.
Err *rules_apply(Req *req)
{
    static const char *const names[POLICY_TYPES] = {
        [POLICY_LOAN] = "loan-policy",      [POLICY_REQUEST] = "request-policy",
        [POLICY_NOTICE] = "notice-policy",  [POLICY_OVERDUE] = "overdue-fine-policy",
        [POLICY_LOST] = "lost-item-policy",
    };
    Str name = str_sub(str_of(req->route->path), sizeof RULES_PATH - 1, SIZE_MAX);
    PolicyType type = POLICY_LOAN;

    while (!str_starts(name, str_of(names[type]))) {
        type++;
    }
    return str_ends(name, S("-all")) ? apply_all(req, type) : apply_one(req, type);
}
