// Faults of the disk, for tests: a layer under the database files that keeps what is not synced yet
// apart, so that a power cut can lose it, and that can answer "full" and "I/O error". Only in
// builds with test hooks (decisions 41, 59).
//
// Use: store_open with `faults`; faults_power_cut_at or faults_power_cut_after; work until calls
// fail; store_close; faults_reboot; store_open again.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef OCTAVO_HOOKS
void faults_point(const char *name);
#define FAULT_POINT(name) faults_point(name)
#else
#define FAULT_POINT(name) ((void)0)
#endif
