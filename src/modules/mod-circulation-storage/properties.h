// Record types of mod-circulation-storage.
#pragma once

#include "json/properties.h"

extern const RecordType loan_record;
extern const RecordType loan_history_record;
extern const RecordType request_record;
extern const RecordType check_in_record;
extern const RecordType check_out_lock_record;
extern const RecordType patron_action_session_record;
extern const RecordType scheduled_notice_record;
extern const RecordType actual_cost_record_record;
extern const RecordType tlr_job_record;
extern const RecordType print_event_record;
extern const RecordType print_events_request_record;
extern const RecordType print_events_status_record;
extern const RecordType loan_policy_record;
extern const RecordType fixed_due_date_schedule_record;
extern const RecordType request_policy_record;
extern const RecordType patron_notice_policy_record;
extern const RecordType staff_slip_record;
extern const RecordType cancellation_reason_record;
extern const RecordType request_preference_record;
extern const RecordType circulation_rules_record;
extern const RecordType circulation_setting_record;
