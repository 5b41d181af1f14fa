// Variables of virtual users: one growing buffer per variable that is ever set, reused for its next
// value, so that a long run does not grow.
#include "actor.h"

#include "base/die.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    char *at;
    size_t len, cap;
    char *block; // the values of the list one behind the other
    Str *list;
    size_t list_len;
    bool is_set, is_unset, has_list;
} Slot;

struct Vars {
    const Symbols *symbols;
    uint32_t len; // there may be more symbols by now while a plan is read
    Slot slots[];
};

bool symbol_find(const Symbols *symbols, Str name, uint32_t *number)
{
    for (uint32_t i = 0; i < symbols->len; i++) {
        if (str_eq(symbols->at[i].name, name)) {
            *number = i;
            return true;
        }
    }
    return false;
}

// v_12 or v_matchNr: what stands before the last underscore, and the number.
static bool split_list_name(Str name, Str *base, int32_t *index)
{
    size_t cut = name.len;
    int64_t number = 0;

    while (cut > 0 && name.at[cut - 1] != '_') {
        cut--;
    }
    if (cut < 2) {
        return false;
    }
    Str tail = str_sub(name, cut, name.len);
    if (!str_eq_z(tail, "matchNr") &&
        (!str_int64(tail, &number) || number < 1 || number > 1 << 24)) {
        return false;
    }
    *base = str_sub(name, 0, cut - 1);
    *index = (int32_t)number;
    return true;
}

uint32_t symbol_of(Symbols *symbols, Str name)
{
    uint32_t number = 0;
    Str base_name;
    int32_t base = -1, index = 0;

    if (symbol_find(symbols, name, &number)) {
        return number;
    }
    if (split_list_name(name, &base_name, &index)) {
        base = (int32_t)symbol_of(symbols, base_name);
    }
    if (symbols->len == symbols->cap) {
        symbols->cap = symbols->cap ? symbols->cap * 2 : 64;
        Symbol *grown = NEW_ARRAY(Symbol, symbols->cap);
        if (symbols->len > 0) {
            memcpy(grown, symbols->at, symbols->len * sizeof *grown);
        }
        symbols->at = grown;
    }
    symbols->at[symbols->len] =
        (Symbol){.name = str_copy(arena_current(), name), .base = base, .index = index};
    return symbols->len++;
}

Vars *vars_new(const Symbols *symbols)
{
    Vars *vars = calloc(1, sizeof *vars + symbols->len * sizeof vars->slots[0]);

    if (!vars) {
        die("out of memory");
    }
    vars->symbols = symbols;
    vars->len = symbols->len;
    return vars;
}

void vars_free(Vars *vars)
{
    for (uint32_t i = 0; vars && i < vars->len; i++) {
        free(vars->slots[i].at);
        free(vars->slots[i].block);
        free(vars->slots[i].list);
    }
    free(vars);
}

void vars_set(Vars *vars, uint32_t number, Str value)
{
    Slot *slot = &vars->slots[number];

    if (slot->cap < value.len + 1) {
        size_t cap = (value.len + 64) & ~(size_t)31;
        char *grown = malloc(cap);
        if (!grown) {
            die("out of memory");
        }
        // The value may be a piece of the old one: copy before freeing.
        memcpy(grown, value.len ? value.at : "", value.len);
        free(slot->at);
        slot->at = grown;
        slot->cap = cap;
    } else if (value.len > 0) {
        memmove(slot->at, value.at, value.len);
    }
    slot->len = value.len;
    slot->is_set = true;
    slot->is_unset = false;
}

void vars_unset(Vars *vars, uint32_t number)
{
    vars->slots[number].is_set = false;
    vars->slots[number].is_unset = true; // the plan's initial value is gone, too
}

void vars_set_list(Vars *vars, uint32_t number, const Str *values, size_t n)
{
    Slot *slot = &vars->slots[number];
    size_t total = 0;

    for (size_t i = 0; i < n; i++) {
        total += values[i].len;
    }
    char *block = malloc(total + 1);
    Str *list = calloc(n + 1, sizeof *list);
    if (!block || !list) {
        die("out of memory");
    }
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        memcpy(block + used, values[i].len ? values[i].at : "", values[i].len);
        list[i] = (Str){block + used, values[i].len};
        used += values[i].len;
    }
    free(slot->block);
    free(slot->list);
    slot->block = block;
    slot->list = list;
    slot->list_len = n;
    slot->has_list = true;
}

bool vars_has_list(const Vars *vars, uint32_t number)
{
    return vars->slots[number].has_list;
}

size_t vars_list_len(const Vars *vars, uint32_t number)
{
    return vars->slots[number].list_len;
}

Str vars_list_at(const Vars *vars, uint32_t number, size_t i)
{
    const Slot *slot = &vars->slots[number];
    return i < slot->list_len ? slot->list[i] : (Str){"", 0};
}

bool vars_get(const Vars *vars, uint32_t number, Str *value)
{
    const Slot *slot = &vars->slots[number];
    const Symbol *symbol = &vars->symbols->at[number];

    if (slot->is_set) {
        *value = (Str){slot->at, slot->len};
        return true;
    }
    if (symbol->base >= 0 && vars->slots[symbol->base].has_list) {
        const Slot *base = &vars->slots[symbol->base];
        if (symbol->index == 0) {
            *value = str_fmt("%zu", base->list_len);
            return true;
        }
        if ((size_t)symbol->index <= base->list_len) {
            *value = base->list[symbol->index - 1];
            return true;
        }
    }
    *value = symbol->initial;
    return symbol->has_initial && !slot->is_unset;
}

const Symbols *vars_symbols(const Vars *vars)
{
    return vars->symbols;
}
