// Test data by recipe: what the files of `octavo bench data make` share.
//
// Everything is computed from (seed, kind of record, number): ids are name-based, so that records
// can name each other without being remembered, and the input files of the plans always agree with
// the database. Source: spec/workloads.md 3.6, 12; spec/rtac.md 5.3.
#pragma once

#include "octavo.h"

#include <stdio.h>

typedef struct {
    const char *name;
    int64_t instances, items_per_holdings; // one holdings record for each instance
    int64_t users, loans, requests;
    int64_t available_max; // lines of available.csv; 0 = all
    int64_t rtac_large;    // holdings of the largest title of the look-up sets; 0 = no sets
} Recipe;

const Recipe *recipe_find(Str name);

typedef struct {
    const Recipe *recipe;
    Db *db;
    Str tenant;
    Str folder; // data directory
    Str space;  // name space of all ids
    uint64_t seed;
    Time today; // the day it is made: due dates of the look-up sets lie around it

    Bulk *bulk;                       // takes the records
    int64_t titles, holdings, copies; // made so far: numbers of human-readable ids
    int64_t records;                  // of all stages
    const char *stage;
    int64_t stage_records, stage_ns, shown_ns;
} Maker;

// Writes a record; memory since the last mark may be given back afterwards.
WARN_UNUSED Err *maker_put(Maker *maker, const Collection *of, Json *doc);
// Ends the current piece of work and begins the next; NULL: only ends.
void maker_stage(Maker *maker, const char *stage);

// "item", 17 -> its id.
Str maker_id(const Maker *maker, const char *kind, int64_t n);
// The same within a set of titles.
Str maker_id_in(const Maker *maker, const char *set, const char *kind, int64_t n);
// A number of [0, below) that depends on seed, n and use only.
uint64_t maker_draw(const Maker *maker, int64_t n, const char *use, uint64_t below);

// Words (words.c); the n-th name is the same for each seed.
Str words_last_name(const Maker *maker, int64_t n);
Str words_first_name(const Maker *maker, int64_t n);
Str words_title(const Maker *maker, int64_t n);
Str words_subject(const Maker *maker, int64_t n);
Str words_place(const Maker *maker, int64_t n);
Str words_call_number(const Maker *maker, int64_t n);
// A word that titles hold, for searches.
Str words_keyword(int64_t n);

// ---------------------------------------------------------------------------------------------
// The building (library.c)

#define DESK_1         "3a40852d-49fd-4df2-a1f9-6e2641a6e91f"
#define DESK_2         "c4c90014-c8c9-4ade-8f24-b5e313319f4b"
#define DESK_3         "32c6f0c7-26e4-4350-8c29-1e11c2e3efc4"
#define LOAN_POLICY    "d9cd0bed-1b49-4b5e-a7bd-064b8d177231"
#define OVERDUE_POLICY "cd3f6cac-fa17-4079-9fae-2fb28e521412"
#define LOST_POLICY    "ed892c0e-52e0-4cd9-8133-c0ef07b4a709"

enum { LOCATIONS = 20 };

// Locations, opening hours, the one rule. Small: by ordinary transactions.
WARN_UNUSED Err *library_make(Maker *maker);
// Counters of human-readable ids stand behind the records made.
WARN_UNUSED Err *library_finish(Maker *maker);
Str location_id_of(const Maker *maker, int64_t n);
Str location_name_of(int64_t n);

// ---------------------------------------------------------------------------------------------
// Users (people.c)

WARN_UNUSED Err *people_make(Maker *maker);
Str user_id_of(const Maker *maker, int64_t n);
Str user_barcode_of(const Maker *maker, int64_t n);
Str user_group_of(int64_t n);

// ---------------------------------------------------------------------------------------------
// Titles and what belongs to them (stock.c)

// One item with what it belongs to, by numbers within its set.
typedef struct {
    const char *set; // "" = the ordinary stock, else of the look-up sets: part of all ids
    int64_t title, holdings, copy;
} Place;

WARN_UNUSED Err *stock_make(Maker *maker);
WARN_UNUSED Err *stock_put_title(Maker *maker, const Place *place, bool is_serial);
WARN_UNUSED Err *stock_put_holdings(Maker *maker, const Place *place);
WARN_UNUSED Err *stock_put_copy(Maker *maker, const Place *place, Str barcode, bool is_on_loan);
Str title_id_of(const Maker *maker, const Place *place);
Str holdings_id_of(const Maker *maker, const Place *place);
Str copy_id_of(const Maker *maker, const Place *place);
// Of the ordinary stock: the n-th copy.
Place stock_place(const Maker *maker, int64_t copy);
Str stock_barcode(const Maker *maker, int64_t copy);
int64_t stock_copies(const Maker *maker);
// The copy that the n-th loan lends: they are spread over the stock.
int64_t stock_copy_of_loan(const Maker *maker, int64_t loan);
bool stock_is_on_loan(const Maker *maker, int64_t copy);

// ---------------------------------------------------------------------------------------------
// Loans and requests (circulation.c)

typedef struct {
    Place place;
    Str barcode;
    int64_t user;
    Time lent_at, due_at;
} LoanSpec;

typedef struct {
    Place place;
    Str barcode;
    int64_t user, position;
    bool is_recall;
    Time at;
} RequestSpec;

WARN_UNUSED Err *circulation_make(Maker *maker);
WARN_UNUSED Err *circulation_put_loan(Maker *maker, const LoanSpec *spec);
WARN_UNUSED Err *circulation_put_request(Maker *maker, const RequestSpec *spec);

// ---------------------------------------------------------------------------------------------
// Sets for look-ups of availability (rtac.c)

typedef struct {
    const char *name; // "rtac-a"
    int64_t titles;
    const int *holdings; // numbers of holdings records, repeated over the titles
    size_t pattern;
    bool has_large; // the last title has rtac_large of them
    bool has_serials;
} RtacSet;

extern const RtacSet rtac_sets[]; // name NULL at the end

int64_t rtac_holdings_of(const Maker *maker, const RtacSet *set, int64_t title);
WARN_UNUSED Err *rtac_make(Maker *maker);

// ---------------------------------------------------------------------------------------------
// Files of the plans (inputs.c), checks (check.c)

// Writes every data file of the built-in plans to folder/inputs.
WARN_UNUSED Err *inputs_write(const Maker *maker);
// What must hold in every tenant at any time; prints each check, `violations` counts broken ones.
WARN_UNUSED Err *data_check(Db *db, int *violations);

// A new library of a recipe in a folder, tenant diku, without input files and prepared copy.
WARN_UNUSED Err *library_of_recipe(Str recipe, Str folder);
// Copies the prepared database of a library made by `octavo bench data make`.
WARN_UNUSED Err *library_copy(Str folder, Str file);

// Libraries on PostgreSQL (postgres.c), the server and the database named by the URL.

// After loading: statistics for the planner, and a copy beside it for postgres_reset.
WARN_UNUSED Err *postgres_keep(Str url);
WARN_UNUSED Err *postgres_reset(Str url);
// Copies a database that nobody uses, over what has that name, or drops one.
WARN_UNUSED Err *postgres_copy(Str url, Str from, Str to);
WARN_UNUSED Err *postgres_drop(Str url, Str database);
// Statements, one of them at a time, in a schema.
WARN_UNUSED Err *postgres_run(Str url, Str schema, Str statements);
WARN_UNUSED Err *postgres_database_name(Str url, Str *out);
// The URL of another database of the same server.
Str postgres_url(Str url, Str database);

// octavo bench data make|reset|check.
int bench_data(int argc, char **argv);
