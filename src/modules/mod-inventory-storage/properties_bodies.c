// Shapes of request bodies of mod-inventory-storage that are no stored records.
#include "modules/mod-inventory-storage/properties.h"

static const Property bound_with_contents[] = {
    {"holdingsRecordId", STRING},
    {0},
};

static const Property bound_with[] = {
    {"itemId", ID, REQUIRED},
    {"boundWithContents", OBJECT, REQUIRED | ARRAY, .of = bound_with_contents, .open = true},
    {0},
};

const RecordType bound_with_record = {"BoundWith", .properties = bound_with};

static const Property retrieve_entities[] = {
    {"offset", INTEGER, .has_min = true, .max = 2147483647, .has_max = true, .fallback = "0"},
    {"limit", INTEGER, .has_min = true, .max = 2147483647, .has_max = true, .fallback = "10"},
    {"query", STRING},
    {0},
};

const RecordType retrieve_entities_record = {"RetrieveEntitiesDto", .open = true,
                                             .properties = retrieve_entities};

static const Property iteration_params[] = {
    {"eventType", STRING, .fallback = "\"ITERATE\""},
    {"topicName", STRING, REQUIRED},
    {0},
};

const RecordType iteration_params_record = {"IterationJobParams", .properties = iteration_params};

static const Property hierarchy_request[] = {
    {"instanceIds", STRING, REQUIRED | ARRAY | NO_EMPTY},
    {"skipSuppressedFromDiscoveryRecords", BOOLEAN, REQUIRED},
    {0},
};

const RecordType hierarchy_request_record = {"InventoryInstanceIds",
                                             .properties = hierarchy_request};
