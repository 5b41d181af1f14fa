// Shapes of the records of mod-configuration.
#include "modules/mod-configuration/properties.h"

static const Property configuration[] = {
    {"id", ID},
    {"module", STRING, REQUIRED},
    {"configName", STRING, REQUIRED},
    {"code", STRING},
    {"description", STRING},
    {"default", BOOLEAN},
    {"enabled", BOOLEAN, .fallback = "true"},
    {"value", STRING},
    {"userId", STRING},
    {"metadata", METADATA},
    {0},
};

const RecordType configuration_record = {"Config", .properties = configuration};

static const Property configuration_audit[] = {
    {"id", ID},     {"orig_id", STRING},     {"operation", STRING},
    {"jsonb", ANY}, {"createdDate", STRING}, {0},
};

const RecordType configuration_audit_record = {"Audit", .open = true,
                                               .properties = configuration_audit};
