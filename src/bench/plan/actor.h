// What one virtual user carries through a plan: its variables and its random draws.
#pragma once

#include "base/str.h"

// xoshiro256**: one stream per user, all from the seed of the run, so that every user's draws
// repeat.
typedef struct {
    uint64_t state[4];
} Rng;

void rng_seed(Rng *rng, uint64_t seed, uint64_t stream);
uint64_t rng_next(Rng *rng);
// From low to high, both included.
int64_t rng_between(Rng *rng, int64_t low, int64_t high);
double rng_unit(Rng *rng);  // [0, 1)
double rng_gauss(Rng *rng); // mean 0, deviation 1

// Names of variables get numbers when a plan is read. A name like v_3 or v_matchNr also means the
// third value or the count of what an extractor with `match: all` found for v.
typedef struct {
    Str name;
    int32_t base;  // the variable v of v_N, or -1
    int32_t index; // N; 0 = v_matchNr
    Str initial;   // value of the plan or of --var
    bool has_initial;
    bool is_pinned;   // given on the command line: data files do not change it
    bool is_assigned; // something in the plan gives it a value
} Symbol;

typedef struct {
    Symbol *at;
    uint32_t len, cap;
} Symbols;

// The number of a name; new names are added in the current arena.
uint32_t symbol_of(Symbols *symbols, Str name);
bool symbol_find(const Symbols *symbols, Str name, uint32_t *number);

typedef struct Vars Vars;

Vars *vars_new(const Symbols *symbols);
void vars_free(Vars *vars);
const Symbols *vars_symbols(const Vars *vars);
void vars_set(Vars *vars, uint32_t number, Str value);
void vars_unset(Vars *vars, uint32_t number);
// What v_1, v_2 ... and v_matchNr mean from now on.
void vars_set_list(Vars *vars, uint32_t number, const Str *values, size_t n);
bool vars_has_list(const Vars *vars, uint32_t number);
size_t vars_list_len(const Vars *vars, uint32_t number);
Str vars_list_at(const Vars *vars, uint32_t number, size_t i);
// False if the variable has no value. The text is borrowed until the next set.
bool vars_get(const Vars *vars, uint32_t number, Str *value);

struct Plan;

typedef struct {
    const struct Plan *plan;
    Vars *vars;
    Rng rng;
    uint32_t number; // of the user within the run, from 0
} Actor;
