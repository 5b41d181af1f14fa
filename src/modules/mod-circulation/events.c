// What circulation tells other modules: domain events of loans and records for the audit log.
// Source: spec/circulation.md 14.1. A topic that nobody wants costs nothing (decision 56).
#include "modules/mod-circulation/circulation.h"

#include "modules/mod-users/collections.h"

Err *emit_loan_event(Tx *tx, const char *type, const Json *loan, const Json *extra)
{
    Json *payload = json_object();

    json_take(payload, "userId", loan, "userId");
    json_take(payload, "loanId", loan, "id");
    JSON_EACH(member, extra)
    {
        json_put(payload, json_key(member), json_copy(member));
    }
    return tx_emit(tx, "circulation.event", type, json_str(loan, "id"), NULL, payload);
}

Err *emit_log_record(Tx *tx, const char *log_event_type, Json *payload)
{
    METER("mod-circulation");
    Json *record = json_object();

    json_set_str(record, "logEventType", str_of(log_event_type));
    json_set(record, "payload", payload);
    return tx_emit(tx, "audit.log-record", "LOG_RECORD", uuid_new(), NULL, record);
}

Err *emit_loan_log(Tx *tx, const char *action, const Json *loan, const ItemView *item,
                   Str description)
{
    Json *payload = json_object(), *items_array = json_array(), *one = json_object();

    json_take(payload, "userId", loan, "userId");
    json_take(payload, "loanId", loan, "id");
    json_set_str(payload, "action", str_of(action));
    json_set_time(payload, "date", tx_now(tx));
    json_set_str_if(payload, "description", description);
    json_take(payload, "actionComment", loan, "actionComment");
    json_set_str_if(payload, "updatedByUserId", tx_user_id(tx));
    json_take(payload, "servicePointId", loan, "checkoutServicePointId");
    json_take(one, "itemId", loan, "itemId");
    json_take(one, "loanId", loan, "id");
    if (item) {
        json_set_str_if(one, "itemBarcode", item->barcode);
        json_set_str_if(one, "instanceId", item->instance_id);
        json_set_str_if(one, "holdingsRecordId", item->holdings_record_id);
    }
    json_add(items_array, one);
    json_set(payload, "items", items_array);
    return emit_log_record(tx, "LOAN", payload);
}

Err *session_record(Tx *tx, const Json *loan, const char *action_type, Str session_id)
{
    Json *record = json_object();

    json_take(record, "patronId", loan, "userId");
    json_take(record, "loanId", loan, "id");
    json_set_str(record, "actionType", str_of(action_type));
    json_set_str_if(record, "sessionId", session_id);
    return tx_insert(tx, &patron_action_sessions, record);
}
