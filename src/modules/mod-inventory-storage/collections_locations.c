// Collections of mod-inventory-storage: locations, service points, settings, jobs.
#include "modules/mod-inventory-storage/collections.h"

#include "modules/mod-inventory-storage/properties.h"
#include "modules/mod-inventory-storage/storage.h"

static const Field institutions_fields[] = {
    {"name", "name", TEXT | UNIQUE},
    {"code", "code", TEXT | INDEX},
    {"is_shadow", "isShadow", FLAG},
    {0},
};

const Collection institutions = {
    .table = "locinstitution",
    .path = "/location-units/institutions",
    .list_key = "locinsts",
    .ops = "Crd",
    .permission = "inventory-storage.location-units.institutions",
    .record = &institution_record,
    .fields = institutions_fields,
    .is_cached = true,
    .put_errors_are_text = true,
    .event = "inventory.institution",
};

static const Field campuses_fields[] = {
    {"institution_id", "institutionId", UUID | INDEX, .references = &institutions},
    {"name", "name", TEXT | UNIQUE},
    {"code", "code", TEXT | INDEX},
    {"is_shadow", "isShadow", FLAG},
    {0},
};

const Collection campuses = {
    .table = "loccampus",
    .path = "/location-units/campuses",
    .list_key = "loccamps",
    .ops = "Crd",
    .permission = "inventory-storage.location-units.campuses",
    .record = &campus_record,
    .fields = campuses_fields,
    .is_cached = true,
    .put_errors_are_text = true,
    .event = "inventory.campus",
};

static const Field libraries_fields[] = {
    {"campus_id", "campusId", UUID | INDEX, .references = &campuses},
    {"name", "name", TEXT | UNIQUE},
    {"code", "code", TEXT | INDEX},
    {"is_shadow", "isShadow", FLAG},
    {0},
};

const Collection libraries = {
    .table = "loclibrary",
    .path = "/location-units/libraries",
    .list_key = "loclibs",
    .ops = "Crd",
    .permission = "inventory-storage.location-units.libraries",
    .record = &library_record,
    .fields = libraries_fields,
    .is_cached = true,
    .put_errors_are_text = true,
    .event = "inventory.library",
};

static const Field locations_fields[] = {
    {"institution_id", "institutionId", UUID | INDEX, .references = &institutions},
    {"campus_id", "campusId", UUID | INDEX, .references = &campuses},
    {"library_id", "libraryId", UUID | INDEX, .references = &libraries},
    {"name", "name", TEXT | UNIQUE},
    {"code", "code", TEXT | UNIQUE},
    {"primary_service_point", "primaryServicePoint", TEXT | INDEX},
    {"is_active", "isActive", FLAG},
    {"is_shadow", "isShadow", FLAG},
    {"service_point_ids", "servicePointIds", TREE | WORDS | NO_COLUMN},
    {0},
};

const Collection locations = {
    .table = "location",
    .path = "/locations",
    .list_key = "locations",
    .ops = "Crd",
    .permission = "inventory-storage.locations",
    .record = &location_record,
    .fields = locations_fields,
    .is_cached = true,
    .event = "inventory.location",
    .before_write = location_before_write,
};

static const Field service_points_fields[] = {
    {"name", "name", TEXT | UNIQUE},
    {"code", "code", TEXT | UNIQUE},
    {"is_pickup_location", "pickupLocation", FLAG | INDEX},
    {"is_routing", "ecsRequestRouting", FLAG},
    {0},
};

const Collection service_points = {
    .table = "service_point",
    .path = "/service-points",
    .list_key = "servicepoints",
    .ops = "Crd",
    .permission = "inventory-storage.service-points",
    .record = &service_point_record,
    .fields = service_points_fields,
    .is_cached = true,
    .event = "inventory.service-point",
    .before_write = service_point_before_write,
    .explain = service_point_explain,
};

static const Field service_points_users_fields[] = {
    {"default_service_point_id", "defaultServicePointId", UUID | INDEX,
     .references = &service_points},
    {"user_id", "userId", TEXT | UNIQUE},
    {"service_points_ids", "servicePointsIds", TREE | WORDS | NO_COLUMN},
    {0},
};

const Collection service_points_users = {
    .table = "service_point_user",
    .path = "/service-points-users",
    .list_key = "servicePointsUsers",
    .ops = "LCrud",
    .permission = "inventory-storage.service-points-users",
    .record = &service_points_user_record,
    .fields = service_points_users_fields,
    .put_errors_are_text = true,
};

// One record per tenant.
const Collection hrid_settings = {
    .table = "hrid_settings",
    .record = &hrid_settings_record,
    .is_cached = true,
};

static const Field inventory_settings_fields[] = {
    {"key_name", "key", TEXT | UNIQUE},
    {0},
};

const Collection inventory_settings = {
    .table = "inventory_settings",
    .path = "/inventory-settings",
    .list_key = "settings",
    .ops = "L",
    .permission = "inventory-storage.settings",
    .record = &inventory_setting_record,
    .fields = inventory_settings_fields,
    .is_cached = true,
    .event = "inventory.setting",
};

// Starting and cancelling are routes of the module.
static const Field reindex_jobs_fields[] = {
    {"job_status", "jobStatus", TEXT | INDEX},
    {0},
};

const Collection reindex_jobs = {
    .table = "reindex_job",
    .path = "/instance-storage/reindex",
    .list_key = "reindexJobs",
    .ops = "Lr",
    .permission = "inventory-storage.instance.reindex",
    .record = &reindex_job_record,
    .fields = reindex_jobs_fields,
};

static const Field iteration_jobs_fields[] = {
    {"job_status", "jobStatus", TEXT | INDEX},
    {0},
};

const Collection iteration_jobs = {
    .table = "iteration_job",
    .record = &iteration_job_record,
    .fields = iteration_jobs_fields,
};

const Collection migration_jobs = {
    .table = "async_migration_job",
    .record = &migration_job_record,
};

const Collection sending_errors = {
    .table = "notification_sending_error",
    .record = &sending_error_record,
};

static const Field unique_name[] = {
    {"name", "name", TEXT | UNIQUE},
    {0},
};

const Collection related_instance_types = {
    .table = "related_instance_type",
    .record = &related_instance_type_record,
    .fields = unique_name,
};
