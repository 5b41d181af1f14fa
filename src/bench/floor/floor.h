// The physical limits of this machine for one check-out: what reports are compared with.
//
// Measured with raw sqlite3 and a bare HTTP route, not through our own store (decision 61).
#pragma once

#include "base/err.h"

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

WARN_UNUSED Err *floor_measure_sync(const char *folder, double seconds, Floor *floor);
WARN_UNUSED Err *floor_measure_database(const FloorDatabase *database, Floor *floor);
WARN_UNUSED Err *floor_measure_echo(double seconds, Floor *floor);

// octavo bench floor; the arguments behind its name.
int bench_floor(int argc, char **argv);
