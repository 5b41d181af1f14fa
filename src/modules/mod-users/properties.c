// Shapes of the records of mod-users.
#include "modules/mod-users/properties.h"

#include "modules/shared_properties.h"

static const Property addresses[] = {
    {"id", STRING},
    {"countryId", STRING},
    {"addressLine1", STRING},
    {"addressLine2", STRING},
    {"city", STRING},
    {"region", STRING},
    {"postalCode", STRING},
    {"addressTypeId", ID, REQUIRED},
    {"primaryAddress", BOOLEAN},
    {0},
};

static const Property personal[] = {
    {"pronouns", STRING, .max_len = 300},
    {"lastName", STRING, REQUIRED},
    {"firstName", STRING},
    {"middleName", STRING},
    {"preferredFirstName", STRING},
    {"email", STRING},
    {"phone", STRING},
    {"mobilePhone", STRING},
    {"dateOfBirth", DATE_TIME},
    {"addresses", OBJECT, ARRAY, .of = addresses},
    {"preferredContactTypeId", STRING},
    {"preferredContactTypeIds", STRING, ARRAY},
    {"profilePictureLink", STRING},
    {0},
};

static const char *const email_topics[] = {"Support", "Programs", "Services", NULL};

static const Property user[] = {
    {"username", STRING},
    {"id", ID},
    {"externalSystemId", STRING},
    {"barcode", STRING},
    {"active", BOOLEAN},
    {"type", STRING},
    {"patronGroup", ID},
    {"departments", ID, ARRAY | UNIQUE_ITEMS},
    {"meta", OBJECT},
    {"proxyFor", STRING, ARRAY},
    {"personal", OBJECT, .of = personal},
    {"enrollmentDate", DATE_TIME},
    {"expirationDate", DATE_TIME},
    {"createdDate", DATE_TIME},
    {"updatedDate", DATE_TIME},
    {"metadata", METADATA},
    {"tags", OBJECT, .of = tags_properties},
    {"customFields", OBJECT},
    {"preferredEmailCommunication", STRING, ARRAY | UNIQUE_ITEMS, .max_len = 3,
     .one_of = email_topics},
    {0},
};

const RecordType user_record = {"User", .properties = user};

static const Property user_group[] = {
    {"group", STRING, REQUIRED},
    {"desc", STRING},
    {"id", ID},
    {"expirationOffsetInDays", INTEGER},
    {"source", STRING},
    {"metadata", METADATA},
    {0},
};

const RecordType user_group_record = {"Usergroup", .open = true, .properties = user_group};

static const Property address_type[] = {
    {"addressType", STRING, REQUIRED}, {"desc", STRING}, {"id", ID}, {"metadata", METADATA}, {0},
};

const RecordType address_type_record = {"AddressType", .properties = address_type};

static const Property department[] = {
    {"id", ID},
    {"name", STRING, REQUIRED},
    {"code", STRING, REQUIRED},
    {"usageNumber", INTEGER, READ_ONLY},
    {"source", STRING},
    {"metadata", METADATA},
    {0},
};

const RecordType department_record = {"Department", .properties = department};

static const Property proxy[] = {
    {"userId", STRING},
    {"proxyUserId", STRING},
    {"id", ID},
    {"requestForSponsor", STRING},
    {"createdDate", DATE_TIME},
    {"notificationsTo", STRING},
    {"accrueTo", STRING},
    {"status", STRING},
    {"expirationDate", DATE_TIME},
    {"metadata", METADATA},
    {0},
};

const RecordType proxy_record = {"ProxiesFor", .properties = proxy};

static const Property user_tenant[] = {
    {"id", ID},
    {"userId", ID, REQUIRED},
    {"username", STRING},
    {"tenantId", STRING, REQUIRED},
    {"centralTenantId", STRING},
    {"phoneNumber", STRING},
    {"mobilePhoneNumber", STRING},
    {"email", STRING},
    {"barcode", STRING},
    {"externalSystemId", STRING},
    {"consortiumId", ID},
    {0},
};

const RecordType user_tenant_record = {"UserTenant", .properties = user_tenant};

// Holds salt and hash of the PIN beside its id, which is the user id: never served.
static const Property patron_pin[] = {
    {"id", ID}, {"pin", STRING}, {"salt", STRING}, {"hash", STRING}, {"metadata", METADATA}, {0},
};

const RecordType patron_pin_record = {"Patronpin", .open = true, .properties = patron_pin};

static const char *const staging_tiers[] = {"TIER-1", "TIER-2", NULL};

static const Property general_info[] = {
    {"firstName", STRING, REQUIRED},
    {"preferredFirstName", STRING},
    {"middleName", STRING},
    {"lastName", STRING, REQUIRED},
    {0},
};

static const Property address_info[] = {
    {"addressLine0", STRING},
    {"addressLine1", STRING},
    {"city", STRING},
    {"province", STRING},
    {"zip", STRING},
    {"country", STRING},
    {0},
};

static const Property contact_info[] = {
    {"phone", STRING},
    {"mobilePhone", STRING},
    {"email", STRING, REQUIRED},
    {0},
};

static const Property staging_user[] = {
    {"id", ID},
    {"isEmailVerified", BOOLEAN},
    {"minor", BOOLEAN},
    {"status", STRING, .one_of = staging_tiers},
    {"externalSystemId", STRING},
    {"generalInfo", OBJECT, REQUIRED, .of = general_info},
    {"addressInfo", OBJECT, .of = address_info},
    {"contactInfo", OBJECT, REQUIRED, .of = contact_info},
    {"preferredEmailCommunication", STRING, ARRAY | UNIQUE_ITEMS, .max_len = 3,
     .one_of = email_topics},
    {"metadata", METADATA},
    {0},
};

const RecordType staging_user_record = {"StagingUser", .properties = staging_user};

static const char *const setting_scopes[] = {"mod-users", NULL};

static const Property user_setting[] = {
    {"id", ID},
    {"scope", STRING, REQUIRED, .one_of = setting_scopes},
    {"key", STRING, REQUIRED},
    {"value", ANY, REQUIRED},
    {"userId", ID},
    {"_version", INTEGER},
    {"metadata", METADATA},
    {0},
};

const RecordType user_setting_record = {"Setting", .properties = user_setting};

static const Property profile_picture[] = {
    {"id", ID, REQUIRED},
    {"profile_picture_blob", STRING, REQUIRED},
    {"hmac", STRING},
    {0},
};

const RecordType profile_picture_record = {"ProfilePicture", .open = true,
                                           .properties = profile_picture};

static const Property picture_settings[] = {
    {"id", ID},
    {"configName", STRING, REQUIRED},
    {"enabled", BOOLEAN, .fallback = "false"},
    {"enabledObjectStorage", BOOLEAN, .fallback = "false"},
    {"encryptionKey", STRING},
    {"maxFileSize", DECIMAL},
    {"metadata", METADATA},
    {0},
};

const RecordType picture_settings_record = {"Config", .properties = picture_settings};

static const char *const custom_field_types[] = {"RADIO_BUTTON",
                                                 "SINGLE_CHECKBOX",
                                                 "SINGLE_SELECT_DROPDOWN",
                                                 "MULTI_SELECT_DROPDOWN",
                                                 "TEXTBOX_SHORT",
                                                 "TEXTBOX_LONG",
                                                 "DATE_PICKER",
                                                 NULL};

static const Property checkbox_field[] = {
    {"default", BOOLEAN},
    {0},
};

static const Property option_values[] = {
    {"id", STRING},
    {"value", STRING},
    {"default", BOOLEAN},
    {0},
};

static const char *const sorting_orders[] = {"ASC", "DESC", "CUSTOM", NULL};

static const Property options[] = {
    {"values", OBJECT, ARRAY, .of = option_values},
    {"sortingOrder", STRING, .one_of = sorting_orders},
    {"sorted", STRING, ARRAY},
    {0},
};

static const Property select_field[] = {
    {"defaults", STRING, ARRAY},
    {"multiSelect", BOOLEAN},
    {"options", OBJECT, .of = options},
    {0},
};

static const char *const text_formats[] = {"TEXT", "NUMBER", "EMAIL", "URL", NULL};

static const Property text_field[] = {
    {"maxSize", INTEGER},
    {"fieldFormat", STRING, .one_of = text_formats, .fallback = "\"TEXT\""},
    {0},
};

// Definitions of the fields that a library adds to its users. Source: spec/platform.md 4.2.
static const Property custom_field[] = {
    {"id", ID},
    {"name", STRING, REQUIRED},
    {"refId", STRING},
    {"type", STRING, REQUIRED, .one_of = custom_field_types},
    {"entityType", STRING, REQUIRED},
    {"visible", BOOLEAN, .fallback = "true"},
    {"required", BOOLEAN, .fallback = "false"},
    {"isRepeatable", BOOLEAN, .fallback = "false"},
    {"order", INTEGER},
    {"helpText", STRING},
    {"displayInAccordion", STRING},
    {"checkboxField", OBJECT, .of = checkbox_field},
    {"selectField", OBJECT, .of = select_field},
    {"textField", OBJECT, .of = text_field},
    {"metadata", METADATA},
    {0},
};

const RecordType custom_field_record = {"CustomField", .properties = custom_field};
