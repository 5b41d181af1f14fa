// What the files of mod-settings share.
#pragma once

#include "modules/mod-settings/settings.h"

// Entries: scope, key and value, of the tenant or of a user (entries.c).
Err *entries_list(Req *req);
Err *entries_get(Req *req);
Err *entries_post(Req *req);
Err *entries_put(Req *req);
Err *entries_delete(Req *req);
Err *entries_upload(Req *req);

// What exists once in a tenant (single.c).
Err *locale_get(Req *req);
Err *locale_put(Req *req);
Err *base_url_get(Req *req);
Err *base_url_put(Req *req);
