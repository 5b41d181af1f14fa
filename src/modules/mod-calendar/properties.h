// Record types of mod-calendar.
#pragma once

#include "json/properties.h"

extern const RecordType calendar_record;
