// Shapes of the records of mod-circulation-storage.
#include "modules/mod-circulation-storage/properties.h"

#include "modules/shared_properties.h"

static const Property status[] = {
    {"name", STRING},
    {0},
};

static const char *const use_at_location_statuses[] = {"In use", "Held", "Returned", NULL};

static const Property for_use_at_location[] = {
    {"status", STRING, .one_of = use_at_location_statuses},
    {"statusDate", DATE_TIME},
    {"holdShelfExpirationDate", DATE_TIME},
    {0},
};

static const Property aged_to_lost_delayed_billing[] = {
    {"lostItemHasBeenBilled", BOOLEAN},
    {"dateLostItemShouldBeBilled", DATE_TIME},
    {"agedToLostDate", DATE_TIME},
    {0},
};

static const Property last_fee_billed[] = {
    {"number", INTEGER},
    {"date", DATE_TIME},
    {0},
};

static const Property reminders[] = {
    {"lastFeeBilled", OBJECT, .of = last_fee_billed},
    {0},
};

static const Property loan[] = {
    {"id", ID},
    {"userId", STRING},
    {"proxyUserId", ID},
    {"itemId", STRING, REQUIRED},
    {"itemEffectiveLocationIdAtCheckOut", ID},
    {"status", OBJECT, .of = status},
    {"forUseAtLocation", OBJECT, .of = for_use_at_location, .open = true},
    {"loanDate", STRING, REQUIRED}, // a date, checked with its own text
    {"dueDate", DATE_TIME},
    {"returnDate", STRING},
    {"systemReturnDate", DATE_TIME},
    {"action", STRING, REQUIRED},
    {"actionComment", STRING},
    {"itemStatus", STRING},
    {"renewalCount", INTEGER},
    {"loanPolicyId", STRING},
    {"checkoutServicePointId", ID},
    {"checkinServicePointId", ID},
    {"patronGroupIdAtCheckout", STRING},
    {"dueDateChangedByRecall", BOOLEAN},
    {"dueDateChangedByHold", BOOLEAN},
    {"dueDateChangedByNearExpireUser", BOOLEAN},
    {"isDcb", BOOLEAN},
    {"declaredLostDate", DATE_TIME},
    {"claimedReturnedDate", DATE_TIME},
    {"overdueFinePolicyId", ID},
    {"lostItemPolicyId", ID},
    {"metadata", METADATA},
    {"agedToLostDelayedBilling", OBJECT, .of = aged_to_lost_delayed_billing, .open = true},
    {"reminders", OBJECT, .of = reminders},
    {0},
};

const RecordType loan_record = {"Loan", .properties = loan};

// A loan as a change left it; operation I, U or D. Written by the server only.
static const Property loan_history[] = {
    {"id", ID}, {"operation", STRING}, {"createdDate", DATE_TIME}, {"loan", OBJECT}, {0},
};

const RecordType loan_history_record = {"LoansHistoryItem", .properties = loan_history};

static const char *const request_levels[] = {"Item", "Title", NULL};

static const char *const request_types[] = {"Hold", "Recall", "Page", NULL};

static const char *const request_phases[] = {"Primary", "Secondary", "Intermediate", NULL};

static const char *const request_statuses[] = {
    "Open - Not yet filled",    "Open - Awaiting pickup",  "Open - In transit",
    "Open - Awaiting delivery", "Closed - Filled",         "Closed - Cancelled",
    "Closed - Unfilled",        "Closed - Pickup expired", NULL};

static const Property identifiers[] = {
    {"value", STRING, REQUIRED},
    {"identifierTypeId", ID, REQUIRED},
    {0},
};

static const Property instance[] = {
    {"title", STRING},
    {"identifiers", OBJECT, ARRAY, .of = identifiers},
    {0},
};

static const Property item[] = {
    {"barcode", STRING},
    {"itemEffectiveLocationId", ID},
    {"itemEffectiveLocationName", STRING},
    {"retrievalServicePointId", ID},
    {"retrievalServicePointName", STRING},
    {0},
};

static const Property requester[] = {
    {"firstName", STRING}, {"lastName", STRING},    {"middleName", STRING},
    {"barcode", STRING},   {"patronGroup", STRING}, {0},
};

static const char *const fulfillments[] = {"Hold Shelf", "Delivery", NULL};

static const Property print_details[] = {
    {"printCount", INTEGER},
    {"requesterId", STRING},
    {"isPrinted", BOOLEAN},
    {"printEventDate", DATE_TIME},
    {0},
};

static const Property call_number_components[] = {
    {"callNumber", STRING},
    {"prefix", STRING},
    {"suffix", STRING},
    {0},
};

static const Property request_search_index[] = {
    {"callNumberComponents", OBJECT, .of = call_number_components},
    {"shelvingOrder", STRING},
    {"pickupServicePointName", STRING},
    {0},
};

static const Property request[] = {
    {"id", ID},
    {"requestLevel", STRING, REQUIRED, .one_of = request_levels},
    {"requestType", STRING, REQUIRED, .one_of = request_types},
    {"ecsRequestPhase", STRING, .one_of = request_phases},
    {"requestDate", DATE_TIME, REQUIRED},
    {"patronComments", STRING},
    {"requesterId", ID, REQUIRED},
    {"proxyUserId", ID},
    {"instanceId", ID, REQUIRED},
    {"holdingsRecordId", ID},
    {"itemId", ID},
    {"status", STRING, REQUIRED, .one_of = request_statuses},
    {"cancellationReasonId", ID},
    {"cancelledByUserId", STRING},
    {"cancellationAdditionalInformation", STRING},
    {"cancelledDate", DATE_TIME},
    {"position", INTEGER},
    {"instance", OBJECT, .of = instance, .open = true},
    {"item", OBJECT, .of = item},
    {"requester", OBJECT, .of = requester},
    {"proxy", OBJECT, .of = requester},
    {"fulfillmentPreference", STRING, REQUIRED, .one_of = fulfillments},
    {"deliveryAddressTypeId", ID},
    {"requestExpirationDate", DATE_TIME},
    {"holdShelfExpirationDate", DATE_TIME},
    {"pickupServicePointId", ID},
    {"metadata", METADATA},
    {"tags", OBJECT, .of = tags_properties},
    {"printDetails", OBJECT, .of = print_details},
    {"awaitingPickupRequestClosedDate", DATE_TIME, READ_ONLY},
    {"searchIndex", OBJECT, .of = request_search_index},
    {"itemLocationCode", STRING},
    {"isDcbReRequestCancellation", BOOLEAN},
    {0},
};

const RecordType request_record = {"Request", .properties = request};

static const Property check_in[] = {
    {"id", ID},
    {"occurredDateTime", DATE_TIME, REQUIRED},
    {"itemId", ID, REQUIRED},
    {"itemStatusPriorToCheckIn", STRING},
    {"requestQueueSize", INTEGER, .has_min = true},
    {"itemLocationId", ID},
    {"servicePointId", ID, REQUIRED},
    {"performedByUserId", ID, REQUIRED},
    {"metadata", METADATA},
    {0},
};

const RecordType check_in_record = {"CheckIn", .properties = check_in};

static const Property check_out_lock[] = {
    {"id", ID},
    {"userId", ID},
    {"creationDate", DATE_TIME},
    {0},
};

const RecordType check_out_lock_record = {"CheckoutLock", .open = true,
                                          .properties = check_out_lock};

static const char *const action_types[] = {"Check-out", "Check-in", NULL};

static const Property patron_action_session[] = {
    {"id", ID},
    {"sessionId", ID},
    {"patronId", ID, REQUIRED},
    {"loanId", ID, REQUIRED},
    {"actionType", STRING, REQUIRED, .one_of = action_types},
    {"metadata", METADATA},
    {0},
};

const RecordType patron_action_session_record = {"PatronActionSession",
                                                 .properties = patron_action_session};

static const char *const triggering_events[] = {"Hold expiration",
                                                "Request expiration",
                                                "Due date",
                                                "Overdue fine returned",
                                                "Overdue fine renewed",
                                                "Due date - with reminder fee",
                                                "Aged to lost",
                                                "Aged to lost - fine charged",
                                                "Aged to lost & item returned - fine adjusted",
                                                "Aged to lost & item replaced - fine adjusted",
                                                "Title level request expiration",
                                                NULL};

static const char *const timings[] = {"Upon At", "Before", "After", NULL};

static const char *const intervals[] = {"Minutes", "Hours", "Days", "Weeks", "Months", NULL};

static const Property period[] = {
    {"duration", INTEGER, REQUIRED, .has_min = true},
    {"intervalId", STRING, REQUIRED, .one_of = intervals},
    {0},
};

static const char *const notice_formats[] = {"Email", "SMS", "Print", NULL};

static const Property notice_config[] = {
    {"timing", STRING, REQUIRED, .one_of = timings},
    {"recurringPeriod", OBJECT, .of = period},
    {"templateId", ID, REQUIRED},
    {"format", STRING, REQUIRED, .one_of = notice_formats},
    {"sendInRealTime", BOOLEAN},
    {0},
};

static const Property scheduled_notice[] = {
    {"id", ID},
    {"loanId", ID},
    {"requestId", ID},
    {"feeFineActionId", ID},
    {"recipientUserId", ID},
    {"sessionId", ID},
    {"nextRunTime", DATE_TIME, REQUIRED},
    {"triggeringEvent", STRING, .one_of = triggering_events},
    {"noticeConfig", OBJECT, REQUIRED, .of = notice_config},
    {"metadata", METADATA},
    {0},
};

const RecordType scheduled_notice_record = {"ScheduledNotice", .properties = scheduled_notice};

static const char *const loss_types[] = {"Aged to lost", "Declared lost", NULL};

static const Property user[] = {
    {"id", ID, REQUIRED},    {"barcode", STRING},
    {"firstName", STRING},   {"lastName", STRING, REQUIRED},
    {"middleName", STRING},  {"patronGroupId", ID},
    {"patronGroup", STRING}, {0},
};

static const Property actual_cost_record_loan[] = {
    {"id", ID, REQUIRED},
    {0},
};

static const Property actual_cost_record_item[] = {
    {"id", ID, REQUIRED},
    {"barcode", STRING},
    {"materialTypeId", ID, REQUIRED},
    {"materialType", STRING, REQUIRED},
    {"permanentLocationId", ID},
    {"permanentLocation", STRING},
    {"effectiveLocationId", ID},
    {"effectiveLocation", STRING},
    {"loanTypeId", ID, REQUIRED},
    {"loanType", STRING, REQUIRED},
    {"holdingsRecordId", ID, REQUIRED},
    {"effectiveCallNumberComponents", OBJECT, .of = call_number_components},
    {"volume", STRING},
    {"enumeration", STRING},
    {"chronology", STRING},
    {"displaySummary", STRING},
    {"copyNumber", STRING},
    {0},
};

static const Property actual_cost_record_identifiers[] = {
    {"value", STRING, REQUIRED},
    {"identifierType", STRING, REQUIRED},
    {"identifierTypeId", ID, REQUIRED},
    {0},
};

static const Property contributors[] = {
    {"name", STRING, REQUIRED},
    {0},
};

static const Property actual_cost_record_instance[] = {
    {"id", ID, REQUIRED},
    {"title", STRING, REQUIRED},
    {"identifiers", OBJECT, ARRAY, .of = actual_cost_record_identifiers},
    {"contributors", OBJECT, ARRAY, .of = contributors},
    {0},
};

static const Property fee_fine[] = {
    {"accountId", ID},
    {"billedAmount", DECIMAL, .has_min = true},
    {"ownerId", ID, REQUIRED},
    {"owner", STRING, REQUIRED},
    {"typeId", ID, REQUIRED},
    {"type", STRING, REQUIRED},
    {0},
};

static const char *const actual_cost_statuses[] = {"Open", "Billed", "Cancelled", "Expired", NULL};

static const Property actual_cost_record[] = {
    {"id", ID},
    {"lossType", STRING, REQUIRED, .one_of = loss_types},
    {"lossDate", DATE_TIME, REQUIRED},
    {"expirationDate", DATE_TIME},
    {"user", OBJECT, REQUIRED, .of = user},
    {"loan", OBJECT, REQUIRED, .of = actual_cost_record_loan},
    {"item", OBJECT, REQUIRED, .of = actual_cost_record_item},
    {"instance", OBJECT, REQUIRED, .of = actual_cost_record_instance},
    {"feeFine", OBJECT, REQUIRED, .of = fee_fine},
    {"status", STRING, REQUIRED, .one_of = actual_cost_statuses, .fallback = "\"Open\""},
    {"additionalInfoForStaff", STRING},
    {"additionalInfoForPatron", STRING},
    {"metadata", METADATA},
    {0},
};

const RecordType actual_cost_record_record = {"ActualCostRecord", .properties = actual_cost_record};

static const char *const job_statuses[] = {"open", "in-progress", "done", "failed", NULL};

static const Property tlr_job[] = {
    {"id", ID},
    {"status", STRING, .one_of = job_statuses},
    {"numberOfUpdatedRequests", INTEGER},
    {"errors", STRING, ARRAY},
    {"metadata", METADATA},
    {0},
};

const RecordType tlr_job_record = {"TlrFeatureToggleJob", .properties = tlr_job};

// One slip of one request, printed.
static const Property print_event[] = {
    {"id", ID},
    {"requestId", ID, REQUIRED},
    {"requesterId", ID, REQUIRED},
    {"requesterName", STRING},
    {"printEventDate", DATE_TIME, REQUIRED},
    {"metadata", METADATA},
    {0},
};

const RecordType print_event_record = {"PrintEvent", .properties = print_event};

// Bodies of actions.
static const Property print_events_request[] = {
    {"requestIds", ID, REQUIRED | ARRAY, .min_len = 1},
    {"requesterId", ID, REQUIRED},
    {"requesterName", STRING, REQUIRED, .pattern = "^.*[^[:space:]].*$"},
    {"printEventDate", DATE_TIME, REQUIRED},
    {0},
};

const RecordType print_events_request_record = {"PrintEventsRequest", .open = true,
                                                .properties = print_events_request};

static const Property print_events_status[] = {
    {"requestIds", ID, ARRAY, .min_len = 1},
    {0},
};

const RecordType print_events_status_record = {"PrintEventsStatusRequest", .open = true,
                                               .properties = print_events_status};
