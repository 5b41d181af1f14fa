// The building of a recipe: institution, libraries, locations, opening hours, and the one rule for
// loans that all follow. Source: spec/workloads.md 3.6.
#include "data.h"

#include "modules/mod-calendar/collections.h"
#include "modules/mod-circulation-storage/circulation_storage.h"
#include "modules/mod-inventory-storage/inventory_storage.h"

// Policies are those of the reference data: 60 days, all kinds of requests, no notices, no fees.
static const char rules[] =
    "priority: number-of-criteria, criterium (t, s, c, b, a, m, g), last-line\n"
    "fallback-policy: l " LOAN_POLICY " r 334e5a9e-94f9-4673-8d1d-ab552863886b "
    "n 122b3d2b-4788-4f1e-9117-56daa91cb75c o " OVERDUE_POLICY " i " LOST_POLICY;

static const char *const library_names[] = {"Main Library", "Science Library", "Music Library"};

Str location_id_of(const Maker *maker, int64_t n)
{
    return maker_id(maker, "location", n);
}

Str location_name_of(int64_t n)
{
    return str_fmt("%s, floor %lld", library_names[n % 3], (long long)(n / 3 + 1));
}

static Json *unit_of(const Maker *maker, const char *kind, int64_t n, Str name)
{
    Json *unit = json_object();

    json_set_str(unit, "id", maker_id(maker, kind, n));
    json_set_str(unit, "name", name);
    json_set_str(unit, "code", str_fmt("OCT-%c%lld", kind[0], (long long)n + 1));
    return unit;
}

static Err *units_make(Tx *tx, const Maker *maker)
{
    Json *campus = unit_of(maker, "campus", 0, S("Hill Campus"));

    TRY(tx_insert(tx, &institutions, unit_of(maker, "institution", 0, S("University of Octavo"))));
    json_set_str(campus, "institutionId", maker_id(maker, "institution", 0));
    TRY(tx_insert(tx, &campuses, campus));
    for (int64_t i = 0; i < 3; i++) {
        Json *library = unit_of(maker, "library", i, str_of(library_names[i]));
        json_set_str(library, "campusId", maker_id(maker, "campus", 0));
        TRY(tx_insert(tx, &libraries, library));
    }
    return NULL;
}

// All three desks serve all shelves, so that items come back to where they can be lent again.
static Err *locations_make(Tx *tx, const Maker *maker)
{
    static const char *const desks[] = {DESK_1, DESK_2, DESK_3};

    for (int64_t n = 0; n < LOCATIONS; n++) {
        Json *location = unit_of(maker, "location", n, location_name_of(n));
        Json *served = json_array();
        json_set_str(location, "code", str_fmt("OCT/%02lld", (long long)n + 1));
        json_set_str(location, "discoveryDisplayName", location_name_of(n));
        json_set_bool(location, "isActive", true);
        json_set_str(location, "institutionId", maker_id(maker, "institution", 0));
        json_set_str(location, "campusId", maker_id(maker, "campus", 0));
        json_set_str(location, "libraryId", maker_id(maker, "library", n % 3));
        json_set_str(location, "primaryServicePoint", str_of(desks[n % 3]));
        for (int i = 0; i < 3; i++) {
            json_add(served, json_string(str_of(desks[i])));
        }
        json_set(location, "servicePointIds", served);
        TRY(tx_insert(tx, &locations, location));
    }
    return NULL;
}

static Json *hours_of_all_days(void)
{
    static const char *const days[] = {"MONDAY", "TUESDAY",  "WEDNESDAY", "THURSDAY",
                                       "FRIDAY", "SATURDAY", "SUNDAY"};
    Json *list = json_array();

    for (int i = 0; i < 7; i++) {
        Json *hours = json_object();
        json_set_str(hours, "startDay", str_of(days[i]));
        json_set_str(hours, "startTime", i < 5 ? S("08:00:00") : S("10:00:00"));
        json_set_str(hours, "endDay", str_of(days[i]));
        json_set_str(hours, "endTime", i < 5 ? S("22:00:00") : S("18:00:00"));
        json_add(list, hours);
    }
    return list;
}

static Err *calendar_make(Tx *tx, const Maker *maker)
{
    Json *calendar = json_object(), *desks = json_array();

    json_add(desks, json_string(S(DESK_1)));
    json_add(desks, json_string(S(DESK_2)));
    json_add(desks, json_string(S(DESK_3)));
    json_set_str(calendar, "id", maker_id(maker, "calendar", 0));
    json_set_str(calendar, "name", S("Every day"));
    json_set_str(calendar, "startDate", S("2020-01-01"));
    json_set_str(calendar, "endDate", S("2099-12-31"));
    json_set(calendar, "assignments", desks);
    json_set(calendar, "normalHours", hours_of_all_days());
    json_set(calendar, "exceptions", json_array());
    return tx_insert(tx, &calendars, calendar);
}

static Err *library_work(Tx *tx, void *context)
{
    const Maker *maker = context;

    TRY(units_make(tx, maker));
    TRY(locations_make(tx, maker));
    TRY(calendar_make(tx, maker));
    return circulation_rules_store(tx, str_of(rules));
}

Err *library_make(Maker *maker)
{
    return tx_run(maker->db, &(TxOptions){.kind = WRITE}, library_work, maker);
}

static Err *counters_move(Tx *tx, void *context)
{
    const Maker *maker = context;
    int64_t first = 0;

    TRY(tx_sequence(tx, "hrid.instances", maker->titles, &first));
    TRY(tx_sequence(tx, "hrid.holdings", maker->holdings, &first));
    return tx_sequence(tx, "hrid.items", maker->copies, &first);
}

Err *library_finish(Maker *maker)
{
    return tx_run(maker->db, &(TxOptions){.kind = WRITE}, counters_move, maker);
}
