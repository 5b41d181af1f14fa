// Shapes of the records of mod-settings. The time of a change is kept with each of them, because
// of several places that hold a setting the one changed last wins (decision 14).
#include "modules/mod-settings/properties.h"

static const Property entry[] = {
    {"id", ID, REQUIRED},
    {"scope", STRING, REQUIRED},
    {"key", STRING, REQUIRED},
    {"value", ANY, REQUIRED},
    {"userId", ID},
    {"metadata", METADATA},
    {0},
};

const RecordType settings_entry_record = {"Entry", .properties = entry};

static const Property upload[] = {
    {"scope", STRING, REQUIRED},
    {"key", STRING, REQUIRED},
    {"value", ANY, REQUIRED},
    {"userId", ID},
    {0},
};

const RecordType settings_upload_record = {"Entry", .properties = upload};

static const Property locale[] = {
    {"id", ID},
    {"locale", STRING},
    {"currency", STRING},
    {"timezone", STRING},
    {"numberingSystem", STRING},
    {"metadata", METADATA},
    {0},
};

const RecordType settings_locale_record = {"LocaleSettings", .properties = locale};

static const Property base_url[] = {
    {"id", ID},
    {"baseUrl", STRING, REQUIRED},
    {"metadata", METADATA},
    {0},
};

const RecordType settings_base_url_record = {"BaseUrl", .properties = base_url};

static const Property address[] = {
    {"id", ID}, {"name", STRING, REQUIRED}, {"address", STRING, REQUIRED}, {"metadata", METADATA},
    {0},
};

const RecordType tenant_address_record = {"TenantAddress", .properties = address};
