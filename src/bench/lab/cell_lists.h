// The lists of a plan in a cell: where it goes on, what it took, and that there was enough.
#pragma once

#include "lab.h"

#include "bench/driver/driver.h"

// After a load: what it made of its plan's lists.
typedef struct {
    Lab *lab;
    Cell *cell;
    Str workload;
    const Plan *plan;
    const RunResult *result;
    int64_t zero_ns; // begin of the window
} CellLists;

// Before it: what earlier cells took is gone as long as the data are not reset.
void lists_go_on(const Lab *lab, const Cell *cell, Str workload, const Plan *plan);
// Adds the lists to the cell, which has room, and a note for each that was begun again.
void lists_fill(const CellLists *lists);
// The reason of a cell whose users ended for want of data.
void lists_judge(const CellLists *lists);
