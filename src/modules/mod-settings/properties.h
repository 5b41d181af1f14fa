// Record types of mod-settings.
#pragma once

#include "json/properties.h"

extern const RecordType settings_entry_record;
extern const RecordType settings_upload_record; // an entry of an upload: no id
extern const RecordType settings_locale_record;
extern const RecordType settings_base_url_record;
extern const RecordType tenant_address_record;
