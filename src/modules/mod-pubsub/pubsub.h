// mod-pubsub inside the process: published events travel over the outbox.
// FOLIO: mod-pubsub 2.13. Source: spec/platform.md 6.4.
#pragma once

#include "octavo.h"

#include "modules/mod-pubsub/collections.h"

extern const Module mod_pubsub;

// The topic of every event that a client publishes; the event's type is its eventType, its key the
// event's id, `now` the whole event. Modules of this process subscribe to it.
#define PUBSUB_TOPIC "pubsub.event"
