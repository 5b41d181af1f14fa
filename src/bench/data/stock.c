// Titles, holdings records and items of a recipe.
#include "data.h"

#include "modules/mod-inventory-storage/storage.h"

enum {
    BARCODES = 90000000,    // eight digits
    BARCODE_STEP = 7368787, // without a common divisor
};

#define TEXT_TYPE     "6312d172-f0cf-40f6-b27d-9fa8feaf332f"
#define PERSONAL_NAME "2b94c631-fca9-4892-a730-03ee529ffe2a"
#define ISBN_TYPE     "8261054f-be78-422d-bd51-4ed9f33c3422"
#define SINGLE_UNIT   "9d18a02f-5897-4c31-9106-c9abb5c7ae8b"
#define SERIAL        "068b5344-e2a6-40df-9186-1829e13cd344"
#define SOURCE_FOLIO  "f32d531e-df79-46b3-8932-cdd35f7a2264"
#define LC_NUMBER     "95467209-6d7b-468b-94df-0f5d7ad2747d"
#define BOOK          "1a54b431-2e4f-452d-9cae-9cee66c9a892"
#define CAN_CIRCULATE "2b94c631-fca9-4892-a730-03ee529ffe27"
#define ITEM_NOTE     "8d0a5eca-25de-4391-81a9-236eeefdd20b"
#define HOLDINGS_NOTE "b160f13a-ddba-4053-b9c4-60ec5ea45d56"

// ---------------------------------------------------------------------------------------------
// Who is who

Str title_id_of(const Maker *maker, const Place *place)
{
    return maker_id_in(maker, place->set, " instance", place->title);
}

Str holdings_id_of(const Maker *maker, const Place *place)
{
    return maker_id_in(maker, place->set, " holdings", place->holdings);
}

Str copy_id_of(const Maker *maker, const Place *place)
{
    return maker_id_in(maker, place->set, " item", place->copy);
}

int64_t stock_copies(const Maker *maker)
{
    return maker->recipe->instances * maker->recipe->items_per_holdings;
}

Place stock_place(const Maker *maker, int64_t copy)
{
    int64_t title = copy / maker->recipe->items_per_holdings;
    return (Place){"", title, title, copy};
}

Str stock_barcode(const Maker *maker, int64_t copy)
{
    int64_t number = ((int64_t)(maker->seed % BARCODES) + copy * BARCODE_STEP) % BARCODES;
    return str_fmt("%lld", (long long)(10000000 + number));
}

static int64_t loan_stride(const Maker *maker)
{
    return stock_copies(maker) / maker->recipe->loans;
}

int64_t stock_copy_of_loan(const Maker *maker, int64_t loan)
{
    return loan * loan_stride(maker);
}

bool stock_is_on_loan(const Maker *maker, int64_t copy)
{
    int64_t stride = loan_stride(maker);
    return copy % stride == 0 && copy / stride < maker->recipe->loans;
}

// ---------------------------------------------------------------------------------------------
// Records

static Json *one_object(const char *name, Str value)
{
    Json *object = json_object();
    json_set_str(object, name, value);
    return object;
}

static Json *list_of(Json *one)
{
    Json *list = json_array();
    json_add(list, one);
    return list;
}

static Str isbn_of(int64_t n)
{
    char digits[16];
    int sum = 0;

    snprintf(digits, sizeof digits, "979%09lld", (long long)(n % 1000000000));
    for (int i = 0; i < 12; i++) {
        sum += (digits[i] - '0') * (i % 2 ? 3 : 1);
    }
    return str_fmt("%s%d", digits, (10 - sum % 10) % 10);
}

static Json *contributor_of(const Maker *maker, int64_t n)
{
    Str last = words_last_name(maker, n * 3), first = words_first_name(maker, n * 3);
    Json *one = one_object("name", str_fmt(STR_FMT ", " STR_FMT, STR_ARG(last), STR_ARG(first)));

    json_set_str(one, "contributorNameTypeId", S(PERSONAL_NAME));
    json_set_bool(one, "primary", true);
    return list_of(one);
}

static Json *publication_of(const Maker *maker, int64_t n)
{
    Str place = words_place(maker, n);
    Json *one = one_object("publisher", str_fmt(STR_FMT " Press", STR_ARG(place)));
    uint64_t year = 1950 + maker_draw(maker, n, "year", 75);

    json_set_str(one, "place", place);
    json_set_str(one, "dateOfPublication", str_fmt("%llu", (unsigned long long)year));
    return list_of(one);
}

static Json *strings_of(Str one)
{
    return list_of(json_string(one));
}

Err *stock_put_title(Maker *maker, const Place *place, bool is_serial)
{
    ArenaMark mark = arena_mark(arena_current());
    Json *doc = json_object(), *isbn = one_object("value", isbn_of(maker->titles));
    int64_t n = maker->titles++; // over all sets, so that no two titles are equal
    Str title = words_title(maker, n);

    json_set_str(isbn, "identifierTypeId", S(ISBN_TYPE));
    json_set_str(doc, "id", title_id_of(maker, place));
    json_set_str(doc, "hrid", str_fmt("in%011lld", (long long)n + 1));
    json_set_str(doc, "source", S("FOLIO"));
    json_set_str(doc, "title", title);
    json_set_str(doc, "indexTitle", title);
    json_set(doc, "identifiers", list_of(isbn));
    json_set(doc, "contributors", contributor_of(maker, n));
    json_set(doc, "subjects", list_of(one_object("value", words_subject(maker, n))));
    json_set(doc, "publication", publication_of(maker, n));
    json_set_str(doc, "instanceTypeId", S(TEXT_TYPE));
    json_set(doc, "physicalDescriptions",
             strings_of(str_fmt("%llu pages",
                                (unsigned long long)(80 + maker_draw(maker, n, "pages", 700)))));
    json_set(doc, "languages", strings_of(S("eng")));
    json_set_str(doc, "modeOfIssuanceId", is_serial ? S(SERIAL) : S(SINGLE_UNIT));
    TRY(maker_put(maker, &instances, doc));
    arena_release(arena_current(), mark);
    return NULL;
}

// What items take over from their holdings record; the same whenever it is asked for.
static Json *holdings_core(const Maker *maker, const Place *place)
{
    Json *doc = json_object();
    int64_t n = place->holdings;
    bool is_stock = !place->set[0];

    json_set_str(doc, "id", holdings_id_of(maker, place));
    json_set_str(doc, "instanceId", title_id_of(maker, place));
    json_set_str(doc, "sourceId", S(SOURCE_FOLIO));
    json_set_str(doc, "permanentLocationId", location_id_of(maker, n % LOCATIONS));
    if (!is_stock && n % 10 == 3) {
        json_set_str(doc, "temporaryLocationId", location_id_of(maker, (n + 7) % LOCATIONS));
    }
    json_set_str(doc, "callNumberTypeId", S(LC_NUMBER));
    json_set_str(doc, "callNumber", words_call_number(maker, place->title));
    return doc;
}

static Json *holdings_notes(int64_t n)
{
    Json *list = json_array();

    for (int i = 0; i < 2; i++) {
        Json *note = one_object("holdingsNoteTypeId", S(HOLDINGS_NOTE));
        json_set_str(note, "note", str_fmt("Note %d of record %lld", i + 1, (long long)n));
        json_set_bool(note, "staffOnly", i > 0);
        json_add(list, note);
    }
    return list;
}

static Json *holdings_statements(void)
{
    Json *list = json_array();

    json_add(list, one_object("statement", S("volumes 1-12 (1990-2001)")));
    json_add(list, one_object("statement", S("volumes 14-20 (2003-2009)")));
    return list;
}

Err *stock_put_holdings(Maker *maker, const Place *place)
{
    ArenaMark mark = arena_mark(arena_current());
    Json *doc = holdings_core(maker, place);
    bool is_stock = !place->set[0];

    json_set_str(doc, "hrid", str_fmt("ho%011lld", (long long)++maker->holdings));
    json_set_str(doc, "effectiveLocationId",
                 json_has(doc, "temporaryLocationId") ? json_str(doc, "temporaryLocationId")
                                                      : json_str(doc, "permanentLocationId"));
    if (!is_stock && place->holdings % 20 == 5) {
        json_set(doc, "notes", holdings_notes(place->holdings));
    }
    if (!is_stock && place->holdings % 10 == 6) {
        json_set(doc, "holdingsStatements", holdings_statements());
    }
    TRY(maker_put(maker, &holdings, doc));
    arena_release(arena_current(), mark);
    return NULL;
}

Err *stock_put_copy(Maker *maker, const Place *place, Str barcode, bool is_on_loan)
{
    ArenaMark mark = arena_mark(arena_current());
    Json *doc = json_object(), *note = one_object("itemNoteTypeId", S(ITEM_NOTE));
    int64_t n = place->copy;
    int64_t order = place->set[0] ? 1 : 1 + n % maker->recipe->items_per_holdings;

    json_set_str(note, "note", S("Check the binding"));
    json_set_bool(note, "staffOnly", true);
    json_set_str(doc, "id", copy_id_of(maker, place));
    json_set_str(doc, "hrid", str_fmt("it%011lld", (long long)++maker->copies));
    json_set_str(doc, "holdingsRecordId", holdings_id_of(maker, place));
    json_set_int(doc, "order", order);
    json_set_str(doc, "barcode", barcode);
    if (order > 1) {
        json_set_str(doc, "copyNumber", str_fmt("%lld", (long long)order));
    }
    if (place->set[0] && n % 3 == 1) {
        json_set_str(doc, "volume", str_fmt("v. %lld", (long long)(n % 40 + 1)));
        json_set_str(doc, "enumeration", str_fmt("no. %lld", (long long)(n % 12 + 1)));
        json_set_str(doc, "chronology", str_fmt("%lld", (long long)(1980 + n % 40)));
    }
    json_set(doc, "notes", list_of(note));
    json_set_str(doc, "status.name", is_on_loan ? S("Checked out") : S("Available"));
    json_set_time(doc, "status.date", maker->today);
    json_set_str(doc, "materialTypeId", S(BOOK));
    json_set_str(doc, "permanentLoanTypeId", S(CAN_CIRCULATE));
    item_compute(doc, holdings_core(maker, place));
    TRY(maker_put(maker, &items, doc));
    arena_release(arena_current(), mark);
    return NULL;
}

Err *stock_make(Maker *maker)
{
    maker_stage(maker, "instances");
    for (int64_t n = 0; n < maker->recipe->instances; n++) {
        TRY(stock_put_title(maker, &(Place){"", n, n, n}, false));
    }
    maker_stage(maker, "holdings records");
    for (int64_t n = 0; n < maker->recipe->instances; n++) {
        TRY(stock_put_holdings(maker, &(Place){"", n, n, n}));
    }
    maker_stage(maker, "items");
    for (int64_t n = 0; n < stock_copies(maker); n++) {
        Place place = stock_place(maker, n);
        TRY(stock_put_copy(maker, &place, stock_barcode(maker, n), stock_is_on_loan(maker, n)));
    }
    return NULL;
}
