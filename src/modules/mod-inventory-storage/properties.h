// Record types of mod-inventory-storage.
#pragma once

#include "json/properties.h"

extern const RecordType instance_record;
extern const RecordType holdings_record;
extern const RecordType item_record;
extern const RecordType bound_with_part_record;
extern const RecordType instance_relationship_record;
extern const RecordType title_link_record;
extern const RecordType marc_source_record;
extern const RecordType deleted_record;
extern const RecordType institution_record;
extern const RecordType campus_record;
extern const RecordType library_record;
extern const RecordType location_record;
extern const RecordType service_point_record;
extern const RecordType service_points_user_record;
extern const RecordType hrid_settings_record;
extern const RecordType inventory_setting_record;
extern const RecordType reindex_job_record;
extern const RecordType iteration_job_record;
extern const RecordType migration_job_record;
extern const RecordType sending_error_record;
extern const RecordType related_instance_type_record;
extern const RecordType alternative_title_type_record;
extern const RecordType call_number_type_record;
extern const RecordType classification_type_record;
extern const RecordType contributor_name_type_record;
extern const RecordType contributor_type_record;
extern const RecordType electronic_access_relationship_record;
extern const RecordType holdings_note_type_record;
extern const RecordType holdings_source_record;
extern const RecordType holdings_type_record;
extern const RecordType identifier_type_record;
extern const RecordType ill_policy_record;
extern const RecordType instance_date_type_record;
extern const RecordType instance_format_record;
extern const RecordType instance_note_type_record;
extern const RecordType instance_relationship_type_record;
extern const RecordType instance_status_record;
extern const RecordType instance_type_record;
extern const RecordType item_damaged_status_record;
extern const RecordType item_note_type_record;
extern const RecordType loan_type_record;
extern const RecordType material_type_record;
extern const RecordType mode_of_issuance_record;
extern const RecordType nature_of_content_term_record;
extern const RecordType statistical_code_type_record;
extern const RecordType statistical_code_record;
extern const RecordType subject_source_record;
extern const RecordType subject_type_record;
extern const RecordType bound_with_record;
extern const RecordType hierarchy_request_record;
extern const RecordType retrieve_entities_record;
extern const RecordType iteration_params_record;
