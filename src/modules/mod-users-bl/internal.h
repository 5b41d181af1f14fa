// What the files of mod-users-bl share.
#pragma once

#include "modules/mod-users-bl/users_bl.h"

// What a composite user shall hold.
typedef struct {
    bool groups, permissions, proxies, service_points;
    bool expands_permissions; // records of all permissions instead of the names held directly
} Include;

Include include_read(const Req *req);
// Everything but the closing brace of {"user":{...},...}, so that a login can add its own.
WARN_UNUSED Err *composite_write(const Req *req, Tx *tx, const Json *user, const Include *include,
                                 Buf *out);
// Runs `work` in a transaction that only reads, in the request's tenant.
WARN_UNUSED Err *bl_read(Req *req, Err *(*work)(Tx *tx, void *context), void *context);
enum { COMPOSITE_MAX = 64 << 20 };

// permissions_text.c: the permissions of a user as JSON array of records; made once and kept until
// some permission changes.
WARN_UNUSED Err *permissions_text(Tx *tx, Str user_id, Str *out);

// composite.c
Err *bl_users_list(Req *req);
Err *bl_users_self(Req *req);
Err *bl_users_by_id(Req *req);
Err *bl_users_by_name(Req *req);

// login.c
Err *bl_login(Req *req);
Err *bl_login_with_expiry(Req *req);

// transactions.c
Err *bl_transactions_by_id(Req *req);
Err *bl_transactions_by_name(Req *req);
Err *bl_delete(Req *req);

// passwords.c
Err *bl_change_password(Req *req);
Err *bl_forgotten_password(Req *req);
Err *bl_forgotten_username(Req *req);
Err *bl_reset_link(Req *req);
Err *bl_reset_validate(Req *req);
Err *bl_reset(Req *req);
