// Lists whose records are enriched before they go out: titles on items, names on loans.
//
// The engine's list gives stored records; a view turns a piece of them at a time into what the
// client sees, with a few statements per piece instead of per record.
#pragma once

#include "octavo.h"

enum { VIEW_AT_ONCE = 200 };

typedef struct {
    const char *list_key;
    bool has_result_info;
    // Changes up to VIEW_AT_ONCE parsed records in place. What it allocates is gone after the piece
    // was written; the context lives as long as the request.
    Err *(*enrich)(Tx *tx, Json **records, size_t n, void *context);
    void *context;
} ListView;

// {"<key>":[...],"totalRecords":n}: whole when the list is, else streamed piece by piece, each in a
// short transaction of its own, so that a slow client holds nothing. Ends the list.
WARN_UNUSED Err *reply_view(Req *req, List *list, const ListView *view);
