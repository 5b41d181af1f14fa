// Record types of mod-login.
#pragma once

#include "json/properties.h"

extern const RecordType credentials_record;
extern const RecordType login_attempts_record;
extern const RecordType credentials_history_record;
extern const RecordType password_action_record;
extern const RecordType login_event_record;
