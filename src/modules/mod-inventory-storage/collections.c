// Collections of mod-inventory-storage: instances, holdings, items and their links.
#include "modules/mod-inventory-storage/collections.h"

#include "modules/mod-inventory-storage/properties.h"
#include "modules/mod-inventory-storage/isbn.h"
#include "modules/mod-inventory-storage/storage.h"

static const Field instances_fields[] = {
    {"mode_of_issuance_id", "modeOfIssuanceId", UUID | INDEX, .references = &modes_of_issuance},
    {"date_type_id", "dates.dateTypeId", UUID | INDEX, .references = &instance_date_types},
    {"instance_type_id", "instanceTypeId", UUID | INDEX, .references = &instance_types},
    {"hrid", "hrid", TEXT | UNIQUE},
    {"match_key", "matchKey", TEXT | UNIQUE},
    {"source", "source", TEXT | INDEX | COARSE},
    {"index_title", "indexTitle", TEXT | INDEX},
    {"title", "title", TEXT | INDEX | WORDS},
    {"source_uri", "sourceUri", TEXT | INDEX},
    {"statistical_code_ids", "statisticalCodeIds", TREE | WORDS | NO_COLUMN},
    {"is_staff_suppressed", "staffSuppress", FLAG | INDEX},
    {"is_discovery_suppressed", "discoverySuppress", FLAG | INDEX},
    {"updated_at", "metadata.updatedDate", TIME | INDEX},
    {"identifiers", "identifiers", TREE | WORDS | NO_COLUMN, .elements = "value identifierTypeId"},
    {"status_id", "statusId", TEXT | INDEX | COARSE},
    {"contributors", "contributors", TREE | WORDS | NO_COLUMN,
     .elements = "name contributorNameTypeId"},
    {"languages", "languages", TREE | WORDS | NO_COLUMN},
    {"subjects", "subjects", TREE | WORDS | NO_COLUMN},
    {"keyword", "title,contributors[*].name,identifiers[*].value", TEXT | WORDS | NO_COLUMN,
     .cql_name = "keyword"},
    {"instance_status_id", "statusId", TEXT, .cql_name = "instanceStatusId"},
    {"created_at", "metadata.createdDate", TIME},
    {"nature_of_content_term_ids", "natureOfContentTermIds", TREE | WORDS | NO_COLUMN},
    {"isbn", "identifiers", TEXT | WORDS | NO_COLUMN, .cql_name = "isbn", .compute = isbn_text,
     .compute_term = isbn_term},
    {"invalid_isbn", "identifiers", TEXT | WORDS | NO_COLUMN, .cql_name = "invalidIsbn",
     .compute = invalid_isbn_text, .compute_term = isbn_term},
    {0},
};

static const Join instances_joins[] = {
    {"holdingsRecords", &holdings, .child_column = "instance_id"},
    {"item", &items, .child_column = "holdings_record_id", .via = &holdings,
     .via_column = "instance_id"},
    {0},
};

const Collection instances = {
    .table = "instance",
    .path = "/instance-storage/instances",
    .list_key = "instances",
    .ops = "LCrd",
    .permission = "inventory-storage.instances",
    .record = &instance_record,
    .fields = instances_fields,
    .joins = instances_joins,
    .locking = FAIL_ON_CONFLICT,
    .post_errors_are_text = true,
    .put_errors_are_text = true,
    .event = "inventory.instance",
    .has_result_info = true,
    .before_write = instance_before_write,
    .after_write = instance_after_write,
    .explain = instance_explain,
};

static const Field holdings_fields[] = {
    {"instance_id", "instanceId", UUID | INDEX, .references = &instances},
    {"permanent_location_id", "permanentLocationId", UUID | INDEX, .references = &locations},
    {"temporary_location_id", "temporaryLocationId", UUID | INDEX, .references = &locations},
    {"effective_location_id", "effectiveLocationId", UUID | INDEX, .references = &locations},
    {"holdings_type_id", "holdingsTypeId", UUID | INDEX, .references = &holdings_types},
    {"call_number_type_id", "callNumberTypeId", UUID | INDEX, .references = &call_number_types},
    {"ill_policy_id", "illPolicyId", UUID | INDEX, .references = &ill_policies},
    {"source_id", "sourceId", UUID | INDEX, .references = &holdings_sources},
    {"hrid", "hrid", TEXT | UNIQUE},
    {"call_number", "callNumber", TEXT | INDEX | KEEP_ACCENTS},
    {"call_number_and_suffix", "callNumber,callNumberSuffix", TEXT | INDEX | KEEP_ACCENTS,
     .cql_name = "callNumberAndSuffix"},
    {"full_call_number", "callNumberPrefix,callNumber,callNumberSuffix",
     TEXT | INDEX | KEEP_ACCENTS, .cql_name = "fullCallNumber"},
    {"is_discovery_suppressed", "discoverySuppress", FLAG | INDEX},
    {"statistical_code_ids", "statisticalCodeIds", TREE | WORDS | NO_COLUMN},
    {"former_ids", "formerIds", TREE | WORDS | NO_COLUMN},
    {"copy_number", "copyNumber", TEXT},
    {"updated_at", "metadata.updatedDate", TIME | INDEX},
    {0},
};

static const Join holdings_joins[] = {
    {"instance", &instances, .own_column = "instance_id"},
    {"effectiveLocation", &locations, .own_column = "effective_location_id"},
    {"item", &items, .child_column = "holdings_record_id"},
    {0},
};

const Collection holdings = {
    .table = "holdings_record",
    .path = "/holdings-storage/holdings",
    .list_key = "holdingsRecords",
    .ops = "Lrd",
    .permission = "inventory-storage.holdings",
    .record = &holdings_record,
    .fields = holdings_fields,
    .joins = holdings_joins,
    .locking = FAIL_ON_CONFLICT,
    .post_errors_are_text = true,
    .put_errors_are_text = true,
    .event = "inventory.holdings-record",
    .event_key = holdings_event_key,
    .put_creates = true,
    .has_result_info = true,
    .before_write = holdings_before_write,
    .after_write = holdings_after_write,
    .explain = holdings_explain,
};

static const Field items_fields[] = {
    {"holdings_record_id", "holdingsRecordId", UUID | INDEX, .references = &holdings},
    {"permanent_loan_type_id", "permanentLoanTypeId", UUID | INDEX, .references = &loan_types},
    {"temporary_loan_type_id", "temporaryLoanTypeId", UUID | INDEX, .references = &loan_types},
    {"material_type_id", "materialTypeId", UUID | INDEX, .references = &material_types},
    {"permanent_location_id", "permanentLocationId", UUID | INDEX, .references = &locations},
    {"temporary_location_id", "temporaryLocationId", UUID | INDEX, .references = &locations},
    {"effective_location_id", "effectiveLocationId", UUID | INDEX, .references = &locations},
    {"own_call_number_type_id", "itemLevelCallNumberTypeId", UUID | INDEX,
     .references = &call_number_types},
    {"call_number_type_id", "effectiveCallNumberComponents.typeId", UUID | INDEX,
     .references = &call_number_types},
    {"barcode", "barcode", TEXT | UNIQUE | KEEP_ACCENTS},
    {"hrid", "hrid", TEXT | UNIQUE},
    {"accession_number", "accessionNumber", TEXT | INDEX | SPARSE | KEEP_ACCENTS},
    {"status", "status.name", TEXT | INDEX | COARSE},
    {"call_number_and_suffix",
     "effectiveCallNumberComponents.callNumber,effectiveCallNumberComponents.suffix",
     TEXT | INDEX | KEEP_ACCENTS, .cql_name = "callNumberAndSuffix"},
    {"full_call_number",
     "effectiveCallNumberComponents.prefix,effectiveCallNumberComponents.callNumber,"
     "effectiveCallNumberComponents.suffix",
     TEXT | INDEX | KEEP_ACCENTS, .cql_name = "fullCallNumber"},
    {"is_discovery_suppressed", "discoverySuppress", FLAG | INDEX},
    {"po_line_id", "purchaseOrderLineIdentifier", TEXT | INDEX | SPARSE},
    {"call_number", "effectiveCallNumberComponents.callNumber", TEXT | INDEX | KEEP_ACCENTS},
    {"order_number", "order", NUMBER | INDEX},
    {"shelving_order", "effectiveShelvingOrder", TEXT | INDEX},
    {"former_ids", "formerIds", TREE | WORDS | NO_COLUMN},
    {"statistical_code_ids", "statisticalCodeIds", TREE | WORDS | NO_COLUMN},
    {"item_damaged_status_id", "itemDamagedStatusId", TEXT},
    {"transit_service_point_id", "inTransitDestinationServicePointId", TEXT | INDEX | SPARSE},
    {"copy_number", "copyNumber", TEXT},
    {"updated_at", "metadata.updatedDate", TIME | INDEX},
    {0},
};

static const Join items_joins[] = {
    {"holdingsRecords", &holdings, .own_column = "holdings_record_id"},
    {"instance", &instances, .own_column = "holdings_record_id", .via = &holdings,
     .via_column = "instance_id"},
    {0},
};

const Collection items = {
    .table = "item",
    .path = "/item-storage/items",
    .list_key = "items",
    .ops = "Lrd",
    .permission = "inventory-storage.items",
    .record = &item_record,
    .fields = items_fields,
    .joins = items_joins,
    .locking = FAIL_ON_CONFLICT,
    .put_errors_are_text = true,
    .event = "inventory.item",
    .event_key = item_event_key,
    .event_view = item_event_view,
    .has_result_info = true,
    .before_write = item_before_write,
    .after_write = item_after_write,
    .explain = item_explain,
};

static const Field bound_with_parts_fields[] = {
    {"item_id", "itemId", UUID | INDEX, .references = &items},
    {"holdings_record_id", "holdingsRecordId", UUID | INDEX, .references = &holdings},
    {0},
};

static const Join bound_with_parts_joins[] = {
    {"holdingsRecord", &holdings, .own_column = "holdings_record_id"},
    {0},
};

static const UniqueKey bound_with_parts_keys[] = {
    {"item_id, holdings_record_id"},
    {0},
};

const Collection bound_with_parts = {
    .table = "bound_with_part",
    .path = "/inventory-storage/bound-with-parts",
    .list_key = "boundWithParts",
    .ops = "LCrud",
    .permission = "inventory-storage.bound-with-parts",
    .record = &bound_with_part_record,
    .fields = bound_with_parts_fields,
    .uniques = bound_with_parts_keys,
    .joins = bound_with_parts_joins,
    .put_errors_are_text = true,
    .event = "inventory.bound-with",
    .event_key = bound_with_event_key,
    .event_view = item_event_view,
};

static const Field instance_relationships_fields[] = {
    {"super_instance_id", "superInstanceId", UUID | INDEX, .references = &instances},
    {"sub_instance_id", "subInstanceId", UUID | INDEX, .references = &instances},
    {"instance_relationship_type_id", "instanceRelationshipTypeId", UUID | INDEX,
     .references = &instance_relationship_types},
    {0},
};

const Collection instance_relationships = {
    .table = "instance_relationship",
    .path = "/instance-storage/instance-relationships",
    .list_key = "instanceRelationships",
    .ops = "LCru",
    .permission = "inventory-storage.instance-relationships",
    .record = &instance_relationship_record,
    .fields = instance_relationships_fields,
    .put_errors_are_text = true,
};

static const Field title_links_fields[] = {
    {"preceding_instance_id", "precedingInstanceId", UUID | INDEX, .references = &instances},
    {"succeeding_instance_id", "succeedingInstanceId", UUID | INDEX, .references = &instances},
    {0},
};

const Collection title_links = {
    .table = "preceding_succeeding_title",
    .path = "/preceding-succeeding-titles",
    .list_key = "precedingSucceedingTitles",
    .ops = "LCrud",
    .permission = "inventory-storage.preceding-succeeding-titles",
    .record = &title_link_record,
    .fields = title_links_fields,
    .before_write = title_link_before_write,
    .put_errors_are_text = true,
};

// The MARC of an instance as JSON; its id is the id of the instance.
const Collection marc_sources = {
    .table = "instance_source_marc",
    .record = &marc_source_record,
};

static const Field deleted_fields[] = {
    {"deleted_at", "createdDate", TIME | INDEX},
    {"record_id", "record.id", TEXT | INDEX},
    {"holdings_record_id", "record.holdingsRecordId", TEXT},
    {"instance_id", "record.instanceId", TEXT},
    {0},
};

const Collection deleted_instances = {
    .table = "audit_instance",
    .record = &deleted_record,
    .fields = deleted_fields,
};

const Collection deleted_holdings = {
    .table = "audit_holdings_record",
    .record = &deleted_record,
    .fields = deleted_fields,
};

const Collection deleted_items = {
    .table = "audit_item",
    .record = &deleted_record,
    .fields = deleted_fields,
};

const Collection *const inventory_storage_collections[] = {
    &alternative_title_types,
    &call_number_types,
    &classification_types,
    &contributor_name_types,
    &contributor_types,
    &electronic_access_relationships,
    &holdings_note_types,
    &holdings_sources,
    &holdings_types,
    &identifier_types,
    &ill_policies,
    &instance_date_types,
    &instance_formats,
    &instance_note_types,
    &instance_relationship_types,
    &instance_statuses,
    &instance_types,
    &item_damaged_statuses,
    &item_note_types,
    &loan_types,
    &material_types,
    &modes_of_issuance,
    &nature_of_content_terms,
    &statistical_code_types,
    &statistical_codes,
    &subject_sources,
    &subject_types,
    &institutions,
    &campuses,
    &libraries,
    &locations,
    &service_points,
    &service_points_users,
    &hrid_settings,
    &inventory_settings,
    &reindex_jobs,
    &iteration_jobs,
    &migration_jobs,
    &sending_errors,
    &related_instance_types,
    &instances,
    &holdings,
    &items,
    &bound_with_parts,
    &instance_relationships,
    &title_links,
    &marc_sources,
    &deleted_instances,
    &deleted_holdings,
    &deleted_items,
    NULL,
};
