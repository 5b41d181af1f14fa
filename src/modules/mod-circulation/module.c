// mod-circulation: what it provides, its routes.
// FOLIO: mod-circulation 24.2. Source: spec/circulation.md 2.1.
#include "modules/mod-circulation/routes.h"

#include "modules/mod-circulation/loans.h"
#include "modules/mod-circulation/sessions.h"

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

#define LOAN     "/circulation/loans/{id}/"
#define HANDLERS "/circulation/handlers/"

static const Interface provides[] = {
    {"circulation", "14.7", circulation_routes},
    {"request-move", "0.7",
     ROUTES({POST, "/circulation/requests/{id}/move", WRITE, request_move,
             "circulation.requests.item.move.post"})},
    {"allowed-service-points", "1.2",
     ROUTES({GET, "/circulation/requests/allowed-service-points", READ, allowed_service_points,
             "circulation.requests.allowed-service-points.get"})},
    {"add-info", "0.1",
     ROUTES({POST, LOAN "add-info", WRITE, loan_add_info, "circulation.loans.add-info.post"})},
    {"change-due-date", "0.1",
     ROUTES({POST, LOAN "change-due-date", WRITE, loan_change_due_date,
             "circulation.loans.change-due-date.post configuration.entries.collection.get",
             .later_permission = "circulation.loans.change-due-date.post"})},
    {"claim-item-returned", "0.2",
     ROUTES({POST, LOAN "claim-item-returned", WRITE, loan_claim_returned,
             "circulation.loans.claim-item-returned.post"},
            {POST, LOAN "declare-claimed-returned-item-as-missing", WRITE, loan_claimed_missing,
             "circulation.loans.declare-claimed-returned-item-as-missing.post"})},
    {"declare-item-lost", "0.3",
     ROUTES({POST, LOAN "declare-item-lost", WRITE, loan_declare_lost,
             "circulation.loans.declare-item-lost.post"})},
    {"pick-slips", "0.4",
     ROUTES({GET, "/circulation/pick-slips/{servicePointId}", READ, pick_slips,
             "circulation.pick-slips.get"})},
    {"search-slips", "0.1",
     ROUTES({GET, "/circulation/search-slips/{servicePointId}", READ, search_slips,
             "circulation.search-slips.get"})},
    {"requests-reports", "0.8",
     ROUTES({GET, "/circulation/requests-reports/hold-shelf-clearance/{id}", READ,
             hold_shelf_clearance, "circulation.requests.hold-shelf-clearance-report.get"})},
    {"inventory-reports", "0.4",
     ROUTES({GET, "/inventory-reports/items-in-transit", READ, items_in_transit,
             "circulation.inventory.items-in-transit-report.get"})},
    {"patron-action-session", "0.2",
     ROUTES({POST, "/circulation/end-patron-action-session", WRITE, patron_session_end,
             "circulation.end-patron-action-session.post"})},
    {"loan-anonymization", "0.1",
     ROUTES({POST, "/loan-anonymization/by-user/{userId}", NONE, loans_anonymize_by_user,
             "circulation.loans.collection.anonymize.user.post"})},
    {"circulation-event-handlers", "0.2",
     ROUTES({POST, HANDLERS "fee-fine-balance-changed", WRITE, fee_balance_changed_post,
             "pubsub.events.post",
             .later_permission = "circulation.handlers.fee-fine-balance-changed.post"},
            {POST, HANDLERS "loan-related-fee-fine-closed", WRITE, loan_fees_closed_post,
             "pubsub.events.post",
             .later_permission = "circulation.handlers.loan-related-fee-fine-closed.post"})},
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
