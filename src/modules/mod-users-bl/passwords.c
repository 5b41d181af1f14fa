// Changing a password, and links by which it is set anew. Source: spec/platform.md 2.4.
//
// No mail is sent from here: a link goes to the staff member who asked for it, and what consists of
// mail alone answers 501.
#include "modules/mod-users-bl/internal.h"

#include "modules/mod-configuration/configuration.h"
#include "modules/mod-login/collections.h"
#include "modules/mod-login/login.h"
#include "modules/mod-settings/collections.h"
#include "modules/mod-users/users.h"

#include <string.h>

enum {
    LINK_LIFE_S = 24 * 3600,
};

#define LINK_SUBJECT "UNDEFINED_USER__RESET_PASSWORD_"

static Err *refuse(const char *code, Str message)
{
    Err *err = err_422(NO_CODE, message);

    err->code = str_of(code);
    return err;
}

typedef struct {
    Str user_id, username;
} Owner;

static Err *find_owner(Tx *tx, void *context)
{
    Owner *owner = context;
    Json *user = NULL;

    if (owner->user_id.len || !owner->username.len) {
        return NULL;
    }
    TRY(user_by_name(tx, owner->username, &user));
    owner->user_id = json_str(user, "id");
    return NULL;
}

// The old password proves whose account it is: FOLIO asks for a token, but not for the owner's.
Err *bl_change_password(Req *req)
{
    Json *body = NULL;

    TRY(req_body_object(req, &body));
    Str password = json_str(body, "newPassword");
    Owner owner = {str_lower(json_str(body, "userId")), json_str(body, "username")};
    if (!password.len) {
        return err_text(400, "You must provide a new password that isn't empty");
    }
    if (!req->user_id.len) {
        return err_text(401, "Invalid credentials");
    }
    TRY(bl_read(req, find_owner, &owner));
    TRY(password_change(req, owner.user_id, json_str(body, "password"), password));
    return reply_empty(req, 204);
}

// ---------------------------------------------------------------------------------------------
// Forgotten

typedef struct {
    const char *const *aliases; // names of the setting that says which fields are searched
    Str value;
    Docs found;
} Search;

// The fields that a library searches; some of them by default.
static Err *search_fields(Tx *tx, const Search *search, Str *out)
{
    Buf fields = buf_new(arena_current(), 4096);

    for (const char *const *alias = search->aliases; *alias; alias++) {
        Str value;
        TRY(configuration_text(tx, "USERSBL", *alias, S(""), &value));
        if (value.len) {
            buf_add(&fields, value);
            buf_char(&fields, ',');
        }
    }
    *out = fields.len ? buf_str(&fields)
                      : S("personal.email,personal.phone,personal.mobilePhone,username");
    return NULL;
}

static bool is_path(Str field)
{
    for (size_t i = 0; i < field.len; i++) {
        char c = field.at[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '_')) {
            return false;
        }
    }
    return field.len > 0;
}

static Str quoted(Str value)
{
    Buf out = buf_new(arena_current(), 4096);

    for (size_t i = 0; i < value.len; i++) {
        if (value.at[i] && strchr("\\\"*?^", value.at[i])) {
            buf_char(&out, '\\');
        }
        buf_char(&out, value.at[i]);
    }
    return buf_str(&out);
}

static Err *find_users(Tx *tx, void *context)
{
    Search *search = context;
    Str fields, field, value = quoted(search->value);
    Buf query = buf_new(arena_current(), 1 << 16);

    TRY(search_fields(tx, search, &fields));
    while (str_next(&fields, ',', &field)) {
        field = str_trim(field);
        if (is_path(field)) {
            buf_fmt(&query, "%s" STR_FMT "==\"" STR_FMT "\"", query.len ? " or " : "",
                    STR_ARG(field), STR_ARG(value));
        }
    }
    return tx_list(tx, &users, buf_str(&query), 2, &search->found);
}

static Err *forgotten(Req *req, const char *const *aliases)
{
    Json *body = NULL;
    Search search = {.aliases = aliases};

    TRY(req_body_object(req, &body));
    search.value = json_str(body, "id");
    if (!search.value.len) {
        return err_text(400, "User is not found: ");
    }
    TRY(bl_read(req, find_users, &search));
    if (search.found.len == 0) {
        return err_text(400, "User is not found: " STR_FMT, STR_ARG(search.value));
    }
    if (search.found.len > 1) {
        return reply_empty(req, 204);
    }
    if (!user_is_active(search.found.at[0])) {
        return refuse(
            "forgotten.password.found.inactive",
            str_fmt("Users associated with '" STR_FMT "' is not active", STR_ARG(search.value)));
    }
    return err_text(501, "Mail cannot be sent: no module for it is enabled");
}

Err *bl_forgotten_password(Req *req)
{
    static const char *const aliases[] = {"userName", "phoneNumber", "email", NULL};

    return forgotten(req, aliases);
}

Err *bl_forgotten_username(Req *req)
{
    static const char *const aliases[] = {"phoneNumber", "email", NULL};

    return forgotten(req, aliases);
}

// ---------------------------------------------------------------------------------------------
// Links

typedef struct {
    Req *req;
    Str user_id;
    Str action_id;
    Str host, path;
    Json *user, *action;
    const PasswordHash *hash;
} Link;

static Err *forget_former_links(Tx *tx, Str user_id)
{
    Docs docs = {0};

    TRY(tx_where(tx, &password_actions, "user_id = $1", ARGS(A_TEXT(user_id)), &docs));
    for (size_t i = 0; i < docs.len; i++) {
        TRY(tx_delete(tx, &password_actions, json_str(docs.at[i], "id")));
    }
    return NULL;
}

// The newest store of such settings; what it lacks comes from the former one.
static Err *read_settings(Tx *tx, Link *link)
{
    Docs docs = {0};

    if (!tenant_has_module(link->req->tenant, "mod-settings")) {
        return NULL;
    }
    TRY(tx_where(tx, &settings_base_urls, "1 = 1 order by id limit 1", NO_ARGS, &docs));
    link->host = docs.len ? json_str(docs.at[0], "baseUrl") : S("");
    TRY(tx_where(tx, &settings_entries, "scope = 'mod-users-bl.config.manage' and user_id is null",
                 NO_ARGS, &docs));
    for (size_t i = 0; i < docs.len; i++) {
        Str key = json_str(docs.at[i], "key"), value = json_str(docs.at[i], "value");
        if (str_eq(key, S("resetPasswordHost")) && !link->host.len) {
            link->host = value;
        } else if (str_eq(key, S("resetPasswordPath"))) {
            link->path = value;
        }
    }
    return NULL;
}

static Err *find_page(Tx *tx, Link *link)
{
    TRY(read_settings(tx, link));
    if (!link->host.len) {
        TRY(configuration_text(tx, "USERSBL", "FOLIO_HOST", S("http://localhost:3000"),
                               &link->host));
    }
    if (!link->path.len) {
        TRY(configuration_text(tx, "USERSBL", "RESET_PASSWORD_UI_PATH", S("/reset-password"),
                               &link->path));
    }
    return NULL;
}

static Err *make_action(Tx *tx, void *context)
{
    Link *link = context;
    Json *action = json_object();

    TRY(user_by_id(tx, link->user_id, &link->user));
    if (!link->user) {
        return refuse("user.not-found",
                      str_fmt("User with id '" STR_FMT "' not found", STR_ARG(link->user_id)));
    }
    if (!json_str(link->user, "username").len) {
        return refuse("user.absent-username", S("User without username cannot reset password"));
    }
    TRY(find_page(tx, link));
    TRY(forget_former_links(tx, json_str(link->user, "id")));
    json_set_str(action, "id", link->action_id);
    json_set_str(action, "userId", json_str(link->user, "id"));
    json_set_time(action, "expirationTime", tx_now(tx) + (Time)LINK_LIFE_S * SECOND_MS);
    return tx_insert(tx, &password_actions, action);
}

static Err *write_link(Req *req, Err *(*work)(Tx *, void *), Link *link)
{
    const TxOptions options = {.kind = WRITE, .now = req->now, .user_id = req->user_id};

    return tx_run(tenant_db(req->tenant), &options, work, link);
}

Err *bl_reset_link(Req *req)
{
    Json *body = NULL, *answer = json_object();
    Link link = {.req = req, .action_id = uuid_new()};
    Str token;

    TRY(req_body_object(req, &body));
    link.user_id = json_str(body, "userId");
    TRY(write_link(req, make_action, &link));
    TokenSubject subject = {.tenant = req->tenant_id,
                            .type = S("dummy-expiring"),
                            .user_name = str_fmt(LINK_SUBJECT STR_FMT, STR_ARG(link.action_id))};
    str_list_add(&subject.extra_permissions, S("users-bl.password-reset-link.validate"));
    str_list_add(&subject.extra_permissions, S("users-bl.password-reset-link.reset"));
    TRY(token_sign(req->app, &subject, req->now, LINK_LIFE_S, &token));
    json_set_str(answer, "link",
                 str_fmt(STR_FMT STR_FMT "/" STR_FMT "?tenant=" STR_FMT, STR_ARG(link.host),
                         STR_ARG(link.path), STR_ARG(token), STR_ARG(req->tenant_id)));
    return reply_json(req, 200, answer);
}

// The action that the caller's token names, if it can still be done.
static Err *check_action(Tx *tx, void *context)
{
    Link *link = context;
    Time expires_at = 0;

    if (!uuid_is_uuid_shaped(link->action_id)) {
        return refuse("link.invalid", S("Invalid token."));
    }
    TRY(tx_get(tx, &password_actions, link->action_id, &link->action));
    if (!link->action) {
        return refuse("link.used", str_fmt("PasswordResetAction with id = " STR_FMT " is not found",
                                           STR_ARG(link->action_id)));
    }
    if (!json_time(link->action, "expirationTime", &expires_at) || expires_at <= tx_now(tx)) {
        return refuse("link.expired",
                      str_fmt("PasswordResetAction with id = " STR_FMT " is expired",
                              STR_ARG(link->action_id)));
    }
    TRY(user_by_id(tx, json_str(link->action, "userId"), &link->user));
    if (!link->user) {
        return refuse("link.invalid", str_fmt("User with id = " STR_FMT " in not found",
                                              STR_ARG(json_str(link->action, "userId"))));
    }
    return NULL;
}

static Link link_of(Req *req)
{
    Str subject = req->user_name, prefix = S(LINK_SUBJECT);
    Link link = {.req = req};

    if (str_starts(subject, prefix)) {
        link.action_id = str_sub(subject, prefix.len, subject.len);
    }
    return link;
}

Err *bl_reset_validate(Req *req)
{
    Link link = link_of(req);

    TRY(bl_read(req, check_action, &link));
    return reply_empty(req, 204);
}

static Err *set_password(Tx *tx, void *context)
{
    Link *link = context;

    TRY(check_action(tx, link));
    TRY(credentials_set(tx, json_str(link->user, "id"), link->hash));
    return tx_delete(tx, &password_actions, link->action_id);
}

Err *bl_reset(Req *req)
{
    Link link = link_of(req);
    Json *body = NULL;
    PasswordHash hash;

    TRY(req_body_object(req, &body));
    Str password = json_str(body, "newPassword");
    if (!password.len) {
        return err_text(400, "You must provide a new password that isn't empty");
    }
    TRY(bl_read(req, check_action, &link));
    password_hash(req->app, password, &hash);
    link.hash = &hash;
    TRY(write_link(req, set_password, &link));
    return reply_empty(req, 204);
}
