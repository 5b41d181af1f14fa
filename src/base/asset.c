// Looks up embedded files by name; the list is sorted by name and small.
#include "base/asset.h"

#include <string.h>

static const Asset *assets;

void asset_use(const Asset *all)
{
    assets = all;
}

bool asset_find(const char *name, Str *content)
{
    for (const Asset *asset = assets; asset && asset->name; asset++) {
        if (strcmp(asset->name, name) == 0) {
            *content = (Str){asset->at, (size_t)(asset->end - asset->at)};
            return true;
        }
    }
    return false;
}

const Asset *asset_at(const char *prefix, size_t i)
{
    for (const Asset *asset = assets; asset && asset->name; asset++) {
        if (strncmp(asset->name, prefix, strlen(prefix)) == 0 && i-- == 0) {
            return asset;
        }
    }
    return NULL;
}
