// mod-circulation-storage: loans, requests, policies and what belongs to them.
// FOLIO: mod-circulation-storage 17.2. Source: spec/circulation.md 12.
#include "modules/mod-circulation-storage/hooks.h"

#define ONLY(name, ...) static const Collection *const name[] = {__VA_ARGS__, NULL}

ONLY(costs, &actual_cost_records);
ONLY(reasons, &cancellation_reasons);
ONLY(check_in_records, &check_ins);
ONLY(locks, &check_out_locks);
ONLY(schedules, &fixed_due_date_schedules);
ONLY(loan_policy_records, &loan_policies);
ONLY(loan_records, &loans, &loan_history);
ONLY(session_records, &patron_action_sessions);
ONLY(notice_policies, &patron_notice_policies);
ONLY(request_policy_records, &request_policies);
ONLY(preferences, &request_preferences);
ONLY(request_records, &requests);
ONLY(notices, &scheduled_notices);
ONLY(slips, &staff_slips);
ONLY(toggle_jobs, &tlr_jobs);
ONLY(settings, &circulation_settings);

static const Route anonymize_routes[] = {
    {POST, "/anonymize-storage-loans", NONE, loans_anonymize_listed,
     .permission = "anonymize-storage-loans.post"},
    {0},
};

static const Route lock_routes[] = {
    {GET, "/check-out-lock-storage", READ, check_out_locks_list,
     .permission = "checkout-lock-storage.checkout-locks.collection.get"},
    {POST, "/check-out-lock-storage", WRITE, check_out_lock_create,
     .permission = "checkout-lock-storage.checkout-locks.item.post"},
    {0},
};

static const Route rules_routes[] = {
    {GET, "/circulation-rules-storage", READ, rules_storage_get,
     .permission = "circulation-storage.circulation-rules.get"},
    {PUT, "/circulation-rules-storage", WRITE, rules_storage_put,
     .permission = "circulation-storage.circulation-rules.put"},
    {0},
};

static const Route loan_routes[] = {
    {POST, "/loan-storage/loans/anonymize/{userId}", NONE, loans_anonymize_user,
     .permission = "circulation-storage.loans.collection.anonymize.user.post",
     .later_permission = "circulation-storage.loans.anonymize.execute"},
    {0},
};

static const Route session_routes[] = {
    {GET, "/patron-action-session-storage/expired-session-patron-ids", READ, sessions_expired,
     .permission = "patron-action-session-storage.expired-session-patron-ids.collection.get"},
    {0},
};

static const Route request_routes[] = {
    {POST, "/request-storage/requests", WRITE, request_create,
     .permission = "circulation-storage.requests.item.post", .collection = &requests},
    {PUT, "/request-storage/requests/{id}", WRITE, request_put,
     .permission = "circulation-storage.requests.item.put", .collection = &requests},
    {0},
};

static const Route batch_routes[] = {
    {POST, "/request-storage-batch/requests", WRITE, requests_batch,
     .permission = "circulation-storage.request-batch.item.post"},
    {0},
};

static const Route settings_routes[] = {
    {POST, "/circulation-settings-storage/circulation-settings", WRITE, setting_create,
     .permission = "circulation-storage.circulation-settings.item.post",
     .collection = &circulation_settings},
    {0},
};

static const Route print_routes[] = {
    {POST, "/print-events-storage/print-events-entry", WRITE, print_events_create,
     .permission = "print-events-storage.print-events-entry.item.post"},
    {POST, "/print-events-storage/print-events-status", READ, print_events_status,
     .permission = "print-events-storage.print-events-status.item.post"},
    {0},
};

static const Interface provides[] = {
    {"actual-cost-record-storage", "0.9", .collections = costs},
    {"anonymize-storage-loans", "0.1", .routes = anonymize_routes},
    {"cancellation-reason-storage", "1.2", .collections = reasons},
    {"check-in-storage", "0.2", .collections = check_in_records},
    {"checkout-lock-storage", "0.1", .routes = lock_routes, .collections = locks},
    {"circulation-rules-storage", "1.0", .routes = rules_routes},
    {"fixed-due-date-schedules-storage", "2.0", .collections = schedules},
    {"loan-policy-storage", "2.4", .collections = loan_policy_records},
    {"loan-storage", "7.4", .routes = loan_routes, .collections = loan_records},
    {"patron-action-session-storage", "0.3", .routes = session_routes,
     .collections = session_records},
    {"patron-notice-policy-storage", "0.13", .collections = notice_policies},
    {"request-policy-storage", "1.0", .collections = request_policy_records},
    {"request-preference-storage", "2.0", .collections = preferences},
    {"request-storage", "6.2", .routes = request_routes, .collections = request_records},
    {"request-storage-batch", "2.1", .routes = batch_routes},
    {"scheduled-notice-storage", "0.6", .collections = notices},
    {"staff-slips-storage", "1.1", .collections = slips},
    {"tlr-feature-toggle-job-storage", "0.1", .collections = toggle_jobs},
    {"circulation-settings-storage", "1.0", .routes = settings_routes, .collections = settings},
    {"print-events-storage", "1.0", .routes = print_routes},
    {0},
};

static const struct Subscription subscribes[] = {
    {"inventory.service-point", service_points_changed},
    {0},
};

static const Timer timers[] = {
    {"scheduled-request-expiration", "/scheduled-request-expiration", 120, requests_expire_run,
     .due = timer_due_in_an_hour},
    {"tlr-feature-toggle-job", "/tlr-feature-toggle-job/start", 300, tlr_jobs_run,
     .due = timer_due_in_an_hour},
    {0},
};

// FOLIO's module reaches users, permissions and login through its messaging.
// The last two say whether requests wait for an item or for any item of the title.
static const char *const requires[] = {
    "item-storage 5.0 6.0 7.0 8.2 9.0 10.0",
    "holdings-storage 1.3 2.0 3.0 4.0 5.0 6.0",
    "pubsub-event-types 0.1",
    "pubsub-publishers 0.1",
    "pubsub-subscribers 0.1",
    "pubsub-publish 0.1",
    "configuration 2.0",
    "settings 1.0",
    NULL,
};

// The rules are one record, empty until somebody writes some.
static Err *rules_begin(Tx *tx)
{
    int64_t n = 0;

    TRY(tx_count_where(tx, &circulation_rules, "1 = 1", NO_ARGS, &n));
    return n ? NULL : circulation_rules_store(tx, S(""));
}

const Module mod_circulation_storage = {
    .name = "mod-circulation-storage",
    .version = "17.2.0",
    .provides = provides,
    .requires = requires,
    .collections = circulation_storage_collections,
    .timers = timers,
    .subscribes = subscribes,
    .tenant_init = rules_begin,
};
