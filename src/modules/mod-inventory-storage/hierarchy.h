// Feeds of titles with everything below them. Source: spec/inventory.md 6.
#pragma once

#include "modules/mod-inventory-storage/stock.h"
#include "octavo.h"

// {instanceId, source, modeOfIssuance, natureOfContent, holdings, items} of a title that exists.
WARN_UNUSED Err *title_stock_view(Tx *tx, const TitleStock *stock, Json **out);
// The form of /oai-pmh-view/enrichedInstances, which readers of that feed expect.
WARN_UNUSED Err *title_enriched_view(Tx *tx, const TitleStock *stock, Json **out);
