// Collections of mod-inventory-storage: reference records.
#include "modules/mod-inventory-storage/collections.h"

#include "modules/mod-inventory-storage/properties.h"
#include "modules/mod-inventory-storage/storage.h"

static const Field unique_name[] = {
    {"name", "name", TEXT | UNIQUE},
    {0},
};

const Collection alternative_title_types = {
    .table = "alternative_title_type",
    .path = "/alternative-title-types",
    .list_key = "alternativeTitleTypes",
    .ops = "LCrud",
    .permission = "inventory-storage.alternative-title-types",
    .record = &alternative_title_type_record,
    .fields = unique_name,
    .is_cached = true,
    .put_errors_are_text = true,
};

const Collection call_number_types = {
    .table = "call_number_type",
    .path = "/call-number-types",
    .list_key = "callNumberTypes",
    .ops = "LCr",
    .permission = "inventory-storage.call-number-types",
    .record = &call_number_type_record,
    .fields = unique_name,
    .is_cached = true,
    .put_errors_are_text = true,
    .event = "inventory.call-number-type",
};

const Collection classification_types = {
    .table = "classification_type",
    .path = "/classification-types",
    .list_key = "classificationTypes",
    .ops = "LCrud",
    .permission = "inventory-storage.classification-types",
    .record = &classification_type_record,
    .fields = unique_name,
    .is_cached = true,
    .put_errors_are_text = true,
    .event = "inventory.classification-type",
};

const Collection contributor_name_types = {
    .table = "contributor_name_type",
    .path = "/contributor-name-types",
    .list_key = "contributorNameTypes",
    .ops = "LCrud",
    .permission = "inventory-storage.contributor-name-types",
    .record = &contributor_name_type_record,
    .fields = unique_name,
    .is_cached = true,
    .put_errors_are_text = true,
};

static const Field unique_name_and_code[] = {
    {"name", "name", TEXT | UNIQUE},
    {"code", "code", TEXT | UNIQUE},
    {0},
};

const Collection contributor_types = {
    .table = "contributor_type",
    .path = "/contributor-types",
    .list_key = "contributorTypes",
    .ops = "LCrud",
    .permission = "inventory-storage.contributor-types",
    .record = &contributor_type_record,
    .fields = unique_name_and_code,
    .is_cached = true,
    .put_errors_are_text = true,
};

const Collection electronic_access_relationships = {
    .table = "electronic_access_relationship",
    .path = "/electronic-access-relationships",
    .list_key = "electronicAccessRelationships",
    .ops = "LCrud",
    .permission = "inventory-storage.electronic-access-relationships",
    .record = &electronic_access_relationship_record,
    .fields = unique_name,
    .is_cached = true,
    .put_errors_are_text = true,
};

const Collection holdings_note_types = {
    .table = "holdings_note_type",
    .path = "/holdings-note-types",
    .list_key = "holdingsNoteTypes",
    .ops = "LCrud",
    .permission = "inventory-storage.holdings-note-types",
    .record = &holdings_note_type_record,
    .fields = unique_name,
    .is_cached = true,
    .put_errors_are_text = true,
};

const Collection holdings_sources = {
    .table = "holdings_records_source",
    .path = "/holdings-sources",
    .list_key = "holdingsRecordsSources",
    .ops = "LCru",
    .permission = "inventory-storage.holdings-sources",
    .record = &holdings_source_record,
    .fields = unique_name,
    .is_cached = true,
    .put_errors_are_text = true,
};

const Collection holdings_types = {
    .table = "holdings_type",
    .path = "/holdings-types",
    .list_key = "holdingsTypes",
    .ops = "LCrud",
    .permission = "inventory-storage.holdings-types",
    .record = &holdings_type_record,
    .fields = unique_name,
    .is_cached = true,
    .put_errors_are_text = true,
};

const Collection identifier_types = {
    .table = "identifier_type",
    .path = "/identifier-types",
    .list_key = "identifierTypes",
    .ops = "LCrud",
    .permission = "inventory-storage.identifier-types",
    .record = &identifier_type_record,
    .fields = unique_name,
    .is_cached = true,
    .put_errors_are_text = true,
};

const Collection ill_policies = {
    .table = "ill_policy",
    .path = "/ill-policies",
    .list_key = "illPolicies",
    .ops = "LCrud",
    .permission = "inventory-storage.ill-policies",
    .record = &ill_policy_record,
    .fields = unique_name,
    .is_cached = true,
    .put_errors_are_text = true,
};

static const Field instance_date_types_fields[] = {
    {"code", "code", TEXT | INDEX},
    {"name", "name", TEXT | INDEX},
    {0},
};

const Collection instance_date_types = {
    .table = "instance_date_type",
    .path = "/instance-date-types",
    .list_key = "instanceDateTypes",
    .ops = "L",
    .permission = "inventory-storage.instance-date-types",
    .record = &instance_date_type_record,
    .fields = instance_date_types_fields,
    .is_cached = true,
    .put_errors_are_text = true,
    .event = "inventory.instance-date-type",
};

const Collection instance_formats = {
    .table = "instance_format",
    .path = "/instance-formats",
    .list_key = "instanceFormats",
    .ops = "LCrud",
    .permission = "inventory-storage.instance-formats",
    .record = &instance_format_record,
    .fields = unique_name_and_code,
    .is_cached = true,
    .put_errors_are_text = true,
};

const Collection instance_note_types = {
    .table = "instance_note_type",
    .path = "/instance-note-types",
    .list_key = "instanceNoteTypes",
    .ops = "LCrud",
    .permission = "inventory-storage.instance-note-types",
    .record = &instance_note_type_record,
    .fields = unique_name,
    .is_cached = true,
    .put_errors_are_text = true,
};

const Collection instance_relationship_types = {
    .table = "instance_relationship_type",
    .path = "/instance-relationship-types",
    .list_key = "instanceRelationshipTypes",
    .ops = "LCrud",
    .permission = "inventory-storage.instance-relationship-types",
    .record = &instance_relationship_type_record,
    .fields = unique_name,
    .is_cached = true,
    .put_errors_are_text = true,
};

const Collection instance_statuses = {
    .table = "instance_status",
    .path = "/instance-statuses",
    .list_key = "instanceStatuses",
    .ops = "LCrud",
    .permission = "inventory-storage.instance-statuses",
    .record = &instance_status_record,
    .fields = unique_name_and_code,
    .is_cached = true,
    .put_errors_are_text = true,
};

const Collection instance_types = {
    .table = "instance_type",
    .path = "/instance-types",
    .list_key = "instanceTypes",
    .ops = "LCrud",
    .permission = "inventory-storage.instance-types",
    .record = &instance_type_record,
    .fields = unique_name_and_code,
    .is_cached = true,
    .put_errors_are_text = true,
};

const Collection item_damaged_statuses = {
    .table = "item_damaged_status",
    .path = "/item-damaged-statuses",
    .list_key = "itemDamageStatuses",
    .ops = "LCrud",
    .permission = "inventory-storage.item-damaged-statuses",
    .record = &item_damaged_status_record,
    .fields = unique_name,
    .is_cached = true,
    .put_errors_are_text = true,
};

const Collection item_note_types = {
    .table = "item_note_type",
    .path = "/item-note-types",
    .list_key = "itemNoteTypes",
    .ops = "LCrud",
    .permission = "inventory-storage.item-note-types",
    .record = &item_note_type_record,
    .fields = unique_name,
    .is_cached = true,
    .put_errors_are_text = true,
};

const Collection loan_types = {
    .table = "loan_type",
    .path = "/loan-types",
    .list_key = "loantypes",
    .ops = "LCrud",
    .permission = "inventory-storage.loan-types",
    .record = &loan_type_record,
    .fields = unique_name,
    .is_cached = true,
    .put_errors_are_text = true,
    .event = "inventory.loan-type",
};

const Collection material_types = {
    .table = "material_type",
    .path = "/material-types",
    .list_key = "mtypes",
    .ops = "LCrud",
    .permission = "inventory-storage.material-types",
    .record = &material_type_record,
    .fields = unique_name,
    .is_cached = true,
    .put_errors_are_text = true,
    .event = "inventory.material-type",
};

const Collection modes_of_issuance = {
    .table = "mode_of_issuance",
    .path = "/modes-of-issuance",
    .list_key = "issuanceModes",
    .ops = "LCrud",
    .permission = "inventory-storage.modes-of-issuance",
    .record = &mode_of_issuance_record,
    .fields = unique_name,
    .is_cached = true,
    .put_errors_are_text = true,
};

const Collection nature_of_content_terms = {
    .table = "nature_of_content_term",
    .path = "/nature-of-content-terms",
    .list_key = "natureOfContentTerms",
    .ops = "LCrud",
    .permission = "inventory-storage.nature-of-content-terms",
    .record = &nature_of_content_term_record,
    .fields = unique_name,
    .is_cached = true,
    .put_errors_are_text = true,
};

static const Field statistical_code_types_fields[] = {
    {"code", "code", TEXT | UNIQUE},
    {"name", "name", TEXT | INDEX},
    {0},
};

const Collection statistical_code_types = {
    .table = "statistical_code_type",
    .path = "/statistical-code-types",
    .list_key = "statisticalCodeTypes",
    .ops = "LCrud",
    .permission = "inventory-storage.statistical-code-types",
    .record = &statistical_code_type_record,
    .fields = statistical_code_types_fields,
    .is_cached = true,
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
    .table = "statistical_code",
    .path = "/statistical-codes",
    .list_key = "statisticalCodes",
    .ops = "LCrud",
    .permission = "inventory-storage.statistical-codes",
    .record = &statistical_code_record,
    .fields = statistical_codes_fields,
    .uniques = statistical_codes_keys,
    .is_cached = true,
    .before_delete = statistical_code_before_delete,
    .put_errors_are_text = true,
};

const Collection subject_sources = {
    .table = "subject_source",
    .path = "/subject-sources",
    .list_key = "subjectSources",
    .ops = "Lr",
    .permission = "inventory-storage.subject-sources",
    .record = &subject_source_record,
    .fields = unique_name_and_code,
    .is_cached = true,
    .event = "inventory.subject-source",
};

const Collection subject_types = {
    .table = "subject_type",
    .path = "/subject-types",
    .list_key = "subjectTypes",
    .ops = "Lr",
    .permission = "inventory-storage.subject-types",
    .record = &subject_type_record,
    .fields = unique_name,
    .is_cached = true,
    .event = "inventory.subject-type",
};
