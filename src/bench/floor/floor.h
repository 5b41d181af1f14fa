// The physical limits of this machine for one check-out: what reports are compared with.
//
// Measured with raw sqlite3 and a bare HTTP route, not through our own store (decision 61).
#pragma once

#include "base/buf.h"
#include "json/json.h"

typedef struct {
    double sync_us;         // one 4 KB write with fdatasync, median
    double cpu_us[2];       // of one transaction, 1 and 20 to a commit
    double wall_us[2];      // of one commit's group, divided by its size; median
    double group_p99_us[2]; // of a whole group
    double per_s[2];
    double echo_cpu_us;  // server CPU of one 2 KB echo, 20 connections
    double echo_wall_us; // median of one connection
    double echo_per_s;   // 20 connections
} Floor;

// Runs the statements of the text (bench/floor.txt tells how it is written) in a library's
// database, `seconds` for each of the two group sizes. The database is not the same afterwards.
typedef struct {
    Str statements;
    const char *file;
    double seconds;
} FloorDatabase;

WARN_UNUSED Err *floor_write_json(const char *name, const Json *root);
WARN_UNUSED Err *floor_measure_sync(const char *folder, double seconds, Floor *floor);
WARN_UNUSED Err *floor_measure_database(const FloorDatabase *database, Floor *floor);
WARN_UNUSED Err *floor_measure_echo(double seconds, Floor *floor);

// Words of a statement's values stand between blanks; a text in quotes may hold some. False at the
// end.
bool floor_next_word(Str *rest, Str *word);

// ---------------------------------------------------------------------------------------------
// The same on PostgreSQL (pgbench.c, postgres.c): pgbench's own client runs the statements

typedef struct {
    Buf body; // the statements with variables for values
    int statements;
    StrList picks;                             // "item SELECT ..."
    StrList picked, new_ids, times, documents; // words that became variables
} PgbenchScript;

WARN_UNUSED Err *pgbench_script(Str statements, PgbenchScript *out);
// SQL that makes the table of passes.
Str pgbench_table(const PgbenchScript *script);
// The text that pgbench runs; only_picks: without the transaction, for the price of the rest.
Str pgbench_text(const PgbenchScript *script, bool only_picks);

typedef struct {
    Str folder; // for files
    Str url, schema;
    int clients;
    double seconds;
    bool only_picks;
} PgbenchRun;

typedef struct {
    double p50_us, per_s;
} PgbenchResult;

// In a database that has the table of passes.
WARN_UNUSED Err *pgbench_run(const PgbenchScript *script, const PgbenchRun *run,
                             PgbenchResult *out);

typedef struct {
    Str url;    // of the library made by `octavo bench data make --database`
    Str inputs; // data files of the plans
    Str folder; // for files
    Str statements;
    const char *json; // NULL: none
    double seconds;
} FloorPostgres;

// pgbench and check-outs through Octavo in turn, each on a fresh copy of the database, with one
// client and with 20; prints both and their ratios.
WARN_UNUSED Err *floor_compare_postgres(const FloorPostgres *options);

// octavo bench floor; the arguments behind its name.
int bench_floor(int argc, char **argv);
