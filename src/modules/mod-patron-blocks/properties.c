// Shapes of the records of mod-patron-blocks.
#include "modules/mod-patron-blocks/properties.h"

static const char *const value_types[] = {"Integer", "Double", NULL};

static const Property patron_block_condition[] = {
    {"id", ID, REQUIRED},
    {"name", STRING, REQUIRED},
    {"blockBorrowing", BOOLEAN, REQUIRED},
    {"blockRenewals", BOOLEAN, REQUIRED},
    {"blockRequests", BOOLEAN, REQUIRED},
    {"valueType", STRING, REQUIRED, .one_of = value_types},
    {"message", STRING},
    {"metadata", METADATA},
    {0},
};

const RecordType patron_block_condition_record = {"PatronBlockCondition", .open = true,
                                                  .properties = patron_block_condition};

static const Property patron_block_limit[] = {
    {"id", ID, REQUIRED},         {"patronGroupId", ID, REQUIRED}, {"conditionId", ID, REQUIRED},
    {"value", DECIMAL, REQUIRED}, {"metadata", METADATA},          {0},
};

const RecordType patron_block_limit_record = {"PatronBlockLimit", .open = true,
                                              .properties = patron_block_limit};

static const char *const intervals[] = {"Minutes", "Hours", "Days", "Weeks", "Months", NULL};

static const Property period[] = {
    {"duration", INTEGER, REQUIRED, .min = 1, .has_min = true},
    {"intervalId", STRING, REQUIRED, .one_of = intervals},
    {0},
};

static const Property open_loans[] = {
    {"loanId", ID, REQUIRED},
    {"dueDate", DATE_TIME, REQUIRED},
    {"recall", BOOLEAN, REQUIRED, .fallback = "false"},
    {"itemLost", BOOLEAN, .fallback = "false"},
    {"itemClaimedReturned", BOOLEAN, .fallback = "false"},
    {"gracePeriod", OBJECT, .of = period, .open = true},
    {0},
};

static const Property open_fees_fines[] = {
    {"feeFineId", ID, REQUIRED},
    {"feeFineTypeId", ID, REQUIRED},
    {"loanId", ID},
    {"balance", DECIMAL, REQUIRED},
    {0},
};

static const Property user_summary[] = {
    {"id", ID, REQUIRED},
    {"_version", INTEGER},
    {"userId", ID, REQUIRED},
    {"openLoans", OBJECT, REQUIRED | ARRAY, .of = open_loans},
    {"openFeesFines", OBJECT, REQUIRED | ARRAY, .of = open_fees_fines},
    {"metadata", METADATA},
    {0},
};

const RecordType user_summary_record = {"UserSummary", .properties = user_summary};

static const char *const sync_scopes[] = {"user", "full", NULL};

static const Property sync_job[] = {
    {"id", ID},
    {"scope", STRING, REQUIRED, .one_of = sync_scopes},
    {"userId", ID},
    {"status", STRING},
    {"totalNumberOfLoans", INTEGER},
    {"totalNumberOfFeesFines", INTEGER},
    {"numberOfProcessedLoans", INTEGER},
    {"numberOfProcessedFeesFines", INTEGER},
    {"errors", STRING, ARRAY},
    {"metadata", METADATA},
    {0},
};

const RecordType sync_job_record = {"SynchronizationJob", .properties = sync_job};

static const Property fee_fine_balance_changed[] = {
    {"id", ID},     {"feeFineId", ID, REQUIRED},    {"userId", ID},         {"feeFineTypeId", ID},
    {"loanId", ID}, {"balance", DECIMAL, REQUIRED}, {"metadata", METADATA}, {0},
};

const RecordType fee_fine_balance_changed_record = {"FeeFineBalanceChangedEvent", .open = true,
                                                    .properties = fee_fine_balance_changed};

static const Property item_checked_out[] = {
    {"id", ID},
    {"userId", ID, REQUIRED},
    {"loanId", ID, REQUIRED},
    {"dueDate", DATE_TIME, REQUIRED},
    {"metadata", METADATA},
    {"gracePeriod", OBJECT, .of = period, .open = true},
    {0},
};

const RecordType item_checked_out_record = {"ItemCheckedOutEvent", .open = true,
                                            .properties = item_checked_out};

static const Property item_checked_in[] = {
    {"id", ID},
    {"userId", ID, REQUIRED},
    {"loanId", ID, REQUIRED},
    {"returnDate", DATE_TIME},
    {"metadata", METADATA},
    {0},
};

const RecordType item_checked_in_record = {"ItemCheckedInEvent", .open = true,
                                           .properties = item_checked_in};

static const Property item_declared_lost[] = {
    {"id", ID}, {"userId", ID, REQUIRED}, {"loanId", ID, REQUIRED}, {"metadata", METADATA}, {0},
};

const RecordType item_declared_lost_record = {"ItemDeclaredLostEvent", .open = true,
                                              .properties = item_declared_lost};

static const Property item_aged_to_lost[] = {
    {"id", ID}, {"userId", ID, REQUIRED}, {"loanId", ID, REQUIRED}, {"metadata", METADATA}, {0},
};

const RecordType item_aged_to_lost_record = {"ItemAgedToLostEvent", .open = true,
                                             .properties = item_aged_to_lost};

static const Property item_claimed_returned[] = {
    {"id", ID}, {"userId", ID, REQUIRED}, {"loanId", ID, REQUIRED}, {"metadata", METADATA}, {0},
};

const RecordType item_claimed_returned_record = {"ItemClaimedReturnedEvent", .open = true,
                                                 .properties = item_claimed_returned};

static const Property loan_due_date_changed[] = {
    {"id", ID},
    {"userId", ID, REQUIRED},
    {"loanId", ID, REQUIRED},
    {"dueDate", DATE_TIME, REQUIRED},
    {"dueDateChangedByRecall", BOOLEAN, REQUIRED},
    {"metadata", METADATA},
    {0},
};

const RecordType loan_due_date_changed_record = {"LoanDueDateChangedEvent", .open = true,
                                                 .properties = loan_due_date_changed};

static const Property loan_closed[] = {
    {"id", ID}, {"userId", ID, REQUIRED}, {"loanId", ID, REQUIRED}, {"metadata", METADATA}, {0},
};

const RecordType loan_closed_record = {"LoanClosedEvent", .open = true, .properties = loan_closed};
