// Record types of mod-patron-blocks.
#pragma once

#include "json/properties.h"

extern const RecordType patron_block_condition_record;
extern const RecordType patron_block_limit_record;
extern const RecordType user_summary_record;
extern const RecordType sync_job_record;
extern const RecordType fee_fine_balance_changed_record;
extern const RecordType item_checked_out_record;
extern const RecordType item_checked_in_record;
extern const RecordType item_declared_lost_record;
extern const RecordType item_aged_to_lost_record;
extern const RecordType item_claimed_returned_record;
extern const RecordType loan_due_date_changed_record;
extern const RecordType loan_closed_record;
