// Entries of settings: who may see and change one depends on its scope and its owner.
//
// Without userId an entry is the tenant's: "mod-settings.global.<read|write>.<scope>". One of a
// user needs "mod-settings.users...", or "mod-settings.owner..." if it is the caller's own. Source:
// spec/platform.md 5.2.
#include "modules/mod-settings/internal.h"

#include "modules/mod-settings/properties.h"

enum {
    LIST_TEXT_MAX = 32 << 20,
    UPLOAD_MAX = 10000,
};

static bool has_right(const Req *req, const char *whose, const char *what, Str scope)
{
    Str name = str_fmt("mod-settings.%s.%s." STR_FMT, whose, what, STR_ARG(scope));

    return str_list_has(&req->permissions, name);
}

static bool is_allowed(const Req *req, const char *what, const Json *entry)
{
    Str scope = json_str(entry, "scope"), owner = json_str(entry, "userId");

    if (!owner.len) {
        return has_right(req, "global", what, scope);
    }
    return has_right(req, "users", what, scope) ||
           (has_right(req, "owner", what, scope) && str_eq_nocase(owner, req->user_id));
}

static Err *not_found(void)
{
    return err_text(404, "Not Found");
}

static Err *forbidden(void)
{
    return err_text(403, "Forbidden");
}

// ---------------------------------------------------------------------------------------------
// The list: the query and what the caller may read

// "|a|b|": the scopes of all rights "mod-settings.<whose>.read.<scope>" of the caller.
static Str scopes_of(const Req *req, const char *whose)
{
    Str prefix = str_fmt("mod-settings.%s.read.", whose);
    Buf buf = buf_new(arena_current(), 1 << 20);

    for (size_t i = 0; i < req->permissions.len; i++) {
        Str name = req->permissions.at[i];
        if (str_starts(name, prefix) && name.len > prefix.len) {
            buf_char(&buf, '|');
            buf_add(&buf, str_sub(name, prefix.len, name.len));
        }
    }
    if (buf.len) {
        buf_char(&buf, '|');
    }
    return buf_str(&buf);
}

static Err *rights_read(const Req *req, ListRequest *request)
{
    Str global = scopes_of(req, "global"), users = scopes_of(req, "users");
    Str owner = scopes_of(req, "owner");
    Arg *args = NEW_ARRAY(Arg, 4);

    if (!global.len && !users.len && !owner.len) {
        return forbidden();
    }
    args[0] = A_TEXT(global);
    args[1] = A_TEXT(users);
    args[2] = A_TEXT(owner);
    args[3] = A_TEXT(req->user_id);
    request->where = "(user_id is null and replace($1, '|' || scope || '|', '') <> $1) or "
                     "(user_id is not null and replace($2, '|' || scope || '|', '') <> $2) or "
                     "(user_id = $4 and replace($3, '|' || scope || '|', '') <> $3)";
    request->args = (Args){args, 4};
    return NULL;
}

static void shown(Json *entry)
{
    json_remove(entry, "metadata");
}

Err *entries_list(Req *req)
{
    ListRequest request;
    List *list = NULL;
    Buf buf = buf_new(arena_current(), LIST_TEXT_MAX);
    const char *between = "{\"items\":[";

    TRY(list_request_read(req, &settings_entries, &request));
    TRY(rights_read(req, &request));
    request.totals = TOTALS_EXACT;
    TRY(list_open(req->tx, &settings_entries, &request, &list));
    for (;;) {
        Str text;
        TRY(list_next(list, &text));
        if (!text.at) {
            break;
        }
        Json *entry = json_parse_stored(text);
        shown(entry);
        buf_add_z(&buf, between);
        json_write(&buf, entry);
        between = ",";
    }
    buf_fmt(&buf, "%s],\"resultInfo\":{\"totalRecords\":%lld,\"diagnostics\":[]}}",
            *between == ',' ? "" : between, (long long)list_total(list));
    if (buf.overflowed) {
        return err_text(413, "The answer is too large; ask for fewer records");
    }
    return reply_json_text(req, 200, buf_str(&buf));
}

// ---------------------------------------------------------------------------------------------
// One entry

// What must not be seen does not exist.
static Err *find(Req *req, const char *what, Json **out)
{
    Str id = str_lower(req_param(req, 0));
    Json *entry = NULL;

    if (!uuid_is_uuid_shaped(id)) {
        return err_text(400, "Validation error for parameter id in location PATH");
    }
    TRY(tx_get(req->tx, &settings_entries, id, &entry));
    if (!entry || !is_allowed(req, what, entry)) {
        return not_found();
    }
    *out = entry;
    return NULL;
}

// The body as a checked entry. Broken shape is 400, not 422, in this module.
static Err *body_read(Req *req, Json **out)
{
    TRY(req_body_object(req, out));
    Err *err = properties_check(&settings_entry_record, *out);
    return err ? err_text(400, STR_FMT, STR_ARG(err->message)) : NULL;
}

Err *entries_get(Req *req)
{
    Json *entry = NULL;

    TRY(find(req, "read", &entry));
    shown(entry);
    return reply_json(req, 200, entry);
}

Err *entries_post(Req *req)
{
    Json *entry = NULL;

    TRY(body_read(req, &entry));
    if (!is_allowed(req, "write", entry)) {
        return forbidden();
    }
    TRY(tx_insert(req->tx, &settings_entries, entry));
    return reply_empty(req, 204);
}

Err *entries_put(Req *req)
{
    Json *entry = NULL, *stored = NULL;

    TRY(body_read(req, &entry));
    if (!str_eq_nocase(json_str(entry, "id"), req_param(req, 0))) {
        return err_text(400, "id mismatch");
    }
    if (!is_allowed(req, "write", entry)) {
        return forbidden();
    }
    TRY(find(req, "write", &stored)); // nobody takes over an entry that is not his
    TRY(tx_update(req->tx, &settings_entries, entry));
    return reply_empty(req, 204);
}

Err *entries_delete(Req *req)
{
    Json *entry = NULL;

    TRY(find(req, "write", &entry));
    TRY(tx_delete(req->tx, &settings_entries, json_str(entry, "id")));
    return reply_empty(req, 204);
}

// ---------------------------------------------------------------------------------------------
// Upload: new entries and new values of old ones, by scope, key and user

static Err *find_same(Tx *tx, const Json *entry, Json **out)
{
    Str scope = json_str(entry, "scope"), key = json_str(entry, "key");
    Str owner = json_str(entry, "userId");
    Docs docs = {0};

    if (owner.len) {
        TRY(tx_where(tx, &settings_entries, "scope = $1 and key = $2 and user_id = $3",
                     ARGS(A_TEXT(scope), A_TEXT(key), A_TEXT(owner)), &docs));
    } else {
        TRY(tx_where(tx, &settings_entries, "scope = $1 and key = $2 and user_id is null",
                     ARGS(A_TEXT(scope), A_TEXT(key)), &docs));
    }
    *out = docs.len ? docs.at[0] : NULL;
    return NULL;
}

static Err *upload_one(Req *req, Json *entry, int64_t *inserted, int64_t *updated)
{
    Json *stored = NULL;

    if (json_has(entry, "id")) {
        return err_text(400, "No id must supplied for upload");
    }
    Err *err = properties_check(&settings_upload_record, entry);
    if (err) {
        return err_text(400, STR_FMT, STR_ARG(err->message));
    }
    if (!is_allowed(req, "write", entry)) {
        return forbidden();
    }
    TRY(find_same(req->tx, entry, &stored));
    if (stored) {
        json_set(stored, "value", json_copy(json_get(entry, "value")));
        TRY(tx_update(req->tx, &settings_entries, stored));
        *updated += 1;
        return NULL;
    }
    json_set_str(entry, "id", uuid_new());
    TRY(tx_insert(req->tx, &settings_entries, entry));
    *inserted += 1;
    return NULL;
}

Err *entries_upload(Req *req)
{
    int64_t inserted = 0, updated = 0;
    Json *answer = json_object();

    if (!json_is_array(req->json) || json_len(req->json) > UPLOAD_MAX) {
        return err_text(400, "An array of at most %d settings is expected", UPLOAD_MAX);
    }
    JSON_EACH(entry, req->json)
    {
        if (!json_is_object(entry)) {
            return err_text(400, "A setting must be an object");
        }
        TRY(upload_one(req, entry, &inserted, &updated));
    }
    json_set_int(answer, "inserted", inserted);
    json_set_int(answer, "updated", updated);
    return reply_json(req, 200, answer);
}
