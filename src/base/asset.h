// Files embedded in the program: reference data, plans, pages.
#pragma once

#include "base/str.h"

typedef struct {
    const char *name; // path in the source tree: "refdata/mod-users/groups.tsv"
    const char *at, *end;
} Asset;

// The list must be announced once at start (asset_use(assets_all)): layers below main see it only
// then.
extern const Asset assets_all[];
void asset_use(const Asset *assets);

// False if there is none of that name.
bool asset_find(const char *name, Str *content);
// The i-th asset whose name begins with the prefix, in order of names; NULL behind the last.
const Asset *asset_at(const char *prefix, size_t i);
