// Writing records: defaults, checks, hooks, references, row, side columns, words, event - in this
// order. Source: spec/storage-and-cql.md 1.4-1.6.
#include "store/engine.h"

#include "base/uuid.h"

#include <string.h>

enum { VERSION_LIMIT = 0x7fffffff };

// ---------------------------------------------------------------------------------------------
// What the server sets

static void metadata_stamp(Tx *tx, const Shape *shape, const Json *old, Json *doc)
{
    if (!shape->has_metadata) {
        return;
    }
    Json *metadata = json_object();
    Str now = time_format(tx_now(tx));

    if (old && json_has(old, "metadata.createdDate")) {
        json_take(metadata, "createdDate", old, "metadata.createdDate");
        json_take(metadata, "createdByUserId", old, "metadata.createdByUserId");
        json_take(metadata, "createdByUsername", old, "metadata.createdByUsername");
    } else {
        json_set_str(metadata, "createdDate", now);
        json_set_str_if(metadata, "createdByUserId", tx_user_id(tx));
    }
    json_set_str(metadata, "updatedDate", now);
    json_set_str_if(metadata, "updatedByUserId", tx_user_id(tx));
    json_set(doc, "metadata", metadata);
}

static void version_raise(const Collection *of, const Json *old, Json *doc)
{
    if (of->locking == LOCKING_OFF) {
        return;
    }
    int64_t version = json_int(old, "_version", 0);

    json_set_int(doc, "_version", version >= VERSION_LIMIT ? 0 : version + 1);
}

// -1 counts as missing. Source: spec/storage-and-cql.md 1.6.
static Str version_text(const Json *doc)
{
    int64_t version = json_int(doc, "_version", -1);

    return version == -1 ? S("<NULL>") : str_fmt("%lld", (long long)version);
}

static Err *version_check(const Collection *of, const Json *old, const Json *doc)
{
    if (of->locking == LOCKING_OFF) {
        return NULL;
    }
    Str stored = version_text(old);
    Str sent = version_text(doc);

    if (str_eq(stored, sent)) {
        return NULL;
    }
    return err_text(409,
                    "ERROR: Cannot update record " STR_FMT
                    " because it has been changed (optimistic locking): Stored _version is " STR_FMT
                    ", _version of request is " STR_FMT " (23F09)",
                    STR_ARG(json_str(doc, "id")), STR_ARG(stored), STR_ARG(sent));
}

static Err *id_check(const Collection *of, Json *doc, bool may_make)
{
    Str id = json_str(doc, "id");

    if (may_make && !json_has(doc, "id")) {
        json_set_str(doc, "id", uuid_new());
        return NULL;
    }
    if (!uuid_is_valid(id)) {
        return invalid_id(of, id);
    }
    json_set_str(doc, "id", str_lower(id));
    return NULL;
}

static Err *shape_check(const Collection *of, Json *doc)
{
    return of->record ? properties_check(of->record, doc) : NULL;
}

// ---------------------------------------------------------------------------------------------
// Event and words

static Err *event_write(Tx *tx, const Collection *of, const char *type, const Json *old,
                        const Json *now)
{
    const Json *doc = now ? now : old;
    Str key = json_str(doc, "id");

    if (!of->event || !store_wants_topic(db_store(tx_db(tx)), of->event)) {
        return NULL;
    }
    if (of->event_key) {
        TRY(of->event_key(tx, doc, &key));
    }
    if (of->event_view && old) {
        TRY(of->event_view(tx, old, &old));
    }
    if (of->event_view && now) {
        TRY(of->event_view(tx, now, &now));
    }
    return tx_emit(tx, of->event, type, key, old, now);
}

// The same text, or absent in both: cheaper to see than the folded values.
static bool field_is_same(const Field *field, const Json *old, const Json *now)
{
    Str before = field_text(field, old), after = field_text(field, now);

    return !before.at == !after.at && str_eq(before, after);
}

static bool words_are_same(const Shape *shape, const Json *old, const Json *now)
{
    for (size_t i = 0; i < shape->word_count; i++) {
        if (!field_is_same(shape->words[i], old, now)) {
            return false;
        }
    }
    return true;
}

// pk 0 on insert; on update and delete it is looked up when it is not known and needed.
static Err *words_change(Tx *tx, const Shape *shape, const Json *old, const Json *now, int64_t pk)
{
    Str before[COLUMNS_MAX], after[COLUMNS_MAX];
    bool differs = false;
    Known record = {0};

    if (!shape->word_count || (old && now && words_are_same(shape, old, now))) {
        return NULL;
    }
    words_of(shape, old, before);
    words_of(shape, now, after);
    for (size_t i = 0; i < shape->word_count; i++) {
        differs = differs || !str_eq(before[i], after[i]);
    }
    if (!differs) {
        return NULL;
    }
    if (old && !pk) {
        TRY(record_read(tx, shape->of, json_str(old, "id"), &record));
        pk = record.pk;
    }
    return words_write(tx, shape->of, pk, old ? before : NULL, now ? after : NULL,
                       shape->word_count);
}

// Many routes of FOLIO answer a broken database rule with the sentence alone.
static Err *worded(Err *err, bool as_text)
{
    if (!err || !as_text || err->status != 422) {
        return err;
    }
    return err_text(400, STR_FMT, STR_ARG(err->message));
}

// ---------------------------------------------------------------------------------------------
// Insert

// A record that repeats a stored id and another unique value too: FOLIO's database looks at the id
// first, SQLite at the key it made last.
static Err *violation_order(Tx *tx, const Collection *of, Str id, Violation *violation)
{
    Known same = {0};

    TRY(record_read(tx, of, id, &same));
    if (same.text.at) {
        *violation = (Violation){.table = violation->table};
        str_list_add(&violation->columns, S("id"));
    }
    return NULL;
}

static Err *write_refused(Tx *tx, const Violation *broken, const OnViolation *on)
{
    const Shape *shape = on->of;
    const Collection *of = shape->of;
    bool as_text = on->is_insert ? of->post_errors_are_text : of->put_errors_are_text;
    Violation violation = *broken;
    Json *doc = json_parse_stored(on->doc);

    if (broken->is_reference) {
        return worded(conflict_foreign_key(tx, shape, broken, doc), as_text);
    }
    if (on->is_insert) {
        TRY(violation_order(tx, of, json_str(doc, "id"), &violation));
    }
    return worded(conflict_unique(tx, shape, &violation, doc), as_text);
}

void row_values(const Shape *shape, const Json *doc, Str text, Arg *out)
{
    out[0] = A_TEXT(text);
    out[1] = A_TEXT(json_str(doc, "id"));
    out[2] = A_NULL; // known when it is written
    out[3] = A_INT(json_int(doc, "_version", 0));
    for (size_t i = 0; i < shape->column_count; i++) {
        out[4 + i] = field_value(shape->columns[i], doc);
    }
}

Err *row_insert(Tx *tx, const Shape *shape, Arg *values)
{
    TableState state;
    OnViolation on = {write_refused, shape, values[0].text, true};

    TRY(table_state_to_write(tx, shape->of, &state));
    values[2] = A_INT(state.filled);
    keys_cut(tx, shape, values + 4);
    return sql_exec(tx, shape->sql_insert, (Args){values, shape->column_count + 4}, NULL, &on);
}

static Err *insert_checked(Tx *tx, const Shape *shape, Json *doc)
{
    const Collection *of = shape->of;

    METER_AT(shape->meter);
    metadata_stamp(tx, shape, NULL, doc);
    version_raise(of, NULL, doc);
    if (of->before_write) {
        TRY(of->before_write(tx, NULL, doc));
    }
    TRY(worded(references_check(tx, shape, NULL, doc), of->post_errors_are_text));
    Str text = json_text(doc);
    Arg values[ROW_VALUES_MAX];
    row_values(shape, doc, text, values);
    TRY(row_insert(tx, shape, values));
    TRY(words_change(tx, shape, NULL, doc, 0));
    note_write(tx, shape);
    change_note(tx, shape, NULL, doc);
    known_put(tx, of, json_str(doc, "id"), 0, text);
    TRY(event_write(tx, of, "CREATED", NULL, doc));
    return of->after_write ? of->after_write(tx, NULL, doc) : NULL;
}

Err *tx_insert(Tx *tx, const Collection *of, Json *doc)
{
    TRY(shape_check(of, doc));
    TRY(id_check(of, doc, true));
    return insert_checked(tx, shape_of(of), doc);
}

// ---------------------------------------------------------------------------------------------
// Update

typedef struct {
    Buf sql;
    Arg args[COLUMNS_MAX + 4];
    size_t count;
} Setting;

static void setting_add(Setting *setting, const char *column, Arg value)
{
    setting->args[setting->count++] = value;
    buf_fmt(&setting->sql, "%s\"%s\" = $%zu", setting->count == 1 ? "" : ", ", column,
            setting->count);
}

// Only side columns that changed are set: an index whose column is not named is not touched.
static Err *row_update(Tx *tx, const Shape *shape, const Json *old, const Json *doc, Str text)
{
    Setting *setting = NEW(Setting);
    TableState state;
    OnViolation on = {write_refused, shape, text, false};

    TRY(table_state_to_write(tx, shape->of, &state));
    setting->sql = buf_new(arena_current(), SQL_MAX);
    buf_fmt(&setting->sql, "update \"%s\" set ", shape->of->table);
    setting_add(setting, "doc", A_TEXT(text));
    if (shape->of->locking != LOCKING_OFF) {
        setting_add(setting, "version", A_INT(json_int(doc, "_version", 0)));
    }
    if (!state.is_ready) {
        setting_add(setting, "filled", A_INT(state.filled));
    }
    for (size_t i = 0; i < shape->column_count; i++) {
        const Field *field = shape->columns[i];
        if (state.is_ready && field_is_same(field, old, doc)) {
            continue;
        }
        Arg now = field_value(field, doc);
        Arg before = field_value(field, old);
        if (!state.is_ready || !arg_equal(&now, &before)) {
            setting_add(setting, field->column, key_arg(tx, shape->of, field, now));
        }
    }
    setting->args[setting->count++] = A_TEXT(json_str(doc, "id"));
    buf_fmt(&setting->sql, " where id = $%zu", setting->count);
    return sql_exec(tx, str_z(buf_str(&setting->sql)), (Args){setting->args, setting->count}, NULL,
                    &on);
}

static Err *update_checked(Tx *tx, const Shape *shape, const Json *old, Json *doc, int64_t pk)
{
    const Collection *of = shape->of;

    METER_AT(shape->meter);
    metadata_stamp(tx, shape, old, doc);
    version_raise(of, old, doc);
    if (of->before_write) {
        TRY(of->before_write(tx, old, doc));
    }
    TRY(worded(references_check(tx, shape, old, doc), of->put_errors_are_text));
    Str text = json_text(doc);
    TRY(row_update(tx, shape, old, doc, text));
    TRY(words_change(tx, shape, old, doc, pk));
    note_write(tx, shape);
    change_note(tx, shape, old, doc);
    known_put(tx, of, json_str(doc, "id"), pk, text);
    TRY(event_write(tx, of, "UPDATED", old, doc));
    return of->after_write ? of->after_write(tx, old, doc) : NULL;
}

Err *tx_update(Tx *tx, const Collection *of, Json *doc)
{
    Known record = {0};

    TRY(shape_check(of, doc));
    TRY(id_check(of, doc, of->put_creates));
    TRY(record_acquire(tx, of, json_str(doc, "id"), false, &record));
    if (!record.text.at) {
        return of->put_creates ? insert_checked(tx, shape_of(of), doc)
                               : not_found(of, json_str(doc, "id"));
    }
    Json *old = json_parse_stored(record.text);
    TRY(version_check(of, old, doc));
    return update_checked(tx, shape_of(of), old, doc, record.pk);
}

Err *tx_change(Tx *tx, const Collection *of, const Json *old, Json *doc)
{
    const Known *known = known_get(tx, of, json_str(old, "id"));

    return update_checked(tx, shape_of(of), old, doc, known ? known->pk : 0);
}

// Without hooks and checks: it stood so before, and what they changed is put back by itself.
Err *record_put_back(Tx *tx, const Collection *of, const Json *now, Json *before)
{
    const Shape *shape = shape_of(of);
    METER_AT(shape->meter);
    Str text = json_text(before);
    Arg values[ROW_VALUES_MAX];

    if (now) {
        TRY(row_update(tx, shape, now, before, text));
    } else {
        row_values(shape, before, text, values);
        TRY(row_insert(tx, shape, values));
    }
    TRY(words_change(tx, shape, now, before, 0));
    note_write(tx, shape);
    known_put(tx, of, json_str(before, "id"), 0, text);
    return event_write(tx, of, now ? "UPDATED" : "CREATED", now, before);
}

// ---------------------------------------------------------------------------------------------
// Delete

static Err *may_go(Tx *tx, const Shape *shape, const Json *old, bool is_deleted_next)
{
    const Collection *of = shape->of;

    if (of->before_delete) {
        TRY(of->before_delete(tx, old));
    }
    return references_in_use(tx, shape, json_str(old, "id"), is_deleted_next);
}

Err *record_may_go(Tx *tx, const Collection *of, const Known *record)
{
    const Shape *shape = shape_of(of);
    METER_AT(shape->meter);

    return may_go(tx, shape, json_parse_stored(record->text), false);
}

static Err *delete_refused(Tx *tx, const Violation *broken, const OnViolation *on)
{
    return conflict_foreign_key_to(tx, on->of, broken, on->doc);
}

Err *record_delete(Tx *tx, const Collection *of, const Known *record)
{
    const Shape *shape = shape_of(of);
    METER_AT(shape->meter);
    Json *old = json_parse_stored(record->text);
    Str id = json_str(old, "id");
    OnViolation on = {delete_refused, shape, id, false};
    TableState state;

    TRY(table_state_to_write(tx, of, &state));
    TRY(may_go(tx, shape, old, true));
    TRY(words_change(tx, shape, old, NULL, record->pk));
    TRY(sql_exec(tx, shape->sql_delete, ARGS(A_TEXT(id)), NULL, &on));
    note_write(tx, shape);
    change_note(tx, shape, old, NULL);
    known_drop(tx, of, id);
    TRY(event_write(tx, of, "DELETED", old, NULL));
    return of->after_write ? of->after_write(tx, old, NULL) : NULL;
}

Err *tx_delete(Tx *tx, const Collection *of, Str id)
{
    Known record = {0};

    id = str_lower(id);
    TRY(record_acquire(tx, of, id, true, &record));
    if (!record.text.at) {
        return not_found(of, id);
    }
    return record_delete(tx, of, &record);
}
