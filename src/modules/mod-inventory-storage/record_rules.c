// Rules that instances, holdings records and items share: hrid, notes, lists, statistical codes.
// Source: spec/inventory.md 2.1, 3.4.
#include "modules/mod-inventory-storage/storage.h"

enum { NOTE_MAX = 32000 };

Err *rule_error(Str message, const char *key, Str value)
{
    Err *err = err_json(422, S("-1"), message, &P(key, value), 1);

    err->type = S("1");
    return err;
}

// ---------------------------------------------------------------------------------------------
// Lists

// Texts seen so far: open addressing, the capacity a power of two above twice their number.
typedef struct {
    Str *at;
    size_t mask;
} Seen;

static Seen seen_new(size_t n)
{
    size_t size = 8;
    while (size < n * 2) {
        size *= 2;
    }
    return (Seen){NEW_ARRAY(Str, size), size - 1};
}

static bool seen_before(const Seen *seen, Str text)
{
    size_t i = str_hash(text) & seen->mask;

    while (seen->at[i].at) {
        if (str_eq(seen->at[i], text)) {
            return true;
        }
        i = (i + 1) & seen->mask;
    }
    seen->at[i] = text;
    return false;
}

static bool is_kept(const Seen *seen, const Json *element)
{
    if (!json_is_string(element)) {
        return true;
    }
    Str text = json_scalar_text(element);
    return str_trim(text).len && !seen_before(seen, text);
}

// Drops blank and repeated texts of a list; a list that is clean stays as it is.
static void list_clean(Json *doc, const char *path)
{
    const Json *list = json_get(doc, path);
    size_t n = json_len(list), kept_count = 0;
    bool *kept = NULL;

    if (!json_is_array(list) || !n) {
        return;
    }
    Seen seen = seen_new(n);
    kept = NEW_ARRAY(bool, n);
    size_t i = 0;
    JSON_EACH(element, list)
    {
        kept[i] = is_kept(&seen, element);
        kept_count += kept[i++];
    }
    if (kept_count == n) {
        return;
    }
    Json *clean = json_array();
    i = 0;
    JSON_EACH(element, list)
    {
        if (kept[i++]) {
            json_add(clean, json_copy(element));
        }
    }
    json_set(doc, path, clean);
}

// ---------------------------------------------------------------------------------------------
// Notes

static size_t characters(Str text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++) {
        n += ((unsigned char)text.at[i] & 0xc0) != 0x80;
    }
    return n;
}

static Err *note_too_long(Str text, const char *key)
{
    if (text.len <= NOTE_MAX || characters(text) <= NOTE_MAX) {
        return NULL;
    }
    return rule_error(S("A note has exceeded the 32,000 character limit."), key,
                      str_sub(text, 0, 100));
}

static Err *notes_check(const Json *doc)
{
    JSON_EACH(note, json_get(doc, "notes"))
    {
        TRY(note_too_long(json_str(note, "note"), "notes"));
    }
    JSON_EACH(note, json_get(doc, "administrativeNotes"))
    {
        TRY(note_too_long(json_scalar_text(note), "administrativeNotes"));
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Statistical codes: a list of references

static Err *statistical_codes_check(Tx *tx, const Json *doc)
{
    StrList ids = {0};
    Str missing = {0};

    JSON_EACH(id, json_get(doc, "statisticalCodeIds"))
    {
        Str text = json_scalar_text(id);
        if (!uuid_is_uuid_shaped(text)) {
            return err_text(400, "invalid input syntax for type uuid: \"" STR_FMT "\"",
                            STR_ARG(text));
        }
        str_list_add(&ids, text);
    }
    TRY(tx_hold(tx, &statistical_codes, &ids, &missing));
    return missing.at ? err_text(400, "statistical code doesn't exist: " STR_FMT, STR_ARG(missing))
                      : NULL;
}

// ---------------------------------------------------------------------------------------------
// hrid

static Str or_null(const Json *doc)
{
    return json_has(doc, "hrid") ? json_str(doc, "hrid") : S("null");
}

static Err *hrid_keep(const Json *old, const Json *doc)
{
    if (str_eq(json_str(old, "hrid"), json_str(doc, "hrid")) ||
        str_starts(json_str(doc, "source"), S("CONSORTIUM-"))) {
        return NULL;
    }
    return err_text(400, "The hrid field cannot be changed: new=" STR_FMT ", old=" STR_FMT,
                    STR_ARG(or_null(doc)), STR_ARG(or_null(old)));
}

Err *hrid_explain(Tx *tx, const Collection *of, Conflict kind, const Field *field, Str value)
{
    (void)tx;
    if (kind != CONFLICT_UNIQUE || !field || !str_eq(str_of(field->column), S("hrid"))) {
        return NULL;
    }
    Str message =
        str_fmt("HRID value already exists in table %s: " STR_FMT, of->table, STR_ARG(value));
    return rule_error(message, "lower(f_unaccent(jsonb ->> 'hrid'::text))", value);
}

Err *record_rules_apply(Tx *tx, const RecordRules *rules, const Json *old, Json *doc)
{
    TRY(notes_check(doc));
    for (const char *const *path = rules->lists; *path; path++) {
        list_clean(doc, *path);
    }
    if (!old ||
        !json_equal(json_get(old, "statisticalCodeIds"), json_get(doc, "statisticalCodeIds"))) {
        TRY(statistical_codes_check(tx, doc));
    }
    return old ? hrid_keep(old, doc) : hrids_assign(tx, rules->hrid, &doc, 1);
}

Err *deleted_note(Tx *tx, const Collection *of, const Json *record)
{
    Json *note = json_object();

    json_set_time(note, "createdDate", tx_now(tx));
    json_set(note, "record", json_copy(record));
    return tx_insert(tx, of, note);
}

Err *statistical_code_before_delete(Tx *tx, const Json *doc)
{
    const Collection *const users[] = {&instances, &holdings, &items};
    Str id = json_str(doc, "id");
    Str query = str_fmt("statisticalCodeIds=\"" STR_FMT "\"", STR_ARG(id));
    Docs found = {0};

    for (size_t i = 0; i < 3; i++) {
        TRY(tx_list(tx, users[i], query, 1, &found));
        if (found.len) {
            return err_text(400,
                            "Cannot delete statistical_code.id = " STR_FMT
                            " because id is still referenced from table %s.",
                            STR_ARG(id), users[i]->table);
        }
    }
    return NULL;
}
