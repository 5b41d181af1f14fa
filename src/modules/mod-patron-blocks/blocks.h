// Inside of mod-patron-blocks: hooks and handlers.
#pragma once

#include "modules/mod-patron-blocks/patron_blocks.h"

Err *condition_check(Tx *tx, const Json *old, Json *condition); // limits.c
Err *limit_check(Tx *tx, const Json *old, Json *limit);         // limits.c

Err *automated_blocks_get(Req *req);  // handlers.c
Err *user_summary_get(Req *req);      // handlers.c
Err *block_event_take(Req *req);      // handlers.c
Err *block_sync_job_create(Req *req); // handlers.c
Err *block_sync_job_get(Req *req);    // handlers.c
