// Prepared libraries: made once by recipe, seed and build of this program, copied before each cell.
#pragma once

#include "bench/result.h"

typedef struct {
    Str folder;    // of the pristine library
    Str inputs;    // of its plans' data files
    Str checksum;  // of its databases
    Str log;       // what making it wrote
    double made_s; // 0: it was there already
} Prepared;

// The build of this very program: 16 hexadecimal digits of its file.
Str program_build(void);
// Finds the library below `cache`, or makes it there. `say` tells people that it takes a while.
WARN_UNUSED Err *prepared_open(Str cache, Str recipe, uint64_t seed, void (*say)(Str text),
                               Prepared *out);
// A fresh copy of its databases in `work`, which nobody else may use. Errors: a copy whose checksum
// is another one.
WARN_UNUSED Err *prepared_copy(const Prepared *prepared, Str work);
// What must hold in a library (octavo bench data check).
WARN_UNUSED Err *library_check(Str work, DataCheck **checks, size_t *len);

WARN_UNUSED Err *make_folders(Str path); // with those above it
void remove_tree(Str path);
WARN_UNUSED Err *file_text(Str file, Str *text);
