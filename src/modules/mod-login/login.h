// mod-login inside the process: passwords and logging in. FOLIO: interface login 7.3.
// Source: spec/platform.md 2.
#pragma once

#include "octavo.h"

extern const Module mod_login;

// The body of a login: username or userId, and the password.
typedef struct {
    Str username, user_id, password;
} LoginAttempt;

// Checks a password and counts failures, in transactions of its own (a hash takes its time: never
// called inside one). `user`: the record of who may come in. Errors: 422 in FOLIO's form.
WARN_UNUSED Err *login_check(Req *req, const LoginAttempt *attempt, Json **user);
// 404 text "Not found" where a login without expiry is switched off (login.legacy).
WARN_UNUSED Err *login_legacy_is_allowed(const Req *req);

// Sets or replaces the password of a user; `hash` made beforehand by password_hash.
typedef struct {
    Str scheme, salt, hash; // hex, upper case; scheme "pbkdf2-sha256:100000"
} PasswordHash;

void password_hash(const App *app, Str password, PasswordHash *out);
WARN_UNUSED Err *credentials_set(Tx *tx, Str user_id, const PasswordHash *hash);
WARN_UNUSED Err *credentials_delete(Tx *tx, Str user_id, bool *found);
WARN_UNUSED Err *credentials_exist(Tx *tx, Str user_id, bool *out);
// Whether the password is the user's present one (`is_current`), or one of his last ten.
WARN_UNUSED Err *password_change(Req *req, Str user_id, Str old_password, Str new_password);
