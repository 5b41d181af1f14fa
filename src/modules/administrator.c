// Makes the first administrator of a tenant.
#include "modules/administrator.h"

#include "modules/mod-login/login.h"
#include "modules/mod-permissions/collections.h"
#include "modules/mod-permissions/permissions.h"
#include "modules/mod-users/users.h"

typedef struct {
    Str username;
    PasswordHash hash;
} Work;

static Err *make_user(Tx *tx, Str username, Str *id)
{
    Json *user = NULL;
    TRY(user_by_name(tx, username, &user));
    if (!user) {
        user = json_object();
        json_set_str(user, "username", username);
        json_set_bool(user, "active", true);
        json_set_str(user, "type", S("staff"));
        json_set_str(user, "personal.lastName", S("Administrator"));
        TRY(tx_insert(tx, &users, user));
    }
    *id = json_str(user, "id");
    return NULL;
}

static Err *grant_everything(Tx *tx, Str user_id)
{
    StrList names = {0};
    Json *doc = NULL;
    TRY(permissions_top_level(tx, &names));
    // The right to grant what one does not hold stands in no set.
    str_list_add(&names, S("perms.users.assign.okapi"));
    TRY(permission_user_delete(tx, user_id));
    return permission_user_create(tx, user_id, &names, &doc);
}

static Err *create_work(Tx *tx, void *context)
{
    const Work *work = context;
    Str id;
    TRY(make_user(tx, work->username, &id));
    TRY(credentials_set(tx, id, &work->hash));
    return grant_everything(tx, id);
}

Err *administrator_create(App *app, Str tenant_id, Str username, Str password)
{
    Work work = {.username = username};
    Tenant *tenant = NULL;
    TRY(tenant_find(app, tenant_id, &tenant));
    TRY(tenant_migrate(app, tenant));
    if (!tenant_has_module(tenant, "mod-users") || !tenant_has_module(tenant, "mod-login") ||
        !tenant_has_module(tenant, "mod-permissions")) {
        return err_text(400, "an administrator needs mod-users, mod-login and mod-permissions");
    }
    password_hash(app, password, &work.hash);
    return tx_run(tenant_db(tenant), &(TxOptions){.kind = WRITE}, create_work, &work);
}
