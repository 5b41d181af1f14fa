// Circulation rules: precedence, nesting, faults. Source: spec/circulation.md 8.
#include "test.h"

#include "modules/mod-circulation/rules.h"

#define FALLBACK    "fallback-policy: l lf r rf n nf o of i if\n"
#define POLICIES(x) ": l l" x " r r" x " n n" x " o o" x " i i" x "\n"

static const RuleInput student_book = {
    .material_type_id = {"book", 4},
    .loan_type_id = {"normal", 6},
    .patron_group_id = {"student", 7},
    .location_id = {"shelf", 5},
    .library_id = {"main", 4},
};

static Str loan_policy_of(Str text, const RuleInput *input)
{
    Rules *rules = NULL;
    RuleMatch match;

    Err *err = rules_parse(text, &rules);
    if (err) {
        return err->body;
    }
    rule_match_fill(rules_best(rules, input), &match);
    return match.policy_ids[POLICY_LOAN];
}

static void the_fallback_applies_when_no_rule_does(void **state)
{
    (void)state;
    assert_str(
        loan_policy_of(S("priority: last-line\n" FALLBACK "m dvd" POLICIES("1")), &student_book),
        "lf");
}

static void the_strongest_criterion_wins_then_their_number_then_the_last_line(void **state)
{
    (void)state;
    assert_str(loan_policy_of(S("priority: t, s, c, b, a, m, g\n" FALLBACK
                                "t normal" POLICIES("1") "m book + g student" POLICIES("2")),
                              &student_book),
               "l1");
    assert_str(loan_policy_of(S("priority: t, s, c, b, a, m, g\n" FALLBACK
                                "m book + g student" POLICIES("1") "m book" POLICIES("2")),
                              &student_book),
               "l1");
    assert_str(loan_policy_of(S("priority: t, s, c, b, a, m, g\n" FALLBACK
                                "m book" POLICIES("1") "m book" POLICIES("2")),
                              &student_book),
               "l2");
}

static void location_criteria_count_as_one(void **state)
{
    (void)state;
    assert_str(
        loan_policy_of(S("priority: number-of-criteria, first-line\n" FALLBACK
                         "m book + g student" POLICIES("1") "c main + s shelf + m book" POLICIES(
                             "2") "c main + s shelf + m book + g student" POLICIES("3")),
                       &student_book),
        "l3");
    assert_str(
        loan_policy_of(S("priority: number-of-criteria, last-line\n" FALLBACK
                         "m book + g student" POLICIES("1") "c main + s shelf" POLICIES("2")),
                       &student_book),
        "l1");
}

static void the_first_line_wins_when_it_is_asked_for(void **state)
{
    (void)state;
    assert_str(loan_policy_of(
                   S("priority: first-line\nm book" POLICIES("1") "m all" POLICIES("2") FALLBACK),
                   &student_book),
               "l1");
}

static void nested_lines_inherit_criteria(void **state)
{
    Str text = S(
        "priority: last-line\n" FALLBACK "m book\n"
        "    g staff" POLICIES("1") "    g student\n"
                                    "        s !shelf !annex" POLICIES(
                                        "2") "        s shelf" POLICIES("3") "m dvd" POLICIES("4"));
    RuleInput staff = student_book;

    (void)state;
    assert_str(loan_policy_of(text, &student_book), "l3");
    staff.patron_group_id = S("staff");
    assert_str(loan_policy_of(text, &staff), "l1");
    staff.material_type_id = S("dvd");
    assert_str(loan_policy_of(text, &staff), "l4");
}

static void a_line_with_policies_may_be_refined(void **state)
{
    (void)state;
    assert_str(loan_policy_of(S("priority: number-of-criteria, last-line\n" FALLBACK
                                "m book" POLICIES("1") "  g student" POLICIES("2")),
                              &student_book),
               "l2");
}

static void an_unknown_campus_matches_no_criterion(void **state)
{
    (void)state;
    assert_str(loan_policy_of(S("priority: last-line\n" FALLBACK
                                "b all" POLICIES("1") "b !other" POLICIES("2")),
                              &student_book),
               "lf");
}

static void a_match_tells_which_criteria_its_line_names(void **state)
{
    Rules *rules = NULL;
    RuleMatch match;

    (void)state;
    assert_ok(
        rules_parse(S("priority: last-line\n" FALLBACK "m book\n  t all" POLICIES("1")), &rules));
    rule_match_fill(rules_best(rules, &student_book), &match);
    assert_true(match.names_material_type);
    assert_true(match.names_loan_type);
    assert_false(match.names_patron_group);
    assert_int_equal(match.line, 4);
}

typedef struct {
    const char *text, *message;
    int line;
} Fault;

static const Fault faults[] = {
    {"priority: last-line\n" FALLBACK "m\tbook: l a",
     "Tabulator character is not allowed, use spaces instead.", 3},
    {"priority: first-line\n" FALLBACK "m book" POLICIES("1"),
     "For 'priority: first-line' the fallback-policy must be after the last rule.", 3},
    {"priority: last-line\n" FALLBACK "m book\n", "Policy missing", 3},
    {"priority: last-line\n" FALLBACK "m book\n  g x\nm dvd" POLICIES("1"), "Policy missing", 4},
    {"priority: last-line\n" FALLBACK "m book:\n", "Policy missing after ':'", 3},
    {"priority: last-line\n" FALLBACK "m book: l x r x n x o x\n",
     "Must contain one of each policy type, missing type i", 3},
    {"priority: last-line\n" FALLBACK "m book: l x l x r x n x o x i x\n",
     "Only one policy of type l allowed", 3},
    {"priority: last-line\nfallback-policy: l x\n", "Must have a fallback policy of type r", 2},
    {"priority: last-line\nfallback-policy: l x l y r x n x o x i x\n",
     "Only one fallback policy of type l is allowed", 2},
    {"priority: last-line\nfallback-policy\n", "Policy missing", 2},
    {"priority: t, s, c\n" FALLBACK, "7 letters expected, found only 3", 1},
    {"priority: t, s, c, b, a, m, g, t\n" FALLBACK, "Only 7 letters expected, found 8", 1},
    {"priority: t, s, c, b, a, m, t\n" FALLBACK, "Duplicate letter t", 1},
    {"priority: number-of-criteria, number-of-criteria, last-line\n" FALLBACK,
     "Duplicate priority type", 1},
    {"priority: last-line\n" FALLBACK "m" POLICIES("1"), "Name missing.", 3},
    {"priority: last-line\n" FALLBACK "m !book dvd" POLICIES("1"),
     "A '!' must precede each name or no name.", 3},
    {"priority: last-line\n" FALLBACK "m book !dvd" POLICIES("1"),
     "A '!' must precede each name or no name.", 3},
    {"priority: last-line\n" FALLBACK "m book\n    g x" POLICIES("1") "  g y" POLICIES("2"),
     "Indentation does not match any enclosing rule", 5},
    {"priority: last-line\nm book" POLICIES("1"),
     "mismatched input 'm' expecting 'fallback-policy'", 2},
};

static void each_fault_is_told_with_its_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        Rules *rules = NULL;
        Json *body = NULL;
        Err *err = rules_parse(str_of(faults[i].text), &rules);
        assert_non_null(err);
        assert_int_equal(err->status, 422);
        assert_ok(json_parse(err->body, &body));
        assert_str(json_str(body, "message"), faults[i].message);
        assert_int_equal(json_int(body, "line", 0), faults[i].line);
    }
}

static void the_fallback_may_stand_behind_the_priority(void **state)
{
    (void)state;
    assert_str(loan_policy_of(S("priority: t, s, c, b, a, m, g " FALLBACK "m book" POLICIES("1")),
                              &student_book),
               "l1");
}

static void comments_empty_lines_and_line_ends_are_free(void **state)
{
    (void)state;
    assert_str(loan_policy_of(S("\r\n# head\r\npriority: last-line # why\r\n\r\n" FALLBACK
                                "/ comment\r\n     \r\nm book / books"
                                "\r\n   # deeper\r\n  g "
                                "student" POLICIES("1")),
                              &student_book),
               "l1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fallback_applies_when_no_rule_does),
        cmocka_unit_test(the_strongest_criterion_wins_then_their_number_then_the_last_line),
        cmocka_unit_test(location_criteria_count_as_one),
        cmocka_unit_test(the_first_line_wins_when_it_is_asked_for),
        cmocka_unit_test(nested_lines_inherit_criteria),
        cmocka_unit_test(a_line_with_policies_may_be_refined),
        cmocka_unit_test(an_unknown_campus_matches_no_criterion),
        cmocka_unit_test(a_match_tells_which_criteria_its_line_names),
        cmocka_unit_test(each_fault_is_told_with_its_line),
        cmocka_unit_test(the_fallback_may_stand_behind_the_priority),
        cmocka_unit_test(comments_empty_lines_and_line_ends_are_free),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
