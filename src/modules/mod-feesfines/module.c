// mod-feesfines: accounts and what is done with them, types, owners, policies, manual blocks.
// FOLIO: mod-feesfines 19.1. Source: spec/fees-fines.md 1, 2, 5, 7.
#include "modules/mod-feesfines/fees.h"

static const Collection *const fees[] = {
    &accounts,
    &comments,
    &feefine_actions,
    &feefines,
    &manual_blocks,
    &manual_block_templates,
    &owners,
    &payments,
    &refunds,
    &transfers,
    &transfer_criterias,
    &waives,
    &overdue_fine_policies,
    &lost_item_fee_policies,
    NULL,
};

// One handler: it reads the action off the route. What writes takes a key of the client's, so that
// nobody pays twice.
#define ACTION(name, kind)                                                                         \
    {POST,                                                                                         \
     "/accounts/{id}/" name,                                                                       \
     kind,                                                                                         \
     account_action,                                                                               \
     .permission = "accounts." name ".post",                                                       \
     .later_permission = "feesfines.accounts." name ".post",                                       \
     .is_idempotent = (kind) == WRITE,                                                             \
     .locks_rows = (kind) == WRITE},                                                               \
    {                                                                                              \
        POST, "/accounts-bulk/" name, kind, account_action,                                        \
            .permission = "accounts." name ".post",                                                \
            .later_permission = "feesfines.accounts-bulk." name ".post",                           \
            .is_idempotent = (kind) == WRITE, .locks_rows = (kind) == WRITE                        \
    }

static const Route fee_routes[] = {
    {GET, "/accounts", READ, accounts_list, .permission = "accounts.collection.get"},
    {GET, "/accounts/{id}", READ, account_get, .permission = "accounts.item.get"},
    ACTION("pay", WRITE),
    ACTION("waive", WRITE),
    ACTION("transfer", WRITE),
    ACTION("refund", WRITE),
    ACTION("cancel", WRITE),
    ACTION("check-pay", READ),
    ACTION("check-waive", READ),
    ACTION("check-transfer", READ),
    ACTION("check-refund", READ),
    {POST, "/feefines", WRITE, feefine_create, .permission = "feefines.item.post",
     .collection = &feefines},
    {PUT, "/feefines/{id}", WRITE, feefine_put, .permission = "feefines.item.put",
     .collection = &feefines},
    {DELETE, "/feefines/{id}", WRITE, feefine_delete, .permission = "feefines.item.delete",
     .collection = &feefines},
    {0},
};

static const Route actual_cost_routes[] = {
    {POST, "/actual-cost-fee-fine/bill", WRITE, actual_cost_bill,
     .permission = "actual-cost-fee-fine-bill.post"},
    {POST, "/actual-cost-fee-fine/cancel", WRITE, actual_cost_cancel,
     .permission = "actual-cost-fee-fine-cancel.post"},
    {0},
};

static const Route report_routes[] = {
    {POST, "/feefine-reports/financial-transactions-detail", READ, report_financial,
     .permission = "feefine-reports.financial-transactions-detail.post"},
    {POST, "/feefine-reports/refund", READ, report_refunds,
     .permission = "feefine-reports.refund.post"},
    {POST, "/feefine-reports/cash-drawer-reconciliation", READ, report_cash_drawer,
     .permission = "feefine-reports.cash-drawer-reconciliation.post",
     .later_permission = "feesfines.feefine-reports.cash-drawer-reconciliation.post"},
    {POST, "/feefine-reports/cash-drawer-reconciliation/sources", READ, report_cash_sources,
     .permission = "feefine-reports.cash-drawer-reconciliation.post",
     .later_permission = "feesfines.feefine-reports.cash-drawer-reconciliation-source.post"},
    {0},
};

static const Interface provides[] = {
    {"actual-cost-fee-fine", "0.3", .routes = actual_cost_routes},
    {"feefine-reports", "2.3", .routes = report_routes},
    {"feesfines", "19.1", .routes = fee_routes, .collections = fees},
    {0},
};

// The last two say in which time zone the days of reports are.
static const char *const requires[] = {
    "holdings-storage 4.2 5.0 6.0",
    "item-storage 8.4 9.0 10.0",
    "instance-storage 7.4 8.0 9.0 10.0",
    "locations 3.0",
    "location-units 2.0",
    "users 15.1 16.0",
    "pubsub-event-types 0.1",
    "pubsub-publishers 0.1",
    "pubsub-subscribers 0.1",
    "pubsub-publish 0.1",
    "actual-cost-record-storage 0.7",
    "configuration 2.0",
    "settings 1.0",
    NULL,
};

const Module mod_feesfines = {
    .name = "mod-feesfines",
    .version = "19.1.0",
    .provides = provides,
    .requires = requires,
    .collections = feesfines_collections,
};
