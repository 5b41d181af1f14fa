// Note types: what kinds of notes there are. Source: spec/platform.md 6.2.
#include "modules/mod-notes/hooks.h"
#include "modules/mod-notes/internal.h"
#include "modules/spring.h"

#include "modules/mod-configuration/configuration.h"

static const char resource[] = "Note type";

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

// PostgreSQL's detail texts, as FOLIO shows them.
Err *note_type_explain(Tx *tx, Conflict kind, const Field *field, Str value, const Json *doc)
{
    (void)tx, (void)field;
    if (kind == CONFLICT_UNIQUE) {
        return err_422(NO_CODE, str_fmt("Key (name)=(" STR_FMT ") already exists.",
                                        STR_ARG(json_str(doc, "name"))));
    }
    if (kind == CONFLICT_ID) {
        return err_422(NO_CODE, str_fmt("Key (id)=(" STR_FMT ") already exists.", STR_ARG(value)));
    }
    if (kind == CONFLICT_IN_USE) {
        return err_422(NO_CODE,
                       str_fmt("Key (id)=(" STR_FMT ") is still referenced from table \"note\".",
                               STR_ARG(value)));
    }
    return NULL;
}

static Err *list(Req *req)
{
    ListRequest request;
    List *found = NULL;

    TRY(spring_list_request(req, 0, &request));
    TRY(list_open(req->tx, &note_types, &request, &found));
    return reply_list(req, &note_types, found);
}

Err *note_types_list(Req *req)
{
    return spring_error_of(list(req));
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

static Err *check_name(const Json *body)
{
    Str name = json_str(body, "name");

    if (!json_is_string(json_get(body, "name"))) {
        return spring_error(422, "VALIDATION_ERROR",
                            S("Validation failed for argument [0]: name must not be null"));
    }
    if (name.len > 255) {
        return spring_error(422, "VALIDATION_ERROR",
                            S("Validation failed for argument [0]: name size must be between 0 "
                              "and 255"));
    }
    return NULL;
}

static Err *post(Req *req)
{
    Json *body = NULL;

    TRY(spring_body(req, &body));
    TRY(check_name(body));
    TRY(check_limit(req->tx));
    TRY(tx_insert(req->tx, &note_types, body));
    reply_header(req, "location", str_fmt("/note-types/" STR_FMT, STR_ARG(json_str(body, "id"))));
    return reply_json(req, 201, body);
}

Err *note_types_post(Req *req)
{
    return spring_error_of(post(req));
}

static Err *existing(Req *req, Str *id, Json **doc)
{
    TRY(spring_id(req, 0, id));
    TRY(tx_get(req->tx, &note_types, *id, doc));
    return *doc ? NULL : spring_not_found(resource, *id);
}

Err *note_types_get(Req *req)
{
    Str id;
    Json *doc = NULL;

    TRY(existing(req, &id, &doc));
    TRY(note_type_read(req->tx, doc));
    return reply_json(req, 200, doc);
}

static Err *put(Req *req)
{
    Str id;
    Json *body = NULL, *doc = NULL;

    TRY(spring_id(req, 0, &id));
    TRY(spring_body(req, &body));
    TRY(check_name(body));
    TRY(existing(req, &id, &doc));
    json_set_str(doc, "name", json_str(body, "name"));
    TRY(tx_update(req->tx, &note_types, doc));
    return reply_empty(req, 204);
}

Err *note_types_put(Req *req)
{
    return spring_error_of(put(req));
}

Err *note_types_delete(Req *req)
{
    Str id;
    Json *doc = NULL;

    TRY(existing(req, &id, &doc));
    TRY(spring_error_of(tx_delete(req->tx, &note_types, id)));
    return reply_empty(req, 204);
}
