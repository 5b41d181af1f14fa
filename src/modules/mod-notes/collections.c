// Collections of mod-notes: notes and their types.
#include "modules/mod-notes/collections.h"

#include "modules/mod-notes/properties.h"

// `usage` is computed on the way out.
static const Field unique_name[] = {
    {"name", "name", TEXT | UNIQUE},
    {0},
};

const Collection note_types = {
    .table = "note_type",
    .path = "/note-types",
    .list_key = "noteTypes",
    .ops = "LCrud",
    .permission = "note.types",
    .record = &note_type_record,
    .fields = unique_name,
    .is_cached = true,
};

// Notes of an object are found by the words of `links`: the object's id and type.
static const Field notes_fields[] = {
    {"type_id", "typeId", UUID | INDEX, .references = &note_types},
    {"title", "title", TEXT | INDEX | WORDS},
    {"domain", "domain", TEXT | INDEX},
    {"content", "content", TEXT | WORDS | NO_COLUMN},
    {"links", "links", TREE | WORDS | NO_COLUMN},
    {"is_pop_up_on_check_out", "popUpOnCheckOut", FLAG},
    {"is_pop_up_on_user", "popUpOnUser", FLAG},
    {"updated_at", "metadata.updatedDate", TIME | INDEX},
    {0},
};

const Collection notes = {
    .table = "note",
    .path = "/notes",
    .list_key = "notes",
    .ops = "LCrud",
    .permission = "notes",
    .permissions = {.list = "notes.collection.get notes.domain.all",
                    .create = "notes.item.post notes.domain.all",
                    .get = "notes.item.get notes.domain.all",
                    .put = "notes.item.put notes.domain.all",
                    .delete_one = "notes.item.delete notes.domain.all"},
    .record = &note_record,
    .fields = notes_fields,
};

const Collection *const notes_collections[] = {
    &note_types,
    &notes,
    NULL,
};
