// What the library has of titles: holdings records and items, those bound with others included.
// Read by the hierarchy feeds and by real-time availability. Source: spec/inventory.md 6.1.
#pragma once

#include "modules/mod-inventory-storage/inventory_storage.h"

// An item under a title, by way of which holdings record: its own, or that of a bound-with part.
typedef struct {
    Json *item;
    Json *holdings;
} HeldItem;

typedef struct {
    Json *instance; // NULL: there is no such instance
    Docs holdings;
    HeldItem *items; // each item once
    size_t item_count;
} TitleStock;

// The stock of n titles, at[i] for ids[i], in four to five statements per few hundred holdings
// records. `visible_only` leaves out holdings records and items that are suppressed from
// discovery, and the items of such holdings records; the instance's own flag is not looked at.
// Documents are shared between entries: read only.
WARN_UNUSED Err *stock_read(Tx *tx, const Str *ids, size_t n, bool visible_only, TitleStock *out);
