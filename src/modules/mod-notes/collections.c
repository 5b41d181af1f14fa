// Collections of mod-notes: notes and their types.
#include "modules/mod-notes/collections.h"

#include "modules/mod-notes/hooks.h"
#include "modules/mod-notes/properties.h"

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
    .is_spring = true,
    .not_found = "Note type with ID [%s] was not found",
    .before_write = note_type_before_write,
    .on_read = note_type_read,
    .explain = note_type_explain,
};

static const Field notes_fields[] = {
    {"type_id", "typeId", UUID | INDEX, .references = &note_types},
    {"title", "title", TEXT | INDEX | WORDS},
    {"domain", "domain", TEXT | INDEX | COARSE},
    {"content", "content", TEXT | WORDS | NO_COLUMN},
    {"indexed_content", "content", TEXT, .cql_name = "indexedContent",
     .compute = note_indexed_content},
    {"links", "links", TREE | WORDS | NO_COLUMN},
    {"is_pop_up_on_check_out", "popUpOnCheckOut", FLAG},
    {"is_pop_up_on_user", "popUpOnUser", FLAG},
    {"updated_at", "metadata.updatedDate", TIME | INDEX},
    {0},
};

static const Join notes_joins[] = {
    {"noteType", &note_types, .own_column = "type_id", .sorts = true},
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
    .is_spring = true,
    .not_found = "Note with ID [%s] was not found",
    .fields = notes_fields,
    .joins = notes_joins,
    .before_write = note_before_write,
    .after_write = note_after_write,
    .on_read = note_read,
    .explain = note_explain,
};

// Which objects a note is about, so that the notes of an object are found by an index. Made from
// the notes' `links`.
static const Field note_links_fields[] = {
    {"note_id", "noteId", UUID | INDEX},
    {"object_id", "objectId", TEXT | INDEX | KEEP_CASE | KEEP_ACCENTS},
    {"object_type", "objectType", TEXT | KEEP_CASE | KEEP_ACCENTS},
    {0},
};

const Collection note_links = {
    .table = "note_link",
    .record = &note_link_record,
    .fields = note_links_fields,
};

const Collection *const notes_collections[] = {
    &note_types,
    &notes,
    &note_links,
    NULL,
};
