// Notes: texts about objects of any kind. Source: spec/platform.md 6.2.
#include "modules/mod-notes/hooks.h"
#include "modules/mod-notes/internal.h"
#include "modules/spring.h"

#include "modules/mod-users/users.h"

static const char resource[] = "Note";

// ---------------------------------------------------------------------------------------------
// What the collection does beside the engine

static Err *add_user(Tx *tx, Json *doc, const char *by, const char *member, const char *name)
{
    Str id = json_str(doc, by);
    Json *user = NULL;

    if (!id.len) {
        return NULL;
    }
    TRY(user_by_id(tx, id, &user));
    if (!user) {
        return NULL;
    }
    Json *names = json_object();
    json_take(names, "lastName", user, "personal.lastName");
    json_take(names, "firstName", user, "personal.firstName");
    json_take(names, "middleName", user, "personal.middleName");
    json_set(doc, member, names);
    json_set_str_if(doc, name, json_str(user, "username"));
    return NULL;
}

Err *note_read(Tx *tx, Json *doc)
{
    const Json *type = NULL;

    TRY(tx_ref(tx, &note_types, json_str(doc, "typeId"), &type));
    json_set_str_if(doc, "type", json_str(type, "name"));
    TRY(add_user(tx, doc, "metadata.createdByUserId", "metadata.createdBy",
                 "metadata.createdByUsername"));
    return add_user(tx, doc, "metadata.updatedByUserId", "metadata.updatedBy",
                    "metadata.updatedByUsername");
}

Err *note_before_write(Tx *tx, const Json *old, Json *doc)
{
    Str content = json_str(doc, "content");
    (void)tx, (void)old;

    if (str_trim(content).len) {
        json_set_str(doc, "content", html_sanitize(content));
    }
    return NULL;
}

Str note_indexed_content(const Json *doc)
{
    return html_text(json_str(doc, "content"));
}

Err *note_after_write(Tx *tx, const Json *old, const Json *doc)
{
    Str id = json_str(doc ? doc : old, "id");

    if (old && json_equal(json_get(old, "links"), json_get(doc, "links"))) {
        return NULL;
    }
    if (old) {
        TRY(tx_exec(tx, "delete from note_link where note_id = $1", ARGS(A_TEXT(id)), NULL));
    }
    JSON_EACH(link, json_get(doc, "links"))
    {
        Json *row = json_object();
        json_set_str(row, "noteId", id);
        json_take(row, "objectId", link, "id");
        json_take(row, "objectType", link, "type");
        TRY(tx_insert(tx, &note_links, row));
    }
    return NULL;
}

Err *note_explain(Tx *tx, Conflict kind, const Field *field, Str value, const Json *doc)
{
    (void)tx, (void)field, (void)doc;
    if (kind == CONFLICT_MISSING_REFERENCE) {
        return err_422(NO_CODE,
                       str_fmt("Key (type_id)=(" STR_FMT ") is not present in table \"type\".",
                               STR_ARG(value)));
    }
    if (kind == CONFLICT_ID) {
        return err_422(NO_CODE, str_fmt("Key (id)=(" STR_FMT ") already exists.", STR_ARG(value)));
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Routes

static Err *list(Req *req)
{
    ListRequest request;
    List *found = NULL;

    TRY(spring_list_request(req, 1, &request));
    TRY(list_open(req->tx, &notes, &request, &found));
    return reply_list(req, &notes, found);
}

Err *notes_list(Req *req)
{
    return spring_error_of(list(req));
}

// A link to the same object twice is one.
static void drop_repeated_links(Json *doc)
{
    Json *links = json_get(doc, "links"), *kept = json_array();

    JSON_EACH(link, links)
    {
        bool is_repeated = false;
        JSON_EACH(other, kept)
        {
            is_repeated = is_repeated || json_equal(other, link);
        }
        if (!is_repeated) {
            json_add(kept, json_copy(link));
        }
    }
    json_set(doc, "links", kept);
}

static Err *check_body(Json *body)
{
    static const char *const required[] = {"typeId", "title", "domain"};

    for (size_t i = 0; i < sizeof required / sizeof required[0]; i++) {
        if (!json_has(body, required[i])) {
            return spring_error(
                422, "VALIDATION_ERROR",
                str_fmt("Validation failed for argument [0]: %s must not be null", required[i]));
        }
    }
    drop_repeated_links(body);
    return NULL;
}

static Err *post(Req *req)
{
    Json *body = NULL;

    TRY(spring_body(req, &body));
    TRY(check_body(body));
    TRY(tx_insert(req->tx, &notes, body));
    return reply_created(req, &notes, body);
}

Err *notes_post(Req *req)
{
    return spring_error_of(post(req));
}

static Err *existing(Req *req, Str *id, Json **doc)
{
    TRY(spring_id(req, 0, id));
    TRY(tx_get(req->tx, &notes, *id, doc));
    return *doc ? NULL : spring_not_found(resource, *id);
}

Err *notes_get(Req *req)
{
    Str id;
    Json *doc = NULL;

    TRY(existing(req, &id, &doc));
    TRY(note_read(req->tx, doc));
    return reply_json(req, 200, doc);
}

// A note that is about nothing any more goes.
static Err *put(Req *req)
{
    Str id;
    Json *body = NULL, *doc = NULL;

    TRY(spring_id(req, 0, &id));
    TRY(spring_body(req, &body));
    TRY(check_body(body));
    TRY(existing(req, &id, &doc));
    if (!json_len(json_get(body, "links"))) {
        TRY(tx_delete(req->tx, &notes, id));
        return reply_empty(req, 204);
    }
    json_set_str(body, "id", id);
    TRY(tx_update(req->tx, &notes, body));
    return reply_empty(req, 204);
}

Err *notes_put(Req *req)
{
    return spring_error_of(put(req));
}

Err *notes_delete(Req *req)
{
    Str id;
    Json *doc = NULL;

    TRY(existing(req, &id, &doc));
    TRY(tx_delete(req->tx, &notes, id));
    return reply_empty(req, 204);
}
