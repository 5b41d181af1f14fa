// The circulation rules' text language: parser and compiled table.
// Source: spec/circulation.md 8.1, 8.2, 8.4.
#pragma once

#include "modules/mod-circulation/circulation.h"

enum {
    RULES_TEXT_MAX = 4 * 1024 * 1024,
    RULES_DEPTH_MAX = 40,
};

// One condition: "m book dvd", "g all", "s !a !b".
typedef struct {
    char letter; // of t a b c s m g
    bool is_all, is_negated;
    Str *names; // sorted
    size_t name_count;
} Criterion;

typedef struct {
    int line;                   // 1-based
    int column;                 // 0-based, of the colon: where FOLIO points to
    const Criterion **criteria; // its own and those of the lines it is nested in
    size_t criterion_count;
    Str policy_ids[POLICY_TYPES];
    int64_t weight; // the highest that matches wins; the fallback has the lowest
} Rule;

typedef struct {
    Rule *at; // heaviest first
    size_t len;
} Rules;

// Err: 422 with the body {"message","line","column"} of the first fault.
WARN_UNUSED Err *rules_parse(Str text, Rules **out);
// That error.
Err *rules_fault(Str message, int line, int column);

bool rule_matches(const Rule *rule, const RuleInput *input);
// The best rule; never NULL, as the fallback matches all.
const Rule *rules_best(const Rules *rules, const RuleInput *input);
// Fills the match of a rule.
void rule_match_fill(const Rule *rule, RuleMatch *out);

// The tenant's table, compiled once per change. 500 text when there are no rules.
WARN_UNUSED Err *rules_read(Tx *tx, const Rules **out);
