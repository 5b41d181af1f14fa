// Shapes of locations, service points, settings and jobs of mod-inventory-storage.
#include "modules/mod-inventory-storage/properties.h"

static const Property institution[] = {
    {"id", ID},
    {"name", STRING, REQUIRED},
    {"code", STRING, REQUIRED},
    {"isShadow", BOOLEAN, .fallback = "false"},
    {"metadata", METADATA},
    {0},
};

const RecordType institution_record = {"LocationInstitution", .properties = institution};

static const Property campus[] = {
    {"id", ID},
    {"name", STRING, REQUIRED},
    {"code", STRING, REQUIRED},
    {"institutionId", ID, REQUIRED},
    {"isShadow", BOOLEAN, .fallback = "false"},
    {"metadata", METADATA},
    {0},
};

const RecordType campus_record = {"LocationCampus", .properties = campus};

static const Property library[] = {
    {"id", ID},
    {"name", STRING, REQUIRED},
    {"code", STRING, REQUIRED},
    {"campusId", ID, REQUIRED},
    {"isShadow", BOOLEAN, .fallback = "false"},
    {"metadata", METADATA},
    {0},
};

const RecordType library_record = {"LocationLibrary", .properties = library};

static const Property location[] = {
    {"id", ID},
    {"name", STRING, REQUIRED},
    {"code", STRING, REQUIRED},
    {"description", STRING},
    {"discoveryDisplayName", STRING},
    {"isActive", BOOLEAN},
    {"institutionId", ID, REQUIRED},
    {"institution", ANY, READ_ONLY},
    {"campusId", ID, REQUIRED},
    {"campus", ANY, READ_ONLY},
    {"libraryId", ID, REQUIRED},
    {"library", ANY, READ_ONLY},
    {"details", OBJECT},
    {"primaryServicePoint", ID, REQUIRED},
    {"primaryServicePointObject", ANY, READ_ONLY},
    {"servicePointIds", ID, ARRAY},
    {"isFloatingCollection", BOOLEAN},
    {"servicePoints", ANY, READ_ONLY | ARRAY | NO_EMPTY},
    {"isShadow", BOOLEAN, .fallback = "false"},
    {"metadata", METADATA},
    {0},
};

const RecordType location_record = {"Location", .properties = location};

static const char *const intervals[] = {"Minutes", "Hours", "Days", "Weeks", "Months", NULL};

static const Property time_period[] = {
    {"duration", INTEGER, REQUIRED},
    {"intervalId", STRING, REQUIRED, .one_of = intervals, .fallback = "\"Days\""},
    {0},
};

static const char *const hold_shelf_treatments[] = {
    "Keep_the_current_due_date",
    "Move_to_the_end_of_the_previous_open_day",
    "Move_to_the_end_of_the_next_open_day",
    "Keep_the_current_due_date_time",
    "Move_to_end_of_current_service_point_hours",
    "Move_to_beginning_of_next_open_service_point_hours",
    NULL};

static const char *const use_at_location_actions[] = {
    "Keep_on_hold_shelf", "Close_loan_and_return_item", "Ask_for_action", NULL};

static const Property staff_slips[] = {
    {"id", ID, REQUIRED},
    {"printByDefault", BOOLEAN, REQUIRED},
    {0},
};

static const Property service_point[] = {
    {"id", ID},
    {"name", STRING, REQUIRED},
    {"code", STRING, REQUIRED},
    {"discoveryDisplayName", STRING, REQUIRED},
    {"description", STRING},
    {"shelvingLagTime", INTEGER},
    {"pickupLocation", BOOLEAN},
    {"holdShelfExpiryPeriod", OBJECT, .of = time_period},
    {"holdShelfClosedLibraryDateManagement", STRING, .one_of = hold_shelf_treatments,
     .fallback = "\"Keep_the_current_due_date\""},
    {"defaultCheckInActionForUseAtLocation", STRING, .one_of = use_at_location_actions},
    {"staffSlips", OBJECT, ARRAY, .of = staff_slips},
    {"ecsRequestRouting", BOOLEAN, .fallback = "false"},
    {"metadata", METADATA},
    {0},
};

const RecordType service_point_record = {"ServicePoint", .properties = service_point};

static const Property service_points_user[] = {
    {"id", ID},
    {"userId", STRING, REQUIRED},
    {"servicePointsIds", ID, ARRAY},
    {"defaultServicePointId", ID},
    {"metadata", METADATA},
    {0},
};

const RecordType service_points_user_record = {"ServicePointsUser",
                                               .properties = service_points_user};

static const Property hrid_setting[] = {
    {"prefix", STRING, .pattern = "^[0-9a-zA-Z.-]{0,10}$"},
    {"startNumber", INTEGER, REQUIRED, .min = 1, .has_min = true, .max = 99999999999,
     .has_max = true},
    {"currentNumber", INTEGER, READ_ONLY, .has_min = true, .max = 99999999999, .has_max = true},
    {0},
};

static const Property hrid_settings[] = {
    {"id", ID},
    {"instances", OBJECT, REQUIRED, .of = hrid_setting},
    {"holdings", OBJECT, REQUIRED, .of = hrid_setting},
    {"items", OBJECT, REQUIRED, .of = hrid_setting},
    {"commonRetainLeadingZeroes", BOOLEAN, .fallback = "true"},
    {"metadata", METADATA},
    {0},
};

const RecordType hrid_settings_record = {"HridSettings", .properties = hrid_settings};

static const char *const setting_types[] = {"BOOLEAN", "INTEGER", "STRING", NULL};

static const Property inventory_setting[] = {
    {"id", ID},
    {"key", STRING, REQUIRED},
    {"value", STRING, REQUIRED},
    {"type", STRING, REQUIRED, .one_of = setting_types},
    {"centralManaged", BOOLEAN, REQUIRED},
    {"description", STRING},
    {"createdDate", DATE_TIME},
    {"createdByUserId", ID},
    {"updatedDate", DATE_TIME},
    {"updatedByUserId", ID},
    {0},
};

const RecordType inventory_setting_record = {"Setting", .properties = inventory_setting};

static const char *const reindex_statuses[] = {
    "In progress",    "Id publishing failed",    "Ids published",
    "Pending cancel", "Id publishing cancelled", NULL};

static const char *const reindexed_resources[] = {"Instance", "Unknown", NULL};

static const Property reindex_job[] = {
    {"id", ID},
    {"published", INTEGER, .has_min = true, .fallback = "0"},
    {"jobStatus", STRING, .one_of = reindex_statuses},
    {"resourceName", STRING, .one_of = reindexed_resources},
    {"submittedDate", DATE_TIME},
    {0},
};

const RecordType reindex_job_record = {"ReindexJob", .properties = reindex_job};

static const char *const iteration_statuses[] = {"In progress",          "Failed",    "Completed",
                                                 "Cancellation pending", "Cancelled", NULL};

static const Property iteration_job_params[] = {
    {"eventType", STRING, .fallback = "\"ITERATE\""},
    {"topicName", STRING, REQUIRED},
    {0},
};

static const Property iteration_job[] = {
    {"id", ID},
    {"messagesPublished", INTEGER, .has_min = true, .fallback = "0"},
    {"jobStatus", STRING, .one_of = iteration_statuses},
    {"submittedDate", DATE_TIME},
    {"jobParams", OBJECT, .of = iteration_job_params},
    {0},
};

const RecordType iteration_job_record = {"IterationJob", .properties = iteration_job};

static const Property migration_counts[] = {
    {"migrationName", STRING},
    {"count", INTEGER, .has_min = true, .fallback = "0"},
    {0},
};

static const char *const migration_statuses[] = {"In progress",
                                                 "Id publishing failed",
                                                 "Ids published",
                                                 "Pending cancel",
                                                 "Cancelled",
                                                 "Completed",
                                                 NULL};

static const Property migration_job[] = {
    {"id", ID},
    {"migrations", STRING, ARRAY},
    {"affectedEntities", STRING, ARRAY},
    {"published", OBJECT, ARRAY, .of = migration_counts, .open = true},
    {"processed", OBJECT, ARRAY, .of = migration_counts, .open = true},
    {"jobStatus", STRING, .one_of = migration_statuses},
    {"submittedDate", DATE_TIME},
    {"finishedDate", DATE_TIME},
    {0},
};

const RecordType migration_job_record = {"AsyncMigrationJob", .properties = migration_job};

// Events that could not be sent: kept for takeovers of FOLIO databases.
static const Property sending_error[] = {
    {"id", ID},
    {0},
};

const RecordType sending_error_record = {"NotificationSendingError", .open = true,
                                         .properties = sending_error};

static const Property related_instance_type[] = {
    {"id", ID},
    {"name", STRING, REQUIRED},
    {"metadata", METADATA},
    {0},
};

const RecordType related_instance_type_record = {"RelatedInstanceType",
                                                 .properties = related_instance_type};
