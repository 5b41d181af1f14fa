// Record types of mod-feesfines.
#pragma once

#include "json/properties.h"

extern const RecordType owner_record;
extern const RecordType feefine_record;
extern const RecordType account_record;
extern const RecordType feefine_action_record;
extern const RecordType payment_record;
extern const RecordType waive_record;
extern const RecordType refund_record;
extern const RecordType transfer_record;
extern const RecordType comment_record;
extern const RecordType transfer_criteria_record;
extern const RecordType manual_block_record;
extern const RecordType manual_block_template_record;
extern const RecordType overdue_fine_policy_record;
extern const RecordType lost_item_fee_policy_record;
extern const RecordType check_action_record;
extern const RecordType default_action_record;
extern const RecordType cancel_action_record;
extern const RecordType bulk_check_action_record;
extern const RecordType bulk_default_action_record;
extern const RecordType bulk_cancel_action_record;
extern const RecordType actual_cost_bill_record;
extern const RecordType actual_cost_cancel_record;
extern const RecordType refund_report_record;
extern const RecordType cash_drawer_report_record;
extern const RecordType cash_drawer_sources_record;
extern const RecordType financial_report_record;
