// Record types of mod-configuration.
#pragma once

#include "json/properties.h"

extern const RecordType configuration_record;
extern const RecordType configuration_audit_record;
