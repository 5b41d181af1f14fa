// Note types: what kinds of notes there are. Source: spec/platform.md 6.2.
#include "modules/mod-notes/collections.h"
#include "modules/mod-notes/hooks.h"
#include "gateway/spring.h"

#include "modules/mod-configuration/configuration.h"

static Err *seen(const Row *row, void *context)
{
    (void)row;
    *(bool *)context = true;
    return NULL;
}

Err *note_type_read(Tx *tx, Json *doc)
{
    bool is_assigned = false;

    TRY(tx_rows(tx, "select 1 from note where type_id = $1 limit 1",
                ARGS(A_TEXT(json_str(doc, "id"))), seen, &is_assigned));
    json_set_bool(doc, "usage.isAssigned", is_assigned);
    return NULL;
}

Err *note_type_explain(Tx *tx, Conflict kind, const Field *field, Str value, const Json *doc)
{
    if (kind == CONFLICT_IN_USE) {
        return err_422(NO_CODE,
                       str_fmt("Key (id)=(" STR_FMT ") is still referenced from table \"note\".",
                               STR_ARG(value)));
    }
    return spring_explain(tx, kind, field, value, doc);
}

// How many types a library may have: a setting, 25 without one.
static Err *check_limit(Tx *tx)
{
    Str text = {0};
    int64_t limit = 0, count = 0;

    TRY(configuration_text(tx, "NOTES", "note.types.number.limit", S("25"), &text));
    if (!str_int64(str_trim(text), &limit)) {
        limit = 25;
    }
    TRY(tx_count_where(tx, &note_types, "1 = 1", NO_ARGS, &count));
    if (count < limit) {
        return NULL;
    }
    Json *body = NULL;
    Str message = str_fmt("Maximum number of note types allowed is %lld", (long long)limit);
    Err *err = spring_error(422, "NOTE_TYPES_LIMIT_REACHED", message);
    body = json_parse_stored(err->body);
    Json *parameter = json_object(), *parameters = json_array();
    json_set_str(parameter, "key", S("limit"));
    json_set_str(parameter, "value", str_fmt("%lld", (long long)limit));
    json_add(parameters, parameter);
    json_set(body, "errors.0.parameters", parameters);
    return err_body(422, json_text(body));
}

Err *note_type_before_write(Tx *tx, const Json *old, Json *doc)
{
    (void)doc;
    return old ? NULL : check_limit(tx);
}
