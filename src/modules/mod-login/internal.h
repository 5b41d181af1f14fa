// What the files of mod-login share.
#pragma once

#include "modules/mod-login/collections.h"
#include "modules/mod-login/login.h"
#include "modules/mod-users/users.h"

// password.c
// Slow on purpose. Records without `scheme` are FOLIO's: PBKDF2-HMAC-SHA1, 1,000 rounds, 160 bit.
bool password_fits(const Json *credentials, Str password);
// True if the record was made by another scheme than new ones are.
bool password_is_outdated(const App *app, const Json *credentials);
// As much work as a real check, for users that do not exist.
void password_pretend(const App *app, Str password);

// credentials.c
Err *credentials_post(Req *req);
Err *credentials_remove(Req *req);
Err *credentials_existence(Req *req);
Err *credentials_update(Req *req);
Err *password_repeatable(Req *req);
WARN_UNUSED Err *credentials_find(Tx *tx, Str user_id, Json **out);

// reset.c
Err *reset_action_post(Req *req);
Err *reset_action_get(Req *req);
Err *reset_password(Req *req);

// attempts.c
typedef struct {
    int64_t fail_max;    // failures that deactivate; 0 = never
    int64_t warn_at;     // failures that give a warning
    int64_t timeout_min; // later failures count anew
} LoginLimits;

typedef enum { ATTEMPT_COUNTED, ATTEMPT_WARNED, ATTEMPT_BLOCKED } AttemptOutcome;

// has_configuration: the tenant has mod-configuration, which may hold other limits.
WARN_UNUSED Err *login_limits(Tx *tx, bool has_configuration, LoginLimits *out);
WARN_UNUSED Err *attempt_failed(Tx *tx, Str user_id, const LoginLimits *limits,
                                AttemptOutcome *outcome);
WARN_UNUSED Err *attempt_succeeded(Tx *tx, Str user_id);
WARN_UNUSED Err *attempt_find(Tx *tx, Str user_id, Json **out);
Err *attempts_get(Req *req);

// login.c
Err *login_legacy(Req *req);
Err *login_with_expiry(Req *req);
Err *login_refresh(Req *req);
Err *login_logout(Req *req);
Err *login_logout_all(Req *req);
// Username or userId and password of a body; 400 texts.
WARN_UNUSED Err *login_body(const Req *req, LoginAttempt *out, Json **body);
// The user that a body names; NULL if unknown.
WARN_UNUSED Err *login_user(Tx *tx, const LoginAttempt *attempt, Json **user);

// Runs one step in a transaction of its own in the request's tenant.
WARN_UNUSED Err *login_run(Req *req, TxKind kind, Err *(*step)(Tx *, void *), void *context);
