// Record types of mod-permissions.
#pragma once

#include "json/properties.h"

extern const RecordType permission_record;
extern const RecordType permission_user_record;
