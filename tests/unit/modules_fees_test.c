// Money of fees: exact hundredths, shares of several accounts, overdue fines by policy.
#include "test.h"

#include "modules/mod-feesfines/fees.h"

static void amounts_are_read_exactly(void **state)
{
    static const struct {
        const char *text;
        Money money;
    } cases[] = {
        {"5", 500},   {"5.00", 500},  {"0.1", 10},    {"-30", -3000},
        {"0.005", 0}, {"0.015", 2},   {"0.0051", 1},  {"20.444444444444444", 2044},
        {".5", 50},   {"1e2", 10000}, {"+3.10", 310}, {"999999.995", 100000000},
    };
    Money money = 0;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(money_parse(str_of(cases[i].text), &money));
        assert_int_equal(money, cases[i].money);
    }
}

static void what_is_no_amount_is_refused(void **state)
{
    static const char *const texts[] = {"", "abc", "1,5", "--1", "1.2.3", ".", "1 ", "nan", "1e99"};
    Money money = 0;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_false(money_parse(str_of(texts[i]), &money));
    }
}

static void amounts_are_written_with_two_digits(void **state)
{
    (void)state;
    assert_str(money_text(0), "0.00");
    assert_str(money_text(5), "0.05");
    assert_str(money_text(-1234), "-12.34");
}

static void a_split_gives_nobody_more_than_their_most(void **state)
{
    static const struct {
        Money amount, most[4], shares[4];
        size_t n;
    } cases[] = {
        {1000, {500, 500, 500}, {334, 333, 333}, 3}, {1000, {100, 500, 900}, {100, 450, 450}, 3},
        {1000, {900, 100, 500}, {450, 100, 450}, 3}, {500, {200, 300}, {200, 300}, 2},
        {2, {100, 100, 100}, {1, 1, 0}, 3},          {300, {300}, {300}, 1},
    };
    Money shares[4];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Money sum = 0;
        money_split(cases[i].amount, cases[i].most, cases[i].n, shares);
        for (size_t n = 0; n < cases[i].n; n++) {
            assert_int_equal(shares[n], cases[i].shares[n]);
            sum += shares[n];
        }
        assert_int_equal(sum, cases[i].amount);
    }
}

static Json *policy_of(const char *text)
{
    Json *policy = NULL;

    assert_ok(json_parse(str_of(text), &policy));
    return policy;
}

static void an_overdue_fine_counts_begun_intervals(void **state)
{
    const Json *policy = policy_of("{\"overdueFine\":{\"quantity\":1,\"intervalId\":\"hour\"},"
                                   "\"overdueRecallFine\":{\"quantity\":2,\"intervalId\":\"day\"},"
                                   "\"maxOverdueFine\":5,\"gracePeriodRecall\":true}");
    OverdueFine fine = {.policy = policy, .overdue_minutes = 61};

    (void)state;
    assert_int_equal(overdue_fine_amount(&fine), 200);
    fine.grace_minutes = 60; // not taken off
    assert_int_equal(overdue_fine_amount(&fine), 200);
    fine.grace_minutes = 61;
    assert_int_equal(overdue_fine_amount(&fine), 0);
    fine.is_recalled = true; // without grace
    assert_int_equal(overdue_fine_amount(&fine), 200);
    fine = (OverdueFine){.policy = policy, .overdue_minutes = 6 * 60 + 1};
    assert_int_equal(overdue_fine_amount(&fine), 500);
    fine.overdue_minutes = 0;
    assert_int_equal(overdue_fine_amount(&fine), 0);
}

static void a_fine_is_rounded_half_up(void **state)
{
    const Json *policy = policy_of("{\"overdueFine\":{\"quantity\":1.005,\"intervalId\":\"day\"}}");
    OverdueFine fine = {.policy = policy, .overdue_minutes = 10};

    (void)state;
    assert_int_equal(overdue_fine_amount(&fine), 101);
}

static void refunds_are_what_was_paid_less_what_went_back(void **state)
{
    static const char *const actions[] = {
        "{\"accountId\":\"a\",\"typeAction\":\"Paid partially\",\"amountAction\":6}",
        "{\"accountId\":\"a\",\"typeAction\":\"Transferred fully\",\"amountAction\":4,"
        "\"paymentMethod\":\"Bursar\"}",
        "{\"accountId\":\"b\",\"typeAction\":\"Paid fully\",\"amountAction\":50}",
        "{\"accountId\":\"a\",\"typeAction\":\"Refunded partially\",\"amountAction\":1.5,"
        "\"transactionInformation\":\"Refunded to patron\"}",
        "{\"accountId\":\"a\",\"typeAction\":\"Waived partially\",\"amountAction\":9}",
    };
    Json *docs[5];
    Refundables refundables;

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        docs[i] = policy_of(actions[i]);
    }
    refundables_of(&(Docs){docs, 5}, S("a"), &refundables);
    assert_int_equal(refundables.total, 850);
    assert_int_equal(refundables.len, 2);
    assert_str(refundables.at[0].account, "patron");
    assert_int_equal(refundables.at[0].amount, 450);
    assert_str(refundables.at[1].account, "Bursar");
    assert_int_equal(refundables.at[1].amount, 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(amounts_are_read_exactly),
        cmocka_unit_test(what_is_no_amount_is_refused),
        cmocka_unit_test(amounts_are_written_with_two_digits),
        cmocka_unit_test(a_split_gives_nobody_more_than_their_most),
        cmocka_unit_test(an_overdue_fine_counts_begun_intervals),
        cmocka_unit_test(a_fine_is_rounded_half_up),
        cmocka_unit_test(refunds_are_what_was_paid_less_what_went_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
