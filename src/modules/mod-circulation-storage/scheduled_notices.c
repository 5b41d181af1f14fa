// Scheduled notices of a loan or a request that are no longer to be sent.
// Source: spec/circulation.md 13.3.
#include "modules/mod-circulation-storage/hooks.h"

Err *scheduled_notices_drop_of_loan(Tx *tx, Str loan_id, const char *event)
{
    METER("mod-circulation-storage");
    return tx_exec(tx,
                   "delete from scheduled_notice where loan_id = $1 and "
                   "($2 = '' or triggering_event = $2)",
                   ARGS(A_TEXT(str_lower(loan_id)), A_TEXT(str_lower(str_of(event)))), NULL);
}

Err *scheduled_notices_drop_of_request(Tx *tx, Str request_id)
{
    METER("mod-circulation-storage");
    return tx_exec(tx, "delete from scheduled_notice where request_id = $1",
                   ARGS(A_TEXT(str_lower(request_id))), NULL);
}
