// mod-authtoken: signs and renews tokens. FOLIO: mod-authtoken 2.15. Source: spec/platform.md 2.1.
//
// These routes serve other modules; users log in by mod-login. Checking tokens is the gateway's
// work.
#include "modules/mod-authtoken/collections.h"
#include "modules/mod-authtoken/sessions.h"

static Err *read_subject(const Req *req, TokenSubject *subject, Json **payload)
{
    Json *body = NULL;
    TRY(req_body_object(req, &body));
    *payload = json_get(body, "payload");
    if (!json_is_object(*payload)) {
        return err_text(400, "Valid 'payload' field is required");
    }
    *subject = (TokenSubject){.tenant = req->tenant_id,
                              .user_name = json_str(*payload, "sub"),
                              .user_id = json_str(*payload, "user_id")};
    if (!subject->user_name.len) {
        return err_text(400, "Payload must contain a 'sub' field");
    }
    return NULL;
}

// POST /token: a token without expiry; with "dummy" one for links that are mailed, which expires.
static Err *token_post(Req *req)
{
    TokenSubject subject;
    Json *payload = NULL, *body = json_object();
    Str token;
    int lifetime_s = 0;
    TRY(read_subject(req, &subject, &payload));
    if (json_flag(payload, "dummy", false)) {
        subject.type = S("dummy-expiring");
        lifetime_s = (int)app_int(req->app, "login.access_s", 600);
        JSON_EACH(name, json_get(payload, "extra_permissions"))
        {
            str_list_add(&subject.extra_permissions, json_scalar_text(name));
        }
    }
    TRY(token_sign(req->app, &subject, req->now, lifetime_s, &token));
    json_set_str(body, "token", token);
    return reply_json(req, 201, body);
}

static Err *reply_session(Req *req, const Session *session)
{
    Json *body = session_expirations(session);
    json_set_str(body, "accessToken", session->access_token);
    json_set_str(body, "refreshToken", session->refresh_token);
    json_set_str(body, "tenantId", req->tenant_id);
    return reply_json(req, 201, body);
}

static Err *token_sign_post(Req *req)
{
    TokenSubject subject;
    Json *payload = NULL;
    Session session = {0};
    TRY(read_subject(req, &subject, &payload));
    if (!subject.user_id.len) {
        return err_text(400, "Payload must contain a 'user_id' field");
    }
    TRY(session_start(req->tx, req->app, &subject, &session));
    return reply_session(req, &session);
}

// POST /refreshtoken (older): a refresh token alone.
static Err *refreshtoken_post(Req *req)
{
    Json *json = NULL, *body = json_object();
    Session session = {0};
    TRY(req_body_object(req, &json));
    TokenSubject subject = {.tenant = req->tenant_id,
                            .user_id = json_str(json, "userId"),
                            .user_name = json_str(json, "sub")};
    if (!subject.user_id.len || !subject.user_name.len) {
        return err_text(400, "userId and sub are required");
    }
    TRY(session_start(req->tx, req->app, &subject, &session));
    json_set_str(body, "refreshToken", session.refresh_token);
    return reply_json(req, 201, body);
}

static Err *token_refresh_post(Req *req)
{
    Json *body = NULL;
    Session session = {0};
    bool refused = false;
    TRY(req_body_object(req, &body));
    TRY(session_refresh(req->tx, req->app, req->tenant_id, json_str(body, "refreshToken"), &session,
                        &refused));
    if (refused) { // committed nevertheless: the user's sessions are ended
        reply_err(req, session_refused());
        return NULL;
    }
    return reply_session(req, &session);
}

static Err *token_invalidate(Req *req)
{
    Json *body = NULL;
    bool found = false;
    TRY(req_body_object(req, &body));
    TRY(session_end(req->tx, req->app, req->tenant_id, json_str(body, "refreshToken"), &found));
    return reply_empty(req, 204);
}

static Err *token_invalidate_all(Req *req)
{
    if (!req->user_id.len) {
        return err_text(400, "Token missing");
    }
    TRY(sessions_end_all(req->tx, req->user_id));
    return reply_empty(req, 204);
}

static const Route legacy_routes[] = {
    {POST, "/token", NONE, token_post, "auth.signtoken"},
    {POST, "/refreshtoken", WRITE, refreshtoken_post, "auth.signrefreshtoken"},
    {0},
};

static const Route routes[] = {
    {POST, "/token/sign", WRITE, token_sign_post, "auth.signtoken"},
    {POST, "/token/refresh", WRITE, token_refresh_post, "auth.signrefreshtoken"},
    {POST, "/token/invalidate", WRITE, token_invalidate},
    {POST, "/token/invalidate-all", WRITE, token_invalidate_all},
    {0},
};

static const Interface provides[] = {
    {"authtoken", "2.1", legacy_routes},
    {"authtoken2", "1.1", routes},
    {0},
};

static const char *const requires[] = {"permissions 5.3", "users 15.0 16.0", NULL};

const Module mod_authtoken = {
    .name = "mod-authtoken",
    .version = "2.15.1",
    .provides = provides,
    .requires = requires,
    .collections = authtoken_collections,
};
