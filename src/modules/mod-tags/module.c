// mod-tags: the vocabulary of tags. Records carry their tags as plain texts; deleting one here
// leaves them.
// FOLIO: mod-tags 2.2. Source: spec/platform.md 6.1.
#include "modules/mod-tags/tags.h"

#include "gateway/spring.h"

static const Property tag[] = {
    {"id", ID},
    {"label", STRING, REQUIRED, .max_len = 255},
    {"description", STRING, .max_len = 255},
    {"metadata", METADATA},
    {0},
};

static const RecordType tag_record = {"Tag", .open = true, .properties = tag};

// Queries ignore the case of a label, its uniqueness does not.
static const Field tag_fields[] = {
    {"label", "label", TEXT | INDEX | KEEP_ACCENTS},
    {"unique_label", "label", TEXT | UNIQUE | KEEP_CASE | KEEP_ACCENTS, .cql_name = ""},
    {0},
};

const Collection tags = {
    .table = "tags",
    .path = "/tags",
    .list_key = "tags",
    .ops = "LCrud",
    .permission = "tags",
    .record = &tag_record,
    .fields = tag_fields,
    .is_spring = true,
    .default_sort = "label",
    .not_found = "Tag with id [%s] was not found",
    .explain = spring_explain,
};

const Collection *const tags_collections[] = {&tags, NULL};

static const Interface provides[] = {{"tags", "1.0", .collections = tags_collections}, {0}};

const Module mod_tags = {
    .name = "mod-tags",
    .version = "2.2.0",
    .provides = provides,
    .collections = tags_collections,
};
