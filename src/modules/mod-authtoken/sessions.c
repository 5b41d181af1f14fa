// Refresh tokens: signed like the others, stored by their id, good for one use.
#include "modules/mod-authtoken/sessions.h"

#include "modules/mod-authtoken/collections.h"

#include <time.h>

static Err *store_refresh(Tx *tx, const TokenSubject *subject, Time expires_at)
{
    Json *doc = json_object();
    json_set_str(doc, "id", subject->id);
    json_set_str(doc, "userId", subject->user_id);
    json_set_time(doc, "expiresAt", expires_at);
    return tx_insert(tx, &refresh_tokens, doc);
}

// What nobody can use any more goes when its user comes back.
static Err *forget_expired(Tx *tx, Str user_id)
{
    Docs docs = {0};
    TRY(tx_where(tx, &refresh_tokens, "user_id = $1 and expires_at < $2",
                 ARGS(A_TEXT(user_id), A_INT(tx_now(tx))), &docs));
    for (size_t i = 0; i < docs.len; i++) {
        TRY(tx_delete(tx, &refresh_tokens, json_str(docs.at[i], "id")));
    }
    return NULL;
}

Err *session_start(Tx *tx, App *app, const TokenSubject *subject, Session *out)
{
    METER("mod-authtoken");
    int access_s = (int)app_int(app, "login.access_s", 600);
    int refresh_s = (int)app_int(app, "login.refresh_s", 604800);
    TokenSubject access = *subject, refresh = *subject;
    Time now = tx_now(tx);

    access.type = S("access");
    refresh.type = S("refresh");
    refresh.id = uuid_new();
    // Tokens count in whole seconds.
    out->access_expires_at = now / SECOND_MS * SECOND_MS + (Time)access_s * SECOND_MS;
    out->refresh_expires_at = now / SECOND_MS * SECOND_MS + (Time)refresh_s * SECOND_MS;
    TRY(token_sign(app, &access, now, access_s, &out->access_token));
    TRY(token_sign(app, &refresh, now, refresh_s, &out->refresh_token));
    TRY(forget_expired(tx, subject->user_id));
    return store_refresh(tx, &refresh, out->refresh_expires_at);
}

Err *session_refused(void)
{
    Err *err = err_json(422, S("token.refresh.unprocessable"),
                        S("Authorization server unable to process token refresh request"), NULL, 0);
    err->type = S("error");
    return err;
}

static Err *find_refresh(Tx *tx, App *app, Str tenant, Str token, TokenSubject *subject, Json **doc)
{
    *doc = NULL;
    if (!token_verify(app, token, tx_now(tx), subject) || !str_eq(subject->type, S("refresh")) ||
        !str_eq(subject->tenant, tenant)) {
        return NULL;
    }
    return tx_get(tx, &refresh_tokens, subject->id, doc);
}

static Err *mark_used(Tx *tx, const Json *old)
{
    Json *doc = json_copy(old);
    json_set_time(doc, "usedAt", tx_now(tx));
    return tx_change(tx, &refresh_tokens, old, doc);
}

// Two tabs of a browser refresh at the same moment: within the grace that is no theft.
static bool is_replay(Tx *tx, App *app, const Json *doc)
{
    Time used_at = 0;
    if (!json_time(doc, "usedAt", &used_at)) {
        return false;
    }
    return tx_now(tx) - used_at > app_int(app, "login.refresh_grace_s", 10) * SECOND_MS;
}

Err *session_refresh(Tx *tx, App *app, Str tenant, Str refresh_token, Session *out, bool *refused)
{
    METER("mod-authtoken");
    TokenSubject subject = {0};
    Json *doc = NULL;
    *refused = false;
    TRY(find_refresh(tx, app, tenant, refresh_token, &subject, &doc));
    if (!doc) {
        return session_refused();
    }
    if (is_replay(tx, app, doc)) {
        *refused = true;
        return sessions_end_all(tx, subject.user_id);
    }
    if (!json_has(doc, "usedAt")) {
        TRY(mark_used(tx, doc));
    }
    TokenSubject next = {
        .tenant = tenant, .user_id = subject.user_id, .user_name = subject.user_name};
    return session_start(tx, app, &next, out);
}

Err *session_end(Tx *tx, App *app, Str tenant, Str refresh_token, bool *found)
{
    METER("mod-authtoken");
    TokenSubject subject = {0};
    Json *doc = NULL;
    TRY(find_refresh(tx, app, tenant, refresh_token, &subject, &doc));
    *found = doc != NULL;
    return doc ? tx_delete(tx, &refresh_tokens, subject.id) : NULL;
}

Err *sessions_end_all(Tx *tx, Str user_id)
{
    METER("mod-authtoken");
    Docs docs = {0};
    TRY(tx_where(tx, &refresh_tokens, "user_id = $1", ARGS(A_TEXT(user_id)), &docs));
    for (size_t i = 0; i < docs.len; i++) {
        TRY(tx_delete(tx, &refresh_tokens, json_str(docs.at[i], "id")));
    }
    return NULL;
}

// ---------------------------------------------------------------------------------------------
// Cookies

// "Tue, 01 Jan 2030 00:00:00 GMT"
static Str http_date(Time time)
{
    static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    LocalTime t = zone_local(zone_utc(), time);
    return str_fmt("%s, %02d %s %04d %02d:%02d:%02d GMT", days[t.weekday], t.day,
                   months[t.month - 1], t.year, t.hour, t.minute, t.second);
}

// Path part of the public URL, "" normally.
static Str path_prefix(const App *app)
{
    Str url = app_option(app, "http.public_url", "");
    ptrdiff_t scheme = str_find(url, S("://"), 0);
    ptrdiff_t path = scheme < 0 ? -1 : str_find_char(url, '/', (size_t)scheme + 3);
    Str prefix = path < 0 ? (Str){"", 0} : str_sub(url, (size_t)path, url.len);
    return str_ends(prefix, S("/")) ? str_sub(prefix, 0, prefix.len - 1) : prefix;
}

static void set_cookie(Req *req, const char *name, Str value, const char *path, Time expires_at)
{
    const App *app = req->app;
    int64_t age_s = expires_at ? expires_at / SECOND_MS - req->now / SECOND_MS : 0;
    Str same_site = app_option(app, "login.cookie_samesite", "Lax");
    bool is_secure = app_flag(app, "login.cookie_secure", true);
    reply_header(req, "set-cookie",
                 str_fmt("%s=" STR_FMT "; Max-Age=%lld; Expires=" STR_FMT "; Path=" STR_FMT
                         "%s; %sHTTPOnly; SameSite=" STR_FMT,
                         name, STR_ARG(value), (long long)age_s, STR_ARG(http_date(expires_at)),
                         STR_ARG(path_prefix(app)), path, is_secure ? "Secure; " : "",
                         STR_ARG(same_site)));
}

void session_set_cookies(Req *req, const Session *session)
{
    set_cookie(req, "folioRefreshToken", session->refresh_token, "/authn",
               session->refresh_expires_at);
    set_cookie(req, "folioAccessToken", session->access_token, "/", session->access_expires_at);
}

void session_clear_cookies(Req *req)
{
    set_cookie(req, "folioRefreshToken", (Str){"", 0}, "/authn", 0);
    set_cookie(req, "folioAccessToken", (Str){"", 0}, "/", 0);
}

static Str iso_seconds(Time time)
{
    Str text = time_format_z(time); // 2026-01-01T12:10:00.000Z
    return str_fmt(STR_FMT "Z", STR_ARG(str_sub(text, 0, 19)));
}

Json *session_expirations(const Session *session)
{
    Json *json = json_object();
    json_set_str(json, "accessTokenExpiration", iso_seconds(session->access_expires_at));
    json_set_str(json, "refreshTokenExpiration", iso_seconds(session->refresh_expires_at));
    return json;
}
