// The functions that may stand in ${...}.
#pragma once

#include "text.h"

enum {
    FUNCTION_ARGS_MAX = 5,
};

typedef struct {
    const char *name;
    int args_min, args_max;
    int variable_arg; // number of the argument that names a variable to store the result in; -1
    void (*write)(const Str *args, int n, Actor *actor, Buf *buf);
} Function;

const Function *function_of(Str name);
