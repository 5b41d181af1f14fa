// Shapes of the records of mod-feesfines.
#include "modules/mod-feesfines/properties.h"

// The client draws the id of an account, of versions 1 to 5.
#define UUID_PATTERN                                                                               \
    "^[a-fA-F0-9]{8}-[a-fA-F0-9]{4}-[1-5][a-fA-F0-9]{3}-[89abAB][a-fA-F0-9]{3}-[a-fA-F0-9]{12}$"

static const Property service_point_owner[] = {
    {"value", ID, REQUIRED},
    {"label", STRING},
    {0},
};

static const Property owner[] = {
    {"owner", STRING},
    {"desc", STRING},
    {"servicePointOwner", OBJECT, ARRAY, .of = service_point_owner, .open = true},
    {"defaultChargeNoticeId", ID},
    {"defaultActionNoticeId", ID},
    {"metadata", METADATA},
    {"id", ID},
    {0},
};

const RecordType owner_record = {"Owner", .properties = owner};

static const Property feefine[] = {
    {"automatic", BOOLEAN, REQUIRED, .fallback = "false"},
    {"feeFineType", STRING, REQUIRED},
    {"defaultAmount", DECIMAL},
    {"chargeNoticeId", ID},
    {"actionNoticeId", ID},
    {"ownerId", ID},
    {"metadata", METADATA},
    {"id", ID},
    {0},
};

const RecordType feefine_record = {"Feefine", .properties = feefine};

static const Property status[] = {
    {"name", STRING, REQUIRED},
    {0},
};

static const char *const payment_statuses[] = {"Outstanding",
                                               "Paid partially",
                                               "Paid fully",
                                               "Waived partially",
                                               "Waived fully",
                                               "Transferred partially",
                                               "Transferred fully",
                                               "Refunded partially",
                                               "Refunded fully",
                                               "Credited fully",
                                               "Credited partially",
                                               "Cancelled item returned",
                                               "Cancelled item renewed",
                                               "Cancelled item declared lost",
                                               "Cancelled as error",
                                               "Suspended claim returned",
                                               NULL};

static const Property payment_status[] = {
    {"name", STRING, REQUIRED, .one_of = payment_statuses},
    {0},
};

static const Property account[] = {
    {"amount", DECIMAL, REQUIRED},
    {"remaining", DECIMAL, REQUIRED},
    {"dateCreated", DATE_TIME},
    {"dateUpdated", DATE_TIME},
    {"status", OBJECT, REQUIRED, .of = status, .open = true},
    {"paymentStatus", OBJECT, REQUIRED, .of = payment_status, .open = true},
    {"feeFineType", STRING},
    {"feeFineOwner", STRING},
    {"title", STRING},
    {"callNumber", STRING},
    {"barcode", STRING},
    {"materialType", STRING},
    {"itemStatus", OBJECT, .of = status, .open = true},
    {"location", STRING},
    {"metadata", METADATA},
    {"dueDate", DATE_TIME},
    {"returnedDate", DATE_TIME},
    {"loanId", ID},
    {"userId", ID, REQUIRED},
    {"itemId", ID},
    {"materialTypeId", ID},
    {"feeFineId", ID, REQUIRED},
    {"ownerId", ID, REQUIRED},
    {"id", ID, REQUIRED, .pattern = UUID_PATTERN},
    {"holdingsRecordId", ID, READ_ONLY},
    {"instanceId", ID, READ_ONLY},
    {"contributors", OBJECT, ARRAY, .of = status},
    {"loanPolicyId", ID},
    {"overdueFinePolicyId", ID},
    {"lostItemFeePolicyId", ID},
    {"processId", ID},
    {0},
};

const RecordType account_record = {"Account", .properties = account};

static const Property feefine_action[] = {
    {"dateAction", DATE_TIME},
    {"typeAction", STRING},
    {"comments", STRING},
    {"notify", BOOLEAN},
    {"amountAction", DECIMAL},
    {"balance", DECIMAL},
    {"transactionInformation", STRING},
    {"createdAt", ID},
    {"originalCreatedAt", STRING},
    {"source", STRING},
    {"paymentMethod", STRING},
    {"accountId", ID, REQUIRED},
    {"userId", ID, REQUIRED},
    {"id", ID},
    {0},
};

const RecordType feefine_action_record = {"Feefineaction", .properties = feefine_action};

static const Property payment[] = {
    {"nameMethod", STRING, REQUIRED},
    {"allowedRefundMethod", BOOLEAN},
    {"metadata", METADATA},
    {"ownerId", ID},
    {"id", ID},
    {0},
};

const RecordType payment_record = {"Payment", .properties = payment};

static const Property waive[] = {
    {"nameReason", STRING, REQUIRED},
    {"description", STRING},
    {"metadata", METADATA},
    {"accountId", ID},
    {"id", ID},
    {0},
};

const RecordType waive_record = {"Waiver", .properties = waive};

static const Property refund[] = {
    {"nameReason", STRING, REQUIRED},
    {"description", STRING},
    {"metadata", METADATA},
    {"accountId", ID},
    {"id", ID},
    {0},
};

const RecordType refund_record = {"Refund", .properties = refund};

static const Property transfer[] = {
    {"accountName", STRING, REQUIRED},
    {"desc", STRING},
    {"metadata", METADATA},
    {"ownerId", ID},
    {"id", ID},
    {0},
};

const RecordType transfer_record = {"Transfer", .properties = transfer};

static const Property comment[] = {
    {"paid", BOOLEAN},
    {"waived", BOOLEAN},
    {"refunded", BOOLEAN},
    {"transferredManually", BOOLEAN},
    {"metadata", METADATA},
    {"id", ID},
    {0},
};

const RecordType comment_record = {"Comment", .properties = comment};

static const Property transfer_criteria[] = {
    {"criteria", STRING}, {"type", STRING}, {"value", DECIMAL},
    {"interval", STRING}, {"id", ID},       {0},
};

const RecordType transfer_criteria_record = {"TransferCriteria", .properties = transfer_criteria};

static const Property manual_block[] = {
    {"type", STRING},
    {"desc", STRING, REQUIRED},
    {"code", STRING},
    {"staffInformation", STRING},
    {"patronMessage", STRING},
    {"expirationDate", DATE_TIME},
    {"borrowing", BOOLEAN},
    {"renewals", BOOLEAN},
    {"requests", BOOLEAN},
    {"userId", ID, REQUIRED},
    {"metadata", METADATA},
    {"id", ID},
    {0},
};

const RecordType manual_block_record = {"Manualblock", .properties = manual_block};

static const Property block_template[] = {
    {"desc", STRING},      {"patronMessage", STRING}, {"borrowing", BOOLEAN},
    {"renewals", BOOLEAN}, {"requests", BOOLEAN},     {0},
};

static const Property manual_block_template[] = {
    {"name", STRING, REQUIRED},
    {"code", STRING},
    {"desc", STRING},
    {"blockTemplate", OBJECT, .of = block_template, .open = true},
    {"metadata", METADATA},
    {"id", ID},
    {0},
};

const RecordType manual_block_template_record = {"ManualBlockTemplate",
                                                 .properties = manual_block_template};

static const char *const fine_intervals[] = {"minute", "hour", "day", "week",
                                             "month",  "year", NULL};

static const Property quantity[] = {
    {"quantity", DECIMAL},
    {"intervalId", STRING, .one_of = fine_intervals},
    {0},
};

static const char *const reminder_units[] = {"day", "week", "minute", NULL};

static const char *const notice_formats[] = {"Email", "Print", "None", NULL};

static const Property reminder_schedule[] = {
    {"interval", INTEGER, REQUIRED},
    {"timeUnitId", STRING, REQUIRED, .one_of = reminder_units},
    {"reminderFee", DECIMAL, REQUIRED},
    {"noticeFormat", STRING, .one_of = notice_formats},
    {"noticeTemplateId", ID, REQUIRED},
    {"blockTemplateId", ID},
    {0},
};

static const Property reminder_fees_policy[] = {
    {"countClosed", BOOLEAN},
    {"ignoreGracePeriodRecall", BOOLEAN},
    {"ignoreGracePeriodHolds", BOOLEAN},
    {"allowRenewalOfItemsWithReminderFees", BOOLEAN},
    {"clearPatronBlockWhenPaid", BOOLEAN},
    {"reminderSchedule", OBJECT, ARRAY, .of = reminder_schedule},
    {0},
};

static const Property overdue_fine_policy[] = {
    {"name", STRING, REQUIRED},
    {"description", STRING},
    {"overdueFine", OBJECT, .of = quantity},
    {"countClosed", BOOLEAN},
    {"maxOverdueFine", DECIMAL},
    {"forgiveOverdueFine", BOOLEAN},
    {"overdueRecallFine", OBJECT, .of = quantity},
    {"gracePeriodRecall", BOOLEAN},
    {"maxOverdueRecallFine", DECIMAL},
    {"reminderFeesPolicy", OBJECT, .of = reminder_fees_policy},
    {"metadata", METADATA},
    {"id", ID},
    {0},
};

const RecordType overdue_fine_policy_record = {"OverdueFinePolicy",
                                               .properties = overdue_fine_policy};

static const char *const intervals[] = {"Minutes", "Hours", "Days", "Weeks",
                                        "Months",  "Years", NULL};

static const Property period[] = {
    {"duration", INTEGER, .min = 1, .has_min = true},
    {"intervalId", STRING, .one_of = intervals},
    {0},
};

static const Property charge[] = {
    {"chargeType", STRING},
    {"amount", DECIMAL},
    {0},
};

static const Property lost_item_fee_policy[] = {
    {"name", STRING, REQUIRED},
    {"description", STRING},
    {"itemAgedLostOverdue", OBJECT, .of = period},
    {"patronBilledAfterAgedLost", OBJECT, .of = period},
    {"recalledItemAgedLostOverdue", OBJECT, .of = period},
    {"patronBilledAfterRecalledItemAgedLost", OBJECT, .of = period},
    {"chargeAmountItem", OBJECT, .of = charge},
    {"lostItemProcessingFee", DECIMAL},
    {"chargeAmountItemPatron", BOOLEAN},
    {"chargeAmountItemSystem", BOOLEAN},
    {"lostItemChargeFeeFine", OBJECT, .of = period},
    {"returnedLostItemProcessingFee", BOOLEAN},
    {"replacedLostItemProcessingFee", BOOLEAN},
    {"replacementProcessingFee", DECIMAL},
    {"replacementAllowed", BOOLEAN},
    {"lostItemReturned", STRING},
    {"feesFinesShallRefunded", OBJECT, .of = period},
    {"metadata", METADATA},
    {"id", ID},
    {0},
};

const RecordType lost_item_fee_policy_record = {"LostItemFeePolicy",
                                                .properties = lost_item_fee_policy};

// Bodies of actions on accounts, of bills, and of reports.
static const Property check_action[] = {
    {"amount", STRING, REQUIRED},
    {0},
};

const RecordType check_action_record = {"CheckActionRequest", .properties = check_action};

static const Property default_action[] = {
    {"amount", STRING, REQUIRED},        {"comments", STRING},
    {"transactionInfo", STRING},         {"notifyPatron", BOOLEAN, REQUIRED},
    {"servicePointId", ID, REQUIRED},    {"userName", STRING, REQUIRED},
    {"paymentMethod", STRING, REQUIRED}, {0},
};

const RecordType default_action_record = {"DefaultActionRequest", .properties = default_action};

static const Property cancel_action[] = {
    {"comments", STRING},
    {"notifyPatron", BOOLEAN, REQUIRED},
    {"servicePointId", ID, REQUIRED},
    {"userName", STRING, REQUIRED},
    {"cancellationReason", STRING, .fallback = "\"Cancelled as error\""},
    {0},
};

const RecordType cancel_action_record = {"CancelActionRequest", .properties = cancel_action};

static const Property bulk_check_action[] = {
    {"accountIds", ID, REQUIRED | ARRAY},
    {"amount", STRING, REQUIRED},
    {0},
};

const RecordType bulk_check_action_record = {"BulkCheckActionRequest",
                                             .properties = bulk_check_action};

static const Property bulk_default_action[] = {
    {"accountIds", ID, REQUIRED | ARRAY},
    {"amount", STRING, REQUIRED},
    {"comments", STRING},
    {"transactionInfo", STRING},
    {"notifyPatron", BOOLEAN, REQUIRED},
    {"servicePointId", ID, REQUIRED},
    {"userName", STRING, REQUIRED},
    {"paymentMethod", STRING, REQUIRED},
    {0},
};

const RecordType bulk_default_action_record = {"DefaultBulkActionRequest",
                                               .properties = bulk_default_action};

static const Property bulk_cancel_action[] = {
    {"accountIds", ID, REQUIRED | ARRAY}, {"comments", STRING, REQUIRED},
    {"notifyPatron", BOOLEAN, REQUIRED},  {"servicePointId", ID, REQUIRED},
    {"userName", STRING, REQUIRED},       {0},
};

const RecordType bulk_cancel_action_record = {"CancelBulkActionRequest",
                                              .properties = bulk_cancel_action};

static const Property actual_cost_bill[] = {
    {"actualCostRecordId", ID, REQUIRED},
    {"amount", DECIMAL, REQUIRED, .has_min = true},
    {"servicePointId", ID},
    {"additionalInfoForStaff", STRING},
    {"additionalInfoForPatron", STRING},
    {0},
};

const RecordType actual_cost_bill_record = {"ActualCostFeeFineBill",
                                            .properties = actual_cost_bill};

static const Property actual_cost_cancel[] = {
    {"actualCostRecordId", ID, REQUIRED},
    {"additionalInfoForStaff", STRING},
    {"additionalInfoForPatron", STRING},
    {0},
};

const RecordType actual_cost_cancel_record = {"ActualCostFeeFineCancel",
                                              .properties = actual_cost_cancel};

static const Property refund_report[] = {
    {"startDate", STRING},
    {"endDate", STRING},
    {"feeFineOwners", ID, ARRAY},
    {0},
};

const RecordType refund_report_record = {"RefundReportRequest", .properties = refund_report};

static const Property cash_drawer_report[] = {
    {"startDate", STRING, REQUIRED},
    {"endDate", STRING},
    {"createdAt", ID, REQUIRED},
    {"sources", STRING, ARRAY},
    {0},
};

const RecordType cash_drawer_report_record = {"CashDrawerReconciliationReportRequest",
                                              .properties = cash_drawer_report};

static const Property cash_drawer_sources[] = {
    {"createdAt", ID, REQUIRED},
    {0},
};

const RecordType cash_drawer_sources_record = {"CashDrawerReconciliationReportSourcesRequest",
                                               .properties = cash_drawer_sources};

static const Property financial_report[] = {
    {"feeFineOwner", ID, REQUIRED},
    {"createdAt", ID, ARRAY},
    {"startDate", STRING, REQUIRED},
    {"endDate", STRING},
    {0},
};

const RecordType financial_report_record = {"FinancialTransactionsDetailReportRequest",
                                            .properties = financial_report};
