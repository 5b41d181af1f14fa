// What the JSON reader accepts is written and read back as the same value; what a property table
// accepts, it accepts again without a change.
#include "json/properties.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {"Available", "Paged", NULL};

static const Property note[] = {
    {"note", STRING, REQUIRED, .max_len = 20},
    {"staffOnly", BOOLEAN, .fallback = "false"},
    {"typeId", ID},
    {0},
};

static const Property status[] = {
    {"name", STRING, REQUIRED, .one_of = names},
    {"date", DATE_TIME},
    {0},
};

static const Property item[] = {
    {"id", ID},
    {"barcode", STRING, .pattern = "[a-z0-9]*"},
    {"status", OBJECT, .of = status, .open = true},
    {"notes", OBJECT, ARRAY | UNIQUE_ITEMS, .of = note},
    {"codes", ID, ARRAY | UNIQUE_ITEMS},
    {"n", DECIMAL, ARRAY},
    {"a", INTEGER, .min = 0, .has_min = true},
    {"dates", DATE, ARRAY | NO_EMPTY},
    {"z", ANY},
    {"metadata", METADATA},
    {0},
};

static const RecordType item_record = {"Item", .properties = item};

static void check_properties(Json *doc)
{
    if (properties_check(&item_record, doc)) {
        return;
    }
    Json *once = json_copy(doc);
    Err *err = properties_check(&item_record, doc);
    if (err || !json_equal(once, doc)) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Json *doc = NULL, *again = NULL;
    Arena *arena = arena_current();

    arena_reset(arena);
    if (json_parse((Str){(const char *)data, size}, &doc)) {
        return 0;
    }
    if (json_parse(json_text(doc), &again) || !json_equal(doc, again)) {
        abort();
    }
    if (json_parse(json_text_indented(doc), &again) || !json_equal(again, doc)) {
        abort();
    }
    if (!json_equal(json_copy(doc), doc)) {
        abort();
    }
    json_pg_text(doc);
    if (json_is_object(doc)) {
        json_merge(again, doc);
    }
    check_properties(doc);
    return 0;
}
