// Notes by what they are about. Source: spec/platform.md 6.2.
#include "modules/mod-notes/internal.h"
#include "gateway/spring.h"

enum {
    ANSWER_MAX = 1000, // notes of one answer, whatever the limit
    QUERY_MAX = 64 * 1024,
};

static Err *invalid_value(const char *name, Str value)
{
    return spring_error(422, "VALIDATION_ERROR",
                        str_fmt("Failed to convert value of type 'java.lang.String' to required "
                                "type for %s: " STR_FMT,
                                name, STR_ARG(value)));
}

// $1 domain, $2 a pattern of the content; $3 object, $4 its type.
static Err *choose_notes(const Req *req, const Arg args[4], ListRequest *request)
{
    static const char all[] = "domain = $1 and ($2 = '' or indexed_content like $2 escape '\\')";
    static const char assigned[] =
        "domain = $1 and ($2 = '' or indexed_content like $2 escape '\\') and id in "
        "(select note_id from note_link where object_id = $3 and object_type = $4)";
    static const char unassigned[] =
        "domain = $1 and ($2 = '' or indexed_content like $2 escape '\\') and id not in "
        "(select note_id from note_link where object_id = $3 and object_type = $4)";
    Str status = req_query_text(req, "status");

    request->args = (Args){args, 4};
    if (!status.len || str_eq_nocase(status, S("all"))) {
        request->where = all;
        request->args.len = 2;
    } else if (str_eq_nocase(status, S("assigned"))) {
        request->where = assigned;
    } else if (str_eq_nocase(status, S("unassigned"))) {
        request->where = unassigned;
    } else {
        return invalid_value("status", status);
    }
    return NULL;
}

// %text% with the wildcards of the text made plain.
static Str like_pattern(Str text)
{
    Str folded = fold(str_trim(text));
    Buf pattern = buf_new(arena_current(), QUERY_MAX);

    if (!folded.len) {
        return S("");
    }
    buf_char(&pattern, '%');
    for (size_t i = 0; i < folded.len; i++) {
        if (folded.at[i] == '%' || folded.at[i] == '_' || folded.at[i] == '\\') {
            buf_char(&pattern, '\\');
        }
        buf_char(&pattern, folded.at[i]);
    }
    buf_char(&pattern, '%');
    return buf_str(&pattern);
}

// The ids of the wanted types; unknown names find nothing.
static Err *add_types(const Req *req, Buf *query)
{
    const char *between = "typeId==(";

    for (size_t i = 0; i < req->query.len; i++) {
        if (!str_eq_z(req->query.at[i].name, "noteType")) {
            continue;
        }
        Str rest = req->query.at[i].value, name;
        while (str_next(&rest, ',', &name)) {
            Json *type = NULL;
            TRY(tx_find(req->tx, &note_types, "name", str_trim(name), &type));
            Str id = type ? json_str(type, "id") : S("00000000-0000-4000-8000-000000000000");
            buf_fmt(query, "%s\"" STR_FMT "\"", between, STR_ARG(id));
            between = " or ";
        }
    }
    buf_add_z(query, query->len ? ")" : "cql.allRecords=1");
    return NULL;
}

static Err *add_sorting(const Req *req, Buf *query)
{
    static const struct {
        const char *name, *key;
        bool is_descending;
    } orders[] = {
        {"title", "title", false},
        {"content", "indexedContent", false},
        {"noteType", "noteType.name", false},
        {"updatedDate", "metadata.updatedDate", true},
    };
    Str by = req_query_text(req, "orderBy"), order = req_query_text(req, "order");

    if (order.len && !str_eq_nocase(order, S("asc")) && !str_eq_nocase(order, S("desc"))) {
        return invalid_value("order", order);
    }
    if (!by.len) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        if (str_eq_nocase(by, str_of(orders[i].name))) {
            bool is_descending =
                order.len ? str_eq_nocase(order, S("desc")) : orders[i].is_descending;
            buf_fmt(query, " sortby %s/sort.%s", orders[i].key,
                    is_descending ? "descending" : "ascending");
            return NULL;
        }
    }
    return invalid_value("orderBy", by);
}

static Err *list(Req *req)
{
    ListRequest request = {.totals = TOTALS_EXACT};
    Buf query = buf_new(arena_current(), QUERY_MAX);
    List *found = NULL;

    TRY(spring_int(req, "limit", ANSWER_MAX, 1, &request.limit));
    TRY(spring_int(req, "offset", 0, 0, &request.offset));
    if (request.limit > ANSWER_MAX) {
        request.limit = ANSWER_MAX;
    }
    const Arg args[4] = {A_TEXT(fold(req_param(req, 0))),
                         A_TEXT(like_pattern(req_query_text(req, "search"))),
                         A_TEXT(req_param(req, 2)), A_TEXT(req_param(req, 1))};
    TRY(choose_notes(req, args, &request));
    TRY(add_types(req, &query));
    TRY(add_sorting(req, &query));
    request.query = buf_str(&query);
    TRY(list_open(req->tx, &notes, &request, &found));
    return reply_list(req, &notes, found);
}

Err *note_links_list(Req *req)
{
    return spring_error_of(req, list(req));
}

// ---------------------------------------------------------------------------------------------
// Linking

static bool is_link_to(const Json *link, Str type, Str id)
{
    return str_eq(json_str(link, "id"), id) && str_eq(json_str(link, "type"), type);
}

static void set_link(Json *doc, Str type, Str id, bool is_assigned)
{
    Json *kept = json_array();

    JSON_EACH(link, json_get(doc, "links"))
    {
        if (!is_link_to(link, type, id)) {
            json_add(kept, json_copy(link));
        }
    }
    if (is_assigned) {
        Json *link = json_object();
        json_set_str(link, "id", id);
        json_set_str(link, "type", type);
        json_add(kept, link);
    }
    json_set(doc, "links", kept);
}

static Err *update_note(Req *req, const Json *update)
{
    Str status = json_str(update, "status"), id = str_lower(json_str(update, "id"));
    Json *old = NULL;

    if (!str_eq(status, S("ASSIGNED")) && !str_eq(status, S("UNASSIGNED"))) {
        return spring_error(422, "VALIDATION_ERROR",
                            S("Validation failed for argument [2]: status must be ASSIGNED or "
                              "UNASSIGNED"));
    }
    if (!uuid_is_uuid_shaped(id)) {
        return invalid_value("id", id);
    }
    TRY(tx_get(req->tx, &notes, id, &old));
    if (!old) {
        return NULL;
    }
    Json *doc = json_copy(old);
    set_link(doc, req_param(req, 0), req_param(req, 1), str_eq(status, S("ASSIGNED")));
    if (!json_len(json_get(doc, "links"))) {
        return tx_delete(req->tx, &notes, id);
    }
    return tx_change(req->tx, &notes, old, doc);
}

static Err *put(Req *req)
{
    Json *body = NULL;

    TRY(spring_body(req, &body));
    if (!json_is_array(json_get(body, "notes"))) {
        return spring_error(422, "VALIDATION_ERROR",
                            S("Validation failed for argument [2]: notes must not be null"));
    }
    JSON_EACH(update, json_get(body, "notes"))
    {
        TRY(update_note(req, update));
    }
    return reply_empty(req, 204);
}

Err *note_links_put(Req *req)
{
    return spring_error_of(req, put(req));
}
