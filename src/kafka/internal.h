// What the files of kafka/ share.
#pragma once

#include "kafka/kafka.h"

enum {
    MESSAGES_PER_EVENT = 2,
};

typedef struct {
    Str topic, key, value;
} Message;

// The messages of an event, none for what FOLIO does not send. Returns how many.
size_t messages_of(const KafkaOptions *options, Str tenant, const Event *event,
                   Message messages[MESSAGES_PER_EVENT]);
