// Requests as clients see them, shared by the use cases of requests.
#pragma once

#include "modules/mod-circulation/circulation.h"

// Stored fields (without the search index) plus live data of item, instance, requester, loan,
// pickup service point (spec/circulation.md 9.1), for many requests in few statements. In place.
WARN_UNUSED Err *request_representations(Tx *tx, Json **page, size_t n);

// The request, or 404 text.
WARN_UNUSED Err *request_by_id(Tx *tx, Str id, Json **out);
