// Writing the report of a result that is there: all that a run needs to know of reports.
#pragma once

#include "base/err.h"

enum {
    REPORT_MET = 0,
    REPORT_KPI_MISSED = 1,
    REPORT_INVALID = 2, // cells are missing, or the report contradicts itself
};

// Reads result.json of the folder, writes its report there and prints where it is.
WARN_UNUSED Err *report_folder(const char *folder, int *exit_code);
