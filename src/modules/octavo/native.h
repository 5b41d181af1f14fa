// What is not FOLIO's: /octavo/..., its permissions, and lists of modules that are not built.
#pragma once

#include "octavo.h"

extern const Module octavo_module;

// "debug" or "release" and the linker's number of the build.
Str build_name(void);
// What the program is and runs on (GET /octavo/ops/deployment); parts of `app` may be missing.
WARN_UNUSED Err *deployment_of(const App *app, Json **out);

// 403 text for callers who may not see figures of the process.
WARN_UNUSED Err *operators_only(const Req *req);

Err *metrics_show(Req *req);
Err *summary_show(Req *req);
Err *deployment_show(Req *req);
Err *modules_show(Req *req);
Err *statements_show(Req *req);
Err *statements_forget(Req *req);
Err *requests_show(Req *req);
Err *jobs_show(Req *req);
Err *jobs_run(Req *req);
Err *jobs_pause(Req *req);
Err *jobs_resume(Req *req);
Err *loglevel_show(Req *req);
Err *loglevel_set(Req *req);
Err *outbox_show(Req *req);
Err *outbox_retry(Req *req);
Err *outbox_delete_dead(Req *req);
