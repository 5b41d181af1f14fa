// Parts of notices that have files of their own.
#pragma once

#include "modules/mod-circulation/circulation.h"

// The notice policy that the rules pick for item and recipient, shared; NULL without one.
WARN_UNUSED Err *notice_policy_find(Tx *tx, const NoticeParts *parts, const Json **out);
