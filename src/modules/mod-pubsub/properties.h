// Record types of mod-pubsub.
#pragma once

#include "json/properties.h"

extern const RecordType event_descriptor_record; // stored, with an id of ours
extern const RecordType event_descriptor_body;   // as clients send it
extern const RecordType messaging_module_record;
extern const RecordType publisher_body;
extern const RecordType subscriber_body;
extern const RecordType event_body;
extern const RecordType audit_message_record;
extern const RecordType audit_payload_record;
