// The habits of FOLIO's modules built on Spring. Source: spec/platform.md 6.
#include "gateway/spring.h"

#include "base/uuid.h"

enum {
    LIMIT_DEFAULT = 1000,
};

Err *spring_error(int status, const char *code, Str message)
{
    Json *error = json_object(), *errors = json_array(), *body = json_object();

    json_set_str(error, "message", message);
    json_set_str(error, "type", S("-1"));
    json_set_str(error, "code", str_of(code));
    json_add(errors, error);
    json_set(body, "errors", errors);
    json_set_int(body, "total_records", 1);
    return err_body(status, json_text(body));
}

static Err *invalid(Str message)
{
    return spring_error(422, "VALIDATION_ERROR", message);
}

Err *spring_error_of(Req *req, Err *err)
{
    err = err || !req->tx ? err : tx_flush(req->tx);
    if (!err || err->body.len) {
        return err;
    }
    if (err->status == 404) {
        return spring_error(404, "NOT_FOUND_ERROR", err->message);
    }
    if (err->status != 400 && err->status != 409 && err->status != 422) {
        return err;
    }
    if (err->param_count) {
        return invalid(str_fmt("Validation failed for argument [0]: " STR_FMT " " STR_FMT,
                               STR_ARG(err->params[0].key), STR_ARG(err->message)));
    }
    return invalid(err->message);
}

Err *spring_id(const Req *req, size_t i, Str *out)
{
    Str text = req_param(req, i);

    if (!uuid_is_uuid_shaped(text)) {
        return invalid(str_fmt("Failed to convert value of type 'java.lang.String' to required "
                               "type 'java.util.UUID'; Invalid UUID string: " STR_FMT,
                               STR_ARG(text)));
    }
    *out = str_lower(text);
    return NULL;
}

static Err *unsupported_media_type(const Req *req)
{
    Json *body = json_object();

    json_set_str(body, "timestamp", time_format(req->now));
    json_set_int(body, "status", 415);
    json_set_str(body, "error", S("Unsupported Media Type"));
    json_set_str(body, "path", req->path);
    return err_body(415, json_text(body));
}

Err *spring_body(Req *req, Json **out)
{
    Str type = str_lower(req_header(req, "content-type"));
    Json *body = NULL;

    if (type.len && !str_starts(type, S("application/json"))) {
        return unsupported_media_type(req);
    }
    if (!str_trim(req->body).len) {
        return invalid(str_fmt("Required request body is missing: %s " STR_FMT,
                               method_name(req->method), STR_ARG(req->path)));
    }
    Err *err = json_parse(req->body, &body);
    if (err) {
        return err->status == 400
                   ? invalid(str_fmt("JSON parse error: " STR_FMT, STR_ARG(err->message)))
                   : err;
    }
    if (!json_is_object(body)) {
        return invalid(S("JSON parse error: Cannot deserialize value: an object is expected"));
    }
    *out = body;
    return NULL;
}

Err *spring_int(const Req *req, const char *name, int64_t fallback, int64_t min, int64_t *out)
{
    Str text = req_query_text(req, name);
    int64_t number = fallback;

    if (text.len && (!str_int64(text, &number) || number > INT32_MAX || number < INT32_MIN)) {
        return invalid(str_fmt("Failed to convert value of type 'java.lang.String' to required "
                               "type 'java.lang.Integer'; For input string: \"" STR_FMT "\"",
                               STR_ARG(text)));
    }
    if (number < min) {
        return invalid(str_fmt("%s: must be greater than or equal to %lld", name, (long long)min));
    }
    *out = number;
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Routes of a collection

static Err *list(Req *req, const Collection *of)
{
    ListRequest request = {.totals = TOTALS_EXACT};
    List *found = NULL;

    TRY(spring_int(req, "limit", LIMIT_DEFAULT, 1, &request.limit));
    TRY(spring_int(req, "offset", 0, 0, &request.offset));
    Str query = str_trim(req_query_text(req, "query"));
    if (query.len) {
        request.query = query;
    }
    TRY(list_open(req->tx, of, &request, &found));
    return reply_list(req, of, found);
}

Err *spring_list(Req *req)
{
    return spring_error_of(req, list(req, req->route->collection));
}

static Err *create(Req *req, const Collection *of)
{
    Json *body = NULL;

    TRY(spring_body(req, &body));
    TRY(tx_insert(req->tx, of, body));
    return reply_created(req, of, body);
}

Err *spring_create(Req *req)
{
    return spring_error_of(req, create(req, req->route->collection));
}

// Runs a route of one record when the id is one.
static Err *with_id(Req *req, Err *(*route)(Req *))
{
    Str id;

    TRY(spring_id(req, 0, &id));
    return spring_error_of(req, route(req));
}

Err *spring_get(Req *req)
{
    return with_id(req, collection_get);
}

static Err *put(Req *req)
{
    const Collection *of = req->route->collection;
    Json *body = NULL;

    TRY(spring_body(req, &body));
    json_set_str(body, "id", str_lower(req_param(req, 0)));
    TRY(tx_update(req->tx, of, body));
    return reply_empty(req, 204);
}

Err *spring_put(Req *req)
{
    return with_id(req, put);
}

Err *spring_delete(Req *req)
{
    return with_id(req, collection_delete);
}

Err *spring_explain(Tx *tx, Conflict kind, const Field *field, Str value, const Json *doc)
{
    (void)tx;
    if (kind == CONFLICT_UNIQUE && field) {
        return err_422(NO_CODE, str_fmt("Key (%s)=(" STR_FMT ") already exists.", field->path,
                                        STR_ARG(json_str(doc, field->path))));
    }
    if (kind == CONFLICT_ID) {
        return err_422(NO_CODE, str_fmt("Key (id)=(" STR_FMT ") already exists.", STR_ARG(value)));
    }
    return NULL;
}
