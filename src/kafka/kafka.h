// Events for Kafka, as FOLIO's modules send them: topics, keys, headers and values.
#pragma once

#include "jobs/jobs.h"

typedef struct Kafka Kafka;

typedef struct {
    Str brokers;       // "host:port,host:port"
    Str environment;   // ENV, the first part of topic names
    Str url;           // of the gateway, for x-okapi-url; "" = header left out
    bool sends_latest; // also the topics of newer releases (decision 21)
} KafkaOptions;

// Registers itself as the scheduler's sink; connects when there is something to send. What is not
// confirmed stays in the outbox. 400 text if the options make no sense.
WARN_UNUSED Err *kafka_start(const KafkaOptions *options, Scheduler *scheduler, Kafka **out);
// After jobs_stop.
void kafka_stop(Kafka *kafka);
// The topics that no collection names; those of collections are wanted by who knows these.
void kafka_want_topics(Store *store);

typedef struct {
    bool is_down;     // no broker can be reached
    uint64_t sent;    // messages confirmed
    uint64_t errors;  // messages not delivered: they come again
    uint64_t refused; // messages that no broker will take: dead letters
} KafkaFigures;

KafkaFigures kafka_figures(const Kafka *kafka);
