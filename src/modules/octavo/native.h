// What is not FOLIO's: /octavo/..., its permissions, and lists of modules that are not built.
#pragma once

#include "octavo.h"

extern const Module octavo_module;

// 403 text for callers who may not see figures of the process.
WARN_UNUSED Err *operators_only(const Req *req);

Err *outbox_show(Req *req);
Err *outbox_retry(Req *req);
Err *outbox_delete_dead(Req *req);
