// mod-inventory-storage: instances, holdings, items, locations and their reference data.
// FOLIO: mod-inventory-storage 27.1. Source: spec/inventory.md 1-4, 7, 8.
#include "modules/mod-inventory-storage/storage.h"

#define OF(...)                                                                                    \
    .collections = (const Collection *const[])                                                     \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

static const Route bound_with_routes[] = {
    {PUT, "/inventory-storage/bound-withs", WRITE, bound_withs_put,
     .permission = "inventory-storage.bound-with-parts.collection.get "
                   "inventory-storage.bound-with-parts.item.post "
                   "inventory-storage.bound-with-parts.item.delete"},
    {0},
};

static const Route call_number_type_routes[] = {
    {PUT, "/call-number-types/{id}", WRITE, call_number_type_put,
     .permission = "inventory-storage.call-number-types.item.put",
     .collection = &call_number_types},
    {DELETE, "/call-number-types/{id}", WRITE, call_number_type_delete,
     .permission = "inventory-storage.call-number-types.item.delete",
     .collection = &call_number_types},
    {0},
};

static const Route holdings_source_routes[] = {
    {DELETE, "/holdings-sources/{id}", WRITE, holdings_source_delete,
     .permission = "inventory-storage.holdings-sources.item.delete",
     .collection = &holdings_sources},
    {0},
};

static const Route subject_source_routes[] = {
    {POST, "/subject-sources", WRITE, subject_record_create,
     .permission = "inventory-storage.subject-sources.item.post", .collection = &subject_sources},
    {PUT, "/subject-sources/{id}", WRITE, subject_record_put,
     .permission = "inventory-storage.subject-sources.item.put", .collection = &subject_sources},
    {DELETE, "/subject-sources/{id}", NONE, subject_record_delete,
     .permission = "inventory-storage.subject-sources.item.delete", .collection = &subject_sources},
    {0},
};

static const Route subject_type_routes[] = {
    {POST, "/subject-types", WRITE, subject_record_create,
     .permission = "inventory-storage.subject-types.item.post", .collection = &subject_types},
    {PUT, "/subject-types/{id}", WRITE, subject_record_put,
     .permission = "inventory-storage.subject-types.item.put", .collection = &subject_types},
    {DELETE, "/subject-types/{id}", NONE, subject_record_delete,
     .permission = "inventory-storage.subject-types.item.delete", .collection = &subject_types},
    {0},
};

static const Route date_type_routes[] = {
    {PATCH, "/instance-date-types/{id}", WRITE, instance_date_type_patch,
     .permission = "inventory-storage.instance-date-types.item.patch"},
    {0},
};

static const Route settings_routes[] = {
    {GET, "/inventory-settings/{key}", READ, setting_get,
     .permission = "inventory-storage.settings.item.get"},
    {PATCH, "/inventory-settings/{key}", WRITE, setting_patch,
     .permission = "inventory-storage.settings.item.patch"},
    {0},
};

static const Route hrid_routes[] = {
    {GET, "/hrid-settings-storage/hrid-settings", READ, hrid_settings_get,
     .permission = "inventory-storage.hrid-settings.item.get"},
    {PUT, "/hrid-settings-storage/hrid-settings", WRITE, hrid_settings_put,
     .permission = "inventory-storage.hrid-settings.item.put"},
    {0},
};

static const Route unit_routes[] = {
    {GET, "/location-units/institutions", READ, units_list,
     .permission = "inventory-storage.location-units.institutions.collection.get",
     .collection = &institutions},
    {PUT, "/location-units/institutions/{id}", WRITE, unit_put,
     .permission = "inventory-storage.location-units.institutions.item.put",
     .collection = &institutions},
    {GET, "/location-units/campuses", READ, units_list,
     .permission = "inventory-storage.location-units.campuses.collection.get",
     .collection = &campuses},
    {PUT, "/location-units/campuses/{id}", WRITE, unit_put,
     .permission = "inventory-storage.location-units.campuses.item.put", .collection = &campuses},
    {GET, "/location-units/libraries", READ, units_list,
     .permission = "inventory-storage.location-units.libraries.collection.get",
     .collection = &libraries},
    {PUT, "/location-units/libraries/{id}", WRITE, unit_put,
     .permission = "inventory-storage.location-units.libraries.item.put", .collection = &libraries},
    {0},
};

static const Route location_routes[] = {
    {GET, "/locations", READ, locations_list,
     .permission = "inventory-storage.locations.collection.get", .collection = &locations},
    {PUT, "/locations/{id}", WRITE, location_put,
     .permission = "inventory-storage.locations.item.put", .collection = &locations},
    {0},
};

static const Route shelf_location_routes[] = {
    {GET, "/shelf-locations", READ, shelf_locations_list,
     .permission = "inventory-storage.shelf-locations.collection.get"},
    {GET, "/shelf-locations/{id}", READ, shelf_location_get,
     .permission = "inventory-storage.shelf-locations.item.get"},
    {POST, "/shelf-locations", NONE, shelf_location_refuse,
     .permission = "inventory-storage.shelf-locations.item.post"},
    {PUT, "/shelf-locations/{id}", NONE, shelf_location_refuse,
     .permission = "inventory-storage.shelf-locations.item.put"},
    {DELETE, "/shelf-locations/{id}", NONE, shelf_location_refuse,
     .permission = "inventory-storage.shelf-locations.item.delete"},
    {0},
};

static const Route service_point_routes[] = {
    {GET, "/service-points", READ, service_points_list,
     .permission = "inventory-storage.service-points.collection.get",
     .collection = &service_points},
    {PUT, "/service-points/{id}", WRITE, service_point_put,
     .permission = "inventory-storage.service-points.item.put", .collection = &service_points},
    {0},
};

static const Route title_link_routes[] = {
    {PUT, "/preceding-succeeding-titles/instances/{id}", WRITE, title_links_put,
     .permission = "inventory-storage.instances.preceding-succeeding-titles.collection.put"},
    {0},
};

static const Route instance_routes[] = {
    {PUT, "/instance-storage/instances/{id}", WRITE, record_put,
     .permission = "inventory-storage.instances.item.put", .collection = &instances},
    {DELETE, "/instance-storage/instances", NONE, records_delete,
     .permission = "inventory-storage.instances.collection.delete", .collection = &instances},
    {POST, "/instance-storage/instances/retrieve", READ, records_retrieve,
     .permission = "inventory-storage.instances.retrieve.collection.post",
     .collection = &instances},
    {PATCH, "/instance-storage/instances/{id}", WRITE, instance_patch,
     .permission = "inventory-storage.instances.item.patch.execute"},
    {DELETE, "/instance-storage/instance-relationships/{id}", WRITE, instance_relationship_delete,
     .permission = "inventory-storage.instance-relationships.item.delete",
     .collection = &instance_relationships},
    {GET, "/instance-storage/instances/{id}/source-record/marc-json", READ, marc_source_get,
     .permission = "inventory-storage.instances.source-record.marc-json.get"},
    {PUT, "/instance-storage/instances/{id}/source-record/marc-json", WRITE, marc_source_put,
     .permission = "inventory-storage.instances.source-record.marc-json.put"},
    {DELETE, "/instance-storage/instances/{id}/source-record/marc-json", WRITE, marc_source_delete,
     .permission = "inventory-storage.instances.source-record.marc-json.delete"},
    {DELETE, "/instance-storage/instances/{id}/source-record", WRITE, marc_source_delete,
     .permission = "inventory-storage.instances.source-record.delete"},
    {0},
};

static const Route holdings_routes[] = {
    {POST, "/holdings-storage/holdings", WRITE, holdings_create,
     .permission = "inventory-storage.holdings.item.post", .collection = &holdings},
    {PUT, "/holdings-storage/holdings/{id}", WRITE, holdings_put,
     .permission = "inventory-storage.holdings.item.put", .collection = &holdings},
    {DELETE, "/holdings-storage/holdings", NONE, records_delete,
     .permission = "inventory-storage.holdings.collection.delete", .collection = &holdings},
    {POST, "/holdings-storage/holdings/retrieve", READ, records_retrieve,
     .permission = "inventory-storage.holdings.retrieve.collection.post", .collection = &holdings},
    {PATCH, "/holdings-storage/holdings/{id}", WRITE, holdings_patch,
     .permission = "inventory-storage.holdings.item.patch.execute"},
    {0},
};

static const Route item_routes[] = {
    {DELETE, "/item-storage/items", NONE, records_delete,
     .permission = "inventory-storage.items.collection.delete", .collection = &items},
    {PUT, "/item-storage/items/{id}", WRITE, record_put,
     .permission = "inventory-storage.items.item.put", .collection = &items},
    {PATCH, "/item-storage/items", WRITE, items_patch,
     .permission = "inventory-storage.items.collection.patch"},
    {POST, "/item-storage/items/retrieve", READ, records_retrieve,
     .permission = "inventory-storage.items.retrieve.collection.post", .collection = &items},
    {POST, "/item-storage/items", WRITE, item_create,
     .permission = "inventory-storage.items.item.post", .collection = &items},
    {0},
};

static const Route old_batch_routes[] = {
    {POST, "/instance-storage/batch/instances", NONE, instances_batch_create,
     .permission = "inventory-storage.instances.batch.post"},
    {0},
};

static const Route instance_batch_routes[] = {
    {POST, "/instance-storage/batch/synchronous", NONE, batch_create,
     .permission = "inventory-storage.instances.batch.post",
     .later_permission = "inventory-storage.instances.batch.synchronous.post",
     .collection = &instances},
    {0},
};

static const Route instance_unsafe_routes[] = {
    {POST, "/instance-storage/batch/synchronous-unsafe", NONE, batch_create_unsafe,
     .permission = "inventory-storage.instances.batch-unsafe.post", .collection = &instances},
    {0},
};

static const Route holdings_batch_routes[] = {
    {POST, "/holdings-storage/batch/synchronous", NONE, batch_create,
     .permission = "inventory-storage.holdings.batch.post", .collection = &holdings},
    {0},
};

static const Route holdings_unsafe_routes[] = {
    {POST, "/holdings-storage/batch/synchronous-unsafe", NONE, batch_create_unsafe,
     .permission = "inventory-storage.holdings.batch-unsafe.post", .collection = &holdings},
    {0},
};

static const Route item_batch_routes[] = {
    {POST, "/item-storage/batch/synchronous", NONE, batch_create,
     .permission = "inventory-storage.items.batch.post", .collection = &items},
    {0},
};

static const Route item_unsafe_routes[] = {
    {POST, "/item-storage/batch/synchronous-unsafe", NONE, batch_create_unsafe,
     .permission = "inventory-storage.items.batch-unsafe.post", .collection = &items},
    {0},
};

static const Route hierarchy_routes[] = {
    {POST, "/inventory-hierarchy/items-and-holdings", READ, items_and_holdings,
     .permission = "inventory-storage.inventory-hierarchy.items-and-holdings.collection.post"},
    {GET, "/inventory-hierarchy/updated-instance-ids", NONE, changed_titles,
     .permission = "inventory-storage.inventory-hierarchy.updated-instances-ids.collection.get"},
    {0},
};

static const Route oai_routes[] = {
    {GET, "/oai-pmh-view/instances", NONE, changed_titles,
     .permission = "inventory-storage.oai-pmh-view.instances.collection.get"},
    {GET, "/oai-pmh-view/updatedInstanceIds", NONE, changed_titles,
     .permission = "inventory-storage.oai-pmh-view.updatedinstanceids.collection.get"},
    {POST, "/oai-pmh-view/enrichedInstances", READ, enriched_instances,
     .permission = "inventory-storage.oai-pmh-view.enrichedinstances.collection.post"},
    {0},
};

static const Route view_routes[] = {
    {GET, "/inventory-view/instances", READ, inventory_view_instances,
     .permission = "inventory-storage.inventory-view.instances.collection.get"},
    {0},
};

static const Route set_routes[] = {
    {GET, "/inventory-view/instance-set", READ, inventory_view_sets,
     .permission = "inventory-storage.inventory-view.instance-set.get"},
    {0},
};

static const Route record_bulk_routes[] = {
    {GET, "/record-bulk/ids", READ, record_ids,
     .permission = "inventory-storage.record-bulk.ids.get"},
    {0},
};

static const Route dereferenced_routes[] = {
    {GET, "/item-storage-dereferenced/items", READ, dereferenced_list,
     .permission = "inventory-storage-dereferenced.items.collection.get"},
    {GET, "/item-storage-dereferenced/items/{id}", READ, dereferenced_get,
     .permission = "inventory-storage-dereferenced.items.item.get"},
    {0},
};

static const Route reindex_routes[] = {
    {POST, "/instance-storage/reindex", WRITE, reindex_start,
     .permission = "inventory-storage.instance.reindex.post"},
    {DELETE, "/instance-storage/reindex/{id}", WRITE, reindex_cancel,
     .permission = "inventory-storage.instance.reindex.item.delete"},
    {0},
};

static const Route iteration_routes[] = {
    {POST, "/instance-storage/instances/iteration", WRITE, iteration_start,
     .permission = "inventory-storage.instance.iteration.post"},
    {GET, "/instance-storage/instances/iteration/{id}", READ, iteration_get,
     .permission = "inventory-storage.instance.iteration.item.get"},
    {DELETE, "/instance-storage/instances/iteration/{id}", WRITE, iteration_cancel,
     .permission = "inventory-storage.instance.iteration.item.delete"},
    {0},
};

static const Interface interfaces[] = {
    {"alternative-title-types", "1.0", OF(&alternative_title_types)},
    {"bound-with-parts-storage", "1.1", bound_with_routes, OF(&bound_with_parts), .latest = "2.0"},
    {"call-number-types", "1.0", call_number_type_routes, OF(&call_number_types)},
    {"classification-types", "1.2", OF(&classification_types)},
    {"contributor-name-types", "1.3", OF(&contributor_name_types)},
    {"contributor-types", "2.0", OF(&contributor_types)},
    {"electronic-access-relationships", "1.1", OF(&electronic_access_relationships)},
    {"holdings-note-types", "1.0", OF(&holdings_note_types)},
    {"holdings-sources", "1.0", holdings_source_routes, OF(&holdings_sources)},
    {"holdings-storage", "6.0", holdings_routes, OF(&holdings), .latest = "8.2"},
    {"holdings-storage-batch-sync", "1.1", holdings_batch_routes, .latest = "2.0"},
    {"holdings-storage-batch-sync-unsafe", "1.0", holdings_unsafe_routes, .latest = "2.0"},
    {"holdings-types", "1.0", OF(&holdings_types)},
    {"hrid-settings-storage", "1.3", hrid_routes},
    {"identifier-types", "1.2", OF(&identifier_types)},
    {"ill-policies", "1.0", OF(&ill_policies)},
    {"instance-date-types", "1.0", date_type_routes, OF(&instance_date_types)},
    {"instance-formats", "2.0", OF(&instance_formats)},
    {"instance-iteration", "0.1", iteration_routes, .latest = "1.0"},
    {"instance-note-types", "1.0", OF(&instance_note_types)},
    {"instance-preceding-succeeding-titles", "0.2", title_link_routes, OF(&title_links)},
    {"instance-reindex", "0.1", reindex_routes, OF(&reindex_jobs)},
    {"instance-relationship-types", "1.0", OF(&instance_relationship_types)},
    {"instance-statuses", "1.0", OF(&instance_statuses)},
    {"instance-storage", "10.0", instance_routes, OF(&instances, &instance_relationships),
     .latest = "11.4"},
    {"instance-storage-batch", "2.0", old_batch_routes},
    {"instance-storage-batch-sync", "2.0", instance_batch_routes, .latest = "3.1"},
    {"instance-storage-batch-sync-unsafe", "2.0", instance_unsafe_routes, .latest = "3.1"},
    {"instance-types", "2.0", OF(&instance_types)},
    {"inventory-hierarchy", "0.8", hierarchy_routes},
    {"inventory-record-bulk", "1.1", record_bulk_routes},
    {"inventory-settings", "1.0", settings_routes, OF(&inventory_settings)},
    {"inventory-view", "2.0", view_routes, .latest = "3.2"},
    {"inventory-view-instance-set", "2.0", set_routes, .latest = "3.2"},
    {"item-damaged-statuses", "1.0", OF(&item_damaged_statuses)},
    {"item-note-types", "1.0", OF(&item_note_types)},
    {"item-storage", "10.1", item_routes, OF(&items), .latest = "11.2"},
    {"item-storage-batch-sync", "1.0", item_batch_routes, .latest = "2.0"},
    {"item-storage-batch-sync-unsafe", "1.0", item_unsafe_routes, .latest = "2.0"},
    {"item-storage-dereferenced", "1.2", dereferenced_routes},
    {"loan-types", "2.4", OF(&loan_types)},
    {"location-units", "2.1", unit_routes, OF(&institutions, &campuses, &libraries)},
    {"locations", "3.2", location_routes, OF(&locations)},
    {"material-types", "2.2", OF(&material_types)},
    {"modes-of-issuance", "1.1", OF(&modes_of_issuance)},
    {"nature-of-content-terms", "1.0", OF(&nature_of_content_terms)},
    {"oaipmhview", "1.1", oai_routes},
    {"service-points", "3.5", service_point_routes, OF(&service_points)},
    {"service-points-users", "1.0", OF(&service_points_users)},
    {"shelf-locations", "1.1", shelf_location_routes},
    {"statistical-code-types", "1.0", OF(&statistical_code_types)},
    {"statistical-codes", "1.0", OF(&statistical_codes)},
    {"subject-sources", "1.0", subject_source_routes, OF(&subject_sources)},
    {"subject-types", "1.0", subject_type_routes, OF(&subject_types)},
    {"_tenant", "2.0", .type = "system"},
    {0},
};

static const struct JobKind jobs[] = {
    {"inventory-reindex", reindex_step},
    {"inventory-iteration", iteration_step},
    {0},
};

const Module mod_inventory_storage = {
    .name = "mod-inventory-storage",
    .version = "27.1.0",
    .provides = interfaces,
    .collections = inventory_storage_collections,
    .jobs = jobs,
};
