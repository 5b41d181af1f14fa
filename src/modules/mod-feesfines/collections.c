// Collections of mod-feesfines: accounts, actions, types, policies, blocks.
#include "modules/mod-feesfines/collections.h"

#include "modules/mod-feesfines/fees.h"
#include "modules/mod-feesfines/properties.h"

static const Field owners_fields[] = {
    {"owner_name", "owner", TEXT | INDEX},
    {"service_point_owner", "servicePointOwner", TREE | WORDS | NO_COLUMN},
    {0},
};

const Collection owners = {
    .table = "owners",
    .path = "/owners",
    .list_key = "owners",
    .ops = "LCrud",
    .permission = "owners",
    .record = &owner_record,
    .fields = owners_fields,
    .is_cached = true,
};

static const Field feefines_fields[] = {
    {"owner_id", "ownerId", UUID | INDEX, .references = &owners},
    {"fee_fine_type", "feeFineType", TEXT | INDEX},
    {"is_automatic", "automatic", FLAG},
    {0},
};

static const UniqueKey feefines_keys[] = {
    {"fee_fine_type, owner_id"},
    {0},
};

const Collection feefines = {
    .table = "feefines",
    .path = "/feefines",
    .list_key = "feefines",
    .ops = "Lr", // writing is refused for automatic types: routes of the module
    .permission = "feefines",
    .record = &feefine_record,
    .fields = feefines_fields,
    .uniques = feefines_keys,
    .is_cached = true,
    .has_result_info = true,
    .post_errors_are_text = true,
    .not_found = "FeefineObject does not exist",
    .explain = feefine_explain,
};

static const Field accounts_fields[] = {
    {"loan_id", "loanId", TEXT | INDEX},
    {"user_id", "userId", TEXT | INDEX},
    {"owner_id", "ownerId", TEXT | INDEX | COARSE},
    {"status", "status.name", TEXT | INDEX | COARSE},
    {"item_id", "itemId", TEXT | INDEX},
    {"fee_fine_id", "feeFineId", TEXT | INDEX | COARSE},
    {"payment_status", "paymentStatus.name", TEXT | INDEX | COARSE},
    {"fee_fine_type", "feeFineType", TEXT | INDEX | COARSE},
    {"fee_fine_owner", "feeFineOwner", TEXT},
    {"title", "title", TEXT},
    {"barcode", "barcode", TEXT},
    {"date_created", "dateCreated", TIME},
    {"date_updated", "dateUpdated", TIME},
    {"amount", "amount", NUMBER},
    {"remaining", "remaining", NUMBER},
    {"material_type", "materialType", TEXT},
    {"due_at", "dueDate", TIME},
    {"returned_at", "returnedDate", TIME},
    {"created_at", "metadata.createdDate", TIME | INDEX},
    {0},
};

// Never violated: a small index of what each patron still owes.
static const UniqueKey accounts_keys[] = {
    {"user_id, id", "status = 'open'"},
    {0},
};

const Collection accounts = {
    .table = "accounts",
    .path = "/accounts",
    .list_key = "accounts",
    .ops = "Cud", // reading adds ids of the title: routes of the module
    .permission = "accounts",
    .record = &account_record,
    .fields = accounts_fields,
    .uniques = accounts_keys,
    .has_result_info = true,
    .not_found = "AccountObject does not exist",
    .after_write = account_announce,
};

static const Field feefine_actions_fields[] = {
    {"account_id", "accountId", TEXT | INDEX},
    {"user_id", "userId", TEXT | INDEX},
    {"type_action", "typeAction", TEXT | INDEX | COARSE},
    {"acted_at", "dateAction", TIME | INDEX},
    {"source", "source", TEXT},
    {"service_point_id", "createdAt", TEXT | INDEX | COARSE},
    {"payment_method", "paymentMethod", TEXT},
    {0},
};

const Collection feefine_actions = {
    .table = "feefineactions",
    .path = "/feefineactions",
    .list_key = "feefineactions",
    .ops = "LCrud",
    .permission = "feefineactions",
    .record = &feefine_action_record,
    .fields = feefine_actions_fields,
    .not_found = "FeefineactionObject does not exist",
};

static const Field payments_fields[] = {
    {"owner_id", "ownerId", TEXT | INDEX},
    {"name_method", "nameMethod", TEXT | INDEX},
    {0},
};

const Collection payments = {
    .table = "payments",
    .path = "/payments",
    .list_key = "payments",
    .ops = "LCrud",
    .permission = "payments",
    .record = &payment_record,
    .fields = payments_fields,
    .is_cached = true,
};

static const Field waives_fields[] = {
    {"name_reason", "nameReason", TEXT | INDEX},
    {0},
};

const Collection waives = {
    .table = "waives",
    .path = "/waives",
    .list_key = "waivers",
    .ops = "LCrud",
    .permission = "waives",
    .record = &waive_record,
    .fields = waives_fields,
    .is_cached = true,
};

static const Field refunds_fields[] = {
    {"name_reason", "nameReason", TEXT | INDEX},
    {0},
};

const Collection refunds = {
    .table = "refunds",
    .path = "/refunds",
    .list_key = "refunds",
    .ops = "LCrud",
    .permission = "refunds",
    .record = &refund_record,
    .fields = refunds_fields,
    .is_cached = true,
};

static const Field transfers_fields[] = {
    {"owner_id", "ownerId", TEXT | INDEX},
    {"account_name", "accountName", TEXT | INDEX},
    {0},
};

const Collection transfers = {
    .table = "transfers",
    .path = "/transfers",
    .list_key = "transfers",
    .ops = "LCrud",
    .permission = "transfers",
    .record = &transfer_record,
    .fields = transfers_fields,
    .is_cached = true,
};

const Collection comments = {
    .table = "comments",
    .path = "/comments",
    .list_key = "comments",
    .ops = "LCrud",
    .permission = "comments",
    .record = &comment_record,
    .is_cached = true,
};

const Collection transfer_criterias = {
    .table = "transfer_criteria",
    .path = "/transfer-criterias",
    .list_key = "transferCriterias",
    .ops = "LCrud",
    .permission = "transfer-criterias",
    .record = &transfer_criteria_record,
    .is_cached = true,
};

static const Field manual_blocks_fields[] = {
    {"user_id", "userId", TEXT | INDEX},
    {"expires_at", "expirationDate", TIME | INDEX},
    {"code", "code", TEXT | INDEX},
    {0},
};

const Collection manual_blocks = {
    .table = "manualblocks",
    .path = "/manualblocks",
    .list_key = "manualblocks",
    .ops = "LCrud",
    .permission = "manualblocks",
    .record = &manual_block_record,
    .fields = manual_blocks_fields,
    .not_found = "ManualblockObject does not exist",
    .after_write = manual_block_announce,
};

static const Field manual_block_templates_fields[] = {
    {"name", "name", TEXT | INDEX},
    {"code", "code", TEXT | INDEX},
    {0},
};

const Collection manual_block_templates = {
    .table = "manual_block_templates",
    .path = "/manual-block-templates",
    .list_key = "manualBlockTemplates",
    .ops = "LCrud",
    .permission = "manual-block-templates",
    .record = &manual_block_template_record,
    .fields = manual_block_templates_fields,
    .is_cached = true,
    .put_errors_are_text = true,
};

static const Field unique_name[] = {
    {"name", "name", TEXT | UNIQUE},
    {0},
};

const Collection overdue_fine_policies = {
    .table = "overdue_fine_policy",
    .path = "/overdue-fines-policies",
    .list_key = "overdueFinePolicies",
    .ops = "LCrud",
    .permission = "overdue-fines-policies",
    .record = &overdue_fine_policy_record,
    .fields = unique_name,
    .is_cached = true,
    .before_write = overdue_policy_check,
    .before_delete = overdue_policy_must_be_unused,
    .explain = overdue_policy_explain,
};

const Collection lost_item_fee_policies = {
    .table = "lost_item_fee_policy",
    .path = "/lost-item-fees-policies",
    .list_key = "lostItemFeePolicies",
    .ops = "LCrud",
    .permission = "lost-item-fees-policies",
    .record = &lost_item_fee_policy_record,
    .fields = unique_name,
    .is_cached = true,
    .before_write = lost_policy_check,
    .before_delete = lost_policy_must_be_unused,
    .explain = lost_policy_explain,
};

const Collection *const feesfines_collections[] = {
    &owners,
    &feefines,
    &accounts,
    &feefine_actions,
    &payments,
    &waives,
    &refunds,
    &transfers,
    &comments,
    &transfer_criterias,
    &manual_blocks,
    &manual_block_templates,
    &overdue_fine_policies,
    &lost_item_fee_policies,
    NULL,
};
