// Faults of the disk, for tests: a layer under the database files that keeps what is not synced yet
// apart, so that a power cut can lose it, and that can answer "full" and "I/O error". Only in
// builds with test hooks (decisions 41, 59).
//
// A test: faults_reset; store_open with `faults`; faults_arm; work until calls fail; store_close;
// faults_reboot; store_open again sees what a real disk would hold. The layer holds for every store
// of the process that is open with `faults`.
//
// A whole program: `octavo serve --test.faults=...` ends at the power cut and leaves behind what a
// disk would hold.
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef OCTAVO_HOOKS

enum { FAULTS_EXIT = 75 };

// What of the writes that were not synced is on the disk after a power cut.
typedef enum {
    LOSE_ALL,
    KEEP_FIRST, // the first ones, in order, the last of them perhaps torn
    KEEP_SOME,  // any of them, some torn at a sector of 512 bytes
} Keep;

// What is done to a file.
typedef enum { OP_CHANGE, OP_WRITE, OP_TRUNCATE, OP_SYNC, OP_DELETE, OP_READ } FaultOp;
// OP_CHANGE in a fault: any but a read.
typedef enum { FILE_ANY, FILE_DATABASE, FILE_LOG } FaultFileKind;

typedef struct {
    bool is_cut;       // the power goes off at the n-th operation; else operations fail
    const char *point; // of a cut: when a thread comes by FAULT_POINT(point) for the n-th time
    FaultOp op;
    FaultFileKind file;
    int64_t nth;   // 1 = the next
    int64_t count; // how many fail; a failed sync also loses some of what it should have made safe,
                   // as the kernel does
} Fault;

// Forgets all files and faults; `seed` decides all random choices from here on.
void faults_reset(uint64_t seed);
// In place of the fault that was armed before; NULL: none.
void faults_arm(const Fault *fault);
// The process ends with FAULTS_EXIT at the cut, and files are left as after faults_reboot.
void faults_exit_at_cut(Keep keep);
// From a text: "cut:<point or operation>:<n>:all|first|some", "error:<operation>:<n>:<count>",
// "full:<bytes left>"; operation: write, truncate, sync, delete, read, with .database or .log
// behind it. A cut ends the process; what is kept of the writes is said last. 400 for what is no
// such text.
WARN_UNUSED Err *faults_arm_text(Str text);
bool faults_power_is_off(void);
// Files hold what a disk would hold; the power is back. No store may be open.
void faults_reboot(Keep keep);
// Growth beyond so many bytes fails as "disk full"; -1: endless again.
void faults_disk_full(int64_t bytes_left);

void faults_point(const char *name);
#define FAULT_POINT(name) faults_point(name)

// The name of the file layer, for opening a database through it.
const char *faults_vfs(void);

#else
#define FAULT_POINT(name) ((void)0)
#endif
