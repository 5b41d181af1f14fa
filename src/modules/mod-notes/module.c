// mod-notes: notes with types, linked to objects of other modules.
// FOLIO: mod-notes 5.2. Source: spec/platform.md 6.2.
#include "modules/mod-notes/internal.h"

#include "gateway/spring.h"

// Written out where newer releases ask for fewer permissions.
static const Route routes[] = {
    {GET, "/notes", READ, spring_list, "notes.collection.get notes.domain.all",
     .later_permission = "notes.collection.get", .collection = &notes},
    {POST, "/notes", WRITE, spring_create, "notes.item.post notes.domain.all",
     .later_permission = "notes.item.post", .takes_any_body = true, .collection = &notes},
    {GET, "/notes/{id}", READ, spring_get, "notes.item.get notes.domain.all",
     .later_permission = "notes.item.get", .collection = &notes},
    {PUT, "/notes/{id}", WRITE, notes_put, "notes.item.put notes.domain.all",
     .later_permission = "notes.item.put", .takes_any_body = true},
    {DELETE, "/notes/{id}", WRITE, spring_delete, "notes.item.delete notes.domain.all",
     .later_permission = "notes.item.delete", .collection = &notes},
    {GET, "/note-links/domain/{domain}/type/{type}/id/{id}", READ, note_links_list,
     "notes.collection.get.by.status", .later_permission = "note.links.collection.get"},
    {PUT, "/note-links/type/{type}/id/{id}", WRITE, note_links_put, "note.links.collection.put",
     .takes_any_body = true},
    {0},
};

static const Collection *const generated[] = {&note_types, NULL};

static const Interface provides[] = {
    {"notes", "3.0", routes, generated, .latest = "4.0"},
    {0},
};

static const char *const requires[] = {"users 15.1 16.0", "configuration 2.0", NULL};

const Module mod_notes = {
    .name = "mod-notes",
    .version = "5.2.0",
    .provides = provides,
    .requires = requires,
    .collections = notes_collections,
};
