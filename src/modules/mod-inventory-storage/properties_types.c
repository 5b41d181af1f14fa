// Shapes of the reference records of mod-inventory-storage.
#include "modules/mod-inventory-storage/properties.h"

// Shared by most.
static const Property name_and_source[] = {
    {"id", ID}, {"name", STRING, REQUIRED}, {"source", STRING, REQUIRED}, {"metadata", METADATA},
    {0},
};

static const Property name_and_optional_source[] = {
    {"id", ID}, {"name", STRING, REQUIRED}, {"source", STRING}, {"metadata", METADATA}, {0},
};

static const Property name_code_and_source[] = {
    {"id", ID},
    {"name", STRING, REQUIRED},
    {"code", STRING, REQUIRED},
    {"source", STRING, REQUIRED},
    {"metadata", METADATA},
    {0},
};

const RecordType alternative_title_type_record = {"AlternativeTitleType",
                                                  .properties = name_and_source};

const RecordType call_number_type_record = {"CallNumberType", .properties = name_and_source};

const RecordType classification_type_record = {"ClassificationType", .open = true,
                                               .properties = name_and_optional_source};

static const Property contributor_name_type[] = {
    {"id", ID},         {"name", STRING, REQUIRED}, {"ordering", STRING},
    {"source", STRING}, {"metadata", METADATA},     {0},
};

const RecordType contributor_name_type_record = {"ContributorNameType", .open = true,
                                                 .properties = contributor_name_type};

const RecordType contributor_type_record = {"ContributorType", .open = true,
                                            .properties = name_code_and_source};

const RecordType electronic_access_relationship_record = {
    "ElectronicAccessRelationship", .open = true, .properties = name_and_optional_source};

const RecordType holdings_note_type_record = {"HoldingsNoteType", .properties = name_and_source};

static const char *const record_sources[] = {"folio", "local", "consortium", NULL};

static const Property holdings_source[] = {
    {"id", ID},
    {"name", STRING, REQUIRED},
    {"source", STRING, .one_of = record_sources},
    {"metadata", METADATA},
    {0},
};

const RecordType holdings_source_record = {"HoldingsRecordsSource", .open = true,
                                           .properties = holdings_source};

const RecordType holdings_type_record = {"HoldingsType", .properties = name_and_source};

const RecordType identifier_type_record = {"IdentifierType", .open = true,
                                           .properties = name_and_optional_source};

const RecordType ill_policy_record = {"IllPolicy", .properties = name_and_source};

static const Property display_format[] = {
    {"delimiter", STRING, READ_ONLY},
    {"keepDelimiter", BOOLEAN, READ_ONLY},
    {0},
};

static const char *const date_type_sources[] = {"folio", "local", NULL};

static const Property instance_date_type[] = {
    {"id", ID, READ_ONLY},
    {"name", STRING, READ_ONLY},
    {"code", STRING, READ_ONLY, .max_len = 1},
    {"displayFormat", OBJECT, READ_ONLY, .of = display_format},
    {"source", STRING, READ_ONLY, .one_of = date_type_sources},
    {"metadata", METADATA},
    {0},
};

const RecordType instance_date_type_record = {"InstanceDateType", .properties = instance_date_type};

const RecordType instance_format_record = {"InstanceFormat", .open = true,
                                           .properties = name_code_and_source};

const RecordType instance_note_type_record = {"InstanceNoteType", .properties = name_and_source};

static const Property instance_relationship_type[] = {
    {"id", ID},
    {"name", STRING, REQUIRED},
    {"metadata", METADATA},
    {0},
};

const RecordType instance_relationship_type_record = {"InstanceRelationshipType", .open = true,
                                                      .properties = instance_relationship_type};

static const Property instance_status[] = {
    {"id", ID},
    {"code", STRING, REQUIRED},
    {"name", STRING, REQUIRED},
    {"source", STRING, REQUIRED},
    {"metadata", METADATA},
    {0},
};

const RecordType instance_status_record = {"InstanceStatus", .open = true,
                                           .properties = instance_status};

const RecordType instance_type_record = {"InstanceType", .open = true,
                                         .properties = name_code_and_source};

const RecordType item_damaged_status_record = {"ItemDamageStatus", .properties = name_and_source};

const RecordType item_note_type_record = {"ItemNoteType", .properties = name_and_source};

static const Property loan_type[] = {
    {"id", ID},
    {"name", STRING, REQUIRED},
    {"source", STRING, .fallback = "\"local\""},
    {"metadata", METADATA},
    {0},
};

const RecordType loan_type_record = {"Loantype", .properties = loan_type};

const RecordType material_type_record = {"Mtype", .properties = name_and_optional_source};

const RecordType mode_of_issuance_record = {"IssuanceMode", .open = true,
                                            .properties = name_and_optional_source};

const RecordType nature_of_content_term_record = {"NatureOfContentTerm",
                                                  .properties = name_and_source};

const RecordType statistical_code_type_record = {"StatisticalCodeType", .open = true,
                                                 .properties = name_and_source};

static const Property statistical_code[] = {
    {"id", ID},
    {"code", STRING, REQUIRED},
    {"name", STRING, REQUIRED},
    {"statisticalCodeTypeId", ID, REQUIRED},
    {"source", STRING, REQUIRED},
    {"metadata", METADATA},
    {0},
};

const RecordType statistical_code_record = {"StatisticalCode", .properties = statistical_code};

static const Property subject_source[] = {
    {"id", ID},
    {"name", STRING, REQUIRED},
    {"code", STRING},
    {"source", STRING, REQUIRED, .one_of = record_sources},
    {"metadata", METADATA},
    {0},
};

const RecordType subject_source_record = {"SubjectSource", .open = true,
                                          .properties = subject_source};

static const Property subject_type[] = {
    {"id", ID},
    {"name", STRING, REQUIRED},
    {"source", STRING, REQUIRED, .one_of = record_sources},
    {"metadata", METADATA},
    {0},
};

const RecordType subject_type_record = {"SubjectType", .open = true, .properties = subject_type};
