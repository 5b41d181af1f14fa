// Shapes of the records and bodies of mod-pubsub.
#include "modules/mod-pubsub/properties.h"

#define DESCRIPTOR                                                                                 \
    {"eventType", STRING, REQUIRED}, {"description", STRING}, {"eventTTL", INTEGER, REQUIRED},     \
        {"signed", BOOLEAN, .fallback = "false"},                                                  \
    {                                                                                              \
        "tmp", BOOLEAN, .fallback = "false"                                                        \
    }

static const Property descriptor_stored[] = {{"id", ID}, DESCRIPTOR, {0}};
static const Property descriptor_sent[] = {DESCRIPTOR, {0}};

const RecordType event_descriptor_record = {"EventDescriptor", .properties = descriptor_stored};
const RecordType event_descriptor_body = {"EventDescriptor", .properties = descriptor_sent};

static const char *const roles[] = {"PUBLISHER", "SUBSCRIBER", NULL};

static const Property messaging_module[] = {
    {"id", ID},
    {"eventType", STRING, REQUIRED},
    {"moduleId", STRING, REQUIRED},
    {"tenantId", STRING, REQUIRED},
    {"moduleRole", STRING, REQUIRED, .one_of = roles},
    {"activated", BOOLEAN, .fallback = "true"},
    {"subscriberCallback", STRING},
    {0},
};

const RecordType messaging_module_record = {"MessagingModule", .properties = messaging_module};

static const Property publisher[] = {
    {"moduleId", STRING, REQUIRED},
    {"eventDescriptors", OBJECT, REQUIRED | ARRAY, .of = descriptor_sent},
    {0},
};

const RecordType publisher_body = {"PublisherDescriptor", .properties = publisher};

static const Property subscription[] = {
    {"eventType", STRING, REQUIRED},
    {"callbackAddress", STRING, REQUIRED},
    {0},
};

static const Property subscriber[] = {
    {"moduleId", STRING, REQUIRED},
    {"subscriptionDefinitions", OBJECT, REQUIRED | ARRAY, .of = subscription},
    {0},
};

const RecordType subscriber_body = {"SubscriberDescriptor", .properties = subscriber};

static const Property callback[] = {
    {"endpoint", STRING},
    {"eventType", STRING},
    {0},
};

static const Property event_metadata[] = {
    {"tenantId", STRING, REQUIRED},
    {"eventTTL", INTEGER, REQUIRED},
    {"correlationId", STRING},
    {"originalEventId", ID},
    {"publisherCallback", OBJECT, .of = callback, .open = true},
    {"createdDate", DATE_TIME},
    {"publishedDate", DATE_TIME},
    {"createdBy", STRING},
    {"publishedBy", STRING, REQUIRED},
    {0},
};

static const Property event[] = {
    {"id", ID, REQUIRED},
    {"eventType", STRING, REQUIRED},
    {"eventMetadata", OBJECT, REQUIRED, .of = event_metadata},
    {"eventPayload", STRING},
    {0},
};

const RecordType event_body = {"Event", .properties = event};

static const char *const states[] = {"CREATED",   "PUBLISHED", "RECEIVED",
                                     "DELIVERED", "REJECTED",  NULL};

static const Property audit_message[] = {
    {"id", ID},
    {"eventId", ID, REQUIRED},
    {"eventType", STRING},
    {"correlationId", STRING},
    {"tenantId", STRING, REQUIRED},
    {"createdBy", STRING},
    {"publishedBy", STRING},
    {"auditDate", DATE_TIME},
    {"state", STRING, .one_of = states},
    {"errorMessage", STRING},
    {0},
};

const RecordType audit_message_record = {"AuditMessage", .properties = audit_message};

static const Property audit_payload[] = {
    {"id", ID},
    {"content", STRING},
    {0},
};

const RecordType audit_payload_record = {"AuditMessagePayload", .properties = audit_payload};
