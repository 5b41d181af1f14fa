// Collections of mod-inventory-storage: reference records.
#include "modules/mod-inventory-storage/collections.h"

#include "modules/mod-inventory-storage/properties.h"
#include "modules/mod-inventory-storage/storage.h"

// What they have in common: table, path below /, key of the list, operations.
#define TYPES(table_, path_, list_key_, ops_)                                                      \
    .table = table_, .path = "/" path_, .list_key = list_key_, .ops = ops_,                        \
    .permission = "inventory-storage." path_, .is_cached = true

static const Field unique_name[] = {
    {"name", "name", TEXT | UNIQUE},
    {0},
};

const Collection alternative_title_types = {
    TYPES("alternative_title_type", "alternative-title-types", "alternativeTitleTypes", "LCrud"),
    .record = &alternative_title_type_record,
    .fields = unique_name,
    .put_errors_are_text = true,
};

const Collection call_number_types = {
    TYPES("call_number_type", "call-number-types", "callNumberTypes", "LCr"),
    .record = &call_number_type_record,
    .fields = unique_name,
    .put_errors_are_text = true,
    .event = "inventory.call-number-type",
};

const Collection classification_types = {
    TYPES("classification_type", "classification-types", "classificationTypes", "LCrud"),
    .record = &classification_type_record,
    .fields = unique_name,
    .put_errors_are_text = true,
    .event = "inventory.classification-type",
};

const Collection contributor_name_types = {
    TYPES("contributor_name_type", "contributor-name-types", "contributorNameTypes", "LCrud"),
    .record = &contributor_name_type_record,
    .fields = unique_name,
    .put_errors_are_text = true,
};

static const Field unique_name_and_code[] = {
    {"name", "name", TEXT | UNIQUE},
    {"code", "code", TEXT | UNIQUE},
    {0},
};

const Collection contributor_types = {
    TYPES("contributor_type", "contributor-types", "contributorTypes", "LCrud"),
    .record = &contributor_type_record,
    .fields = unique_name_and_code,
    .put_errors_are_text = true,
};

const Collection electronic_access_relationships = {
    TYPES("electronic_access_relationship", "electronic-access-relationships",
          "electronicAccessRelationships", "LCrud"),
    .record = &electronic_access_relationship_record,
    .fields = unique_name,
    .put_errors_are_text = true,
};

const Collection holdings_note_types = {
    TYPES("holdings_note_type", "holdings-note-types", "holdingsNoteTypes", "LCrud"),
    .record = &holdings_note_type_record,
    .fields = unique_name,
    .put_errors_are_text = true,
};

const Collection holdings_sources = {
    TYPES("holdings_records_source", "holdings-sources", "holdingsRecordsSources", "LCru"),
    .record = &holdings_source_record,
    .fields = unique_name,
    .put_errors_are_text = true,
};

const Collection holdings_types = {
    TYPES("holdings_type", "holdings-types", "holdingsTypes", "LCrud"),
    .record = &holdings_type_record,
    .fields = unique_name,
    .put_errors_are_text = true,
};

const Collection identifier_types = {
    TYPES("identifier_type", "identifier-types", "identifierTypes", "LCrud"),
    .record = &identifier_type_record,
    .fields = unique_name,
    .put_errors_are_text = true,
};

const Collection ill_policies = {
    TYPES("ill_policy", "ill-policies", "illPolicies", "LCrud"),
    .record = &ill_policy_record,
    .fields = unique_name,
    .put_errors_are_text = true,
};

static const Field instance_date_types_fields[] = {
    {"code", "code", TEXT | INDEX},
    {"name", "name", TEXT | INDEX},
    {0},
};

const Collection instance_date_types = {
    TYPES("instance_date_type", "instance-date-types", "instanceDateTypes", "L"),
    .record = &instance_date_type_record,
    .fields = instance_date_types_fields,
    .put_errors_are_text = true,
    .event = "inventory.instance-date-type",
};

const Collection instance_formats = {
    TYPES("instance_format", "instance-formats", "instanceFormats", "LCrud"),
    .record = &instance_format_record,
    .fields = unique_name_and_code,
    .put_errors_are_text = true,
};

const Collection instance_note_types = {
    TYPES("instance_note_type", "instance-note-types", "instanceNoteTypes", "LCrud"),
    .record = &instance_note_type_record,
    .fields = unique_name,
    .put_errors_are_text = true,
};

const Collection instance_relationship_types = {
    TYPES("instance_relationship_type", "instance-relationship-types", "instanceRelationshipTypes",
          "LCrud"),
    .record = &instance_relationship_type_record,
    .fields = unique_name,
    .put_errors_are_text = true,
};

const Collection instance_statuses = {
    TYPES("instance_status", "instance-statuses", "instanceStatuses", "LCrud"),
    .record = &instance_status_record,
    .fields = unique_name_and_code,
    .put_errors_are_text = true,
};

const Collection instance_types = {
    TYPES("instance_type", "instance-types", "instanceTypes", "LCrud"),
    .record = &instance_type_record,
    .fields = unique_name_and_code,
    .put_errors_are_text = true,
};

const Collection item_damaged_statuses = {
    TYPES("item_damaged_status", "item-damaged-statuses", "itemDamageStatuses", "LCrud"),
    .record = &item_damaged_status_record,
    .fields = unique_name,
    .put_errors_are_text = true,
};

const Collection item_note_types = {
    TYPES("item_note_type", "item-note-types", "itemNoteTypes", "LCrud"),
    .record = &item_note_type_record,
    .fields = unique_name,
    .put_errors_are_text = true,
};

const Collection loan_types = {
    TYPES("loan_type", "loan-types", "loantypes", "LCrud"),
    .record = &loan_type_record,
    .fields = unique_name,
    .put_errors_are_text = true,
    .event = "inventory.loan-type",
};

const Collection material_types = {
    TYPES("material_type", "material-types", "mtypes", "LCrud"),
    .record = &material_type_record,
    .fields = unique_name,
    .put_errors_are_text = true,
    .event = "inventory.material-type",
};

const Collection modes_of_issuance = {
    TYPES("mode_of_issuance", "modes-of-issuance", "issuanceModes", "LCrud"),
    .record = &mode_of_issuance_record,
    .fields = unique_name,
    .put_errors_are_text = true,
};

const Collection nature_of_content_terms = {
    TYPES("nature_of_content_term", "nature-of-content-terms", "natureOfContentTerms", "LCrud"),
    .record = &nature_of_content_term_record,
    .fields = unique_name,
    .put_errors_are_text = true,
};

static const Field statistical_code_types_fields[] = {
    {"code", "code", TEXT | UNIQUE},
    {"name", "name", TEXT | INDEX},
    {0},
};

const Collection statistical_code_types = {
    TYPES("statistical_code_type", "statistical-code-types", "statisticalCodeTypes", "LCrud"),
    .record = &statistical_code_type_record,
    .fields = statistical_code_types_fields,
    .put_errors_are_text = true,
};

static const Field statistical_codes_fields[] = {
    {"statistical_code_type_id", "statisticalCodeTypeId", UUID | INDEX,
     .references = &statistical_code_types},
    {"code", "code", TEXT},
    {"name", "name", TEXT | UNIQUE},
    {0},
};

static const UniqueKey statistical_codes_keys[] = {
    {"code, statistical_code_type_id"},
    {0},
};

const Collection statistical_codes = {
    TYPES("statistical_code", "statistical-codes", "statisticalCodes", "LCrud"),
    .record = &statistical_code_record,
    .fields = statistical_codes_fields,
    .uniques = statistical_codes_keys,
    .before_delete = statistical_code_before_delete,
    .put_errors_are_text = true,
};

const Collection subject_sources = {
    TYPES("subject_source", "subject-sources", "subjectSources", "Lr"),
    .record = &subject_source_record,
    .fields = unique_name_and_code,
    .event = "inventory.subject-source",
};

const Collection subject_types = {
    TYPES("subject_type", "subject-types", "subjectTypes", "Lr"),
    .record = &subject_type_record,
    .fields = unique_name,
    .event = "inventory.subject-type",
};
