// Collections of mod-circulation-storage.
#pragma once

#include "store/store.h"

extern const Collection fixed_due_date_schedules;
extern const Collection loan_policies;
extern const Collection request_policies;
extern const Collection patron_notice_policies;
extern const Collection staff_slips;
extern const Collection cancellation_reasons;
extern const Collection circulation_rules;
extern const Collection circulation_settings;
extern const Collection request_preferences;
extern const Collection loans;
extern const Collection loan_history;
extern const Collection requests;
extern const Collection check_ins;
extern const Collection check_out_locks;
extern const Collection patron_action_sessions;
extern const Collection scheduled_notices;
extern const Collection actual_cost_records;
extern const Collection tlr_jobs;
extern const Collection print_events;

// All of the module, NULL at the end.
extern const Collection *const circulation_storage_collections[];
