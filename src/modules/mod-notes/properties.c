// Shapes of the records of mod-notes.
#include "modules/mod-notes/properties.h"

static const Property links[] = {
    {"id", STRING, REQUIRED},
    {"type", STRING, REQUIRED},
    {0},
};

static const Property note[] = {
    {"id", ID},
    {"typeId", ID, REQUIRED},
    {"type", STRING, READ_ONLY},
    {"title", STRING, REQUIRED, .max_len = 255},
    {"domain", STRING, REQUIRED},
    {"content", STRING},
    {"popUpOnCheckOut", BOOLEAN, .fallback = "false"},
    {"popUpOnUser", BOOLEAN, .fallback = "false"},
    {"links", OBJECT, ARRAY, .of = links},
    {"metadata", METADATA},
    {0},
};

const RecordType note_record = {"Note", .open = true, .properties = note};

static const Property note_link[] = {
    {"id", ID}, {"noteId", ID, REQUIRED}, {"objectId", STRING}, {"objectType", STRING}, {0},
};

const RecordType note_link_record = {"NoteLink", .properties = note_link};

static const Property note_type[] = {
    {"id", ID},
    {"name", STRING, REQUIRED, .max_len = 255},
    {"usage", OBJECT, READ_ONLY},
    {"metadata", METADATA},
    {0},
};

const RecordType note_type_record = {"NoteType", .open = true, .properties = note_type};
