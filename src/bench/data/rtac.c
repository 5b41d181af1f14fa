// The four sets of titles whose availability is looked up, with exact numbers of holdings records.
// Source: spec/rtac.md 5.3.
#include "data.h"

static const int one_with_333[] = {333};
static const int mixed_3_7[] = {3, 4, 5, 6, 7};
static const int mixed_11_12[] = {11, 12};
static const int mixed_10_40[] = {10, 12, 15, 20, 25, 40};

#define PATTERN(list) (list), sizeof(list) / sizeof *(list)

const RtacSet rtac_sets[] = {
    {"rtac-a", 1, PATTERN(one_with_333), false, false},
    {"rtac-b", 50, PATTERN(mixed_3_7), false, true},
    {"rtac-c", 50, PATTERN(mixed_11_12), false, false},
    {"rtac-d", 30, PATTERN(mixed_10_40), true, false},
    {0},
};

int64_t rtac_holdings_of(const Maker *maker, const RtacSet *set, int64_t title)
{
    if (set->has_large && title == set->titles - 1) {
        return maker->recipe->rtac_large;
    }
    return set->holdings[(size_t)title % set->pattern];
}

static bool is_on_loan(int64_t n)
{
    return n % 3 == 0;
}

static Str barcode_of(const RtacSet *set, int64_t n)
{
    return str_fmt("%s-%lld", set->name, (long long)n + 1);
}

// Visits each holdings record of the set; numbers run through the whole set.
static Err *each_holdings(Maker *maker, const RtacSet *set,
                          Err *(*visit)(Maker *, const RtacSet *, const Place *))
{
    int64_t n = 0;

    for (int64_t title = 0; title < set->titles; title++) {
        int64_t count = rtac_holdings_of(maker, set, title);
        for (int64_t i = 0; i < count; i++, n++) {
            TRY(visit(maker, set, &(Place){set->name, title, n, n}));
        }
    }
    return NULL;
}

static Err *put_holdings(Maker *maker, const RtacSet *set, const Place *place)
{
    (void)set;
    return stock_put_holdings(maker, place);
}

static Err *put_copy(Maker *maker, const RtacSet *set, const Place *place)
{
    return stock_put_copy(maker, place, barcode_of(set, place->copy), is_on_loan(place->copy));
}

static Err *put_loan(Maker *maker, const RtacSet *set, const Place *place)
{
    if (!is_on_loan(place->copy)) {
        return NULL;
    }
    Time due_at = maker->today + (place->copy / 3 % 91 - 30) * DAY_MS + 23 * HOUR_MS;
    return circulation_put_loan(
        maker,
        &(LoanSpec){.place = *place,
                    .barcode = barcode_of(set, place->copy),
                    .user = maker->recipe->users - 1 - place->copy / 3 % (maker->recipe->users - 2),
                    .lent_at = due_at - 60 * DAY_MS,
                    .due_at = due_at});
}

// One of fifty items has two requests; those that are on loan.
static Err *put_requests(Maker *maker, const RtacSet *set, const Place *place)
{
    for (int64_t i = 0; place->copy % 51 == 0 && i < 2; i++) {
        TRY(circulation_put_request(
            maker, &(RequestSpec){.place = *place,
                                  .barcode = barcode_of(set, place->copy),
                                  .user = (place->copy / 51 + i) % (maker->recipe->users / 2),
                                  .position = i + 1,
                                  .at = maker->today - (10 - i) * DAY_MS}));
    }
    return NULL;
}

Err *rtac_make(Maker *maker)
{
    maker_stage(maker, "titles for look-ups");
    for (const RtacSet *set = rtac_sets; maker->recipe->rtac_large && set->name; set++) {
        for (int64_t n = 0; n < set->titles; n++) {
            TRY(stock_put_title(maker, &(Place){set->name, n, n, n}, set->has_serials && n % 2));
        }
        TRY(each_holdings(maker, set, put_holdings));
        TRY(each_holdings(maker, set, put_copy));
        TRY(each_holdings(maker, set, put_loan));
        TRY(each_holdings(maker, set, put_requests));
    }
    return NULL;
}
