// Manual blocks: staff forbid a patron to borrow, renew or request.
// Source: spec/fees-fines.md 7.
#include "modules/mod-feesfines/fees.h"

Err *manual_blocks_of_user(Tx *tx, Str user_id, Docs *out)
{
    METER("mod-feesfines");
    return tx_where(tx, &manual_blocks, "user_id = $1 order by pk",
                    ARGS(A_TEXT(str_lower(user_id))), out);
}

bool manual_block_is_in_force(const Json *block, Time now)
{
    Time expires_at = 0;

    return !json_time(block, "expirationDate", &expires_at) || expires_at > now;
}

Err *manual_block_announce(Tx *tx, const Json *old, const Json *block)
{
    const char *type = !old    ? "MANUAL_BLOCK_CREATED"
                       : block ? "MANUAL_BLOCK_MODIFIED"
                               : "MANUAL_BLOCK_DELETED";

    return fee_log(tx, type, json_copy(block ? block : old));
}
