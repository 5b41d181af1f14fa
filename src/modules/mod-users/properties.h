// Record types of mod-users.
#pragma once

#include "json/properties.h"

extern const RecordType user_record;
extern const RecordType user_group_record;
extern const RecordType address_type_record;
extern const RecordType department_record;
extern const RecordType proxy_record;
extern const RecordType user_tenant_record;
extern const RecordType patron_pin_record;
extern const RecordType staging_user_record;
extern const RecordType user_setting_record;
extern const RecordType profile_picture_record;
extern const RecordType picture_settings_record;
extern const RecordType custom_field_record;
