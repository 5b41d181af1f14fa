// Sets of permission names: a bit per number, and a hash table from names to numbers.
#include "gateway/gateway.h"

#include <string.h>

struct PermissionNames {
    Str *names;
    size_t count, cap;
    uint32_t *slots; // number + 1; 0 = empty
    size_t slot_count;
    Arena *arena;
};

struct PermissionSet {
    const PermissionNames *names;
    uint64_t *bits;
    size_t words;
    StrList others;
};

enum {
    BITS = 64,
    FIRST_SLOTS = 256,
};

PermissionNames *permission_names_new(void)
{
    PermissionNames *names = NEW(PermissionNames);
    names->arena = arena_current();
    names->slot_count = FIRST_SLOTS;
    names->slots = NEW_ARRAY(uint32_t, FIRST_SLOTS);
    return names;
}

// The slot of a name: its own, or the empty one where it belongs.
static size_t slot_of(const PermissionNames *names, Str name)
{
    size_t mask = names->slot_count - 1;
    size_t slot = str_hash(name) & mask;
    while (names->slots[slot] && !str_eq(names->names[names->slots[slot] - 1], name)) {
        slot = (slot + 1) & mask;
    }
    return slot;
}

static void grow(PermissionNames *names)
{
    names->slot_count *= 2;
    names->slots = arena_alloc_array(names->arena, names->slot_count, sizeof(uint32_t));
    for (size_t i = 0; i < names->count; i++) {
        names->slots[slot_of(names, names->names[i])] = (uint32_t)i + 1;
    }
}

size_t permission_number(PermissionNames *names, Str name)
{
    size_t slot = slot_of(names, name);
    if (names->slots[slot]) {
        return names->slots[slot] - 1;
    }
    names->names =
        array_room(names->arena, names->names, names->count, &names->cap, sizeof *names->names);
    names->names[names->count++] = str_copy(names->arena, name);
    names->slots[slot] = (uint32_t)names->count;
    if (names->count * 2 > names->slot_count) {
        grow(names);
    }
    return names->count - 1;
}

size_t permission_count(const PermissionNames *names)
{
    return names->count;
}

Str permission_name(const PermissionNames *names, size_t number)
{
    return names->names[number];
}

bool permission_find(const PermissionNames *names, Str name, size_t *number)
{
    size_t slot = slot_of(names, name);
    if (!names->slots[slot]) {
        return false;
    }
    *number = names->slots[slot] - 1;
    return true;
}

PermissionSet *permission_set_new(const PermissionNames *names)
{
    PermissionSet *set = NEW(PermissionSet);
    set->names = names;
    set->words = names->count / BITS + 1;
    set->bits = NEW_ARRAY(uint64_t, set->words);
    return set;
}

void permission_set_add(PermissionSet *set, size_t number)
{
    set->bits[number / BITS] |= (uint64_t)1 << (number % BITS);
}

void permission_set_add_other(PermissionSet *set, Str name)
{
    if (!str_list_has(&set->others, name)) {
        str_list_add(&set->others, name);
    }
}

bool permission_set_has_number(const PermissionSet *set, size_t number)
{
    return number / BITS < set->words && (set->bits[number / BITS] >> (number % BITS) & 1);
}

bool permission_set_has(const PermissionSet *set, Str name)
{
    size_t number = 0;
    if (!set) {
        return false;
    }
    if (permission_find(set->names, name, &number)) {
        return permission_set_has_number(set, number);
    }
    return str_list_has(&set->others, name);
}

void permission_set_names(const PermissionSet *set, StrList *names)
{
    for (size_t i = 0; set && i < set->names->count; i++) {
        if (permission_set_has_number(set, i)) {
            str_list_add(names, set->names->names[i]);
        }
    }
    for (size_t i = 0; set && i < set->others.len; i++) {
        str_list_add(names, set->others.at[i]);
    }
}

// '*' stands for any run, also an empty one.
static bool fits(Str name, Str pattern)
{
    size_t n = 0, p = 0, star = SIZE_MAX, star_n = 0;
    while (n < name.len) {
        if (p < pattern.len && pattern.at[p] == '*') {
            star = p++;
            star_n = n;
        } else if (p < pattern.len && pattern.at[p] == name.at[n]) {
            p++, n++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            n = ++star_n;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.at[p] == '*') {
        p++;
    }
    return p == pattern.len;
}

void permission_set_match(const PermissionSet *set, Str pattern, StrList *found)
{
    if (str_find_char(pattern, '*', 0) < 0) {
        if (permission_set_has(set, pattern)) {
            str_list_add(found, pattern);
        }
        return;
    }
    StrList all = {0};
    permission_set_names(set, &all);
    for (size_t i = 0; i < all.len; i++) {
        if (fits(all.at[i], pattern)) {
            str_list_add(found, all.at[i]);
        }
    }
}
