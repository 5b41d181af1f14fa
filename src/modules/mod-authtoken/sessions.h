// Sessions: an access token and the refresh token that renews it, given as cookies.
// FOLIO: mod-authtoken 2.15, and the cookies of mod-login. Source: spec/platform.md 2.1, 2.2.
#pragma once

#include "octavo.h"

extern const Module mod_authtoken;

typedef struct {
    Str access_token, refresh_token;
    Time access_expires_at, refresh_expires_at;
} Session;

// Signs both tokens and stores the refresh token.
WARN_UNUSED Err *session_start(Tx *tx, App *app, const TokenSubject *subject, Session *out);
// A new session for a refresh token that was not used yet; 422 code "token.refresh.unprocessable".
// A second use is theft: all sessions of the user end - that change must be committed, so it is no
// Err: *refused is set instead.
WARN_UNUSED Err *session_refresh(Tx *tx, App *app, Str tenant, Str refresh_token, Session *out,
                                 bool *refused);
// Ends one session; false if the token is none of the tenant's.
WARN_UNUSED Err *session_end(Tx *tx, App *app, Str tenant, Str refresh_token, bool *found);
WARN_UNUSED Err *sessions_end_all(Tx *tx, Str user_id);

void session_set_cookies(Req *req, const Session *session);
void session_clear_cookies(Req *req);
// {"accessTokenExpiration","refreshTokenExpiration"}
Json *session_expirations(const Session *session);
Err *session_refused(void);
