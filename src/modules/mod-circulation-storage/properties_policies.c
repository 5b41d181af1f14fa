// Shapes of policies, reasons, slips, rules and settings of mod-circulation-storage.
#include "modules/mod-circulation-storage/properties.h"

static const char *const intervals[] = {"Minutes", "Hours", "Days", "Weeks", "Months", NULL};

static const Property period[] = {
    {"duration", INTEGER, REQUIRED, .has_min = true},
    {"intervalId", STRING, REQUIRED, .one_of = intervals},
    {0},
};

static const Property time_period[] = {
    {"duration", INTEGER, REQUIRED},
    {"intervalId", STRING, REQUIRED, .one_of = intervals, .fallback = "\"Days\""},
    {0},
};

static const Property loans_policy[] = {
    {"profileId", STRING},
    {"period", OBJECT, .of = period},
    {"closedLibraryDueDateManagementId", STRING},
    {"gracePeriod", OBJECT, .of = period},
    {"openingTimeOffset", OBJECT, .of = period},
    {"fixedDueDateScheduleId", ID},
    {"itemLimit", INTEGER, .min = 1, .has_min = true, .max = 9999, .has_max = true},
    {"forUseAtLocation", BOOLEAN},
    {"holdShelfExpiryPeriodForUseAtLocation", OBJECT, .of = time_period, .open = true},
    {0},
};

static const Property renewals_policy[] = {
    {"unlimited", BOOLEAN},
    {"numberAllowed", DECIMAL},
    {"renewFromId", STRING},
    {"differentPeriod", BOOLEAN},
    {"period", OBJECT, .of = period},
    {"alternateFixedDueDateScheduleId", ID},
    {0},
};

static const Property recalls[] = {
    {"alternateGracePeriod", OBJECT, .of = period},
    {"minimumGuaranteedLoanPeriod", OBJECT, .of = period},
    {"recallReturnInterval", OBJECT, .of = period},
    {"allowRecallsToExtendOverdueLoans", BOOLEAN, .fallback = "false"},
    {"alternateRecallReturnInterval", OBJECT, .of = period},
    {0},
};

static const Property holds[] = {
    {"alternateCheckoutLoanPeriod", OBJECT, .of = period},
    {"renewItemsWithRequest", BOOLEAN},
    {"alternateRenewalLoanPeriod", OBJECT, .of = period},
    {0},
};

static const Property request_management[] = {
    {"recalls", OBJECT, .of = recalls},
    {"holds", OBJECT, .of = holds},
    {"pages", OBJECT, .of = holds},
    {0},
};

static const Property loan_policy[] = {
    {"id", ID},
    {"name", STRING, REQUIRED},
    {"description", STRING},
    {"loanable", BOOLEAN, REQUIRED},
    {"loansPolicy", OBJECT, .of = loans_policy},
    {"renewable", BOOLEAN, REQUIRED},
    {"renewalsPolicy", OBJECT, .of = renewals_policy, .open = true},
    {"requestManagement", OBJECT, .of = request_management},
    {"metadata", METADATA},
    {0},
};

const RecordType loan_policy_record = {"LoanPolicy", .properties = loan_policy};

static const Property schedule[] = {
    {"from", DATE_TIME, REQUIRED},
    {"to", DATE_TIME, REQUIRED},
    {"due", DATE_TIME, REQUIRED},
    {0},
};

static const Property fixed_due_date_schedule[] = {
    {"id", ID},
    {"name", STRING, REQUIRED},
    {"description", STRING},
    {"schedules", OBJECT, ARRAY, .of = schedule},
    {"metadata", METADATA},
    {0},
};

const RecordType fixed_due_date_schedule_record = {"FixedDueDateSchedule",
                                                   .properties = fixed_due_date_schedule};

static const char *const request_types_values[] = {"Hold", "Recall", "Page", NULL};

static const Property allowed_service_points[] = {
    {"Page", ID, ARRAY | NO_EMPTY | UNIQUE_ITEMS, .min_len = 1},
    {"Hold", ID, ARRAY | NO_EMPTY | UNIQUE_ITEMS, .min_len = 1},
    {"Recall", ID, ARRAY | NO_EMPTY | UNIQUE_ITEMS, .min_len = 1},
    {0},
};

static const Property request_policy[] = {
    {"id", ID},
    {"name", STRING, REQUIRED},
    {"description", STRING},
    {"requestTypes", STRING, ARRAY, .one_of = request_types_values},
    {"allowedServicePoints", OBJECT, .of = allowed_service_points},
    {"metadata", METADATA},
    {0},
};

const RecordType request_policy_record = {"RequestPolicy", .properties = request_policy};

static const char *const notice_formats[] = {"Email", "SMS", "Print", NULL};

static const char *const frequencies[] = {"One time", "Recurring", NULL};

static const char *const timings[] = {"Upon At", "Before", "After", NULL};

static const char *const loan_events[] = {"Due date",
                                          "Renewed",
                                          "Check in",
                                          "Check out",
                                          "Manual due date change",
                                          "Item recalled",
                                          "Hold request for item",
                                          "Aged to lost",
                                          NULL};

static const char *const patron_notice_policy_intervals[] = {"Minutes", "Hours", "Days", "Weeks",
                                                             "Months",  "Years", NULL};

static const Property interval[] = {
    {"duration", INTEGER, REQUIRED, .min = 1, .has_min = true, .max = 100, .has_max = true},
    {"intervalId", STRING, REQUIRED, .one_of = patron_notice_policy_intervals},
    {0},
};

static const Property loan_send_options[] = {
    {"sendHow", STRING, .one_of = timings},
    {"sendWhen", STRING, REQUIRED, .one_of = loan_events},
    {"sendBy", OBJECT, .of = interval},
    {"sendEvery", OBJECT, .of = interval},
    {0},
};

static const Property loan_notices[] = {
    {"name", STRING},
    {"templateId", STRING, REQUIRED},
    {"templateName", STRING},
    {"format", STRING, REQUIRED, .one_of = notice_formats},
    {"frequency", STRING, .one_of = frequencies},
    {"realTime", BOOLEAN, REQUIRED},
    {"sendOptions", OBJECT, .of = loan_send_options},
    {0},
};

static const char *const fee_fine_timings[] = {"Upon At", "After", NULL};

static const char *const fee_fine_events[] = {"Overdue fine returned",
                                              "Overdue fine renewed",
                                              "Aged to lost - fine charged",
                                              "Aged to lost & item returned - fine adjusted",
                                              "Aged to lost & item replaced - fine adjusted",
                                              NULL};

static const Property fee_fine_send_options[] = {
    {"sendHow", STRING, .one_of = fee_fine_timings},
    {"sendWhen", STRING, REQUIRED, .one_of = fee_fine_events},
    {"sendBy", OBJECT, .of = interval},
    {"sendEvery", OBJECT, .of = interval},
    {0},
};

static const Property fee_fine_notices[] = {
    {"name", STRING},
    {"templateId", STRING, REQUIRED},
    {"templateName", STRING},
    {"format", STRING, REQUIRED, .one_of = notice_formats},
    {"frequency", STRING, .one_of = frequencies},
    {"realTime", BOOLEAN, REQUIRED},
    {"sendOptions", OBJECT, .of = fee_fine_send_options},
    {0},
};

static const char *const request_events[] = {
    "Recall request", "Hold request",    "Request expiration",   "Paging request",
    "Available",      "Hold expiration", "Request cancellation", NULL};

static const Property request_send_options[] = {
    {"sendHow", STRING, .one_of = timings},
    {"sendWhen", STRING, REQUIRED, .one_of = request_events},
    {"sendBy", OBJECT, .of = interval},
    {"sendEvery", OBJECT, .of = interval},
    {0},
};

static const Property request_notices[] = {
    {"name", STRING},
    {"templateId", STRING, REQUIRED},
    {"templateName", STRING},
    {"format", STRING, REQUIRED, .one_of = notice_formats},
    {"frequency", STRING, .one_of = frequencies},
    {"realTime", BOOLEAN, REQUIRED},
    {"sendOptions", OBJECT, .of = request_send_options},
    {0},
};

static const Property patron_notice_policy[] = {
    {"id", ID},
    {"name", STRING, REQUIRED},
    {"description", STRING},
    {"active", BOOLEAN},
    {"metadata", METADATA},
    {"loanNotices", OBJECT, ARRAY, .of = loan_notices},
    {"feeFineNotices", OBJECT, ARRAY, .of = fee_fine_notices},
    {"requestNotices", OBJECT, ARRAY, .of = request_notices},
    {0},
};

const RecordType patron_notice_policy_record = {"PatronNoticePolicy",
                                                .properties = patron_notice_policy};

static const Property staff_slip[] = {
    {"id", ID},
    {"name", STRING, REQUIRED},
    {"description", STRING},
    {"active", BOOLEAN},
    {"isRawHtml", BOOLEAN},
    {"template", STRING, REQUIRED},
    {"metadata", METADATA},
    {0},
};

const RecordType staff_slip_record = {"StaffSlip", .properties = staff_slip};

static const Property cancellation_reason[] = {
    {"id", ID},
    {"name", STRING, REQUIRED},
    {"description", STRING},
    {"publicDescription", STRING},
    {"requiresAdditionalInformation", BOOLEAN},
    {"source", STRING},
    {"metadata", METADATA},
    {0},
};

const RecordType cancellation_reason_record = {"CancellationReason",
                                               .properties = cancellation_reason};

static const char *const fulfillment_values[] = {"Delivery", "Hold Shelf", NULL};

static const Property request_preference[] = {
    {"id", ID},
    {"userId", ID, REQUIRED},
    {"holdShelf", BOOLEAN, REQUIRED},
    {"delivery", BOOLEAN, REQUIRED},
    {"defaultServicePointId", ID},
    {"defaultDeliveryAddressTypeId", ID},
    {"fulfillment", STRING, .one_of = fulfillment_values},
    {"metadata", METADATA},
    {0},
};

const RecordType request_preference_record = {"RequestPreference",
                                              .properties = request_preference};

static const Property circulation_rules[] = {
    {"id", ID},
    {"rulesAsText", STRING, REQUIRED},
    {"metadata", METADATA},
    {0},
};

const RecordType circulation_rules_record = {"CirculationRules", .properties = circulation_rules};

static const Property circulation_setting[] = {
    {"id", ID, REQUIRED},
    {"name", STRING, REQUIRED},
    {"value", OBJECT, REQUIRED},
    {"metadata", METADATA},
    {0},
};

const RecordType circulation_setting_record = {"CirculationSetting",
                                               .properties = circulation_setting};
