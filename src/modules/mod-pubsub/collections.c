// Collections of mod-pubsub: types of events, modules that speak of them, what was published.
#include "modules/mod-pubsub/collections.h"

#include "modules/mod-pubsub/properties.h"

#define EXACT (KEEP_CASE | KEEP_ACCENTS)

static const Field descriptor_fields[] = {
    {"event_type", "eventType", TEXT | INDEX | UNIQUE | EXACT},
    {0},
};

const Collection event_descriptors = {
    .table = "event_type",
    .record = &event_descriptor_record,
    .fields = descriptor_fields,
};

static const Field module_fields[] = {
    {"event_type", "eventType", TEXT | INDEX | EXACT},
    {"module_id", "moduleId", TEXT | INDEX | EXACT},
    {"role", "moduleRole", TEXT | EXACT},
    {"is_active", "activated", FLAG},
    {0},
};

static const UniqueKey module_keys[] = {
    {"event_type, module_id, role"},
    {0},
};

const Collection messaging_modules = {
    .table = "messaging_module",
    .record = &messaging_module_record,
    .fields = module_fields,
    .uniques = module_keys,
};

static const Field message_fields[] = {
    {"event_id", "eventId", UUID | INDEX},
    {"event_type", "eventType", TEXT | EXACT},
    {"correlation_id", "correlationId", TEXT | EXACT},
    {"audit_date", "auditDate", TIME | INDEX},
    {0},
};

const Collection audit_messages = {
    .table = "audit_message",
    .record = &audit_message_record,
    .fields = message_fields,
};

const Collection audit_payloads = {
    .table = "audit_message_payload",
    .record = &audit_payload_record,
};

const Collection *const pubsub_collections[] = {
    &event_descriptors, &messaging_modules, &audit_messages, &audit_payloads, NULL,
};
