// Record types of mod-notes.
#pragma once

#include "json/properties.h"

extern const RecordType note_record;
extern const RecordType note_link_record;
extern const RecordType note_type_record;
