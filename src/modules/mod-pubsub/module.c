// mod-pubsub: types of events, who publishes and receives them, and what became of each.
// FOLIO: mod-pubsub 2.13. Source: spec/platform.md 6.4.
#include "modules/mod-pubsub/internal.h"

#define TYPES "/pubsub/event-types"
#define TYPE  TYPES "/{eventTypeName}"

static const Route type_routes[] = {
    {GET, TYPES, READ, event_types_list, "pubsub.event-types.get",
     .later_permission = "pubsub.event-types.collection.get"},
    {POST, TYPES, WRITE, event_types_post, "pubsub.event-types.post"},
    {GET, TYPE, READ, event_types_get, "pubsub.event-types.get",
     .later_permission = "pubsub.event-types.item.get"},
    {PUT, TYPE, WRITE, event_types_put, "pubsub.event-types.put"},
    {DELETE, TYPE, WRITE, event_types_delete, "pubsub.event-types.delete"},
    {0},
};

static const Route publisher_routes[] = {
    {POST, TYPES "/declare/publisher", WRITE, publisher_declare, "pubsub.publishers.post"},
    {GET, TYPE "/publishers", READ, publishers_list, "pubsub.publishers.get"},
    {DELETE, TYPE "/publishers", WRITE, publishers_delete, "pubsub.publishers.delete"},
    {0},
};

static const Route subscriber_routes[] = {
    {POST, TYPES "/declare/subscriber", WRITE, subscriber_declare, "pubsub.subscribers.post"},
    {GET, TYPE "/subscribers", READ, subscribers_list, "pubsub.subscribers.get"},
    {DELETE, TYPE "/subscribers", WRITE, subscribers_delete, "pubsub.subscribers.delete"},
    {0},
};

static const Route publish_routes[] = {
    {POST, "/pubsub/publish", WRITE, event_publish, "pubsub.publish.post"},
    {0},
};

static const Route audit_routes[] = {
    {GET, "/pubsub/history", READ, history_list, "pubsub.audit.history.get"},
    {GET, "/pubsub/audit-messages/{eventId}/payload", READ, payload_get,
     "pubsub.audit.message.payload.get"},
    {0},
};

static const Route module_routes[] = {
    {DELETE, "/pubsub/messaging-modules", WRITE, messaging_modules_delete,
     "pubsub.messaging-modules.delete"},
    {0},
};

static const Interface provides[] = {
    {"pubsub-event-types", "0.1", .routes = type_routes},
    {"pubsub-publishers", "0.1", .routes = publisher_routes},
    {"pubsub-subscribers", "0.1", .routes = subscriber_routes},
    {"pubsub-audit", "0.1", .routes = audit_routes},
    {"pubsub-publish", "0.1", .routes = publish_routes},
    {"pubsub-messaging-modules", "0.1", .routes = module_routes},
    {0},
};

static const char *const requires[] = {"users 15.1 16.0", "login 6.0 7.0", "permissions 5.2", NULL};

const Module mod_pubsub = {
    .name = "mod-pubsub",
    .version = "2.13.0",
    .provides = provides,
    .requires = requires,
    .collections = pubsub_collections,
};
