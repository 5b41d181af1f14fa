// mod-circulation: what it provides, its routes.
// FOLIO: mod-circulation 24.2. Source: spec/circulation.md 2.1.
#include "modules/mod-circulation/routes.h"

#include "modules/mod-circulation/loans.h"
#include "modules/mod-circulation/sessions.h"

#define LOAN "/circulation/loans/{id}/"

static const Route add_info_routes[] = {
    {POST, LOAN "add-info", WRITE, loan_add_info, .permission = "circulation.loans.add-info.post"},
    {0},
};

static const Route change_due_date_routes[] = {
    {POST, LOAN "change-due-date", WRITE, loan_change_due_date,
     .permission = "circulation.loans.change-due-date.post configuration.entries.collection.get",
     .later_permission = "circulation.loans.change-due-date.post"},
    {0},
};

static const Route claim_returned_routes[] = {
    {POST, LOAN "claim-item-returned", WRITE, loan_claim_returned,
     .permission = "circulation.loans.claim-item-returned.post"},
    {POST, LOAN "declare-claimed-returned-item-as-missing", WRITE, loan_claimed_missing,
     .permission = "circulation.loans.declare-claimed-returned-item-as-missing.post"},
    {0},
};

static const Route declare_lost_routes[] = {
    {POST, LOAN "declare-item-lost", WRITE, loan_declare_lost,
     .permission = "circulation.loans.declare-item-lost.post"},
    {0},
};

static const Route request_move_routes[] = {
    {POST, "/circulation/requests/{id}/move", WRITE, request_move,
     .permission = "circulation.requests.item.move.post"},
    {0},
};

static const Route allowed_service_points_routes[] = {
    {GET, "/circulation/requests/allowed-service-points", READ, allowed_service_points,
     .permission = "circulation.requests.allowed-service-points.get"},
    {0},
};

static const Route pick_slip_routes[] = {
    {GET, "/circulation/pick-slips/{servicePointId}", READ, pick_slips,
     .permission = "circulation.pick-slips.get"},
    {0},
};

static const Route search_slip_routes[] = {
    {GET, "/circulation/search-slips/{servicePointId}", READ, search_slips,
     .permission = "circulation.search-slips.get"},
    {0},
};

static const Route request_report_routes[] = {
    {GET, "/circulation/requests-reports/hold-shelf-clearance/{id}", READ, hold_shelf_clearance,
     .permission = "circulation.requests.hold-shelf-clearance-report.get"},
    {0},
};

static const Route inventory_report_routes[] = {
    {GET, "/inventory-reports/items-in-transit", READ, items_in_transit,
     .permission = "circulation.inventory.items-in-transit-report.get"},
    {0},
};

static const Route session_routes[] = {
    {POST, "/circulation/end-patron-action-session", WRITE, patron_session_end,
     .permission = "circulation.end-patron-action-session.post"},
    {0},
};

static const Route anonymization_routes[] = {
    {POST, "/loan-anonymization/by-user/{userId}", NONE, loans_anonymize_by_user,
     .permission = "circulation.loans.collection.anonymize.user.post"},
    {0},
};

#define RULES "circulation.rules."

#define POLICY(name, permission_)                                                                  \
    {                                                                                              \
        GET, RULES_PATH name, READ, rules_apply, .permission = RULES permission_                   \
    }

static const Route rules_routes[] = {
    {GET, "/circulation/rules", READ, rules_get, .permission = RULES "get"},
    {PUT, "/circulation/rules", WRITE, rules_put, .permission = RULES "put",
     .takes_any_body = true},
    POLICY("loan-policy", "loan-policy.get"),
    POLICY("loan-policy-all", "loan-policy-all.get"),
    POLICY("lost-item-policy", "lost-item-policy.get"),
    POLICY("lost-item-policy-all", "lost-item-all.get"),
    POLICY("notice-policy", "notice-policy.get"),
    POLICY("notice-policy-all", "notice-policy-all.get"),
    POLICY("overdue-fine-policy", "overdue-fine-policy.get"),
    POLICY("overdue-fine-policy-all", "overdue-fine-policy-all.get"),
    POLICY("request-policy", "request-policy.get"),
    POLICY("request-policy-all", "request-policy-all.get"),
    {0},
};

#define SETTINGS "circulation.settings."

static const Route settings_routes[] = {
    {GET, "/circulation/settings", READ, collection_list, .permission = SETTINGS "collection.get",
     .collection = &circulation_settings},
    {POST, "/circulation/settings", WRITE, settings_create, .permission = SETTINGS "item.post"},
    {DELETE, "/circulation/settings/{id}", WRITE, collection_delete,
     .permission = SETTINGS "item.delete", .collection = &circulation_settings},
    {GET, "/circulation/settings/{id}", READ, collection_get, .permission = SETTINGS "item.get",
     .collection = &circulation_settings},
    {PUT, "/circulation/settings/{id}", WRITE, collection_put, .permission = SETTINGS "item.put",
     .collection = &circulation_settings},
    {0},
};

#define HANDLERS "/circulation/handlers/"

static const Route handler_routes[] = {
    {POST, HANDLERS "fee-fine-balance-changed", WRITE, fee_balance_changed_post,
     .permission = "pubsub.events.post",
     .later_permission = "circulation.handlers.fee-fine-balance-changed.post"},
    {POST, HANDLERS "loan-related-fee-fine-closed", WRITE, loan_fees_closed_post,
     .permission = "pubsub.events.post",
     .later_permission = "circulation.handlers.loan-related-fee-fine-closed.post"},
    {0},
};

static const Timer timers[] = {
    {"age-to-lost", "/circulation/scheduled-age-to-lost", 1800, age_to_lost_run,
     .due = timer_due_in_an_hour},
    {"lost-items-bill", "/circulation/scheduled-age-to-lost-fee-charging", 2100,
     lost_items_bill_run, .due = timer_due_in_an_hour},
    {"actual-costs-expire", "/circulation/actual-cost-expiration-by-timeout", 1200,
     actual_costs_expire_run, .due = timer_due_in_an_hour},
    {"sessions-expire", "/circulation/notice-session-expiration-by-timeout", 180,
     sessions_expire_run, .due = timer_due_in_an_hour},
    {"loans-anonymize", "/circulation/scheduled-anonymize-processing", 3600, loans_anonymize_run,
     .due = timer_due_in_an_hour},
    {0},
};

static const struct Subscription subscribes[] = {
    {"feesfines.event", loan_fees_closed},
    {0},
};

static const Interface provides[] = {
    {"circulation", "14.7", circulation_routes},
    {"request-move", "0.7", request_move_routes},
    {"allowed-service-points", "1.2", allowed_service_points_routes},
    {"add-info", "0.1", add_info_routes},
    {"change-due-date", "0.1", change_due_date_routes},
    {"claim-item-returned", "0.2", claim_returned_routes},
    {"declare-item-lost", "0.3", declare_lost_routes},
    {"pick-slips", "0.4", pick_slip_routes},
    {"search-slips", "0.1", search_slip_routes},
    {"requests-reports", "0.8", request_report_routes},
    {"inventory-reports", "0.4", inventory_report_routes},
    {"patron-action-session", "0.2", session_routes},
    {"loan-anonymization", "0.1", anonymization_routes},
    {"circulation-event-handlers", "0.2", handler_routes},
    {"circulation-rules", "1.1", rules_routes},
    {"circulation-settings", "1.0", settings_routes},
    {0},
};

static const char *const requires[] = {
    "loan-storage 7.1",
    "circulation-rules-storage 1.0",
    "item-storage 8.7 9.0 10.0",
    "instance-storage 4.0 5.0 6.0 7.0 8.0 9.0 10.0",
    "holdings-storage 1.3 2.0 3.0 4.0 5.0 6.0",
    "request-storage 6.0",
    "users 14.2 15.0 16.0",
    "locations 3.0",
    "material-types 2.0",
    "loan-policy-storage 1.2 2.0",
    "request-policy-storage 1.0",
    "fixed-due-date-schedules-storage 2.0",
    "service-points 3.0",
    "calendar 5.0",
    "configuration 2.0",
    "cancellation-reason-storage 1.1",
    "loan-types 2.2",
    "scheduled-notice-storage 0.6",
    "feesfines 19.0",
    "location-units 2.0",
    "patron-action-session-storage 0.3",
    "check-in-storage 0.2",
    "pubsub-event-types 0.1",
    "pubsub-publishers 0.1",
    "pubsub-subscribers 0.1",
    "pubsub-publish 0.1",
    "automated-patron-blocks 0.1",
    "notes 1.0 2.0 3.0",
    "actual-cost-record-storage 0.6",
    "settings 1.0",
    NULL,
};

const Module mod_circulation = {
    .name = "mod-circulation",
    .version = "24.2.0",
    .provides = provides,
    .requires = requires,
    .timers = timers,
    .subscribes = subscribes,
};
