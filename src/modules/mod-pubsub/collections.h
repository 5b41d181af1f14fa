// Collections of mod-pubsub.
#pragma once

#include "store/store.h"

extern const Collection event_descriptors;
extern const Collection messaging_modules; // who publishes and who receives which type of event
extern const Collection audit_messages;    // what became of each event
extern const Collection audit_payloads;    // its content; the id is the event's

// All of the module, NULL at the end.
extern const Collection *const pubsub_collections[];
