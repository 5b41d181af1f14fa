// Notes: texts about objects of any kind. Source: spec/platform.md 6.2.
#include "modules/mod-notes/hooks.h"
#include "modules/mod-notes/internal.h"
#include "gateway/spring.h"

#include "modules/mod-users/users.h"

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

Err *note_before_write(Tx *tx, const Json *old, Json *doc)
{
    Str content = json_str(doc, "content");
    (void)tx, (void)old;

    drop_repeated_links(doc);
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
    if (kind == CONFLICT_MISSING_REFERENCE) {
        return err_422(NO_CODE,
                       str_fmt("Key (type_id)=(" STR_FMT ") is not present in table \"type\".",
                               STR_ARG(value)));
    }
    return spring_explain(tx, kind, field, value, doc);
}

// ---------------------------------------------------------------------------------------------
// Routes

// A note that is about nothing any more goes.
static Err *put(Req *req)
{
    Str id;
    Json *body = NULL;

    TRY(spring_id(req, 0, &id));
    TRY(spring_body(req, &body));
    json_set_str(body, "id", id);
    if (!json_len(json_get(body, "links"))) {
        TRY(tx_delete(req->tx, &notes, id));
    } else {
        TRY(tx_update(req->tx, &notes, body));
    }
    return reply_empty(req, 204);
}

Err *notes_put(Req *req)
{
    return spring_error_of(req, put(req));
}
