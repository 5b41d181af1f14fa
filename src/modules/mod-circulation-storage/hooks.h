// What the collections of mod-circulation-storage check and do when a record is written.
#pragma once

#include "octavo.h"

#include "modules/mod-circulation-storage/circulation_storage.h"

// One entry of errors[] as FOLIO's storage modules write it: type 1, code -1, one parameter.
Err *storage_error(const char *key, Str value, Str message); // policies.c

// loans.c
Err *loan_check(Tx *tx, const Json *old, Json *loan);
Err *loan_record_history(Tx *tx, const Json *old, const Json *loan);
Err *loan_explain(Tx *tx, Conflict kind, const Field *field, Str value, const Json *loan);

// requests.c
Err *request_check(Tx *tx, const Json *old, Json *request);
Err *request_explain(Tx *tx, Conflict kind, const Field *field, Str value, const Json *request);

// policies.c
Err *schedule_check(Tx *tx, const Json *old, Json *schedule);
Err *loan_policy_check(Tx *tx, const Json *old, Json *policy);
Err *request_policy_check(Tx *tx, const Json *old, Json *policy);
Err *loan_policy_must_be_unused(Tx *tx, const Json *policy);
Err *request_policy_must_be_unused(Tx *tx, const Json *policy);
Err *service_points_changed(Tx *tx, const Event *events, size_t n);

// notice_policies.c
Err *notice_policy_check(Tx *tx, const Json *old, Json *policy);
Err *notice_policy_must_be_unused(Tx *tx, const Json *policy);
Err *notice_policy_explain(Tx *tx, Conflict kind, const Field *field, Str value,
                           const Json *policy);

// Handlers of routes that no collection covers.
Err *loans_anonymize_user(Req *req);   // anonymize.c
Err *loans_anonymize_listed(Req *req); // anonymize.c
Err *request_create(Req *req);         // request_routes.c
Err *request_put(Req *req);            // request_routes.c
Err *requests_batch(Req *req);         // request_routes.c
Err *rules_storage_get(Req *req);      // rules_storage.c
Err *rules_storage_put(Req *req);      // rules_storage.c
Err *setting_create(Req *req);         // rules_storage.c
Err *sessions_expired(Req *req);       // sessions.c
Err *check_out_locks_list(Req *req);   // sessions.c
Err *check_out_lock_create(Req *req);  // sessions.c
Err *print_events_create(Req *req);    // print_events.c
Err *print_events_status(Req *req);    // print_events.c

// Timers: each run opens its own transactions.
Err *requests_expire_run(Db *db, Time now); // request_expiry.c
Err *tlr_jobs_run(Db *db, Time now);        // tlr_jobs.c
