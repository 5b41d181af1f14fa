// What the files of mod-notes share.
#pragma once

#include "modules/mod-notes/collections.h"
#include "modules/mod-notes/notes.h"

// notes.c
Err *notes_put(Req *req);

// links.c
Err *note_links_list(Req *req);
Err *note_links_put(Req *req);

// sanitize.c: leaves of HTML what an editor of notes makes: paragraphs, headings, lists, links,
// emphasis. Tags are closed in order, text is escaped, scripts and styles go with their content.
Str html_sanitize(Str html);
// The text without tags, blanks put together: what notes are searched and sorted by.
Str html_text(Str html);
