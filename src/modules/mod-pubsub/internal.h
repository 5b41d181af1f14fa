// What the files of mod-pubsub share.
#pragma once

#include "modules/mod-pubsub/pubsub.h"

// Types of events (event_types.c).
Err *event_types_list(Req *req);
Err *event_types_post(Req *req);
Err *event_types_get(Req *req);
Err *event_types_put(Req *req);
Err *event_types_delete(Req *req);
// The descriptor of a type; NULL if there is none.
WARN_UNUSED Err *event_type_find(Tx *tx, Str event_type, Json **out);
// A descriptor as clients see it: without our id.
Json *event_type_shown(const Json *descriptor);

// Who publishes and receives (declarations.c).
Err *publisher_declare(Req *req);
Err *publishers_list(Req *req);
Err *publishers_delete(Req *req);
Err *subscriber_declare(Req *req);
Err *subscribers_list(Req *req);
Err *subscribers_delete(Req *req);
Err *messaging_modules_delete(Req *req);

// Events and what became of them (publish.c).
Err *event_publish(Req *req);
Err *history_list(Req *req);
Err *payload_get(Req *req);
