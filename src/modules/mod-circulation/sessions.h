// Background work and routes about patrons' visits and what is remembered of them.
#pragma once

#include "modules/mod-circulation/circulation.h"

Err *patron_session_end(Req *req);
// Ends visits that were idle for longer than the setting says.
WARN_UNUSED Err *sessions_expire_run(Db *db, Time now);

Err *loans_anonymize_by_user(Req *req);
// Anonymises closed loans as the setting says (16).
WARN_UNUSED Err *loans_anonymize_run(Db *db, Time now);
