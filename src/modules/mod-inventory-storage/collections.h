// Collections of mod-inventory-storage.
#pragma once

#include "store/store.h"

extern const Collection alternative_title_types;
extern const Collection call_number_types;
extern const Collection classification_types;
extern const Collection contributor_name_types;
extern const Collection contributor_types;
extern const Collection electronic_access_relationships;
extern const Collection holdings_note_types;
extern const Collection holdings_sources;
extern const Collection holdings_types;
extern const Collection identifier_types;
extern const Collection ill_policies;
extern const Collection instance_date_types;
extern const Collection instance_formats;
extern const Collection instance_note_types;
extern const Collection instance_relationship_types;
extern const Collection instance_statuses;
extern const Collection instance_types;
extern const Collection item_damaged_statuses;
extern const Collection item_note_types;
extern const Collection loan_types;
extern const Collection material_types;
extern const Collection modes_of_issuance;
extern const Collection nature_of_content_terms;
extern const Collection statistical_code_types;
extern const Collection statistical_codes;
extern const Collection subject_sources;
extern const Collection subject_types;
extern const Collection institutions;
extern const Collection campuses;
extern const Collection libraries;
extern const Collection locations;
extern const Collection service_points;
extern const Collection service_points_users;
extern const Collection hrid_settings;
extern const Collection inventory_settings;
extern const Collection reindex_jobs;
extern const Collection iteration_jobs;
extern const Collection migration_jobs;
extern const Collection sending_errors;
extern const Collection related_instance_types;
extern const Collection instances;
extern const Collection holdings;
extern const Collection items;
extern const Collection bound_with_parts;
extern const Collection instance_relationships;
extern const Collection title_links;
extern const Collection marc_sources;
// {id, createdDate, record}: what was deleted, and when.
extern const Collection deleted_instances;
extern const Collection deleted_holdings;
extern const Collection deleted_items;

// All of the module, NULL at the end.
extern const Collection *const inventory_storage_collections[];
