// Open loans with their history, open requests and sessions of a recipe.
// Source: spec/workloads.md 3.6 (shares of FOLIO's load tests).
#include "data.h"

#include "modules/mod-circulation-storage/circulation_storage.h"

enum {
    // Of 5,158 loans 4,991 are of different patrons; 4,565 have a session.
    LOANS_SEED = 5158,
    PATRONS_SEED = 4991,
    SESSIONS_SEED = 4565,
    // Of 3,809 requests 1,987 are holds.
    REQUESTS_SEED = 3809,
    HOLDS_SEED = 1987,
};

#define LENT_FROM      1577876400000 // 2020-01-01 11:00 UTC
#define REQUESTED_FROM 1590998400000 // 2020-06-01 08:00 UTC

// ---------------------------------------------------------------------------------------------
// Records

static Json *loan_of(const Maker *maker, const LoanSpec *spec)
{
    Json *loan = json_object();

    json_set_str(loan, "id", maker_id_in(maker, spec->place.set, " loan", spec->place.copy));
    json_set_str(loan, "userId", user_id_of(maker, spec->user));
    json_set_str(loan, "itemId", copy_id_of(maker, &spec->place));
    json_set_str(loan, "itemEffectiveLocationIdAtCheckOut",
                 location_id_of(maker, spec->place.holdings % LOCATIONS));
    json_set_str(loan, "status.name", S("Open"));
    json_set_str(loan, "loanDate", time_format_z(spec->lent_at));
    json_set_time(loan, "dueDate", spec->due_at);
    json_set_str(loan, "action", S("checkedout"));
    json_set_str(loan, "itemStatus", S("Checked out"));
    json_set_str(loan, "loanPolicyId", S(LOAN_POLICY));
    json_set_str(loan, "checkoutServicePointId", S(DESK_1));
    json_set_str(loan, "patronGroupIdAtCheckout", user_group_of(spec->user));
    json_set_str(loan, "overdueFinePolicyId", S(OVERDUE_POLICY));
    json_set_str(loan, "lostItemPolicyId", S(LOST_POLICY));
    json_set_time(loan, "metadata.createdDate", spec->lent_at);
    json_set_time(loan, "metadata.updatedDate", spec->lent_at);
    return loan;
}

static Json *history_of(const Maker *maker, const LoanSpec *spec, const Json *loan)
{
    Json *row = json_object();

    json_set_str(row, "id", maker_id_in(maker, spec->place.set, " history", spec->place.copy));
    json_set_str(row, "operation", S("I"));
    json_set_time(row, "createdDate", spec->lent_at);
    json_set(row, "loan", json_copy(loan));
    return row;
}

Err *circulation_put_loan(Maker *maker, const LoanSpec *spec)
{
    ArenaMark mark = arena_mark(arena_current());
    Json *loan = loan_of(maker, spec);

    TRY(maker_put(maker, &loan_history, history_of(maker, spec, loan)));
    TRY(maker_put(maker, &loans, loan));
    arena_release(arena_current(), mark);
    return NULL;
}

static void add_copies_of_relatives(const Maker *maker, const RequestSpec *spec, Json *request)
{
    const Place *place = &spec->place;

    json_set_str(request, "item.barcode", spec->barcode);
    json_set_str(request, "item.itemEffectiveLocationId",
                 location_id_of(maker, place->holdings % LOCATIONS));
    json_set_str(request, "item.itemEffectiveLocationName",
                 location_name_of(place->holdings % LOCATIONS));
    json_set_str(request, "requester.lastName",
                 str_fmt(STR_FMT " %lld", STR_ARG(words_last_name(maker, spec->user)),
                         (long long)spec->user + 1));
    json_set_str(request, "requester.firstName", words_first_name(maker, spec->user));
    json_set_str(request, "requester.barcode", user_barcode_of(maker, spec->user));
    json_set_str(request, "searchIndex.callNumberComponents.callNumber",
                 words_call_number(maker, place->title));
    json_set_str(request, "searchIndex.pickupServicePointName", S("Circ Desk 1"));
    if (!place->set[0]) { // titles of the look-up sets are numbered on: not known here
        json_set_str(request, "instance.title", words_title(maker, place->title));
    }
}

Err *circulation_put_request(Maker *maker, const RequestSpec *spec)
{
    ArenaMark mark = arena_mark(arena_current());
    const Place *place = &spec->place;
    Json *request = json_object();
    Str kind = str_fmt("%s request %lld", place->set, (long long)spec->position);

    json_set_str(request, "id", maker_id(maker, str_z(kind), place->copy));
    json_set_str(request, "requestLevel", S("Item"));
    json_set_str(request, "requestType", spec->is_recall ? S("Recall") : S("Hold"));
    json_set_time(request, "requestDate", spec->at);
    json_set_str(request, "requesterId", user_id_of(maker, spec->user));
    json_set_str(request, "instanceId", title_id_of(maker, place));
    json_set_str(request, "holdingsRecordId", holdings_id_of(maker, place));
    json_set_str(request, "itemId", copy_id_of(maker, place));
    json_set_str(request, "status", S("Open - Not yet filled"));
    json_set_int(request, "position", spec->position);
    json_set_str(request, "fulfillmentPreference", S("Hold Shelf"));
    json_set_str(request, "pickupServicePointId", S(DESK_1));
    add_copies_of_relatives(maker, spec, request);
    TRY(maker_put(maker, &requests, request));
    arena_release(arena_current(), mark);
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// How many of whom

static int64_t patrons(const Maker *maker)
{
    return maker->recipe->loans * PATRONS_SEED / LOANS_SEED;
}

// The first loans are of one patron each; the others are second and third ones of the first.
static int64_t borrower(const Maker *maker, int64_t loan)
{
    int64_t single = patrons(maker);
    return loan < single ? loan : (loan - single) / 2;
}

static Err *loans_make(Maker *maker)
{
    maker_stage(maker, "open loans");
    for (int64_t n = 0; n < maker->recipe->loans; n++) {
        int64_t copy = stock_copy_of_loan(maker, n);
        Time lent_at = LENT_FROM + n * 17 * MINUTE_MS;
        TRY(circulation_put_loan(maker, &(LoanSpec){.place = stock_place(maker, copy),
                                                    .barcode = stock_barcode(maker, copy),
                                                    .user = borrower(maker, n),
                                                    .lent_at = lent_at,
                                                    .due_at = lent_at + 60 * DAY_MS}));
    }
    return NULL;
}

// One waits for each of the first items on loan; never the borrower himself.
static Err *requests_make(Maker *maker)
{
    int64_t holds = maker->recipe->requests * HOLDS_SEED / REQUESTS_SEED;

    maker_stage(maker, "open requests");
    for (int64_t n = 0; n < maker->recipe->requests; n++) {
        int64_t copy = stock_copy_of_loan(maker, n);
        int64_t user = (n + maker->recipe->users / 2 + 7) % maker->recipe->users;
        TRY(circulation_put_request(maker, &(RequestSpec){.place = stock_place(maker, copy),
                                                          .barcode = stock_barcode(maker, copy),
                                                          .user = user,
                                                          .position = 1,
                                                          .is_recall = n >= holds,
                                                          .at = REQUESTED_FROM + n * MINUTE_MS}));
    }
    return NULL;
}

static Err *sessions_make(Maker *maker)
{
    maker_stage(maker, "patron action sessions");
    for (int64_t n = 0; n < maker->recipe->loans * SESSIONS_SEED / LOANS_SEED; n++) {
        ArenaMark mark = arena_mark(arena_current());
        Json *session = json_object();
        json_set_str(session, "id", maker_id(maker, "session", n));
        json_set_str(session, "patronId", user_id_of(maker, borrower(maker, n)));
        json_set_str(session, "loanId", maker_id(maker, " loan", stock_copy_of_loan(maker, n)));
        json_set_str(session, "actionType", S("Check-out"));
        TRY(maker_put(maker, &patron_action_sessions, session));
        arena_release(arena_current(), mark);
    }
    return NULL;
}

Err *circulation_make(Maker *maker)
{
    TRY(loans_make(maker));
    TRY(requests_make(maker));
    return sessions_make(maker);
}
