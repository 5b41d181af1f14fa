// Faults of the disk, for tests: a layer under the database files that keeps what is not synced yet
// apart, so that a power cut can lose it, and that can answer "full" and "I/O error". Only in
// builds with test hooks (decisions 41, 59).
//
// A test: faults_reset; store_open with `faults`; faults_power_cut_at or faults_power_cut_after;
// work until calls fail; store_close; faults_reboot; store_open again sees what a real disk would
// hold. The layer holds for every store of the process that is open with `faults`.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef OCTAVO_HOOKS

// What of the writes that were not synced is on the disk after a power cut.
typedef enum {
    LOSE_ALL,
    KEEP_FIRST, // the first ones, in order, the last of them perhaps torn
    KEEP_SOME,  // any of them, some torn at a sector of 512 bytes
} Keep;

// Forgets all files and faults; `seed` decides all random choices from here on.
void faults_reset(uint64_t seed);
// The power goes off at the n-th write, truncation, sync or deletion from now (1 = the next).
void faults_power_cut_after(int64_t n);
// The power goes off when a thread comes by the named point for the n-th time. Points: see
// FAULT_POINT in sqlite_group.c and sqlite_checkpoint.c.
void faults_power_cut_at(const char *point, int n);
bool faults_power_is_off(void);
// Files hold what a disk would hold; the power is back. No store may be open.
void faults_reboot(Keep keep);
// Growth beyond so many bytes fails as "disk full"; -1: endless again.
void faults_disk_full(int64_t bytes_left);
// After n - 1 further operations the next `count` ones fail; a failed sync also loses some of what
// it should have made safe, as the kernel does.
void faults_io_error_after(int64_t n, int64_t count);
// Operations since the reset.
int64_t faults_operations(void);

void faults_point(const char *name);
#define FAULT_POINT(name) faults_point(name)

// The name of the file layer, for opening a database through it.
const char *faults_vfs(void);

#else
#define FAULT_POINT(name) ((void)0)
#endif
