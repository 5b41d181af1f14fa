// Collections of mod-circulation-storage: loans, requests, policies and what belongs to them.
#include "modules/mod-circulation-storage/collections.h"

#include "modules/mod-circulation-storage/hooks.h"
#include "modules/mod-circulation-storage/properties.h"
#include "modules/mod-inventory-storage/isbn.h"

static const Field unique_name[] = {
    {"name", "name", TEXT | UNIQUE},
    {0},
};

const Collection fixed_due_date_schedules = {
    .table = "fixed_due_date_schedule",
    .path = "/fixed-due-date-schedule-storage/fixed-due-date-schedules",
    .list_key = "fixedDueDateSchedules",
    .ops = "LCDrud",
    .permission = "circulation-storage.fixed-due-date-schedules",
    .record = &fixed_due_date_schedule_record,
    .fields = unique_name,
    .is_cached = true,
    .put_errors_are_text = true,
    .put_creates = true,
    .before_write = schedule_check,
};

static const Field loan_policies_fields[] = {
    {"schedule_id", "loansPolicy.fixedDueDateScheduleId", UUID | INDEX,
     .references = &fixed_due_date_schedules},
    {"alternate_schedule_id", "renewalsPolicy.alternateFixedDueDateScheduleId", UUID | INDEX,
     .references = &fixed_due_date_schedules},
    {"name", "name", TEXT | INDEX},
    {0},
};

const Collection loan_policies = {
    .table = "loan_policy",
    .path = "/loan-policy-storage/loan-policies",
    .list_key = "loanPolicies",
    .ops = "LCDrud",
    .permission = "circulation-storage.loan-policies",
    .record = &loan_policy_record,
    .fields = loan_policies_fields,
    .is_cached = true,
    .put_errors_are_text = true,
    .put_creates = true,
    .before_write = loan_policy_check,
    .before_delete = loan_policy_must_be_unused,
};

const Collection request_policies = {
    .table = "request_policy",
    .path = "/request-policy-storage/request-policies",
    .list_key = "requestPolicies",
    .ops = "LCDrud",
    .permission = "circulation-storage.request-policies",
    .record = &request_policy_record,
    .fields = unique_name,
    .is_cached = true,
    .put_creates = true,
    .before_write = request_policy_check,
    .before_delete = request_policy_must_be_unused,
};

const Collection patron_notice_policies = {
    .table = "patron_notice_policy",
    .path = "/patron-notice-policy-storage/patron-notice-policies",
    .list_key = "patronNoticePolicies",
    .ops = "LCrud",
    .permission = "circulation-storage.patron-notice-policies",
    .record = &patron_notice_policy_record,
    .fields = unique_name,
    .is_cached = true,
    .before_write = notice_policy_check,
    .before_delete = notice_policy_must_be_unused,
    .explain = notice_policy_explain,
};

const Collection staff_slips = {
    .table = "staff_slips",
    .path = "/staff-slips-storage/staff-slips",
    .list_key = "staffSlips",
    .ops = "LCDrud",
    .permission = "circulation-storage.staff-slips",
    .record = &staff_slip_record,
    .fields = unique_name,
    .is_cached = true,
    .post_errors_are_text = true,
    .put_errors_are_text = true,
};

const Collection cancellation_reasons = {
    .table = "cancellation_reason",
    .path = "/cancellation-reason-storage/cancellation-reasons",
    .list_key = "cancellationReasons",
    .ops = "LCDrud",
    .permission = "circulation-storage.cancellation-reasons",
    .record = &cancellation_reason_record,
    .fields = unique_name,
    .is_cached = true,
    .put_errors_are_text = true,
};

// One record per tenant.
const Collection circulation_rules = {
    .table = "circulation_rules",
    .record = &circulation_rules_record,
    .is_cached = true,
    .event = "circulation.rules",
};

const Collection circulation_settings = {
    .table = "circulation_settings",
    .path = "/circulation-settings-storage/circulation-settings",
    .list_key = "circulationSettings",
    .ops = "Lrud", // POST is a route of the module: a known name gets the new value
    .permission = "circulation-storage.circulation-settings",
    .record = &circulation_setting_record,
    .fields = unique_name,
    .is_cached = true,
    .event = "circulation.circulation-settings",
};

static const Field unique_user[] = {
    {"user_id", "userId", TEXT | UNIQUE},
    {0},
};

const Collection request_preferences = {
    .table = "user_request_preference",
    .path = "/request-preference-storage/request-preference",
    .list_key = "requestPreferences",
    .ops = "LCrud",
    .permission = "circulation-storage.request-preferences",
    .record = &request_preference_record,
    .fields = unique_user,
};

static const Field loans_fields[] = {
    {"item_id", "itemId", UUID | INDEX},
    {"user_id", "userId", UUID | INDEX},
    {"checkin_service_point_id", "checkinServicePointId", TEXT},
    {"checkout_service_point_id", "checkoutServicePointId", TEXT},
    {"due_at", "dueDate", TIME | INDEX},
    {"loaned_at", "loanDate", TIME | INDEX},
    {"status", "status.name", TEXT | INDEX | COARSE},
    {"item_status", "itemStatus", TEXT | INDEX | COARSE},
    {"has_been_billed", "agedToLostDelayedBilling.lostItemHasBeenBilled", FLAG | INDEX},
    {"action", "action", TEXT | INDEX | COARSE},
    {"proxy_user_id", "proxyUserId", TEXT | INDEX | SPARSE},
    {"returned_at", "returnDate", TIME},
    {"system_returned_at", "systemReturnDate", TIME},
    {"use_at_location_status", "forUseAtLocation.status", TEXT},
    {"updated_at", "metadata.updatedDate", TIME},
    {"bill_at", "agedToLostDelayedBilling.dateLostItemShouldBeBilled", TIME | INDEX | SPARSE,
     .cql_name = "dateLostItemShouldBeBilled"},
    {"loan_policy_id", "loanPolicyId", TEXT},
    {"is_recalled", "dueDateChangedByRecall", FLAG},
    {0},
};

// One open loan per item. The second key can never be violated: it is a small index of the open
// loans of each patron, so that a patron's thousands of closed ones are not read.
static const UniqueKey loans_keys[] = {
    {"item_id", "status = 'open'"},
    {"user_id, due_at, id", "status = 'open'"},
    {0},
};

const Collection loans = {
    .table = "loan",
    .path = "/loan-storage/loans",
    .list_key = "loans",
    .ops = "LCDrud",
    .permission = "circulation-storage.loans",
    .record = &loan_record,
    .fields = loans_fields,
    .uniques = loans_keys,
    .put_creates = true,
    .event = "circulation.loan",
    .before_write = loan_check,
    .after_write = loan_record_history,
    .explain = loan_explain,
};

// A row for each change of a loan, written by its hook.
static const Field loan_history_fields[] = {
    {"loan_id", "loan.id", TEXT | INDEX},
    {"loan_action", "loan.action", TEXT | INDEX | COARSE},
    {"loan_user_id", "loan.userId", TEXT | INDEX},
    {"created_at", "createdDate", TIME | INDEX},
    {0},
};

const Collection loan_history = {
    .table = "audit_loan",
    .path = "/loan-storage/loan-history",
    .list_key = "loansHistory",
    .ops = "L",
    .permission = "circulation-storage.loans-history",
    .record = &loan_history_record,
    .fields = loan_history_fields,
    .default_sort = "createdDate/sort.descending",
};

static const Field requests_fields[] = {
    {"cancellation_reason_id", "cancellationReasonId", UUID | INDEX,
     .references = &cancellation_reasons},
    {"item_id", "itemId", TEXT | INDEX | WORDS},
    {"position", "position", NUMBER},
    {"pickup_service_point_id", "pickupServicePointId", UUID | INDEX | COARSE},
    {"requester_id", "requesterId", TEXT | INDEX | WORDS},
    {"request_type", "requestType", TEXT | INDEX | COARSE},
    {"status", "status", TEXT | INDEX | COARSE},
    {"request_level", "requestLevel", TEXT | INDEX | COARSE},
    {"instance_id", "instanceId", TEXT | INDEX | WORDS},
    {"pickup_service_point_name", "searchIndex.pickupServicePointName",
     TEXT | INDEX | COARSE | KEEP_ACCENTS},
    {"shelving_order", "searchIndex.shelvingOrder", TEXT | INDEX | KEEP_ACCENTS},
    {"call_number", "searchIndex.callNumberComponents.callNumber", TEXT | INDEX | KEEP_ACCENTS},
    {"full_call_number",
     "searchIndex.callNumberComponents.prefix,searchIndex.callNumberComponents.callNumber,"
     "searchIndex.callNumberComponents.suffix",
     TEXT | INDEX | KEEP_ACCENTS, .cql_name = "fullCallNumberIndex"},
    {"proxy_user_id", "proxyUserId", TEXT | INDEX | SPARSE},
    {"holdings_record_id", "holdingsRecordId", TEXT | INDEX},
    {"requested_at", "requestDate", TIME | INDEX},
    {"expires_at", "requestExpirationDate", TIME | INDEX},
    {"hold_shelf_expires_at", "holdShelfExpirationDate", TIME | INDEX | SPARSE},
    {"awaiting_pickup_closed_at", "awaitingPickupRequestClosedDate", TIME | INDEX | SPARSE},
    {"fulfillment_preference", "fulfillmentPreference", TEXT | INDEX | COARSE},
    {"instance_title", "instance.title", TEXT | INDEX | WORDS},
    {"item_barcode", "item.barcode", TEXT | INDEX | WORDS},
    {"requester_barcode", "requester.barcode", TEXT | INDEX | WORDS},
    {"requester_last_name", "requester.lastName", TEXT | INDEX | WORDS},
    {"requester_first_name", "requester.firstName", TEXT | INDEX | WORDS},
    {"proxy_last_name", "proxy.lastName", TEXT | INDEX},
    {"location_id", "item.itemEffectiveLocationId", TEXT | INDEX | COARSE},
    {"location_name", "item.itemEffectiveLocationName", TEXT | INDEX | COARSE},
    {"retrieval_service_point_id", "item.retrievalServicePointId", TEXT | INDEX | COARSE},
    {"retrieval_service_point_name", "item.retrievalServicePointName", TEXT | INDEX | COARSE},
    {"tags_tag_list", "tags.tagList", TREE | WORDS | NO_COLUMN},
    {"created_at", "metadata.createdDate", TIME | INDEX},
    {"updated_at", "metadata.updatedDate", TIME | INDEX},
    {"item_isbn", "instance.identifiers", TEXT | WORDS | NO_COLUMN, .cql_name = "itemIsbn",
     .compute = item_isbn_text, .compute_term = isbn_term},
    {0},
};

static const UniqueKey requests_keys[] = {
    {"item_id, position"},
    {0},
};

const Collection requests = {
    .table = "request",
    .path = "/request-storage/requests",
    .list_key = "requests",
    .ops = "LDrd", // POST and PUT are routes of the module: they take the old spelling
    .permission = "circulation-storage.requests",
    .record = &request_record,
    .fields = requests_fields,
    .uniques = requests_keys,
    .event = "circulation.request",
    .put_creates = true,
    .before_write = request_check,
    .explain = request_explain,
};

static const Field check_ins_fields[] = {
    {"item_id", "itemId", TEXT | INDEX},
    {"service_point_id", "servicePointId", TEXT},
    {"performed_by_user_id", "performedByUserId", TEXT},
    {"occurred_at", "occurredDateTime", TIME | INDEX},
    {0},
};

const Collection check_ins = {
    .table = "check_in",
    .path = "/check-in-storage/check-ins",
    .list_key = "checkIns",
    .ops = "LCr",
    .permission = "check-in-storage.check-ins",
    .record = &check_in_record,
    .fields = check_ins_fields,
    .event = "circulation.check-in",
};

// Taking one is a route of the module: POST answers 503 while another holds it. So is the list.
static const Field check_out_locks_fields[] = {
    {"user_id", "userId", TEXT | UNIQUE},
    {"created_at", "creationDate", TIME | INDEX},
    {0},
};

const Collection check_out_locks = {
    .table = "check_out_lock",
    .path = "/check-out-lock-storage",
    .list_key = "checkoutLocks",
    .ops = "rd",
    .permission = "checkout-lock-storage.checkout-locks",
    .record = &check_out_lock_record,
    .fields = check_out_locks_fields,
};

static const Field patron_action_sessions_fields[] = {
    {"patron_id", "patronId", TEXT | INDEX},
    {"loan_id", "loanId", TEXT | INDEX},
    {"session_id", "sessionId", TEXT},
    {"action_type", "actionType", TEXT},
    {"created_at", "metadata.createdDate", TIME | INDEX},
    {0},
};

const Collection patron_action_sessions = {
    .table = "patron_action_session",
    .path = "/patron-action-session-storage/patron-action-sessions",
    .list_key = "patronActionSessions",
    .ops = "LCrud",
    .permission = "patron-action-session-storage.patron-action-sessions",
    .record = &patron_action_session_record,
    .fields = patron_action_sessions_fields,
};

static const Field scheduled_notices_fields[] = {
    {"next_run_at", "nextRunTime", TIME | INDEX},
    {"is_real_time", "noticeConfig.sendInRealTime", FLAG | INDEX},
    {"triggering_event", "triggeringEvent", TEXT | INDEX | COARSE},
    {"request_id", "requestId", TEXT | INDEX | SPARSE},
    {"loan_id", "loanId", TEXT | INDEX},
    {"fee_fine_action_id", "feeFineActionId", TEXT | INDEX | SPARSE},
    {"recipient_user_id", "recipientUserId", TEXT | INDEX},
    {"session_id", "sessionId", TEXT | INDEX | SPARSE},
    {"timing", "noticeConfig.timing", TEXT},
    {"template_id", "noticeConfig.templateId", TEXT | INDEX | COARSE},
    {0},
};

const Collection scheduled_notices = {
    .table = "scheduled_notice",
    .path = "/scheduled-notice-storage/scheduled-notices",
    .list_key = "scheduledNotices",
    .ops = "LCDrud",
    .permission = "scheduled-notice-storage.scheduled-notices",
    .record = &scheduled_notice_record,
    .fields = scheduled_notices_fields,
};

static const Field actual_cost_records_fields[] = {
    {"loan_id", "loan.id", TEXT | INDEX},
    {"loss_type", "lossType", TEXT | INDEX | COARSE},
    {"lost_at", "lossDate", TIME | INDEX},
    {"instance_title", "instance.title", TEXT | INDEX | WORDS},
    {"item_permanent_location", "item.permanentLocation", TEXT | INDEX | COARSE},
    {"fee_fine_type", "feeFine.type", TEXT | INDEX | COARSE},
    {"fee_fine_owner", "feeFine.owner", TEXT | INDEX | COARSE},
    {"status", "status", TEXT | INDEX | COARSE},
    {"expires_at", "expirationDate", TIME | INDEX},
    {"user_first_name", "user.firstName", TEXT | WORDS | NO_COLUMN},
    {"user_last_name", "user.lastName", TEXT | WORDS | NO_COLUMN},
    {"user_id", "user.id", TEXT | INDEX},
    {"user_barcode", "user.barcode", TEXT | INDEX | WORDS},
    {"item_barcode", "item.barcode", TEXT | INDEX | WORDS},
    {"item_id", "item.id", TEXT | INDEX},
    {"item_material_type", "item.materialType", TEXT | INDEX | COARSE},
    {"item_permanent_location_id", "item.permanentLocationId", TEXT | INDEX | COARSE},
    {"user_patron_group_id", "user.patronGroupId", TEXT | INDEX | COARSE},
    {"fee_fine_owner_id", "feeFine.ownerId", TEXT | INDEX | COARSE},
    {"fee_fine_account_id", "feeFine.accountId", TEXT | INDEX},
    {"created_at", "metadata.createdDate", TIME | INDEX},
    {0},
};

const Collection actual_cost_records = {
    .table = "actual_cost_record",
    .path = "/actual-cost-record-storage/actual-cost-records",
    .list_key = "actualCostRecords",
    .ops = "LCrud",
    .permission = "actual-cost-record-storage.actual-cost-records",
    .record = &actual_cost_record_record,
    .fields = actual_cost_records_fields,
};

static const Field tlr_jobs_fields[] = {
    {"status", "status", TEXT | INDEX},
    {0},
};

const Collection tlr_jobs = {
    .table = "tlr_feature_toggle_job",
    .path = "/tlr-feature-toggle-job-storage/tlr-feature-toggle-jobs",
    .list_key = "tlrFeatureToggleJobs",
    .ops = "LCrud",
    .permission = "tlr-feature-toggle-job-storage.tlr-feature-toggle-jobs",
    .record = &tlr_job_record,
    .fields = tlr_jobs_fields,
};

static const Field print_events_fields[] = {
    {"request_id", "requestId", TEXT | INDEX},
    {"printed_at", "printEventDate", TIME | INDEX},
    {0},
};

const Collection print_events = {
    .table = "print_events",
    .record = &print_event_record,
    .fields = print_events_fields,
};

const Collection *const circulation_storage_collections[] = {
    &fixed_due_date_schedules,
    &loan_policies,
    &request_policies,
    &patron_notice_policies,
    &staff_slips,
    &cancellation_reasons,
    &circulation_rules,
    &circulation_settings,
    &request_preferences,
    &loans,
    &loan_history,
    &requests,
    &check_ins,
    &check_out_locks,
    &patron_action_sessions,
    &scheduled_notices,
    &actual_cost_records,
    &tlr_jobs,
    &print_events,
    NULL,
};
