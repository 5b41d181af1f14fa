// Instances on their way into the store. Source: spec/inventory.md 3.1, 3.4.
#include "modules/mod-inventory-storage/storage.h"

static const char *const instance_lists[] = {"instanceFormatIds",
                                             "physicalDescriptions",
                                             "languages",
                                             "administrativeNotes",
                                             "editions",
                                             "publicationRange",
                                             "publicationFrequency",
                                             "natureOfContentTermIds",
                                             "statisticalCodeIds",
                                             "tags.tagList",
                                             NULL};

static const RecordRules instance_rules = {HRID_INSTANCES, instance_lists};

static Err *subject_part_check(Tx *tx, const Collection *of, Str id, const char *what)
{
    const Json *found = NULL;

    if (!id.len) {
        return NULL;
    }
    TRY(tx_ref(tx, of, id, &found));
    return found ? NULL : err_text(400, "subject %s doesn't exist: " STR_FMT, what, STR_ARG(id));
}

static Err *subjects_check(Tx *tx, const Json *doc)
{
    JSON_EACH(subject, json_get(doc, "subjects"))
    {
        TRY(subject_part_check(tx, &subject_sources, json_str(subject, "sourceId"), "source"));
        TRY(subject_part_check(tx, &subject_types, json_str(subject, "typeId"), "type"));
    }
    return NULL;
}

static void status_date_set(Tx *tx, const Json *old, Json *doc)
{
    if (old && str_eq(json_str(old, "statusId"), json_str(doc, "statusId"))) {
        json_remove(doc, "statusUpdatedDate");
        json_take(doc, "statusUpdatedDate", old, "statusUpdatedDate");
    } else {
        json_set_str(doc, "statusUpdatedDate", time_format_basic(tx_now(tx)));
    }
}

// Only the routes of the source record set or clear the format; to clear it they leave a null.
static void record_format_keep(const Json *old, Json *doc)
{
    const Json *format = json_get(doc, "sourceRecordFormat");

    if (!format) {
        json_take(doc, "sourceRecordFormat", old, "sourceRecordFormat");
    } else if (json_is_null(format)) {
        json_remove(doc, "sourceRecordFormat");
    }
}

Err *instance_before_write(Tx *tx, const Json *old, Json *doc)
{
    TRY(record_rules_apply(tx, &instance_rules, old, doc));
    TRY(subjects_check(tx, doc));
    status_date_set(tx, old, doc);
    record_format_keep(old, doc);
    return NULL;
}

Err *instance_after_write(Tx *tx, const Json *old, const Json *doc)
{
    if (doc) {
        return NULL;
    }
    // The MARC goes with its instance.
    TRY(tx_exec(tx, "delete from instance_source_marc where id = $1",
                ARGS(A_TEXT(json_str(old, "id"))), NULL));
    return deleted_note(tx, &deleted_instances, old);
}

Err *instance_explain(Tx *tx, Conflict kind, const Field *field, Str value, const Json *doc)
{
    (void)doc;
    return hrid_explain(tx, &instances, kind, field, value);
}

Err *title_link_before_write(Tx *tx, const Json *old, Json *doc)
{
    (void)tx, (void)old;
    if (json_has(doc, "precedingInstanceId") || json_has(doc, "succeedingInstanceId")) {
        return NULL;
    }
    return err_422(S("-1"),
                   S("The precedingInstanceId and succeedingInstanceId can't be empty at the same "
                     "time"),
                   P_NULL("precedingInstanceId"), P_NULL("succeedingInstanceId"));
}
